#pragma once

#include "tribo/matter/solids/stages/solid.h"

namespace tribo::TRIBO_BACKEND {

/// Scratch memory of the damping grid.
template <class Real>
struct GridDampingWorkspace {
  Field<Real, 9> C_next;  ///< affine velocities once the step is taken
  Array<std::uint64_t> keys;
  Array<Index> touch;        ///< (27 vertex + node of its stencil), by node
  Array<Index> flags;        ///< of each touch in that order: the node it belongs to
  Array<Index> node_of;      ///< of each touch
  Array<Index> touch_start;  ///< of each node, and the end
  Array<NodePack<Real>> nodes;
  RadixSorter sorter;

  std::size_t bytes() const {
    return C_next.bytes() + keys.bytes() + touch.bytes() + flags.bytes() + node_of.bytes() + touch_start.bytes() +
           nodes.bytes() + sorter.bytes();
  }
};

/// Velocities of bodies that have a damping grid to that grid and back (theory D.2, step 1b): APIC with quadratic
/// weights, of which RPIC keeps skew(C) + (1 - nu) sym(C) (Jiang 2017, eq. 2). Each body has the grid to itself, as
/// fine as its mesh. Keeps momentum, and angular momentum with the affine part, of bodies none of whose vertices is
/// driven. The state keeps its C until the step is taken.
template <class Real>
void damp_on_grid(Exec& ex, const SolidMesh<Real>& mesh, SolidState<Real>& state, GridDampingWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
