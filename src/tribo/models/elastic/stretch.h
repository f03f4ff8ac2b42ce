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
  Mat<T, D> U;
  Vec<T, D> sigma;
  left_svd(F, U, sigma);
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

/// tr V in three dimensions, from a = tr B, b = the sum of the principal minors of B = F F^T, and J: l is the largest
/// root of (l^2 - a)^2 - 8 J l - 4 b = 0; Newton from sqrt(3 a) falls monotonically (after the stretch invariants of
/// Lin, Chitalu, Komura 2022).
template <class T>
struct StretchTrace {
  T l;
  T inverse;      ///< of l^3 - a l - 2 J = 2 (s1+s2)(s2+s3)(s3+s1)
  mask_t<T> ill;  ///< where that is small, or F is inverted: nothing here is to be relied on

  TRIBO_HD StretchTrace(const T& a, const T& b, const T& J) {
    using Real = scalar_of<T>;
    const T tolerance = T(sizeof(Real) == 4 ? Real(1e-6) : Real(1e-14));
    const T J2 = T(2) * J, J8 = T(8) * J, b4 = T(4) * b;
    l = sqrt(T(3) * a);
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
    inverse = T(1) / max(denominator, slope_floor);
    ill = (denominator < T(1e-2) * a * sqrt(a)) | (J <= T(0));
  }
};

template <class T>
TRIBO_HD T sum_of_minors(const Sym<T, 3>& B) {
  return (B(0, 0) * B(1, 1) - B(0, 1) * B(0, 1)) + (B(0, 0) * B(2, 2) - B(0, 2) * B(0, 2)) +
         (B(1, 1) * B(2, 2) - B(1, 2) * B(1, 2));
}

/// Three dimensions: differentiating the quartic of l = tr V gives
///   V = ((l^2 + a) B + 2 l J I - 2 B^2) / (l^3 - a l - 2 J).
/// Where the denominator is small or F is inverted the SVD takes over, only in the lanes concerned.
template <class T>
TRIBO_HD LeftStretch<T, 3> left_stretch(const Mat<T, 3>& F, const Sym<T, 3>& B, const T& J) {
  const T a = trace(B);
  const StretchTrace<T> root(a, sum_of_minors(B), J);
  const T l = root.l, inverse = root.inverse;
  const T kB = fma(l, l, a) * inverse;
  const T kI = T(2) * J * l * inverse;
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
  if (any(root.ill)) {
    const LeftStretch<T, 3> safe = left_stretch_by_svd(F);
    r.trace = select(root.ill, safe.trace, r.trace);
    for (int k = 0; k < Sym<T, 3>::size; ++k) r.V.s[k] = select(root.ill, safe.V.s[k], r.V.s[k]);
  }
  return r;
}

/// cof F = J F^-T, for any F.
template <class T>
TRIBO_HD Mat<T, 3> cofactors(const Mat<T, 3>& F) {
  Mat<T, 3> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      r(i, j) = F(a, c) * F(b, d) - F(a, d) * F(b, c);
    }
  return r;
}

/// R of F = R S where `root` is not ill: the derivative of l = tr S,
///   R = ((l^2 + a) F + 2 l cof F - 2 B F) / (l^3 - a l - 2 J).
template <class T>
TRIBO_HD Mat<T, 3> rotation_from(const StretchTrace<T>& root, const Mat<T, 3>& F, const Sym<T, 3>& B,
                                 const Mat<T, 3>& cofactor) {
  const T kF = fma(root.l, root.l, trace(B)) * root.inverse;
  const T kC = T(2) * root.l * root.inverse;
  const T kBF = T(2) * root.inverse;
  Mat<T, 3> R;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const T BF = fma(B(i, 0), F(0, j), fma(B(i, 1), F(1, j), B(i, 2) * F(2, j)));
      R(i, j) = fma(kF, F(i, j), fma(kC, cofactor(i, j), -(kBF * BF)));
    }
  return R;
}

}  // namespace tribo
