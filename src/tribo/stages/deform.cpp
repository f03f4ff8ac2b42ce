#include "tribo/stages/per_material.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real, int D>
struct ResultScratch {
  BinResult<Real, D> result[Team::size];
};

/// Strain and stress of one bin's particles after a step whose velocity gradients are known.
template <class Real, int D, class Law>
struct DeformBin {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  ParticlesView<Real, D> p;
  FieldView<Real, D * D> gradient;
  const Bin<D>* bins;
  Law law;
  Real dx;
  Real dt;
  Index first_bin;
  BinResult<Real, D>* results;

  TRIBO_HD void operator()(const Team& team, Index item, ResultScratch<Real, D>& scratch) const {
    const Index b = first_bin + item;
    const Bin<D> bin = bins[b];
    Extremes<Real, D> extremes;
    for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
      const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
      Vec<T, D> v;
      Mat<T, D> L;
      load_columns(p.v, i, n, v.c);
      load_columns(gradient, i, n, &L.m[0][0]);
      extremes.add(i, n, v, L, T(dx), deform_pack<Real>(p, law, i, n, L, T(dt)));
    }
    join_results(team, extremes, scratch.result, results[b]);
  }
};

/// Stress of particles that have not moved: the first step's.
template <class Real, int D, class Law>
struct StressBin {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  ParticlesView<Real, D> p;
  const Bin<D>* bins;
  Law law;
  Real dx;
  Index first_bin;
  BinResult<Real, D>* results;

  TRIBO_HD void operator()(const Team& team, Index item, ResultScratch<Real, D>& scratch) const {
    const Index b = first_bin + item;
    const Bin<D> bin = bins[b];
    Extremes<Real, D> extremes;
    for (Index i = bin.begin + team.rank() * W; i < bin.end; i += Team::size * W) {
      const int n = bin.end - i < W ? static_cast<int>(bin.end - i) : W;
      Vec<T, D> v;
      Mat<T, D> C;
      Strain<T, D> strain;
      load_columns(p.v, i, n, v.c);
      load_columns(p.C, i, n, &C.m[0][0]);
      load_columns(p.F, i, n, &strain.F.m[0][0]);
      load_columns(p.history, i, n, strain.history.c);
      const Response<T, D> response = law.response(strain);
      extremes.add(i, n, v, C, T(dx), response);
      for (int k = 0; k < Sym<T, D>::size; ++k) store_pack<Real>(p.tau[k] + i, response.tau.s[k], n);
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
    Strain<Real, D> strain;
    for (int k = 0; k < D * D; ++k) (&strain.F.m[0][0])[k] = p.F[k][i];
    for (int k = 0; k < 2; ++k) strain.history[k] = p.history[k][i];
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
Index deform(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state,
             Workspace<Real, D>& work) {
  each_material(constants, work, [&](const auto& law, Index first, Index count) {
    for_each_team<ResultScratch<Real, D>>(ex, "g2p", count,
                                          DeformBin<Real, D, std::decay_t<decltype(law)>>{
                                              view(state.particles), view(work.gradient), state.bins.data(), law,
                                              constants.dx, static_cast<Real>(dt), first, work.bin_results.data()});
  });
  return take_bounds(ex, "g2p", state, work);
}

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
  each_material(constants, work, [&](const auto& law, Index first, Index count) {
    const auto& bins = work.host_bins;
    const Index begin = bins[static_cast<std::size_t>(first)].begin;
    const Index end = bins[static_cast<std::size_t>(first + count - 1)].end;
    parallel_for(
        ex, "observe", end - begin,
        ObserveParticle<Real, D, std::decay_t<decltype(law)>>{view(state.particles), law, begin, energy_density.data(),
                                                              volume_ratio.data(), strain_norm.data()});
  });
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                   \
  template Index deform(Exec&, const Constants<Real, D>&, double, State<Real, D>&, Workspace<Real, D>&);             \
  template void evaluate_stress(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&);             \
  template void observe_strain(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&, Array<Real>&, \
                               Array<Real>&, Array<Real>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
