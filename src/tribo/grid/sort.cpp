#include <cmath>
#include <limits>
#include <string>

#include "tribo/core/errors.h"
#include "tribo/grid/node_memory.h"
#include "tribo/grid/stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr int bits_for(std::int64_t count) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < count) ++bits;
  return bits;
}

/// Blocks the particles occupy, and the first particle that is in none.
template <int D>
struct Extent {
  Cell<D> low;
  Cell<D> high;
  Index lost;
};

template <class Real, int D>
struct BaseCell {
  FieldView<Real, D> x;
  Real inverse_dx;
  Real shift;  ///< of the kernel

  /// False when a coordinate is not finite, or so far out that its place in the cell is lost to rounding: beyond 2^18
  /// cells in float, beyond what 32-bit cells can count in double.
  TRIBO_HD bool at(Index i, Cell<D>& cell) const {
    cell = Cell<D>::zero();
    for (int k = 0; k < D; ++k) {
      const Real base = floor(in_cells(x[k][i], inverse_dx) - shift);
      constexpr Real digits = Real(1) / (32 * std::numeric_limits<Real>::epsilon());
      constexpr Real farthest = digits < Real(1e9) ? digits : Real(1e9);
      if (!(base > -farthest && base < farthest)) return false;
      cell[k] = static_cast<std::int32_t>(base);
    }
    return true;
  }
};

template <class Real, int D>
struct ExtentOf {
  BaseCell<Real, D> base;

  TRIBO_HD Extent<D> operator()(Index i) const {
    Cell<D> cell;
    if (!base.at(i, cell)) return {Cell<D>::filled(0x7fffffff), Cell<D>::filled(-0x7fffffff), i};
    for (int k = 0; k < D; ++k) cell[k] >>= 2;
    return {cell, cell, Workspace<Real, D>::none};
  }
};

template <int D>
struct JoinExtents {
  TRIBO_HD Extent<D> operator()(const Extent<D>& a, const Extent<D>& b) const {
    Extent<D> r = a;
    for (int k = 0; k < D; ++k) {
      if (b.low[k] < r.low[k]) r.low[k] = b.low[k];
      if (b.high[k] > r.high[k]) r.high[k] = b.high[k];
    }
    if (b.lost < r.lost) r.lost = b.lost;
    return r;
  }
};

/// Sort key of a particle: material, block, cell in the block. What a sink takes goes behind everything else, sink by
/// sink.
template <class Real, int D>
struct KeyParticle {
  BaseCell<Real, D> base;
  const Index* object;
  const Index* object_group;
  TileWindow<D> window;
  int block_bits;
  typename Sinks<Real, D>::View sinks;
  double time;
  int taken_bit;
  std::uint64_t* keys;
  Index* order;

  TRIBO_HD void operator()(Index i) const {
    order[i] = i;
    Vec<Real, D> x;
    for (int k = 0; k < D; ++k) x[k] = base.x[k][i];
    const Index sink = sinks.taking(x, time);
    if (sink != Sinks<Real, D>::none) {
      keys[i] = std::uint64_t{1} << taken_bit | static_cast<std::uint64_t>(sink);
      return;
    }
    Cell<D> cell;
    base.at(i, cell);
    Cell<D> block, within;
    for (int k = 0; k < D; ++k) {
      block[k] = cell[k] >> 2;
      within[k] = cell[k] & 3;
    }
    const auto group = static_cast<std::uint64_t>(object_group[object[i]]);
    const std::uint64_t code = group << block_bits | window.code(block);
    keys[i] = code << cell_bits | static_cast<std::uint64_t>(flatten(within, 4));
  }
};

struct IsTaken {
  const std::uint64_t* keys;
  int taken_bit;
  TRIBO_HD Index operator()(Index i) const { return static_cast<Index>(keys[i] >> taken_bit); }
};
template <class T>
struct Permute {
  const T* from;
  const Index* order;
  T* to;
  TRIBO_HD void operator()(Index i) const { to[i] = from[order[i]]; }
};

