#pragma once

#include "tribo/math/svd.h"
#include "tribo/models/step_force.h"

/// \file
/// Hencky elasticity in principal axes [Klar 2016; Han 2019, eqs. 7-9], shared by the laws that flow in logarithmic
/// strain (theory B.4):
///   psi = mu sum e_i^2 + lambda/2 (sum e_i)^2,   e = ln s,   tau = U diag(2 mu e_i + lambda sum e) U^T

namespace tribo {

/// Principal logarithmic stretches of F, in descending order. The SVD rather than the eigenvalues of F F^T: squaring
/// would lose the small stretches of a flattened particle in float.
template <class T, int D>
struct LogStretch {
  Mat<T, D> U;
  Vec<T, D> e;
  mask_t<T> degenerate;  ///< inverted, or flatter than 1e-4: taken as unstrained

  TRIBO_HD explicit LogStretch(const Mat<T, D>& F) {
    using Real = scalar_of<T>;
    Vec<T, D> s;
    left_svd(F, U, s);
    degenerate = s[D - 1] <= T(Real(1e-4));
    for (int i = 0; i < D; ++i) e[i] = log(select(degenerate, T(1), s[i]));
  }
};

/// The logarithm that `ContinuedLogStretch` takes.
inline constexpr double continued_log_from = 0.01;
template <class T>
TRIBO_HD T continued_log(const T& s) {
  using Real = scalar_of<T>;
  const T kept = max(s, T(Real(continued_log_from)));
  return fma(s - kept, T(Real(1 / continued_log_from)), log(kept));
}

/// The same for solids that keep their shape, which may not forget a strain: below a hundredth the logarithm goes on
/// along its tangent, through flat to inverted F. Stress and energy stay continuous and finite, the stress remains the
/// derivative of the energy, and the energy of an inverted particle falls on the way back.
template <class T, int D>
struct ContinuedLogStretch {
  Mat<T, D> U;
  Vec<T, D> e;
  Vec<T, D> slope;  ///< s de/ds: 1 where e is the logarithm

  TRIBO_HD explicit ContinuedLogStretch(const Mat<T, D>& F) {
    using Real = scalar_of<T>;
    Vec<T, D> s;
    left_svd(F, U, s);
    for (int i = 0; i < D; ++i) {
      e[i] = continued_log(s[i]);
      slope[i] = s[i] / max(s[i], T(Real(continued_log_from)));
    }
  }
};

/// A strain split into volume and shape.
template <class T, int D>
struct SplitStrain {
  T trace;
  Vec<T, D> deviator;
  T norm;  ///< of the deviator

