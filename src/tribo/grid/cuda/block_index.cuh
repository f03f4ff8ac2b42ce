#pragma once

#include "tribo/exec/backend.h"
#include "tribo/grid/blocks.h"

/// \file
/// Numbers of the blocks that are in use, from bitmaps: one bit per block of some tiles, and the number of bits before
/// each word. The number of a block is its rank, so that blocks are listed in the order of blocks.h, whatever order
/// they were marked in; a look-up is two loads. Tiles are all those of a window while these are few; in a world that is
/// mostly empty they are listed, and found through a hash table.

namespace tribo::TRIBO_BACKEND {

template <int D>
inline constexpr int tile_words = 1 << (bits_in_tile<D> - 5);

/// The tiles that have bits, in the order of blocks.h.
template <int D>
struct TileMap {
  TileWindow<D> window;
  Index count;                 ///< of tiles
  const std::uint64_t* codes;  ///< number in the window of each tile; null: all of the window, in its order
  const std::uint64_t* keys;   ///< of the hash table: code + 1, or 0
  const Index* slots;          ///< tile of each key
  std::uint32_t mask;          ///< the table's size less 1

  TRIBO_HD static std::uint32_t place(std::uint64_t code) {
    return static_cast<std::uint32_t>((code * 0x9e3779b97f4a7c15ull) >> 32);
  }

  /// The tile of a block, or -1.
  __device__ __forceinline__ Index tile_of(const Cell<D>& block) const {
    if (!window.holds(block)) return -1;
    const std::int64_t code = window.tile_of(block);
    if (codes == nullptr) return static_cast<Index>(code);
    const auto key = static_cast<std::uint64_t>(code) + 1;
    for (std::uint32_t at = place(key) & mask;; at = (at + 1) & mask) {
      const std::uint64_t held = keys[at];
      if (held == key) return slots[at];
      if (held == 0) return -1;
    }
  }
  /// Its lowest block.
  __device__ __forceinline__ Cell<D> corner(Index tile) const {
    return window.block_at(codes == nullptr ? tile : static_cast<std::int64_t>(codes[tile]), 0);
  }
};

/// Sets of blocks, one after the other: `set` tells them apart (materials, say). Blocks of a later set have later
/// numbers.
template <int D>
struct BlockSets {
  TileMap<D> tiles;
  std::uint32_t* bits;    ///< [set][tile][word]
  std::uint32_t* before;  ///< number of the word's first block
  std::uint32_t* used;    ///< [set][tile]: whether any of its bits may be set; tiles that are not are passed over

  /// Number of a block, or -1.
  __device__ __forceinline__ Index find(int set, const Cell<D>& block) const {
    const Index tile = tiles.tile_of(block);
    if (tile < 0) return -1;
    const std::uint32_t place = TileWindow<D>::place_in_tile(block);
    const Size word = (Size{set} * tiles.count + tile) * tile_words<D> + (place >> 5);
    const std::uint32_t held = bits[word];
    const std::uint32_t mask = 1u << (place & 31);
    if ((held & mask) == 0) return -1;
    return static_cast<Index>(before[word] + __popc(held & (mask - 1)));
  }

  /// False when the block is in none of the tiles.
  __device__ __forceinline__ bool mark(int set, const Cell<D>& block) const {
    const Index tile = tiles.tile_of(block);
    if (tile < 0) return false;
    const std::uint32_t place = TileWindow<D>::place_in_tile(block);
    const Size at = Size{set} * tiles.count + tile;
    std::uint32_t* const word = bits + at * tile_words<D> + (place >> 5);
    const std::uint32_t mask = 1u << (place & 31);
    // Most are marked already: a look is cheaper than an atomic.
    if ((*static_cast<volatile std::uint32_t*>(word) & mask) == 0) atomicOr(word, mask);
    if (*static_cast<volatile std::uint32_t*>(used + at) == 0) used[at] = 1;
    return true;
  }
};

/// Memory of a map of tiles.
template <int D>
struct TileIndex {
  TileWindow<D> window;
  Index count = 0;
  bool listed = false;
  Array<std::uint64_t> codes, keys;
  Array<Index> slots;
  // while it is made
  RadixSorter sorter;
  Array<Index> found, order;

  TileMap<D> view() const {
    return {window,      count,        listed ? codes.data() : nullptr,
            keys.data(), slots.data(), listed ? static_cast<std::uint32_t>(keys.size() - 1) : 0};
  }
  std::size_t bytes() const {
    return codes.bytes() + keys.bytes() + slots.bytes() + sorter.bytes() + found.bytes() + order.bytes();
  }
};

/// Memory of sets of blocks.
template <int D>
struct BlockIndex {
  Array<std::uint32_t> bits, before, used;

  void resize(Size tiles) {
    bits.resize_discard(tiles * tile_words<D>);
    before.resize_discard(tiles * tile_words<D>);
    used.resize_discard(tiles);
  }
  BlockSets<D> view(const TileMap<D>& tiles) { return {tiles, bits.data(), before.data(), used.data()}; }
  std::size_t bytes() const { return bits.bytes() + before.bytes() + used.bytes(); }
};

}  // namespace tribo::TRIBO_BACKEND
