#pragma once

#include "tribo/grid/blocks.h"

namespace tribo::TRIBO_BACKEND {

/// Whether a block comes before another in the order of blocks.h.
TRIBO_HD bool comes_before(const Cell<3>& a, const Cell<3>& b) {
  for (int k = 0; k < 3; ++k) {
    const std::int32_t tile_a = a[k] >> tile_bits<3>;
    const std::int32_t tile_b = b[k] >> tile_bits<3>;
    if (tile_a != tile_b) return tile_a < tile_b;
  }
  return TileWindow<3>::place_in_tile(a) < TileWindow<3>::place_in_tile(b);
}

/// Number of a block in a sorted list, or -1.
TRIBO_HD Index find_block(const Cell<3>* blocks, Index count, const Cell<3>& block) {
  Index low = 0, high = count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (comes_before(blocks[middle], block))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == count) return -1;
  for (int k = 0; k < 3; ++k)
    if (blocks[low][k] != block[k]) return -1;
  return low;
}

}  // namespace tribo::TRIBO_BACKEND
