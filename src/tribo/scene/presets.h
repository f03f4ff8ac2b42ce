#pragma once

#include <string>
#include <vector>

#include "tribo/scene/findings.h"
#include "tribo/scene/json_document.h"

/// \file
/// Named materials, one file each in the folder `materials` of a data directory:
/// {"doc": "...", "model": "...", "density": ..., parameters of the model}.

namespace tribo {

std::vector<std::string> preset_names();  ///< sorted

/// A preset as its file has it. Throws SceneError or IoError when the file is damaged; null when there is none.
Json load_preset(const std::string& name);

/// Makes every material that is the bare name of a preset an object that asks for it, {"preset": name}, so that
/// overrides can reach inside.
void spell_out_presets(Document& document);

/// Puts presets in their place: materials with the key `preset` become complete, their own keys replacing those of the
/// preset; presets that objects name directly become entries of `materials`.
void expand_presets(Document& document, Findings& findings);

}  // namespace tribo
