#pragma once

#include "tribo/stages/rod/row_pipe.h"

/// \file
/// The matrix of a strand: rows of 3 x 3 blocks, each coupled to the two before it, as L D L^T. Rows are eliminated as
/// soon as they are complete, so that the CPU never stores the matrix itself.

namespace tribo::TRIBO_BACKEND {

/// A row that is being added up.
template <class T>
struct BandRow {
  Sym<T, 3> D;
  Mat<T, 3> L1, L2;  ///< blocks to the row before, and to the one before that
  Vec<T, 3> r;       ///< right-hand side

  TRIBO_HD static BandRow zero() {
    using Real = scalar_of<T>;
    return {Sym<T, 3>::isotropic(T(Real(0))), Mat<T, 3>::zero(), Mat<T, 3>::zero(), Vec<T, 3>::filled(T(Real(0)))};
  }
};

template <class T>
TRIBO_HD void add_outer(Mat<T, 3>& m, const Vec<T, 3>& a, const Vec<T, 3>& b) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) m(i, j) = fma(a[i], b[j], m(i, j));
}
template <class T>
TRIBO_HD void add_outer(Sym<T, 3>& m, const Vec<T, 3>& a, const Vec<T, 3>& b) {
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) m(i, j) = fma(a[i], b[j], m(i, j));
}
template <class T>
TRIBO_HD Vec<T, 3> times(const Sym<T, 3>& a, const Vec<T, 3>& x) {
  Vec<T, 3> r;
  for (int i = 0; i < 3; ++i) r[i] = fma(a(i, 0), x[0], fma(a(i, 1), x[1], a(i, 2) * x[2]));
  return r;
}
template <class T>
TRIBO_HD Mat<T, 3> times(const Mat<T, 3>& a, const Sym<T, 3>& b) {
  Mat<T, 3> r;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) r(i, j) = fma(a(i, 0), b(0, j), fma(a(i, 1), b(1, j), a(i, 2) * b(2, j)));
  return r;
}
/// r - A x, and r - A^T x.
template <class T>
TRIBO_HD Vec<T, 3> minus_times(const Vec<T, 3>& r, const Mat<T, 3>& a, const Vec<T, 3>& x) {
  Vec<T, 3> y;
  for (int i = 0; i < 3; ++i) y[i] = fma(-a(i, 0), x[0], fma(-a(i, 1), x[1], fma(-a(i, 2), x[2], r[i])));
  return y;
}
template <class T>
TRIBO_HD Vec<T, 3> minus_transposed_times(const Vec<T, 3>& r, const Mat<T, 3>& a, const Vec<T, 3>& x) {
  Vec<T, 3> y;
  for (int i = 0; i < 3; ++i) y[i] = fma(-a(0, i), x[0], fma(-a(1, i), x[1], fma(-a(2, i), x[2], r[i])));
  return y;
}
/// By L D L^T, which keeps more digits than cofactors where stretch is far stiffer than the rest. No pivot of M + K, K
/// without negative eigenvalues, is smaller than the mass; where rounding would have it so, `least` is.
template <class T>
TRIBO_HD Sym<T, 3> inverse(const Sym<T, 3>& a, const T& least) {
  using Real = scalar_of<T>;
  const T d0 = T(Real(1)) / max(a(0, 0), least);
  const T l10 = a(0, 1) * d0, l20 = a(0, 2) * d0;
  const T d1 = T(Real(1)) / max(fma(-l10, a(0, 1), a(1, 1)), least);
  const T u = fma(-l20, a(0, 1), a(1, 2));
  const T l21 = u * d1;
  const T d2 = T(Real(1)) / max(fma(-l21, u, fma(-l20, a(0, 2), a(2, 2))), least);
  const T m20 = fma(l10, l21, -l20);  // L^-1 = (1; -l10 1; m20 -l21 1)
  Sym<T, 3> r;
  r(0, 0) = fma(m20 * d2, m20, fma(l10 * d1, l10, d0));
  r(0, 1) = -fma(m20 * d2, l21, l10 * d1);
  r(0, 2) = m20 * d2;
  r(1, 1) = fma(l21 * d2, l21, d1);
  r(1, 2) = -(l21 * d2);
  r(2, 2) = d2;
  return r;
}

/// An eliminated row.
template <class T>
struct FactorRow {
  Sym<T, 3> D;  ///< inverse; zero of rows that are held
  Mat<T, 3> L1, L2;

  TRIBO_HD static FactorRow zero() {
    using Real = scalar_of<T>;
    return {Sym<T, 3>::isotropic(T(Real(0))), Mat<T, 3>::zero(), Mat<T, 3>::zero()};
  }
  /// From its `factor_numbers`.
  TRIBO_HD void set(const T* numbers) {
    for (int c = 0; c < 6; ++c) D.s[c] = numbers[c];
    for (int c = 0; c < 9; ++c) L1.m[c / 3][c % 3] = numbers[6 + c];
    for (int c = 0; c < 9; ++c) L2.m[c / 3][c % 3] = numbers[15 + c];
  }
  template <class Real>
  TRIBO_HD void store(const StrandPack<Real>& pack, Real* factor, Index row) const {
    T numbers[factor_numbers];
    for (int c = 0; c < 6; ++c) numbers[c] = D.s[c];
    for (int c = 0; c < 9; ++c) numbers[6 + c] = L1.m[c / 3][c % 3];
    for (int c = 0; c < 9; ++c) numbers[15 + c] = L2.m[c / 3][c % 3];
    put_row(pack, factor, factor_numbers, row, factor_numbers, numbers);
  }
};

