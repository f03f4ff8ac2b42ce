#include "tribo/grid/cuda/transfer.cuh"
#include "tribo/grid/law_stages.h"
#include "tribo/grid/per_material.h"
#include "tribo/grid/stencil.h"
#include "tribo/models/all.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr int g2p_threads = 128;

template <class Real, int D, class Law>
struct GatherArguments {
  PackedView<Real, D> from, to;
  const Index* order;
  const Bin<D>* bins;
  BlockSets<D> blocks;
  const Quad<Real>* grid;
  const Quad<Real>* grid_before;
  TransferRule<Real> rule;
  Law law;
  Real dx, dt;
  double speed_limit;
  Index first_bin;
  LaterBins later;
  std::uint8_t* moved_to;
  Index* reached;
  Marker<D> marker;
  StepTally* tally;
  unsigned long long* stiffness;
};

/// Registers are what limits how many particles are under way at once: with more than these, less is lost to spills
/// than gained by waiting less.
template <class Real, int D>
inline constexpr int gathers_per_multiprocessor = D == 3 && sizeof(Real) == 4 ? 7 : 1;

/// Moves one bin's particles by the grid (theory A.2, A.5), deforms them, computes their next stress, writes them in
/// sorted order and counts them by the cells they are in now.
template <class Real, int D, class Law, bool Flip>
__global__ void __launch_bounds__(g2p_threads, gathers_per_multiprocessor<Real, D>)
    gather_packed(const GatherArguments<Real, D, Law> a) {
  using Layout = PackedLayout<D>;
  using Shape = BlockShape<D>;
  constexpr int corners = 1 << D;
  __shared__ Quad<Real> node[Shape::arena_nodes];
  __shared__ Quad<Real> node_before[Flip ? Shape::arena_nodes : 1];
  __shared__ MoveCount<D> moves;
  __shared__ Index source[corners];
  if (is_cancelled(a.tally, a.speed_limit)) return;
  const auto b = a.first_bin + static_cast<Index>(blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  const Bin<D> bin = a.bins[b];
  const bool counts = !a.later.has(b);

  Index s = bin.begin + t;
  Index slot = s < bin.end ? a.order[s] : 0;
  if (t < corners) {
    Cell<D> block = bin.block;
#pragma unroll
    for (int k = 0; k < D; ++k) block[k] += t >> (D - 1 - k) & 1;
    source[t] = a.blocks.find(0, block);
  }
  moves.clear(t, g2p_threads);
  PackedParticle<Real, D> particle;
  if (s < bin.end) particle.template load<0, 1>(a.from, slot);
  __syncthreads();
  stage_nodes<D, 3, g2p_threads>(source, a.grid, node);
  if constexpr (Flip) stage_nodes<D, 3, g2p_threads>(source, a.grid_before, node_before);
  __syncthreads();

  const Real inverse_dx = Real(1) / a.dx;
  Extremes<Real, D, Real> extremes;
  while (s < bin.end) {
    const Index next = s + g2p_threads;
    const Index next_slot = next < bin.end ? a.order[next] : 0;
    particle.template load<Layout::first_strain_quad, Layout::quads>(a.from, slot);
    Strain<Real, D> strain;
#pragma unroll
    for (int k = 0; k < 2; ++k) strain.history[k] = k < Law::memory ? a.from.history[k][slot] : Real(0);
    Real* const number = particle.number;

    Real w[D][3], offset[D];
    Vec<Real, D> x;
    int cell = 0;
#pragma unroll
    for (int k = 0; k < D; ++k) {
      x[k] = number[Layout::x + k];
      const Real scaled = in_cells(x[k], inverse_dx);
      const Real base = base_node<3>(scaled);
      offset[k] = scaled - base;
      const SplineWeights<Real, 3> weights(offset[k]);
#pragma unroll
      for (int j = 0; j < 3; ++j) w[k][j] = weights.w[j];
      cell = cell * Shape::arena_side + static_cast<int>(base) - bin.block[k] * Shape::side;
    }
    const GridSample<Real, D> sample = gather(node + cell, w, offset);
    Vec<Real, D> v;
    Mat<Real, D> moment;
#pragma unroll
    for (int k = 0; k < D; ++k) {
      v[k] = sample.velocity.v[k];
#pragma unroll
      for (int j = 0; j < D; ++j) moment(k, j) = sample.moment[j].v[k];
    }
    const Mat<Real, D> L = velocity_gradient(moment, a.dx);
#pragma unroll
    for (int k = 0; k < D * D; ++k) (&strain.F.m[0][0])[k] = number[Layout::F(k)];
    Vec<Real, D> kept = v;
    if constexpr (Flip) {  // what of its own velocity the grid did not see before the step
      particle.template load<1, 2>(a.from, slot);
      const GridSample<Real, D> before = gather(node_before + cell, w, offset);
#pragma unroll
      for (int k = 0; k < D; ++k) kept[k] = fma(a.rule.flip, number[Layout::v + k] - before.velocity.v[k], kept[k]);
    }
    const Response<Real, D> response = step_law(a.law, L, a.dt, strain);
    extremes.add(s, 1, kept, L, a.dx, response);

    const Mat<Real, D> C = a.rule.kept(L);
#pragma unroll
    for (int k = 0; k < D; ++k) {
      x[k] = fma(a.dt, v[k], x[k]);
      number[Layout::x + k] = x[k];
      number[Layout::v + k] = kept[k];
    }
#pragma unroll
    for (int k = 0; k < D * D; ++k) {
      number[Layout::C + k] = (&C.m[0][0])[k];
      number[Layout::F(k)] = (&strain.F.m[0][0])[k];
    }
#pragma unroll
    for (int k = 0; k < Sym<Real, D>::size; ++k) number[Layout::tau + k] = response.tau.s[k];
    particle.store(a.to, s);
#pragma unroll
    for (int k = 0; k < Law::memory; ++k) a.to.history[k][s] = strain.history[k];
    if (counts) a.moved_to[s] = moves.add(x, inverse_dx, Real(kernel_shift(3)), bin.block, a.tally);

    s = next;
    slot = next_slot;
    if (s < bin.end) particle.template load<0, 1>(a.from, slot);
  }

  const Real speed = warp_max_or_nan(extremes.speed);
  const Real stiffness = warp_max_or_nan(extremes.stiffness);
  if ((t & 31) == 0) {
    raise_to(&a.tally->speed, ordered_bits(static_cast<double>(speed)));
    raise_to(a.stiffness, ordered_bits(static_cast<double>(stiffness)));
  }
  if (extremes.first_bad != Workspace<Real, D>::none) atomicMin(&a.tally->first_bad, extremes.first_bad);
  if (!counts) return;
  __syncthreads();
  moves.write(a.reached + Size{b} * Reach<D>::cells, t, g2p_threads);
  __syncthreads();
  a.marker.mark(bin, moves.touched, t, g2p_threads);
}

}  // namespace

