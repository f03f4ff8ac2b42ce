#pragma once

#include "tribo/exec/macros.h"

/// \file
/// The velocity modes of PolyPIC on the quadratic kernel [Fu 2017; theory A.4]: products over the axes of
///   s0 = 1,  s1 = z,  s2 = z^2 - b z - 1/4,   z = (x_i - x_p)/dx,  b = delta (1 - 4 delta^2),
/// delta the place of the particle seen from its nearest node, in cells. They are orthogonal under the weights.

namespace tribo {

/// The modes along one axis at the three nodes.
template <class Real>
struct AxisModes {
  Real at_node[3][3];    ///< [node][mode]: from coefficients to node values
  Real from_node[3][3];  ///< [mode][node]: from node values to coefficients, the projection under the weights
  Real norm[3];          ///< sum_i w s^2

  TRIBO_HD AxisModes(Real offset, const Real (&w)[3], int degree) {
    const Real delta = offset - Real(1);
    const Real flat = Real(1) - Real(4) * delta * delta;
    const Real b = delta * flat;
    norm[0] = Real(1);
    norm[1] = Real(0.25);
    norm[2] = flat * flat * (Real(3) - Real(4) * delta * delta) * Real(1.0 / 16);
    // Halfway between nodes the outer node has no weight and s2 vanishes on the others: nothing can be learnt of it.
    const bool visible = norm[2] > Real(1e-6);
    // Three values and three modes: projecting on s2 is taking the second difference, without dividing by its norm.
    const Real difference[3] = {Real(0.5), Real(-1), Real(0.5)};
    for (int j = 0; j < 3; ++j) {
      const Real z = Real(j) - offset;
      at_node[j][0] = Real(1);
      at_node[j][1] = z;
      at_node[j][2] = degree > 1 ? z * z - b * z - Real(0.25) : Real(0);
      from_node[0][j] = w[j];
      from_node[1][j] = Real(4) * w[j] * z;
      from_node[2][j] = degree > 1 && visible ? difference[j] : Real(0);
    }
  }
};

/// Whether a mode is beyond the affine ones, which v and C hold. Modes are numbered in base 3, last axis fastest.
template <int D>
TRIBO_HD constexpr bool beyond_affine(int mode) {
  int degree = 0;
  for (int k = 0; k < D; ++k, mode /= 3) degree += mode % 3;
  return degree > 1;
}

/// values <- (table_0 x table_1 x ...) values, one axis after the other: 3^D * 3 * D products instead of 9^D.
template <int D, class Value, class Real>
TRIBO_HD void transform_axes(const Real (*const (&table)[D])[3], Value* values) {
  constexpr int count = D == 3 ? 27 : 9;
  int stride = 1;
  TRIBO_UNROLL
  for (int axis = D - 1; axis >= 0; --axis, stride *= 3)
    TRIBO_UNROLL
    for (int s = 0; s < count; ++s) {
      if (s / stride % 3 != 0) continue;
      const Value in[3] = {values[s], values[s + stride], values[s + 2 * stride]};
      TRIBO_UNROLL
      for (int j = 0; j < 3; ++j) {
        const Real* const row = table[axis][j];
        values[s + j * stride] = in[0] * Value(row[0]) + in[1] * Value(row[1]) + in[2] * Value(row[2]);
      }
    }
}

}  // namespace tribo
