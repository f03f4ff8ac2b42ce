#pragma once

#include "tribo/matter/rigid/seed.h"

namespace tribo {

/// Fixes a joint to its two sides at time 0: at points of the world, which are one but for ropes, rods and springs,
/// with its axis along `axis`, and the same frame on both sides.
void place_joint(const std::vector<RigidBody>& bodies, const Vec<double, 3>& at_a, const Vec<double, 3>& at_b,
                 const Vec<double, 3>& axis, RigidJoint& joint);

}  // namespace tribo
