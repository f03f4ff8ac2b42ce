#include "tribo/grid/cuda/rebin.cuh"

#include <limits>
#include <utility>

#include "tribo/grid/stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr int rebin_threads = 256;
constexpr int warps = rebin_threads / 32;
/// Bins whose totals are added up at once.
constexpr int section = rebin_threads;

/// A segment of a tile: a word for each thread.
template <int D>
inline constexpr int tile_segments = tile_words<D> / rebin_threads;
static_assert(tile_words<2> % rebin_threads == 0 && tile_words<3> % rebin_threads == 0);

/// The sets of bins and the grid's set as one list of segments: first all of the bins', material by material.
template <int D>
struct AllSets {
  BlockSets<D> bins, grid;
  Index bin_segments;  ///< of all materials
  Index segments;      ///< of all sets
  Index tiles;         ///< of one set

  /// By value: a reference to one of two arguments of a kernel would put both into slow memory.
  __device__ __forceinline__ BlockSets<D> of(Index segment) const {
    BlockSets<D> r = bins;
    if (is_grid(segment)) {
      r.bits = grid.bits;
      r.before = grid.before;
      r.used = grid.used;
    }
    return r;
  }
  TRIBO_HD bool is_grid(Index segment) const { return segment >= bin_segments; }
  TRIBO_HD Index within(Index segment) const { return is_grid(segment) ? segment - bin_segments : segment; }
};

template <class Real, int D>
AllSets<D> all_sets(PackedParticles<Real, D>& p, BinTable<Real, D>& table) {
  const Index tiles = p.tiles.count;
  return {table.bin_index.view(p.tiles.view()), table.grid_index.view(p.tiles.view()),
          p.groups * tiles * tile_segments<D>, (p.groups + 1) * tiles * tile_segments<D>, tiles};
}

/// Sum of the values of rebin_threads before this one, and of all. For every thread of a CTA of `rebin_threads`.
__device__ __forceinline__ Index scan_cta(Index value, Index* shared, Index& total) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) >> 5;
  Index sum = value;
#pragma unroll
  for (int step = 1; step < 32; step <<= 1) {
    const Index below = __shfl_up_sync(~0u, sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == 31) shared[warp] = sum;
  __syncthreads();
  Index before = 0;
  total = 0;
#pragma unroll
  for (int w = 0; w < warps; ++w) {
    if (w < warp) before += shared[w];
    total += shared[w];
  }
  __syncthreads();
  return before + sum - value;
}

/// values[i] <- values[0] + ... + values[i-1]; returns the sum of all. By one CTA, each thread of which takes several
/// values at a time, so that worlds of many tiles do not wait long for it.
__device__ __forceinline__ Index scan_in_place(Index* values, Index n, Index* shared) {
  constexpr int each = 8;
  Index carry = 0;
  for (Index first = 0; first < n; first += each * rebin_threads) {
    const Index own = first + each * static_cast<Index>(threadIdx.x);
    Index value[each];
    Index sum = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) {
      value[k] = own + k < n ? __ldcg(values + own + k) : 0;
      sum += value[k];
    }
    Index total;
    Index before = carry + scan_cta(sum, shared, total);
#pragma unroll
    for (int k = 0; k < each; ++k) {
      if (own + k < n) values[own + k] = before;
      before += value[k];
    }
    carry += total;
  }
  return carry;
}

template <int D>
__global__ void __launch_bounds__(rebin_threads) clear_sets(const AllSets<D> sets) {
  const auto segment = static_cast<Index>(blockIdx.x) * tile_segments<D>;
  const BlockSets<D> own = sets.of(segment);
  const Index first = sets.within(segment);
  const Index tile = first / tile_segments<D>;
  if (own.used[tile] == 0) return;
  for (int i = 0; i < tile_segments<D>; ++i) own.bits[Size{first + i} * rebin_threads + threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) own.used[tile] = 0;
}

/// What the last CTA of count_segments needs to sum up the step.
struct StepEnd {
  StepTally* tally;
  unsigned long long* stiffness;
  Index* section_total;
  Index sections;
  Index bin_room, block_room;
  double speed_limit;
  RebinPlan* plan;
  StepOutcome* outcome;
  Index* group_begin;
  unsigned long long* stiffness_out;
  int groups;
};