/// 1 where a new run of equal keys (without their lowest bits) begins.
struct FlagRunStart {
  const std::uint64_t* keys;
  int ignored_bits;
  Index* flags;
  TRIBO_HD void operator()(Index i) const {
    flags[i] = i == 0 || keys[i] >> ignored_bits != keys[i - 1] >> ignored_bits ? 1 : 0;
  }
};

template <class Real, int D>
struct WriteBin {
  BaseCell<Real, D> base;
  const std::uint64_t* keys;
  const Index* run;  // number of run starts before i
  int block_bits;
  Index particle_count;
  Bin<D>* bins;

  TRIBO_HD void operator()(Index i) const {
    const bool starts = i == 0 || keys[i] >> cell_bits != keys[i - 1] >> cell_bits;
    if (starts) {
      Bin<D>& bin = bins[run[i]];
      Cell<D> cell;
      base.at(i, cell);
      for (int k = 0; k < D; ++k) bin.block[k] = cell[k] >> 2;
      bin.group = static_cast<Index>(keys[i] >> (cell_bits + block_bits));
      bin.begin = i;
    }
    const bool ends = i + 1 == particle_count || keys[i] >> cell_bits != keys[i + 1] >> cell_bits;
    if (ends) bins[starts ? run[i] : run[i] - 1].end = i + 1;
  }
};

/// One (grid block, bin) meeting for every block that a bin's arena reaches into.
template <int D>
struct EmitTouch {
  using Shape = BlockShape<D>;
  const Bin<D>* bins;
  TileWindow<D> window;
  std::uint64_t* keys;
  Index* values;

  TRIBO_HD void operator()(Index i) const {
    Cell<D> block = unflatten<D>(i % Shape::neighbors, Shape::neighbor_side);
    const Bin<D>& bin = bins[i / Shape::neighbors];
    for (int k = 0; k < D; ++k) block[k] += bin.block[k] + Shape::first_neighbor;
    keys[i] = window.code(block);
    values[i] = i;
  }
};

template <int D>
struct WriteGridBlock {
  using Shape = BlockShape<D>;
  const Bin<D>* bins;
  const std::uint64_t* keys;
  const Index* values;
  const Index* run;
  Index touch_count;
  Cell<D>* blocks;
  Index* touch;
  Index* touch_start;
  Index* bin_blocks;

  TRIBO_HD void operator()(Index i) const {
    const bool starts = i == 0 || keys[i] != keys[i - 1];
    const Index block = starts ? run[i] : run[i] - 1;
    const Index value = values[i];
    touch[i] = value;
    bin_blocks[value] = block;
    if (starts) {
      touch_start[block] = i;
      Cell<D> at = unflatten<D>(value % Shape::neighbors, Shape::neighbor_side);
      const Bin<D>& bin = bins[value / Shape::neighbors];
      for (int k = 0; k < D; ++k) at[k] += bin.block[k] + Shape::first_neighbor;
      blocks[block] = at;
    }
    if (i + 1 == touch_count) touch_start[block + 1] = touch_count;
  }
};

template <int D>
struct LowBlock {
  const Bin<D>* bins;
  TRIBO_HD Extent<D> operator()(Index i) const { return {bins[i].block, bins[i].block, no_index}; }
};

template <int D>
Extent<D> nothing() {
  return {Cell<D>::filled(0x7fffffff), Cell<D>::filled(-0x7fffffff), no_index};
}

/// Whether keys can tell the blocks of an extent apart.
template <int D>
bool fits_keys(const Extent<D>& extent) {
  for (int k = 0; k < D; ++k)
    if (std::int64_t{extent.high[k]} - extent.low[k] >= std::int64_t{1} << key_bits_per_axis) return false;
  return true;
}
template <int D>
int code_bits(const TileWindow<D>& window) {
  return bits_for(window.count()) + bits_in_tile<D>;
}

/// The blocks that arenas of an extent's blocks reach into.
template <int D>
Extent<D> with_neighbors(Extent<D> extent) {
  for (int k = 0; k < D; ++k) {
    extent.low[k] += BlockShape<D>::first_neighbor;
    extent.high[k] += BlockShape<D>::first_neighbor + BlockShape<D>::neighbor_side - 1;
  }
  return extent;
}

