#pragma once

#include "tribo/exec/macros.h"
#include "tribo/math/lanes.h"

/// \file
/// Quadratic B-spline: the weights of the three nodes around a particle, per axis. Positions are in units of the grid
/// spacing, x / dx.
///   N(u) = 3/4 - u^2 for |u| < 1/2,  (3/2 - |u|)^2 / 2 for |u| < 3/2,  u = (x_p - x_i) / dx   [Steffen 2008]

namespace tribo {

/// The first of the three nodes. Floor, not truncation, so that negative positions are right too.
template <class T>
TRIBO_HD T base_node(const T& x) {
  return floor(x - T(0.5));
}

/// Weights of the nodes base, base + 1, base + 2 for a particle at base + offset, offset in [0.5, 1.5). They sum to one
/// and reproduce the position up to rounding.
template <class T>
struct QuadraticWeights {
  T w[3];

  TRIBO_HD explicit QuadraticWeights(const T& offset) {
    const T left = T(1.5) - offset;
    const T middle = offset - T(1);
    const T right = offset - T(0.5);
    w[0] = T(0.5) * left * left;
    w[1] = fma(-middle, middle, T(0.75));
    w[2] = T(0.5) * right * right;
  }
};

/// Derivatives of the weights with respect to the position of the particle in cells; divide by dx for the gradient.
template <class T>
struct QuadraticDerivatives {
  T d[3];

  TRIBO_HD explicit QuadraticDerivatives(const T& offset) {
    d[0] = offset - T(1.5);
    d[1] = T(-2) * (offset - T(1));
    d[2] = offset - T(0.5);
  }
};

}  // namespace tribo
