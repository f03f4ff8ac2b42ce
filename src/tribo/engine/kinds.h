#pragma once

#include "tribo/matter/particles/stages/system.h"

namespace tribo::TRIBO_BACKEND {

/// The kinds of matter that there are, those of the list in kinds.cpp. Particles own time.
template <class Real, int D>
class Kinds final : public Systems<Real, D> {
 public:
  Kinds(Exec& ex, const Model& model);
  void load(const Seeds& seeds) {
    for (const auto& kind : this->all()) kind->load(seeds);
  }

  ParticleSystem<Real, D>& particles() { return *particles_; }
  const ParticleSystem<Real, D>& particles() const { return *particles_; }
  Surroundings surroundings() const;

 private:
  ParticleSystem<Real, D>* particles_;
};

}  // namespace tribo::TRIBO_BACKEND
