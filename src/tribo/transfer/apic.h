#pragma once

#include "tribo/math/lanes.h"
#include "tribo/math/small.h"

namespace tribo {

/// Affine particle-in-cell [Jiang 2017, sec. 4.2; GAMES201 L6] with the MLS-MPM stress term. Conserves mass, linear
/// and angular momentum (the affine part counted) in both directions; keeps affine motion exactly.
///   P2G  m_i v_i = sum_p w_ip (m_p v_p + A_p (x_i - x_p)),   A_p = m_p C_p - dt V_p D^-1 tau_p
///   G2P  v_p = sum_i w_ip v_i,   C_p = sum_i w_ip v_i (x_i - x_p)^T D^-1,   D = dx^2 / 4 (quadratic kernel)
struct Apic {
  static constexpr const char* name = "apic";
  static constexpr const char* doc = "affine particle-in-cell: conserves linear and angular momentum";

  /// A_p dx, the change of a particle's momentum from one node to the next.
  template <class T, int D>
  TRIBO_HD static Mat<T, D> momentum_slope(const T& m, const Mat<T, D>& C, const T& volume, const Sym<T, D>& tau,
                                           const T& dx, const T& dt) {
    const T stress = -(dt * volume * (T(4) / dx));
    const T affine = m * dx;
    Mat<T, D> A;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) A(i, j) = fma(affine, C(i, j), stress * tau(i, j));
    return A;
  }

  /// C_p from the first moment of grid velocities, sum_i w v_i ((x_i - x_p)/dx)^T.
  template <class T, int D>
  TRIBO_HD static Mat<T, D> affine_velocity(const Mat<T, D>& moment, const T& dx) {
    return moment * (T(4) / dx);
  }
};

}  // namespace tribo
