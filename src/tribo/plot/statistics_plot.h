#pragma once

#include <string>
#include <vector>

namespace tribo {

/// One page of charts, as SVG, of a run's statistics (lines of stats.jsonl): energies, momenta, time steps with what
/// limited them, wall time per stage. Energies and stages are those the statistics name. Numbers that are missing or
/// not finite leave gaps. Throws IoError when a line is not a JSON object, or when no line has a time.
std::string plot_statistics(const std::vector<std::string>& lines, const std::string& scene_name);

}  // namespace tribo
