#include "tribo/stages/confine.h"
#include "tribo/stages/cuda/transfer.cuh"
#include "tribo/stages/grid_node.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr int threads = 256;

template <class Real, int D>
struct GridArguments {
  BlockSets<D> bins;
  int groups;
  const Cell<D>* blocks;
  Index block_count;
  const Quad<Real>* arenas;
  Real dx;
  Vec<Real, D> velocity_gain;
  typename Colliders<Real, D>::View colliders;
  Quad<Real>* grid;
  StepTally* tally;
};

/// A thread for each node: sums the arenas that reach it in fixed order, material by material, then turns momentum
/// into velocity.
template <class Real, int D>
__global__ void __launch_bounds__(threads) update_nodes(const GridArguments<Real, D> a) {
  using Shape = BlockShape<D>;
  constexpr int corners = 1 << D;
  constexpr int together = Shape::nodes < 32 ? Shape::nodes : 32;  // lanes of a warp that share a block
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t & 31;
  const Index b = static_cast<Index>(blockIdx.x) * (threads / Shape::nodes) + t / Shape::nodes;
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
    const Vec<Real, D> v =
        node_velocity<Real, D>(sum, block * std::int32_t{Shape::side} + c, a.dx, a.velocity_gain, a.colliders);
#pragma unroll
    for (int k = 0; k < D; ++k) fastest = !(fastest == fastest) || abs(v[k]) <= fastest ? fastest : abs(v[k]);
    a.grid[Size{b} * Shape::nodes + i] = node_pack<Real>(v[0], v[1], D == 3 ? v[D - 1] : Real(0), sum.v[3]);
  }
  fastest = warp_max_or_nan(fastest);
  if (lane == 0) raise_to(&a.tally->grid_speed, ordered_bits(static_cast<double>(fastest)));
}

template <class Real, int D>
struct FindNear {
  const Bin<D>* bins;
  typename Colliders<Real, D>::View colliders;
  Real dx;
  std::uint8_t* near;
  __device__ void operator()(Index b) const {
    near[b] = is_near_block<Real, D>(colliders, bins[b].block, dx, 1) ? 1 : 0;
  }
};

constexpr int confine_threads = 128;

template <class Real, int D>
struct ConfineArguments {
  PackedView<Real, D> particles;
  const Bin<D>* bins;
  const std::uint8_t* near;
  typename Colliders<Real, D>::View colliders;
  Real dx;
  double speed_limit;
  std::uint8_t* moved_to;
  Index* reached;
  Marker<D> marker;
  StepTally* tally;
};

/// Puts the particles of a bin near a collider back, and counts them by the cells they are in then.
template <class Real, int D>
__global__ void __launch_bounds__(confine_threads) confine_packed(const ConfineArguments<Real, D> a) {
  using Layout = PackedLayout<D>;
  __shared__ MoveCount<D> moves;
  const auto b = static_cast<Index>(blockIdx.x);
  if (a.near[b] == 0 || is_cancelled(a.tally, a.speed_limit)) return;
  const int t = static_cast<int>(threadIdx.x);
  const Bin<D> bin = a.bins[b];
  moves.clear(t, confine_threads);
  __syncthreads();
  const Real inverse_dx = Real(1) / a.dx;
  for (Index s = bin.begin + t; s < bin.end; s += confine_threads) {
    static_assert(Layout::x == 0);
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
    a.moved_to[s] = moves.add(to, inverse_dx, bin.block, a.tally);
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
  constexpr int blocks_each = threads / BlockShape<D>::nodes;
  ex.run("grid", [&] {
    update_nodes<Real, D>
        <<<static_cast<unsigned>((p.table.block_count + blocks_each - 1) / blocks_each), threads, 0, ex.stream()>>>(
            {p.table.bin_index.view(p.window), p.groups, p.table.blocks.data(), p.table.block_count, p.arenas.data(),
             constants.dx, constants.gravity * static_cast<Real>(dt), colliders, p.grid.data(), p.tally.data()});
    check(cudaGetLastError(), "grid");
  });
}

template <class Real, int D>
void find_near_bins(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                    PackedParticles<Real, D>& p) {
  parallel_for(ex, "confine", p.table.bin_count,
               FindNear<Real, D>{p.table.bins.data(), colliders, constants.dx, p.near.data()});
}

template <class Real, int D>
void packed_confine(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                    double speed_limit, PackedParticles<Real, D>& p) {
  ex.run("confine", [&] {
    confine_packed<Real, D><<<static_cast<unsigned>(p.table.bin_count), confine_threads, 0, ex.stream()>>>(
        {p.next.view(), p.table.bins.data(), p.near.data(), colliders, constants.dx, speed_limit, p.moved_to.data(),
         p.reached.data(), next_marker(p), p.tally.data()});
    check(cudaGetLastError(), "confine");
  });
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                 \
  template void packed_grid(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&, double,    \
                            PackedParticles<Real, D>&);                                                            \
  template void find_near_bins(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&,         \
                               PackedParticles<Real, D>&);                                                         \
  template void packed_confine(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&, double, \
                               PackedParticles<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