/// Moves every component of a column into the new order through the spare array.
template <class T, int N>
void permute(Exec& ex, Field<T, N>& field, const Array<Index>& order, Array<T>& spare, Index n) {
  for (auto& array : field.c) {
    spare.resize_discard(n);
    parallel_for(ex, "sort", n, Permute<T>{array.data(), order.data(), spare.data()});
    array.swap(spare);
  }
}

/// Cuts off the particles that sinks have taken, which are sorted to the end, and books them.
template <class Real, int D>
void take_away(Exec& ex, int taken_bit, State<Real, D>& state, Workspace<Real, D>& work) {
  const Index taken = reduce(ex, "sort", state.count, Index{0}, IsTaken{work.keys.data(), taken_bit}, Plus<Index>{});
  if (taken == 0) return;
  const Index left = state.count - taken;
  work.taken_keys.resize(static_cast<std::size_t>(taken));
  work.taken_masses.resize(static_cast<std::size_t>(taken));
  copy_to_host(ex, work.keys, work.taken_keys.data(), taken, left);
  copy_to_host(ex, state.particles.m.c[0], work.taken_masses.data(), taken, left);
  for (std::size_t i = 0; i < work.taken_keys.size(); ++i) {
    const std::uint64_t number = work.taken_keys[i] ^ std::uint64_t{1} << taken_bit;
    SinkState& sink = state.sinks[static_cast<std::size_t>(number)];
    sink.particles += 1;
    sink.mass += static_cast<double>(work.taken_masses[i]);
  }
  state.count = left;
}

}  // namespace

template <class Real, int D>
void list_groups(Exec& ex, const Constants<Real, D>& constants, const State<Real, D>& state, Workspace<Real, D>& work) {
  work.host_bins.resize(static_cast<std::size_t>(state.bin_count));
  copy_to_host(ex, state.bins, work.host_bins.data(), state.bin_count);
  work.group_bins.assign(constants.laws.size() + 1, 0);
  work.group_particles.assign(constants.laws.size() + 1, 0);
  for (const Bin<D>& bin : work.host_bins) {
    ++work.group_bins[static_cast<std::size_t>(bin.group) + 1];
    work.group_particles[static_cast<std::size_t>(bin.group) + 1] += bin.end - bin.begin;
  }
  for (std::size_t g = 1; g < work.group_bins.size(); ++g) {
    work.group_bins[g] += work.group_bins[g - 1];
    work.group_particles[g] += work.group_particles[g - 1];
  }
}

template <class Real, int D>
void sort_particles(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work) {
  Index n = state.count;
  BaseCell<Real, D> base{view(state.particles.x), Real(1) / constants.dx, Real(kernel_shift(constants.kernel))};
  const Extent<D> extent = reduce(ex, "sort", n, nothing<D>(), ExtentOf<Real, D>{base}, JoinExtents<D>{});
  const bool nowhere = extent.lost != Workspace<Real, D>::none;
  if (nowhere || (n > 0 && !fits_keys(with_neighbors(extent))))
    throw DivergedError("particles are spread over more than " + std::to_string(4 << key_bits_per_axis) +
                        " cells along an axis, or one is that far from the origin or at no finite position; bring "
                        "objects closer to the "
                        "origin, raise grid.dx, or use --precision double");

  work.keys.resize_discard(n);
  work.order.resize_discard(n);
  const auto window = TileWindow<D>::around(extent.low, extent.high);
  const int block_bits = n > 0 ? code_bits(window) : 0;
  const int group_bits = bits_for(static_cast<std::int64_t>(constants.laws.size()));
  const int sink_bits = bits_for(work.sinks.count);
  const int place_bits = cell_bits + block_bits + group_bits;
  const int taken_bit = place_bits > sink_bits ? place_bits : sink_bits;
  const bool drains = work.sinks.count > 0;
  parallel_for(
      ex, "sort", n,
      KeyParticle<Real, D>{base, state.particles.object.c[0].data(), work.object_group.data(), window, block_bits,
                           work.sinks.view(), state.time, taken_bit, work.keys.data(), work.order.data()});
  work.sorter.sort(ex, "sort", work.keys, work.order, n, drains ? taken_bit + 1 : place_bits);
  work.spare_real.resize_discard(n);  // memory that runs out must do so before the first column has moved
  work.flags.resize_discard(n);
  each_column(state.particles, [&](const char*, auto& field) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(field)>::Value, Real>) {
      permute(ex, field, work.order, work.spare_real, n);
    } else {
      permute(ex, field, work.order, work.flags, n);  // not in use yet
    }
  });

  state.sorted_at = state.time;
  if (drains) take_away(ex, taken_bit, state, work);
  n = state.count;

  work.flags.resize_discard(n);
  parallel_for(ex, "sort", n, FlagRunStart{work.keys.data(), cell_bits, work.flags.data()});
  state.bin_count = exclusive_scan(ex, "sort", work.flags, work.flags, n);
  state.bins.resize_discard(state.bin_count);
  base.x = view(state.particles.x);
  parallel_for(ex, "sort", n,
               WriteBin<Real, D>{base, work.keys.data(), work.flags.data(), block_bits, n, state.bins.data()});
  state.drift = 0;
  state.sink_drift = 0;
  work.grid_valid = false;
  list_groups(ex, constants, state, work);
}

