#pragma once

#include "tribo/grid/state.h"

namespace tribo::TRIBO_BACKEND {

/// Velocity of a grid node from its sums of momentum and mass (the last of the four), after gravity; 0 where nothing
/// is.
template <class Real, int D>
TRIBO_HD Vec<Real, D> free_velocity(const NodePack<Real>& sum, const Vec<Real, D>& velocity_gain) {
  Vec<Real, D> v = Vec<Real, D>::zero();
  if (!(sum[3] > Real(0))) return v;
  const Real inverse = Real(1) / sum[3];
  for (int k = 0; k < D; ++k) v[k] = fma(sum[k], inverse, velocity_gain[k]);
  return v;
}

/// The same after contact with colliders. `mass` is the node's; `run` hears of impulses on colliders.
template <class Real, int D, class Run>
TRIBO_HD Vec<Real, D> contact_velocity(const Vec<Real, D>& v, Real mass, const Cell<D>& node, Real dx,
                                       const typename Colliders<Real, D>::View& colliders, Run& run) {
  if (!(mass > Real(0))) return v;
  Vec<Real, D> x;
  for (int k = 0; k < D; ++k) x[k] = dx * Real(node[k]);
  return colliders.constrain(x, v, mass, Real(contact_slack) * dx, run);
}

}  // namespace tribo::TRIBO_BACKEND
