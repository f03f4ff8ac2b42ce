#pragma once

#include "tribo/core/params.h"
#include "tribo/models/elastic/parameters.h"
#include "tribo/models/step_force.h"

namespace tribo {

/// Compressible neo-Hookean solid (theory B.9):
///   psi = mu/2 (|F|^2 - D) - mu l + lambda/2 l^2,   tau = mu B + (lambda l - mu) J l' I,   l = ln J,  B = F F^T
/// Rubber that is pulled far. The logarithm resists collapse; it exists for J > 0 only, so below a hundredth of the
/// volume l goes on along its tangent, l = ln J0 + (J - J0)/J0: stress and energy stay continuous and finite for any F,
/// and an inverted particle is drawn back. No decomposition of F is needed. Viscosity as in fixed corotated.
template <class Real>
struct NeoHookean {
  static constexpr const char* name = "neo_hookean";
  static constexpr const char* doc = "Rubber-like elastic solid that resists collapse ever more.";

  Real mu, lambda;  ///< Lame parameters [Pa]
  Real viscosity;   ///< eta [Pa s]

  static NeoHookean read(ParamReader& in) { return read_damped_elastic<NeoHookean>(in); }

  static constexpr int memory = 0;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const Sym<T, D> B = times_own_transpose(strain.F);
    const LogVolume<T> volume(determinant(strain.F));
    const T q = (T(mu) - T(lambda) * volume.log) * volume.slope;
    Response<T, D> r;
    for (int k = 0; k < Sym<T, D>::size; ++k) r.tau.s[k] = T(mu) * B.s[k];
    for (int i = 0; i < D; ++i) r.tau(i, i) = r.tau(i, i) - q;
    // Second derivative along F + x G F with |G| = 1: mu |G F|^2 and lambda tr(G)^2 + q tr(G^2), which takes the values
    // D lambda + q for G ~ I, q for other symmetric G, -q for skew G; along the tangent
    // lambda slope^2 tr(G)^2 - q (tr(G)^2 - tr(G^2)).
    const T bulk = T(lambda > Real(0) ? D * lambda : Real(0)) * volume.slope * volume.slope;
    const T on_tangent = fma(T(Real(D - 1)), abs(q), bulk);
    const T second = select(volume.slope < T(1), on_tangent, max(bulk + q, -q));
    r.stiffness = fma(T(mu), largest_eigenvalue_bound(B), second);
    return r;
  }

  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& /*history*/, const T& /*dt*/) const {
    const StretchProducts<T, D> product(s);
    const LogVolume<T> volume(product.J);
    const T inverse = T(1) / max(product.J, T(Real(0.01)));  // l'
    const T force = fma(T(lambda), volume.log, T(-mu)) * inverse;
    // On the tangent l'' is 0, else -l'^2.
    const T curve = T(lambda) * inverse * inverse - select(volume.slope < T(1), T(0), force * inverse);
    PrincipalForce<T, D> r;
    for (int i = 0; i < D; ++i) {
      r.g[i] = fma(T(mu), s[i], force * product.without[i]);
      for (int j = i; j < D; ++j)
        r.A(i, j) = fma(curve * product.without[i], product.without[j],
                        force * StretchProducts<T, D>::without_both(s, i, j) + T(i == j ? mu : Real(0)));
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
    T squares = T(0);
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) squares = fma(strain.F(i, j), strain.F(i, j), squares);
    const T l = LogVolume<T>(determinant(strain.F)).log;
    return fma(T(Real(0.5) * mu), squares - T(D) - T(2) * l, T(Real(0.5) * lambda) * l * l);
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F);
  }

 private:
  /// l(J) and J dl/dJ.
  template <class T>
  struct LogVolume {
    T log, slope;

    TRIBO_HD explicit LogVolume(const T& J) {
      const T kept = max(J, T(Real(0.01)));
      log = fma(J - kept, T(Real(100)), tribo::log(kept));
      slope = J / kept;
    }
  };
};

}  // namespace tribo
