#include <fmt/format.h>

#include "tribo/scene/describe.h"
#include "tribo/scene/format.h"
#include "tribo/scene/presets.h"
#include "tribo/scene/reader.h"

namespace tribo {
namespace {

using Kind = Description::Kind;

/// What stands in a cell of a Markdown table must not end it.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text.ends_with('.') ? text : text + ".";
}

std::string meaning(const Description& parameter) {
  std::string text = parameter.doc;
  for (const Choice& choice : parameter.words) text += fmt::format("; `{}`: {}", choice.name, choice.doc);
  if (!parameter.group.empty()) text += fmt::format("; see [{0}s](#{0}s)", parameter.group);
  return cell(text);
}

std::string value_text(const Description& parameter) {
  switch (parameter.kind) {
    case Kind::number:
      return parameter.range.text();
    case Kind::vector:
      return parameter.range.text("three numbers, each");
    case Kind::choice:
      return "a word";
    case Kind::choices:
      return "a list of words";
    default:
      return expected_text(parameter);
  }
}

/// Rows for the parameters and, with dotted keys, for those of objects inside.
void rows(const std::vector<Description>& parameters, const std::string& prefix, std::string& out) {
  for (const Description& parameter : parameters) {
    const std::string key = prefix + parameter.key;
    std::string value = value_text(parameter);
    if (value.ends_with(", each")) value.resize(value.size() - 6);
    const std::string fallback =
        parameter.required ? "required" : code(parameter.fallback.is_null() ? "" : parameter.fallback.dump());
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key, cell(value), parameter.unit == "1" ? "" : parameter.unit,
                       fallback, meaning(parameter));
    const char* below = parameter.kind == Kind::list ? "[]." : parameter.kind == Kind::named_list ? ".NAME." : ".";
    rows(parameter.children, key + below, out);
  }
}

std::string table(const std::vector<Description>& parameters) {
  std::string out = "| key | value | unit | default | meaning |\n| --- | --- | --- | --- | --- |\n";
  rows(parameters, "", out);
  return out + "\n";
}

std::string presets_table() {
  std::string out = "| preset | model | parameters | what it is |\n| --- | --- | --- | --- |\n";
  for (const std::string& name : preset_names()) {
    const Json preset = load_preset(name);
    std::string parameters;
    for (const auto& item : preset.items()) {
      if (item.key() == "doc" || item.key() == "model") continue;
      const Json& value = item.value();
      parameters += fmt::format("{}`{}` {}", parameters.empty() ? "" : ", ", item.key(),
                                value.is_number() ? number_json(value.get<double>()).dump() : value.dump());
    }
    out += fmt::format("| `{}` | `{}` | {} | {} |\n", name, preset.value("model", ""), parameters,
                       cell(preset.value("doc", "")));
  }
  return out + "\n";
}

constexpr const char* introduction = R"(# Scene reference

A scene is a JSON file; `//` and `/* */` comments are allowed. Units are SI. Unknown keys are errors.
A dot in a key stands for an object inside an object, `[]` for the entries of a list, `NAME` for a name of your choice.

This page is generated from the program.

)";

constexpr const char* materials_text = R"(## Presets

A material is a preset's name, `"sand": "dry_sand"`; or a preset with changes,
`"sand": {"preset": "dry_sand", "friction_angle": 40}`; or complete, with a `model` and its parameters. An object
may also name a preset directly.

)";

}  // namespace

std::string scene_reference() {
  Scene scene;
  const FormatDescription format = describe([&](ParamReader& in) { read_format(in, scene); });
  std::string out = introduction;
  out += "## The scene\n\n" + table(format.parameters);
  for (const DescribedGroup& group : format.groups) {
    std::string title = sentence(group.name + "s");
    title.back() = '\n';
    out += "## " + title + "\n";
    for (const DescribedAlternative& alternative : group.all) {
      out += fmt::format("### {}\n\n{}\n\n", alternative.name, sentence(alternative.doc));
      if (!alternative.shorthand.empty()) {
        out += fmt::format("`{{\"{}\": VALUE}}` is short for `{{\"{}\": {{\"{}\": VALUE}}}}`.\n\n", alternative.name,
                           alternative.name, alternative.shorthand);
      }
      out += table(alternative.parameters);
    }
  }
  out += materials_text;
  out += presets_table();
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace tribo