/// Blocks in each segment; whoever comes last adds them up and tells the host how the step went.
template <int D>
__global__ void __launch_bounds__(rebin_threads)
    count_segments(const AllSets<D> sets, Index* segment_begin, const StepEnd end) {
  __shared__ Index shared[warps];
  __shared__ bool last;
  const auto segment = static_cast<Index>(blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  {
    const BlockSets<D> own = sets.of(segment);
    const Index at = sets.within(segment);
    const bool used = own.used[at / tile_segments<D>] != 0;
    Index total;
    scan_cta(used ? __popc(own.bits[Size{at} * rebin_threads + t]) : 0, shared, total);
    if (t == 0) {
      segment_begin[segment] = total;
      __threadfence();
      last = atomicAdd(&end.tally->finished, 1u) == gridDim.x - 1;
    }
  }
  __syncthreads();
  if (!last) return;

  const Index each = sets.segments - sets.bin_segments;
  const Index bins = scan_in_place(segment_begin, sets.bin_segments, shared);
  const Index blocks = scan_in_place(segment_begin + sets.bin_segments, each, shared);
  __syncthreads();
  for (int g = t; g < end.groups; g += rebin_threads) {
    end.group_begin[g] = segment_begin[g * each];
    end.stiffness_out[g] = end.stiffness[g];
    end.stiffness[g] = 0;
  }
  for (Index i = t; i < end.sections; i += rebin_threads) end.section_total[i] = 0;
  if (t == 0) {
    end.group_begin[end.groups] = bins;
    const StepTally tally = *end.tally;
    *end.outcome = {tally, bins, blocks};
    const bool too_fast = __longlong_as_double(static_cast<long long>(tally.grid_speed)) > end.speed_limit;
    *end.plan = {
        bins, blocks,
        !too_fast && tally.astray == 0 && tally.left_tiles == 0 && bins <= end.bin_room && blocks <= end.block_room};
    *end.tally = {0, 0, no_index, 0, 0, 0, 0, 0};
  }
  __threadfence_system();
}

/// Numbers of the words' first blocks, and the list of blocks. A warp takes a word after the other, a lane for each
/// bit.
template <int D>
__global__ void __launch_bounds__(rebin_threads) list_blocks(const AllSets<D> sets, const Index* segment_begin,
                                                             const RebinPlan* plan, Bin<D>* bins, Cell<D>* blocks) {
  __shared__ Index shared[warps];
  if (!plan->go) return;
  const auto segment = static_cast<Index>(blockIdx.x);
  const BlockSets<D> own = sets.of(segment);
  const Index at = sets.within(segment);
  const Index tile = at / tile_segments<D>;
  if (own.used[tile] == 0) return;
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t & 31;
  const std::uint32_t word = own.bits[Size{at} * rebin_threads + t];
  Index total;
  const Index number = segment_begin[segment] + scan_cta(__popc(word), shared, total);
  own.before[Size{at} * rebin_threads + t] = static_cast<std::uint32_t>(number);
  const Cell<D> corner = own.tiles.corner(tile % sets.tiles);
  for (int w = 0; w < 32; ++w) {
    const std::uint32_t bits = __shfl_sync(~0u, word, w);
    const Index first = __shfl_sync(~0u, number, w);
    if ((bits >> lane & 1) == 0) continue;
    const auto place = static_cast<std::uint32_t>((at % tile_segments<D> * rebin_threads + (t - lane) + w) * 32 + lane);
    Cell<D> block = corner;
#pragma unroll
    for (int k = 0; k < D; ++k) block[k] += static_cast<std::int32_t>(gather_bits<D>(place >> (D - 1 - k)));
    const Index i = first + __popc(bits & ((1u << lane) - 1));
    if (sets.is_grid(segment)) {
      blocks[i] = block;
    } else {
      bins[i].group = tile / sets.tiles;
      bins[i].block = block;
    }
  }
}

/// Particles of a new bin's cells, gathered from the old bins around it, and where those of each old bin go. A warp for
/// each new bin.
template <int D>
__global__ void __launch_bounds__(rebin_threads)
    count_cells(const BlockSets<D> old_bins, const RebinPlan* plan, const Bin<D>* bins, const Index* reached,
                Index* reached_begin, Index* next_bin, Index* cell_begin, Index* bin_total, Index* section_total) {
  using Shape = BlockShape<D>;
  constexpr int neighbors = Reach<D>::neighbors;
  constexpr int sources = 1 << D;
  constexpr int cells_per_lane = Shape::nodes > 32 ? Shape::nodes / 32 : 1;
  __shared__ Index old_shared[warps][neighbors];
  const int warp = static_cast<int>(threadIdx.x) >> 5;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const Index b = static_cast<Index>(blockIdx.x) * warps + warp;
  if (!plan->go || b >= plan->bins) return;
  const Bin<D> bin = bins[b];
  Index* const old = old_shared[warp];
  if (lane < neighbors) {
    Cell<D> block = unflatten<D>(lane, 3);
    for (int k = 0; k < D; ++k) block[k] += bin.block[k] - 1;
    const Index found = old_bins.find(bin.group, block);
    old[lane] = found;
    if (found >= 0) next_bin[Size{found} * neighbors + neighbors - 1 - lane] = b;
  }
  __syncwarp();

  Index from[cells_per_lane][sources];
  Size source[cells_per_lane][sources];
  Index total[cells_per_lane];
  Index sum = 0;
#pragma unroll
  for (int h = 0; h < cells_per_lane; ++h) {
    const int cell = cells_per_lane * lane + h;
    const Cell<D> c = unflatten<D>(cell, Shape::side);
    total[h] = 0;
#pragma unroll
    for (int e = 0; e < sources; ++e) {
      // Along each axis a cell is fed by its own block, and at the block's ends by the neighbor there.
      bool exists = cell < Shape::nodes;
      int neighbor = 0;
      Cell<D> local;
#pragma unroll
      for (int k = 0; k < D; ++k) {
        const int side = c[k] == 0 ? -1 : c[k] == Shape::side - 1 ? 1 : 0;
        const bool other = (e >> (D - 1 - k) & 1) != 0;
        exists = exists && (!other || side != 0);
        const int shift = other ? side : 0;
        neighbor = 3 * neighbor + shift + 1;
        local[k] = c[k] - Shape::side * shift + 1;
      }
      const Index bin_from = exists ? old[neighbor] : -1;
      source[h][e] = bin_from < 0 ? -1 : Size{bin_from} * Reach<D>::cells + flatten(local, Reach<D>::side);
      from[h][e] = bin_from < 0 ? 0 : reached[source[h][e]];
    }
#pragma unroll
    for (int e = 0; e < sources; ++e) total[h] += from[h][e];
    sum += total[h];
  }
  Index end = sum;
#pragma unroll
  for (int step = 1; step < 32; step <<= 1) {
    const Index below = __shfl_up_sync(~0u, end, step);
    if (lane >= step) end += below;
  }
  Index begin = end - sum;
#pragma unroll
  for (int h = 0; h < cells_per_lane; ++h) {
    const int cell = cells_per_lane * lane + h;
    if (cell < Shape::nodes) cell_begin[Size{b} * Shape::nodes + cell] = begin;
#pragma unroll
    for (int e = 0; e < sources; ++e) {
      if (source[h][e] >= 0) reached_begin[source[h][e]] = begin;
      begin += from[h][e];
    }
  }
  if (lane == 31) {
    bin_total[b] = end;
    atomicAdd(&section_total[b / section], end);
  }
}

/// First and last particles of the new bins.
template <int D>
__global__ void __launch_bounds__(rebin_threads)
    begin_bins(const RebinPlan* plan, const Index* bin_total, const Index* section_total, Bin<D>* bins) {
  __shared__ Index shared[warps];
  const auto s = static_cast<Index>(blockIdx.x);
  if (!plan->go || s * section >= plan->bins) return;
  Index before = 0;
  for (Index i = static_cast<Index>(threadIdx.x); i < s; i += rebin_threads) before += section_total[i];
  Index earlier;
  scan_cta(before, shared, earlier);
  const Index b = s * section + static_cast<Index>(threadIdx.x);
  const Index own = b < plan->bins ? bin_total[b] : 0;
  Index total;
  const Index begin = earlier + scan_cta(own, shared, total);
  if (b >= plan->bins) return;
  bins[b].begin = begin;
  bins[b].end = begin + own;
}

constexpr int place_threads = 128;

/// The new order: each old bin hands its particles out to the new bins around it. A warp owns a stretch of the bin's
/// particles and places 32 of them at a time; those that go to the same cell keep their order.
template <int D>
__global__ void __launch_bounds__(place_threads)
    place_particles(const RebinPlan* plan, const Bin<D>* old_bins, const Bin<D>* bins, const Index* next_bin,
                    const Index* reached_begin, const std::uint8_t* moved_to, Index* order) {
  constexpr int place_warps = place_threads / 32;
  constexpr int cells = Reach<D>::cells;
  constexpr std::uint8_t nothing = 255;
  static_assert(cells < nothing);
  constexpr int ahead = 5;  // rounds whose cells are fetched at once: enough for an ordinary bin
  __shared__ Index next_place[place_warps][cells + 1];
  if (!plan->go) return;
  const auto b = static_cast<Index>(blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  const int warp = t >> 5;
  const int lane = t & 31;
  const Index begin = old_bins[b].begin;
  const Index n = old_bins[b].end - begin;
  const Index stretch = ((n + place_warps - 1) / place_warps + 31) / 32 * 32;
  const Index low = warp * stretch;
  const Index high = low + stretch < n ? low + stretch : n;
  std::uint8_t fetched[ahead];
#pragma unroll
  for (int i = 0; i < ahead; ++i) {
    const Index q = low + 32 * i + lane;
    fetched[i] = q < high ? moved_to[begin + q] : nothing;
  }
  for (int i = t; i < place_warps * (cells + 1); i += place_threads) (&next_place[0][0])[i] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < ahead; ++i)
    if (fetched[i] != nothing) atomicAdd(&next_place[warp][fetched[i]], 1);
  for (Index q = low + 32 * ahead + lane; q < high; q += 32) atomicAdd(&next_place[warp][moved_to[begin + q]], 1);
  __syncthreads();
  for (int i = t; i < cells; i += place_threads) {
    Index sum = 0;
#pragma unroll
    for (int w = 0; w < place_warps; ++w) sum += next_place[w][i];
    if (sum == 0) continue;
    const Index to = next_bin[Size{b} * Reach<D>::neighbors + neighbor_of_reach<D>(i)];
    Index place = bins[to].begin + reached_begin[Size{b} * cells + i];
#pragma unroll
    for (int w = 0; w < place_warps; ++w) {
      const Index here = next_place[w][i];
      next_place[w][i] = place;
      place += here;
    }
  }
  __syncthreads();
  const auto place_round = [&](Index q, std::uint8_t cell) {
    const unsigned alike = __match_any_sync(~0u, static_cast<unsigned>(cell));
    Index place = 0;
    if (q < high) {
      place = next_place[warp][cell] + __popc(alike & ((1u << lane) - 1));
      order[place] = begin + q;
    }
    __syncwarp();
    if (q < high && alike >> lane == 1u) next_place[warp][cell] = place + 1;
    __syncwarp();
  };
#pragma unroll
  for (int i = 0; i < ahead; ++i)
    if (low + 32 * i < high) place_round(low + 32 * i + lane, fetched[i]);
  for (Index first = low + 32 * ahead; first < high; first += 32) {
    const Index q = first + lane;
    place_round(q, q < high ? moved_to[begin + q] : nothing);
  }
}

/// Marks anew where bins' particles have moved to, from the counts: after the window has changed.
template <int D>
__global__ void __launch_bounds__(64) mark_moves(const Bin<D>* bins, const Index* reached, const Marker<D> marker) {
  __shared__ std::uint32_t touched;
  const auto b = static_cast<Index>(blockIdx.x);
  if (threadIdx.x == 0) touched = 0;
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < Reach<D>::cells; i += 64)
    if (reached[Size{b} * Reach<D>::cells + i] > 0) atomicOr(&touched, 1u << neighbor_of_reach<D>(i));
  __syncthreads();
  marker.mark(bins[b], touched, static_cast<int>(threadIdx.x), 64);
}

