#pragma once

#include "tribo/core/params.h"
#include "tribo/models/step_force.h"

namespace tribo {

/// Fluid with a stiff equation of state and Newtonian viscosity, tau += 2 eta J dev(sym grad v) (theory B.7):
///   p(J) = K/gamma (J^-gamma - 1),   tau = -p J I,   psi = K/gamma (J + J^(1-gamma)/(gamma-1)) + const
/// Only the volume ratio J = history[0] evolves: J <- (1 + dt div v) J. Without tension the pressure is that of
/// min(J, 1), but J itself goes on: spray that comes together again must first lose the volume it gained. (Clamping J,
/// as theory B.7 suggests, forgets it, and a pool that has splashed stays swollen.)
template <class Real>
struct WeaklyCompressible {
  static constexpr const char* name = "weakly_compressible";
  static constexpr const char* doc = "Water-like fluid: pressure from compression, no shear stiffness.";

  Real bulk_modulus;  ///< K [Pa]
  Real gamma;         ///< exponent of the equation of state
  Real tension;       ///< 1: may be stretched below atmospheric pressure; 0: a free surface simply opens
  Real viscosity;     ///< eta [Pa s]

  static WeaklyCompressible read(ParamReader& in) {
    const double K = in.number("bulk_modulus", "Pa", above(0),
                               "stiffness against compression; ten times density times the largest speed squared, or "
                               "more, keeps compression near a percent");
    const double gamma = in.number("gamma", "1", within(1.5, 15), "exponent of the equation of state", 7);
    const bool tension = in.flag("tension", "resist being stretched; false lets the surface open freely", false);
    const double eta = in.number("viscosity", "Pa s", at_least(0), "resistance to shear; water has 0.001", 0);
    return {Real(K), Real(gamma), Real(tension ? 1 : 0), Real(eta)};
  }

  static constexpr int memory = 1;
  Vec<double, 2> initial_history() const { return {{1, 0}}; }

  /// d psi / dJ = -p, and -dp/dJ; nothing where the surface may open.
  template <class T>
  TRIBO_HD VolumeForce<T> volume_force(const T& volume) const {
    const T J = pressed(max(min(volume, T(Real(10))), T(Real(0.1))));
    const T power = exp(log(J) * T(-gamma));
    const auto open = tension > Real(0) ? volume > T(Real(10)) : volume >= T(1);
    return {T(bulk_modulus / gamma) * (T(1) - power), select(open, T(0), T(bulk_modulus) * power / J)};
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain) const {
    const T J = fma(trace(G), strain.history[0], strain.history[0]);
    // Below a tenth of its volume J^-gamma leaves the range of float; nothing physical goes there.
    strain.history[0] = max(min(J, T(Real(10))), T(Real(0.1)));
    return response(strain);
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const T J = pressed(strain.history[0]);
    const T power = exp(log(J) * T(-gamma));  // J^-gamma
    const T pressure = T(bulk_modulus / gamma) * (power - T(1));
    // J dp/dJ: K J^-gamma, and the pressure's own share; D lambda of an elastic solid corresponds to D K J^(1-gamma).
    return {Sym<T, D>::isotropic(-(pressure * J)), T(D * bulk_modulus) * power * J};
  }

  template <class T, int D>
  TRIBO_HD Sym<T, D> viscous_stress(const Mat<T, D>& velocity_gradient, const Strain<T, D>& strain) const {
    return newtonian_stress(T(viscosity), strain.history[0], velocity_gradient, true);
  }

  template <class T, int D>
  TRIBO_HD T energy(const Strain<T, D>& strain) const {
    const T J = pressed(strain.history[0]);
    const T power = exp(log(J) * T(Real(1) - gamma));
    // The constant makes the energy of the unstrained fluid zero.
    const Real rest = 1 + 1 / (gamma - 1);
    return T(bulk_modulus / gamma) * (J + power * T(1 / (gamma - 1)) - T(rest));
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return strain.history[0];
  }

 private:
  /// The volume ratio that the equation of state sees.
  template <class T>
  TRIBO_HD T pressed(const T& J) const {
    return tension > Real(0) ? J : min(J, T(Real(1)));
  }
};

}  // namespace tribo
