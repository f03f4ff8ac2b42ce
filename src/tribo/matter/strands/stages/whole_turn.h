#pragma once

#include "tribo/matter/strands/stages/rod.h"

/// \file
/// Strands that nothing holds, as wholes that turn. See also `undo_turns`.

namespace tribo::TRIBO_BACKEND {

/// Rotation of each at the start of a step, to `work.spin`; zero of strands that are held.
template <class Real>
void find_spins(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, RodWorkspace<Real>& work);

/// Gives back what `rod_step` took from their spin. Forces of a step have no torque at its end, so that m v_n x v dt of
/// the motion before is lost in each step: a free rod lost half of its spin in two seconds. Turning it as a whole gives
/// that back. It is turned as it will be at the end of the step, which keeps lengths to the second order, and by no
/// more than the step has lost of energy: otherwise a struck ring would gain by it.
template <class Real>
void keep_spins(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
