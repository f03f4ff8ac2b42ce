#pragma once

#include "tribo/core/params.h"
#include "tribo/math/svd.h"
#include "tribo/models/elastic/parameters.h"
#include "tribo/models/step_force.h"

namespace tribo {

/// St. Venant-Kirchhoff elasticity: Hooke's law between Green's strain and the second Piola stress,
///   psi = mu sum e_i^2 + lambda/2 (sum e_i)^2,   e = (s^2 - 1)/2,   tau = U diag(s e' (2 mu e_i + lambda sum e)) U^T
/// The law of text books for small strains and large rotations. A bar of it pushes back hardest at 1/sqrt(3) of its
/// length; shorter it would give way, collapse and stay inverted. From there on e follows its tangent,
/// e = e(a) + a (s - a): the stress of a bar goes on growing through flat to inverted, the energy and its derivative
/// stay continuous, and nothing changes for stretches above a = 1/sqrt(3). Viscosity as in fixed corotated.
template <class Real>
struct StVenantKirchhoff {
  static constexpr const char* name = "st_venant_kirchhoff";
  static constexpr const char* doc = "Elastic solid of text books: linear in Green's strain; for moderate strains.";

  Real mu, lambda;  ///< Lame parameters [Pa]
  Real viscosity;   ///< eta [Pa s]

  static StVenantKirchhoff read(ParamReader& in) { return read_damped_elastic<StVenantKirchhoff>(in); }

  static constexpr int memory = 0;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  /// Where the strain begins to follow its tangent.
  static constexpr double turning_stretch = 0.57735026918962576;

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    Mat<T, D> U;
    Vec<T, D> s;
    left_svd(strain.F, U, s);
    const GreenStrain<T, D> green(s);
    Vec<T, D> tau;
    T largest = T(0), squares = T(0), pull = T(0);
    for (int i = 0; i < D; ++i) {
      tau[i] = s[i] * green.slope[i] * fma(T(2 * mu), green.e[i], T(lambda) * green.trace);
      const T wide = max(abs(s[i]), T(Real(turning_stretch)));
      largest = max(largest, wide);
      squares = fma(wide * wide, wide * wide, squares);
      pull = max(pull, tau[i]);
    }
    // Second derivative along F + x G F with |G| = 1: 2 mu |sym(F^T G F)|^2 + lambda (F F^T : G)^2 + tau : G^T G.
    const T square = largest * largest;
    const T shear = T(2 * mu) * square * square;
    return {from_principal(U, tau), fma(T(lambda > Real(0) ? lambda : Real(0)), squares, shear) + pull};
  }

  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& /*history*/, const T& /*dt*/) const {
    const GreenStrain<T, D> green(s);
    PrincipalForce<T, D> r;
    for (int i = 0; i < D; ++i) {
      const T stress = fma(T(2 * mu), green.e[i], T(lambda) * green.trace);
      r.g[i] = green.slope[i] * stress;
      for (int j = i; j < D; ++j) r.A(i, j) = green.slope[i] * green.slope[j] * T(i == j ? 2 * mu + lambda : lambda);
      r.A(i, i) = r.A(i, i) + select(s[i] > T(Real(turning_stretch)), stress, T(0));
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
    Mat<T, D> U;
    Vec<T, D> s;
    left_svd(strain.F, U, s);
    const GreenStrain<T, D> green(s);
    T squares = T(0);
    for (int i = 0; i < D; ++i) squares = fma(green.e[i], green.e[i], squares);
    return fma(T(mu), squares, T(Real(0.5) * lambda) * green.trace * green.trace);
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F);
  }

 private:
  /// e and de/ds of each stretch.
  template <class T, int D>
  struct GreenStrain {
    Vec<T, D> e, slope;
    T trace;

    TRIBO_HD explicit GreenStrain(const Vec<T, D>& s) {
      trace = T(0);
      for (int i = 0; i < D; ++i) {
        slope[i] = max(s[i], T(Real(turning_stretch)));
        // (s - 1)(s + 1) keeps the digits of small strains.
        e[i] = fma(T(Real(0.5)) * (slope[i] - T(1)), slope[i] + T(1), slope[i] * (s[i] - slope[i]));
        trace = trace + e[i];
      }
    }
  };
};

}  // namespace tribo
