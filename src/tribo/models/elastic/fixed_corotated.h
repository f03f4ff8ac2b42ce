#pragma once

#include "tribo/core/params.h"
#include "tribo/models/elastic/parameters.h"
#include "tribo/models/elastic/stretch.h"
#include "tribo/models/step_force.h"

namespace tribo {

/// Fixed corotated elasticity [Stomakhin 2012; Han 2019, eq. 3 with the factor 2 its print lost]:
///   psi = mu sum (s_i - 1)^2 + lambda/2 (J - 1)^2
///   P   = 2 mu (F - R) + lambda (J - 1) cof F
///   tau = 2 mu (B - V) + lambda (J - 1) J I,   B = F F^T, V = R F^T
/// Defined and finite for inverted F. Kelvin-Voigt viscosity, tau += 2 eta J sym(grad v), lets it come to rest.
template <class Real>
struct FixedCorotated {
  static constexpr const char* name = "fixed_corotated";
  static constexpr const char* doc = "Rubber-like elastic solid; recovers from inversion.";

  Real mu, lambda;  ///< Lame parameters [Pa]
  Real viscosity;   ///< eta [Pa s]

  static FixedCorotated read(ParamReader& in) { return read_damped_elastic<FixedCorotated>(in); }

  static constexpr int memory = 0;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const Sym<T, D> B = times_own_transpose(strain.F);
    const T J = determinant(strain.F);
    const LeftStretch<T, D> stretch = left_stretch(strain.F, B, J);
    const T pressure = T(lambda) * (J - T(1)) * J;
    Response<T, D> r;
    for (int k = 0; k < Sym<T, D>::size; ++k) r.tau.s[k] = T(2 * mu) * (B.s[k] - stretch.V.s[k]);
    for (int i = 0; i < D; ++i) r.tau(i, i) = r.tau(i, i) + pressure;
    r.stiffness = stiffness(B, J);
    return r;
  }

  /// Second derivative along F + x G F with |G| = 1: at most 2 mu s^2 of the shear part, and of the volume part
  ///   lambda (J^2 tr(G)^2 + c (tr(G)^2 - tr(G^2))),   c = J (J - 1),   -1 <= tr(G)^2 - tr(G^2) <= D - 1;
  /// an auxetic's negative lambda does not make shear softer.
  template <class T, int D>
  TRIBO_HD T stiffness(const Sym<T, D>& B, const T& J) const {
    const T c = J * (J - T(1));
    const T volume =
        lambda > Real(0) ? max(fma(T(Real(D)) * J, J, T(Real(D - 1)) * max(c, T(0))), -c) : T(Real(D - 1)) * abs(c);
    return fma(T(2 * mu), largest_eigenvalue_bound(B), T(abs(lambda)) * volume);
  }

  /// Theory B.3
  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& /*history*/, const T& /*dt*/) const {
    const StretchProducts<T, D> product(s);
    const T volume = T(lambda) * (product.J - T(1));
    PrincipalForce<T, D> r;
    for (int i = 0; i < D; ++i) {
      r.g[i] = fma(T(2 * mu), s[i] - T(1), volume * product.without[i]);
      for (int j = i; j < D; ++j)
        r.A(i, j) = fma(T(lambda) * product.without[i], product.without[j],
                        volume * StretchProducts<T, D>::without_both(s, i, j) + T(i == j ? 2 * mu : Real(0)));
    }
    return r;
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
    const Sym<T, D> B = times_own_transpose(strain.F);
    const T J = determinant(strain.F);
    const T stretch = left_stretch(strain.F, B, J).trace;
    // sum (s_i - 1)^2 = tr B - 2 tr V + D
    return T(mu) * (trace(B) - T(2) * stretch + T(D)) + T(Real(0.5) * lambda) * (J - T(1)) * (J - T(1));
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F);
  }
};

}  // namespace tribo
