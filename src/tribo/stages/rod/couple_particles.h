#pragma once

#include "tribo/stages/stages.h"

namespace tribo::TRIBO_BACKEND {

/// Scratch memory.
template <class Real>
struct CoupleParticlesWork {
  Array<Index> found;          ///< block of the particles' grid for each block of the strands', or -1
  Array<Vec<Real, 4>> facing;  ///< of each node of the strands': normal toward the particles, and how clear it is

  std::size_t bytes() const { return found.bytes() + facing.bytes(); }
};

/// Contact between strands and particles on their two grids, node by node (Han 2019, sec. 7, with the corrections of
/// formulas G). Both have their own forces already. The normal points from strands to particles, where the particles'
/// share of the mass rises; there they may part, do not approach, and rub. Where the share hardly changes, particles
/// are between strands, and both get the velocity of their common mass: hair holds what is in it. Changes the
/// velocities of both grids; each node keeps its momentum and gains no energy. Returns the largest velocity component
/// it leaves on the particles' grid [m/s].
template <class Real>
double couple_particles(Exec& ex, const GridNodes<Real, 3>& strands, const GridNodes<Real, 3>& particles,
                        double friction, CoupleParticlesWork<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
