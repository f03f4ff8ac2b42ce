#include "tribo/grid/arena.h"
#include "tribo/grid/cuda/transfer.cuh"
#include "tribo/grid/stencil.h"
#include "tribo/transfer/modes.h"

/// \file
/// What grid/general_transfer.cpp does, on packed particles: any kernel, PolyPIC's modes, and forces through gradients
/// of the weights. Sums go axis by axis.

namespace tribo::TRIBO_BACKEND {
namespace {

/// A combination that kernels are compiled for.
template <int Nodes, bool WithGradient, bool WithPoly>
struct Scheme {
  static constexpr int kernel = Nodes;
  static constexpr bool gradient = WithGradient;  ///< stress acts through gradients of the weights
  static constexpr bool poly = WithPoly;          ///< PolyPIC's modes; quadratic kernel
};

/// work(Scheme) for what the scene asks for.
template <class Real, int D, class Work>
void with_scheme(const Constants<Real, D>& constants, const Work& work) {
  const bool poly = constants.transfer.poly_degree > 0;
  with_kernel(constants.kernel, [&]<int Kernel>(std::integral_constant<int, Kernel>) {
    if constexpr (Kernel == 3) {
      if (poly && constants.gradient_forces) return work(Scheme<3, true, true>{});
      if (poly) return work(Scheme<3, false, true>{});
      return work(Scheme<3, true, false>{});  // the rest is what the fast kernels do
    } else {
      if (constants.gradient_forces) return work(Scheme<Kernel, true, false>{});
      return work(Scheme<Kernel, false, false>{});
    }
  });
}

/// What P2G needs of a particle, in shared memory: mass, offset from the base node in cells, momentum as a polynomial,
/// and the stress impulse that multiplies dx grad w. The polynomial: value at the particle and slope along each axis of
/// (x_i - x_p)/dx; of PolyPIC the coefficients of all 3^D modes, in which these are among the others.
template <class Real, int D, class S>
struct AnyPacket {
  static constexpr int modes = S::poly ? power(3, D) : 1 + D;
  static constexpr int mass = 0, offset = 1, mode = 1 + D, stress = mode + D * modes;
  static constexpr int used = stress + (S::gradient ? Sym<Real, D>::size : 0);
  /// Read number by number where they are too many for registers, and then apart by an odd number, against conflicts of
  /// banks; else as quads.
  static constexpr int size = S::poly ? used | 1 : (used + 3) / 4 * 4;

