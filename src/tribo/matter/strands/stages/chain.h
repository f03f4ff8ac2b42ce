#pragma once

#include "tribo/matter/strands/stages/row_pipe.h"

/// \file
/// The matrix of a strand, in differences of neighbors (experiments_float_strands 3): unknowns are w_i = v_{i-1} - v_i
/// and are eliminated from the tip to the root. Stiffness acts on differences alone and so never meets a mass, beside
/// which a float would have no digits left for that. Rows are eliminated as soon as they are known, in double; what is
/// kept of them, and solves, are Real, but for those of held vertices.

namespace tribo::TRIBO_BACKEND {

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
/// m - A B^T, of which the upper half is known to suffice.
template <class T>
TRIBO_HD Sym<T, 3> minus_product(Sym<T, 3> m, const Mat<T, 3>& a, const Mat<T, 3>& b) {
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j)
      m(i, j) = fma(-a(i, 0), b(j, 0), fma(-a(i, 1), b(j, 1), fma(-a(i, 2), b(j, 2), m(i, j))));
  return m;
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

/// Numbers of a `ChainRow`.
inline constexpr int chain_numbers = 31;

/// What a strand has at a vertex i, at the edge from the vertex before, and at the joint there, which couples w_i with
/// w_{i-1}. Stiffness carries its weights of dt.
template <class T>
struct ChainRow {
  static constexpr int most_springs = 3;
  Vec<T, 3> push;  ///< right-hand side of v_i; of a vertex that is held, its v_i
  T mass;
  Vec<T, 3> pull;  ///< right-hand side of w_i
  T free;          ///< 0 of vertices that are held
  Vec<T, 3> t;     ///< the edge has the stiffness along t t^T + across 1
  T along, across;
  EdgePair<T> spring[most_springs];  ///< (e0 . w_{i-1} + e1 . w_i)^2 / 2 each

  TRIBO_HD static ChainRow zero() {
    const T none(scalar_of<T>(0));
    const auto no = Vec<T, 3>::filled(none);
    return {no, none, no, none, no, none, none, {{no, no}, {no, no}, {no, no}}};
  }
  /// change(number) for each, in the order of `chain_numbers`.
  template <class Row, class Change>
  TRIBO_HD static void each(Row& row, const Change& change) {
    int c = 0;
    for (int k = 0; k < 3; ++k) change(c++, row.push[k]);
    change(c++, row.mass);
    for (int k = 0; k < 3; ++k) change(c++, row.pull[k]);
    change(c++, row.free);
    for (int k = 0; k < 3; ++k) change(c++, row.t[k]);
    change(c++, row.along);
    change(c++, row.across);
    for (int s = 0; s < most_springs; ++s) {
      for (int k = 0; k < 3; ++k) change(c++, row.spring[s].e0[k]);
      for (int k = 0; k < 3; ++k) change(c++, row.spring[s].e1[k]);
    }
  }
};

/// An eliminated row: w_i = Q b_i - L_v^T v_{i-1} - L_w^T w_{i-1}.
template <class T>
struct FactorRow {
  Sym<T, 3> Q;
  Mat<T, 3> Lv, Lw;

  /// From its `factor_numbers`.
  TRIBO_HD void set(const T* numbers) {
    for (int c = 0; c < 6; ++c) Q.s[c] = numbers[c];
    for (int c = 0; c < 9; ++c) Lv.m[c / 3][c % 3] = numbers[6 + c];
    for (int c = 0; c < 9; ++c) Lw.m[c / 3][c % 3] = numbers[15 + c];
  }
  template <class Real>
  TRIBO_HD void store(const StrandPack<Real>& pack, Real* factor, Index row) const {
    T numbers[factor_numbers];
    for (int c = 0; c < 6; ++c) numbers[c] = Q.s[c];
    for (int c = 0; c < 9; ++c) numbers[6 + c] = Lv.m[c / 3][c % 3];
    for (int c = 0; c < 9; ++c) numbers[15 + c] = Lw.m[c / 3][c % 3];
    put_row(pack, factor, factor_numbers, row, factor_numbers, numbers);
  }
};

/// What is left of all rows behind a vertex i as a function of v_i and w_i: the quadratic form with the blocks V, X, W,
/// and its right-hand sides.
template <class T>
struct ChainRest {
  Sym<T, 3> V;
  Mat<T, 3> X;
  Sym<T, 3> W;
  Vec<T, 3> a, b;

