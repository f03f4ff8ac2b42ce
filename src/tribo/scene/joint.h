#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tribo/models/joint/all.h"

namespace tribo {

/// One of the two that a joint holds.
struct JointSide {
  int object = -1;  ///< into Scene::objects; -1: the world
  int copy = 0;     ///< which of its bodies
};

/// What a motor aims at at a time.
struct JointAim {
  double time = 0;    ///< [s]
  double target = 0;  ///< as JointRule::target
};

/// Between two rigid bodies, or one and the world.
struct JointSpec {
  std::string name;
  Joint<double> joint;
  JointSide between, other;          ///< coordinates are those of the first against the second
  std::optional<Vec<double, 3>> at;  ///< the joint's place on the first, at the start [m]
  std::optional<Vec<double, 3>> to;  ///< on the second, where it is another
  Vec<double, 3> axis{{0, 0, 1}};    ///< need not be of length 1
  JointRule<double> rule;
  std::vector<JointAim> aims;  ///< of the motor, by rising times; empty: rule.target
  bool touch = false;          ///< whether the two touch each other beside it
};

}  // namespace tribo
