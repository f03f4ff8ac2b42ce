#pragma once

#include "tribo/engine/curve_particles.h"
#include "tribo/engine/solid_system.h"
#include "tribo/stages/solid/vertex_particles.h"

namespace tribo::TRIBO_BACKEND {

/// The meshes of a simulation whose vertices are particles, method "updated_lagrangian", and curves, whose vertices and
/// elements are. All that evolves is in the particles; what is here of positions and velocities is a copy, taken after
/// every step.
///
/// Steps of meshes may be as long as those of the free mesh: velocities go through the grid by sums with weights that add up to
/// one, which do not raise any mode's kinetic energy, and so no mode swings faster than in the mesh.
template <class Real>
class VertexParticles {
 public:
  SolidSystem<Real> meshes;  ///< without contact: the grid is theirs
  CurveParticles<Real> curves;

  bool empty() const { return meshes.empty() && curves.empty(); }
  Index first_id() const { return first_id_; }
  /// Particles of both, which have consecutive ids.
  Index count() const { return meshes.mesh.vertices + curves.particles(); }

  /// Gravity is the grid's, too.
  void load(Exec& ex, const Model& model, const ParticleSeed& seed) {
    meshes.load(ex, model, seed.meshes);
    meshes.constants.gravity = Vec<Real, 3>::zero();
    curves.load(ex, model, seed);
    first_id_ = static_cast<Index>(seed.x.size()) - count();
  }

  /// The copy in step with the particles, and what it means for the next step.
  void evaluate(Exec& ex, const State<Real, 3>& particles, const Workspace<Real, 3>& work) {
    pushed_ = false;
    if (!curves.empty()) curves.evaluate(ex, particles);
    if (meshes.empty()) return;
    take_vertices(ex, particles, work, first_id_, meshes.state);
    meshes.bad = evaluate_elastic(ex, meshes.constants, meshes.mesh, false, meshes.state, meshes.work);
    begin_solids(ex, meshes.state, meshes.work);
  }

  /// v + dt f/m to the particles, from the velocities of the last `evaluate`: also when a step is taken again.
  void push(Exec& ex, double time, double dt, State<Real, 3>& particles, Workspace<Real, 3>& work) {
    if (!meshes.empty()) {
      elastic_step(ex, meshes.constants, meshes.mesh, time, dt, meshes.state, meshes.work);
      give_velocities(ex, meshes.state.v, first_id_, meshes.mesh.vertices, particles, work);
    }
    if (!curves.empty()) curves.push(ex, time, dt, particles);
    pushed_ = true;
  }

  /// After the grid has moved the particles.
  void finish(Exec& ex, State<Real, 3>& particles, const Workspace<Real, 3>& work) {
    if (!curves.empty()) curves.finish(ex, particles);
    evaluate(ex, particles, work);
  }

  /// Takes a push back whose step has not come about.
  void undo(Exec& ex, State<Real, 3>& particles, Workspace<Real, 3>& work) {
    if (pushed_ && !meshes.empty())
      give_velocities(ex, meshes.work.v_start, first_id_, meshes.mesh.vertices, particles, work);
    if (pushed_ && !curves.empty()) curves.undo(ex, particles);
    pushed_ = false;
  }

 private:
  Index first_id_ = 0;
  bool pushed_ = false;
};

}  // namespace tribo::TRIBO_BACKEND
