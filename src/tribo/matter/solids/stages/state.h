#pragma once

#include <vector>

#include "tribo/exec/columns.h"
#include "tribo/math/small.h"
#include "tribo/matter/solids/seed.h"

/// \file
/// Tet bodies on the device. What changes is in SolidState, which a checkpoint holds; what is computed once from the
/// seed is in SolidMesh; scratch memory of a stage is that stage's own.

namespace tribo::TRIBO_BACKEND {

/// Vertices of all bodies and samples of their boundaries, in the order of the seed: they are never sorted.
template <class Real>
struct SolidState {
  Field<Real, 3> x;  ///< [m]
  Field<Real, 3> v;  ///< [m/s]
  Field<Real, 9> C;  ///< affine velocity on the damping grid, row-major [1/s]; only bodies that have one use it
  /// Of samples: how far they crept from where they stuck to another body, over dt^2, since that is what friction has
  /// to hold whatever the step is [m/s^2]; none of one body alone.
  Field<Real, 3> slip;
  Field<Real, 3> listed;    ///< positions from which contact was listed [m]
  double listed_reach = 0;  ///< cells that these lists look ahead; 0: there are none
  Index count = 0;
  Index samples = 0;
  double speed = 0;      ///< largest |v| of a vertex [m/s]
  double stable_dt = 0;  ///< of explicit elastic forces at the present shape (experiments_solids Q9) [s]

  static constexpr auto columns() {
    return std::tuple{NamedColumn{"solid.x", &SolidState::x}, NamedColumn{"solid.v", &SolidState::v},
                      NamedColumn{"solid.C", &SolidState::C}, NamedColumn{"solid.slip", &SolidState::slip},
                      NamedColumn{"solid.listed", &SolidState::listed}};
  }
  /// Items of a column.
  template <class Column>
  Index count_of(const Column& column) const {
    return static_cast<const void*>(&column) == &slip ? samples : count;
  }
};

template <class Real>
struct SolidMesh {
  Index vertices = 0, tets = 0, triangles = 0, samples = 0, bodies = 0, drives = 0;
  std::vector<SolidBody> body;  ///< on the host
  Array<Real> mass;             ///< of vertices [kg]
  Array<Real> inverse_mass;     ///< 0 of driven vertices
  Array<Index> vertex_body;
  Array<Index> drive;           ///< of each vertex, or -1
  Field<Real, 3> anchor;        ///< of driven vertices: their places in the frame of the motion [m]
  Field<Index, 4> tet;          ///< vertices
  Field<Real, 9> inverse_rest;  ///< Dm^-1, row-major [1/m]
  Array<Real> volume;           ///< at rest [m^3]
  Array<Real> height;           ///< smallest altitude at rest [m]
  Array<Index> tet_body;
  Field<Index, 3> triangle;  ///< vertices
  Array<Index> triangle_tet;
  Array<Index> sample_triangle;
  Array<Index> sample_body;
  Field<Real, 3> sample_weight;
  Array<Real> sample_mass;  ///< [kg]
  /// Who adds to a vertex, in fixed order: corners of tets (4 tet + corner) and of samples (3 sample + corner).
  Array<Index> tet_corner_start, tet_corner;
  Array<Index> sample_corner_start, sample_corner;
  // by body
  Array<Real> friction;           ///< of each pair, [body * bodies + other]
  Array<Real> collider_friction;  ///< of each body with each collider, [body * colliders + collider]; empty: theirs
  Array<Real> phase_friction[2];  ///< of each body with what it meets on a grid, by the number of the phase
  Array<Real> restitution;
  Array<Index> kinematic;     ///< 1 or 0
  Array<Index> self_contact;  ///< 1 or 0
};

}  // namespace tribo::TRIBO_BACKEND
