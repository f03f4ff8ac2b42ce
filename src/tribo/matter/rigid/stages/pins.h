#pragma once

#include <utility>
#include <vector>

#include "tribo/matter/rigid/stages/rigid.h"
#include "tribo/matter/solids/stages/solid.h"

/// \file
/// Vertices of solids that are pinned to rigid bodies. Their mass is the body's: one body moves, with the center and the
/// inertia of all, and what pulls at the vertices pulls at it. So linear and angular momentum go back and forth exactly,
/// and steps need not be shorter: tied together, heavier, nothing swings quicker. Contact meets such vertices with the
/// masses they have; what it changes of their velocities is an impulse on the body.

namespace tribo::TRIBO_BACKEND {

/// Pinned vertices that one sum goes over, of one body.
struct PinRun {
  static constexpr Index length = 64;
  Index body, begin, end;
};
/// Runs of one body.
struct PinnedBody {
  Index body, begin, end;
};
/// An impulse, and its moment about the center of a body.
struct Wrench {
  Vec3d impulse, moment;
};

/// Vertices by rising bodies, and then as they are numbered.
template <class Real>
struct RigidPins {
  Index count = 0, runs = 0, bodies = 0;
  Array<Index> vertex, body;
  Field<double, 3> anchor;  ///< in the frame of the body [m]
  Field<Real, 3> given;     ///< velocities that they have had from their bodies last [m/s]
  Array<PinRun> run;
  Array<PinnedBody> pinned;
  Array<Wrench> sum;  ///< of each run

  bool empty() const { return count == 0; }
  std::size_t bytes() const {
    return vertex.bytes() + body.bytes() + anchor.bytes() + given.bytes() + run.bytes() + pinned.bytes() + sum.bytes();
  }
};

/// Gives bodies of the seed the masses, centers and inertias that they have with what is pinned to them. Returns what
/// each is by itself. Bodies that follow keyframes carry vertices as other drives do.
std::vector<RigidPart> join_pinned(const SolidSeed& solids, RigidSeed& seed);

/// Solids and the bodies that vertices of theirs are pinned to.
std::vector<std::pair<Index, Index>> pinned_pairs(const SolidSeed& solids, const RigidSeed& seed);

/// With a seed that has been joined. Lets contact change velocities of pinned vertices.
template <class Real>
void load_pins(Exec& ex, const SolidSeed& solids, const RigidSeed& seed, SolidMesh<Real>& mesh, RigidPins<Real>& pins);

/// What elastic forces, as of the step's begin, do to bodies in dt. Bodies must be placed; vertices get their velocities.
template <class Real>
void pull_by_pins(Exec& ex, const SolidMesh<Real>& mesh, const ElasticWorkspace<Real>& elastic, double dt,
                  RigidPins<Real>& pins, RigidWork& work, SolidState<Real>& state);

/// What others have changed of velocities of pinned vertices is an impulse on their bodies, which vertices then follow.
template <class Real>
void pass_on_by_pins(Exec& ex, const SolidMesh<Real>& mesh, RigidPins<Real>& pins, RigidWork& work,
                     SolidState<Real>& state);

/// Vertices to where bodies have moved, with their velocities.
template <class Real>
void carry_pinned(Exec& ex, const RigidMesh& mesh, const RigidState& bodies, const RigidPins<Real>& pins,
                  SolidState<Real>& state);

}  // namespace tribo::TRIBO_BACKEND
