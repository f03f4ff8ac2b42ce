#pragma once

#include "tribo/grid/state.h"

namespace tribo::TRIBO_BACKEND {

/// Cells by which a particle may be beyond a surface. Nodes hold back what is around them, so that material comes to
/// rest up to 0.8 cells beyond a wall that no nodes lie on. That is an equilibrium of stress and weight: pushing what
/// rests there would press the volume out of still water.
inline constexpr double allowed_cells = 0.9;
/// What is deeper than this was put there by the scene and is left alone.
inline constexpr double lost_cells = 2;

/// Whether a particle of a block may be too deep beyond a collider. Particles lie within `side` cells from the block's
/// first node (linear kernel), or from half a cell (quadratic) or a cell (cubic) above it, give or take the cells along
/// each axis they may have left by; colliders may have come by some cells.
template <class Real, int D>
TRIBO_HD bool may_be_too_deep(const typename Colliders<Real, D>::View& colliders, const Cell<D>& block, Real dx,
                              double left_by, double come_by) {
  using Shape = BlockShape<D>;
  constexpr double half = 0.5 * (Shape::side + 1);
  Vec<Real, D> center;
  for (int k = 0; k < D; ++k) center[k] = dx * (Real(block[k] * Shape::side) + Real(half));
  const double radius = (half + left_by) * (D == 3 ? 1.7321 : 1.4143) + come_by - allowed_cells;
  return colliders.reaches(center, Real(radius) * dx);
}

/// x, or the nearest place that is not too deep beyond a collider.
template <class Real, int D>
TRIBO_HD Vec<Real, D> confined(const typename Colliders<Real, D>::View& colliders, const Vec<Real, D>& x, Real dx) {
  return colliders.pushed_out(x, Real(allowed_cells) * dx, Real(lost_cells) * dx);
}

}  // namespace tribo::TRIBO_BACKEND
