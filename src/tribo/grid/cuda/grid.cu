#include "tribo/grid/confine.h"
#include "tribo/grid/cuda/transfer.cuh"
#include "tribo/grid/grid_node.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr int grid_threads = 256;

template <class Real, int D>
struct GridArguments {
  BlockSets<D> bins;
  int groups;
  const Cell<D>* blocks;
  Index block_count;
  const std::uint8_t* near;  ///< null: no block meets a collider
  const Quad<Real>* arenas;
  Vec<Real, D> velocity_gain;
  Quad<Real>* grid;
  StepTally* tally;  ///< null: nobody asks for the speed
};

template <class Real, int D>
__device__ __forceinline__ void store_node(const Vec<Real, D>& v, Real mass, Quad<Real>& node) {
  node = node_pack<Real>(v[0], v[1], D == 3 ? v[D - 1] : Real(0), mass);
}
template <class Real, int D>
__device__ __forceinline__ Real largest_component(const Vec<Real, D>& v) {
  Real largest = Real(0);
#pragma unroll
  for (int k = 0; k < D; ++k) largest = !(largest == largest) || abs(v[k]) <= largest ? largest : abs(v[k]);
  return largest;
}
template <class Real>
__device__ __forceinline__ void tell_speed(Real fastest, StepTally* tally) {
  fastest = warp_max_or_nan(fastest);
  if ((threadIdx.x & 31) == 0) raise_to(&tally->grid_speed, ordered_bits(static_cast<double>(fastest)));
}

/// A thread for each node: sums the arenas that reach it in fixed order, material by material, then turns momentum
/// into velocity.
template <class Real, int D, int Kernel>
__global__ void __launch_bounds__(grid_threads) update_nodes(const GridArguments<Real, D> a) {
  using Shape = BlockShape<D, Kernel>;
  constexpr int corners = 1 << D;
  constexpr int together = Shape::nodes < 32 ? Shape::nodes : 32;  // lanes of a warp that share a block
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t & 31;
  const Index b = static_cast<Index>(blockIdx.x) * (grid_threads / Shape::nodes) + t / Shape::nodes;
  const bool exists = b < a.block_count;
  const int i = t % Shape::nodes;
  const Cell<D> block = exists ? a.blocks[b] : Cell<D>::zero();
  const Cell<D> c = unflatten<D>(i, Shape::side);
  Quad<Real> sum(Real(0));
  for (int g = 0; g < a.groups; ++g) {
    Index found = -1;
    if (const int corner = lane % together; exists && corner < corners) {
      Cell<D> lower = block;
#pragma unroll
      for (int k = 0; k < D; ++k) lower[k] -= corner >> (D - 1 - k) & 1;
      found = a.bins.find(g, lower);
    }
#pragma unroll
    for (int corner = 0; corner < corners; ++corner) {
      const Index bin = __shfl_sync(~0u, found, lane / together * together + corner);
      bool reaches = bin >= 0;
      Cell<D> at;
#pragma unroll
      for (int k = 0; k < D; ++k) {
        const int up = corner >> (D - 1 - k) & 1;
        at[k] = c[k] + Shape::side * up;
        reaches = reaches && at[k] < Shape::arena_side;
      }
      if (reaches) sum = sum + a.arenas[Size{bin} * Shape::arena_nodes + flatten(at, Shape::arena_side)];
    }
  }
  Real fastest = Real(0);
  if (exists) {
    const Vec<Real, D> v = free_velocity<Real, D>(sum, a.velocity_gain);
    store_node(v, sum.v[3], a.grid[Size{b} * Shape::nodes + i]);
    if (a.near == nullptr || a.near[b] == 0) fastest = largest_component(v);
  }
  if (a.tally != nullptr) tell_speed(fastest, a.tally);
}

/// Lists the bins and blocks that colliders may reach. The order of the lists is left to chance: nothing depends on it.
template <class Real, int D>
struct FindNear {
  using Shape = BlockShape<D>;
  const Bin<D>* bins;
  Index bin_count;
  const Cell<D>* blocks;
  typename Colliders<Real, D>::View colliders;
  Real dx;
  std::uint8_t* near;
  Index* near_bins;
  Index* near_blocks;
  StepTally* tally;