/// Eliminates `row`, after those before it: `before` and `before2`. `free` is 0 for rows that are held.
template <class T>
TRIBO_HD FactorRow<T> eliminate(const BandRow<T>& row, const FactorRow<T>& before, const FactorRow<T>& before2,
                                const T& mass, const T& free) {
  using Real = scalar_of<T>;
  FactorRow<T> f;
  f.L2 = times(row.L2, before2.D);
  Mat<T, 3> U = row.L1;  // L1 D of this row
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) U(i, j) = fma(-row.L2(i, k), before.L1(j, k), U(i, j));
  f.L1 = times(U, before.D);
  Sym<T, 3> D = row.D;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      for (int k = 0; k < 3; ++k) D(i, j) = fma(-row.L2(i, k), f.L2(j, k), fma(-U(i, k), f.L1(j, k), D(i, j)));
  // Where a fold or a collapsed edge makes rows stiffer than their numbers have digits, what rounding takes from the
  // diagonal is given back as mass; elsewhere nothing is.
  constexpr Real digits = Real(sizeof(Real) == 4 ? 1e-5 : 1e-13);
  const T more = max(digits * trace(row.D) - T(Real(0.05)) * mass, T(Real(0)));
  for (int k = 0; k < 3; ++k) D(k, k) = D(k, k) + more;
  f.D = inverse(D, mass + more);
  for (int c = 0; c < 6; ++c) f.D.s[c] = free * f.D.s[c];
  return f;
}

/// Forward substitution, one row at a time: returns D^-1 y of the row for `back`.
template <class T>
struct ForwardSweep {
  Vec<T, 3> y1, y2;  ///< of the two rows before

  TRIBO_HD static ForwardSweep start() {
    const auto none = Vec<T, 3>::filled(T(scalar_of<T>(0)));
    return {none, none};
  }
  TRIBO_HD Vec<T, 3> next(const FactorRow<T>& row, const Vec<T, 3>& r) {
    const Vec<T, 3> y = minus_times(minus_times(r, row.L2, y2), row.L1, y1);
    y2 = y1;
    y1 = y;
    return times(row.D, y);
  }
};

/// Back substitution from the last row on.
template <class T>
struct BackSweep {
  Vec<T, 3> z1, z2;           ///< solutions of the rows after
  Mat<T, 3> L1, L2, L2_next;  ///< of the row after to this one, of the one after that to this one

  TRIBO_HD static BackSweep start() {
    const auto none = Vec<T, 3>::filled(T(scalar_of<T>(0)));
    return {none, none, Mat<T, 3>::zero(), Mat<T, 3>::zero(), Mat<T, 3>::zero()};
  }
  /// `scaled` is D^-1 y of the row, L1 and L2 the blocks of the row itself.
  TRIBO_HD Vec<T, 3> next(const Vec<T, 3>& scaled, const Mat<T, 3>& own_L1, const Mat<T, 3>& own_L2) {
    const Vec<T, 3> z = minus_transposed_times(minus_transposed_times(scaled, L1, z1), L2, z2);
    z2 = z1;
    z1 = z;
    L1 = own_L1;
    L2 = L2_next;
    L2_next = own_L2;
    return z;
  }
};

/// Back substitution of a whole strand: finish(row, z) from the last row on. D^-1 y are the rows of `solution`.
template <class Real>
struct FactorAndSolution {
  static constexpr int numbers = factor_numbers + 3;
  const Real *factor, *solution;
  template <class Put>
  TRIBO_HD void operator()(const StrandPack<Real>&, Index row, const Put& put) const {
    put.row(0, factor, factor_numbers, row, factor_numbers);
    put.row(factor_numbers, solution, 3, row, 3);
  }
};
template <class Real>
using BackPipe = RowPipe<Real, FactorAndSolution<Real>::numbers, FactorAndSolution<Real>>;

template <class Real, class Finish>
TRIBO_HD void substitute_back(const StrandPack<Real>& pack, typename BackPipe<Real>::Memory& memory, const Real* factor,
                              const Real* solution, const Finish& finish) {
  using T = ParticlePack<Real>;
  finish_stores();
  const FactorAndSolution<Real> list{factor, solution};
  const Index count = pack.rows();
  BackPipe<Real> pipe(memory, list, pack, count - 1, -1, count);
  BackSweep<T> sweep = BackSweep<T>::start();
  FactorRow<T> f;
  for (Index i = count - 1; i >= 0; --i) {
    T n[BackPipe<Real>::numbers];
    pipe.next(n);
    f.set(n);
    finish(pack, i, sweep.next({{n[factor_numbers], n[factor_numbers + 1], n[factor_numbers + 2]}}, f.L1, f.L2));
  }
}
/// To the rows themselves, for whoever wants them by vertices.
template <class Real>
struct PutSolution {
  Real* solution;
  TRIBO_HD void operator()(const StrandPack<Real>& pack, Index row, const Vec<ParticlePack<Real>, 3>& z) const {
    const ParticlePack<Real> n[3] = {z[0], z[1], z[2]};
    put_row(pack, solution, 3, row, 3, n);
  }
};
template <class Real>
struct SlotSolution {
  const Index* slot;
  const Real* solution;
  TRIBO_HD Vec<Real, 3> operator()(Index i) const {
    Real z[3];
    take_slot(solution, slot[i], 3, 3, z);
    return {{z[0], z[1], z[2]}};
  }
};

}  // namespace tribo::TRIBO_BACKEND
