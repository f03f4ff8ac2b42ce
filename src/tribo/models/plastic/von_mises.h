#pragma once

#include <cmath>

#include "tribo/core/params.h"
#include "tribo/models/elastic/hencky_strain.h"

namespace tribo {

/// Ductile solid: Hencky elasticity that flows, at constant volume, where the shear stress reaches the von Mises yield
/// condition (theory B.8):
///   |dev tau| <= sqrt(2/3) sigma_Y;   beyond it  e <- tr(e)/D + dev(e) sqrt(2/3) sigma_Y / (2 mu |dev e|)
/// sigma_Y is the yield stress of a bar that is pulled; in simple shear it is sigma_Y / sqrt(3). Pressure is always
/// elastic. A particle that is inverted or flatter than 1e-4 starts anew, unstrained.
template <class Real>
struct VonMises {
  static constexpr const char* name = "von_mises";
  static constexpr const char* doc = "Ductile solid: elastic until it yields, then keeps its new shape.";

  Real mu, lambda;    ///< Lame parameters [Pa]
  Real yield_strain;  ///< largest |dev e|

  static VonMises read(ParamReader& in) {
    const double E = in.number("youngs_modulus", "Pa", above(0), "stiffness in tension");
    const double nu = in.number("poisson_ratio", "1", between(-1, 0.5), "lateral contraction; 0.5 is incompressible");
    const double yield = in.number("yield_stress", "Pa", at_least(0), "tension at which a bar begins to flow");
    const double mu = shear_modulus(E, nu);
    return {Real(mu), Real(lame_lambda(E, nu)), Real(std::sqrt(2.0 / 3) * yield / (2 * mu))};
  }

  static constexpr int memory = 0;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& /*history*/, const T& /*dt*/) const {
    const FlowStretch<T, D> log(s);
    const SplitStrain<T, D> split(log.e);
    const T bulk = T(lambda + 2 * mu / D);
    const T shear = T(2 * mu) * min(split.norm, T(yield_strain));
    return log.force(s, split,
                     {bulk * split.trace, bulk, shear, select(split.norm < T(yield_strain), T(2 * mu), T(0))});
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain) const {
    const IsochoricFlow<T, D> flow(advanced(G, strain.F));
    const T keep = min(T(yield_strain) / max(flow.split.norm, T(Real(1e-30))), T(1));
    return hencky_response(mu, lambda, flow.log.U, flow.finish(keep, strain.F));
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const LogStretch<T, D> p(strain.F);
    return hencky_response(mu, lambda, p.U, p.e);
  }

  template <class T, int D>
  TRIBO_HD T energy(const Strain<T, D>& strain) const {
    return hencky_energy(mu, lambda, LogStretch<T, D>(strain.F).e);
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F);
  }
};

}  // namespace tribo
