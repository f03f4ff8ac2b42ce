#pragma once

#include <string>

#include "tribo/math/small.h"

namespace tribo {

/// What a joint has done since a frame began, and how it is now. `Engine` has impulses, `Simulation` their means.
struct JointReport {
  std::string name;
  enum class Coordinate : int { none, angle, position, length } coordinate = Coordinate::none;
  double value = 0;  ///< of the coordinate: [rad] with whole turns, [m]
  double speed = 0;  ///< [rad/s], [m/s]
  bool has_motor = false, is_spring = false;
  double motor = 0;                                ///< torque or force of the motor along the coordinate [N m], [N]
  double energy = 0;                               ///< of a spring [J]
  Vec<double, 3> force = Vec<double, 3>::zero();   ///< on the first of the two, at the joint's place on it [N]
  Vec<double, 3> torque = Vec<double, 3>::zero();  ///< on it about that place, beside that force [N m]
};

}  // namespace tribo
