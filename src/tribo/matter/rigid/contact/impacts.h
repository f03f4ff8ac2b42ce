#pragma once

#include "tribo/matter/rigid/contact/solve.h"

/// \file
/// Impacts of rigid bodies with restitution, before anything else of a step that contact does.
///
/// Newton's law of restitution keeps energy from rising only where all that touches has the same coefficient. Rows that
/// merely must not come nearer than they are have none, so that a ball that met a row of others, all to be solved at
/// once, left them with a sixth more than it had brought. So impacts go from pair to pair (Guendelman 2003): each is solved by
/// itself and cannot gain energy, what it hits meets the next, and only what then still comes near is left to the sweeps.

namespace tribo::TRIBO_BACKEND {

/// Impacts in a step: impulses of rows and what bodies have not moved yet. Bodies are left as they were;
/// begin_ties gives them the impulses. With joints, which hold bodies meanwhile, after begin_joints.
void meet_impacts(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, const JointWork& joint_rows,
                  const RigidColors& colors, double gravity, double dt, RigidWork& work, RigidContacts& contacts);

}  // namespace tribo::TRIBO_BACKEND
