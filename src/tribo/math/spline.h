#pragma once

#include <limits>

#include "tribo/exec/macros.h"
#include "tribo/math/lanes.h"

/// \file
/// B-spline kernels: the weights of the nodes around a particle, per axis, and their derivatives. Positions are in
/// units of the grid spacing, x / dx; u = (x_p - x_i) / dx is the place of a particle seen from a node (theory A.1).
///   linear     N = 1 - |u|                          |u| < 1
///   quadratic  N = 3/4 - u^2                        |u| < 1/2
///              N = (3/2 - |u|)^2 / 2                |u| < 3/2    [Steffen 2008]
///   cubic      N = |u|^3/2 - u^2 + 2/3              |u| < 1
///              N = (2 - |u|)^3 / 6                  |u| < 2

namespace tribo {

/// How far below a particle its first node may lie at least, in cells: the first node is floor(x / dx - shift). Floor,
/// not truncation, so that negative positions are right too.
TRIBO_HD constexpr double kernel_shift(int nodes) { return 0.5 * (nodes - 2); }

/// Second moment of the weights, sum_i w ((x_i - x_p)/dx)^2: D_p = inertia dx^2 I in APIC (Jiang 2017, 4.2.2). The
/// linear kernel's varies with the position and may vanish: none is answered, which no result survives.
TRIBO_HD constexpr double kernel_inertia(int nodes) {
  return nodes == 4 ? 1.0 / 3 : nodes == 3 ? 0.25 : std::numeric_limits<double>::quiet_NaN();
}
TRIBO_HD constexpr double linear_kernel_inertia(double offset) { return offset * (1 - offset); }

/// x / dx, rounded once: whoever finds a particle's cell must find the same one, so on the GPU the product is kept from
/// being fused with what follows.
template <class T>
TRIBO_HD T in_cells(const T& x, const T& inverse_dx) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == sizeof(float))
    return __fmul_rn(x, inverse_dx);
  else
    return __dmul_rn(x, inverse_dx);
#else
  return x * inverse_dx;
#endif
}

/// The first node a particle touches.
template <int Nodes, class T>
TRIBO_HD T base_node(const T& x) {
  return floor(x - T(kernel_shift(Nodes)));
}

/// Weights of the nodes base, base + 1, ... for a particle at base + offset. They sum to one and reproduce the position
/// up to rounding. Derivatives are with respect to the position of the particle in cells; divide by dx for the
/// gradient.
template <class T, int Nodes>
struct SplineWeights;
template <class T, int Nodes>
struct SplineDerivatives;

/// Offset in [0, 1).
template <class T>
struct SplineWeights<T, 2> {
  T w[2];
  TRIBO_HD explicit SplineWeights(const T& offset) : w{T(1) - offset, offset} {}
};
template <class T>
struct SplineDerivatives<T, 2> {
  T d[2];
  TRIBO_HD explicit SplineDerivatives(const T& /*offset*/) : d{T(-1), T(1)} {}
};

/// Offset in [0.5, 1.5).
template <class T>
struct SplineWeights<T, 3> {
  T w[3];

  TRIBO_HD explicit SplineWeights(const T& offset) {
    const T left = T(1.5) - offset;
    const T middle = offset - T(1);
    const T right = offset - T(0.5);
    w[0] = T(0.5) * left * left;
    w[1] = fma(-middle, middle, T(0.75));
    w[2] = T(0.5) * right * right;
  }
};
template <class T>
struct SplineDerivatives<T, 3> {
  T d[3];

  TRIBO_HD explicit SplineDerivatives(const T& offset) {
    d[0] = offset - T(1.5);
    d[1] = T(-2) * (offset - T(1));
    d[2] = offset - T(0.5);
  }
};

/// Offset in [1, 2).
template <class T>
struct SplineWeights<T, 4> {
  T w[4];

  TRIBO_HD explicit SplineWeights(const T& offset) {
    const T f = offset - T(1);  // from the second node
    const T g = T(1) - f;       // from the third
    w[0] = g * g * g * T(1.0 / 6);
    w[1] = fma(f * f, fma(f, T(0.5), T(-1)), T(2.0 / 3));
    w[2] = fma(g * g, fma(g, T(0.5), T(-1)), T(2.0 / 3));
    w[3] = f * f * f * T(1.0 / 6);
  }
};
template <class T>
struct SplineDerivatives<T, 4> {
  T d[4];

  TRIBO_HD explicit SplineDerivatives(const T& offset) {
    const T f = offset - T(1);
    const T g = T(1) - f;
    d[0] = T(-0.5) * g * g;
    d[1] = f * fma(f, T(1.5), T(-2));
    d[2] = -(g * fma(g, T(1.5), T(-2)));
    d[3] = T(0.5) * f * f;
  }
};

}  // namespace tribo
