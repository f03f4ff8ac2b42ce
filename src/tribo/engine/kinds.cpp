#include "tribo/engine/kinds.h"

#include "tribo/matter/curves/stages/system.h"
#include "tribo/matter/rigid/stages/system.h"
#include "tribo/matter/solids/stages/system.h"
#include "tribo/matter/strands/stages/system.h"
#include "tribo/matter/vertex_meshes/stages/system.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class... Kind>
struct KindList {
  template <class Add>
  static void each(const Add& add) {
    (add.template operator()<Kind>(), ...);
  }
};

/// In three dimensions, beside particles; in two there are these only.
template <class Real>
using SpatialKinds =
    KindList<SolidSystem<Real>, VertexMeshes<Real>, RigidSystem<Real>, RodSystem<Real>, CurveParticles<Real>>;

}  // namespace

template <class Real, int D>
Kinds<Real, D>::Kinds(Exec& ex, const Model& model) {
  this->template add<ParticleSystem<Real, D>>(ex, model);
  particles_ = &this->template of<ParticleSystem<Real, D>>();
  if constexpr (D == 3) SpatialKinds<Real>::each([&]<class Kind>() { this->template add<Kind>(ex, model); });
}

template <class Real, int D>
Surroundings Kinds<Real, D>::surroundings() const {
  Surroundings around{particles_->state.time, !particles_->empty(), false};
  for (const auto& kind : this->all()) around.bodies = around.bodies || kind->has_bodies();
  return around;
}

template class Kinds<float, 2>;
template class Kinds<float, 3>;
template class Kinds<double, 2>;
template class Kinds<double, 3>;

}  // namespace tribo::TRIBO_BACKEND
