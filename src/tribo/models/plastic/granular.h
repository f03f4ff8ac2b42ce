#pragma once

#include <cmath>

#include "tribo/core/params.h"
#include "tribo/models/elastic/hencky_strain.h"

/// \file
/// What the laws of grains share: Hencky elasticity [Klar 2016; Han 2019, eqs. 7-9],
///   psi = mu sum e_i^2 + lambda/2 (sum e_i)^2,   e = ln s,   tau = U diag(2 mu e_i + lambda sum e) U^T,
/// flow without change of volume where the shear stress exceeds what friction bears under the pressure, and the volume
/// correction of Tampubolon 2017: volume gained while the grains were loose is remembered in history[0] = v_c and must
/// be lost again before they push back. The cohesion c of moist grains is the tension that holds them together: the
/// yield surface begins at tau = c I instead of 0, at the strain tr(e) = D c / (D lambda + 2 mu).

namespace tribo {

/// Parameters of grains, and all of their law but for how much shear friction bears.
template <class Real>
struct Grains {
  Real mu, lambda;         ///< Lame parameters [Pa]
  Real friction;           ///< sin(phi) of the angle of internal friction phi
  Real volume_correction;  ///< 1 or 0
  Real cohesion;           ///< c [Pa]

  static Grains read_grains(ParamReader& in, const char* meaning_of_friction) {
    const double E = in.number("youngs_modulus", "Pa", above(0), "stiffness of the grains' packing");
    const double nu = in.number("poisson_ratio", "1", between(-1, 0.5), "lateral contraction");
    const double phi = in.number("friction_angle", "deg", between(0, 80), meaning_of_friction);
    const bool correct = in.flag("volume_correction", "grains that spread apart must close up before they push", true);
    const double c = in.number("cohesion", "Pa", at_least(0),
                               "pull from all sides that moist grains bear before they part; dry ones bear none", 0);
    return {Real(shear_modulus(E, nu)), Real(lame_lambda(E, nu)), Real(std::sin(phi * 3.14159265358979323846 / 180)),
            Real(correct ? 1 : 0), Real(c)};
  }

  static constexpr int memory = 1;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  /// Return mapping (theory B.5): trial strain to the yield surface, then the stress there. The law knows how much
  /// of a deviator is `bearable` under a pressure.
  template <class Law, class T, int D>
  TRIBO_HD Response<T, D> return_mapping(const Law& law, const Mat<T, D>& G, Strain<T, D>& strain) const {
    const Mat<T, D> trial = advanced(G, strain.F);
    const LogStretch<T, D> p(trial);
    const T vc = strain.history[0];
    Vec<T, D> e;
    for (int i = 0; i < D; ++i) e[i] = p.e[i] + vc * T(1.0 / D);
    const SplitStrain<T, D> split(e);
    const Real tip = cohesion / (D * lambda + 2 * mu);  // each principal strain there
    const T tr = split.trace - T(D * tip);              // volume strain from the tip
    const T pressure = T(-(D * lambda + 2 * mu) / (2 * D * mu)) * tr;
    const T keep = min(law.bearable(split, pressure), T(1));
    const auto loose = tr >= T(0);
    T before = T(0);
    T after = T(0);
    Vec<T, D> ratio;
    for (int i = 0; i < D; ++i) {
      const T projected = select(loose, T(tip), fma(keep, split.deviator[i], split.trace * T(1.0 / D)));
      ratio[i] = exp(projected - p.e[i]);
      before = before + p.e[i];
      after = after + projected;
      e[i] = projected;
    }
    // F_new = U diag(e^projected) V^T = U diag(ratio) U^T F_trial, without V. A particle that is inverted or flat has
    // no logarithm: it starts anew, free of strain and stress, and remembers no new volume.
    const Mat<T, D> projected_F = full(from_principal(p.U, ratio)) * trial;
    const T gained = T(volume_correction) * max(vc + before - after, T(0));
    strain.history[0] = select(p.degenerate, vc, gained);
    for (int i = 0; i < D; ++i) {
      e[i] = select(p.degenerate, T(0), e[i]);
      for (int j = 0; j < D; ++j) strain.F(i, j) = select(p.degenerate, T(Real(i == j ? 1 : 0)), projected_F(i, j));
    }
    return hencky_response(mu, lambda, p.U, e);
  }

  /// As after the return mapping. Where grains flow, the shear stress grows with the pressure, which pulls nothing back:
  /// that part is not symmetric and stays out of the derivative. Half the secant stiffness stands in for it along the
  /// flow, where the derivative would be 0 and iterates would swing.
  template <class Law, class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal_force(const Law& law, const Vec<T, D>& s, const Vec<T, 2>& history) const {
    const FlowStretch<T, D> log(s);
    Vec<T, D> e;
    for (int i = 0; i < D; ++i) e[i] = log.e[i] + history[0] * T(1.0 / D);
    const SplitStrain<T, D> split(e);
    const Real bulk = lambda + 2 * mu / D;
    const T tr = split.trace - T(cohesion / bulk);  // volume strain from the tip
    const auto loose = tr >= T(0);
    const T bearable = law.bearable(split, T(-bulk / (2 * mu)) * tr);
    const T secant = select(loose, T(0), T(2 * mu) * min(bearable, T(1)));
    return log.force(s, split,
                     {select(loose, T(cohesion), T(bulk) * split.trace), select(loose, T(0), T(bulk)),
                      secant * split.norm, select(bearable < T(1), T(Real(0.5)) * secant, secant)});
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const LogStretch<T, D> p(strain.F);
    return hencky_response(mu, lambda, p.U, p.e);
  }

  template <class T, int D>
  TRIBO_HD T energy(const Strain<T, D>& strain) const {
    // Cohesion draws also across the gap v_c, and gives its work back when that closes.
    return hencky_energy(mu, lambda, LogStretch<T, D>(strain.F).e) + T(cohesion) * strain.history[0];
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F) * exp(strain.history[0]);
  }
};

}  // namespace tribo
