#pragma once

#include "tribo/math/lanes.h"
#include "tribo/math/small.h"

namespace tribo {

/// What tells the transfer schemes apart, as numbers: all of them gather velocity v and gradient L from the grid, move
/// particles with v and deform them by L, and differ in what of it particles keep for the way back (theory A.2, A.3):
///   v_p <- v + flip (v_p - sum_i w_ip v_i before the step)
///   C_p <- keep_skew skew(L) + keep_sym sym(L)
/// and PolyPIC in how many modes beyond the affine ones it keeps. As numbers and not as types, because kernels are
/// compiled for every law already.
template <class Real>
struct TransferRule {
  Real keep_skew = 1;
  Real keep_sym = 1;
  Real flip = 0;
  int poly_degree = 0;  ///< highest power along each axis of the modes beyond affine; 0: none

  TRIBO_HD bool keeps_all() const { return keep_skew == Real(1) && keep_sym == Real(1); }

  template <class T, int D>
  TRIBO_HD Mat<T, D> kept(const Mat<T, D>& L) const {
    if (keeps_all()) return L;
    const T same = T(Real(0.5) * (keep_sym + keep_skew)), other = T(Real(0.5) * (keep_sym - keep_skew));
    Mat<T, D> C;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) C(i, j) = fma(same, L(i, j), other * L(j, i));
    return C;
  }
};

/// A_p dx, the change of a particle's momentum from one node to the next: affine velocity and the stress of MLS-MPM,
///   P2G  m_i v_i = sum_p w_ip (m_p v_p + A_p (x_i - x_p)),   A_p = m_p C_p - dt V_p D^-1 tau_p,   D = dx^2 / 4.
template <class T, int D>
TRIBO_HD Mat<T, D> momentum_slope(const T& m, const Mat<T, D>& C, const T& volume, const Sym<T, D>& tau, const T& dx,
                                  const T& dt) {
  const T stress = -(dt * volume * (T(4) / dx));
  const T affine = m * dx;
  Mat<T, D> A;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) A(i, j) = fma(affine, C(i, j), stress * tau(i, j));
  return A;
}

/// Velocity gradient from the first moment of grid velocities, sum_i w v_i ((x_i - x_p)/dx)^T.
template <class T, int D>
TRIBO_HD Mat<T, D> velocity_gradient(const Mat<T, D>& moment, const T& dx) {
  return moment * (T(4) / dx);
}

}  // namespace tribo
