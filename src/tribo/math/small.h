#pragma once

#include "tribo/exec/macros.h"

/// \file
/// Small fixed-size vectors and matrices whose scalar T may be float, double or a SIMD pack of particles (Lanes):
/// a law written once with these runs on one particle in a test, on sixteen in a CPU kernel and on one in a GPU thread.

namespace tribo {

/// Column vector of D components.
template <class T, int D>
struct Vec {
  T c[D];

  TRIBO_HD T& operator[](int i) { return c[i]; }
  TRIBO_HD const T& operator[](int i) const { return c[i]; }

  TRIBO_HD static Vec filled(T value) {
    Vec r;
    for (int i = 0; i < D; ++i) r.c[i] = value;
    return r;
  }
  TRIBO_HD static Vec zero() { return filled(T(0)); }
};

template <class T, int D>
TRIBO_HD Vec<T, D> operator+(const Vec<T, D>& a, const Vec<T, D>& b) {
  Vec<T, D> r;
  for (int i = 0; i < D; ++i) r.c[i] = a.c[i] + b.c[i];
  return r;
}
template <class T, int D>
TRIBO_HD Vec<T, D> operator-(const Vec<T, D>& a, const Vec<T, D>& b) {
  Vec<T, D> r;
  for (int i = 0; i < D; ++i) r.c[i] = a.c[i] - b.c[i];
  return r;
}
template <class T, int D>
TRIBO_HD Vec<T, D> operator-(const Vec<T, D>& a) {
  Vec<T, D> r;
  for (int i = 0; i < D; ++i) r.c[i] = -a.c[i];
  return r;
}
template <class T, int D>
TRIBO_HD Vec<T, D> operator*(const Vec<T, D>& a, const T& s) {
  Vec<T, D> r;
  for (int i = 0; i < D; ++i) r.c[i] = a.c[i] * s;
  return r;
}
template <class T, int D>
TRIBO_HD Vec<T, D> operator*(const T& s, const Vec<T, D>& a) {
  return a * s;
}
template <class T, int D>
TRIBO_HD Vec<T, D>& operator+=(Vec<T, D>& a, const Vec<T, D>& b) {
  for (int i = 0; i < D; ++i) a.c[i] = a.c[i] + b.c[i];
  return a;
}
template <class T, int D>
TRIBO_HD T dot(const Vec<T, D>& a, const Vec<T, D>& b) {
  T s = a.c[0] * b.c[0];
  for (int i = 1; i < D; ++i) s = s + a.c[i] * b.c[i];
  return s;
}
template <class T, int D>
TRIBO_HD T squared_norm(const Vec<T, D>& a) {
  return dot(a, a);
}
template <class T>
TRIBO_HD Vec<T, 3> cross(const Vec<T, 3>& a, const Vec<T, 3>& b) {
  return {{a.c[1] * b.c[2] - a.c[2] * b.c[1], a.c[2] * b.c[0] - a.c[0] * b.c[2], a.c[0] * b.c[1] - a.c[1] * b.c[0]}};
}

/// Square matrix, element (row, column).
template <class T, int D>
struct Mat {
  T m[D][D];

  TRIBO_HD T& operator()(int i, int j) { return m[i][j]; }
  TRIBO_HD const T& operator()(int i, int j) const { return m[i][j]; }

  TRIBO_HD static Mat zero() {
    Mat r;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) r.m[i][j] = T(0);
    return r;
  }
  TRIBO_HD static Mat identity() {
    Mat r = zero();
    for (int i = 0; i < D; ++i) r.m[i][i] = T(1);
    return r;
  }
  TRIBO_HD static Mat diagonal(const Vec<T, D>& d) {
    Mat r = zero();
    for (int i = 0; i < D; ++i) r.m[i][i] = d.c[i];
    return r;
  }
};

