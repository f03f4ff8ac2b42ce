#pragma once

#include "tribo/stages/rod/crossings.h"

/// \file
/// What no iteration of impulses keeps apart, as strands that are wound around each other and pressed onto a collider.
/// A motion that is an affine function of place, as that of a rigid body is, has nothing pass through anything, however
/// long the step. So segments that would cross go on as one rigid piece for the step, with the momentum they have
/// together, and their strands follow. Relative motion is lost there and nowhere else, for one step.

namespace tribo::TRIBO_BACKEND {

struct KnotVertex {
  Vec<double, 3> x, v;  ///< v to be, where it goes back
  double mass;
  Index driven;
};

/// Scratch memory.
template <class Real>
struct KnotWork {
  Array<Index> vertex;      ///< of knots, rising
  Array<KnotVertex> state;  ///< of these
  Array<Index> strands;     ///< 1 of those with a knot
  Array<VertexHold<Real>> hold;

  std::size_t bytes() const { return vertex.bytes() + state.bytes() + strands.bytes() + hold.bytes(); }
};

/// Ties the crossings that were found, and those that this makes; returns what is left of them. For velocities of
/// `rod_step` and whatever changed them since. `crossings` has `found` of them, and those that are left afterwards.
template <class Real>
CrossingCount tie_knots(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& rods,
                        SegmentPads<Real>& pads, KnotWork<Real>& work, Array<Crossing<Real>>& crossings,
                        CrossingCount found);

}  // namespace tribo::TRIBO_BACKEND
