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

/// Particles drifting more cells than this from where they were sorted might leave their arena; the rest is for
/// rounding.
inline constexpr double drift_limit = drift_cells * 0.99;

/// `Kernel` is the number of nodes per axis a particle touches. What does not depend on it is the same for all kernels,
/// so blocks and bins are shared.
template <int D, int Kernel = 3>
struct BlockShape {
  static constexpr int side = 4;                ///< cells (and owned nodes) along an edge
  static constexpr int nodes = power(side, D);  ///< nodes a block owns
  static constexpr int kernel = Kernel;
  static constexpr int margin = drift_cells;  ///< cells a particle may have drifted out of its block
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
    case 2:
      return work(std::integral_constant<int, 2>{});
    case 4:
      return work(std::integral_constant<int, 4>{});
    default:
      return work(std::integral_constant<int, 3>{});
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

/// Blocks are ordered by tiles of 2^tile_bits blocks along an edge, last axis fastest, and along the Morton curve in
/// each: neighbors in space stay near each other in memory. The order of two blocks depends on nothing but their own
/// coordinates, so that a state sorted anew after a resume is the state that was saved.
template <int D>
inline constexpr int tile_bits = D == 3 ? 5 : 7;
template <int D>
inline constexpr int bits_in_tile = D* tile_bits<D>;

/// The lowest eight bits of `v` moved D apart.
template <int D>
TRIBO_HD std::uint32_t spread_bits(std::uint32_t v) {
  if constexpr (D == 3) {
    v = (v | v << 8) & 0xf00fu;
    v = (v | v << 4) & 0xc30c3u;
    v = (v | v << 2) & 0x249249u;
  } else {
    v = (v | v << 4) & 0xf0fu;
    v = (v | v << 2) & 0x3333u;
    v = (v | v << 1) & 0x5555u;
  }
  return v;
}
/// The reverse.
template <int D>
TRIBO_HD std::uint32_t gather_bits(std::uint32_t v) {
  if constexpr (D == 3) {
    v &= 0x249249u;
    v = (v | v >> 2) & 0xc30c3u;
    v = (v | v >> 4) & 0xf00fu;
    v = (v | v >> 8) & 0xffu;
  } else {
    v &= 0x5555u;
    v = (v | v >> 1) & 0x3333u;
    v = (v | v >> 2) & 0xf0fu;
    v = (v | v >> 4) & 0xffu;
  }
  return v;
}

/// A box of tiles, and the numbers of the blocks in it.
template <int D>
struct TileWindow {
  Cell<D> low = Cell<D>::zero();    ///< first tile
  Cell<D> tiles = Cell<D>::zero();  ///< along each axis

  /// The smallest one that holds the blocks from `first` to `last`.
  static TileWindow around(const Cell<D>& first, const Cell<D>& last) {
    TileWindow r;
    for (int k = 0; k < D; ++k) {
      r.low[k] = first[k] >> tile_bits<D>;
      r.tiles[k] = (last[k] >> tile_bits<D>)-r.low[k] + 1;
    }
    return r;
  }
  TRIBO_HD std::int64_t count() const {
    std::int64_t product = 1;
    for (int k = 0; k < D; ++k) product *= tiles[k];
    return product;
  }

  TRIBO_HD bool holds(const Cell<D>& block) const {
    bool inside = true;
    for (int k = 0; k < D; ++k) {
      const std::int32_t tile = (block[k] >> tile_bits<D>)-low[k];
      inside = inside && tile >= 0 && tile < tiles[k];
    }
    return inside;
  }
  TRIBO_HD std::int64_t tile_of(const Cell<D>& block) const {
    std::int64_t r = 0;
    for (int k = 0; k < D; ++k) r = r * tiles[k] + ((block[k] >> tile_bits<D>)-low[k]);
    return r;
  }
  TRIBO_HD static std::uint32_t place_in_tile(const Cell<D>& block) {
    std::uint32_t r = 0;
    for (int k = 0; k < D; ++k)
      r |= spread_bits<D>(static_cast<std::uint32_t>(block[k]) & ((1u << tile_bits<D>)-1)) << (D - 1 - k);
    return r;
  }
  TRIBO_HD std::uint64_t code(const Cell<D>& block) const {
    return static_cast<std::uint64_t>(tile_of(block)) << bits_in_tile<D> | place_in_tile(block);
  }
  TRIBO_HD Cell<D> block_at(std::int64_t tile, std::uint32_t place) const {
    Cell<D> block;
    for (int k = D - 1; k >= 0; --k) {
      const auto at = static_cast<std::int32_t>(tile % tiles[k]);
      tile /= tiles[k];
      block[k] = (low[k] + at) * (1 << tile_bits<D>)+static_cast<std::int32_t>(gather_bits<D>(place >> (D - 1 - k)));
    }
    return block;
  }
};

/// A run of particles of one material in one block.
template <int D>
struct Bin {
  Index group;  ///< material
  Index begin;  ///< first particle
  Index end;    ///< one past the last
  Cell<D> block;
};

}  // namespace tribo::TRIBO_BACKEND
