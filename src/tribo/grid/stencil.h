#pragma once

#include "tribo/exec/packs.h"
#include "tribo/grid/state.h"
#include "tribo/math/spline.h"

/// \file
/// The quadratic stencil of particles and its two uses, as fast as they can be made: adding a particle's momentum to
/// 3^D nodes, and summing 3^D node velocities for a particle. Node values are packs of four numbers, so each is one
/// SIMD instruction.

namespace tribo::TRIBO_BACKEND {

/// Base cells and weights of a pack of particles, relative to the arena of their block.
template <class Real, int D>
struct PackStencil {
  using T = ParticlePack<Real>;
  T offset[D];     ///< position minus base node, in cells, in [0.5, 1.5)
  T weight[D][3];  ///< per axis
  T cell;          ///< flat index of the base node in the arena; small enough to be exact in float

  TRIBO_HD PackStencil(const T* x, const T& inverse_dx, const Cell<D>& block) {
    using Shape = BlockShape<D>;
    cell = T(0);
    for (int k = 0; k < D; ++k) {
      const T scaled = in_cells(x[k], inverse_dx);
      const T base = base_node<3>(scaled);
      offset[k] = scaled - base;
      const SplineWeights<T, 3> w(offset[k]);
      for (int j = 0; j < 3; ++j) weight[k][j] = w.w[j];
      cell = fma(cell, T(Real(Shape::arena_side)), base - T(Real(block[k] * Shape::side - Shape::margin)));
    }
  }
};

/// One particle's momentum as a function of the node: value at the base node and slope along each axis, each with
/// the mass in the last place.
template <class Real, int D>
struct MomentumPacket {
  NodePack<Real> at_base;
  NodePack<Real> slope[D];
  Real weight[D][3];
};

/// acc[node] += w_node (m v + A (x_node - x_p), m) over the stencil, last axis fastest.
template <class Real>
TRIBO_HD void accumulate(const MomentumPacket<Real, 3>& p, NodePack<Real>* acc) {
  using Pack = NodePack<Real>;
  Pack plane[3], step_x[3], step_y[3];
  TRIBO_UNROLL
  for (int k = 0; k < 3; ++k) {
    const Pack w = Pack(p.weight[2][k]);
    plane[k] = w * fma(Pack(Real(k)), p.slope[2], p.at_base);
    step_x[k] = w * p.slope[0];
    step_y[k] = w * p.slope[1];
  }
  TRIBO_UNROLL
  for (int i = 0; i < 3; ++i) {
    Pack row[3] = {plane[0], plane[1], plane[2]};
    TRIBO_UNROLL
    for (int j = 0; j < 3; ++j) {
      const Pack w = Pack(p.weight[0][i] * p.weight[1][j]);
      TRIBO_UNROLL
      for (int k = 0; k < 3; ++k) {
        acc[9 * i + 3 * j + k] = fma(w, row[k], acc[9 * i + 3 * j + k]);
        row[k] = row[k] + step_y[k];
      }
    }
    TRIBO_UNROLL
    for (int k = 0; k < 3; ++k) plane[k] = plane[k] + step_x[k];
  }
}
template <class Real>
TRIBO_HD void accumulate(const MomentumPacket<Real, 2>& p, NodePack<Real>* acc) {
  using Pack = NodePack<Real>;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Pack value = fma(Pack(Real(i)), p.slope[0], fma(Pack(Real(j)), p.slope[1], p.at_base));
      acc[3 * i + j] = fma(Pack(p.weight[0][i] * p.weight[1][j]), value, acc[3 * i + j]);
    }
}

/// Arena offset of the s-th node of a stencil from its base.
template <int D, int Kernel = 3>
TRIBO_HD constexpr int stencil_offset(int s) {
  int offset = 0;
  int scale = 1;
  for (int k = 0; k < D; ++k) {
    offset += s % Kernel * scale;
    s /= Kernel;
    scale *= BlockShape<D, Kernel>::arena_side;
  }
  return offset;
}

/// Velocity and its first moments at a particle: sum w v and, per axis a, sum w v (x_i - x_p)_a / dx.
template <class Real, int D>
struct GridSample {
  NodePack<Real> velocity;
  NodePack<Real> moment[D];
};

/// Sums along the last axis, then the middle, then the first: a third of the work of 3^D separate terms.
template <class Real>
TRIBO_HD GridSample<Real, 3> gather(const NodePack<Real>* base, const Real (&w)[3][3], const Real (&offset)[3]) {
  using Pack = NodePack<Real>;
  constexpr int side = BlockShape<3>::arena_side;
  GridSample<Real, 3> r;
  TRIBO_UNROLL
  for (int i = 0; i < 3; ++i) {
    Pack value, slope_y, slope_z;
    TRIBO_UNROLL
    for (int j = 0; j < 3; ++j) {
      const Pack* row = base + (i * side + j) * side;
      const Pack z0 = row[0] * Pack(w[2][0]), z1 = row[1] * Pack(w[2][1]), z2 = row[2] * Pack(w[2][2]);
      const Pack sum = z0 + z1 + z2;
      const Pack moment = fma(z2, Pack(Real(2)), z1);  // about the base node; shifted to the particle at the end
      const Pack wy = Pack(w[1][j]);
      if (j == 0) {
        value = wy * sum;
        slope_z = wy * moment;
      } else {
        const Pack term = wy * sum;
        value = value + term;
        slope_z = fma(wy, moment, slope_z);
        slope_y = j == 1 ? term : fma(term, Pack(Real(2)), slope_y);
      }
    }
    const Pack wx = Pack(w[0][i]);
    if (i == 0) {
      r.velocity = wx * value;
      r.moment[1] = wx * slope_y;
      r.moment[2] = wx * slope_z;
    } else {
      const Pack term = wx * value;
      r.velocity = r.velocity + term;
      r.moment[1] = fma(wx, slope_y, r.moment[1]);
      r.moment[2] = fma(wx, slope_z, r.moment[2]);
      r.moment[0] = i == 1 ? term : fma(term, Pack(Real(2)), r.moment[0]);
    }
  }
  TRIBO_UNROLL
  for (int k = 0; k < 3; ++k) r.moment[k] = fma(Pack(-offset[k]), r.velocity, r.moment[k]);
  return r;
}
template <class Real>
TRIBO_HD GridSample<Real, 2> gather(const NodePack<Real>* base, const Real (&w)[2][3], const Real (&offset)[2]) {
  using Pack = NodePack<Real>;
  GridSample<Real, 2> r{Pack(Real(0)), {Pack(Real(0)), Pack(Real(0))}};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const Pack term = base[i * BlockShape<2>::arena_side + j] * Pack(w[0][i] * w[1][j]);
      r.velocity = r.velocity + term;
      r.moment[0] = fma(term, Pack(Real(i) - offset[0]), r.moment[0]);
      r.moment[1] = fma(term, Pack(Real(j) - offset[1]), r.moment[1]);
    }
  return r;
}

}  // namespace tribo::TRIBO_BACKEND
