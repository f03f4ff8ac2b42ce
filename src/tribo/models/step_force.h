#pragma once

#include "tribo/math/svd.h"
#include "tribo/models/law.h"

/// \file
/// What implicit integration asks of a law: the stress at the end of a step as a function of the step's own velocity
/// gradient, and how it changes with it. With G = dt grad v and F the strain before the step, a particle's share of the
/// work is psi((I + G) F), so that the grid needs
///   S = d psi / d G = P F^T   and   K = d S / d G.
/// Plastic flow and relaxation within the step are part of S (it is the stress after the return mapping); K is their
/// symmetric part where the flow is associated, and leaves out what is not symmetric. Negative eigenvalues are
/// taken as 0, so that conjugate gradients and descent always work.

namespace tribo {

/// Principal values of P = U diag(g) V^T at the stretches s, and their derivatives (theory B.3).
template <class T, int D>
struct PrincipalForce {
  Vec<T, D> g;  ///< [Pa]
  Sym<T, D> A;  ///< d g_i / d s_j [Pa]
};

/// The same of a law that knows only its volume: d psi / d J, and its derivative.
template <class T>
struct VolumeForce {
  T g, slope;  ///< [Pa]
};

/// A law that keeps its volume ratio J = (1 + tr G) J in history[0] and nothing else.
template <class Law, class T>
concept VolumeLaw = requires(const Law& law, const T& J) {
  law.volume_force(J);
};

/// S and K. The rows and columns of K are the elements of G, row by row.
template <class T, int D>
struct StepForce {
  Mat<T, D> S;
  Sym<T, D * D> K;
};

/// Products of stretches that derivatives of J = s_1 ... s_D are made of, without a division.
template <class T, int D>
struct StretchProducts {
  T J;
  Vec<T, D> without;  ///< dJ/ds_i: the product of the others

  TRIBO_HD explicit StretchProducts(const Vec<T, D>& s) {
    for (int i = 0; i < D; ++i) {
      without[i] = T(1);
      for (int k = 0; k < D; ++k)
        if (k != i) without[i] = without[i] * s[k];
    }
    J = without[0] * s[0];
  }
  /// d2J / ds_i ds_j
  TRIBO_HD static T without_both(const Vec<T, D>& s, int i, int j) {
    T r = T(i == j ? 0 : 1);
    for (int k = 0; k < D; ++k)
      if (k != i && k != j) r = r * s[k];
    return r;
  }
};

/// K += weight B B^T
template <class T, int D>
TRIBO_HD void add_mode(const T& weight, const Mat<T, D>& B, Sym<T, D * D>& K) {
  const T* const b = &B.m[0][0];
  for (int i = 0; i < D * D; ++i) {
    const T row = weight * b[i];
    for (int j = i; j < D * D; ++j) K(i, j) = fma(row, b[j], K(i, j));
  }
}

TRIBO_OWN_COPY {
/// S and K of an isotropic law from its principal values (theory B.3). In the axes of F = U diag(s) V^T after the
/// step, dP/dF falls into the D x D matrix A for stretching and one number each for shearing and turning in the plane
/// of two axes, p = (g_i - g_j)/(s_i - s_j) and q = (g_i + g_j)/(s_i + s_j): their eigenvectors are the modes.
template <class T, int D>
TRIBO_OUTLINED void principal_modes(const PrincipalForce<T, D>& force, const Vec<T, D>& s, const Mat<T, D>& U,
                              const Mat<T, D>& FV, StepForce<T, D>& r) {
  using Real = scalar_of<T>;
  Vec<T, D> strength;
  Mat<T, D> axes;
  symmetric_eigen(force.A, strength, axes);
  Mat<T, D> B;
  for (int k = 0; k < D; ++k) {
    for (int a = 0; a < D; ++a)
      for (int b = 0; b < D; ++b) {
        T sum = T(0);
        for (int i = 0; i < D; ++i) sum = fma(axes(i, k) * U(a, i), FV(b, i), sum);
        B(a, b) = sum;
      }
    add_mode(max(strength[k], T(0)), B, r.K);
  }
  // Where two stretches meet, the quotient p becomes the derivative; before that it loses its digits.
  const T meeting = T(sizeof(Real) == 4 ? Real(3e-3) : Real(1e-5)) * max(s[0], T(Real(1e-3)));
  for (int i = 0; i < D; ++i)
    for (int j = i + 1; j < D; ++j) {
      const T gap = s[i] - s[j];
      const auto meet = gap < meeting;
      const T limit = fma(T(Real(0.5)), force.A(i, i) + force.A(j, j), -force.A(i, j));
      const T p = select(meet, limit, (force.g[i] - force.g[j]) / select(meet, T(1), gap));
      const T q = (force.g[i] + force.g[j]) / max(s[i] + s[j], T(Real(1e-6)));
      Mat<T, D> turn;
      for (int a = 0; a < D; ++a)
        for (int b = 0; b < D; ++b) {
          const T one = U(a, i) * FV(b, j), other = U(a, j) * FV(b, i);
          B(a, b) = one + other;
          turn(a, b) = one - other;
        }
      add_mode(T(Real(0.5)) * max(p, T(0)), B, r.K);
      add_mode(T(Real(0.5)) * max(q, T(0)), turn, r.K);
    }
}
}  // own copy

/// S and K of a step with velocity gradient G / dt from `strain`, viscosity included.
template <class Law, class T, int D>
TRIBO_HD StepForce<T, D> step_force(const Law& law, const Mat<T, D>& G, const Strain<T, D>& strain, const T& dt) {
  StepForce<T, D> r;
  for (int k = 0; k < Sym<T, D * D>::size; ++k) r.K.s[k] = T(0);
  if constexpr (VolumeLaw<Law, T>) {
    const T J0 = strain.history[0];
    const VolumeForce<T> force = law.volume_force(fma(trace(G), J0, J0));
    r.S = Mat<T, D>::zero();
    for (int i = 0; i < D; ++i) r.S(i, i) = force.g * J0;
    add_mode(max(force.slope, T(0)) * J0 * J0, Mat<T, D>::identity(), r.K);
  } else {
    Mat<T, D> U, V;
    Vec<T, D> s;
    polar_svd(advanced(G, strain.F), U, s, V);
    const PrincipalForce<T, D> force = law.principal(s, strain.history, dt);
    const Mat<T, D> FV = strain.F * V;
    for (int a = 0; a < D; ++a)
      for (int b = 0; b < D; ++b) {
        T sum = T(0);
        for (int i = 0; i < D; ++i) sum = fma(U(a, i) * force.g[i], FV(b, i), sum);
        r.S(a, b) = sum;
      }
    principal_modes(force, s, U, FV, r);
  }
  if constexpr (Viscous<Law>) {
    if (law.viscosity > scalar_of<T>(0)) {  // linear in G: its columns are its answers to unit gradients
      const T rate = T(1) / dt;
      const Sym<T, D> viscous = law.viscous_stress(G * rate, strain);
      for (int a = 0; a < D; ++a)
        for (int b = 0; b < D; ++b) r.S(a, b) = r.S(a, b) + viscous(a, b);
      for (int c = 0; c < D * D; ++c) {
        Mat<T, D> unit = Mat<T, D>::zero();
        unit(c / D, c % D) = rate;
        const Sym<T, D> column = law.viscous_stress(unit, strain);
        for (int row = 0; row <= c; ++row) r.K(row, c) = r.K(row, c) + column(row / D, row % D);
      }
    }
  }
  return r;
}

}  // namespace tribo
