#pragma once

#include <cmath>

#include "tribo/core/params.h"
#include "tribo/math/small.h"

namespace tribo {

/// v = (w x r) exp(-|q|^2 / radius^2), q the part of r across the axis w: turns rigidly at the axis and rests far away.
/// Free of divergence, because the speed is the same all along a circle.
struct VortexField {
  static constexpr const char* name = "vortex";
  static constexpr const char* doc = "one swirl about an axis through the center, which dies away outwards";

  Vec<double, 3> w = Vec<double, 3>::zero();  ///< at the axis [rad/s]
  double radius = 1;                          ///< [m]

  static VortexField read(ParamReader& in) {
    const Vec<double, 3> w = in.vector("angular_velocity", "rad/s", anything(), "at the axis, which it points along");
    const double radius = in.number("radius", "m", above(0), "where the swirl has died away by a factor of e");
    return {w, radius};
  }

  Vec<double, 3> across(const Vec<double, 3>& r) const {
    const double square = squared_norm(w);
    return square > 0 ? r - w * (dot(w, r) / square) : r;
  }
  double decay(const Vec<double, 3>& q) const { return std::exp(-squared_norm(q) / (radius * radius)); }

  Vec<double, 3> velocity(const Vec<double, 3>& r) const { return cross(w, r) * decay(across(r)); }
  Mat<double, 3> gradient(const Vec<double, 3>& r) const {
    const Vec<double, 3> q = across(r);
    const Vec<double, 3> turning = cross(w, r);
    const Mat<double, 3> W{{{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}}};
    Mat<double, 3> G;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) G(i, j) = decay(q) * (W(i, j) - 2 / (radius * radius) * turning[i] * q[j]);
    return G;
  }
};

}  // namespace tribo
