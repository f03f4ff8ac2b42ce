#pragma once

#include "tribo/matter/particles/stages/system.h"
#include "tribo/matter/solids/stages/system.h"
#include "tribo/matter/vertex_meshes/seed.h"
#include "tribo/matter/vertex_meshes/stages/vertex_particles.h"

namespace tribo::TRIBO_BACKEND {

/// Meshes whose vertices are particles, method "updated_lagrangian". All that evolves is in the particles; what is here
/// of positions and velocities is a copy, taken after every step.
///
/// Steps may be as long as those of the free mesh: velocities go through the grid by sums with weights that add up to
/// one, which do not raise any mode's kinetic energy, and so no mode swings faster than in the mesh.
template <class Real>
class VertexMeshes final : public System<Real, 3> {
 public:
  VertexMeshes(Exec& ex, const Model& model, const Systems<Real, 3>& others)
      : System<Real, 3>(ex, model),
        meshes_(ex, model, others),
        particles_(others.template of<ParticleSystem<Real, 3>>()) {}

  void load(const Seeds& seeds) override;
  bool empty() const override { return meshes_.empty(); }
  Index passengers() const override { return meshes_.mesh.vertices; }

  void each_saved(StateList&) override {}
  void check(const StateLoader& loader) const override;
  void loaded() override { follow(); }
  void bound(const Surroundings& around, StepBound& step) const override;
  ImplicitReport predict(const StepTry& attempt) override;
  void finish(const StepTry& attempt, StepReport& report) override;
  void undo() override;

  double expected_speed() override { return empty() ? 0 : meshes_.expected_speed(); }
  void contact_sources(std::vector<ObjectContact>& objects) const override;
  void measure(std::vector<ObjectSums>& objects) override;
  void show(const EngineOptions& options, Frame& frame) const override { meshes_.show(options, frame); }
  void count(EngineCounts& counts) const override;
  std::string complaint() const override { return meshes_.complaint(); }
  std::size_t bytes() const override { return meshes_.bytes(); }

 private:
  using System<Real, 3>::ex_;

  /// The copy in step with the particles, and what it means for the next step.
  void follow();

  SolidSystem<Real> meshes_;  ///< without contact: the grid is theirs
  ParticleSystem<Real, 3>& particles_;
  VertexIds ids_{};
  bool pushed_ = false;
};

}  // namespace tribo::TRIBO_BACKEND
