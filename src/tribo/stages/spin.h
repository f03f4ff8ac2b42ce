#pragma once

#include "tribo/math/small.h"

/// \file
/// Rotation of a body as a whole that takes a torque from it, or gives one.

namespace tribo {

/// What points of a body weigh, and the torques on them, about one origin.
struct SpinSums {
  double mass;
  Vec<double, 3> place;   ///< m x
  Sym<double, 3> square;  ///< m x x^T
  Vec<double, 3> torque;

  TRIBO_HD static SpinSums none() {
    return {0, Vec<double, 3>::zero(), Sym<double, 3>::isotropic(0), Vec<double, 3>::zero()};
  }
  TRIBO_HD static SpinSums of(double mass, const Vec<double, 3>& x, const Vec<double, 3>& torque) {
    SpinSums r{mass, mass * x, Sym<double, 3>::isotropic(0), torque};
    for (int j = 0; j < 3; ++j)
      for (int k = j; k < 3; ++k) r.square(j, k) = mass * x[j] * x[k];
    return r;
  }
  TRIBO_HD void add(const SpinSums& more) {
    mass += more.mass;
    place += more.place;
    for (int k = 0; k < 6; ++k) square.s[k] += more.square.s[k];
    torque += more.torque;
  }
};

/// The rotation that has a body's torque: I w = torque, with I about its center. A body that is flat on a line has no
/// inertia around it, and no torque either: a little in all directions keeps w finite.
TRIBO_HD Vec<double, 3> spin_of(const SpinSums& sums, const Vec<double, 3>& center) {
  Mat<double, 3> I;
  Vec<double, 3> second;
  for (int k = 0; k < 3; ++k) second[k] = sums.square(k, k) - sums.mass * center[k] * center[k];
  const double all = second[0] + second[1] + second[2];
  if (!(all > 0)) return Vec<double, 3>::zero();
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k < 3; ++k)
      I(j, k) = j == k ? all - second[j] + 1e-9 * all : sums.mass * center[j] * center[k] - sums.square(j, k);
  Vec<double, 3> row[3];
  for (int j = 0; j < 3; ++j) row[j] = {{I(j, 0), I(j, 1), I(j, 2)}};
  const double volume = dot(row[0], cross(row[1], row[2]));
  return (1 / volume) * (sums.torque[0] * cross(row[1], row[2]) + sums.torque[1] * cross(row[2], row[0]) +
                         sums.torque[2] * cross(row[0], row[1]));
}

}  // namespace tribo