  __device__ void operator()(Index i) const {
    if (i < bin_count) {
      // Particles will have left by up to a cell, and colliders will have come by as much.
      const bool is_near = may_be_too_deep<Real, D>(colliders, bins[i].block, dx, 1, 1);
      near[i] = is_near ? 1 : 0;
      if (is_near) near_bins[atomicAdd(&tally->near_bins, 1)] = i;
      return;
    }
    const Index b = i - bin_count;
    constexpr double half = 0.5 * (Shape::side - 1);
    Vec<Real, D> center;
    for (int k = 0; k < D; ++k) center[k] = dx * (Real(blocks[b][k] * Shape::side) + Real(half));
    const bool is_near = colliders.meets(center, Real((half + 0.1) * (D == 3 ? 1.7321 : 1.4143)) * dx);
    near[i] = is_near ? 1 : 0;
    if (is_near) near_blocks[atomicAdd(&tally->near_blocks, 1)] = b;
  }
};

/// CTAs that go through a list whose length only the device knows.
constexpr unsigned walkers = 528;

template <class Real, int D>
struct ContactArguments {
  const Cell<D>* blocks;
  const Index* near_blocks;
  typename Colliders<Real, D>::View colliders;
  Real dx;
  Quad<Real>* grid;
  StepTally* tally;
};

/// Impulses of a warp's lanes on one collider, told as one: the lanes that share a block have their sums put together, by
/// a tree that depends on nothing. What else a lane has touched it tells by itself.
template <int Together>
class WarpTally {
 public:
  __device__ explicit WarpTally(const ContactTally& tally) : tally_(tally) {}

  __device__ void add(Index to, const Vec<double, 3>& x, const Vec<double, 3>& impulse) {
    if (tally_.entry == nullptr || to < 0) return;
    const Vec<double, 3> moment = cross(x, impulse);
    if (to_ >= 0 && to_ != to) tell();
    if (to_ != to)
      for (double& number : sum_) number = 0;
    to_ = to;
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      sum_[k] += impulse[k];
      sum_[3 + k] += moment[k];
    }
  }
  /// All lanes that share a block come here.
  __device__ void end() {
    if (tally_.entry == nullptr) return;
    const unsigned lane = threadIdx.x & 31, first = lane / Together * Together;
    const unsigned lanes = Together == 32 ? ~0u : ((1u << Together) - 1) << first;
    const unsigned touched = __ballot_sync(lanes, to_ >= 0);
    if (touched == 0) return;
    const Index common = __shfl_sync(lanes, to_, __ffs(static_cast<int>(touched)) - 1);
    const bool joins = to_ == common;
    if (to_ >= 0 && !joins) tell();
#pragma unroll
    for (int k = 0; k < ContactSum::numbers; ++k) {
      double sum = joins ? sum_[k] : 0;
#pragma unroll
      for (int half = Together / 2; half > 0; half /= 2) sum += __shfl_xor_sync(lanes, sum, half);
      sum_[k] = sum;
    }
    to_ = common;
    if (lane == first) tell();
    to_ = -1;
  }

 private:
  __device__ void tell() const { tally_.add(to_, sum_); }

  ContactTally tally_;
  Index to_ = -1;
  double sum_[ContactSum::numbers];
};

/// Contact of the nodes of blocks near colliders. Apart from the sums because the code of all shapes takes registers
/// that would leave those waiting.
template <class Real, int D>
__global__ void __launch_bounds__(grid_threads) touch_colliders(const ContactArguments<Real, D> a) {
  using Shape = BlockShape<D>;
  constexpr int at_once = grid_threads / Shape::nodes;
  const int t = static_cast<int>(threadIdx.x);
  const Index count = a.tally->near_blocks;
  if (static_cast<Index>(blockIdx.x) * at_once >= count) return;
  Real fastest = Real(0);
  WarpTally<(Shape::nodes < 32 ? Shape::nodes : 32)> run(a.colliders.tally);
  for (Index q = static_cast<Index>(blockIdx.x) * at_once + t / Shape::nodes; q < count;
       q += static_cast<Index>(gridDim.x) * at_once) {
    const Index b = a.near_blocks[q];
    const int i = t % Shape::nodes;
    Quad<Real>& node = a.grid[Size{b} * Shape::nodes + i];
    const Quad<Real> before = node;
    Vec<Real, D> v;
#pragma unroll
    for (int k = 0; k < D; ++k) v[k] = before.v[k];
    v = contact_velocity<Real, D>(
        v, before.v[3], a.blocks[b] * std::int32_t{Shape::side} + unflatten<D>(i, Shape::side), a.dx, a.colliders, run);
    run.end();
    store_node(v, before.v[3], node);
    const Real largest = largest_component(v);
    fastest = !(fastest == fastest) || largest <= fastest ? fastest : largest;
  }
  tell_speed(fastest, a.tally);
}

