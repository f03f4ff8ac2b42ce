#pragma once

#include "tribo/math/lanes.h"
#include "tribo/math/small.h"
#include "tribo/math/svd.h"

namespace tribo {

/// Left stretch V = R F^T of F = R S = V R, with the sign rule of the polar SVD (the smallest singular value carries
/// the sign of det F).
template <class T, int D>
struct LeftStretch {
  Sym<T, D> V;
  T trace;  ///< sum of the signed singular values
};

/// Left stretch through the SVD: always right, ten times the cost of the invariants below.
template <class T, int D>
TRIBO_HD LeftStretch<T, D> left_stretch_by_svd(const Mat<T, D>& F) {
  Mat<T, D> U, W;
  Vec<T, D> sigma;
  polar_svd(F, U, sigma, W);
  LeftStretch<T, D> r;
  r.V = from_principal(U, sigma);
  r.trace = sigma[0];
  for (int i = 1; i < D; ++i) r.trace = r.trace + sigma[i];
  return r;
}

/// Two dimensions have a closed form: R = (F + cof F) / l with l = tr V = |(F00 + F11, F10 - F01)|, so
/// V = (B + det(F) I) / l; it is undefined only where l = 0, where any rotation serves.
template <class T>
TRIBO_HD LeftStretch<T, 2> left_stretch(const Mat<T, 2>& F, const Sym<T, 2>& B, const T& J) {
  const T a = F(0, 0) + F(1, 1);
  const T b = F(1, 0) - F(0, 1);
  const T l = sqrt(fma(a, a, b * b));
  const T tiny = T(1e-6) * sqrt(trace(B)) + T(1e-30);
  const T inverse = T(1) / max(l, tiny);
  LeftStretch<T, 2> r;
  r.V(0, 0) = (B(0, 0) + J) * inverse;
  r.V(0, 1) = B(0, 1) * inverse;
  r.V(1, 1) = (B(1, 1) + J) * inverse;
  r.trace = l;
  return r;
}

/// Three dimensions: l = tr V is the largest root of (l^2 - a)^2 - 8 J l - 4 b = 0 with a = tr B and b the sum of the
/// principal minors of B = F F^T; Newton from sqrt(3 a) falls monotonically. Differentiating the quartic gives
///   V = ((l^2 + a) B + 2 l J I - 2 B^2) / (l^3 - a l - 2 J),    denominator = 2 (s1+s2)(s2+s3)(s3+s1)
/// (after the stretch invariants of Lin, Chitalu, Komura 2022). Where the denominator is small or F is inverted the
/// SVD takes over, only in the lanes concerned.
template <class T>
TRIBO_HD LeftStretch<T, 3> left_stretch(const Mat<T, 3>& F, const Sym<T, 3>& B, const T& J) {
  using Real = scalar_of<T>;
  const T tolerance = T(sizeof(Real) == 4 ? Real(1e-6) : Real(1e-14));
  const T a = trace(B);
  const T b = (B(0, 0) * B(1, 1) - B(0, 1) * B(0, 1)) + (B(0, 0) * B(2, 2) - B(0, 2) * B(0, 2)) +
              (B(1, 1) * B(2, 2) - B(1, 2) * B(1, 2));
  const T J2 = T(2) * J, J8 = T(8) * J, b4 = T(4) * b;
  T l = sqrt(T(3) * a);
  // The slope vanishes only with the denominator; flooring it keeps the lanes that the SVD will replace finite.
  const T slope_floor = T(1e-6) * a * l + T(1e-30);
  T change = T(0);
  for (int k = 0; k < 3; ++k) {
    const T d = fma(l, l, -a);
    change = fma(d, d, -fma(J8, l, b4)) / max(T(4) * fma(l, d, -J2), slope_floor);
    l = l - change;
  }
  auto moving = change > tolerance * l;
  for (int k = 0; k < 30 && any(moving); ++k) {
    const T d = fma(l, l, -a);
    change = select(moving, fma(d, d, -fma(J8, l, b4)) / max(T(4) * fma(l, d, -J2), slope_floor), T(0));
    l = l - change;
    moving = moving & (change > tolerance * l);
  }
  const T denominator = fma(l, fma(l, l, -a), -J2);
  const T inverse = T(1) / max(denominator, slope_floor);
  const T kB = fma(l, l, a) * inverse;
  const T kI = J2 * l * inverse;
  const T kBB = T(2) * inverse;
  LeftStretch<T, 3> r;
  r.trace = l;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) {
      const T BB = fma(B(i, 0), B(0, j), fma(B(i, 1), B(1, j), B(i, 2) * B(2, j)));
      T value = fma(kB, B(i, j), -(kBB * BB));
      if (i == j) value = value + kI;
      r.V(i, j) = value;
    }
  const auto ill = (denominator < T(1e-2) * a * sqrt(a)) | (J <= T(0));
  if (any(ill)) {
    const LeftStretch<T, 3> safe = left_stretch_by_svd(F);
    r.trace = select(ill, safe.trace, r.trace);
    for (int k = 0; k < Sym<T, 3>::size; ++k) r.V.s[k] = select(ill, safe.V.s[k], r.V.s[k]);
  }
  return r;
}

}  // namespace tribo
