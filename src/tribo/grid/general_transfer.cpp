#include "tribo/grid/arena.h"
#include "tribo/grid/stages.h"
#include "tribo/grid/stencil.h"
#include "tribo/transfer/modes.h"

/// \file
/// Transfers for any kernel, with PolyPIC's modes, and with forces through gradients of the weights: one particle after
/// the other, as the formulas stand. p2g.cpp and g2p.cpp do the same much faster for the schemes they know.

namespace tribo::TRIBO_BACKEND {
namespace {

/// Weights of one particle at the nodes of its stencil, per axis.
template <class Real, int D, int Kernel>
struct Stencil {
  Real offset[D];          ///< position minus base node, in cells
  Real weight[D][Kernel];  ///< N
  Real slope[D][Kernel];   ///< dN/dx times dx
  int cell = 0;            ///< flat index of the base node in the arena

  TRIBO_HD Stencil(const FieldView<Real, D>& x, Index i, Real inverse_dx, const Cell<D>& block) {
    using Shape = BlockShape<D, Kernel>;
    for (int k = 0; k < D; ++k) {
      const Real scaled = in_cells(x[k][i], inverse_dx);
      const Real base = base_node<Kernel>(scaled);
      offset[k] = scaled - base;
      const SplineWeights<Real, Kernel> w(offset[k]);
      const SplineDerivatives<Real, Kernel> d(offset[k]);
      for (int j = 0; j < Kernel; ++j) {
        weight[k][j] = w.w[j];
        slope[k][j] = d.d[j];
      }
      cell = cell * Shape::arena_side + static_cast<int>(base) - (block[k] * Shape::side - Shape::margin);
    }
  }

  /// visit(node of the stencil, weight, gradient of the weight times dx, (x_i - x_p)/dx), last axis fastest.
  template <class Visit>
  TRIBO_HD void each_node(const Visit& visit) const {
    for (int s = 0; s < BlockShape<D, Kernel>::stencil; ++s) {
      const Cell<D> c = unflatten<D>(s, Kernel);
      Real w = Real(1);
      Vec<Real, D> gradient, place;
      for (int k = 0; k < D; ++k) {
        w *= weight[k][c[k]];
        place[k] = Real(c[k]) - offset[k];
        gradient[k] = slope[k][c[k]];
        for (int j = 0; j < D; ++j)
          if (j != k) gradient[k] *= weight[j][c[j]];
      }
      visit(s, w, gradient, place);
    }
  }
};

/// PolyPIC's modes of one particle; its quadratic kernel only.
template <class Real, int D>
struct Modes {
  AxisModes<Real> axis[D];

  TRIBO_HD Modes(const Stencil<Real, D, 3>& s, int degree) : Modes(s, degree, std::make_integer_sequence<int, D>{}) {}

  TRIBO_HD void to_nodes(NodePack<Real>* values) const {
    const Real(*table[D])[3];
    for (int k = 0; k < D; ++k) table[k] = axis[k].at_node;
    transform_axes<D>(table, values);
  }
  TRIBO_HD void to_coefficients(NodePack<Real>* values) const {
    const Real(*table[D])[3];
    for (int k = 0; k < D; ++k) table[k] = axis[k].from_node;
    transform_axes<D>(table, values);
  }

 private:
  template <int... K>
  TRIBO_HD Modes(const Stencil<Real, D, 3>& s, int degree, std::integer_sequence<int, K...>)
      : axis{AxisModes<Real>(s.offset[K], s.weight[K], degree)...} {}
};

template <class Real, int D>
TRIBO_HD NodePack<Real> pack_of(const FieldView<Real, D>& v, Index i, Real scale, Real last) {
  return node_pack<Real>(v[0][i] * scale, v[1][i] * scale, D == 3 ? v[D - 1][i] * scale : Real(0), last);
}

/// Sums one bin's particles into its arena (theory A.2 to A.5). Work is shared among threads as in p2g.cpp.
template <class Real, int D, int Kernel>
struct ScatterAny {
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D, Kernel>;

  ParticlesView<Real, D> p;
  const Bin<D>* bins;
  const Real* inverse_density;
  Real dx;
  Real dt;
  bool gradient_forces;
  int poly_degree;
  Pack* arenas;

  TRIBO_HD void operator()(const Team& team, Index b, Arena<Real, D, Kernel>& arena) const {
    for (int i = team.rank(); i < Shape::arena_nodes; i += Team::size) arena.node[i] = Pack(Real(0));
    team.barrier();
    const Bin<D> bin = bins[b];
    Index begin = bin.begin;
    Index end = bin.end;
    if constexpr (Team::size > 1) {
      end = first_of_cell<Kernel>(p.x, Real(1) / dx, bin, team.rank() + 1);
      begin = first_of_cell<Kernel>(p.x, Real(1) / dx, bin, team.rank());
    }
    const Real volume_per_mass = inverse_density[bin.group];
    Pack sums[Shape::stencil];
    int current = -1;
    for (Index i = begin; i < end; ++i) {
      const Stencil<Real, D, Kernel> stencil(p.x, i, Real(1) / dx, bin.block);
      if (stencil.cell != current) {
        if (current >= 0) {
          for (int s = 0; s < Shape::stencil; ++s) add(arena, current, s, sums[s]);
        }
        for (int s = 0; s < Shape::stencil; ++s) sums[s] = Pack(Real(0));
        current = stencil.cell;
      }
      add_particle(i, stencil, volume_per_mass, sums);
    }
    // In each round every thread has a cell of its own, so that no two add to the same node.
    for (int s = 0; s < Shape::stencil; ++s) {
      if (current >= 0) add(arena, current, s, sums[s]);
      team.barrier();
    }
    Pack* const out = arenas + Size{b} * Shape::arena_nodes;
    for (int i = team.rank(); i < Shape::arena_nodes; i += Team::size) out[i] = arena.node[i];
  }

