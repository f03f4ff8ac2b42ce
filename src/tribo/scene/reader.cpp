#include "tribo/scene/reader.h"

#include <filesystem>

#include "tribo/core/errors.h"

#include "tribo/io/file.h"
#include "tribo/scene/checks.h"
#include "tribo/scene/format.h"
#include "tribo/scene/json_reader.h"
#include "tribo/scene/overrides.h"
#include "tribo/scene/presets.h"
#include "tribo/scene/resolve.h"

namespace tribo {
namespace {

/// Needed before the first vector is read, how many components it has; and where files are.
Surroundings surroundings_of(const Json& root, const std::string& file) {
  Surroundings around;
  around.directory = std::filesystem::path(file).parent_path().string();
  if (!root.is_object()) return around;
  const auto dimension = root.find("dimension");
  if (dimension != root.end() && *dimension == 2) around.dimension = 2;
  const auto grid = root.find("grid");
  if (grid != root.end() && grid->is_object() && grid->contains("dx") && (*grid)["dx"].is_number()) {
    const double dx = (*grid)["dx"].get<double>();
    if (dx > 0) around.grid_spacing = dx;
  }
  return around;
}

}  // namespace

Override parse_override(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (text.empty() || text[0] != '/' || equals == std::string::npos) {
    throw SceneError({Finding{"--set " + text, 0, 0, "", "expected /json/pointer=value, such as /grid/dx=0.01"}});
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::string read_scene_text(const std::string& path) {
  try {
    return read_text(path);
  } catch (const IoError& error) {
    throw SceneError({Finding{path, 0, 0, "", error.what()}});
  }
}

void prepare_document(Document& document, const std::vector<Override>& overrides, Findings& findings) {
  spell_out_presets(document);
  apply_overrides(overrides, document, findings);
  spell_out_presets(document);  // those the overrides have brought
}

Scene resolve_document(Document& document, const std::string& file, Findings& findings) {
  spell_out_presets(document);  // those that changes have brought
  expand_presets(document, findings);

  Scene scene;
  scene.file = file;
  Json resolved;
  const Surroundings surroundings = surroundings_of(document.root, file);
  JsonParamReader reader(document.root, "", surroundings, findings, resolved);
  read_format(reader, scene);
  reader.finish();
  check_scene(scene, findings);
  check_variants(document.root, findings);
  findings.throw_if_any();
  scene.resolved_json = pretty_json(resolved);
  return scene;
}

Scene parse_scene(const std::string& text, const std::string& file, const std::vector<Override>& overrides) {
  Document document = parse_json(text, file);
  Findings findings(document.places, std::move(document.findings));
  prepare_document(document, overrides, findings);
  return resolve_document(document, file, findings);
}

Scene read_scene(const std::string& path, const std::vector<Override>& overrides) {
  return parse_scene(read_scene_text(path), path, overrides);
}

}  // namespace tribo
