#pragma once

#include "tribo/matter/strands/contact/impulses.h"

/// \file
/// Pairs of segments that something presses together, as snow presses hair to a scalp: what the fail-safe kept them
/// apart with in a step is what the next one begins with. Iterations find it a little at a time. Begun anew in every
/// step they left the same velocity each time, by which such pairs lost their thickness within a millisecond, and then
/// took all the rounds there are in every step, until the first ones passed.

namespace tribo::TRIBO_BACKEND {

/// Forces of the last step, where its pairs are near again, become impulses of these and change velocities; from then
/// on only pairs of their strands are iterated. Returns how many there are. After `prepare_pairs`.
template <class Real>
Index recall_pressed(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& rods,
                     StrandContactWork<Real>& work);

/// Those that `settle_impulses` came to in a step of dt, for the next step.
template <class Real>
void keep_pressed(Exec& ex, const RodMesh<Real>& mesh, double dt, StrandContactWork<Real>& work,
                  PressedPairs<Real>& pressed);

}  // namespace tribo::TRIBO_BACKEND