/// Marks bins as they stand.
template <int D>
struct MarkBin {
  const Bin<D>* bins;
  Marker<D> marker;
  __device__ void operator()(Index i) const {
    constexpr std::uint32_t itself = 1u << (Reach<D>::neighbors / 2);
    marker.mark(bins[i], itself, 0, 1);
  }
};

template <class Real, int D>
StepEnd step_end(PackedParticles<Real, D>& p, const BinTable<Real, D>& table, double speed_limit) {
  return {p.tally.data(),
          p.stiffness.data(),
          p.section_total.data(),
          static_cast<Index>(p.section_total.size()),
          static_cast<Index>(table.bins.size()),
          static_cast<Index>(table.blocks.size()),
          speed_limit,
          p.plan.data(),
          p.outcome.device(),
          p.group_begin.device(),
          p.stiffness_out.device(),
          p.groups};
}

template <class Real, int D>
void count_sets(Exec& ex, double speed_limit, BinTable<Real, D>& table, PackedParticles<Real, D>& p) {
  const AllSets<D> sets = all_sets(p, table);
  ex.run("sort", [&] {
    count_segments<D><<<static_cast<unsigned>(sets.segments), rebin_threads, 0, ex.stream()>>>(
        sets, p.segment_begin.data(), step_end(p, table, speed_limit));
    check(cudaGetLastError(), "sort");
  });
}
template <class Real, int D>
void list_sets(Exec& ex, BinTable<Real, D>& table, PackedParticles<Real, D>& p) {
  const AllSets<D> sets = all_sets(p, table);
  ex.run("sort", [&] {
    list_blocks<D><<<static_cast<unsigned>(sets.segments), rebin_threads, 0, ex.stream()>>>(
        sets, p.segment_begin.data(), p.plan.data(), table.bins.data(), table.blocks.data());
    check(cudaGetLastError(), "sort");
  });
}
template <class Real, int D>
void clear_sets_of(Exec& ex, BinTable<Real, D>& table, PackedParticles<Real, D>& p) {
  const AllSets<D> sets = all_sets(p, table);
  ex.run("sort", [&] {
    clear_sets<D><<<static_cast<unsigned>(sets.segments / tile_segments<D>), rebin_threads, 0, ex.stream()>>>(sets);
    check(cudaGetLastError(), "sort");
  });
}

