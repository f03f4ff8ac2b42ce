#include "tribo/grid/cuda/transfer.cuh"
#include "tribo/grid/stencil.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// What P2G needs of a particle, in shared memory: offset from the base node in cells, momentum there, its slope along
/// each axis, and mass.
template <class Real, int D>
struct Packet {
  static constexpr int offset = 0, at_base = D, slope = 2 * D, mass = 2 * D + D * D;
  static constexpr int quads = (mass + 4) / 4;
  Real number[4 * quads];

  /// Spread so that threads that read the same quad of neighboring packets meet different banks.
  __device__ __forceinline__ static int place(int packet, int quad) {
    if constexpr (quads == 4)
      return 4 * packet + (quad ^ (packet >> 1 & 3));
    else
      return quads * packet + quad;
  }
  __device__ __forceinline__ void store(Quad<Real>* shared, int packet) const {
#pragma unroll
    for (int q = 0; q < quads; ++q) {
      Quad<Real> quad;
#pragma unroll
      for (int k = 0; k < 4; ++k) quad.v[k] = number[4 * q + k];
      shared[place(packet, q)] = quad;
    }
  }
  __device__ __forceinline__ void load(const Quad<Real>* shared, int packet) {
#pragma unroll
    for (int q = 0; q < quads; ++q) {
      const Quad<Real> quad = shared[place(packet, q)];
#pragma unroll
      for (int k = 0; k < 4; ++k) number[4 * q + k] = quad.v[k];
    }
  }
};

/// Three threads share a cell, each with one offset along the first axis.
template <class Real, int D>
struct ScatterShape {
  using Shape = BlockShape<D>;
  static constexpr int threads = 3 * Shape::nodes;
  static constexpr int own_nodes = Shape::stencil / 3;
  /// More than a full bin of eight particles a cell, three deviations included: half-filled chunks leave threads idle.
  static constexpr int each = sizeof(Real) == 4 ? 3 : 2;
  static constexpr int chunk = threads * each;
  /// Private sums lie apart so that the three threads of a cell meet different banks.
  static constexpr int stride = Shape::arena_nodes + 7;
  static constexpr int shared_quads =
      chunk * Packet<Real, D>::quads > 3 * stride ? chunk* Packet<Real, D>::quads : 3 * stride;
  static_assert(shared_quads * sizeof(Quad<Real>) <= 65536, "what the oldest GPUs have");
  static constexpr int per_multiprocessor = D == 3 && sizeof(Real) == 4 ? 5 : 1;
};

template <class Real, int D>
struct ScatterArguments {
  PackedView<Real, D> particles;
  const Index* order;
  const Bin<D>* bins;
  const Index* cell_begin;
  const Real* inverse_density;
  Real dx, dt;
  Quad<Real>* arenas;
};

