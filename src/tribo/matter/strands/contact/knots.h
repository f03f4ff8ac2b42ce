#pragma once

#include "tribo/matter/strands/contact/crossings.h"

/// \file
/// What no iteration of impulses keeps apart, as strands that are wound around each other and pressed onto a collider.
/// A way that is an affine function of place, as that of a rigid body is, has nothing pass through anything, however
/// long the step. So segments that would cross go on as one rigid piece for the step, and their strands follow. What
/// they move relative to each other is lost there, for one step. Nothing holds these strands off colliders after that.

namespace tribo::TRIBO_BACKEND {

struct KnotVertex {
  Vec<double, 3> x, v;  ///< v to be, where it goes back
  Sym<double, 3> mass;  ///< that impulses on it feel
  double lumped;
  Index driven;
};

/// Scratch memory.
template <class Real>
struct KnotWork {
  Array<Index> vertex;      ///< of knots, rising
  Array<KnotVertex> state;  ///< of these
  Array<Index> with_knot;   ///< strands
  Array<Index> strands;     ///< 1 of these
  Array<VertexHold> hold;
  Field<Real, 3> v_before;

  std::size_t bytes() const {
    return vertex.bytes() + state.bytes() + with_knot.bytes() + strands.bytes() + hold.bytes() + v_before.bytes();
  }
};

struct KnotReport {
  Index tied = 0;      ///< crossings that were prevented
  CrossingCount left;  ///< in this case velocities are as before
};

/// Ties the crossings that were found, and those that this makes. For velocities of `rod_step` and whatever changed
/// them since. `crossings` has `found` of them, and those that are left afterwards.
template <class Real>
KnotReport tie_knots(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& rods,
                     SegmentPads<Real>& pads, KnotWork<Real>& work, Array<Crossing<Real>>& crossings,
                     CrossingCount found);

}  // namespace tribo::TRIBO_BACKEND
