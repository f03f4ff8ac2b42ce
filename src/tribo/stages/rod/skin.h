#pragma once

#include "tribo/stages/rod/rod.h"
#include "tribo/state/solids.h"

namespace tribo::TRIBO_BACKEND {

/// Steps of roots on the boundary of hybrid meshes, in `work.skin`: along with the triangle under them, from where it is
/// to where its present velocities carry it in dt. Contact may then move the triangle otherwise; the next step begins
/// from where it came to, so that roots are never off it by more than a change of velocity in one step times dt.
template <class Real>
void place_skin_roots(Exec& ex, const RodMesh<Real>& mesh, const SolidState<Real>& skin, double dt,
                      RodWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
