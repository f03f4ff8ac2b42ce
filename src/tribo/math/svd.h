#pragma once

#include "tribo/exec/macros.h"
#include "tribo/math/lanes.h"
#include "tribo/math/small.h"

/// \file
/// Singular values of deformation gradients and eigenvalues of symmetric tensors, for scalars and packs, D = 2 and 3.
/// Both use Jacobi rotations until every lane has converged. A converged lane is rotated by exactly zero, so its result
/// does not depend on its neighbors, and it has the bits of the scalar result. There is no other branch.

namespace tribo {

namespace svd_detail {

template <class Real>
struct Tolerance;
template <>
struct Tolerance<float> {
  /// Squared cosine of the angle between two columns that count as orthogonal.
  static constexpr float squared_cosine = 0x1p-42f;
  /// Matrices are scaled to entries of about one. Squares of dot products below this are left alone: they belong to
  /// parts far below rounding, and rotations computed from them would suffer from underflow.
  static constexpr float least_square = 0x1p-116f;
  /// The largest power of two that is scaled out, so that its reciprocal is a normal number.
  static constexpr float largest_scale = 0x1p126f;
};
template <>
struct Tolerance<double> {
  static constexpr double squared_cosine = 0x1p-100;
  static constexpr double least_square = 0x1p-280;
  static constexpr double largest_scale = 0x1p1022;
};

/// Jacobi converges quadratically: 3 to 6 sweeps, of which the last finds nothing to do, and up to 8 seen for rounded
/// multiples of rotations, where the tolerance is near the rounding errors. The bound ends the loop for numbers that
/// are not finite.
inline constexpr int most_sweeps = 12;

/// Power of two near the largest of the given magnitudes (1 when they are all zero): dividing by it is exact. Infinity
/// stays infinity, and makes a NaN of every result.
template <class T>
TRIBO_HD T safe_scale(const T& largest) {
  using Tol = Tolerance<scalar_of<T>>;
  const T scale = power_of_two_below(largest);
  return select(scale == T(2 * Tol::largest_scale), T(Tol::largest_scale), select(scale > T(0), scale, T(1)));
}

/// The rotation that diagonalizes [[a, g/2], [g/2, b]], d = a - b, and puts the larger eigenvalue first:
///   tan(2 angle) = g / d,   (c, s) ~ (|d| + h, g) for d >= 0, (|g|, sign(g) (|d| + h)) for d < 0,   h = sqrt(d^2 +
///   g^2).
/// Rotating by up to 90 degrees sorts on the way.
template <class T>
struct SortingRotation {
  T d, g, g2, h2;
  T c, s;

  TRIBO_HD SortingRotation(const T& a, const T& half_g, const T& b)
      : d(a - b), g(half_g + half_g), g2(g * g), h2(fma(d, d, g2)) {}

