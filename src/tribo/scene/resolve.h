#pragma once

#include <string>
#include <vector>

#include "tribo/scene/findings.h"
#include "tribo/scene/json_document.h"
#include "tribo/scene/reader.h"

/// \file
/// The steps from a file to a Scene, for those who change the document on its way.

namespace tribo {

/// The text of a scene file; SceneError when it cannot be read: a mistake in the input like any other.
std::string read_scene_text(const std::string& path);

/// Opens presets to changes and applies those of the command line.
void prepare_document(Document& document, const std::vector<Override>& overrides, Findings& findings);

/// Expands presets, reads and checks everything. Throws SceneError when anything has been found by now.
Scene resolve_document(Document& document, const std::string& file, Findings& findings);

}  // namespace tribo