/// Sums a bin's particles into its arena (theory A.2, A.5). Packets are staged in shared memory; each thread adds up
/// its nodes over the particles of its cell in registers; the sums meet in three private arenas, in phases in each of
/// which no two threads share a node. The order of additions is fixed.
template <class Real, int D>
__global__ void __launch_bounds__(ScatterShape<Real, D>::threads, ScatterShape<Real, D>::per_multiprocessor)
    scatter(const ScatterArguments<Real, D> a) {
  using Layout = PackedLayout<D>;
  using Shape = BlockShape<D>;
  using P = Packet<Real, D>;
  using S = ScatterShape<Real, D>;
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const shared = reinterpret_cast<Quad<Real>*>(memory);
  const auto b = static_cast<Index>(blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  const Bin<D> bin = a.bins[b];
  const Index n = bin.end - bin.begin;
  const int cell = t / 3;
  const int part = t % 3;
  const Index low = a.cell_begin[Size{b} * Shape::nodes + cell];
  const Index high = cell + 1 < Shape::nodes ? a.cell_begin[Size{b} * Shape::nodes + cell + 1] : n;
  const Real inverse_dx = Real(1) / a.dx;
  const Real volume_per_mass = a.inverse_density[bin.group];

  const auto stage = [&](int packet, Index from) {
    PackedParticle<Real, D> particle;
    particle.template load<0, Layout::scatter_quads>(a.particles, from);
    P out;
    Vec<Real, D> offset;
#pragma unroll
    for (int k = 0; k < D; ++k) {
      const Real scaled = in_cells(particle.number[Layout::x + k], inverse_dx);
      offset[k] = scaled - base_node<3>(scaled);
      out.number[P::offset + k] = offset[k];
    }
    const Real m = particle.number[Layout::m];
    Mat<Real, D> C;
    Sym<Real, D> tau;
#pragma unroll
    for (int k = 0; k < D * D; ++k) (&C.m[0][0])[k] = particle.number[Layout::C + k];
#pragma unroll
    for (int k = 0; k < Sym<Real, D>::size; ++k) tau.s[k] = particle.number[Layout::tau + k];
    const Mat<Real, D> A = momentum_slope(m, C, m * volume_per_mass, tau, a.dx, a.dt);
#pragma unroll
    for (int k = 0; k < D; ++k) {
      Real q = m * particle.number[Layout::v + k];
#pragma unroll
      for (int j = 0; j < D; ++j) {
        q = fma(-A(k, j), offset[j], q);
        out.number[P::slope + D * j + k] = A(k, j);
      }
      out.number[P::at_base + k] = q;
    }
    out.number[P::mass] = m;
#pragma unroll
    for (int k = P::mass + 1; k < 4 * P::quads; ++k) out.number[k] = Real(0);
    out.store(shared, packet);
  };

  for (Index first = 0; first < n; first += S::chunk) {
    const int count = static_cast<int>(n - first < S::chunk ? n - first : S::chunk);
    if (first > 0) __syncthreads();
    Index from[S::each];
#pragma unroll
    for (int j = 0; j < S::each; ++j)
      from[j] = t + j * S::threads < count ? a.order[bin.begin + first + t + j * S::threads] : 0;
#pragma unroll
    for (int j = 0; j < S::each; ++j)
      if (t + j * S::threads < count) stage(t + j * S::threads, from[j]);
    __syncthreads();

    Real acc[S::own_nodes][4];
#pragma unroll
    for (int s = 0; s < S::own_nodes; ++s)
#pragma unroll
      for (int k = 0; k < 4; ++k) acc[s][k] = Real(0);
    const int begin = static_cast<int>(low > first ? low - first : 0);
    const int end = static_cast<int>(high - first < count ? high - first : count);
    for (int q = begin; q < end; ++q) {
      P packet;
      packet.load(shared, q);
      const Real* const f = packet.number + P::offset;
      const Real m = packet.number[P::mass];
      // Weights of the quadratic kernel; along the first axis only the thread's own.
      const Real from_node = fma(Real(0.5), Real(part), f[0] - Real(1.5));
      const Real square = from_node * from_node;
      const Real own = part == 1 ? Real(0.75) - square : Real(0.5) * square;
      Vec<Real, D> row;
#pragma unroll
      for (int k = 0; k < D; ++k) row[k] = fma(Real(part), packet.number[P::slope + k], packet.number[P::at_base + k]);
      const SplineWeights<Real, 3> wy(f[1]);
      if constexpr (D == 3) {
        const SplineWeights<Real, 3> wz(f[2]);
#pragma unroll
        for (int j = 0; j < 3; ++j) {
          const Real w2 = own * wy.w[j];
          Vec<Real, D> value = row;
#pragma unroll
          for (int l = 0; l < 3; ++l) {
            const Real w = w2 * wz.w[l];
            Real* const sum = acc[3 * j + l];
#pragma unroll
            for (int k = 0; k < D; ++k) sum[k] = fma(w, value[k], sum[k]);
            sum[3] = fma(w, m, sum[3]);
            if (l < 2)
#pragma unroll
              for (int k = 0; k < D; ++k) value[k] += packet.number[P::slope + 2 * D + k];
          }
          if (j < 2)
#pragma unroll
            for (int k = 0; k < D; ++k) row[k] += packet.number[P::slope + D + k];
        }
      } else {
#pragma unroll
        for (int j = 0; j < 3; ++j) {
          const Real w = own * wy.w[j];
#pragma unroll
          for (int k = 0; k < D; ++k) {
            acc[j][k] = fma(w, row[k], acc[j][k]);
            row[k] += packet.number[P::slope + D + k];
          }
          acc[j][3] = fma(w, m, acc[j][3]);
        }
      }
    }
    __syncthreads();
    for (int i = t; i < 3 * S::stride; i += S::threads) shared[i] = Quad<Real>(Real(0));
    __syncthreads();
    Cell<D> corner = unflatten<D>(cell, Shape::side);
    corner[0] += part;
    Quad<Real>* const mine = shared + S::stride * part + flatten(corner, Shape::arena_side);
#pragma unroll
    for (int s = 0; s < S::own_nodes; ++s) {
      Quad<Real>& node = mine[D == 3 ? s / 3 * Shape::arena_side + s % 3 : s];
      Quad<Real> value = node;
#pragma unroll
      for (int k = 0; k < 4; ++k) value.v[k] += acc[s][k];
      node = value;
      __syncthreads();
    }
    Quad<Real>* const out = a.arenas + Size{b} * Shape::arena_nodes;
    for (int i = t; i < Shape::arena_nodes; i += S::threads) {
      Quad<Real> sum = shared[i] + shared[S::stride + i] + shared[2 * S::stride + i];
      if (first > 0) sum = out[i] + sum;
      out[i] = sum;
    }
  }
}

}  // namespace

template <class Real, int D>
void packed_p2g(Exec& ex, const Constants<Real, D>& constants, double dt, const Array<Real>& inverse_density,
                PackedParticles<Real, D>& p) {
  using S = ScatterShape<Real, D>;
  constexpr int bytes = S::shared_quads * static_cast<int>(sizeof(Quad<Real>));
  check(cudaFuncSetAttribute(scatter<Real, D>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "p2g");
  const auto launch = [&](double step, Array<Quad<Real>>& arenas) {
    if (!constants.fast()) return scatter_packed_any(ex, constants, step, inverse_density, arenas, p);
    ex.run("p2g", [&] {
      scatter<Real, D><<<static_cast<unsigned>(p.table.bin_count), S::threads, bytes, ex.stream()>>>(
          {p.now.view(), p.order.data(), p.table.bins.data(), p.table.cell_begin.data(), inverse_density.data(),
           constants.dx, static_cast<Real>(step), arenas.data()});
      check(cudaGetLastError(), "p2g");
    });
  };
  launch(dt, p.arenas);
  if (constants.transfer.flip > 0) launch(0, p.arenas_before);
}

#define TRIBO_INSTANTIATE(Real, D) \
  template void packed_p2g(Exec&, const Constants<Real, D>&, double, const Array<Real>&, PackedParticles<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
