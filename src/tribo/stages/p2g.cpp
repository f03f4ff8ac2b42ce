#include "tribo/stages/arena.h"
#include "tribo/stages/stages.h"
#include "tribo/stages/stencil.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Sums one bin's particles into its arena (formulas A.2, A.5). Particles are in order of cells, so the sums of a cell
/// stay in registers and reach the arena once per run. A team of one thread walks all runs; a team of many takes a
/// cell per thread and adds the runs node by node in phases, in each of which no two cells share a node. Either way the
/// order of additions is fixed.
template <class Real, int D>
struct ScatterBin {
  using T = ParticlePack<Real>;
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D>;
  static constexpr int W = pack_width<Real>;

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
    Index begin = bin.begin;
    Index end = bin.end;
    if constexpr (Team::size > 1) {
      end = first_of_cell<3>(p.x, Real(1) / dx, bin, team.rank() + 1);
      begin = first_of_cell<3>(p.x, Real(1) / dx, bin, team.rank());
    }
    Pack acc[Shape::stencil];  // stays in registers: every loop over it is unrolled
    TRIBO_UNROLL
    for (int s = 0; s < Shape::stencil; ++s) acc[s] = Pack(Real(0));
    int current = -1;
    const Real volume_per_mass = inverse_density[bin.group];
    Rows rows;
    for (Index i = begin; i < end; i += W) {
      const int n = end - i < W ? static_cast<int>(end - i) : W;
      prepare(bin, i, n, volume_per_mass, rows);
      for (int l = 0; l < n; ++l) {
        const int cell = static_cast<int>(rows.cell[l]);
        if (cell != current) {
          if (current >= 0) add_run<Real, D>(current, acc, arena.node);
          TRIBO_UNROLL
          for (int s = 0; s < Shape::stencil; ++s) acc[s] = Pack(Real(0));
          current = cell;
        }
        accumulate(rows.packet(l), acc);
      }
    }
    TRIBO_UNROLL
    for (int s = 0; s < Shape::stencil; ++s) {
      if (current >= 0) {
        Pack& node = arena.node[current + stencil_offset<D>(s)];
        node = node + acc[s];
      }
      team.barrier();
    }
    Pack* const out = arenas + Size{b} * Shape::arena_nodes;
    for (int i = team.rank(); i < Shape::arena_nodes; i += Team::size) out[i] = arena.node[i];
  }

 private:
  /// What a pack of particles gives to the grid, a row per quantity and a column per particle.
  struct Rows {
    Real weight[D][3][W];
    Real momentum[D][W];  ///< at the base node
    Real slope[D][D][W];  ///< A dx: row, column
    Real mass[W];
    Real cell[W];

    /// A column, in the form that adds to nodes.
    TRIBO_HD MomentumPacket<Real, D> packet(int l) const {
      MomentumPacket<Real, D> r;
      for (int k = 0; k < D; ++k)
        for (int j = 0; j < 3; ++j) r.weight[k][j] = weight[k][j][l];
      r.at_base = node_pack<Real>(momentum[0][l], momentum[1][l], D == 3 ? momentum[D - 1][l] : Real(0), mass[l]);
      for (int j = 0; j < D; ++j)
        r.slope[j] = node_pack<Real>(slope[0][j][l], slope[1][j][l], D == 3 ? slope[D - 1][j][l] : Real(0), Real(0));
      return r;
    }
  };

  TRIBO_HD void prepare(const Bin<D>& bin, Index i, int n, Real volume_per_mass, Rows& rows) const {
    T x[D], v[D], m;
    Mat<T, D> C;
    Sym<T, D> tau;
    load_columns(p.x, i, n, x);
    load_columns(p.v, i, n, v);
    load_columns(p.C, i, n, &C.m[0][0]);
    load_columns(p.tau, i, n, tau.s);
    load_columns(p.m, i, n, &m);
    const PackStencil<Real, D> stencil(x, T(Real(1) / dx), bin.block);
    const Mat<T, D> A = momentum_slope(m, C, m * T(volume_per_mass), tau, T(dx), T(dt));
    for (int k = 0; k < D; ++k) {
      for (int j = 0; j < 3; ++j) spill<Real>(stencil.weight[k][j], rows.weight[k][j]);
      T q = m * v[k];
      for (int j = 0; j < D; ++j) q = fma(-A(k, j), stencil.offset[j], q);
      spill<Real>(q, rows.momentum[k]);
      for (int j = 0; j < D; ++j) spill<Real>(A(k, j), rows.slope[k][j]);
    }
    spill<Real>(m, rows.mass);
    spill<Real>(stencil.cell, rows.cell);
  }
};

}  // namespace

template <class Real, int D>
void p2g(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, double dt, Workspace<Real, D>& work) {
  const auto scatter = [&](double stress_time, Array<NodePack<Real>>& arenas) {
    if (!constants.fast()) {
      scatter_any(ex, constants, state, stress_time, arenas, work);
      return;
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
