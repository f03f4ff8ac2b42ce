#include "tribo/grid/stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Writes one newcomer behind the particles there are.
template <class Real, int D>
struct AddParticle {
  ParticlesView<Real, D> p;
  const Real* x;
  Newcomers<Real, D> what;
  Index first;  ///< row of the first newcomer
  bool has_modes;

  TRIBO_HD void operator()(Index i) const {
    const Index row = first + i;
    for (int k = 0; k < D; ++k) {
      p.x[k][row] = x[k * what.count + i];
      p.v[k][row] = what.v[k];
      for (int j = 0; j < D; ++j) {
        p.C[D * k + j][row] = Real(0);
        p.F[D * k + j][row] = k == j ? Real(1) : Real(0);
      }
    }
    for (int k = 0; k < 2; ++k) p.history[k][row] = what.history[k];
    for (int k = 0; k < Sym<Real, D>::size; ++k) p.tau[k][row] = what.tau.s[k];
    if (has_modes)
      for (int k = 0; k < poly_numbers<D>; ++k) p.poly[k][row] = Real(0);
    p.m[0][row] = what.m;
    p.id[0][row] = what.first_id + i;
    p.object[0][row] = what.object;
  }
};

}  // namespace

template <class Real, int D>
void add_particles(Exec& ex, const Newcomers<Real, D>& newcomers, const std::vector<Real>& x, State<Real, D>& state,
                   Workspace<Real, D>& work) {
  take_columns(ex, state, work);
  const Index n = state.count + newcomers.count;
  each_column(state.particles, [&](const char*, auto& field) {
    for (auto& array : field.c) resize_keep(ex, array, n);
  });
  copy_to_device(ex, x.data(), work.incoming, static_cast<Index>(x.size()));
  parallel_for(ex, "emit", newcomers.count,
               AddParticle<Real, D>{view(state.particles), work.incoming.data(), newcomers, state.count,
                                    state.particles.poly.used});
  state.count = n;
  state.bin_count = 0;
}

#define TRIBO_INSTANTIATE(Real, D)                                                                         \
  template void add_particles(Exec&, const Newcomers<Real, D>&, const std::vector<Real>&, State<Real, D>&, \
                              Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
