#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "tribo/simulation.h"

namespace tribo::test {

/// A simulation of a scene given as text; `//` comments are welcome in it.
inline Simulation simulate(const std::string& scene, const SimulationOptions& options = {}) {
  return {parse_scene(scene, "test.json", options.overrides), options};
}

inline double norm(const Vec<double, 3>& v) { return std::sqrt(squared_norm(v)); }
inline Vec<double, 3> center(const ObjectSums& sums) { return sums.mass_position * (1 / sums.mass); }
inline Vec<double, 3> velocity(const ObjectSums& sums) { return sums.momentum * (1 / sums.mass); }

inline constexpr double pi = 3.14159265358979323846;

}  // namespace tribo::test
