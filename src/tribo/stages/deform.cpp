#include "tribo/stages/particle_strain.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Strain and stress of one bin's particles after a step whose velocity gradients are known.
template <class Real, int D, class Law>
struct DeformBin {
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
    Extremes<Real, D, Real> extremes;
    for (Index i = bins[b].begin + team.rank(); i < bins[b].end; i += Team::size) {
      const Mat<Real, D> L = matrix_of<Real, D>(gradient, i);
      Strain<Real, D> strain = strain_of(p, i);
      const Response<Real, D> response = step_law(law, L, dt, strain);
      extremes.add(i, 1, velocity_of(p, i), L, dx, response);
      for (int k = 0; k < D * D; ++k) p.F[k][i] = (&strain.F.m[0][0])[k];
      for (int k = 0; k < 2; ++k) p.history[k][i] = strain.history[k];
      for (int k = 0; k < Sym<Real, D>::size; ++k) p.tau[k][i] = response.tau.s[k];
    }
    join_results(team, extremes, scratch.result, results[b]);
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

#define TRIBO_INSTANTIATE(Real, D) \
  template Index deform(Exec&, const Constants<Real, D>&, double, State<Real, D>&, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
