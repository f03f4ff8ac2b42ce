#include "tribo/stages/stages.h"
#include "tribo/stages/stencil.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real, int D>
struct Arena {
  NodePack<Real> node[BlockShape<D>::arena_nodes];
};

/// Sums one bin's particles into its arena (formulas A.2, A.5). Particles are in order of cells, so the sums of a cell
/// stay in registers and reach the arena once per run. A team of one thread walks all runs; a team of many takes a
/// cell per thread and adds the runs node by node in phases, in each of which no two cells share a node. Either way the
/// order of additions is fixed.
template <class Real, int D, class Scheme>
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
      end = first_of_cell(bin, team.rank() + 1);
      begin = first_of_cell(bin, team.rank());
    }
    Pack acc[Shape::stencil];
    int current = -1;
    const Real volume_per_mass = inverse_density[bin.group];
    MomentumPacket<Real, D> packet[W];
    int cell[W];
    for (Index i = begin; i < end; i += W) {
      const int n = end - i < W ? static_cast<int>(end - i) : W;
      prepare(bin, i, n, volume_per_mass, packet, cell);
      for (int l = 0; l < n; ++l) {
        if (cell[l] != current) {
          if (current >= 0) add_run(current, acc, arena);
          for (int s = 0; s < Shape::stencil; ++s) acc[s] = Pack(Real(0));
          current = cell[l];
        }
        accumulate(packet[l], acc);
      }
    }
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
  /// First particle of the bin whose cell is not before `cell`; only for freshly sorted particles.
  TRIBO_HD Index first_of_cell(const Bin<D>& bin, int cell) const {
    Index low = bin.begin;
    Index high = bin.end;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      Cell<D> within;
      for (int k = 0; k < D; ++k) within[k] = static_cast<std::int32_t>(base_node(p.x[k][middle] * (Real(1) / dx))) & 3;
      if (flatten(within, Shape::side) < cell) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  TRIBO_HD static void add_run(int current, const Pack* acc, Arena<Real, D>& arena) {
    for (int s = 0; s < Shape::stencil; ++s) {
      Pack& node = arena.node[current + stencil_offset<D>(s)];
      node = node + acc[s];
    }
  }

  TRIBO_HD void prepare(const Bin<D>& bin, Index i, int n, Real volume_per_mass, MomentumPacket<Real, D>* packet,
                        int* cell) const {
    T x[D], v[D], m;
    Mat<T, D> C;
    Sym<T, D> tau;
    load_columns(p.x, i, n, x);
    load_columns(p.v, i, n, v);
    load_columns(p.C, i, n, &C.m[0][0]);
    load_columns(p.tau, i, n, tau.s);
    load_columns(p.m, i, n, &m);
    const PackStencil<Real, D> stencil(x, T(Real(1) / dx), bin.block);
    const Mat<T, D> A = Scheme::momentum_slope(m, C, m * T(volume_per_mass), tau, T(dx), T(dt));

    // From one register per quantity to one packet per particle.
    Real lanes[3 * D + D * D + D + 2][W];
    int row = 0;
    for (int k = 0; k < D; ++k)
      for (int j = 0; j < 3; ++j) spill<Real>(stencil.weight[k][j], lanes[row++]);
    for (int k = 0; k < D; ++k) {
      T q = m * v[k];
      for (int j = 0; j < D; ++j) q = fma(-A(k, j), stencil.offset[j], q);
      spill<Real>(q, lanes[row++]);
      for (int j = 0; j < D; ++j) spill<Real>(A(k, j), lanes[row++]);
    }
    spill<Real>(m, lanes[row++]);
    spill<Real>(stencil.cell, lanes[row++]);
    for (int l = 0; l < n; ++l) {
      for (int k = 0; k < D; ++k)
        for (int j = 0; j < 3; ++j) packet[l].weight[k][j] = lanes[3 * k + j][l];
      const Real(*const momentum)[W] = lanes + 3 * D;
      if constexpr (D == 3) {
        packet[l].at_base = node_pack<Real>(momentum[0][l], momentum[4][l], momentum[8][l], momentum[12][l]);
        for (int j = 0; j < 3; ++j)
          packet[l].slope[j] = node_pack<Real>(momentum[1 + j][l], momentum[5 + j][l], momentum[9 + j][l], Real(0));
      } else {
        packet[l].at_base = node_pack<Real>(momentum[0][l], momentum[3][l], Real(0), momentum[6][l]);
        for (int j = 0; j < 2; ++j)
          packet[l].slope[j] = node_pack<Real>(momentum[1 + j][l], momentum[4 + j][l], Real(0), Real(0));
      }
      cell[l] = static_cast<int>(lanes[3 * D + D * D + D + 1][l]);
    }
  }
};

}  // namespace

template <class Real, int D>
void p2g(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, double dt, Workspace<Real, D>& work) {
  std::visit(
      [&](auto scheme) {
        for_each_team<Arena<Real, D>>(
            ex, "p2g", state.bin_count,
            ScatterBin<Real, D, decltype(scheme)>{view(state.particles), state.bins.data(), work.inverse_density.data(),
                                                  constants.dx, static_cast<Real>(dt), work.arenas.data()});
      },
      constants.transfer);
}

#define TRIBO_INSTANTIATE(Real, D) \
  template void p2g(Exec&, const Constants<Real, D>&, State<Real, D>&, double, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