  /// Sets (c, s); the identity, to the bit, in lanes with nothing to do.
  TRIBO_HD void compute(const mask_t<T>& todo) {
    const T k = abs(d) + sqrt(h2);
    const T q = rsqrt(fma(k, k, g2));
    T large = k * q;
    T small = abs(g) * q;
    // The rounding errors of q are common to both and would add up over the sweeps: renormalize to first order.
    const T excess = T(0.5) * fma(small, small, fma(large, large, T(-1)));
    large = fma(-excess, large, large);
    small = fma(-excess, small, small);
    const mask_t<T> swap = d < T(0);
    const T magnitude = select(swap, large, small);
    c = select(todo, select(swap, small, large), T(1));
    s = select(todo, select(g < T(0), -magnitude, magnitude), T(0));
  }
};

/// (x, y) <- (c x + s y, c y - s x)
template <class T>
TRIBO_HD void rotate(const T& c, const T& s, T& x, T& y) {
  const T x_new = fma(s, y, c * x);
  y = fma(-s, x, c * y);
  x = x_new;
}

/// Makes columns p and q of B orthogonal and sorts them by length, and applies the same rotation to V. False when there
/// was nothing to do in any lane.
template <int p, int q, class T, int D>
TRIBO_HD bool orthogonalize(Mat<T, D>& B, Mat<T, D>& V) {
  using Tol = Tolerance<scalar_of<T>>;
  T a = B(0, p) * B(0, p), b = B(0, q) * B(0, q), g = B(0, p) * B(0, q);
  for (int i = 1; i < D; ++i) {
    a = fma(B(i, p), B(i, p), a);
    b = fma(B(i, q), B(i, q), b);
    g = fma(B(i, p), B(i, q), g);
  }
  SortingRotation<T> r(a, g, b);
  const mask_t<T> todo = (g * g > a * b * T(Tol::squared_cosine) || a < b) && r.h2 > T(Tol::least_square);
  if (!any(todo)) return false;
  r.compute(todo);
  for (int i = 0; i < D; ++i) rotate(r.c, r.s, B(i, p), B(i, q));
  for (int i = 0; i < D; ++i) rotate(r.c, r.s, V(i, p), V(i, q));
  return true;
}

/// One two-sided rotation of A to make A(p, q) zero and A(p, p) >= A(q, q).
template <int p, int q, class T, int D>
TRIBO_HD bool diagonalize(Sym<T, D>& A, Mat<T, D>& V) {
  using Tol = Tolerance<scalar_of<T>>;
  const T a = A(p, p), b = A(q, q), g = A(p, q);
  SortingRotation<T> r(a, g, b);
  const mask_t<T> todo = (g * g > abs(a * b) * T(Tol::squared_cosine) || a < b) && r.h2 > T(Tol::least_square);
  if (!any(todo)) return false;
  r.compute(todo);
  T aa = a, ag = g, ga = g, bb = b;
  rotate(r.c, r.s, aa, ga);  // rows
  rotate(r.c, r.s, ag, bb);
  rotate(r.c, r.s, aa, ag);  // columns
  rotate(r.c, r.s, ga, bb);
  A(p, p) = aa;
  A(q, q) = bb;
  A(p, q) = select(todo, T(0), g);
  if constexpr (D == 3) {
    constexpr int other = 3 - p - q;
    rotate(r.c, r.s, A(p, other), A(q, other));
  }
  for (int i = 0; i < D; ++i) rotate(r.c, r.s, V(i, p), V(i, q));
  return true;
}

/// Removes the sign of zeros, which is the one thing a rotation by zero may change.
template <class T, int D>
TRIBO_HD void unsign_zeros(Mat<T, D>& a) {
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) a(i, j) = a(i, j) + T(0);
}
template <class T, int D>
TRIBO_HD void unsign_zeros(Vec<T, D>& a) {
  for (int i = 0; i < D; ++i) a[i] = a[i] + T(0);
}

template <class T, int D>
TRIBO_HD Vec<T, D> column(const Mat<T, D>& a, int j) {
  Vec<T, D> r;
  for (int i = 0; i < D; ++i) r[i] = a(i, j);
  return r;
}
template <class T, int D>
TRIBO_HD void set_column(Mat<T, D>& a, int j, const Vec<T, D>& x) {
  for (int i = 0; i < D; ++i) a(i, j) = x[i];
}
template <class T, int D>
TRIBO_HD T fused_dot(const Vec<T, D>& a, const Vec<T, D>& b) {
  T r = a[0] * b[0];
  for (int i = 1; i < D; ++i) r = fma(a[i], b[i], r);
  return r;
}

}  // namespace svd_detail

TRIBO_OWN_COPY {
/// Eigenvalues in descending order and eigenvectors (columns, a rotation) of a symmetric matrix,
///   A = vectors diag(values) vectors^T,
/// by cyclic Jacobi. Errors are a few rounding errors of |A|.
template <class T, int D>
TRIBO_OUTLINED void symmetric_eigen(const Sym<T, D>& a, Vec<T, D>& values, Mat<T, D>& vectors) {
  using namespace svd_detail;
  static_assert(D == 2 || D == 3);
  T largest = abs(a.s[0]);
  for (int i = 1; i < Sym<T, D>::size; ++i) largest = max(largest, abs(a.s[i]));
  const T scale = safe_scale(largest);
  const T inverse = T(1) / scale;
  Sym<T, D> A;
  for (int i = 0; i < Sym<T, D>::size; ++i) A.s[i] = a.s[i] * inverse;
  Mat<T, D> V = Mat<T, D>::identity();
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool moved = diagonalize<0, 1>(A, V);
    if constexpr (D == 3) {
      moved |= diagonalize<0, 2>(A, V);
      moved |= diagonalize<1, 2>(A, V);
    }
    if (!moved) break;
  }
  // Numbers that differ only far below rounding were not sorted.
  for (int i = 1; i < D; ++i) A(i, i) = min(A(i - 1, i - 1), A(i, i));
  for (int i = 0; i < D; ++i) values[i] = A(i, i) * scale;
  vectors = V;
  unsign_zeros(values);
  unsign_zeros(vectors);
}
}  // own copy