template <class T, int D>
TRIBO_HD Mat<T, D> operator+(const Mat<T, D>& a, const Mat<T, D>& b) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r.m[i][j] = a.m[i][j] + b.m[i][j];
  return r;
}
template <class T, int D>
TRIBO_HD Mat<T, D> operator-(const Mat<T, D>& a, const Mat<T, D>& b) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r.m[i][j] = a.m[i][j] - b.m[i][j];
  return r;
}
template <class T, int D>
TRIBO_HD Mat<T, D> operator*(const Mat<T, D>& a, const T& s) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r.m[i][j] = a.m[i][j] * s;
  return r;
}
template <class T, int D>
TRIBO_HD Mat<T, D> operator*(const Mat<T, D>& a, const Mat<T, D>& b) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      T s = a.m[i][0] * b.m[0][j];
      for (int k = 1; k < D; ++k) s = s + a.m[i][k] * b.m[k][j];
      r.m[i][j] = s;
    }
  return r;
}
template <class T, int D>
TRIBO_HD Vec<T, D> operator*(const Mat<T, D>& a, const Vec<T, D>& x) {
  Vec<T, D> r;
  for (int i = 0; i < D; ++i) {
    T s = a.m[i][0] * x.c[0];
    for (int k = 1; k < D; ++k) s = s + a.m[i][k] * x.c[k];
    r.c[i] = s;
  }
  return r;
}
template <class T, int D>
TRIBO_HD Mat<T, D> transpose(const Mat<T, D>& a) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r.m[i][j] = a.m[j][i];
  return r;
}
template <class T, int D>
TRIBO_HD T trace(const Mat<T, D>& a) {
  T s = a.m[0][0];
  for (int i = 1; i < D; ++i) s = s + a.m[i][i];
  return s;
}
template <class T>
TRIBO_HD T determinant(const Mat<T, 2>& a) {
  return a.m[0][0] * a.m[1][1] - a.m[0][1] * a.m[1][0];
}
template <class T>
TRIBO_HD T determinant(const Mat<T, 3>& a) {
  return a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
         a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0]) +
         a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}

/// Symmetric matrix in D (D+1) / 2 numbers: 3D order 00 01 02 11 12 22, 2D order 00 01 11.
template <class T, int D>
struct Sym {
  static constexpr int size = D * (D + 1) / 2;
  T s[size];

  TRIBO_HD static constexpr int at(int i, int j) {
    return i <= j ? i * D - i * (i - 1) / 2 + (j - i) : j * D - j * (j - 1) / 2 + (i - j);
  }
  TRIBO_HD T& operator()(int i, int j) { return s[at(i, j)]; }
  TRIBO_HD const T& operator()(int i, int j) const { return s[at(i, j)]; }

  TRIBO_HD static Sym isotropic(const T& value) {
    Sym r;
    for (int i = 0; i < D; ++i)
      for (int j = i; j < D; ++j) r.s[at(i, j)] = i == j ? value : T(0);
    return r;
  }
};

template <class T, int D>
TRIBO_HD T trace(const Sym<T, D>& a) {
  T s = a(0, 0);
  for (int i = 1; i < D; ++i) s = s + a(i, i);
  return s;
}
/// F F^T
template <class T, int D>
TRIBO_HD Sym<T, D> times_own_transpose(const Mat<T, D>& f) {
  Sym<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = i; j < D; ++j) {
      T s = f.m[i][0] * f.m[j][0];
      for (int k = 1; k < D; ++k) s = s + f.m[i][k] * f.m[j][k];
      r(i, j) = s;
    }
  return r;
}
/// U diag(d) U^T
template <class T, int D>
TRIBO_HD Sym<T, D> from_principal(const Mat<T, D>& u, const Vec<T, D>& d) {
  Sym<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = i; j < D; ++j) {
      T s = u.m[i][0] * d.c[0] * u.m[j][0];
      for (int k = 1; k < D; ++k) s = s + u.m[i][k] * d.c[k] * u.m[j][k];
      r(i, j) = s;
    }
  return r;
}
template <class T, int D>
TRIBO_HD Mat<T, D> full(const Sym<T, D>& a) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r.m[i][j] = a(i, j);
  return r;
}

/// The same numbers in another scalar type.
template <class To, class From, int D>
TRIBO_HD Vec<To, D> cast(const Vec<From, D>& a) {
  Vec<To, D> r;
  for (int i = 0; i < D; ++i) r.c[i] = To(a.c[i]);
  return r;
}

}  // namespace tribo
