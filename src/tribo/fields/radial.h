#pragma once

#include <cmath>

#include "tribo/core/params.h"
#include "tribo/math/small.h"

namespace tribo {

/// v = speed r / max(|r|, core): away from the center at one speed, growing from 0 within the core, where a constant
/// speed would have no direction to take.
struct RadialField {
  static constexpr const char* name = "radial";
  static constexpr const char* doc = "away from the center, or towards it: a burst";

  double speed = 0;  ///< [m/s]
  double core = 1;   ///< [m]

  static RadialField read(ParamReader& in) {
    const double speed = in.number("speed", "m/s", anything(), "away from the center; negative: towards it");
    const double core = in.number("core", "m", above(0), "distance within which the speed grows from 0");
    return {speed, core};
  }

  Vec<double, 3> velocity(const Vec<double, 3>& r) const {
    const double distance = std::sqrt(squared_norm(r));
    return r * (speed / (distance > core ? distance : core));
  }
  /// Outside the core the speed is constant: nothing changes along r, all directions across turn with it.
  Mat<double, 3> gradient(const Vec<double, 3>& r) const {
    const double distance = std::sqrt(squared_norm(r));
    if (!(distance > core)) return Mat<double, 3>::identity() * (speed / core);
    const Vec<double, 3> n = r * (1 / distance);
    Mat<double, 3> G;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) G(i, j) = speed / distance * ((i == j ? 1 : 0) - n[i] * n[j]);
    return G;
  }
};

}  // namespace tribo