constexpr int confine_threads = 256;

template <class Real, int D>
struct ConfineArguments {
  PackedView<Real, D> particles;
  const Bin<D>* bins;
  const Index* near_bins;
  typename Colliders<Real, D>::View colliders;
  Real dx;
  Real shift;  ///< of the kernel
  double speed_limit;
  Index landing_bin;  ///< those from here on are counted later
  std::uint8_t* moved_to;
  Index* reached;
  Marker<D> marker;
  StepTally* tally;
};

/// Puts the particles of a bin near a collider back, and counts them by the cells they are in then.
template <class Real, int D>
__global__ void __launch_bounds__(confine_threads) confine_packed(const ConfineArguments<Real, D> a) {
  static_assert(PackedLayout<D>::x == 0);
  __shared__ MoveCount<D> moves;
  if (is_cancelled(a.tally, a.speed_limit)) return;
  const int t = static_cast<int>(threadIdx.x);
  const Index count = a.tally->near_bins;
  const Real inverse_dx = Real(1) / a.dx;
  for (Index q = static_cast<Index>(blockIdx.x); q < count; q += static_cast<Index>(gridDim.x)) {
    const Index b = a.near_bins[q];
    const Bin<D> bin = a.bins[b];
    const bool counts = b < a.landing_bin;
    moves.clear(t, confine_threads);
    __syncthreads();
    for (Index s = bin.begin + t; s < bin.end; s += confine_threads) {
      Quad<Real> first = a.particles.quad[0][s];
      Vec<Real, D> x;
#pragma unroll
      for (int k = 0; k < D; ++k) x[k] = first.v[k];
      const Vec<Real, D> to = confined<Real, D>(a.colliders, x, a.dx);
      bool changed = false;
#pragma unroll
      for (int k = 0; k < D; ++k) {
        changed = changed || to[k] != x[k];
        first.v[k] = to[k];
      }
      if (changed) a.particles.quad[0][s] = first;
      if (counts) a.moved_to[s] = moves.add(to, inverse_dx, a.shift, bin.block, a.tally);
    }
    __syncthreads();
    if (!counts) continue;
    moves.write(a.reached + Size{b} * Reach<D>::cells, t, confine_threads);
    __syncthreads();
    a.marker.mark(bin, moves.touched, t, confine_threads);
    __syncthreads();
  }
}

template <class Real, int D>
struct LandedArguments {
  const Quad<Real>* place;  ///< the quads that hold x
  const Bin<D>* bins;
  Index first_bin;
  Real inverse_dx;
  Real shift;  ///< of the kernel
  double speed_limit;
  std::uint8_t* moved_to;
  Index* reached;
  Marker<D> marker;
  StepTally* tally;
};

/// Counts the particles of one bin by the cells they are in now.
template <class Real, int D>
__global__ void __launch_bounds__(confine_threads) count_cells_of_landed(const LandedArguments<Real, D> a) {
  static_assert(PackedLayout<D>::x == 0);
  __shared__ MoveCount<D> moves;
  if (is_cancelled(a.tally, a.speed_limit)) return;
  const int t = static_cast<int>(threadIdx.x);
  const Index b = a.first_bin + static_cast<Index>(blockIdx.x);
  const Bin<D> bin = a.bins[b];
  moves.clear(t, confine_threads);
  __syncthreads();
  for (Index s = bin.begin + t; s < bin.end; s += confine_threads) {
    const Quad<Real> first = a.place[s];
    Vec<Real, D> x;
#pragma unroll
    for (int k = 0; k < D; ++k) x[k] = first.v[k];
    a.moved_to[s] = moves.add(x, a.inverse_dx, a.shift, bin.block, a.tally);
  }
  __syncthreads();
  moves.write(a.reached + Size{b} * Reach<D>::cells, t, confine_threads);
  __syncthreads();
  a.marker.mark(bin, moves.touched, t, confine_threads);
}

}  // namespace

