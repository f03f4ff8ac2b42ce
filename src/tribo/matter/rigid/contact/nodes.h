#pragma once

#include "tribo/matter/rigid/contact/near_grid.h"
#include "tribo/matter/rigid/contact/points.h"

/// \file
/// Rigid bodies against the nodes of a grid of particles: the points of points.h (experiments_rigid, recommended
/// default 9). A node touches a body where it, or the center of its mass, is less than half a cell away; the normal is
/// that of the surface nearest to this center, and both take the impulse at the node, so that angular momentum is kept.

namespace tribo::TRIBO_BACKEND {

inline constexpr double touching_cells = 0.5;

template <class Real>
struct NodeContacts {
  static constexpr int nodes = NearGrid<Real>::nodes;

  NearGrid<Real> near;
  RigidPoints points;
  Array<Real> depth;      ///< [pair][node]: distance of the node from the body [cells]
  Array<Index> point_at;  ///< [pair][node]: its point, or -1
  Array<Index> place;     ///< of each point in these
  Array<Vec3d> given;     ///< impulses that the grid has got [N s]
  Array<Index> mark;
  Index shared = 0;    ///< nodes between bodies
  bool found = false;  ///< for this step

  std::size_t bytes() const {
    return near.bytes() + points.bytes() + depth.bytes() + point_at.bytes() + place.bytes() + given.bytes() +
           mark.bytes();
  }
};

/// Which nodes touch which bodies; the same in all tries of a step. `friction` is that of each group of bodies.
template <class Real>
void find_nodes(Exec& ex, const RigidMesh& mesh, const RigidWork& work, const Array<double>& friction,
                GridPhase<Real, 3>& phase, NodeContacts<Real>& contacts);

/// A try begins: no impulse has been given.
template <class Real>
void begin_nodes(Exec& ex, RigidWork& work, NodeContacts<Real>& contacts);

/// Velocities of nodes, without the impulses that they have got. A node between bodies is a share of its mass for each
/// of them: they agree on its velocity in rounds, and it gets all their impulses in any.
template <class Real>
void read_nodes(Exec& ex, const GridNodes<Real, 3>& grid, NodeContacts<Real>& contacts);

/// Impulses of solve_points to the grid. Returns the largest velocity component it leaves near bodies [m/s].
template <class Real>
double give_to_nodes(Exec& ex, const GridNodes<Real, 3>& grid, NodeContacts<Real>& contacts);

}  // namespace tribo::TRIBO_BACKEND
