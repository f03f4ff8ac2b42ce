#pragma once

#include "tribo/math/spline.h"
#include "tribo/state/state.h"

/// \file
/// What kernels that walk bins share: a bin's private patch of nodes, and where its cells begin.

namespace tribo::TRIBO_BACKEND {

template <class Real, int D, int Kernel = 3>
struct Arena {
  NodePack<Real> node[BlockShape<D, Kernel>::arena_nodes];
};

/// Lays the values of a bin's block and its neighbors into its arena.
template <int D, int Kernel, class Pack>
TRIBO_HD void fill_arena(const Team& team, const Index* blocks_of_bin, const Pack* grid, Pack* node) {
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
    for (int k = 0; k < D; ++k) within[k] = static_cast<std::int32_t>(base_node<Kernel>(x[k][middle] * inverse_dx)) & 3;
    if (flatten(within, BlockShape<D>::side) < cell) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace tribo::TRIBO_BACKEND