  TRIBO_HD static ChainRest none() {
    const T zero(scalar_of<T>(0));
    return {Sym<T, 3>::isotropic(zero), Mat<T, 3>::zero(), Sym<T, 3>::isotropic(zero), Vec<T, 3>::filled(zero),
            Vec<T, 3>::filled(zero)};
  }

  /// Takes in a row and eliminates its w. Returns Q b.
  template <int Springs>
  TRIBO_OUTLINED Vec<T, 3> eliminate(const ChainRow<T>& row, FactorRow<T>& f) {
    using Real = scalar_of<T>;
    Sym<T, 3> P = W;  // of w_i, as it is without v_i = v_{i-1} - w_i
    for (int k = 0; k < 3; ++k) P(k, k) = P(k, k) + row.across;
    add_outer(P, row.along * row.t, row.t);
    Mat<T, 3> B10 = Mat<T, 3>::zero();  // of w_{i-1} and w_i
    Sym<T, 3> B11 = Sym<T, 3>::isotropic(T(Real(0)));
    TRIBO_UNROLL
    for (int s = 0; s < Springs; ++s) {
      add_outer(P, row.spring[s].e1, row.spring[s].e1);
      add_outer(B10, row.spring[s].e0, row.spring[s].e1);
      add_outer(B11, row.spring[s].e0, row.spring[s].e0);
    }
    const Vec<T, 3> own = b + row.pull;
    const auto held = row.free < T(Real(0.5));
    if (all(held)) return hold(row.push, P, B10, B11, own, f);
    const ChainRest before = *this;
    for (int k = 0; k < 3; ++k) V(k, k) = V(k, k) + row.mass;
    a = a + row.push;
    Mat<T, 3> shifted;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) shifted(i, j) = X(i, j) - V(i, j);
    Sym<T, 3> pivot = P;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) pivot(i, j) = pivot(i, j) + ((V(i, j) - X(i, j)) - X(j, i));
    const Vec<T, 3> rest = own - a;
    f.Q = inverse(pivot, row.mass);
    f.Lv = times(shifted, f.Q);
    f.Lw = times(B10, f.Q);
    V = minus_product(V, f.Lv, shifted);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        X(i, j) = -fma(shifted(i, 0), f.Lw(j, 0), fma(shifted(i, 1), f.Lw(j, 1), shifted(i, 2) * f.Lw(j, 2)));
    W = minus_product(B11, f.Lw, B10);
    a = minus_times(a, f.Lv, rest);
    b = minus_times(Vec<T, 3>::filled(T(Real(0))), f.Lw, rest);
    Vec<T, 3> scaled = times(f.Q, rest);
    if (any(held)) {
      ChainRest fixed = before;
      FactorRow<T> fixed_factor;
      const Vec<T, 3> fixed_scaled = fixed.hold(row.push, P, B10, B11, own, fixed_factor);
      choose(held, fixed, fixed_factor, f);
      scaled = select<T>(held, fixed_scaled, scaled);
    }
    return scaled;
  }

 private:
  /// The same with v_i = c given, and so w_i = v_{i-1} - c.
  TRIBO_HD Vec<T, 3> hold(const Vec<T, 3>& c, const Sym<T, 3>& P, const Mat<T, 3>& B10, const Sym<T, 3>& B11,
                          const Vec<T, 3>& own, FactorRow<T>& f) {
    using Real = scalar_of<T>;
    const T zero(Real(0));
    a = minus_transposed_times(own + times(P, c), X, c);
    b = -minus_times(Vec<T, 3>::filled(zero), B10, c);
    V = P;
    X = transpose(B10);
    W = B11;
    f.Q = Sym<T, 3>::isotropic(zero);
    f.Lv = Mat<T, 3>::zero();
    for (int k = 0; k < 3; ++k) f.Lv(k, k) = T(Real(-1));
    f.Lw = Mat<T, 3>::zero();
    return -c;
  }
  /// `fixed` in those lanes.
  TRIBO_HD void choose(const mask_t<T>& held, const ChainRest& fixed, const FactorRow<T>& fixed_factor,
                       FactorRow<T>& f) {
    const auto take = [&](auto& to, const auto& from) { to = select(held, from, to); };
    for (int c = 0; c < 6; ++c) {
      take(V.s[c], fixed.V.s[c]);
      take(W.s[c], fixed.W.s[c]);
      take(f.Q.s[c], fixed_factor.Q.s[c]);
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        take(X(i, j), fixed.X(i, j));
        take(f.Lv(i, j), fixed_factor.Lv(i, j));
        take(f.Lw(i, j), fixed_factor.Lw(i, j));
      }
      take(a[i], fixed.a[i]);
      take(b[i], fixed.b[i]);
    }
  }
};

