#pragma once

#include "tribo/matter/rigid/contact/nodes.h"

/// \file
/// Particles that have come nearer to a rigid body than nodes let them rest: nodes hold back what is around them, and
/// a single grain between two of them, or one that a fast edge has passed, is hardly that. Impulses on velocities
/// alone, with their friction and on both sides, so that momenta stay exact; what is beyond the surface is not put
/// back.

namespace tribo::TRIBO_BACKEND {

inline constexpr double particle_cells = 0.25;

template <class Real>
struct ParticleContacts {
  RigidPoints points;
  Array<Index> place;  ///< particle of each point
  // scratch memory
  Array<Index> start, mark, body, list;
  Array<std::uint64_t> key;
  RadixSorter sorter;

  std::size_t bytes() const {
    return points.bytes() + place.bytes() + start.bytes() + mark.bytes() + body.bytes() + list.bytes() + key.bytes() +
           sorter.bytes();
  }
};

/// Changes velocities of particles and of the bodies in `work`. After find_nodes; `friction` as there.
template <class Real>
PointReport push_particles(Exec& ex, const RigidMesh& mesh, const Array<double>& friction,
                           const NodeContacts<Real>& nodes, GridPhase<Real, 3>& phase, RigidWork& work,
                           ParticleContacts<Real>& contacts);

}  // namespace tribo::TRIBO_BACKEND
