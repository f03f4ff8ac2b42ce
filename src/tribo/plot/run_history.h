#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tribo {

/// What a run's statistics say about it as a whole, over its frames; NaN where they say nothing.
struct RunHistory {
  std::string name;
  std::vector<double> time;                              ///< [s]
  std::vector<double> kinetic, elastic, gravity, total;  ///< energies [J]; total: of all kinds
  std::vector<std::array<double, 3>> momentum;           ///< [kg m/s]
  std::vector<std::array<double, 3>> angular_momentum;   ///< [kg m^2/s]
  std::int64_t steps = 0;
  double wall = 0;  ///< seconds it took, in all
};

/// Reads the lines of stats.jsonl up to frame `last`. Throws IoError that names `path` and the line when one cannot be
/// read, or when there is none.
RunHistory read_history(const std::string& name, const std::vector<std::string>& lines, int last,
                        const std::string& path);

/// Counts gravity from its least value in any of the runs, which is given back: its zero at the origin means nothing.
/// Without gravity nothing changes.
double count_gravity_from_least(std::vector<RunHistory>& runs);

}  // namespace tribo
