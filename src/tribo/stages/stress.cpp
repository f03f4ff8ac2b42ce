#include "tribo/stages/particle_strain.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Stress of particles that have not moved: the first step's.
template <class Real, int D, class Law>
struct StressBin {
  ParticlesView<Real, D> p;
  const Bin<D>* bins;
  Law law;
  Real dx;
  Index first_bin;
  BinResult<Real, D>* results;

  TRIBO_HD void operator()(const Team& team, Index item, ResultScratch<Real, D>& scratch) const {
    const Index b = first_bin + item;
    Extremes<Real, D, Real> extremes;
    for (Index i = bins[b].begin + team.rank(); i < bins[b].end; i += Team::size) {
      const Response<Real, D> response = law.response(strain_of(p, i));
      extremes.add(i, 1, velocity_of(p, i), matrix_of<Real, D>(p.C, i), dx, response);
      for (int k = 0; k < Sym<Real, D>::size; ++k) p.tau[k][i] = response.tau.s[k];
    }
    join_results(team, extremes, scratch.result, results[b]);
  }
};

/// Energy density and volume ratio, for output.
template <class Real, int D, class Law>
struct ObserveParticle {
  ParticlesView<Real, D> p;
  Law law;
  Index first;
  Real* energy_density;
  Real* volume_ratio;
  Real* strain_norm;

  TRIBO_HD void operator()(Index item) const {
    const Index i = first + item;
    const Strain<Real, D> strain = strain_of(p, i);
    energy_density[i] = law.energy(strain);
    volume_ratio[i] = law.volume_ratio(strain);
    Vec<Real, D> squared_stretches;
    Mat<Real, D> directions;
    symmetric_eigen(times_own_transpose(strain.F), squared_stretches, directions);
    Real sum = 0;
    for (int k = 0; k < D; ++k) {
      const Real e = Real(0.5) * log(max(squared_stretches[k], Real(1e-30)));  // a crushed element: large, yet finite
      sum = fma(e, e, sum);
    }
    strain_norm[i] = sqrt(sum);
  }
};

}  // namespace

template <class Real, int D>
void evaluate_stress(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work) {
  each_material(constants, work, [&](const auto& law, Index first, Index count) {
    for_each_team<ResultScratch<Real, D>>(
        ex, "stress", count,
        StressBin<Real, D, std::decay_t<decltype(law)>>{view(state.particles), state.bins.data(), law, constants.dx,
                                                        first, work.bin_results.data()});
  });
  take_bounds(ex, "stress", state, work);
}

template <class Real, int D>
void observe_strain(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work,
                    Array<Real>& energy_density, Array<Real>& volume_ratio, Array<Real>& strain_norm) {
  energy_density.resize_discard(state.count);
  strain_norm.resize_discard(state.count);
  volume_ratio.resize_discard(state.count);
  for (std::size_t g = 0; g < constants.laws.size(); ++g) {
    const Index begin = work.group_particles[g];
    const Index end = work.group_particles[g + 1];
    std::visit(
        [&]<class Law>(const Law& law) {
          parallel_for(ex, "observe", end - begin,
                       ObserveParticle<Real, D, Law>{view(state.particles), law, begin, energy_density.data(),
                                                     volume_ratio.data(), strain_norm.data()});
        },
        constants.laws[g]);
  }
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                   \
  template void evaluate_stress(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&);             \
  template void observe_strain(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&, Array<Real>&, \
                               Array<Real>&, Array<Real>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
