#pragma once

#include <algorithm>
#include <cstdint>

namespace tribo {

/// What implicit steps took: sums over steps, and the worst of them. All zero for explicit ones.
struct SolveReport {
  std::int64_t newton = 0;       ///< iterates
  std::int64_t linear = 0;       ///< iterations of conjugate gradients
  std::int64_t rejected = 0;     ///< attempts that did not converge and were taken again with a shorter dt
  std::int64_t unconverged = 0;  ///< steps that were kept although they did not converge
  double error = 0;              ///< largest last change of velocities, root mean square [m/s]

  void add(const SolveReport& other) {
    newton += other.newton;
    linear += other.linear;
    rejected += other.rejected;
    unconverged += other.unconverged;
    error = std::max(error, other.error);
  }
};

}  // namespace tribo
