#pragma once

#include <string>
#include <vector>

#include "tribo/io/run_directory.h"

namespace tribo {

/// The frames that a text means among those a run has: "12", "3:10" (3 to 10, both included), "3:", ":10", or all of
/// them for "". Throws Error when the text makes no sense, names a frame that is not there, or there is none at all.
std::vector<int> select_frames(const RunDirectory& run, const std::string& text);

}  // namespace tribo