  TRIBO_HD explicit SplitStrain(const Vec<T, D>& e) {
    trace = e[0];
    for (int i = 1; i < D; ++i) trace = trace + e[i];
    T squares = T(0);
    for (int i = 0; i < D; ++i) {
      deviator[i] = e[i] - trace * T(1.0 / D);
      squares = fma(deviator[i], deviator[i], squares);
    }
    norm = sqrt(squares);
  }
};

/// Bound of the second derivative of the energy along F + x G F, |G| = 1, for strains e and Kirchhoff stresses tau in
/// descending order. In principal axes it falls into (theory B.3 and B.4, with s_i multiplied in):
///   the diagonal of G:   lambda 1 1^T + diag(2 mu - tau_i)  <=  D lambda + 2 mu - min tau
///   G_ij and G_ji:       2 x 2, largest eigenvalue  mu c + sqrt((mu y)^2 + (mu c - t)^2),
///                        y = e_i - e_j,  c = y coth y <= 1 + min(y, y^2/3),  t = (tau_i + tau_j)/2
/// Compression stiffens the first, large shear and tension the second.
template <class T, int D, class Real>
TRIBO_HD T hencky_stiffness(Real mu, Real lambda, const Vec<T, D>& e, const Vec<T, D>& tau) {
  T lowest = T(0);
  for (int i = 0; i < D; ++i) lowest = min(lowest, tau[i]);
  const Real bulk = lambda > Real(0) ? D * lambda : Real(0);
  const T stretch = T(2 * mu + bulk) - lowest;
  const T y = e[0] - e[D - 1];
  const T c = T(mu) * (T(1) + min(y, y * y * T(Real(1.0 / 3))));
  const T below = T(Real(0.5)) * (tau[D - 1] + tau[D - 2]);
  const T above = T(Real(0.5)) * (tau[0] + tau[1]);
  const T m = max(c - below, above - T(mu));
  const T shear = c + sqrt(fma(m, m, T(mu * mu) * y * y));
  return max(stretch, shear);
}

template <class T, int D, class Real>
TRIBO_HD Response<T, D> hencky_response(Real mu, Real lambda, const Mat<T, D>& U, const Vec<T, D>& e) {
  T tr = T(0);
  for (int i = 0; i < D; ++i) tr = tr + e[i];
  Vec<T, D> principal;
  for (int i = 0; i < D; ++i) principal[i] = fma(T(2 * mu), e[i], T(lambda) * tr);
  return {from_principal(U, principal), hencky_stiffness(mu, lambda, e, principal)};
}

template <class T, int D, class Real>
TRIBO_HD T hencky_energy(Real mu, Real lambda, const Vec<T, D>& e) {
  T sum = T(0);
  T squares = T(0);
  for (int i = 0; i < D; ++i) {
    sum = sum + e[i];
    squares = fma(e[i], e[i], squares);
  }
  return fma(T(mu), squares, T(Real(0.5) * lambda) * sum * sum);
}

/// What an isotropic material answers to the volume and the shape of its strain, as functions of tr(e) and |dev e|.
template <class T>
struct StrainResponse {
  T pressure, bulk;   ///< mean Kirchhoff stress, and its derivative [Pa]
  T shear, rigidity;  ///< |dev tau|, and its derivative [Pa]
};

/// Principal forces of such a material: with t = tau_i and e_i = e(s_i),
///   g_i = t_i e_i',   A_ij = (dt_i/de_j) e_i' e_j' + t_i e_i'' (i = j),
///   dt_i/de_j = bulk + rigidity n_i n_j + shear/|dev e| (delta_ij - 1/D - n_i n_j),   n = dev e / |dev e|
/// where e' = 1/s down to `least` and constant below.
template <class T, int D>
TRIBO_HD PrincipalForce<T, D> hencky_principal(const Vec<T, D>& s, const SplitStrain<T, D>& split,
                                               const StrainResponse<T>& response, const T& least) {
  using Real = scalar_of<T>;
  const T tiny = T(Real(1e-6));
  const T norm = max(split.norm, tiny);
  const T secant = select(split.norm > tiny, response.shear / norm, response.rigidity);
  Vec<T, D> rate, n;
  for (int i = 0; i < D; ++i) {
    rate[i] = T(1) / max(s[i], least);
    n[i] = split.deviator[i] / norm;
  }
  PrincipalForce<T, D> r;
  for (int i = 0; i < D; ++i) {
    const T t = fma(secant, split.deviator[i], response.pressure);
    r.g[i] = t * rate[i];
    for (int j = i; j < D; ++j) {
      const T shape = fma((response.rigidity - secant) * n[i], n[j], secant * T(Real((i == j ? 1.0 : 0.0) - 1.0 / D)));
      r.A(i, j) = (response.bulk + shape) * rate[i] * rate[j];
    }
    r.A(i, i) = r.A(i, i) - select(s[i] > least, r.g[i] * rate[i], T(0));
  }
  return r;
}

/// The same for laws in `LogStretch`: a particle that is inverted or flat has no stress.
template <class T, int D>
struct FlowStretch {
  Vec<T, D> e;
  mask_t<T> degenerate;

  TRIBO_HD explicit FlowStretch(const Vec<T, D>& s) {
    using Real = scalar_of<T>;
    degenerate = s[D - 1] <= T(Real(1e-4));
    for (int i = 0; i < D; ++i) e[i] = log(select(degenerate, T(1), s[i]));
  }
  TRIBO_HD PrincipalForce<T, D> force(const Vec<T, D>& s, const SplitStrain<T, D>& split,
                                      const StrainResponse<T>& response) const {
    using Real = scalar_of<T>;
    PrincipalForce<T, D> r = hencky_principal(s, split, response, T(Real(1e-4)));
    for (int i = 0; i < D; ++i) r.g[i] = select(degenerate, T(0), r.g[i]);
    for (int k = 0; k < Sym<T, D>::size; ++k) r.A.s[k] = select(degenerate, T(0), r.A.s[k]);
    return r;
  }
};

/// A trial step of a law that flows at constant volume.
template <class T, int D>
struct IsochoricFlow {
  Mat<T, D> trial;
  LogStretch<T, D> log;
  SplitStrain<T, D> split;

  TRIBO_HD explicit IsochoricFlow(const Mat<T, D>& F) : trial(F), log(F), split(log.e) {}

  /// Keeps a share of the deviator and stores the F that is left:
  ///   F <- U diag(exp(e_new - e)) U^T F_trial,   e_new = tr(e)/D + keep dev(e).
  /// Only the change is added, so that rounding errors of U do not gather in F over many steps, and where all is kept F
  /// is the trial to the bit. An inverted or flat particle has no logarithm: it starts anew, unstrained. Returns e_new.
  TRIBO_HD Vec<T, D> finish(const T& keep, Mat<T, D>& F) const {
    using Real = scalar_of<T>;
    Vec<T, D> e, change;
    for (int i = 0; i < D; ++i) {
      const T step = (keep - T(1)) * split.deviator[i];
      change[i] = exp(step) - T(1);
      e[i] = select(log.degenerate, T(0), log.e[i] + step);
    }
    const Mat<T, D> flown = trial + full(from_principal(log.U, change)) * trial;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) F(i, j) = select(log.degenerate, T(Real(i == j ? 1 : 0)), flown(i, j));
    return e;
  }
};

}  // namespace tribo
