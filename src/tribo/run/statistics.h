#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tribo/simulation.h"

namespace tribo {

/// Seconds per stage, by name.
using StageSeconds = std::vector<std::pair<std::string, double>>;

/// One line of stats.jsonl: what a frame holds and what it took. The keys are a contract (docs/statistics.md).
std::string frame_statistics(Simulation& simulation, double wall_seconds, const StageSeconds& stages);

/// What a scene's `expect` block says that the statistics do not bear out, one sentence each; empty when all is well.
///   "final":  {"/pointer": {"min": a, "max": b}}            of the last frame
///   "always": the same, of every frame
///   "drift":  {"/pointer": {"max": a, "relative_to": "/pointer"}}
///             largest distance of a number or vector from its value in frame 0, divided by the norm of another
/// Throws SceneError when the block itself makes no sense.
std::vector<std::string> unmet_expectations(const std::string& expect_json, const std::vector<std::string>& stats);

}  // namespace tribo
