#pragma once

#include "tribo/grid/implicit_particles.h"
#include "tribo/grid/law/gather.h"
#include "tribo/grid/law/strain.h"
#include "tribo/grid/law_stages.h"
#include "tribo/grid/outlined.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D, class Law>
class LawStagesOf final : public LawStages<Real, D> {
 public:
  using Bins = typename LawStages<Real, D>::Bins;

  explicit LawStagesOf(const Law& own) : law_(own) {}

  void g2p(const Bins& bins, double dt) const override {
    auto& [ex, constants, state, work, first, count] = bins;
    for_each_team<GatherScratch<Real, D>>(
        ex, "g2p", count,
        GatherBin<Real, D, Law>{view(state.particles), state.bins.data(), work.bin_blocks.data(), work.grid.data(),
                                work.grid_before.data(), constants.transfer, law_, constants.dx, static_cast<Real>(dt),
                                first, work.bin_results.data()});
  }
  void deform(const Bins& bins, double dt) const override {
    if constexpr (!steps_packed) {
      auto& [ex, constants, state, work, first, count] = bins;
      for_each_team<ResultScratch<Real, D>>(
          ex, "g2p", count,
          DeformBin<Real, D, Law>{view(state.particles), view(work.gradient), state.bins.data(), law_, constants.dx,
                                  static_cast<Real>(dt), first, work.bin_results.data()});
    }
  }
  void stress(const Bins& bins) const override {
    auto& [ex, constants, state, work, first, count] = bins;
    for_each_team<ResultScratch<Real, D>>(ex, "stress", count,
                                          StressBin<Real, D, Law>{view(state.particles), state.bins.data(), law_,
                                                                  constants.dx, first, work.bin_results.data()});
  }
  void linearize(const Bins& bins, double dt) const override {
    auto& [ex, constants, state, work, first, count] = bins;
    for_each_team<implicit::TwoArenas<Real, D>>(
        ex, "linearize", count,
        implicit::LinearizeBin<Real, D, Law>{implicit::particle_access(constants, dt, state, work), work.grid.data(),
                                             law_, first});
  }
  void observe(Exec& ex, const ParticlesView<Real, D>& particles, Index begin, Index end, Real* energy_density,
               Real* volume_ratio, Real* strain_norm) const override {
    parallel_for(ex, "observe", end - begin,
                 ObserveParticle<Real, D, Law>{particles, law_, begin, energy_density, volume_ratio, strain_norm});
  }
  Vec<double, 2> initial_history() const override { return law_.initial_history(); }
  Response<Real, D> response(const Strain<Real, D>& strain) const override { return law_.response(strain); }

 private:
  Law law_;
};

template <class Real, int D, class Law>
std::shared_ptr<LawStages<Real, D>> stages_of(const Law& law) {
  return std::make_shared<LawStagesOf<Real, D, Law>>(law);
}

}  // namespace tribo::TRIBO_BACKEND

/// What the file of a law holds.
#define TRIBO_LAW_STAGES(Law)                                                              \
  namespace TRIBO_BACKEND {                                                                \
  template std::shared_ptr<LawStages<float, 2>> stages_of<float, 2>(const Law<float>&);    \
  template std::shared_ptr<LawStages<float, 3>> stages_of<float, 3>(const Law<float>&);    \
  template std::shared_ptr<LawStages<double, 2>> stages_of<double, 2>(const Law<double>&); \
  template std::shared_ptr<LawStages<double, 3>> stages_of<double, 3>(const Law<double>&); \
  }