  /// Where the coefficients of a slope are.
  TRIBO_HD static constexpr int slope(int axis) { return mode + D * (S::poly ? power(3, D - 1 - axis) : 1 + axis); }
};

/// As many threads share a cell as the kernel has nodes along an axis, each with one offset along the first.
template <class Real, int D, class S>
struct AnyScatter {
  using Shape = BlockShape<D, S::kernel>;
  static constexpr int threads = S::kernel * Shape::nodes;
  static constexpr int own_nodes = Shape::stencil / S::kernel;
  static constexpr int chunk = S::poly ? (sizeof(Real) == 4 ? 128 : 64) : sizeof(Real) == 4 ? 2 * threads : threads;
  static constexpr int stride = Shape::arena_nodes + 5;
  static constexpr int staged = (chunk * AnyPacket<Real, D, S>::size + 3) / 4;
  static constexpr int shared_quads = staged > S::kernel* stride ? staged : S::kernel* stride;
  static_assert(shared_quads * sizeof(Quad<Real>) <= 65536, "what the oldest GPUs have");
};

template <class Real, int D>
struct AnyScatterArguments {
  PackedView<Real, D> particles;
  const Index* order;
  const Bin<D>* bins;
  const Index* cell_begin;
  const Real* inverse_density;
  Real dx, dt;
  int poly_degree;
  Quad<Real>* arenas;
};

/// One number of the thread's own along the first axis.
template <int Kernel, class Real>
__device__ __forceinline__ Real pick(const Real (&values)[Kernel], int part) {
  Real r = values[0];
#pragma unroll
  for (int i = 1; i < Kernel; ++i) r = part == i ? values[i] : r;
  return r;
}

template <class Real, int D, class S>
__device__ __forceinline__ void stage_packet(const AnyScatterArguments<Real, D>& a, Index from, Real volume_per_mass,
                                             Real* shared) {
  using Layout = PackedLayout<D>;
  using P = AnyPacket<Real, D, S>;
  constexpr Real inertia = Real(kernel_inertia(S::kernel));
  PackedParticle<Real, D> particle;
  particle.template load<0, Layout::scatter_quads>(a.particles, from);
  const Real m = particle.number[Layout::m];
  Real out[P::size];
#pragma unroll
  for (int k = P::used; k < P::size; ++k) out[k] = Real(0);
  out[P::mass] = m;
#pragma unroll
  for (int k = 0; k < D; ++k) {
    const Real scaled = in_cells(particle.number[Layout::x + k], Real(1) / a.dx);
    out[P::offset + k] = scaled - base_node<S::kernel>(scaled);
    out[P::mode + k] = m * particle.number[Layout::v + k];
  }
  Sym<Real, D> impulse;
#pragma unroll
  for (int k = 0; k < Sym<Real, D>::size; ++k)
    impulse.s[k] = -(a.dt * volume_per_mass * m / a.dx) * particle.number[Layout::tau + k];
#pragma unroll
  for (int axis = 0; axis < D; ++axis)
#pragma unroll
    for (int k = 0; k < D; ++k) {
      Real slope = m * a.dx * particle.number[Layout::C + D * k + axis];
      if constexpr (!S::gradient) slope = fma(Real(1) / inertia, impulse(k, axis), slope);
      out[P::slope(axis) + k] = slope;
    }
  if constexpr (S::gradient)
#pragma unroll
    for (int k = 0; k < Sym<Real, D>::size; ++k) out[P::stress + k] = impulse.s[k];
  if constexpr (S::poly) {
    Real higher[4 * poly_quads<D>];
#pragma unroll
    for (int q = 0; q < poly_quads<D>; ++q) {
      const Quad<Real> quad = a.particles.poly[q][from];
#pragma unroll
      for (int k = 0; k < 4; ++k) higher[4 * q + k] = quad.v[k];
    }
    int next = 0;
#pragma unroll
    for (int mode = 0; mode < P::modes; ++mode) {
      if (!beyond_affine<D>(mode)) continue;
#pragma unroll
      for (int k = 0; k < D; ++k) out[P::mode + D * mode + k] = m * higher[next++];
    }
  }
  if constexpr (S::poly) {
#pragma unroll
    for (int k = 0; k < P::used; ++k) shared[k] = out[k];
  } else {
#pragma unroll
    for (int q = 0; q < P::size / 4; ++q) {
      Quad<Real> quad;
#pragma unroll
      for (int k = 0; k < 4; ++k) quad.v[k] = out[4 * q + k];
      reinterpret_cast<Quad<Real>*>(shared)[q] = quad;
    }
  }
}

/// Adds a particle's part to the nodes of one thread: those with offset `part` along the first axis.
template <class Real, int D, class S>
__device__ __forceinline__ void add_packet(const Real* packet, int part, int poly_degree,
                                           Real (&acc)[AnyScatter<Real, D, S>::own_nodes][4]) {
  using P = AnyPacket<Real, D, S>;
  constexpr int K = S::kernel;
  const Real m = packet[P::mass];
  Real weight[D][K], derivative[D][K];
#pragma unroll
  for (int k = 0; k < D; ++k) {
    const SplineWeights<Real, K> w(packet[P::offset + k]);
    const SplineDerivatives<Real, K> d(packet[P::offset + k]);
#pragma unroll
    for (int i = 0; i < K; ++i) {
      weight[k][i] = w.w[i];
      derivative[k][i] = d.d[i];
    }
  }
  const Real own = pick(weight[0], part);
  const Real own_derivative = pick(derivative[0], part);

  // The polynomial at the thread's offset along the first axis: 3^(D-1) modes of the others, or value and slopes.
  constexpr int rest = S::poly ? power(3, D - 1) : D;
  Real along[rest][D];
  Real table[D][3][3];  // [axis][node][mode]
  if constexpr (S::poly) {
#pragma unroll
    for (int axis = 0; axis < D; ++axis) {
      const AxisModes<Real> modes(packet[P::offset + axis], weight[axis], poly_degree);
#pragma unroll
      for (int i = 0; i < 3; ++i)
#pragma unroll
        for (int j = 0; j < 3; ++j) table[axis][i][j] = modes.at_node[i][j];
    }
    Real row[3];
#pragma unroll
    for (int j = 0; j < 3; ++j) row[j] = part == 0 ? table[0][0][j] : part == 1 ? table[0][1][j] : table[0][2][j];
#pragma unroll
    for (int mode = 0; mode < rest; ++mode)
#pragma unroll
      for (int k = 0; k < D; ++k) {
        const Real* const c = packet + P::mode + D * mode + k;
        along[mode][k] = fma(row[2], c[2 * D * rest], fma(row[1], c[D * rest], row[0] * c[0]));
      }
  } else {
    const Real z = Real(part) - packet[P::offset];
#pragma unroll
    for (int k = 0; k < D; ++k) {
      along[0][k] = fma(z, packet[P::slope(0) + k], packet[P::mode + k]);
#pragma unroll
      for (int axis = 1; axis < D; ++axis) along[axis][k] = packet[P::slope(axis) + k];
    }
  }
  Sym<Real, D> impulse;
  if constexpr (S::gradient)
#pragma unroll
    for (int k = 0; k < Sym<Real, D>::size; ++k) impulse.s[k] = packet[P::stress + k];

  constexpr int last = D - 1;
  constexpr int middle_nodes = D == 3 ? K : 1;
#pragma unroll
  for (int j = 0; j < middle_nodes; ++j) {
    // Along the second axis of three.
    constexpr int left = S::poly ? 3 : 2;
    Real line[left][D];
#pragma unroll
    for (int k = 0; k < D; ++k) {
      if constexpr (D == 2) {
#pragma unroll
        for (int q = 0; q < left; ++q) line[q][k] = along[q][k];
      } else if constexpr (S::poly) {
#pragma unroll
        for (int q = 0; q < 3; ++q)
          line[q][k] =
              fma(table[1][j][2], along[6 + q][k], fma(table[1][j][1], along[3 + q][k], table[1][j][0] * along[q][k]));
      } else {
        line[0][k] = fma(Real(j) - packet[P::offset + 1], along[1][k], along[0][k]);
        line[1][k] = along[2][k];
      }
    }
    const Real two = D == 3 ? own * weight[D - 2][j] : own;
    // Stress impulses, but for the factor of the last axis: its weight, or its derivative.
    Real by_weight[D], by_derivative[D];
    if constexpr (S::gradient) {
#pragma unroll
      for (int k = 0; k < D; ++k) {
        by_derivative[k] = two * impulse(k, last);
        by_weight[k] = own_derivative * impulse(k, 0);
        if constexpr (D == 3) by_weight[k] = fma(by_weight[k], weight[1][j], own * derivative[1][j] * impulse(k, 1));
      }
    }
#pragma unroll
    for (int l = 0; l < K; ++l) {
      const Real w = two * weight[last][l];
      Real* const sum = acc[K * j + l];
#pragma unroll
      for (int k = 0; k < D; ++k) {
        Real value;
        if constexpr (S::poly)
          value =
              fma(table[last][l][2], line[2][k], fma(table[last][l][1], line[1][k], table[last][l][0] * line[0][k]));
        else
          value = fma(Real(l) - packet[P::offset + last], line[1][k], line[0][k]);
        sum[k] = fma(w, value, sum[k]);
        if constexpr (S::gradient)
          sum[k] = fma(derivative[last][l], by_derivative[k], fma(weight[last][l], by_weight[k], sum[k]));
      }
      sum[3] = fma(w, m, sum[3]);
    }
  }
}

/// As `scatter` in p2g.cu: packets in shared memory, sums in registers, private arenas for each offset along the first
/// axis, in phases in each of which no two threads share a node.
template <class Real, int D, class S>
__global__ void __launch_bounds__(AnyScatter<Real, D, S>::threads) scatter_any(const AnyScatterArguments<Real, D> a) {
  using A = AnyScatter<Real, D, S>;
  using P = AnyPacket<Real, D, S>;
  using Shape = typename A::Shape;
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const shared = reinterpret_cast<Quad<Real>*>(memory);
  const auto b = static_cast<Index>(blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  const Bin<D> bin = a.bins[b];
  const Index n = bin.end - bin.begin;
  const int cell = t / S::kernel;
  const int part = t % S::kernel;
  const Index low = a.cell_begin[Size{b} * Shape::nodes + cell];
  const Index high = cell + 1 < Shape::nodes ? a.cell_begin[Size{b} * Shape::nodes + cell + 1] : n;
  const Real volume_per_mass = a.inverse_density[bin.group];

  Real acc[A::own_nodes][4];
#pragma unroll
  for (int s = 0; s < A::own_nodes; ++s)
#pragma unroll
    for (int k = 0; k < 4; ++k) acc[s][k] = Real(0);
  for (Index first = 0; first < n; first += A::chunk) {
    const int count = static_cast<int>(n - first < A::chunk ? n - first : A::chunk);
    if (first > 0) __syncthreads();
    for (int q = t; q < count; q += A::threads)
      stage_packet<Real, D, S>(a, a.order[bin.begin + first + q], volume_per_mass,
                               reinterpret_cast<Real*>(shared) + P::size * q);
    __syncthreads();
    const int begin = static_cast<int>(low > first ? low - first : 0);
    const int end = static_cast<int>(high - first < count ? high - first : count);
    for (int q = begin; q < end; ++q) {
      if constexpr (S::poly) {
        add_packet<Real, D, S>(reinterpret_cast<const Real*>(shared) + P::size * q, part, a.poly_degree, acc);
      } else {
        Real packet[P::size];
#pragma unroll
        for (int k = 0; k < P::size / 4; ++k) {
          const Quad<Real> quad = shared[P::size / 4 * q + k];
#pragma unroll
          for (int c = 0; c < 4; ++c) packet[4 * k + c] = quad.v[c];
        }
        add_packet<Real, D, S>(packet, part, a.poly_degree, acc);
      }
    }
  }
  __syncthreads();
  for (int i = t; i < S::kernel * A::stride; i += A::threads) shared[i] = Quad<Real>(Real(0));
  __syncthreads();
  Cell<D> corner = unflatten<D>(cell, Shape::side);
  corner[0] += part;
  Quad<Real>* const mine = shared + A::stride * part + flatten(corner, Shape::arena_side);
#pragma unroll
  for (int s = 0; s < A::own_nodes; ++s) {
    Quad<Real>& node = mine[D == 3 ? s / S::kernel * Shape::arena_side + s % S::kernel : s];
    Quad<Real> value = node;
#pragma unroll
    for (int k = 0; k < 4; ++k) value.v[k] += acc[s][k];
    node = value;
    __syncthreads();
  }
  Quad<Real>* const out = a.arenas + Size{b} * Shape::arena_nodes;
  for (int i = t; i < Shape::arena_nodes; i += A::threads) {
    Quad<Real> sum = shared[i];
#pragma unroll
    for (int q = 1; q < S::kernel; ++q) sum = sum + shared[q * A::stride + i];
    out[i] = sum;
  }
}

constexpr int gather_threads = 128;

template <class Real, int D>
struct AnyGatherArguments {
  PackedView<Real, D> from, to;
  FieldView<Real, D * D> velocity_gradient;
  const Index* order;
  const Bin<D>* bins;
  BlockSets<D> blocks;
  const Quad<Real>* grid;
  const Quad<Real>* grid_before;
  TransferRule<Real> rule;
  Real dx, dt;
  double speed_limit;
  LaterBins later;
  std::uint8_t* moved_to;
  Index* reached;
  Marker<D> marker;
  StepTally* tally;
};

/// A particle's place among the nodes.
template <class Real, int D, class S>
struct Place {
  Real offset[D];
  Real weight[D][S::kernel];
  Real derivative[D][S::kernel];
  int cell = 0;

  __device__ __forceinline__ Place(const Real* x, Real inverse_dx, const Cell<D>& block) {
    using Shape = BlockShape<D, S::kernel>;
#pragma unroll
    for (int k = 0; k < D; ++k) {
      const Real scaled = in_cells(x[k], inverse_dx);
      const Real base = base_node<S::kernel>(scaled);
      offset[k] = scaled - base;
      const SplineWeights<Real, S::kernel> w(offset[k]);
      const SplineDerivatives<Real, S::kernel> d(offset[k]);
#pragma unroll
      for (int i = 0; i < S::kernel; ++i) {
        weight[k][i] = w.w[i];
        derivative[k][i] = d.d[i];
      }
      cell = cell * Shape::arena_side + static_cast<int>(base) - block[k] * Shape::side;
    }
  }
};

/// What the nodes say at a particle. Which of the two gradients exists depends on the scheme.
template <class Real, int D>
struct AnySample {
  Real velocity[D];
  Real moment[D][D];  ///< [axis][component]: sum w v ((x_i - x_p)/dx)
  Real slope[D][D];   ///< sum v dx grad w
};

/// Sums one axis after the other, the last one first. `Axis` is the one that is summed here.
template <class Real, int D, class S, int Axis>
__device__ __forceinline__ AnySample<Real, D> sum_from(const Quad<Real>* node, const Place<Real, D, S>& place) {
  constexpr int stride = power(BlockShape<D, S::kernel>::arena_side, D - 1 - Axis);
  AnySample<Real, D> r;
#pragma unroll
  for (int k = 0; k < D; ++k) {
    r.velocity[k] = Real(0);
#pragma unroll
    for (int axis = Axis; axis < D; ++axis) r.moment[axis][k] = r.slope[axis][k] = Real(0);
  }
#pragma unroll
  for (int i = 0; i < S::kernel; ++i) {
    AnySample<Real, D> inner;
    if constexpr (Axis + 1 < D) {
      inner = sum_from<Real, D, S, Axis + 1>(node + i * stride, place);
    } else {
      const Quad<Real> value = node[i];
#pragma unroll
      for (int k = 0; k < D; ++k) inner.velocity[k] = value.v[k];
    }
    const Real w = place.weight[Axis][i];
    const Real moment = w * (Real(i) - place.offset[Axis]);
    const Real derivative = place.derivative[Axis][i];
#pragma unroll
    for (int k = 0; k < D; ++k) {
      r.velocity[k] = fma(w, inner.velocity[k], r.velocity[k]);
      r.moment[Axis][k] = fma(moment, inner.velocity[k], r.moment[Axis][k]);
      r.slope[Axis][k] = fma(derivative, inner.velocity[k], r.slope[Axis][k]);
#pragma unroll
      for (int axis = Axis + 1; axis < D; ++axis) {
        r.moment[axis][k] = fma(w, inner.moment[axis][k], r.moment[axis][k]);
        r.slope[axis][k] = fma(w, inner.slope[axis][k], r.slope[axis][k]);
      }
    }
  }
  return r;
}

/// PolyPIC's higher modes of the nodes around a particle, component by component: the whole would not fit registers.
template <class Real, int D, class S>
__device__ __forceinline__ void keep_modes(const Quad<Real>* node, const Place<Real, D, S>& place, Real mass,
                                           int poly_degree, const PackedView<Real, D>& to, Index s) {
  using Shape = BlockShape<D, 3>;
  Real lightest = mass;
#pragma unroll
  for (int i = 0; i < Shape::stencil; ++i) lightest = min(lightest, node[place.cell + stencil_offset<D, 3>(i)].v[3]);
  // As on the CPU: second differences at a free surface would be noise.
  const int degree = lightest < Real(0.1) * mass ? 1 : poly_degree;
  Real tables[D][3][3];
#pragma unroll
  for (int axis = 0; axis < D; ++axis) {
    const AxisModes<Real> modes(place.offset[axis], place.weight[axis], degree);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 3; ++j) tables[axis][i][j] = modes.from_node[i][j];
  }
  const Real(*table[D])[3];
#pragma unroll
  for (int axis = 0; axis < D; ++axis) table[axis] = tables[axis];
  Real higher[4 * poly_quads<D>];
#pragma unroll
  for (int k = poly_numbers<D>; k < 4 * poly_quads<D>; ++k) higher[k] = Real(0);
#pragma unroll
  for (int k = 0; k < D; ++k) {
    Real values[Shape::stencil];
#pragma unroll
    for (int i = 0; i < Shape::stencil; ++i) values[i] = node[place.cell + stencil_offset<D, 3>(i)].v[k];
    transform_axes<D>(table, values);
    int next = k;
#pragma unroll
    for (int mode = 0; mode < Shape::stencil; ++mode) {
      if (!beyond_affine<D>(mode)) continue;
      higher[next] = values[mode];
      next += D;
    }
  }
#pragma unroll
  for (int q = 0; q < poly_quads<D>; ++q) {
    Quad<Real> quad;
#pragma unroll
    for (int k = 0; k < 4; ++k) quad.v[k] = higher[4 * q + k];
    to.poly[q][s] = quad;
  }
}

/// Moves one bin's particles by the grid, writes them in sorted order with their velocity gradients for
/// `deform_packed`, and counts them by the cells they are in now.
template <class Real, int D, class S>
__global__ void __launch_bounds__(gather_threads) gather_any(const AnyGatherArguments<Real, D> a) {
  using Layout = PackedLayout<D>;
  using Shape = BlockShape<D, S::kernel>;
  constexpr int corners = 1 << D;
  constexpr Real inertia = Real(kernel_inertia(S::kernel));
  extern __shared__ __align__(16) unsigned char memory[];
  auto* const node = reinterpret_cast<Quad<Real>*>(memory);
  auto* const node_before = node + Shape::arena_nodes;
  __shared__ MoveCount<D> moves;
  __shared__ Index source[corners];
  if (is_cancelled(a.tally, a.speed_limit)) return;
  const auto b = static_cast<Index>(blockIdx.x);
  const int t = static_cast<int>(threadIdx.x);
  const Bin<D> bin = a.bins[b];
  const bool counts = !a.later.has(b);
  const bool flip = a.rule.flip > Real(0);
  if (t < corners) {
    Cell<D> block = bin.block;
#pragma unroll
    for (int k = 0; k < D; ++k) block[k] += t >> (D - 1 - k) & 1;
    source[t] = a.blocks.find(0, block);
  }
  moves.clear(t, gather_threads);
  __syncthreads();
  stage_nodes<D, S::kernel, gather_threads>(source, a.grid, node);
  if (flip) stage_nodes<D, S::kernel, gather_threads>(source, a.grid_before, node_before);
  __syncthreads();

  const Real inverse_dx = Real(1) / a.dx;
  for (Index s = bin.begin + t; s < bin.end; s += gather_threads) {
    const Index slot = a.order[s];
    PackedParticle<Real, D> particle;
    particle.template load<0, Layout::motion_quads>(a.from, slot);
    Real* const number = particle.number;
    const Place<Real, D, S> place(number + Layout::x, inverse_dx, bin.block);
    const AnySample<Real, D> sample = sum_from<Real, D, S, 0>(node + place.cell, place);
    if constexpr (S::poly) keep_modes<Real, D, S>(node, place, number[Layout::m], a.rule.poly_degree, a.to, s);
    Vec<Real, D> x;
    Real kept[D];
#pragma unroll
    for (int k = 0; k < D; ++k) kept[k] = sample.velocity[k];
    if (flip) {  // what of its own velocity the grid did not see before the step
      const AnySample<Real, D> before = sum_from<Real, D, S, 0>(node_before + place.cell, place);
#pragma unroll
      for (int k = 0; k < D; ++k) kept[k] = fma(a.rule.flip, number[Layout::v + k] - before.velocity[k], kept[k]);
    }
    Mat<Real, D> affine;
#pragma unroll
    for (int k = 0; k < D; ++k)
#pragma unroll
      for (int axis = 0; axis < D; ++axis) {
        // The linear kernel's second moment may vanish; there B D^-1 is the gradient (theory A.2).
        affine(k, axis) = S::kernel == 2 ? sample.slope[axis][k] / a.dx : sample.moment[axis][k] / (inertia * a.dx);
        a.velocity_gradient[D * k + axis][s] = S::gradient ? sample.slope[axis][k] / a.dx : affine(k, axis);
      }
    const Mat<Real, D> C = a.rule.kept(affine);
#pragma unroll
    for (int k = 0; k < D * D; ++k) number[Layout::C + k] = (&C.m[0][0])[k];
#pragma unroll
    for (int k = 0; k < D; ++k) {
      x[k] = fma(a.dt, sample.velocity[k], number[Layout::x + k]);
      number[Layout::x + k] = x[k];
      number[Layout::v + k] = kept[k];
    }
    particle.template store<0, Layout::motion_quads>(a.to, s);
    if (counts) a.moved_to[s] = moves.add(x, inverse_dx, Real(kernel_shift(S::kernel)), bin.block, a.tally);
  }
  if (!counts) return;
  __syncthreads();
  moves.write(a.reached + Size{b} * Reach<D>::cells, t, gather_threads);
  __syncthreads();
  a.marker.mark(bin, moves.touched, t, gather_threads);
}

}  // namespace

template <class Real, int D>
void scatter_packed_any(Exec& ex, const Constants<Real, D>& constants, double dt, const Array<Real>& inverse_density,
                        Array<Quad<Real>>& arenas, PackedParticles<Real, D>& p) {
  with_scheme(constants, [&]<class S>(S) {
    using A = AnyScatter<Real, D, S>;
    constexpr int bytes = A::shared_quads * static_cast<int>(sizeof(Quad<Real>));
    check(cudaFuncSetAttribute(scatter_any<Real, D, S>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "p2g");
    ex.run("p2g", [&] {
      scatter_any<Real, D, S><<<static_cast<unsigned>(p.table.bin_count), A::threads, bytes, ex.stream()>>>(
          {p.now.view(), p.order.data(), p.table.bins.data(), p.table.cell_begin.data(), inverse_density.data(),
           constants.dx, static_cast<Real>(dt), constants.transfer.poly_degree, arenas.data()});
      check(cudaGetLastError(), "p2g");
    });
  });
}

template <class Real, int D>
void gather_packed_any(Exec& ex, const Constants<Real, D>& constants, double dt, double speed_limit, bool confines,
                       PackedParticles<Real, D>& p) {
  with_scheme(constants, [&]<class S>(S) {
    const int bytes = BlockShape<D, S::kernel>::arena_nodes * static_cast<int>(sizeof(Quad<Real>)) *
                      (constants.transfer.flip > 0 ? 2 : 1);
    ex.run("g2p", [&] {
      gather_any<Real, D, S><<<static_cast<unsigned>(p.table.bin_count), gather_threads, bytes, ex.stream()>>>(
          {p.now.view(), p.next.view(), view(p.gradient), p.order.data(), p.table.bins.data(),
           p.table.grid_index.view(p.tiles.view()), p.grid.data(), p.grid_before.data(), constants.transfer,
           constants.dx, static_cast<Real>(dt), speed_limit, later_bins(constants, confines, p), p.moved_to.data(),
           p.reached.data(), next_marker(p), p.tally.data()});
      check(cudaGetLastError(), "g2p");
    });
  });
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                   \
  template void scatter_packed_any(Exec&, const Constants<Real, D>&, double, const Array<Real>&, Array<Quad<Real>>&, \
                                   PackedParticles<Real, D>&);                                                       \
  template void gather_packed_any(Exec&, const Constants<Real, D>&, double, double, bool, PackedParticles<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
