#pragma once

#include <optional>
#include <vector>

#include "tribo/scene/scene.h"

namespace tribo {

/// Bodies of one shape in rows, columns and layers.
struct RigidArray {
  Vec<int, 3> count = Vec<int, 3>::filled(1);         ///< along x, y and z
  Vec<double, 3> spacing = Vec<double, 3>::zero();    ///< from one to the next [m]
  Vec<double, 3> stagger = Vec<double, 3>::zero();    ///< of every second layer [m]
  int layers = 1;                                     ///< the axis along which these follow each other
};

/// One or more rigid bodies of one shape.
struct RigidSpec {
  std::optional<double> density;  ///< [kg/m^3]
  std::optional<double> mass;     ///< of each body, instead [kg]
  double restitution = 0;
  bool printed = false;    ///< it touches other rigid bodies and colliders as printed in Han 2019, sec. 6
  bool kinematic = false;  ///< follows `motion`
  Motion motion;
  std::vector<Keyframe> copies;  ///< in the frame of the object (times are unused); empty: one, where that is
  std::optional<RigidArray> array;  ///< of each of these
};

/// Where the bodies of an object are, in its frame.
std::vector<Pose> copies_of(const RigidSpec& rigid);

}  // namespace tribo
