#pragma once

#include "tribo/exec/backend.h"
#include "tribo/state/blocks.h"

/// \file
/// Numbers of the blocks that are in use, from bitmaps: one bit per block of a window of tiles, and the number of bits
/// before each word. The number of a block is its rank, so that blocks are listed in the order of blocks.h, whatever
/// order they were marked in; a look-up is two loads.

namespace tribo::TRIBO_BACKEND {

template <int D>
inline constexpr int tile_words = 1 << (bits_in_tile<D> - 5);

/// Sets of blocks, one after the other: `set` tells them apart (materials, say). Blocks of a later set have later
/// numbers.
template <int D>
struct BlockSets {
  TileWindow<D> window;
  std::uint32_t* bits;    ///< [set][tile][word]
  std::uint32_t* before;  ///< number of the word's first block
  std::uint32_t* used;    ///< [set][tile]: whether any of its bits may be set; tiles that are not are passed over

  TRIBO_HD std::int64_t tile(int set, const Cell<D>& block) const {
    return std::int64_t{set} * window.count() + window.tile_of(block);
  }

  /// Number of a block, or -1.
  __device__ __forceinline__ Index find(int set, const Cell<D>& block) const {
    if (!window.holds(block)) return -1;
    const std::uint32_t place = TileWindow<D>::place_in_tile(block);
    const std::int64_t word = tile(set, block) * tile_words<D> + (place >> 5);
    const std::uint32_t held = bits[word];
    const std::uint32_t mask = 1u << (place & 31);
    if ((held & mask) == 0) return -1;
    return static_cast<Index>(before[word] + __popc(held & (mask - 1)));
  }

  /// False when the block is outside the window.
  __device__ __forceinline__ bool mark(int set, const Cell<D>& block) const {
    if (!window.holds(block)) return false;
    const std::uint32_t place = TileWindow<D>::place_in_tile(block);
    const std::int64_t at = tile(set, block);
    std::uint32_t* const word = bits + at * tile_words<D> + (place >> 5);
    const std::uint32_t mask = 1u << (place & 31);
    // Most are marked already: a look is cheaper than an atomic.
    if ((*static_cast<volatile std::uint32_t*>(word) & mask) == 0) atomicOr(word, mask);
    if (*static_cast<volatile std::uint32_t*>(used + at) == 0) used[at] = 1;
    return true;
  }
};

/// Memory of sets of blocks.
template <int D>
struct BlockIndex {
  Array<std::uint32_t> bits, before, used;

  void resize(std::int64_t tiles) {
    bits.resize_discard(tiles * tile_words<D>);
    before.resize_discard(tiles * tile_words<D>);
    used.resize_discard(tiles);
  }
  BlockSets<D> view(const TileWindow<D>& window) { return {window, bits.data(), before.data(), used.data()}; }
  std::size_t bytes() const { return bits.bytes() + before.bytes() + used.bytes(); }
};

}  // namespace tribo::TRIBO_BACKEND
