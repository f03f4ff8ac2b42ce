#pragma once

#include <vector>

#include "tribo/matter/curves/stages/system.h"
#include "tribo/matter/particles/stages/system.h"
#include "tribo/matter/solids/stages/system.h"
#include "tribo/matter/strands/stages/system.h"
#include "tribo/matter/vertex_meshes/stages/system.h"

/// \file
/// The kinds of matter that there are. A new one is a member here and a place in the list.

namespace tribo::TRIBO_BACKEND {

/// In two dimensions there are particles only.
template <class Real, int D>
class Kinds {
 public:
  ParticleSystem<Real, D> particles;

  Kinds(Exec& ex, const Model& model) : particles(ex, model) {}
  void load(const ParticleSeed& seed, const SolidSeed&, const RodSeed&) { particles.load(seed); }

  /// All, in the order in which they are asked, saved and shown.
  const std::vector<System<Real, D>*>& all() const { return all_; }
  Surroundings surroundings() const { return {particles.state.time, !particles.empty(), false}; }

 private:
  std::vector<System<Real, D>*> all_{&particles};
};

template <class Real>
class Kinds<Real, 3> {
 public:
  ParticleSystem<Real, 3> particles;
  SolidSystem<Real> solids;
  VertexMeshes<Real> vertex_meshes;
  RodSystem<Real> rods;
  CurveParticles<Real> curves;

  Kinds(Exec& ex, const Model& model)
      : particles(ex, model),
        solids(ex, model),
        vertex_meshes(ex, model, particles),
        rods(ex, model, solids),
        curves(ex, model, particles) {}

  void load(const ParticleSeed& seed, const SolidSeed& bodies, const RodSeed& strands) {
    particles.load(seed);
    solids.load(bodies);
    if (!solids.empty()) solids.evaluate();

    // Particles of the last two kinds come last, in this order.
    const Index of_curves =
        seed.curves.bodies.empty() ? 0 : static_cast<Index>(seed.curves.strands.x.size() + seed.curves.first.size());
    const Index of_meshes = static_cast<Index>(seed.meshes.x.size());
    vertex_meshes.load(seed.meshes, particles.seeded() - of_curves - of_meshes);
    curves.load(seed.curves, particles.seeded() - of_curves);
    rods.load(strands);
    solids.own_strands = &rods.own_strands;
  }

  const std::vector<System<Real, 3>*>& all() const { return all_; }
  Surroundings surroundings() const { return {particles.state.time, !particles.empty(), !solids.empty()}; }

 private:
  std::vector<System<Real, 3>*> all_{&particles, &solids, &vertex_meshes, &rods, &curves};
};

}  // namespace tribo::TRIBO_BACKEND
