#pragma once

#include "tribo/matter/solids/stages/state.h"
#include "tribo/matter/strands/stages/rod.h"

namespace tribo::TRIBO_BACKEND {

/// Steps of roots on the boundary of hybrid meshes, in `work.skin`: to where the present velocities of the triangle
/// under them carry it in dt. Contact may then move it otherwise; the next step brings roots back to it, so that they
/// are never off it by more than a change of velocity in one step times dt.
template <class Real>
void place_skin_roots(Exec& ex, const RodMesh<Real>& mesh, const SolidState<Real>& skin, double dt,
                      RodWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
