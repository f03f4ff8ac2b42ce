#pragma once

#include <cmath>

namespace tribo {

/// What memory of particles goes by.
struct ParticleAmounts {
  double count = 0;     ///< at the start, those that belong to other kinds of matter included
  double on_lines = 0;  ///< of them those that are on lines, which have blocks of their own
  double emitted = 0;   ///< until the end of the scene
};

/// Bytes that sorting a particle takes: keys and order in two copies, flags, a spare column.
inline double sorting_bytes(double real) { return 2 * 8 + 3 * 4 + real; }
/// Bytes of a block beside its sums and nodes where a GPU steps on packed particles: two counters for cells in reach,
/// numbers of neighbors, where cells begin, in two copies.
inline double packed_block_bytes(int dimension) {
  return 4 * (2 * std::pow(6.0, dimension) + std::pow(3.0, dimension) + 2 * std::pow(4.0, dimension));
}

}  // namespace tribo