template <class Real, int D>
void packed_grid(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                 double dt, PackedParticles<Real, D>& p) {
  constexpr int blocks_each = grid_threads / BlockShape<D>::nodes;
  const auto ctas = static_cast<unsigned>((p.table.block_count + blocks_each - 1) / blocks_each);
  const bool contacts = !colliders.empty();
  const auto update = [&](const Array<Quad<Real>>& arenas, const Vec<Real, D>& gain, Array<Quad<Real>>& grid,
                          StepTally* tally) {
    const GridArguments<Real, D> arguments{p.table.bin_index.view(p.tiles.view()),
                                           p.groups,
                                           p.table.blocks.data(),
                                           p.table.block_count,
                                           contacts ? p.near.data() + p.table.bin_count : nullptr,
                                           arenas.data(),
                                           gain,
                                           grid.data(),
                                           tally};
    ex.run("grid", [&] {
      with_kernel(constants.kernel, [&]<int Kernel>(std::integral_constant<int, Kernel>) {
        update_nodes<Real, D, Kernel><<<ctas, grid_threads, 0, ex.stream()>>>(arguments);
      });
      check(cudaGetLastError(), "grid");
    });
  };
  if (contacts) {
    p.near.resize_discard(p.table.bin_count + p.table.block_count);
    p.near_bins.resize_discard(p.table.bin_count);
    p.near_blocks.resize_discard(p.table.block_count);
    parallel_for(
        ex, "grid", p.table.bin_count + p.table.block_count,
        FindNear<Real, D>{p.table.bins.data(), p.table.bin_count, p.table.blocks.data(), colliders, constants.dx,
                          p.near.data(), p.near_bins.data(), p.near_blocks.data(), p.tally.data()});
  }
  if (constants.transfer.flip > 0) update(p.arenas_before, Vec<Real, D>::zero(), p.grid_before, nullptr);
  update(p.arenas, constants.gravity * static_cast<Real>(dt), p.grid, p.tally.data());
  if (contacts)
    ex.run("grid", [&] {
      touch_colliders<Real, D><<<walkers, grid_threads, 0, ex.stream()>>>(
          {p.table.blocks.data(), p.near_blocks.data(), colliders, constants.dx, p.grid.data(), p.tally.data()});
      check(cudaGetLastError(), "grid");
    });
}

template <class Real, int D>
void packed_confine(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                    double speed_limit, PackedParticles<Real, D>& p) {
  ex.run("confine", [&] {
    confine_packed<Real, D><<<walkers, confine_threads, 0, ex.stream()>>>(
        {p.next.view(), p.table.bins.data(), p.near_bins.data(), colliders, constants.dx,
         Real(kernel_shift(constants.kernel)), speed_limit, first_landing_bin(constants, p), p.moved_to.data(),
         p.reached.data(), next_marker(p), p.tally.data()});
    check(cudaGetLastError(), "confine");
  });
}

template <class Real, int D>
void count_landed(Exec& ex, const Constants<Real, D>& constants, double speed_limit, PackedParticles<Real, D>& p) {
  const Index first = first_landing_bin(constants, p);
  ex.run("sort", [&] {
    count_cells_of_landed<Real, D>
        <<<static_cast<unsigned>(p.table.bin_count - first), confine_threads, 0, ex.stream()>>>(
            {p.next.quad[0].data(), p.table.bins.data(), first, Real(1) / constants.dx,
             Real(kernel_shift(constants.kernel)), speed_limit, p.moved_to.data(), p.reached.data(), next_marker(p),
             p.tally.data()});
    check(cudaGetLastError(), "sort");
  });
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                 \
  template void packed_grid(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&, double,    \
                            PackedParticles<Real, D>&);                                                            \
  template void packed_confine(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&, double, \
                               PackedParticles<Real, D>&);                                                         \
  template void count_landed(Exec&, const Constants<Real, D>&, double, PackedParticles<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
