#include "tribo/grid/arena.h"
#include "tribo/grid/stages.h"
#include "tribo/grid/stencil.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Sums mass and momentum of one bin's particles, with the stress impulse, into its arena (theory A.2, A.5).
template <class Real, int D>
struct ScatterBin {
  using T = ParticlePack<Real>;
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D>;

  ParticlesView<Real, D> p;
  const Bin<D>* bins;
  const Real* inverse_density;
  Real dx;
  Real dt;
  Pack* arenas;

  TRIBO_HD void operator()(const Team& team, Index b, Arena<Real, D>& arena) const {
    for (int i = team.rank(); i < Shape::arena_nodes; i += Team::size) arena.node[i] = Pack(Real(0));
    team.barrier();
    const Bin<D> bin = bins[b];
    const Real volume_per_mass = inverse_density[bin.group];
    scatter_bin<Real, D>(team, p.x, dx, bin, arena.node, [&](Index i, int n, ScatterRows<Real, D>& rows) {
      T x[D], v[D], m;
      Mat<T, D> C;
      Sym<T, D> tau;
      load_columns(p.x, i, n, x);
      load_columns(p.v, i, n, v);
      load_columns(p.C, i, n, &C.m[0][0]);
      load_columns(p.tau, i, n, tau.s);
      load_columns(p.m, i, n, &m);
      Vec<T, D> momentum;
      for (int k = 0; k < D; ++k) momentum[k] = m * v[k];
      rows.set(PackStencil<Real, D>(x, T(Real(1) / dx), bin.block), momentum,
               momentum_slope(m, C, m * T(volume_per_mass), tau, T(dx), T(dt)), m);
    });
    Pack* const out = arenas + Size{b} * Shape::arena_nodes;
    for (int i = team.rank(); i < Shape::arena_nodes; i += Team::size) out[i] = arena.node[i];
  }
};

}  // namespace

template <class Real, int D>
void p2g(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, double dt, Workspace<Real, D>& work) {
  const auto scatter = [&](double stress_time, Array<NodePack<Real>>& arenas) {
    if constexpr (!steps_packed) {  // where packed steps do it, only implicit ones come here, which are of the fast
                                    // kind
      if (!constants.fast()) return scatter_any(ex, constants, state, stress_time, arenas, work);
    }
    for_each_team<Arena<Real, D>>(
        ex, "p2g", state.bin_count,
        ScatterBin<Real, D>{view(state.particles), state.bins.data(), work.inverse_density.data(), constants.dx,
                            static_cast<Real>(stress_time), arenas.data()});
  };
  scatter(dt, work.arenas);
  if (constants.transfer.flip > 0) scatter(0, work.arenas_before);
}

#define TRIBO_INSTANTIATE(Real, D) \
  template void p2g(Exec&, const Constants<Real, D>&, State<Real, D>&, double, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
