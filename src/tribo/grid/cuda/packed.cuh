#pragma once

#include <vector>

#include "tribo/grid/cuda/block_index.cuh"
#include "tribo/grid/packed.h"
#include "tribo/grid/particles.h"

/// \file
/// The particles as the GPU's own steps want them. A particle's numbers are packed into quads of four, each quad a
/// stream of 16-byte (float) records, because particles are fetched through an index: `order` lists the slots of the
/// particles sorted by material, block and cell. P2G and G2P read through it, and G2P writes what it has moved into the
/// other copy in sorted order. So the particles are re-sorted in memory at no cost, never more than one step stale.

namespace tribo::TRIBO_BACKEND {

/// Four numbers that move as one.
template <class Real>
using Quad = Lanes<Real, 4>;

/// Where a particle's numbers are: the first `motion_quads` hold position, velocity and C, the first `scatter_quads`
/// what P2G needs, those from `first_strain_quad` on what G2P does beside the position. What nobody changes, id and
/// object, stays at `home`, the particle's place when it was packed; history is apart because most laws use none or one
/// number of it.
template <int D>
struct PackedLayout;
template <>
struct PackedLayout<3> {  // x m | v C0 | C | C | tau | tau F8 home | F | F
  static constexpr int x = 0, m = 3, v = 4, C = 7, tau = 16, home = 23;
  TRIBO_HD static constexpr int F(int k) { return k == 8 ? 22 : 24 + k; }
  static constexpr int quads = 8;
  static constexpr int motion_quads = 4;
  static constexpr int scatter_quads = 6;
  static constexpr int first_strain_quad = 5;
};
template <>
struct PackedLayout<2> {  // x m v0 | v1 C | C3 tau | F | home - - -
  static constexpr int x = 0, m = 2, v = 3, C = 5, tau = 9, home = 16;
  TRIBO_HD static constexpr int F(int k) { return 12 + k; }
  static constexpr int quads = 5;
  static constexpr int motion_quads = 3;
  static constexpr int scatter_quads = 3;
  static constexpr int first_strain_quad = 3;
};
/// Quads of PolyPIC's higher modes, which are apart.
template <int D>
inline constexpr int poly_quads = (poly_numbers<D> + 3) / 4;

template <class Real, int D>
struct PackedView {
  Quad<Real>* quad[PackedLayout<D>::quads];
  Real* history[2];
  Quad<Real>* poly[poly_quads<D>];
};

/// Integers travel as the bits of numbers.
TRIBO_HD float bits_as(Index i, float) { return __builtin_bit_cast(float, i); }
TRIBO_HD double bits_as(Index i, double) { return __builtin_bit_cast(double, static_cast<std::int64_t>(i)); }
TRIBO_HD Index index_from(float bits) { return __builtin_bit_cast(Index, bits); }
TRIBO_HD Index index_from(double bits) { return static_cast<Index>(__builtin_bit_cast(std::int64_t, bits)); }

/// One particle. Only the quads that are loaded or used exist in the compiled kernel.
template <class Real, int D>
struct PackedParticle {
  using Layout = PackedLayout<D>;
  Real number[4 * Layout::quads];

  template <int From, int To>
  __device__ __forceinline__ void load(const PackedView<Real, D>& view, Index i) {
#pragma unroll
    for (int q = From; q < To; ++q) {
      const Quad<Real> quad = view.quad[q][i];
#pragma unroll
      for (int k = 0; k < 4; ++k) number[4 * q + k] = quad.v[k];
    }
  }
  template <int From = 0, int To = Layout::quads>
  __device__ __forceinline__ void store(const PackedView<Real, D>& view, Index i) const {
#pragma unroll
    for (int q = From; q < To; ++q) {
      Quad<Real> quad;
#pragma unroll
      for (int k = 0; k < 4; ++k) quad.v[k] = number[4 * q + k];
      view.quad[q][i] = quad;
    }
  }
};

/// Cells around a block that a particle may have moved to in one step: one in each direction.
template <int D>
struct Reach {
  static constexpr int side = BlockShape<D>::side + 2;
  static constexpr int cells = power(side, D);
  static constexpr int neighbors = power(3, D);
};

/// Everything kernels gather for the host in the course of a step. Numbers that are not negative, as the bits of
/// doubles: their order is that of integers, and the largest does not depend on who came first.
struct StepTally {
  unsigned long long grid_speed;  ///< largest velocity component of a node
  unsigned long long speed;       ///< largest |v| + |C| dx of a particle
  Index first_bad;                ///< lowest slot of a particle that is not finite
  std::uint32_t astray;           ///< a particle has moved farther than a cell
  std::uint32_t left_tiles;       ///< a block is in none of the tiles
  std::uint32_t finished;         ///< CTAs that have counted their segment
  Index near_bins, near_blocks;   ///< how many are listed
};

/// What the host reads after a step: page-locked memory that kernels write to.
struct StepOutcome {
  StepTally tally;
  Index bins;    ///< of the next step
  Index blocks;  ///< of its grid
};

/// What the device has to know of it: whether the sort can go on, and how large it is.
struct RebinPlan {
  Index bins;
  Index blocks;
  bool go;
};

/// The same memory as the host and the device see it.
template <class T>
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() { cudaFreeHost(host_); }