template <class Real, int D>
void distribute(Exec& ex, PackedParticles<Real, D>& p) {
  const auto room = static_cast<unsigned>(p.next_table.bins.size());
  ex.run("sort", [&] {
    count_cells<D><<<(room + warps - 1) / warps, rebin_threads, 0, ex.stream()>>>(
        p.table.bin_index.view(p.tiles.view()), p.plan.data(), p.next_table.bins.data(), p.reached.data(),
        p.reached_begin.data(), p.next_bin.data(), p.next_table.cell_begin.data(), p.bin_total.data(),
        p.section_total.data());
    begin_bins<D><<<(room + section - 1) / section, rebin_threads, 0, ex.stream()>>>(
        p.plan.data(), p.bin_total.data(), p.section_total.data(), p.next_table.bins.data());
    place_particles<D><<<static_cast<unsigned>(p.table.bin_count), place_threads, 0, ex.stream()>>>(
        p.plan.data(), p.table.bins.data(), p.next_table.bins.data(), p.next_bin.data(), p.reached_begin.data(),
        p.moved_to.data(), p.order.data());
    check(cudaGetLastError(), "sort");
  });
}

void tell(Exec& ex, cudaEvent_t& told) {
  if (told == nullptr) check(cudaEventCreateWithFlags(&told, cudaEventDisableTiming), "event creation");
  check(cudaEventRecord(told, ex.stream()), "sort");
}

