#pragma once

#include "tribo/matter/strands/stages/strands.h"

namespace tribo::TRIBO_BACKEND {

/// Directors from the state's positions to the next ones, and theta to equilibrium there. Directors of edges that are
/// held are taken from the workspace.
template <class Real>
void turn_frames(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& x_next, const Field<Real, 3>& tail_next,
                 int most_iterations, RodState<Real>& state, RodWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