 private:
  TRIBO_HD static void add(Arena<Real, D, Kernel>& arena, int cell, int s, const Pack& sum) {
    Pack& node = arena.node[cell + stencil_offset<D, Kernel>(s)];
    node = node + sum;
  }

  TRIBO_HD void add_particle(Index i, const Stencil<Real, D, Kernel>& stencil, Real volume_per_mass, Pack* sums) const {
    constexpr Real inertia = Real(kernel_inertia(Kernel));
    const Real m = p.m[0][i];
    Sym<Real, D> tau;
    for (int k = 0; k < Sym<Real, D>::size; ++k) tau.s[k] = p.tau[k][i];
    Pack along_place[D], along_gradient[D];  // multiply (x_i - x_p)/dx and dx grad w
    for (int a = 0; a < D; ++a) {
      Real affine[3] = {}, stress[3] = {};
      for (int k = 0; k < D; ++k) {
        affine[k] = m * dx * p.C[D * k + a][i];
        stress[k] = -(dt * volume_per_mass * m / dx) * tau(k, a);
      }
      const Pack affine_pack = node_pack<Real>(affine[0], affine[1], affine[2], Real(0));
      const Pack stress_pack = node_pack<Real>(stress[0], stress[1], stress[2], Real(0));
      along_place[a] = gradient_forces ? affine_pack : fma(Pack(Real(1) / inertia), stress_pack, affine_pack);
      along_gradient[a] = gradient_forces ? stress_pack : Pack(Real(0));
    }
    Pack higher[Kernel == 3 ? Shape::stencil : 1];
    if constexpr (Kernel == 3)
      if (poly_degree > 0) higher_modes(i, stencil, m, higher);
    const Pack at_particle = pack_of<Real, D>(p.v, i, m, m);
    stencil.each_node([&](int s, Real w, const Vec<Real, D>& gradient, const Vec<Real, D>& place) {
      Pack value = at_particle;
      for (int a = 0; a < D; ++a) value = fma(Pack(place[a]), along_place[a], value);
      if constexpr (Kernel == 3)
        if (poly_degree > 0) value = value + higher[s];
      Pack sum = fma(Pack(w), value, sums[s]);
      for (int a = 0; a < D; ++a) sum = fma(Pack(gradient[a]), along_gradient[a], sum);
      sums[s] = sum;
    });
  }

  /// Momentum per weight at the nodes that PolyPIC's modes beyond the affine ones bring.
  TRIBO_HD void higher_modes(Index i, const Stencil<Real, D, 3>& stencil, Real m, Pack* at_nodes) const {
    int next = 0;
    for (int mode = 0; mode < Shape::stencil; ++mode) {
      at_nodes[mode] = Pack(Real(0));
      if (!beyond_affine<D>(mode)) continue;
      FieldView<Real, D> column;
      for (int k = 0; k < D; ++k) column.c[k] = p.poly[next++];
      at_nodes[mode] = pack_of<Real, D>(column, i, m, Real(0));
    }
    Modes<Real, D>(stencil, poly_degree).to_nodes(at_nodes);
  }
};

/// Moves one bin's particles by the grid and leaves their velocity gradients for `deform`.
template <class Real, int D, int Kernel>
struct GatherAny {
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D, Kernel>;

  ParticlesView<Real, D> p;
  FieldView<Real, D * D> velocity_gradient;
  const Bin<D>* bins;
  const Index* bin_blocks;
  const Pack* grid;
  const Pack* grid_before;
  TransferRule<Real> rule;
  bool gradient_forces;
  Real dx;
  Real dt;

  TRIBO_HD void operator()(const Team& team, Index b, Arena<Real, D, Kernel>& arena) const {
    const Bin<D> bin = bins[b];
    const Index* const blocks = bin_blocks + Size{b} * Shape::neighbors;
    if (rule.flip > Real(0)) {
      fill_arena<D, Kernel>(team, blocks, grid_before, arena.node);
      team.barrier();
      for (Index i = bin.begin + team.rank(); i < bin.end; i += Team::size) {
        const Stencil<Real, D, Kernel> stencil(p.x, i, Real(1) / dx, bin.block);
        Pack seen = Pack(Real(0));
        stencil.each_node([&](int s, Real w, const Vec<Real, D>&, const Vec<Real, D>&) {
          seen = fma(Pack(w), arena.node[stencil.cell + stencil_offset<D, Kernel>(s)], seen);
        });
        for (int k = 0; k < D; ++k) p.v[k][i] = rule.flip * (p.v[k][i] - seen[k]);
      }
      team.barrier();
    }
    fill_arena<D, Kernel>(team, blocks, grid, arena.node);
    team.barrier();
    for (Index i = bin.begin + team.rank(); i < bin.end; i += Team::size) move(bin, i, arena.node);
  }

