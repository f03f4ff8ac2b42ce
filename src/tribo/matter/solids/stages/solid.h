#pragma once

#include <vector>

#include "tribo/grid/stages.h"
#include "tribo/matter/solids/stages/state.h"

/// \file
/// Stages of hybrid Lagrangian solids (Han 2019, sec. 4). One step: `elastic_step` gives every vertex the velocity
/// v_lag that its mesh and gravity want; `contact_step` changes these by impulses between bodies, within one, and from
/// colliders, and `couple` by those of particles on the second grid; `move_vertices` carries them along.

namespace tribo::TRIBO_BACKEND {

/// What never changes of the bodies, on the device.
template <class Real>
void load_solids(Exec& ex, const SolidSeed& seed, SolidMesh<Real>& mesh, SolidState<Real>& state);

/// What bodies are made of, and what pulls them.
template <class Real>
struct SolidConstants {
  Vec<Real, 3> gravity;            ///< [m/s^2]
  std::vector<AnyLaw<Real>> laws;  ///< of each body; MeshLaws only
  std::vector<double> densities;   ///< of each body [kg/m^3]
  std::vector<Motion> drives;
};

/// A drive in one step: vertices with anchor a have v = turn a + shift and end at rotation a + at.
template <class Real>
struct DriveStep {
  Mat<Real, 3> turn, rotation;
  Vec<Real, 3> shift, at;
};

/// Motion of a body as a whole.
struct WholeMotion {
  Vec<double, 3> velocity;  ///< of its center [m/s]
  Vec<double, 3> center;    ///< [m]
  Vec<double, 3> spin;      ///< [1/s]
};

/// Scratch memory of the elastic stages. May be dropped at any step boundary, and filled again by `evaluate_elastic`.
template <class Real>
struct ElasticWorkspace {
  Array<NodePack<Real>> corner;  ///< what each corner of each tet adds to its vertex, [4 tet + corner]
  Array<Real> rate;              ///< one over the longest stable step of each tet [1/s]
  Field<Real, 3> v_start;        ///< velocities at the start of the step [m/s]
  Array<DriveStep<Real>> drives;

  // backward Euler: vectors over vertices, in the first three numbers; and tangents of tets
  Field<Real, Sym<Real, 9>::size> tangent;  ///< dP/dF, times the volume [J]
  Array<NodePack<Real>> star;               ///< velocities without elastic forces, and masses
  Array<NodePack<Real>> velocity, gradient, residual, direction, product, step;
  Field<Real, 6> inverse_block;  ///< preconditioner: inverse diagonal blocks of the system
  Array<WholeMotion> whole;      ///< of each body
  Array<Index> body_start;

  std::size_t bytes() const {
    std::size_t sum = corner.bytes() + rate.bytes() + v_start.bytes() + drives.bytes() + tangent.bytes() +
                      inverse_block.bytes() + whole.bytes() + body_start.bytes();
    for (const Array<NodePack<Real>>* a : {&star, &velocity, &gradient, &residual, &direction, &product, &step})
      sum += a->bytes();
    return sum;
  }
};

/// Forces of the meshes as they are, and what they mean for the next step: sets the state's speed and stable dt.
/// Returns the first vertex that is no longer finite, or Workspace::none. Nothing but speeds `when_implicit`.
template <class Real>
Index evaluate_elastic(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh, bool implicit,
                       SolidState<Real>& state, ElasticWorkspace<Real>& work);

/// Keeps the velocities that steps of any length begin with.
template <class Real>
void begin_solids(Exec& ex, const SolidState<Real>& state, ElasticWorkspace<Real>& work);
/// Puts them back.
template <class Real>
void take_back_velocities(Exec& ex, const ElasticWorkspace<Real>& work, SolidState<Real>& state);

/// v_lag = v + dt (f/m + g) of free vertices (Han 2019, eq. 14), symplectic Euler; that of their motion of driven ones.
/// Elastic forces keep linear and angular momentum to rounding. Begins with the velocities that `begin_solids` kept, so
/// that a step can be taken again with another dt.
template <class Real>
void elastic_step(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh, double time, double dt,
                  SolidState<Real>& state, ElasticWorkspace<Real>& work);

/// The same by backward Euler (theory D.5): forces at the positions x + dt v_lag.
template <class Real>
ImplicitReport solve_elastic(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh,
                             const ImplicitSpec& settings, double time, double dt, SolidState<Real>& state,
                             ElasticWorkspace<Real>& work);

/// x += dt v; driven vertices to where their motion has them at the end of the step. Returns nothing that has to wait.
template <class Real>
void move_vertices(Exec& ex, const SolidMesh<Real>& mesh, double dt, SolidState<Real>& state,
                   ElasticWorkspace<Real>& work);

/// Largest |v| of a vertex, or NaN [m/s].
template <class Real>
double vertex_speed(Exec& ex, const SolidState<Real>& state);

/// Sums over the vertices and tets of each body, for output; `particles` counts vertices. The same bytes for any number
/// of threads.
template <class Real>
std::vector<ObjectSums> measure_solids(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh,
                                       SolidState<Real>& state);

#define TRIBO_FOR_EACH_REAL(instantiate) instantiate(float) instantiate(double)

}  // namespace tribo::TRIBO_BACKEND