namespace svd_detail {

template <class T, int D>
TRIBO_HD void jacobi_svd(const Mat<T, D>& F, Mat<T, D>& U, Vec<T, D>& sigma, Mat<T, D>& V) {
  using Tol = Tolerance<scalar_of<T>>;
  static_assert(D == 2 || D == 3);
  T largest = abs(F(0, 0));
  for (int i = 1; i < D * D; ++i) largest = max(largest, abs(F(i / D, i % D)));
  const T scale = safe_scale(largest);
  const T inverse = T(1) / scale;
  Mat<T, D> B = F * inverse;
  V = Mat<T, D>::identity();
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool moved = orthogonalize<0, 1>(B, V);
    if constexpr (D == 3) {
      moved |= orthogonalize<0, 2>(B, V);
      moved |= orthogonalize<1, 2>(B, V);
    }
    if (!moved) break;
  }

  const Vec<T, D> b0 = column(B, 0);
  const T length2 = fused_dot(b0, b0);
  const mask_t<T> zero = length2 <= T(Tol::least_square);
  const T length = sqrt(select(zero, T(1), length2));
  const T inverse_length = T(1) / length;
  Vec<T, D> u0;
  for (int i = 0; i < D; ++i) u0[i] = select(zero, T(i == 0 ? 1 : 0), b0[i] * inverse_length);
  sigma[0] = select(zero, T(0), length);
  const Vec<T, D> b1 = column(B, 1);
  Vec<T, D> u1;
  if constexpr (D == 2) {
    u1 = {{-u0[1], u0[0]}};
    sigma[1] = fused_dot(u1, b1);
  } else {
    const T along = fused_dot(u0, b1);
    for (int i = 0; i < D; ++i) u1[i] = fma(-along, u0[i], b1[i]);
    const mask_t<T> rank_one = fused_dot(u1, u1) <= T(Tol::least_square);
    // Perpendicular to u0 and not short: u0 turned in the plane of two axes, one of which it leans on.
    const mask_t<T> leans_on_x = abs(u0[0]) > abs(u0[2]);
    u1[0] = select(rank_one, select(leans_on_x, -u0[1], T(0)), u1[0]);
    u1[1] = select(rank_one, select(leans_on_x, u0[0], -u0[2]), u1[1]);
    u1[2] = select(rank_one, select(leans_on_x, T(0), u0[1]), u1[2]);
    const T inverse_length1 = rsqrt(fused_dot(u1, u1));
    for (int i = 0; i < D; ++i) u1[i] = u1[i] * inverse_length1;
    const Vec<T, D> u2 = cross(u0, u1);
    set_column(U, 2, u2);
    sigma[1] = max(T(0), fused_dot(u1, b1));
    sigma[2] = fused_dot(u2, column(B, 2));
  }
  set_column(U, 0, u0);
  set_column(U, 1, u1);
  // Equal singular values may come out in the wrong order by a rounding error. The order of arguments keeps a NaN.
  for (int i = 1; i < D; ++i) sigma[i] = max(-sigma[i - 1], min(sigma[i - 1], sigma[i]));
  for (int i = 0; i < D; ++i) sigma[i] = sigma[i] * scale;
  unsign_zeros(U);
  unsign_zeros(sigma);
  unsign_zeros(V);
}

}  // namespace svd_detail

TRIBO_OWN_COPY {
/// F = U diag(sigma) V^T with U and V rotations, sigma_1 >= ... >= |sigma_D|; only the last may be negative, and has
/// the sign of det F [Irving 2004, sign rule; Han 2019, sec. 3.1]. Then U V^T is a rotation also for inverted F.
///
/// One-sided Jacobi [Hestenes 1958; de Rijk 1989 for sorting on the way]: rotate pairs of columns of B = F V until they
/// are orthogonal. Working on F instead of F^T F keeps small singular values accurate: the square would lose those
/// below the square root of the rounding error. U is B orthonormalized from the longest column down, completed
/// arbitrarily where F has no rank left, so it is a rotation also for F = 0. Errors are a few rounding errors of |F|.
/// Subnormal F count as zero; entries that are not finite give NaN in sigma.
template <class T, int D>
TRIBO_OUTLINED void polar_svd(const Mat<T, D>& F, Mat<T, D>& U, Vec<T, D>& sigma, Mat<T, D>& V) {
  svd_detail::jacobi_svd(F, U, sigma, V);
}
/// The same for those who need no V: the compiler drops its rotations.
template <class T, int D>
TRIBO_OUTLINED void left_svd(const Mat<T, D>& F, Mat<T, D>& U, Vec<T, D>& sigma) {
  Mat<T, D> V;
  svd_detail::jacobi_svd(F, U, sigma, V);
}
}  // own copy

/// The rotation of the polar decomposition F = R S with the sign rule of `polar_svd`: U V^T.
template <class T, int D>
TRIBO_HD Mat<T, D> polar_rotation(const Mat<T, D>& F) {
  Mat<T, D> U, V;
  Vec<T, D> sigma;
  polar_svd(F, U, sigma, V);
  return U * transpose(V);
}

}  // namespace tribo