template <class Real, int D>
void build_grid(Exec& ex, const Constants<Real, D>& constants, const State<Real, D>& state, Workspace<Real, D>& work) {
  using Shape = BlockShape<D>;
  const Index touches = state.bin_count * Shape::neighbors;
  const Extent<D> extent = with_neighbors(
      reduce(ex, "sort", state.bin_count, nothing<D>(), LowBlock<D>{state.bins.data()}, JoinExtents<D>{}));
  work.keys.resize_discard(touches);
  work.order.resize_discard(touches);
  work.flags.resize_discard(touches);
  work.touch.resize_discard(touches);
  work.bin_blocks.resize_discard(touches);
  const auto window = TileWindow<D>::around(extent.low, extent.high);
  parallel_for(ex, "sort", touches, EmitTouch<D>{state.bins.data(), window, work.keys.data(), work.order.data()});
  work.sorter.sort(ex, "sort", work.keys, work.order, touches, touches > 0 ? code_bits(window) : 0);
  parallel_for(ex, "sort", touches, FlagRunStart{work.keys.data(), 0, work.flags.data()});
  work.block_count = exclusive_scan(ex, "sort", work.flags, work.flags, touches);
  work.blocks.resize_discard(work.block_count);
  work.touch_start.resize_discard(work.block_count + 1);
  parallel_for(
      ex, "sort", touches,
      WriteGridBlock<D>{state.bins.data(), work.keys.data(), work.order.data(), work.flags.data(), touches,
                        work.blocks.data(), work.touch.data(), work.touch_start.data(), work.bin_blocks.data()});

  const Size arena_nodes = Size{state.bin_count} * with_kernel(constants.kernel, [](auto kernel) {
                             return BlockShape<D, kernel()>::arena_nodes;
                           });
  fit_nodes<Real>(ex, arena_nodes, Size{work.block_count} * Shape::nodes, work.block_count, constants.transfer.flip > 0,
                  work.arenas, work.grid, work.arenas_before, work.grid_before);
  work.gradient.used = !constants.fast();
  work.gradient.resize_discard(state.count);
  work.block_speed.resize_discard(work.block_count);
  work.bin_results.resize_discard(state.bin_count);

  // Half a digit when a position is stored, and one when it is turned into cells.
  double farthest = 0;
  for (int k = 0; k < D && state.bin_count > 0; ++k)
    farthest = std::fmax(farthest, std::fmax(std::fabs(extent.low[k]), std::fabs(extent.high[k] + 1.0)));
  work.rounding = 2 * static_cast<double>(std::numeric_limits<Real>::epsilon()) * Shape::side * farthest;
  work.grid_valid = true;
}

#define TRIBO_INSTANTIATE(Real, D)                                                                         \
  template void sort_particles(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&);    \
  template void list_groups(Exec&, const Constants<Real, D>&, const State<Real, D>&, Workspace<Real, D>&); \
  template void build_grid(Exec&, const Constants<Real, D>&, const State<Real, D>&, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
