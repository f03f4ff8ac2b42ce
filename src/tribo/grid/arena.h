#pragma once

#include <cmath>

#include "tribo/grid/stencil.h"

/// \file
/// What kernels that walk bins share: a bin's private patch of nodes, where its cells begin, what its particles see
/// there, and how the patches that reach into a grid block are added up. Every order of additions is fixed by the data
/// alone.

namespace tribo::TRIBO_BACKEND {

template <class Real, int D, int Kernel = 3>
struct Arena {
  NodePack<Real> node[BlockShape<D, Kernel>::arena_nodes];
};

/// Lays the values of a bin's block and its neighbors into its arena.
template <int D, int Kernel, class Pack>
TRIBO_OUTLINED void fill_arena(const Team& team, const Index* blocks_of_bin, const Pack* grid, Pack* node) {
  using Shape = BlockShape<D, Kernel>;
  // Rows of the last axis are contiguous in both places; a row crosses up to three blocks.
  constexpr int rows = power(Shape::arena_side, D - 1);
  for (int r = team.rank(); r < rows; r += Team::size) {
    const Cell<D - 1> at = unflatten<D - 1>(r, Shape::arena_side);
    Cell<D - 1> neighbor, within;
    for (int k = 0; k < D - 1; ++k) {
      const int local = at[k] - Shape::margin;
      neighbor[k] = (local >> 2) - Shape::first_neighbor;
      within[k] = local & 3;
    }
    const int block_row = flatten(neighbor, Shape::neighbor_side) * Shape::neighbor_side;
    const int node_row = flatten(within, Shape::side) * Shape::side;
    for (int z = 0; z < Shape::arena_side; ++z) {
      const int local = z - Shape::margin;
      const Index source = blocks_of_bin[block_row + (local >> 2) - Shape::first_neighbor];
      node[r * Shape::arena_side + z] = grid[Size{source} * Shape::nodes + node_row + (local & 3)];
    }
  }
}

/// First particle of the bin whose cell is not before `cell`; only for freshly sorted particles.
template <int Kernel, class Real, int D>
TRIBO_HD Index first_of_cell(const FieldView<Real, D>& x, Real inverse_dx, const Bin<D>& bin, int cell) {
  Index low = bin.begin;
  Index high = bin.end;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    Cell<D> within;
    for (int k = 0; k < D; ++k)
      within[k] = static_cast<std::int32_t>(base_node<Kernel>(in_cells(x[k][middle], inverse_dx))) & 3;
    if (flatten(within, BlockShape<D>::side) < cell) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Velocity and its first moment at each particle of a pack.
template <class Real, int D>
struct PackSample {
  using T = ParticlePack<Real>;
  Vec<T, D> v;
  Mat<T, D> moment;  ///< sum w v_i ((x_i - x_p)/dx)^T
};
template <class Real, int D>
TRIBO_HD PackSample<Real, D> sample_pack(const PackStencil<Real, D>& stencil, int n, const NodePack<Real>* node) {
  constexpr int W = pack_width<Real>;
  Real weights[D][3][W], offsets[D][W], cells[W];
  for (int k = 0; k < D; ++k) {
    for (int j = 0; j < 3; ++j) spill<Real>(stencil.weight[k][j], weights[k][j]);
    spill<Real>(stencil.offset[k], offsets[k]);
  }
  spill<Real>(stencil.cell, cells);
  Real sample[D * (D + 1)][W];
  for (int l = 0; l < n; ++l) {
    Real w[D][3], offset[D];
    for (int k = 0; k < D; ++k) {
      offset[k] = offsets[k][l];
      for (int j = 0; j < 3; ++j) w[k][j] = weights[k][j][l];
    }
    const GridSample<Real, D> s = gather(node + static_cast<int>(cells[l]), w, offset);
    for (int k = 0; k < D; ++k) {
      sample[k][l] = s.velocity[k];
      for (int a = 0; a < D; ++a) sample[D + D * k + a][l] = s.moment[a][k];
    }
  }
  for (int l = n; l < W; ++l)
    for (int k = 0; k < D * (D + 1); ++k) sample[k][l] = sample[k][n - 1];
  PackSample<Real, D> r;
  for (int k = 0; k < D; ++k) {
    r.v[k] = load_pack<Real>(sample[k], W);
    for (int a = 0; a < D; ++a) r.moment(k, a) = load_pack<Real>(sample[D + D * k + a], W);
  }
  return r;
}

/// What a pack of particles gives to the grid, a row per quantity and a column per particle.
template <class Real, int D>
struct ScatterRows {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  Real weight[D][3][W];
  Real at_base[D][W];   ///< momentum at the base node
  Real slope[D][D][W];  ///< its change from node to node: row, column
  Real mass[W];
  Real cell[W];

  TRIBO_HD void set(const PackStencil<Real, D>& stencil, const Vec<T, D>& at_particle, const Mat<T, D>& A, const T& m) {
    for (int k = 0; k < D; ++k) {
      for (int j = 0; j < 3; ++j) spill<Real>(stencil.weight[k][j], weight[k][j]);
      T q = at_particle[k];
      for (int j = 0; j < D; ++j) q = fma(-A(k, j), stencil.offset[j], q);
      spill<Real>(q, at_base[k]);
      for (int j = 0; j < D; ++j) spill<Real>(A(k, j), slope[k][j]);
    }
    spill<Real>(m, mass);
    spill<Real>(stencil.cell, cell);
  }

  /// A column, in the form that adds to nodes.
  TRIBO_HD MomentumPacket<Real, D> packet(int l) const {
    MomentumPacket<Real, D> r;
    for (int k = 0; k < D; ++k)
      for (int j = 0; j < 3; ++j) r.weight[k][j] = weight[k][j][l];
    r.at_base = node_pack<Real>(at_base[0][l], at_base[1][l], D == 3 ? at_base[D - 1][l] : Real(0), mass[l]);
    for (int j = 0; j < D; ++j)
      r.slope[j] = node_pack<Real>(slope[0][j][l], slope[1][j][l], D == 3 ? slope[D - 1][j][l] : Real(0), Real(0));
    return r;
  }
};

/// Sums what prepare(i, n, rows) says of each pack of a bin's particles into its arena. Particles are in order of
/// cells, so the sums of a cell stay in registers and reach the arena once per run. A team of one thread walks all
/// runs; a team of many takes a cell per thread and adds the runs node by node in phases, in each of which no two cells
/// share a node. Either way the order of additions is fixed.
template <class Real, int D, class Prepare>
TRIBO_HD void scatter_bin(const Team& team, const FieldView<Real, D>& x, Real dx, const Bin<D>& bin,
                          NodePack<Real>* arena, const Prepare& prepare) {
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D>;
  constexpr int W = pack_width<Real>;
  Index begin = bin.begin;
  Index end = bin.end;
  if constexpr (Team::size > 1) {
    end = first_of_cell<3>(x, Real(1) / dx, bin, team.rank() + 1);
    begin = first_of_cell<3>(x, Real(1) / dx, bin, team.rank());
  }
  Pack acc[Shape::stencil];  // stays in registers: every loop over it is unrolled
  TRIBO_UNROLL
  for (int s = 0; s < Shape::stencil; ++s) acc[s] = Pack(Real(0));
  int current = -1;
  ScatterRows<Real, D> rows;
  for (Index i = begin; i < end; i += W) {
    const int n = end - i < W ? static_cast<int>(end - i) : W;
    prepare(i, n, rows);
    for (int l = 0; l < n; ++l) {
      const int cell = static_cast<int>(rows.cell[l]);
      if (cell != current) {
        if (current >= 0) {
          TRIBO_UNROLL
          for (int s = 0; s < Shape::stencil; ++s) {
            Pack& node = arena[current + stencil_offset<D>(s)];
            node = node + acc[s];
          }
        }
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
      Pack& node = arena[current + stencil_offset<D>(s)];
      node = node + acc[s];
    }
    team.barrier();
  }
}

/// Visits the nodes of a block whose coordinates lie in [low, high): a team of one loops over just these, in a larger
/// team each thread looks at its own nodes.
template <int D, class Visit>
TRIBO_HD void each_node_in(const Team& team, const Cell<D>& low, const Cell<D>& high, const Visit& visit) {
  using Shape = BlockShape<D>;
  if constexpr (Team::size == 1) {
    Cell<D> c = low;
    if constexpr (D == 3) {
      for (c[0] = low[0]; c[0] < high[0]; ++c[0])
        for (c[1] = low[1]; c[1] < high[1]; ++c[1])
          for (c[2] = low[2]; c[2] < high[2]; ++c[2]) visit(flatten(c, Shape::side), c);
    } else {
      for (c[0] = low[0]; c[0] < high[0]; ++c[0])
        for (c[1] = low[1]; c[1] < high[1]; ++c[1]) visit(flatten(c, Shape::side), c);
    }
  } else {
    for (int i = team.rank(); i < Shape::nodes; i += Team::size) {
      const Cell<D> c = unflatten<D>(i, Shape::side);
      bool inside = true;
      for (int k = 0; k < D; ++k) inside = inside && c[k] >= low[k] && c[k] < high[k];
      if (inside) visit(i, c);
    }
  }
}

/// Who reaches into each grid block.
struct TouchView {
  const Index* touch;
  const Index* start;
};

/// Sums the arenas that overlap grid block b into `node`, in the order of the touch list. Each thread of a team sums
/// the nodes it would visit in steps of the team's size, so that it may go on with these without a barrier.
template <int D, int Kernel, class Real>
TRIBO_HD void sum_arenas(const Team& team, Index b, const TouchView& touches, const NodePack<Real>* arenas,
                         NodePack<Real>* node) {
  using Shape = BlockShape<D, Kernel>;
  for (int i = team.rank(); i < Shape::nodes; i += Team::size) node[i] = NodePack<Real>(Real(0));
  for (Index t = touches.start[b]; t < touches.start[b + 1]; ++t) {
    const Index bin = touches.touch[t] / Shape::neighbors;
    const Cell<D> neighbor = unflatten<D>(touches.touch[t] % Shape::neighbors, Shape::neighbor_side);
    const NodePack<Real>* const arena = arenas + Size{bin} * Shape::arena_nodes;
    // Node c of this block is node c + shift of the arena.
    Cell<D> shift, low, high;
    for (int k = 0; k < D; ++k) {
      shift[k] = Shape::side * (neighbor[k] + Shape::first_neighbor) + Shape::margin;
      low[k] = shift[k] < 0 ? -shift[k] : 0;
      high[k] = Shape::arena_side - shift[k] < Shape::side ? Shape::arena_side - shift[k] : Shape::side;
    }
    each_node_in<D>(team, low, high,
                    [&](int i, const Cell<D>& c) { node[i] = node[i] + arena[flatten(c + shift, Shape::arena_side)]; });
  }
}

}  // namespace tribo::TRIBO_BACKEND
