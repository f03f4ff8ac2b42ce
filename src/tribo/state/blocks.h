#pragma once

#include <cstdint>
#include <type_traits>

#include "tribo/core/types.h"
#include "tribo/exec/backend.h"
#include "tribo/math/small.h"
#include "tribo/math/spline.h"

/// \file
/// Geometry of the sparse grid. Space is cut into blocks of 4^D base cells; a particle belongs to the block of its
/// base node, the lowest node its kernel touches (quadratic: floor(x/dx - 1/2)). Everything a block's particles touch
/// lies in its *arena*, a small dense patch of nodes private to the block while it sums.

namespace tribo::TRIBO_BACKEND {

constexpr int power(int base, int exponent) { return exponent == 0 ? 1 : base * power(base, exponent - 1); }

/// `Kernel` is the number of nodes per axis a particle touches. What does not depend on it is the same for all kernels,
/// so blocks and bins are shared.
template <int D, int Kernel = 3>
struct BlockShape {
  static constexpr int side = 4;                ///< cells (and owned nodes) along an edge
  static constexpr int nodes = power(side, D);  ///< nodes a block owns
  static constexpr int kernel = Kernel;
  static constexpr int margin = drift_cells;    ///< cells a particle may have drifted out of its block
  static constexpr int arena_side = side + kernel - 1 + 2 * margin;
  static constexpr int arena_nodes = power(arena_side, D);
  static constexpr int first_neighbor = margin > 0 ? -1 : 0;  ///< lowest block offset an arena reaches into
  static constexpr int neighbor_side = 2 - first_neighbor;
  static constexpr int neighbors = power(neighbor_side, D);  ///< blocks an arena overlaps
  static constexpr int stencil = power(kernel, D);
  static_assert(kernel - 1 + margin <= side, "an arena reaches no farther than the next block");
};

/// work(std::integral_constant<int, nodes>) for the kernel of so many nodes per axis.
template <class Work>
decltype(auto) with_kernel(int nodes, const Work& work) {
  switch (nodes) {
    case 2: return work(std::integral_constant<int, 2>{});
    case 4: return work(std::integral_constant<int, 4>{});
    default: return work(std::integral_constant<int, 3>{});
  }
}

/// Integer coordinates of a block, cell or node.
template <int D>
using Cell = Vec<std::int32_t, D>;

/// Coordinates of the i-th item of a dense D-dimensional patch, last axis fastest.
template <int D>
TRIBO_HD Cell<D> unflatten(int i, int side) {
  Cell<D> r;
  for (int k = D - 1; k >= 0; --k) {
    r[k] = i % side;
    i /= side;
  }
  return r;
}
template <int D>
TRIBO_HD int flatten(const Cell<D>& c, int side) {
  int r = c[0];
  for (int k = 1; k < D; ++k) r = r * side + c[k];
  return r;
}

/// Blocks along an axis that a key can tell apart: 2^16 blocks are a quarter of a million cells.
inline constexpr int key_bits_per_axis = 16;
inline constexpr int cell_bits = 6;  // up to 4^3 cells in a block

/// The lowest 16 bits of `v` moved D apart.
template <int D>
TRIBO_HD std::uint64_t spread_bits(std::uint64_t v) {
  if constexpr (D == 3) {
    v = (v | v << 16) & 0xff0000ffull;
    v = (v | v << 8) & 0xf00f00f00full;
    v = (v | v << 4) & 0xc30c30c30c3ull;
    v = (v | v << 2) & 0x249249249249ull;
  } else {
    v = (v | v << 8) & 0xff00ffull;
    v = (v | v << 4) & 0xf0f0f0full;
    v = (v | v << 2) & 0x33333333ull;
    v = (v | v << 1) & 0x55555555ull;
  }
  return v;
}
/// Morton code of a block counted from `origin`: neighbors in space stay near each other in memory.
template <int D>
TRIBO_HD std::uint64_t block_code(const Cell<D>& block, const Cell<D>& origin) {
  std::uint64_t r = 0;
  for (int k = 0; k < D; ++k) r |= spread_bits<D>(static_cast<std::uint64_t>(block[k] - origin[k])) << (D - 1 - k);
  return r;
}

/// A run of particles of one material in one block.
template <int D>
struct Bin {
  Index group;  ///< material
  Index begin;  ///< first particle
  Index end;    ///< one past the last
  Cell<D> block;
};

}  // namespace tribo::TRIBO_BACKEND
