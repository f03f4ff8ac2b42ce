#pragma once

#include <string>
#include <vector>

#include "tribo/scene/scene.h"

namespace tribo {

/// A command-line override `/json/pointer=value`.
struct Override {
  std::string pointer;
  std::string value;  ///< JSON, or a bare word taken as a string
};

/// Splits "/json/pointer=value"; throws SceneError when it has not that form.
Override parse_override(const std::string& text);

/// Reads, checks and resolves a scene file. Throws SceneError with every mistake found, or when the file cannot be
/// read. `overrides` are applied to the JSON before checking.
Scene read_scene(const std::string& path, const std::vector<Override>& overrides = {});

/// The same from text already in memory; `file` is used in messages and to find files named by relative paths.
Scene parse_scene(const std::string& text, const std::string& file, const std::vector<Override>& overrides = {});

/// JSON Schema (draft 2020-12) of the scene format.
std::string scene_schema();

/// The scene reference manual in Markdown, generated from the same descriptions.
std::string scene_reference();

/// One row of `tribo list`: a name and what it is.
struct ListEntry {
  std::string name;
  std::string doc;
  std::vector<std::string> details;  ///< parameters with unit, range and default, one a line
};
/// What `tribo list KIND` prints. Kinds: materials, models, transfers, colliders, objects, fields, writers,
/// scenes.
std::vector<ListEntry> list_entries(const std::string& kind);
std::vector<std::string> list_kinds();

}  // namespace tribo