/// The same where vertices are held by blocks that need not be symmetric, as those of friction are not.
template <class T>
struct HeldRest {
  Mat<T, 3> V, X, Y, W;  ///< forces on v_i are V v_i + X w_i - a, those on w_i are Y v_i + W w_i - b
  Vec<T, 3> a, b;

  TRIBO_HD static HeldRest none() {
    const auto no = Vec<T, 3>::filled(T(scalar_of<T>(0)));
    const auto zero = Mat<T, 3>::zero();
    return {zero, zero, zero, zero, no, no};
  }

  /// `S` and `r` hold the vertex; the row's own right-hand sides do not count.
  template <int Springs>
  TRIBO_OUTLINED Vec<T, 3> eliminate(const ChainRow<T>& row, const Mat<T, 3>& S, const Vec<T, 3>& r, FactorRow<T>& f) {
    using Real = scalar_of<T>;
    const T zero(Real(0)), one(Real(1));
    const auto held = row.free < T(Real(0.5));
    Mat<T, 3> B10 = Mat<T, 3>::zero(), B11 = B10, P = W;
    for (int k = 0; k < 3; ++k) P(k, k) = P(k, k) + row.across;
    add_outer(P, row.along * row.t, row.t);
    TRIBO_UNROLL
    for (int s = 0; s < Springs; ++s) {
      add_outer(P, row.spring[s].e1, row.spring[s].e1);
      add_outer(B10, row.spring[s].e0, row.spring[s].e1);
      add_outer(B11, row.spring[s].e0, row.spring[s].e0);
    }
    for (int k = 0; k < 3; ++k) V(k, k) = V(k, k) + row.mass;
    V = V + S;
    a = a + r;
    const Mat<T, 3> before = X - V, after = Y - V;
    const Mat<T, 3> Q = inverse((P - X) - after);
    const Vec<T, 3> rest = b - a;
    Mat<T, 3> Rv = Q * after, Rw = Q * transpose(B10);
    Vec<T, 3> scaled = Q * rest;
    Mat<T, 3> next_V = V - before * Rv, next_X = before * Rw;
    Vec<T, 3> next_a = minus_times(a, before, scaled);
    if (any(held)) {  // v_i stays, so that w_i = v_{i-1}
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
          Rv(i, j) = select(held, i == j ? -one : zero, Rv(i, j));
          Rw(i, j) = select(held, zero, Rw(i, j));
          next_V(i, j) = select(held, P(i, j), next_V(i, j));
          next_X(i, j) = select(held, -B10(j, i), next_X(i, j));
        }
        scaled[i] = select(held, zero, scaled[i]);
        next_a[i] = select(held, b[i], next_a[i]);
      }
    }
    V = next_V;
    X = Mat<T, 3>::zero() - next_X;
    Y = Mat<T, 3>::zero() - B10 * Rv;
    W = B11 - B10 * Rw;
    a = next_a;
    b = minus_times(Vec<T, 3>::filled(zero), B10, scaled);
    f.Lv = transpose(Rv);  // Q is for other right-hand sides
    f.Lw = transpose(Rw);
    return scaled;
  }

 private:
  TRIBO_HD static Mat<T, 3> inverse(const Mat<T, 3>& m) {
    Mat<T, 3> c;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const int p = (i + 1) % 3, q = (i + 2) % 3, u = (j + 1) % 3, w = (j + 2) % 3;
        c(j, i) = m(p, u) * m(q, w) - m(p, w) * m(q, u);
      }
    const T scale = T(scalar_of<T>(1)) / (m(0, 0) * c(0, 0) + m(0, 1) * c(1, 0) + m(0, 2) * c(2, 0));
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) c(i, j) = scale * c(i, j);
    return c;
  }
};

/// Numbers in double, in as many packs as that takes.
template <class T>
struct Wide {
  using type = double;
  static constexpr int parts = 1;
  template <int>
  TRIBO_HD static double part(const T& x) {
    return static_cast<double>(x);
  }
  TRIBO_HD static T joined(const double (&x)[1]) { return static_cast<T>(x[0]); }
};
#if !defined(TRIBO_BACKEND_CUDA)
template <int W>
struct Wide<Lanes<double, W>> {
  using type = Lanes<double, W>;
  static constexpr int parts = 1;
  template <int>
  TRIBO_HD static type part(const type& x) {
    return x;
  }
  TRIBO_HD static type joined(const type (&x)[1]) { return x[0]; }
};
template <int W>
struct Wide<Lanes<float, W>> {
  using type = Lanes<double, W / 2>;
  static constexpr int parts = 2;
  template <int Part>
  TRIBO_HD static type part(const Lanes<float, W>& x) {
    return widened<Part>(x);
  }
  TRIBO_HD static Lanes<float, W> joined(const type (&x)[2]) { return narrowed(x[0], x[1]); }
};
#endif

