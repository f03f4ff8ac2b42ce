#include <fmt/format.h>

#include "tribo/io/file.h"
#include "tribo/io/writer.h"
#include "tribo/scene/data_path.h"
#include "tribo/scene/describe.h"
#include "tribo/scene/format.h"
#include "tribo/scene/presets.h"
#include "tribo/scene/reader.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

/// Laws, shapes or object types, with their parameters.
std::vector<ListEntry> alternatives(const std::string& group) {
  Scene scene;
  const FormatDescription format = describe([&](ParamReader& in) { read_format(in, scene); });
  std::vector<ListEntry> entries;
  for (const DescribedAlternative& alternative : format.group(group).all) {
    ListEntry& entry = entries.emplace_back(ListEntry{alternative.name, alternative.doc, {}});
    for (const Description& parameter : alternative.parameters) entry.details.push_back(one_line(parameter));
  }
  return entries;
}

std::vector<ListEntry> list_models() { return alternatives("model"); }
std::vector<ListEntry> list_shapes() { return alternatives("shape"); }
std::vector<ListEntry> list_fields() { return alternatives("field"); }
std::vector<ListEntry> list_objects() { return alternatives("object"); }

std::vector<ListEntry> list_joints() { return alternatives("joint"); }

std::vector<ListEntry> list_materials() {
  Scene scene;
  const FormatDescription format = describe([&](ParamReader& in) { read_format(in, scene); });
  const auto unit_of = [&](const std::string& model, const std::string& key) -> std::string {
    for (const DescribedAlternative& alternative : format.group("model").all) {
      if (alternative.name != model) continue;
      for (const Description& parameter : alternative.parameters) {
        if (parameter.key == key && parameter.unit != "1") return " " + parameter.unit;
      }
    }
    return "";
  };
  std::vector<ListEntry> entries;
  for (const std::string& name : preset_names()) {
    const Json preset = load_preset(name);
    ListEntry& entry = entries.emplace_back(ListEntry{name, preset.value("doc", ""), {}});
    for (const auto& item : preset.items()) {
      if (item.key() == "doc") continue;
      const Json& value = item.value();
      const std::string text = value.is_string()   ? value.get<std::string>()
                               : value.is_number() ? number_json(value.get<double>()).dump()
                                                   : value.dump();
      entry.details.push_back(item.key() + " = " + text + unit_of(preset.value("model", ""), item.key()));
    }
  }
  return entries;
}

std::vector<ListEntry> list_transfers() {
  std::vector<ListEntry> entries;
  for (const Choice& choice : transfers()) entries.push_back({choice.name, choice.doc, {}});
  return entries;
}

std::vector<ListEntry> list_writers() {
  std::vector<ListEntry> entries;
  for (const WriterEntry& writer : all_writers())
    if (writer.unavailable == nullptr) entries.push_back({writer.name, writer.doc, {}});
  return entries;
}

std::vector<ListEntry> list_scenes() {
  std::vector<ListEntry> entries;
  for (const DataFile& file : list_data("scenes", ".json")) {
    ListEntry& entry = entries.emplace_back(ListEntry{file.name, "", {file.path}});
    try {
      const Json root = parse_json(read_text(file.path), file.path).root;
      for (const char* key : {"name", "description"}) {  // the description, where there is one, replaces the name
        const auto found = root.is_object() ? root.find(key) : root.end();
        if (found != root.end() && found->is_string() && !found->get_ref<const std::string&>().empty())
          entry.doc = found->get<std::string>();
      }
    } catch (const Error&) {
      entry.doc = "cannot be read: try `tribo check`";
    }
  }
  return entries;
}

struct ListKind {
  const char* name;
  std::vector<ListEntry> (*entries)();
};
constexpr ListKind kinds[] = {{"materials", list_materials}, {"models", list_models},   {"transfers", list_transfers},
                              {"colliders", list_shapes},    {"objects", list_objects}, {"joints", list_joints}, {"fields", list_fields},
                              {"writers", list_writers},     {"scenes", list_scenes}};

}  // namespace

std::vector<std::string> list_kinds() {
  std::vector<std::string> names;
  for (const ListKind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

std::vector<ListEntry> list_entries(const std::string& name) {
  for (const ListKind& kind : kinds) {
    if (name == kind.name) return kind.entries();
  }
  throw Error(ExitCode::bad_input, fmt::format("there is no list of \"{}\"{}; there are {}", name,
                                               did_you_mean(name, list_kinds()), quoted_list(list_kinds())));
}

}  // namespace tribo
