#pragma once

#include <string>

#include "tribo/math/small.h"

namespace tribo {

/// What a joint did since it was last asked, as means over that time, and how it is now.
struct JointReport {
  std::string name;
  enum class Coordinate : int { none, angle, position, length } coordinate = Coordinate::none;
  double value = 0;  ///< [rad] with whole turns, [m]
  double speed = 0;  ///< [rad/s], [m/s]
  bool has_motor = false;
  double motor = 0;                                ///< torque or force of the motor along the coordinate [N m], [N]
  double energy = 0;                               ///< of a spring [J]
  Vec<double, 3> force = Vec<double, 3>::zero();   ///< on the second of the two, at its place [N]
  Vec<double, 3> torque = Vec<double, 3>::zero();  ///< on it about that place, beside that force [N m]
};

}  // namespace tribo
