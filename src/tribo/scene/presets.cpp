#include "tribo/scene/presets.h"

#include <fmt/format.h>

#include <algorithm>

#include "tribo/io/file.h"
#include "tribo/scene/data_path.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

Json* member(Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() ? &*found : nullptr;
}

Json expanded(const Json& material, const std::string& pointer, Findings& findings) {
  const Json& name = material.at("preset");
  const std::string at_name = join_pointer(pointer, "preset");
  if (!name.is_string()) {
    findings.add(at_name, "expected the name of a preset");
    return reported_value();
  }
  Json result;
  try {
    result = load_preset(name.get<std::string>());
  } catch (const SceneError& error) {
    for (const Finding& finding : error.findings()) findings.add(finding);
    return reported_value();
  }
  if (result.is_null()) {
    const std::vector<std::string> names = preset_names();
    std::string hint = did_you_mean(name.get<std::string>(), names);
    if (hint.empty()) hint = names.empty() ? "; no presets are installed" : "; there are " + quoted_list(names);
    findings.add(at_name, fmt::format("no preset is called {}{}", name.dump(), hint));
    return reported_value();
  }
  result.erase("doc");
  if (material.contains("model") && material["model"] != result["model"]) {
    findings.add(join_pointer(pointer, "model"),
                 fmt::format("the preset {} follows the model {}; its parameters can be changed, its model cannot",
                             name.dump(), result["model"].dump()));
    return reported_value();
  }
  for (const auto& item : material.items()) {
    if (item.key() != "preset") result[item.key()] = item.value();
  }
  return result;
}

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const DataFile& file : list_data("materials", ".json")) {
    if (find_invalid_utf8(file.name) == std::string::npos) names.push_back(file.name);  // else no scene can name it
  }
  return names;
}

Json load_preset(const std::string& name) {
  // Through the list, not by path: a name such as "../x" is no preset.
  for (const DataFile& file : list_data("materials", ".json")) {
    if (file.name != name) continue;
    const Document document = parse_json(read_text(file.path), file.path);
    if (!document.findings.empty()) throw SceneError(document.findings);
    if (!document.root.is_object() || !document.root.contains("model")) {
      throw SceneError({Finding{file.path, 1, 1, "", "expected an object with the key \"model\""}});
    }
    return document.root;
  }
  return nullptr;
}

void spell_out_presets(Document& document) {
  Json* materials = member(document.root, "materials");
  if (!materials || !materials->is_object()) return;
  for (const auto& item : materials->items()) {
    if (!item.value().is_string()) continue;
    const Json name = item.value();
    item.value() = Json::object();
    item.value()["preset"] = name;
  }
}

void expand_presets(Document& document, Findings& findings) {
  if (!document.root.is_object()) return;
  // Before anything points into the root, which may move in memory when it grows.
  if (!document.root.contains("materials")) document.root["materials"] = Json::object();
  Json* objects = member(document.root, "objects");
  if (objects && objects->is_array()) {
    const std::vector<std::string> presets = preset_names();
    for (std::size_t i = 0; i < objects->size(); ++i) {
      const Json* name = member((*objects)[i], "material");
      if (!name || !name->is_string()) continue;
      const std::string preset = name->get<std::string>();
      if (std::find(presets.begin(), presets.end(), preset) == presets.end()) continue;
      Json& materials = document.root["materials"];
      if (!materials.is_object() || materials.contains(preset)) continue;
      materials[preset] = Json::object();
      materials[preset]["preset"] = preset;
    }
  }
  Json* materials = member(document.root, "materials");
  if (!materials || !materials->is_object()) return;
  for (const auto& item : materials->items()) {
    if (!item.value().is_object() || !item.value().contains("preset")) continue;
    item.value() = expanded(item.value(), join_pointer("/materials", item.key()), findings);
  }
}

}  // namespace tribo
