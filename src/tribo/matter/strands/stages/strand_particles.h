#pragma once

#include "tribo/grid/particles.h"
#include "tribo/matter/strands/stages/state.h"

/// \file
/// Vertices of strands as particles on a grid (Han 2019, sec. 5.1): the particle with the id i is vertex i. Strands
/// move them; what is here of positions and velocities is a copy.

namespace tribo::TRIBO_BACKEND {

/// Particles where their vertices are, with the velocities of these.
template <class Real>
void place_strand_particles(Exec& ex, const RodState<Real>& rods, Index count, Particles<Real, 3>& particles);

/// The velocities of particles to their vertices; with a change of each, unless that is null.
template <class Real>
void take_strand_velocities(Exec& ex, const Particles<Real, 3>& particles, const Field<Real, 3>* change, Index count,
                            RodState<Real>& rods);

}  // namespace tribo::TRIBO_BACKEND
