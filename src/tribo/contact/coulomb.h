#pragma once

#include "tribo/math/lanes.h"

/// \file
/// Coulomb's cone, |J_t| <= mu J_n, for whoever touches: impulses, or velocities that a common mass makes of them.
/// Sizes and speeds are those of vectors along the surface; whoever has the vector scales it by what comes out.

namespace tribo {

/// mu J_n: all that friction can give under a normal impulse. What does not press has none, also where nothing slides,
/// mu = infinity.
template <class Real>
TRIBO_HD Real friction_limit(Real friction, Real normal) {
  return normal > Real(0) ? friction * normal : Real(0);
}

/// min(mu J_n, J_stop): what friction gives to what would stop with J_stop.
template <class Real>
TRIBO_HD Real friction_impulse(Real friction, Real normal, Real stopping) {
  return min(friction_limit(friction, normal), stopping);
}

/// Part of a tangential impulse of this size that is left on the cone: all within it.
template <class Real>
TRIBO_HD Real part_in_cone(Real size, Real limit) {
  return size > limit ? limit / size : Real(1);
}

/// Part of a slip that friction leaves, where it can take up to `limit` of its speed.
template <class Real>
TRIBO_HD Real slip_left(Real speed, Real limit) {
  return speed > limit ? Real(1) - limit / speed : Real(0);
}

/// Part of a slip that it takes: the other one, to the last digit also where that is small.
template <class Real>
TRIBO_HD Real slip_taken(Real speed, Real limit) {
  return speed > Real(0) ? min(limit / speed, Real(1)) : Real(0);
}

}  // namespace tribo
