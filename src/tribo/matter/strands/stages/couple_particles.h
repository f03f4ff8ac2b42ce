#pragma once

#include "tribo/grid/stages.h"

namespace tribo::TRIBO_BACKEND {

/// Scratch memory.
template <class Real>
struct CoupleParticlesWork {
  Array<Index> found;  ///< block of the particles' grid for each block of the strands', or -1
  /// Of each node of the strands': normal toward the particles, and how clear it is. After `couple_particles` it is 0
  /// where they part, and where there are no particles, clearly.
  Array<Vec<Real, 4>> facing;
  Field<Real, 3> change;  ///< see `share_velocities`

  std::size_t bytes() const { return found.bytes() + facing.bytes() + change.bytes(); }
};

/// Contact between strands and particles on their two grids, node by node (Han 2019, sec. 7, with the corrections of
/// theory G). Both have their own forces already. The normal points from strands to particles, where the particles'
/// share of the mass rises; there they may part, do not approach, and rub. Where the share hardly changes, particles
/// are between strands, and both get the velocity of their common mass: hair holds what is in it. Changes the
/// velocities of both grids; each node keeps its momentum and gains no energy. Returns the largest velocity component
/// it leaves on the particles' grid [m/s].
template <class Real>
double couple_particles(Exec& ex, const GridNodes<Real, 3>& strands, const GridNodes<Real, 3>& particles,
                        double friction, CoupleParticlesWork<Real>& work);

/// What vertices of strands in contact with particles have to lose of the velocity that the grid does not see, so that
/// each moves as its node does: along the normal, and in all directions between particles. A node that holds strands
/// which cannot yield, near their roots, is slow however often it is pushed; without this the push goes to those that
/// can, until they are several times as fast as the particles. With n the normal of a node or the identity,
///   m_p dv_p = sum_i w_ip m_p n n^T (v_i - v_p - C_p (x_i - x_p)),
/// which sums to nothing over a node's particles, times what FLIP keeps. For vertices as they were scattered, by
/// velocities before forces.
template <class Real>
void share_velocities(Exec& ex, const Constants<Real, 3>& constants, const State<Real, 3>& state,
                      const Workspace<Real, 3>& grid, CoupleParticlesWork<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