template <int D>
struct CornersOfBins {
  const Bin<D>* bins;
  struct Box {
    Cell<D> low, high;
  };
  TRIBO_HD Box operator()(Index i) const { return {bins[i].block, bins[i].block}; }
};
template <int D>
struct JoinCorners {
  using Box = typename CornersOfBins<D>::Box;
  TRIBO_HD Box operator()(const Box& a, const Box& b) const {
    Box r = a;
    for (int k = 0; k < D; ++k) {
      if (b.low[k] < r.low[k]) r.low[k] = b.low[k];
      if (b.high[k] > r.high[k]) r.high[k] = b.high[k];
    }
    return r;
  }
};

template <int D>
typename CornersOfBins<D>::Box corners(Exec& ex, const Array<Bin<D>>& bins, Index count) {
  using Box = typename CornersOfBins<D>::Box;
  return reduce(ex, "sort", count, Box{Cell<D>::filled(0x3fffffff), Cell<D>::filled(-0x3fffffff)},
                CornersOfBins<D>{bins.data()}, JoinCorners<D>{});
}

/// Most tiles of a window, all sets together, that are all given bits: going through them costs a few microseconds, and
/// finding one nothing.
constexpr double most_tiles_unlisted = 2048;
/// Blocks around the present ones whose tiles are listed: no particle leaves them for four steps to each.
constexpr int listed_around = 8;
static_assert(listed_around < 1 << tile_bits<3>);