  void resize(std::size_t n) {
    if (n <= size_) return;
    cudaFreeHost(host_);
    host_ = nullptr;
    size_ = 0;
    check(cudaHostAlloc(&host_, n * sizeof(T), cudaHostAllocMapped), "allocation of page-locked memory");
    check(cudaHostGetDevicePointer(&device_, host_, 0), "page-locked memory");
    size_ = n;
  }
  const T& operator[](std::size_t i) const { return host_[i]; }
  T* device() { return device_; }

 private:
  T* host_ = nullptr;
  T* device_ = nullptr;
  std::size_t size_ = 0;
};

/// Bins of one moment, and the starts of their cells.
template <class Real, int D>
struct BinTable {
  Array<Bin<D>> bins;
  Array<Index> cell_begin;  ///< [bin][cell], counted from the bin's first particle
  BlockIndex<D> bin_index;  ///< a set for each material
  BlockIndex<D> grid_index;
  Array<Cell<D>> blocks;  ///< coordinates of each grid block
  Index bin_count = 0;
  Index block_count = 0;

  std::size_t bytes() const {
    return bins.bytes() + cell_begin.bytes() + bin_index.bytes() + grid_index.bytes() + blocks.bytes();
  }
};

template <class Real, int D>
struct PackedParticles final : PackedState {
  bool columns_valid = false;  ///< the columns are an up-to-date copy
  bool landing = false;        ///< G2P has written `next`, which is not sorted yet
  Index count = 0;

  struct Copy {
    Array<Quad<Real>> quad[PackedLayout<D>::quads];
    Array<Real> history[2];
    Array<Quad<Real>> poly[poly_quads<D>];
    void resize(Index n, bool with_poly) {
      for (auto& array : quad) array.resize_discard(n);
      for (auto& array : history) array.resize_discard(n);
      for (auto& array : poly) array.resize_discard(with_poly ? n : 0);
    }
    PackedView<Real, D> view() {
      PackedView<Real, D> v;
      for (int q = 0; q < PackedLayout<D>::quads; ++q) v.quad[q] = quad[q].data();
      for (int k = 0; k < 2; ++k) v.history[k] = history[k].data();
      for (int q = 0; q < poly_quads<D>; ++q) v.poly[q] = poly[q].data();
      return v;
    }
    std::size_t bytes() const {
      std::size_t sum = history[0].bytes() + history[1].bytes();
      for (const auto& array : quad) sum += array.bytes();
      for (const auto& array : poly) sum += array.bytes();
      return sum;
    }
  };
  Copy now, next;
  Field<Real, D * D> gradient;   ///< of the velocity at each slot of `next`, between a general gather and `deform`
  Array<Index> id, object;       ///< of each particle, by its home
  Array<Index> order;            ///< slots in the order of bins and cells
  Array<std::uint8_t> moved_to;  ///< cell within reach, of each slot

  TileIndex<D> tiles;
  BinTable<Real, D> table, next_table;
  Array<Index> reached;        ///< [bin][cell in reach]: particles that have moved there
  Array<Index> reached_begin;  ///< where they go in their new bin
  Array<Index> next_bin;       ///< [bin][neighbor]
  Array<Index> bin_total;      ///< particles of each new bin
  Array<Index> section_total;  ///< of 256 new bins each
  Array<Index> segment_begin;  ///< blocks before each segment of tiles, all sets of bins and then the grid's
  Array<std::uint8_t> near;    ///< whether a collider may reach a bin's particles, or a block's nodes: bins first
  Array<Index> near_bins, near_blocks;  ///< those, in any order
  Array<Quad<Real>> arenas, grid;
  Array<Quad<Real>> arenas_before, grid_before;  ///< before forces act; only FLIP needs them
  Array<StepTally> tally;
  Array<RebinPlan> plan;
  Array<unsigned long long> stiffness;  ///< largest, of each material; bits as in StepTally
  int groups = 0;                       ///< materials
  Mailbox<StepOutcome> outcome;
  Mailbox<Index> group_begin;  ///< first bin of each material, and the end
  Mailbox<unsigned long long> stiffness_out;
  std::vector<Index> group_bins;       ///< the same for the present table
  std::vector<Index> group_particles;  ///< first particle of each material, and the end: they never change places
  cudaEvent_t told = nullptr;          ///< the outcome is there

  ~PackedParticles() override {
    await_reader();
    if (told != nullptr) cudaEventDestroy(told);
  }

  std::size_t bytes() const override {
    return order.bytes() + moved_to.bytes() + table.bytes() + next_table.bytes() + reached.bytes() +
           reached_begin.bytes() + next_bin.bytes() + bin_total.bytes() + section_total.bytes() + tiles.bytes() +
           segment_begin.bytes() + near.bytes() + near_bins.bytes() + near_blocks.bytes() + arenas.bytes() +
           grid.bytes() + arenas_before.bytes() + grid_before.bytes() + now.bytes() + next.bytes() + id.bytes() +
           object.bytes() + gradient.bytes();
  }
};

}  // namespace tribo::TRIBO_BACKEND
