#pragma once

#include <limits>
#include <optional>

namespace tribo {

/// When and how much an emitter gives out.
struct EmissionSpec {
  double from = 0;                                         ///< [s]
  double until = std::numeric_limits<double>::infinity();  ///< [s]
  std::optional<double> volume_rate;  ///< [m^3/s]; nothing: as much as fits through the shape at the velocity
  bool rate_by_mass = false;          ///< the scene gives the rate as a mass
  double max_volume = std::numeric_limits<double>::infinity();  ///< given out in all [m^3]
};

}  // namespace tribo
