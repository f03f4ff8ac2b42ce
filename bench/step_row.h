#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mpm.h"
#include "tribo/engine/engine.h"

/// \file
/// What benchmarks of meshes and strands have in common: time of steps and of their stages.

namespace tribo {

struct StepRow {
  EngineCounts counts;
  double milliseconds = 0;                             ///< per step, median
  std::vector<std::pair<std::string, double>> stages;  ///< likewise

  /// Of all stages whose names begin like this.
  double of(const std::string& begin) const;
  /// All of them, as text.
  std::string listed() const;
};

/// `repeats` times so many steps. Throws when what comes out is not finite or nothing touches.
StepRow measure_steps(Engine& engine, int steps, int repeats);

/// One thread and all of them, unless the options say which.
std::vector<int> thread_counts(const BenchOptions& options);

/// "cpu avx2" or "cuda".
std::string device_of(const BenchOptions& options);

}  // namespace tribo