/// Elimination of strands, row after row from the tip on. `Rest` is in double.
template <class T, template <class> class Rest>
class ChainOf {
 public:
  TRIBO_HD ChainOf() {
    for (auto& one : rest_) one = Rest<E>::none();
  }
  using E = typename Wide<T>::type;
  static constexpr int parts = Wide<T>::parts;

  /// Q b and the factor, for the way back. With what more a vertex has, where `Rest` takes that: matrices and vectors,
  /// by parts.
  template <int Springs, class... More>
  TRIBO_HD void next_wide(const ChainRow<T>& row, FactorRow<E>* factor, Vec<E, 3>* scaled, const More*... more) {
    eliminate<Springs, 0>(row, factor, scaled, more...);
    if constexpr (parts == 2) eliminate<Springs, 1>(row, factor, scaled, more...);
  }
  /// The same in Real; returns Q b.
  template <int Springs>
  TRIBO_HD Vec<T, 3> next(const ChainRow<T>& row, FactorRow<T>& f) {
    FactorRow<E> factor[parts];
    Vec<E, 3> scaled[parts];
    next_wide<Springs>(row, factor, scaled);
    const auto join = [&](const auto& of) {
      E x[parts];
      for (int p = 0; p < parts; ++p) x[p] = of(p);
      return Wide<T>::joined(x);
    };
    for (int c = 0; c < 6; ++c) f.Q.s[c] = join([&](int p) { return factor[p].Q.s[c]; });
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        f.Lv(i, j) = join([&](int p) { return factor[p].Lv(i, j); });
        f.Lw(i, j) = join([&](int p) { return factor[p].Lw(i, j); });
      }
    Vec<T, 3> r;
    for (int k = 0; k < 3; ++k) r[k] = join([&](int p) { return scaled[p][k]; });
    return r;
  }
  /// Of the rows so far.
  TRIBO_HD const Rest<E>& rest(int part) const { return rest_[part]; }

 private:
  template <int Part>
  TRIBO_HD static Vec<E, 3> widened(const Vec<T, 3>& from) {
    Vec<E, 3> to;
    for (int k = 0; k < 3; ++k) to[k] = Wide<T>::template part<Part>(from[k]);
    return to;
  }
  template <int Springs, int Part, class... More>
  TRIBO_HD void eliminate(const ChainRow<T>& row, FactorRow<E>* factor, Vec<E, 3>* scaled, const More*... more) {
    ChainRow<E> wide;
    wide.push = widened<Part>(row.push);
    wide.pull = widened<Part>(row.pull);
    wide.t = widened<Part>(row.t);
    wide.mass = Wide<T>::template part<Part>(row.mass);
    wide.free = Wide<T>::template part<Part>(row.free);
    wide.along = Wide<T>::template part<Part>(row.along);
    wide.across = Wide<T>::template part<Part>(row.across);
    TRIBO_UNROLL
    for (int s = 0; s < Springs; ++s) {
      wide.spring[s].e0 = widened<Part>(row.spring[s].e0);
      wide.spring[s].e1 = widened<Part>(row.spring[s].e1);
    }
    scaled[Part] = rest_[Part].template eliminate<Springs>(wide, more[Part]..., factor[Part]);
  }

  Rest<E> rest_[parts];
};
template <class T>
using Chain = ChainOf<T, ChainRest>;

/// take(strand, part, lane) for each of a pack, in numbers of `Wide`.
template <class Real, class Take>
TRIBO_HD void each_wide_strand(const StrandPack<Real>& pack, const Take& take) {
  for (int part = 0; part < Wide<ParticlePack<Real>>::parts; ++part)
    for (int l = 0; l < pack_width<double>; ++l) {
      const int strand = part * pack_width<double> + l;
      if (pack.end[strand] > 0) take(pack.group.first_strand + pack.lane + strand, part, l);
    }
}
/// Of a chain that comes to row 1, that of a root's second vertex. Of the pull in this row only what the joint there
/// does counts, which is across the edge; its own is along.
template <class Real>
TRIBO_HD void put_root_rest(const StrandPack<Real>& pack, const Chain<ParticlePack<Real>>& chain,
                            const ChainRow<ParticlePack<Real>>& row, RootRest* of_strands) {
  each_wide_strand(pack, [&](Index s, int part, int l) {
    const auto& rest = chain.rest(part);
    RootRest& to = of_strands[s];
    Vec<double, 3> t, pull;
    const int own = part * pack_width<double> + l;
    for (int k = 0; k < 3; ++k) {
      t[k] = static_cast<double>(lane(row.t[k], own));
      pull[k] = static_cast<double>(lane(row.pull[k], own));
      to.a[k] = lane(rest.a[k], l);
    }
    pull = pull - dot(t, pull) * t;
    for (int k = 0; k < 3; ++k) to.b[k] = lane(rest.b[k], l) + pull[k];
    for (int c = 0; c < 6; ++c) {
      to.V.s[c] = lane(rest.V.s[c], l);
      to.W.s[c] = lane(rest.W.s[c], l);
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) to.X(i, j) = lane(rest.X(i, j), l);
  });
}

