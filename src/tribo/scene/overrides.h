#pragma once

#include <vector>

#include "tribo/scene/findings.h"
#include "tribo/scene/json_document.h"
#include "tribo/scene/reader.h"

namespace tribo {

/// A value that replaces another, or is added.
struct Change {
  std::string pointer;
  Json value;
  Place place;  ///< where the change is asked for
};

/// The change that `flag POINTER=VALUE` on the command line asks for. Text that is no JSON is a word; what cannot be
/// read at all is noted.
Change change_by_flag(const char* flag, const Override& override, Findings& findings);

/// Puts the value into the document, as if the file had said so. Objects on the way that the file leaves out are added:
/// it need not have the key `time` for `/time/cfl`; a misspelled one is found later, as any unknown key.
void apply_change(const Change& change, Document& document, Findings& findings);

/// The same for all that `--set` asks for.
void apply_overrides(const std::vector<Override>& overrides, Document& document, Findings& findings);

}  // namespace tribo
