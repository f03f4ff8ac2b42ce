#pragma once

#include "tribo/state/state.h"

namespace tribo::TRIBO_BACKEND {

/// Velocity of a grid node from its sums of momentum and mass (the last of the four), after gravity and colliders.
template <class Real, int D>
TRIBO_HD Vec<Real, D> node_velocity(const NodePack<Real>& sum, const Cell<D>& node, Real dx,
                                    const Vec<Real, D>& velocity_gain,
                                    const typename Colliders<Real, D>::View& colliders) {
  Vec<Real, D> v = Vec<Real, D>::zero();
  if (!(sum[3] > Real(0))) return v;
  const Real inverse = Real(1) / sum[3];
  Vec<Real, D> x;
  for (int k = 0; k < D; ++k) {
    v[k] = fma(sum[k], inverse, velocity_gain[k]);
    x[k] = dx * Real(node[k]);
  }
  return colliders.constrain(x, v, Real(contact_slack) * dx);
}

}  // namespace tribo::TRIBO_BACKEND
