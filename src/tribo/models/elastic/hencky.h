#pragma once

#include "tribo/core/params.h"
#include "tribo/models/elastic/hencky_strain.h"
#include "tribo/models/elastic/parameters.h"

namespace tribo {

/// St. Venant-Kirchhoff elasticity in logarithmic strain (theory B.4):
///   psi = mu sum e_i^2 + lambda/2 (sum e_i)^2,   tau = U diag(2 mu e_i + lambda sum e) U^T,   e = ln s
/// Linear in the strain that adds up, equally stiff when pulled to twice and pushed to half its length. Its nominal
/// stress has a maximum where a stretch reaches e = 2.7 (at Poisson ratio 0): it is not for rubber pulled farther than
/// that. Stretches below a hundredth, and inverted ones, as `ContinuedLogStretch` says. Viscosity as in fixed
/// corotated.
template <class Real>
struct Hencky {
  static constexpr const char* name = "hencky";
  static constexpr const char* doc = "Elastic solid, linear in logarithmic strain.";

  Real mu, lambda;  ///< Lame parameters [Pa]
  Real viscosity;   ///< eta [Pa s]

  static Hencky read(ParamReader& in) { return read_damped_elastic<Hencky>(in); }

  static constexpr int memory = 0;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const ContinuedLogStretch<T, D> log(strain.F);
    T tr = T(0);
    for (int i = 0; i < D; ++i) tr = tr + log.e[i];
    Vec<T, D> principal;
    for (int i = 0; i < D; ++i) principal[i] = log.slope[i] * fma(T(2 * mu), log.e[i], T(lambda) * tr);
    const T stiffness = hencky_stiffness(mu, lambda, log.e, principal);
    // The slope is 1 but for flat and inverted particles; of those the last stretch is the extreme one.
    return {from_principal(log.U, principal), stiffness * max(log.slope[D - 1] * log.slope[D - 1], T(1))};
  }

  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& /*history*/, const T& /*dt*/) const {
    Vec<T, D> e;
    for (int i = 0; i < D; ++i) e[i] = continued_log(s[i]);
    const SplitStrain<T, D> split(e);
    const T bulk = T(lambda + 2 * mu / D);
    return hencky_principal(s, split, {bulk * split.trace, bulk, T(2 * mu) * split.norm, T(2 * mu)},
                            T(Real(continued_log_from)));
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain) const {
    strain.F = advanced(G, strain.F);
    return response(strain);
  }

  template <class T, int D>
  TRIBO_HD Sym<T, D> viscous_stress(const Mat<T, D>& velocity_gradient, const Strain<T, D>& strain) const {
    return newtonian_stress(T(viscosity), determinant(strain.F), velocity_gradient, false);
  }

  template <class T, int D>
  TRIBO_HD T energy(const Strain<T, D>& strain) const {
    return hencky_energy(mu, lambda, ContinuedLogStretch<T, D>(strain.F).e);
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F);
  }
};

}  // namespace tribo
