#pragma once

#include "tribo/core/params.h"
#include "tribo/models/elastic/fixed_corotated.h"

namespace tribo {

/// Snow [Stomakhin 2013; theory B.6]: fixed corotated elasticity whose stretches stay within
///   1 - theta_c <= s <= 1 + theta_s;
/// what is beyond becomes plastic. Only the plastic change of volume is kept, J_P = history[0], within [0.6, 20];
/// packed snow becomes stiffer and torn snow softer,
///   mu = mu_0 h,  lambda = lambda_0 h,   h = min(exp(xi (1 - J_P)), h_max).
/// A particle that is inverted or flatter than 1e-4 starts anew, unstrained and as packed as it can be.
template <class Real>
struct Snow {
  static constexpr const char* name = "snow";
  static constexpr const char* doc = "Snow: packs and hardens under pressure, breaks when pulled.";

  Real mu, lambda;      ///< Lame parameters of fresh snow [Pa]
  Real least, most;     ///< 1 - theta_c, 1 + theta_s
  Real hardening;       ///< xi
  Real most_hardening;  ///< h_max

  static Snow read(ParamReader& in) {
    const double E = in.number("youngs_modulus", "Pa", above(0), "stiffness of the fresh snow");
    const double nu = in.number("poisson_ratio", "1", between(-1, 0.5), "lateral contraction", 0.2);
    const double compression =
        in.number("critical_compression", "1", between(0, 0.5),
                  "compression it bears before it packs; small for powder, large for chunks", 0.025);
    const double stretch = in.number("critical_stretch", "1", between(0, 0.5),
                                     "stretch it bears before it breaks; small for powder, large for chunks", 0.0075);
    const double xi = in.number(
        "hardening", "1", at_least(0),
        "how fast packing stiffens it, exp(hardening) for a whole volume lost; small is ductile, large brittle", 10);
    const double limit = in.number("max_hardening", "1", at_least(1), "how many times stiffer it can become", 20);
    return {Real(shear_modulus(E, nu)),
            Real(lame_lambda(E, nu)),
            Real(1 - compression),
            Real(1 + stretch),
            Real(xi),
            Real(limit)};
  }

  static constexpr int memory = 1;
  Vec<double, 2> initial_history() const { return {{1, 0}}; }

  /// Stress of the clamped stretches, tau_i = h g_i(s_c) s_c. Stretching beyond the limits changes it only through h:
  ///   d ln h / d ln s_j = -xi J_P   (beyond the limits, while J_P and h are within theirs)
  /// of which the symmetric part is kept.
  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& history, const T& dt) const {
    const auto degenerate = s[D - 1] <= T(Real(1e-4));
    Vec<T, D> kept, inverse;
    T volume = history[0];
    for (int i = 0; i < D; ++i) {
      const T found = select(degenerate, T(1), s[i]);
      kept[i] = max(min(found, T(most)), T(least));
      inverse[i] = T(1) / found;
      volume = volume * (found / kept[i]);
    }
    const T clamped = max(min(volume, T(Real(20))), T(Real(0.6)));
    const T h = stiffening(clamped);
    const T hardens = select(clamped == volume && h < T(most_hardening), T(hardening) * volume, T(0));
    const PrincipalForce<T, D> inside = elastic().principal(kept, history, dt);
    PrincipalForce<T, D> r;
    Vec<T, D> tau;
    for (int i = 0; i < D; ++i) tau[i] = select(degenerate, T(0), inside.g[i] * kept[i] * h);
    for (int i = 0; i < D; ++i) {
      r.g[i] = tau[i] * inverse[i];
      for (int j = i; j < D; ++j) {
        const auto free = kept[i] == s[i] && kept[j] == s[j];
        const auto beyond = kept[i] != s[i] && kept[j] != s[j];
        T slope = inside.A(i, j) * h * kept[i] * kept[j];
        if (i == j) slope = slope + tau[i];
        slope = select(free, slope, select(beyond, T(Real(-0.5)) * hardens * (tau[i] + tau[j]), T(0)));
        if (i == j) slope = slope - tau[i];
        r.A(i, j) = select(degenerate, T(0), slope * inverse[i] * inverse[j]);
      }
    }
    return r;
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain) const {
    const Mat<T, D> trial = advanced(G, strain.F);
    Mat<T, D> U;
    Vec<T, D> s, change;
    left_svd(trial, U, s);
    const auto degenerate = s[D - 1] <= T(Real(1e-4));
    T ratio = T(1);  // det trial / det F
    for (int i = 0; i < D; ++i) {
      const T found = select(degenerate, T(1), s[i]);
      const T kept = max(min(found, T(most)), T(least));
      change[i] = (kept - found) / found;
      ratio = ratio * (found / kept);
      s[i] = kept;
    }
    // F = U diag(kept) V^T = U diag(kept / s) U^T trial, without V; only the change is added.
    const Mat<T, D> returned = trial + full(from_principal(U, change)) * trial;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) strain.F(i, j) = select(degenerate, T(Real(i == j ? 1 : 0)), returned(i, j));
    const T volume = select(degenerate, T(0), strain.history[0] * ratio);
    strain.history[0] = max(min(volume, T(Real(20))), T(Real(0.6)));

    T J = s[0];
    for (int i = 1; i < D; ++i) J = J * s[i];
    Vec<T, D> principal, squares;
    for (int i = 0; i < D; ++i) {
      principal[i] = fma(T(2 * mu), (s[i] - T(1)) * s[i], T(lambda) * (J - T(1)) * J);
      squares[i] = s[i] * s[i];
    }
    const T h = stiffening(strain.history[0]);
    Sym<T, D> B = Sym<T, D>::isotropic(T(0));
    for (int i = 0; i < D; ++i) B(i, i) = squares[i];
    return {from_principal(U, principal * h), elastic().stiffness(B, J) * h};
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    Response<T, D> r = elastic().response(strain);
    const T h = stiffening(strain.history[0]);
    for (int k = 0; k < Sym<T, D>::size; ++k) r.tau.s[k] = r.tau.s[k] * h;
    r.stiffness = r.stiffness * h;
    return r;
  }

  template <class T, int D>
  TRIBO_HD T energy(const Strain<T, D>& strain) const {
    return elastic().energy(strain) * stiffening(strain.history[0]);
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F) * strain.history[0];
  }

 private:
  TRIBO_HD FixedCorotated<Real> elastic() const { return {mu, lambda, Real(0)}; }

  /// h(J_P)
  template <class T>
  TRIBO_HD T stiffening(const T& volume) const {
    return min(exp(T(hardening) * (T(1) - volume)), T(most_hardening));
  }
};

}  // namespace tribo
