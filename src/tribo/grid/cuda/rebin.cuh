#pragma once

#include "tribo/grid/cuda/packed.cuh"
#include "tribo/grid/state.h"

/// \file
/// Sorting particles by what has changed. No particle moves farther than a cell in a step, so a bin's particles go to
/// the 6^D cells within reach of its block; counting them there is most of a sort. Integers only, in an order that is
/// fixed by the particles, whoever runs first: within a cell those of its own block come first, then its neighbors'.

namespace tribo::TRIBO_BACKEND {

/// `shift` is the kernel's.
template <class Real, int D>
TRIBO_HD Cell<D> base_cell(const Vec<Real, D>& x, Real inverse_dx, Real shift) {
  Cell<D> cell;
  for (int k = 0; k < D; ++k) cell[k] = static_cast<std::int32_t>(floor(in_cells(x[k], inverse_dx) - shift));
  return cell;
}

/// Order of integers for numbers that are not negative; NaN comes last.
TRIBO_HD unsigned long long ordered_bits(double value) {
  return __builtin_bit_cast(unsigned long long, value) & 0x7fffffffffffffffull;
}
inline double from_ordered_bits(unsigned long long bits) { return __builtin_bit_cast(double, bits); }

__device__ __forceinline__ void raise_to(unsigned long long* most, unsigned long long bits) {
  if (*static_cast<volatile unsigned long long*>(most) < bits) atomicMax(most, bits);
}

/// The largest of a warp's numbers, in every lane; NaN when one is.
template <class Real>
__device__ __forceinline__ Real warp_max_or_nan(Real value) {
#pragma unroll
  for (int step = 16; step > 0; step >>= 1) {
    const Real other = __shfl_xor_sync(~0u, value, step);
    value = !(value == value) || other <= value ? value : other;
  }
  return value;
}

/// The neighbor of a block that a cell within reach of it belongs to.
template <int D>
TRIBO_HD int neighbor_of_reach(int cell) {
  const Cell<D> c = unflatten<D>(cell, Reach<D>::side);
  int r = 0;
  for (int k = 0; k < D; ++k) r = 3 * r + (c[k] == 0 ? 0 : c[k] == Reach<D>::side - 1 ? 2 : 1);
  return r;
}

/// Blocks that particles of one bin have moved to, and the grid blocks these need, into the next step's sets.
template <int D>
struct Marker {
  BlockSets<D> bins, grid;
  StepTally* tally;

  /// `touched` has a bit for each neighbor.
  __device__ __forceinline__ void mark(const Bin<D>& bin, std::uint32_t touched, int thread, int threads) const {
    constexpr int corners = 1 << D;
    for (int i = thread; i < Reach<D>::neighbors * corners; i += threads) {
      const int neighbor = i / corners;
      const int corner = i % corners;
      if ((touched >> neighbor & 1) == 0) continue;
      Cell<D> block = unflatten<D>(neighbor, 3);
      for (int k = 0; k < D; ++k) block[k] += bin.block[k] - 1;
      bool inside = corner > 0 || bins.mark(bin.group, block);
      for (int k = 0; k < D; ++k) block[k] += corner >> (D - 1 - k) & 1;
      inside = grid.mark(0, block) && inside;
      if (!inside) tally->left_tiles = 1;
    }
  }
};

/// Counts of one bin's particles by the cells they have moved to. In shared memory.
template <int D>
struct MoveCount {
  Index count[Reach<D>::cells];
  std::uint32_t touched;

  __device__ __forceinline__ void clear(int thread, int threads) {
    for (int i = thread; i < Reach<D>::cells; i += threads) count[i] = 0;
    if (thread == 0) touched = 0;
  }
  /// Cell of a particle that is now at x; it is counted. Beyond reach it is only noted that there is one.
  template <class Real>
  __device__ __forceinline__ std::uint8_t add(const Vec<Real, D>& x, Real inverse_dx, Real shift, const Cell<D>& block,
                                              StepTally* tally) {
    const Cell<D> cell = base_cell(x, inverse_dx, shift);
    Cell<D> local;
    bool within = true;
    for (int k = 0; k < D; ++k) {
      local[k] = cell[k] - block[k] * BlockShape<D>::side + 1;
      within = within && static_cast<unsigned>(local[k]) < static_cast<unsigned>(Reach<D>::side);
    }
    if (!within) {
      tally->astray = 1;
      local = Cell<D>::zero();
    }
    const int at = flatten(local, Reach<D>::side);
    atomicAdd(&count[at], 1);
    return static_cast<std::uint8_t>(at);
  }
  /// Between two barriers of the CTA.
  __device__ __forceinline__ void write(Index* reached, int thread, int threads) {
    for (int i = thread; i < Reach<D>::cells; i += threads) {
      reached[i] = count[i];
      if (count[i] > 0) atomicOr(&touched, 1u << neighbor_of_reach<D>(i));
    }
  }
};

/// Sorts the particles of `next`, which know the cells they have moved to: next_table, and the order. To be called
/// after the kernels that count; ends with the outcome on its way to the host, which waits for `told`.
template <class Real, int D>
void rebin(Exec& ex, double speed_limit, PackedParticles<Real, D>& p);

/// Once more, with more room: after the host has seen that there were more blocks than memory for them, or that a block
/// is in none of the tiles.
template <class Real, int D>
void rebin_with_room(Exec& ex, PackedParticles<Real, D>& p);

/// Empties the next step's sets.
template <class Real, int D>
void clear_next_sets(Exec& ex, PackedParticles<Real, D>& p);

/// The table of bins that are sorted already, but for the starts of their cells.
template <class Real, int D>
void adopt_bins(Exec& ex, const Array<Bin<D>>& bins, Index bin_count, PackedParticles<Real, D>& p);

}  // namespace tribo::TRIBO_BACKEND
