#pragma once

#include <vector>

#include "tribo/scene/findings.h"
#include "tribo/scene/json_document.h"
#include "tribo/scene/reader.h"

namespace tribo {

/// Puts the values of command-line overrides into the document, as if the file had said so. Objects on the way that
/// the file leaves out are added: it need not have the key `time` for `/time/cfl`; a misspelled one is found later, as
/// any unknown key.
void apply_overrides(const std::vector<Override>& overrides, Document& document, Findings& findings);

}  // namespace tribo