/// What `Chain` did to the right-hand side, for another one: returns Q b of each row from the tip on.
template <class T>
struct TipToRoot {
  Vec<T, 3> a, b;

  TRIBO_HD static TipToRoot start() {
    const auto none = Vec<T, 3>::filled(T(scalar_of<T>(0)));
    return {none, none};
  }
  TRIBO_HD Vec<T, 3> next(const FactorRow<T>& row, const Vec<T, 3>& r) {
    a = a + r;
    const Vec<T, 3> rest = b - a;
    a = minus_times(a, row.Lv, rest);
    b = minus_times(Vec<T, 3>::filled(T(scalar_of<T>(0))), row.Lw, rest);
    return times(row.Q, rest);
  }
};

/// Back substitution from the root on: returns v of each row, of those that are held what `scaled` says.
template <class T>
struct RootToTip {
  Vec<T, 3> v, w;

  TRIBO_HD static RootToTip start() {
    const auto none = Vec<T, 3>::filled(T(scalar_of<T>(0)));
    return {none, none};
  }
  /// `scaled` is Q b of the row.
  TRIBO_HD Vec<T, 3> next(const FactorRow<T>& row, const Vec<T, 3>& scaled) {
    w = minus_transposed_times(minus_transposed_times(scaled, row.Lw, w), row.Lv, v);
    v = v - w;
    return v;
  }
};

/// Back substitution of a whole strand: finish(row, v) from the root on. Q b are the rows of `solution`.
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

/// What a vertex is to impulses on it, by its own block of A^-1.
template <class Real>
TRIBO_HD Sym<double, 3> mass_of_vertex(const SegmentCompliance<Real>& vertex) {
  constexpr double rounding = sizeof(Real) == 4 ? 1e-6 : 1e-12;  // of Z
  Sym<double, 3> Z;
  for (int c = 0; c < 6; ++c) Z.s[c] = static_cast<double>(vertex.own[c]);
  return inverse(Z, rounding * trace(Z));
}
/// Bounds eigenvalues.
TRIBO_HD double largest_row(const Sym<double, 3>& M) {
  double most = 0;
  for (int a = 0; a < 3; ++a) {
    double sum = 0;
    for (int b = 0; b < 3; ++b) sum += abs(M(a, b));
    most = max(most, sum);
  }
  return most;
}

template <class Real, class Finish>
TRIBO_HD void substitute_back(const StrandPack<Real>& pack, typename BackPipe<Real>::Memory& memory, const Real* factor,
                              const Real* solution, const Finish& finish) {
  using T = ParticlePack<Real>;
  finish_stores();
  const FactorAndSolution<Real> list{factor, solution};
  const Index count = pack.rows();
  BackPipe<Real> pipe(memory, list, pack, 0, 1, count);
  RootToTip<T> sweep = RootToTip<T>::start();
  FactorRow<T> f;
  for (Index i = 0; i < count; ++i) {
    T n[BackPipe<Real>::numbers];
    pipe.next(n);
    f.set(n);
    finish(pack, i, sweep.next(f, {{n[factor_numbers], n[factor_numbers + 1], n[factor_numbers + 2]}}));
  }
}
/// Rows of the matrix that are kept in memory, for elimination and the way back.
template <class Real>
struct KeptRows {
  const Real* chain;
  template <class Put>
  TRIBO_HD void operator()(const StrandPack<Real>&, Index row, const Put& put) const {
    put.row(0, chain, chain_numbers, row, chain_numbers);
  }
};
template <class Real>
using KeptPipe = RowPipe<Real, chain_numbers, KeptRows<Real>>;
template <class Real>
union KeptMemory {
  typename KeptPipe<Real>::Memory forward;
  typename BackPipe<Real>::Memory back;
};
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