template <class Real, int D>
void packed_g2p(Exec& ex, const Constants<Real, D>& constants, double dt, double speed_limit, bool confines,
                PackedParticles<Real, D>& p) {
  if (!constants.fast()) {
    gather_packed_any(ex, constants, dt, speed_limit, confines, p);
    deform_packed(ex, constants, dt, speed_limit, p);
    return;
  }
  for (std::size_t g = 0; g < constants.laws.size(); ++g) {
    const Index first = p.group_bins[g];
    const Index count = p.group_bins[g + 1] - first;
    if (count == 0) continue;
    const auto launch = [&]<class Law, bool Flip>(const Law& law, std::bool_constant<Flip>) {
      ex.run("g2p", [&] {
        gather_packed<Real, D, Law, Flip><<<static_cast<unsigned>(count), g2p_threads, 0, ex.stream()>>>(
            {p.now.view(), p.next.view(), p.order.data(), p.table.bins.data(), p.table.grid_index.view(p.tiles.view()),
             p.grid.data(), p.grid_before.data(), constants.transfer, law, constants.dx, static_cast<Real>(dt),
             speed_limit, first, later_bins(constants, confines, p), p.moved_to.data(), p.reached.data(),
             next_marker(p), p.tally.data(), p.stiffness.data() + g});
        check(cudaGetLastError(), "g2p");
      });
    };
    std::visit(
        [&](const auto& law) {
          if (constants.transfer.flip > 0)
            launch(law, std::true_type{});
          else
            launch(law, std::false_type{});
        },
        *constants.laws[g]->law);
  }
}

#define TRIBO_INSTANTIATE(Real, D) \
  template void packed_g2p(Exec&, const Constants<Real, D>&, double, double, bool, PackedParticles<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