/// Puts the tiles around each bin into a hash table.
template <int D>
struct InsertTiles {
  const Bin<D>* bins;
  TileWindow<D> window;
  std::uint64_t* keys;
  std::uint32_t mask;
  Index* found;

  __device__ void operator()(Index i) const {
    for (int corner = 0; corner < 1 << D; ++corner) {
      Cell<D> block = bins[i].block;
      for (int k = 0; k < D; ++k) block[k] += (corner >> k & 1) != 0 ? listed_around : -listed_around;
      insert(static_cast<std::uint64_t>(window.tile_of(block)) + 1);
    }
  }

 private:
  __device__ void insert(std::uint64_t key) const {
    std::uint32_t at = TileMap<D>::place(key) & mask;
    for (std::uint32_t tries = 0; tries <= mask; ++tries, at = (at + 1) & mask) {
      auto* const place = reinterpret_cast<unsigned long long*>(keys + at);
      unsigned long long held = *static_cast<volatile unsigned long long*>(place);
      if (held == 0) held = atomicCAS(place, 0ull, static_cast<unsigned long long>(key));
      if (held == 0) atomicAdd(found, 1);
      if (held == 0 || held == key) return;
    }
  }
};
/// The table's codes, in any order.
struct CollectTiles {
  const std::uint64_t* keys;
  std::uint64_t* codes;
  Index* collected;
  __device__ void operator()(Index i) const {
    if (keys[i] != 0) codes[atomicAdd(collected, 1)] = keys[i] - 1;
  }
};
/// Tells the table where its tiles are in the sorted list.
template <int D>
struct NumberTiles {
  const std::uint64_t* codes;
  const std::uint64_t* keys;
  std::uint32_t mask;
  Index* slots;
  __device__ void operator()(Index i) const {
    const std::uint64_t key = codes[i] + 1;
    std::uint32_t at = TileMap<D>::place(key) & mask;
    while (keys[at] != key) at = (at + 1) & mask;
    slots[at] = i;
  }
};

template <class T>
void fill_zero(Exec& ex, Array<T>& array) {
  check(cudaMemsetAsync(array.data(), 0, static_cast<std::size_t>(array.size()) * sizeof(T), ex.stream()), "sort");
}

