#pragma once

#include "tribo/matter/solids/stages/solid.h"

/// \file
/// Meshes whose vertices are particles (Jiang 2015: the affine particle-in-cell method, sec. 6): the grid moves them,
/// and what their tets want is a change of the particles' velocities before P2G, so that nodes receive sum_p w_ip (m_p
/// v_p + dt f_p). Vertices are found by their ids, which are consecutive.

namespace tribo::TRIBO_BACKEND {

/// Positions and velocities of the particles that are vertices.
template <class Real>
void take_vertices(Exec& ex, const State<Real, 3>& particles, const Workspace<Real, 3>& work, Index first_id,
                   SolidState<Real>& vertices);

/// Gives the particles that are vertices the velocities `v`.
template <class Real>
void give_velocities(Exec& ex, const Field<Real, 3>& v, Index first_id, Index count, State<Real, 3>& particles,
                     Workspace<Real, 3>& work);

/// Both on the packed copy, where steps run on one.
template <class Real>
void take_packed_vertices(Exec& ex, PackedState& packed, Index first_id, SolidState<Real>& vertices);
template <class Real>
void give_packed_velocities(Exec& ex, const Field<Real, 3>& v, Index first_id, Index count, PackedState& packed);

}  // namespace tribo::TRIBO_BACKEND
