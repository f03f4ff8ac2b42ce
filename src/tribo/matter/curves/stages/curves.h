#pragma once

#include "tribo/grid/stages.h"
#include "tribo/matter/curves/seed.h"
#include "tribo/matter/strands/stages/rod.h"
#include "tribo/models/codim/curve.h"

/// \file
/// Curves in the grid (Jiang 2017; theory C): particles at the vertices of strands and at the middle of each segment,
/// an element. The latter keep the deformed directions of the segment in the columns of their F, the tangent first; the
/// grid's velocity gradient carries F along as it does that of any particle, and after a step the tangent is put right
/// by the vertices and the normals by the return mapping. Forces act before P2G (Jiang 2017, eqs. 5, 6): what an
/// element does along its tangent changes the velocities of its vertices, what it does by its normals is a slope of
/// momentum around its particle, as the stress of MLS-MPM is,
///   C_q -= dt D^-1 (V/m_q) sum_{beta > 1} (dpsi/dd_beta) d_beta^T,   D = dx^2/4,
/// not symmetric by itself: only with the forces at the vertices is its torque zero.

namespace tribo::TRIBO_BACKEND {

/// What never changes of curves.
template <class Real>
struct CurveMesh {
  Index vertices = 0, elements = 0;
  Index first_id = 0;           ///< of the particles: vertices in their order, then elements
  Index group = 0;              ///< of the particles, which have a material of their own
  std::vector<CurveBody> body;  ///< on the host
  Array<CurveLaw<Real>> law;    ///< of bodies
  Array<Real> inverse_density;  ///< of bodies
  Array<Index> element_body;
  Array<Index> first;         ///< vertex where an element begins
  Array<Real> volume;         ///< of elements [m^3]
  Array<Real> tangent_rate2;  ///< of elements: 1/dt^2 of forces along them at rest [1/s^2]

  std::size_t bytes() const {
    return law.bytes() + inverse_density.bytes() + element_body.bytes() + first.bytes() + volume.bytes() +
           tangent_rate2.bytes();
  }
};

/// Scratch memory. May be dropped at any step boundary.
template <class Real>
struct CurveWorkspace {
  Array<Index> place;      ///< particle of each vertex, then of each element
  Field<Real, 3> pull;     ///< of elements: V dpsi/dd_1, the force on the vertex where it begins [N]
  Field<Real, 9> slope;    ///< of elements: what C_q loses in a second [1/s^2]
  Field<Real, 9> C_start;  ///< of elements, at the start of the step [1/s]
  Array<Real> rate2;       ///< of elements: 1/dt^2 of the longest stable step; NaN where it is not finite [1/s^2]

  std::size_t bytes() const { return place.bytes() + pull.bytes() + slope.bytes() + C_start.bytes() + rate2.bytes(); }
};

template <class Real>
void load_curves(Exec& ex, const CurveSeed& seed, Index first_id, Index group, double dx, CurveMesh<Real>& mesh);

/// Where the particles of curves are: after every sort, and when a step has moved them.
template <class Real>
void find_curves(Exec& ex, const CurveMesh<Real>& mesh, State<Real, 3>& state, Workspace<Real, 3>& grid,
                 CurveWorkspace<Real>& work);

/// Positions and velocities of vertices to `rods`, and the forces of elements.
struct CurveBounds {
  double rate2 = 0;      ///< 1/dt^2 of the longest step that elements bear [1/s^2]
  Index bad = no_index;  ///< first element that is no longer finite
};
template <class Real>
CurveBounds evaluate_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands, Real dx,
                            State<Real, 3>& state, Workspace<Real, 3>& grid, RodState<Real>& rods,
                            CurveWorkspace<Real>& work);

/// Velocities of `rods`, which bending has changed or their motion gives, with what elements do to them, to the
/// particles; and the slopes of elements. From the forces of the last `evaluate_curves`, for a step of any length.
template <class Real>
void push_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands, double dt,
                 const RodState<Real>& rods, const CurveWorkspace<Real>& work, State<Real, 3>& state,
                 Workspace<Real, 3>& grid);

/// Takes a push back: velocities `v` and the slopes from before.
template <class Real>
void restore_curves(Exec& ex, const CurveMesh<Real>& mesh, const Field<Real, 3>& v, const CurveWorkspace<Real>& work,
                    State<Real, 3>& state, Workspace<Real, 3>& grid);

/// After G2P: driven vertices to their motion, elements to the middle of their vertices. Of `rods` it changes only what
/// `settle_curves` goes on with.
template <class Real>
void land_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands, const CurveWorkspace<Real>& work,
                 const RodState<Real>& rods, RodWorkspace<Real>& rod_work, State<Real, 3>& state,
                 Workspace<Real, 3>& grid);

/// After `land_curves`, when the step is taken: velocities of driven vertices, frames of strands, and the normals of
/// elements to the yield surface.
template <class Real>
void settle_curves(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands,
                   const CurveWorkspace<Real>& work, RodState<Real>& rods, RodWorkspace<Real>& rod_work,
                   State<Real, 3>& state, Workspace<Real, 3>& grid);

/// Energy of the elements of each body [J].
template <class Real>
std::vector<double> curve_energies(Exec& ex, const CurveMesh<Real>& mesh, const RodMesh<Real>& strands,
                                   const RodState<Real>& rods, State<Real, 3>& state, Workspace<Real, 3>& grid,
                                   const CurveWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
