#pragma once

#include "tribo/models/plastic/granular.h"

namespace tribo {

/// Sand under the Drucker-Prager yield condition [Klar 2016], a cone around the axis of pressure:
///   |dev tau| <= 3 alpha p,   alpha = sqrt(2/3) 2 sin(phi) / (3 - sin(phi)),   p = c - tr(tau) / D.
/// The cone goes through the strength of Mohr-Coulomb sand that is compressed along one axis. In any other state it is
/// stronger: in simple shear it bears a shear stress of 3 alpha / sqrt(2) p, which is 0.69 p at phi = 30 degrees where
/// Mohr-Coulomb sand bears 0.5 p. In two dimensions, too, 3 and not D: there p and dev tau are those in the plane, and
/// the sand is the same as in a layer of three dimensions that is sheared in its plane.
template <class Real>
struct DruckerPrager : Grains<Real> {
  static constexpr const char* name = "drucker_prager";
  static constexpr const char* doc =
      "Granular material: resists shear in proportion to pressure; tension only by cohesion.";

  static DruckerPrager read(ParamReader& in) {
    return {Grains<Real>::read_grains(in, "internal friction when compressed along one axis; larger in shear")};
  }

  /// How many times the deviator of e is borne under the pressure p, given as the strain p / (2 mu).
  template <class T, int D>
  TRIBO_HD T bearable(const SplitStrain<T, D>& e, const T& pressure) const {
    const Real slope = Real(4.898979485566356) * this->friction / (Real(3) - this->friction);  // 3 alpha
    return T(slope) * pressure / max(e.norm, T(Real(1e-30)));
  }

  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& history, const T& /*dt*/) const {
    return this->principal_force(*this, s, history);
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain) const {
    return this->return_mapping(*this, G, strain);
  }
};

}  // namespace tribo
