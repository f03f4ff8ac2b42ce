#pragma once

#include "tribo/contact/sums.h"
#include "tribo/matter/rigid/contact/joints.h"
#include "tribo/matter/rigid/contact/rows.h"

/// \file
/// What contact gives to rigid bodies and colliders, for the statistics. A body that moves says by its momentum all that
/// has acted on it, whatever it was; of that only what joints have given is no contact, and is told to be taken off.
/// What keyframes move has no momentum that says anything, and is told what rows give it.

namespace tribo::TRIBO_BACKEND {

struct RigidForces {
  bool joined = false;         ///< whether there are joints that bodies of objects hang on
  Array<Index> joined_object;  ///< of bodies: the object that is told what joints give, or -1
  /// Of bodies that contact does not move: who is told of rows; an object, or of colliders -2 less their number; -1: nobody.
  Array<Index> row_entry;
  std::vector<ObjectContact> objects;

  std::size_t bytes() const { return joined_object.bytes() + row_entry.bytes(); }
};

/// `alone`: nothing but rigid bodies and colliders can touch a body.
void load_forces(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, std::size_t objects, bool alone,
                 RigidForces& forces);

/// All that will touch bodies in this step has.
void tell_forces(Exec& ex, const RigidMesh& mesh, const RigidContacts& contacts, const JointWork& joints,
                 const RigidWork& work, const RigidForces& forces, const ContactTally& tally);

}  // namespace tribo::TRIBO_BACKEND