 private:
  TRIBO_HD void move(const Bin<D>& bin, Index i, const Pack* node) const {
    const Stencil<Real, D, Kernel> stencil(p.x, i, Real(1) / dx, bin.block);
    Pack velocity = Pack(Real(0)), moment[D], slope[D];
    for (int a = 0; a < D; ++a) moment[a] = slope[a] = Pack(Real(0));
    stencil.each_node([&](int s, Real w, const Vec<Real, D>& gradient, const Vec<Real, D>& place) {
      const Pack value = node[stencil.cell + stencil_offset<D, Kernel>(s)];
      const Pack part = value * Pack(w);
      velocity = velocity + part;
      for (int a = 0; a < D; ++a) {
        moment[a] = fma(part, Pack(place[a]), moment[a]);
        slope[a] = fma(value, Pack(gradient[a]), slope[a]);
      }
    });
    if constexpr (Kernel == 3)
      if (rule.poly_degree > 0) keep_modes(i, stencil, node);

    constexpr Real inertia = Real(kernel_inertia(Kernel));
    Mat<Real, D> affine, L;
    for (int k = 0; k < D; ++k)
      for (int a = 0; a < D; ++a) {
        // The linear kernel's second moment may vanish; there B D^-1 is the gradient (theory A.2).
        affine(k, a) = Kernel == 2 ? slope[a][k] / dx : moment[a][k] / (inertia * dx);
        L(k, a) = gradient_forces ? slope[a][k] / dx : affine(k, a);
      }
    const Mat<Real, D> C = rule.kept(affine);
    for (int k = 0; k < D * D; ++k) {
      p.C[k][i] = (&C.m[0][0])[k];
      velocity_gradient[k][i] = (&L.m[0][0])[k];
    }
    for (int k = 0; k < D; ++k) {
      p.v[k][i] = rule.flip > Real(0) ? p.v[k][i] + velocity[k] : velocity[k];
      p.x[k][i] = fma(dt, velocity[k], p.x[k][i]);
    }
  }

  TRIBO_HD void keep_modes(Index i, const Stencil<Real, D, 3>& stencil, const Pack* node) const {
    Pack values[Shape::stencil];
    Real lightest = p.m[0][i];
    for (int s = 0; s < Shape::stencil; ++s) {
      values[s] = node[stencil.cell + stencil_offset<D, Kernel>(s)];
      lightest = min(lightest, values[s][3]);
    }
    // Second differences take every node for full. At a free surface some hold next to nothing and their velocities are
    // noise, which then grows: a turning block gained 60 % of its energy in a thousand steps.
    const bool surface = lightest < Real(0.1) * p.m[0][i];
    Modes<Real, D>(stencil, surface ? 1 : rule.poly_degree).to_coefficients(values);
    int next = 0;
    for (int mode = 0; mode < Shape::stencil; ++mode) {
      if (!beyond_affine<D>(mode)) continue;
      for (int k = 0; k < D; ++k) p.poly[next++][i] = values[mode][k];
    }
  }
};

}  // namespace

template <class Real, int D>
void scatter_any(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, double dt,
                 Array<NodePack<Real>>& arenas, Workspace<Real, D>& work) {
  with_kernel(constants.kernel, [&](auto kernel) {
    for_each_team<Arena<Real, D, kernel()>>(
        ex, "p2g", state.bin_count,
        ScatterAny<Real, D, kernel()>{view(state.particles), state.bins.data(), work.inverse_density.data(),
                                      constants.dx, static_cast<Real>(dt), constants.gradient_forces,
                                      constants.transfer.poly_degree, arenas.data()});
  });
}

template <class Real, int D>
void gather_any(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state,
                Workspace<Real, D>& work) {
  with_kernel(constants.kernel, [&](auto kernel) {
    for_each_team<Arena<Real, D, kernel()>>(
        ex, "g2p", state.bin_count,
        GatherAny<Real, D, kernel()>{view(state.particles), view(work.gradient), state.bins.data(),
                                     work.bin_blocks.data(), work.grid.data(), work.grid_before.data(),
                                     constants.transfer, constants.gradient_forces, constants.dx,
                                     static_cast<Real>(dt)});
  });
}

#define TRIBO_INSTANTIATE(Real, D)                                                                             \
  template void scatter_any(Exec&, const Constants<Real, D>&, State<Real, D>&, double, Array<NodePack<Real>>&, \
                            Workspace<Real, D>&);                                                              \
  template void gather_any(Exec&, const Constants<Real, D>&, double, State<Real, D>&, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
