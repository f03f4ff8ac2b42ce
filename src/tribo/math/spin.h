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

/// The rotation w for which the sum of m x cross (w cross y) is the torque, `second` is that of m y x^T. A body that is
/// flat on a line has no inertia around it, and no torque either: a little in all directions keeps w finite.
TRIBO_HD Vec<double, 3> spin_of(const Mat<double, 3>& second, const Vec<double, 3>& torque) {
  const double all = second(0, 0) + second(1, 1) + second(2, 2);
  if (!(all > 0)) return Vec<double, 3>::zero();
  Vec<double, 3> column[3];
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k < 3; ++k) column[k][j] = (j == k ? all + 1e-9 * all : 0) - second(j, k);
  const Vec<double, 3> c12 = cross(column[1], column[2]), c20 = cross(column[2], column[0]),
                       c01 = cross(column[0], column[1]);
  return (1 / dot(column[0], c12)) * Vec<double, 3>{{dot(torque, c12), dot(torque, c20), dot(torque, c01)}};
}
/// The rotation that has a body's torque: I w = torque, with I about its center.
TRIBO_HD Vec<double, 3> spin_of(const SpinSums& sums, const Vec<double, 3>& center) {
  Mat<double, 3> second;
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k < 3; ++k) second(j, k) = sums.square(j, k) - sums.mass * center[j] * center[k];
  return spin_of(second, sums.torque);
}

}  // namespace tribo
