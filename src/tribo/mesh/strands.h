#pragma once

#include <cstdint>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// Polylines, one after the other.
struct Strands {
  std::vector<Vec<double, 3>> points;  ///< [m]
  std::vector<std::int32_t> start;     ///< of each strand, and one past the last point
  std::vector<double> radius;          ///< of each point, or empty [m]
};

}  // namespace tribo
