#include "tribo/scene/variants.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "tribo/io/file.h"
#include "tribo/scene/overrides.h"
#include "tribo/scene/resolve.h"

namespace tribo {
namespace {

/// A variant as it is asked for.
struct Form {
  std::string name;
  std::vector<Change> changes;
  Place place;
};

std::vector<Form> forms_of_scene(const Document& document) {
  std::vector<Form> forms;
  const auto variants = document.root.find("variants");
  if (variants == document.root.end()) return forms;
  for (const auto& variant : variants->items()) {
    const std::string pointer = join_pointer("/variants", variant.key());
    Form& form = forms.emplace_back(Form{variant.key(), {}, document.places.key(pointer)});
    for (const auto& change : variant.value().items()) {
      form.changes.push_back(
          {change.key(), change.value(), document.places.value(join_pointer(pointer, change.key()))});
    }
  }
  return forms;
}

/// A value in the name of a variant: as it is, a text without its quotes.
std::string shown(const Json& value, const std::string& text) {
  return value.is_string() ? value.get<std::string>() : text;
}

/// The forms there were, each with each of the values.
std::vector<Form> times(const std::vector<Form>& forms, const Varied& varied, Findings& findings) {
  std::vector<Form> product;
  for (const Form& form : forms) {
    for (const std::string& value : varied.values) {
      Form& next = product.emplace_back(form);
      next.changes.push_back(change_by_flag("--vary", {varied.pointer, value}, findings));
      next.name += (next.name.empty() ? "" : " ") + shown(next.changes.back().value, value);
      next.place = next.changes.back().place;
    }
  }
  return product;
}

Scene changed_scene(Document document, const Form& form, const std::string& file) {
  document.root.erase("variants");
  Findings findings(document.places);
  for (const Change& change : form.changes) apply_change(change, document, findings);
  return resolve_document(document, file, findings);
}

SceneError bad_varied(const std::string& text, const std::string& message) {
  return SceneError({Finding{"--vary " + text, 0, 0, "", message}});
}

}  // namespace

Varied parse_varied(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (text.empty() || text[0] != '/' || equals == std::string::npos)
    throw bad_varied(text, "expected /json/pointer=a,b,c, such as /grid/transfer=pic,flip,apic");
  if (find_invalid_utf8(text) != std::string::npos) throw SceneError({Finding{"--vary", 0, 0, "", "is not UTF-8"}});
  Varied varied{text.substr(0, equals), {""}};
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = equals + 1; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      varied.values.emplace_back();
      continue;
    }
    varied.values.back() += c;
    if (quoted && c == '\\' && i + 1 < text.size()) varied.values.back() += text[++i];
  }
  for (const std::string& value : varied.values)
    if (value.empty()) throw bad_varied(text, "a value is empty; expected values with single commas between them");
  return varied;
}

std::vector<Variant> parse_variants(const std::string& text, const std::string& file,
                                    const std::vector<Override>& overrides, const std::vector<Varied>& varied) {
  parse_scene(text, file, overrides);  // a mistake of the scene itself is told once, and not for each variant
  Document document = parse_json(text, file);
  Findings findings(document.places);
  prepare_document(document, overrides, findings);
  std::vector<Form> forms = varied.empty() ? forms_of_scene(document) : std::vector<Form>(1);
  for (const Varied& each : varied) forms = times(forms, each, findings);

  std::vector<Variant> variants;
  std::set<std::string> told;                  // a value met in several combinations is wrong only once
  std::map<std::string, std::string> folders;  // and the names of the variants in them
  for (const Form& form : forms) {
    const std::string folder = as_file_name(form.name, "variant");
    const auto [other, is_new] = folders.emplace(folder, form.name);
    if (!is_new)
      findings.add({form.place.file, form.place.line, form.place.column, "",
                    fmt::format("the variants \"{}\" and \"{}\" would both be in the folder {}; rename one of them",
                                other->second, form.name, folder)});
    try {
      variants.push_back({form.name, folder, changed_scene(document, form, file)});
    } catch (const SceneError& error) {
      for (Finding finding : error.findings()) {
        if (!told.insert(finding.text()).second) continue;
        finding.message += fmt::format(" (in the variant \"{}\")", form.name);
        findings.add(std::move(finding));
      }
    }
  }
  findings.throw_if_any();
  return variants;
}

std::vector<Variant> read_variants(const std::string& path, const std::vector<Override>& overrides,
                                   const std::vector<Varied>& varied) {
  return parse_variants(read_scene_text(path), path, overrides, varied);
}

}  // namespace tribo