template <int D>
void list_tiles(Exec& ex, const Array<Bin<D>>& bins, Index bin_count, TileIndex<D>& tiles) {
  tiles.found.resize_discard(2);
  Index found = 0;
  for (Index size = 1024;; size *= 2) {
    tiles.keys.resize_discard(size);
    tiles.slots.resize_discard(size);
    fill_zero(ex, tiles.keys);
    fill_zero(ex, tiles.found);
    parallel_for(ex, "sort", bin_count,
                 InsertTiles<D>{bins.data(), tiles.window, tiles.keys.data(), static_cast<std::uint32_t>(size - 1),
                                tiles.found.data()});
    copy_to_host(ex, tiles.found, &found, 1);
    if (found <= size / 2) break;
  }
  tiles.count = found;
  tiles.codes.resize_discard(found);
  tiles.order.resize_discard(found);
  parallel_for(ex, "sort", static_cast<Index>(tiles.keys.size()),
               CollectTiles{tiles.keys.data(), tiles.codes.data(), tiles.found.data() + 1});
  int bits = 1;
  while (tiles.window.count() >> bits != 0) ++bits;
  tiles.sorter.sort(ex, "sort", tiles.codes, tiles.order, found, bits);
  parallel_for(ex, "sort", found,
               NumberTiles<D>{tiles.codes.data(), tiles.keys.data(), static_cast<std::uint32_t>(tiles.keys.size() - 1),
                              tiles.slots.data()});
}

/// Tiles for some bins and what is around them, and no bits set.
template <class Real, int D>
void set_tiles(Exec& ex, const Array<Bin<D>>& bins, Index bin_count, PackedParticles<Real, D>& p) {
  const auto box = corners(ex, bins, bin_count);
  p.tiles.window = TileWindow<D>::around(box.low, box.high);
  double all = p.groups + 1;
  for (int k = 0; k < D; ++k) {  // particles will move
    p.tiles.window.low[k] -= 1;
    p.tiles.window.tiles[k] += 2;
    all *= p.tiles.window.tiles[k];
  }
  p.tiles.listed = all > most_tiles_unlisted;
  if (p.tiles.listed)
    list_tiles(ex, bins, bin_count, p.tiles);
  else
    p.tiles.count = static_cast<Index>(p.tiles.window.count());
  for (BinTable<Real, D>* table : {&p.table, &p.next_table}) {
    table->bin_index.resize(Size{p.tiles.count} * p.groups);
    table->grid_index.resize(p.tiles.count);
    for (BlockIndex<D>* index : {&table->bin_index, &table->grid_index})
      for (Array<std::uint32_t>* array : {&index->bits, &index->used}) fill_zero(ex, *array);
  }
  p.segment_begin.resize_discard(Size{p.tiles.count} * (p.groups + 1) * tile_segments<D>);
}

template <class T>
void at_least(Array<T>& array, Size n) {
  if (n > array.size()) array.resize_discard(n);
}

/// Room for so many bins and grid blocks in what a step writes. What the present step has counted is kept.
template <class Real, int D>
void make_room(Exec& ex, Index bins, Index blocks, PackedParticles<Real, D>& p) {
  if (bins > p.next_table.bins.size()) {
    const Index room = bins + bins / 4 + 64;
    p.next_table.bins.resize_discard(room);
    p.next_table.cell_begin.resize_discard(Size{room} * BlockShape<D>::nodes);
    at_least(p.bin_total, room);
    at_least(p.section_total, room / section + 1);
    // By bins of the present step, which these will be.
    if (Size{room} * Reach<D>::cells > p.reached.size()) resize_keep(ex, p.reached, Size{room} * Reach<D>::cells);
    at_least(p.reached_begin, Size{room} * Reach<D>::cells);
    at_least(p.next_bin, Size{room} * Reach<D>::neighbors);
  }
  if (blocks > p.next_table.blocks.size()) p.next_table.blocks.resize_discard(blocks + blocks / 4 + 64);
}

template <class Real, int D>
void mark_all(Exec& ex, const Array<Bin<D>>& bins, Index count, BinTable<Real, D>& table, PackedParticles<Real, D>& p) {
  parallel_for(
      ex, "sort", count,
      MarkBin<D>{bins.data(),
                 {table.bin_index.view(p.tiles.view()), table.grid_index.view(p.tiles.view()), p.tally.data()}});
}

