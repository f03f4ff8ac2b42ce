#pragma once

#include "tribo/matter/solids/stages/solid.h"

/// \file
/// Meshes whose vertices are particles (Jiang 2015: the affine particle-in-cell method, sec. 6): the grid moves them,
/// and what their tets want is a change of the particles' velocities before P2G, so that nodes receive sum_p w_ip (m_p
/// v_p + dt f_p). Vertices are found by their ids, which are consecutive.

namespace tribo::TRIBO_BACKEND {

/// The particles that are vertices.
struct VertexIds {
  Index group;  ///< their material, which is nobody else's
  Index first;
  Index count;
};

/// Positions and velocities of the particles that are vertices.
template <class Real>
void take_vertices(Exec& ex, const VertexIds& ids, State<Real, 3>& particles, Workspace<Real, 3>& work,
                   SolidState<Real>& vertices);

/// Gives the particles that are vertices the velocities `v`.
template <class Real>
void give_velocities(Exec& ex, const VertexIds& ids, const Field<Real, 3>& v, State<Real, 3>& particles,
                     Workspace<Real, 3>& work);

}  // namespace tribo::TRIBO_BACKEND
