#pragma once

#include "tribo/models/plastic/granular.h"

namespace tribo {

/// Sand under the Mohr-Coulomb yield condition: grains slide along a plane where shear exceeds tan(phi) times the
/// pressure on it. In principal stresses, tau_1 the largest (tension is positive) and tau_D the smallest,
///   tau_1 - tau_D <= (2 c - tau_1 - tau_D) sin(phi),
/// the same in two and three dimensions. Flow goes straight towards the axis of pressure, so that the volume does not
/// change and the share of the deviator that is left follows in closed form: with tau = -p + 2 mu k d
///   k (d_1 - d_D) <= (p / mu - k (d_1 + d_D)) sin(phi).
/// A layer sheared at constant volume bears a shear stress of sin(phi) p.
template <class Real>
struct MohrCoulomb : Grains<Real> {
  static constexpr const char* name = "mohr_coulomb";
  static constexpr const char* doc =
      "Granular material whose friction angle is the same in compression, shear and extension.";

  static MohrCoulomb read(ParamReader& in) {
    return {Grains<Real>::read_grains(in, "internal friction: steepest ratio of shear to pressure on any plane")};
  }

  /// How many times the deviator of e is borne under the pressure p, given as the strain p / (2 mu).
  template <class T, int D>
  TRIBO_HD T bearable(const SplitStrain<T, D>& e, const T& pressure) const {
    const Real sine = this->friction;
    const T load = fma(T(1 + sine), e.deviator[0], T(sine - 1) * e.deviator[D - 1]);  // positive: d_1 >= 0 >= d_D
    return T(2 * sine) * pressure / max(load, T(Real(1e-30)));
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
