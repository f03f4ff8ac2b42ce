#include "tribo/matter/vertex_meshes/stages/system.h"

#include "tribo/core/errors.h"

namespace tribo::TRIBO_BACKEND {

template <class Real>
void VertexMeshes<Real>::load(const Seeds& seeds) {
  const VertexMeshSeed& seed = seeds.of<VertexMeshSeed>();
  meshes_.load_meshes(seed.meshes);
  if (!empty())
    ids_ = {particles_.group_of(seed.meshes.bodies[0].object), seed.first_particle, meshes_.mesh.vertices};
  meshes_.constants.gravity = Vec<Real, 3>::zero();  // the grid's
  follow();
}

template <class Real>
void VertexMeshes<Real>::check(const StateLoader& loader) const {
  if (!empty()) check_passengers(loader, particles_.seeded());
}

template <class Real>
void VertexMeshes<Real>::bound(const Surroundings&, StepBound& step) const {
  if (!empty()) step.at_most(meshes_.state.stable_dt, "elastic");
}

template <class Real>
void VertexMeshes<Real>::follow() {
  pushed_ = false;
  if (empty()) return;
  take_vertices(ex_, ids_, particles_.state, particles_.work, meshes_.state);
  meshes_.bad = evaluate_elastic(ex_, meshes_.constants, meshes_.mesh, false, meshes_.state, meshes_.work);
  begin_solids(ex_, meshes_.state, meshes_.work);
}

/// v + dt f/m to the particles, from the velocities of the last `follow`: also when a step is taken again.
template <class Real>
ImplicitReport VertexMeshes<Real>::predict(const StepTry& attempt) {
  if (empty()) return {.converged = true};
  elastic_step(ex_, meshes_.constants, meshes_.mesh, attempt.around.time, attempt.dt, meshes_.state, meshes_.work);
  give_velocities(ex_, ids_, meshes_.state.v, particles_.state, particles_.work);
  pushed_ = true;
  return {.converged = true};
}

template <class Real>
void VertexMeshes<Real>::finish(const StepTry&, StepReport&) {
  follow();
}

template <class Real>
void VertexMeshes<Real>::undo() {
  if (pushed_) give_velocities(ex_, ids_, meshes_.work.v_start, particles_.state, particles_.work);
  pushed_ = false;
}

/// What drives some of their vertices acts on them as others do, on the grid.
template <class Real>
void VertexMeshes<Real>::contact_sources(std::vector<ObjectContact>& objects) const {
  for (std::size_t b = 0; b < meshes_.mesh.body.size(); ++b)
    if (meshes_.is_driven(b))
      objects[static_cast<std::size_t>(meshes_.mesh.body[b].object)].source = ContactSource::none;
}

/// All but the energy of their tets has been counted with the particles.
template <class Real>
void VertexMeshes<Real>::measure(std::vector<ObjectSums>& objects) {
  if (empty()) return;
  const std::vector<ObjectSums> of_bodies = measure_solids(ex_, meshes_.constants, meshes_.mesh, meshes_.state);
  for (std::size_t b = 0; b < of_bodies.size(); ++b)
    objects[static_cast<std::size_t>(meshes_.mesh.body[b].object)].elastic += of_bodies[b].elastic;
}

template <class Real>
void VertexMeshes<Real>::count(EngineCounts& counts) const {
  counts.particles -= passengers();
  counts.vertices += meshes_.mesh.vertices;
  counts.tets += meshes_.mesh.tets;
}

template class VertexMeshes<float>;
template class VertexMeshes<double>;

}  // namespace tribo::TRIBO_BACKEND
