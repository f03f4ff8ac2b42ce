#pragma once

#include "tribo/matter/rigid/contact/solve.h"

/// \file
/// Impacts of rigid bodies with restitution, before anything else of a step that contact does.
///
/// Newton's law of restitution keeps energy from rising only where all that touches has the same coefficient. Rows that
/// merely must not come nearer than they are have none, so that a ball that met a row of others, all to be solved at
/// once, left them with a sixth more than it had brought. So impacts go from pair to pair (Guendelman2003): each is
/// solved by itself and cannot gain energy, what it hits meets the next, and only what then still comes near is left to
/// the sweeps.
///
/// An impact happens within the step, at a time t that both come together at. Up to then they go on as they were, so of
/// the way that they go with their new velocities, t P/m is taken back; bounces have the right height for any dt. It
/// acts where both are then, which is what keeps angular momentum when centers are moved. Turning is not taken back:
/// at a given angular momentum another orientation has another energy, and boxes had gained a tenth in an impact.

namespace tribo::TRIBO_BACKEND {

/// Impacts in a step: changes velocities of bodies, what they have not moved yet, and rows, which begin where that
/// leaves them. With joints, which hold bodies meanwhile, after bend_joints.
void meet_impacts(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, JointWork& joint_work,
                  const RigidColors& colors, double gravity, double dt, RigidWork& work, RigidContacts& contacts);

}  // namespace tribo::TRIBO_BACKEND