const StepOutcome& wait(cudaEvent_t told, const Mailbox<StepOutcome>& outcome) {
  check(cudaEventSynchronize(told), "step");
  return outcome[0];
}

}  // namespace

template <class Real, int D>
void clear_next_sets(Exec& ex, PackedParticles<Real, D>& p) {
  clear_sets_of(ex, p.next_table, p);
}

template <class Real, int D>
void rebin(Exec& ex, double speed_limit, PackedParticles<Real, D>& p) {
  count_sets(ex, speed_limit, p.next_table, p);
  tell(ex, p.told);
  list_sets(ex, p.next_table, p);
  distribute(ex, p);
}

template <class Real, int D>
void rebin_with_room(Exec& ex, PackedParticles<Real, D>& p) {
  if (p.outcome[0].tally.left_tiles != 0) {
    set_tiles(ex, p.table.bins, p.table.bin_count, p);
    mark_all(ex, p.table.bins, p.table.bin_count, p.table, p);
    count_sets(ex, std::numeric_limits<double>::infinity(), p.table, p);
    // The present bins are listed already; their numbers are what is wanted.
    list_sets(ex, p.table, p);
    ex.run("sort", [&] {
      mark_moves<D><<<static_cast<unsigned>(p.table.bin_count), 64, 0, ex.stream()>>>(
          p.table.bins.data(), p.reached.data(),
          {p.next_table.bin_index.view(p.tiles.view()), p.next_table.grid_index.view(p.tiles.view()), p.tally.data()});
      check(cudaGetLastError(), "sort");
    });
    count_sets(ex, std::numeric_limits<double>::infinity(), p.next_table, p);
    tell(ex, p.told);
    wait(p.told, p.outcome);
  }
  make_room(ex, p.outcome[0].bins, p.outcome[0].blocks, p);
  count_sets(ex, std::numeric_limits<double>::infinity(), p.next_table, p);
  tell(ex, p.told);
  list_sets(ex, p.next_table, p);
  distribute(ex, p);
  wait(p.told, p.outcome);
}

template <class Real, int D>
void adopt_bins(Exec& ex, const Array<Bin<D>>& bins, Index bin_count, PackedParticles<Real, D>& p) {
  p.tally.resize_discard(1);
  p.plan.resize_discard(1);
  p.stiffness.resize_discard(p.groups);
  p.outcome.resize(1);
  p.group_begin.resize(static_cast<std::size_t>(p.groups) + 1);
  p.stiffness_out.resize(static_cast<std::size_t>(p.groups));
  fill_zero(ex, p.stiffness);
  fill_zero(ex, p.tally);
  set_tiles(ex, bins, bin_count, p);
  make_room(ex, bin_count, 1, p);
  mark_all(ex, bins, bin_count, p.next_table, p);
  count_sets(ex, std::numeric_limits<double>::infinity(), p.next_table, p);
  tell(ex, p.told);
  make_room(ex, bin_count, wait(p.told, p.outcome).blocks, p);
  count_sets(ex, std::numeric_limits<double>::infinity(), p.next_table, p);
  list_sets(ex, p.next_table, p);
  tell(ex, p.told);
  if (wait(p.told, p.outcome).bins != bin_count)
    throw Error(ExitCode::internal, "bins are not one to a block and material");
  check(cudaMemcpyAsync(p.next_table.bins.data(), bins.data(), static_cast<std::size_t>(bin_count) * sizeof(Bin<D>),
                        cudaMemcpyDeviceToDevice, ex.stream()),
        "sort");
  p.next_table.bin_count = bin_count;
  p.next_table.block_count = p.outcome[0].blocks;
  std::swap(p.table, p.next_table);
  make_room(ex, bin_count, p.table.block_count, p);
}

#define TRIBO_INSTANTIATE(Real, D)                                 \
  template void clear_next_sets(Exec&, PackedParticles<Real, D>&); \
  template void rebin(Exec&, double, PackedParticles<Real, D>&);   \
  template void rebin_with_room(Exec&, PackedParticles<Real, D>&); \
  template void adopt_bins(Exec&, const Array<Bin<D>>&, Index, PackedParticles<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
