#pragma once

#include "tribo/stages/stages.h"
#include "tribo/state/solids.h"

/// \file
/// Stages of hybrid Lagrangian solids (Han 2019, sec. 4). One step: `elastic_step` gives every vertex the velocity v_lag
/// that its mesh and gravity want; `contact_step` changes these by impulses between bodies, within one, and from
/// colliders, and `couple` by those of particles on the second grid; `move_vertices` carries them along.

namespace tribo::TRIBO_BACKEND {

/// What never changes of the bodies, on the device.
template <class Real>
void load_solids(Exec& ex, const SolidSeed& seed, SolidMesh<Real>& mesh, SolidState<Real>& state);

}  // namespace tribo::TRIBO_BACKEND
