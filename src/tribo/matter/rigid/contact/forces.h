#pragma once

#include "tribo/contact/sums.h"
#include "tribo/matter/rigid/contact/joints.h"
#include "tribo/matter/rigid/contact/rows.h"

/// \file
/// What contact gives to rigid bodies and colliders, for the statistics.

namespace tribo::TRIBO_BACKEND {

/// Whose contact is counted, and how. What neither joints hold nor keyframes move says by its momentum what contact has
/// done, without any of this.
struct RigidForces {
  bool any = false;
  Array<Index> of_change;  ///< of bodies: the object that gets what has changed their velocities, less what joints have; -1
  Array<Index> of_rows;    ///< of bodies that nothing moves: the object, or less than -1: collider -2 - i; -1: of neither
  Array<Vec3d> v, w;       ///< of bodies, before anything has touched them [m/s], [rad/s]
  std::vector<ObjectContact> objects;

  std::size_t bytes() const { return of_change.bytes() + of_rows.bytes() + v.bytes() + w.bytes(); }
};

void load_forces(Exec& ex, const RigidMesh& mesh, const std::vector<JointTie>& joints, std::size_t objects,
                 RigidForces& forces);

/// Bodies have been placed, and nothing has touched them.
void keep_free(Exec& ex, const RigidMesh& mesh, const RigidWork& work, RigidForces& forces);

/// All that will touch them in this step has.
void tell_forces(Exec& ex, const RigidMesh& mesh, const RigidContacts& contacts, const RigidJoints& joints,
                 const JointWork& rows, const RigidWork& work, const RigidForces& forces, const ContactTally& tally);

}  // namespace tribo::TRIBO_BACKEND
