#pragma once

#include "tribo/math/lanes.h"

/// \file
/// Angles for any scalar, packs included, from exactly rounded operations alone.

namespace tribo {

/// The angle in (-pi, pi] whose sine and cosine are s and c, up to a common positive factor near one; to a few ulp.
/// Halving the angle three times, tan(a/2) = tan(a) / (1 + sqrt(1 + tan(a)^2)), leaves |tan| below 0.2, where twelve
/// terms of the series of atan are enough for a double.
template <class T>
TRIBO_HD T angle_of(const T& s, const T& c) {
  using Real = scalar_of<T>;
  const T norm = sqrt(fma(s, s, c * c));
  const auto obtuse = c < T(Real(0));
  // tan(a/2), by the quotient that does not cancel; the bound keeps its square finite in a float.
  const T largest(Real(1e15));
  const T safe_s = select(abs(s) < T(Real(1e-18)), select(s < T(Real(0)), T(Real(-1e-18)), T(Real(1e-18))), s);
  T t = select(obtuse, (norm - c) / safe_s, s / select(obtuse, T(Real(1)), max(norm + c, T(Real(1e-30)))));
  t = min(max(t, -largest), largest);
  for (int k = 0; k < 3; ++k) t = t / (T(Real(1)) + sqrt(fma(t, t, T(Real(1)))));
  const T z = t * t;
  T sum(Real(1.0 / 25));
  for (int n = 23; n >= 1; n -= 2) sum = fma(-z, sum, T(Real(1.0 / n)));
  return T(Real(16)) * t * sum;
}

/// Cosine and sine of an angle of at most 0.35, to rounding.
template <class T>
TRIBO_HD void small_turn(const T& angle, T& c, T& s) {
  using Real = scalar_of<T>;
  const T z = angle * angle;
  c = T(Real(1.0 / 479001600));
  for (const double d : {-3628800.0, 40320.0, -720.0, 24.0, -2.0, 1.0}) c = fma(z, c, T(Real(1 / d)));
  s = T(Real(1.0 / 6227020800));
  for (const double d : {-39916800.0, 362880.0, -5040.0, 120.0, -6.0, 1.0}) s = fma(z, s, T(Real(1 / d)));
  s = s * angle;
}

}  // namespace tribo
