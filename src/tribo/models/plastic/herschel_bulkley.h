#pragma once

#include <cmath>

#include "tribo/core/params.h"
#include "tribo/models/elastic/hencky_strain.h"

namespace tribo {

/// Goo, slime, paste, wet foam: Hencky elasticity whose shape flows at constant volume, the faster the farther the
/// shear stress is above its yield value [Yue 2015; theory B.8]. In simple shear at a steady rate g
///   shear stress = tau_Y + k g^n
/// with yield stress tau_Y, consistency k and flow index n as a rheometer gives them: n = 1 is Bingham's law (with
/// tau_Y = 0 a Newtonian fluid of viscosity k), n < 1 thins, n > 1 thickens under shear. In norms s = |dev tau| =
/// sqrt(2) shear stress, |D_p| = g / sqrt(2):
///   s = s_Y + eta |D_p|^n,   s_Y = sqrt(2) tau_Y,   eta = 2^((1 + n)/2) k
/// A step takes it implicitly, stable for any dt: s + 2 mu dt ((s - s_Y) / eta)^(1/n) = s_trial. Stress relaxes within
/// about k / mu (slime), so mu should be so large that this is shorter than what is looked at. Pressure is elastic.
/// A particle that is inverted or flatter than 1e-4 starts anew, unstrained.
template <class Real>
struct HerschelBulkley {
  static constexpr const char* name = "herschel_bulkley";
  static constexpr const char* doc =
      "Viscous or pasty fluid: flows above its yield stress, at a rate that grows with it.";

  Real mu, lambda;  ///< Lame parameters [Pa]
  Real yield_norm;  ///< s_Y [Pa]
  Real exponent;    ///< 1 / n
  Real log_scale;   ///< ln(2 mu / eta^(1/n))

  static HerschelBulkley read(ParamReader& in) {
    const double mu = in.number("shear_modulus", "Pa", above(0),
                                "stiffness against changes of shape before it flows; it forgets them within about "
                                "consistency / shear_modulus");
    const double K = in.number("bulk_modulus", "Pa", above(0), "stiffness against changes of volume");
    const double yield =
        in.number("yield_stress", "Pa", at_least(0), "shear stress below which it does not flow; 0 for a fluid", 0);
    const double k = in.number("consistency", "Pa s^n", above(0),
                               "shear stress above the yield stress at a shear rate of 1/s; the viscosity when the "
                               "flow index is 1");
    const double n = in.number("flow_index", "1", within(0.2, 2), "below 1 it thins under shear, above it thickens", 1);
    const double eta = std::pow(2.0, 0.5 * (1 + n)) * k;
    return {Real(mu), Real(K - 2 * mu / 3), Real(std::sqrt(2.0) * yield), Real(1 / n),
            Real(std::log(2 * mu) - std::log(eta) / n)};
  }

  static constexpr int memory = 0;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  /// Where it flows, d(shear)/d(trial) = z / (z + m (1 - z)), from z + r z^m = 1.
  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& /*history*/, const T& dt) const {
    const FlowStretch<T, D> log(s);
    const SplitStrain<T, D> split(log.e);
    const T bulk = T(lambda + 2 * mu / D);
    const T trial = T(2 * mu) * split.norm;
    const T excess = max(trial - T(yield_norm), T(0));
    const T z = share_left(excess, dt);
    const T share = select(excess > T(0), z / fma(T(exponent), T(1) - z, z), T(1));
    return log.force(s, split, {bulk * split.trace, bulk, trial - excess * (T(1) - z), T(2 * mu) * share});
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain, const T& dt) const {
    const IsochoricFlow<T, D> flow(advanced(G, strain.F));
    const T trial = T(2 * mu) * flow.split.norm;
    const T excess = max(trial - T(yield_norm), T(0));
    const T lost = excess * (T(1) - share_left(excess, dt));
    const T keep = T(1) - lost / max(trial, T(Real(1e-30)));
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

 private:
  /// The share z in (0, 1] of the excess stress y = s_trial - s_Y that is left after dt:
  ///   z + r z^m = 1,   r = 2 mu dt y^(m - 1) / eta^m,   m = 1/n
  /// With z = exp(w) the left side is a sum of exponentials, convex and rising, and w = min(0, -ln(r)/m) is at or to
  /// the right of the root, less than ln(2) max(1, n) away: Newton falls towards it without ever passing it.
  template <class T>
  TRIBO_HD T share_left(const T& excess, const T& dt) const {
    const T tiny = T(Real(1e-30));
    const T log_time = T(log_scale) + log(max(dt, tiny));
    if (exponent == Real(1)) return T(1) / (T(1) + exp(log_time));
    const T log_r = fma(T(exponent - 1), log(max(excess, tiny)), log_time);
    T w = min(-log_r * T(1 / exponent), T(0));
    for (int k = 0; k < (sizeof(Real) == 4 ? 4 : 5); ++k) {
      const T z = exp(w);
      const T power = exp(fma(T(exponent), w, log_r));
      w = w - (z + power - T(1)) / fma(T(exponent), power, z);
    }
    return min(exp(w), T(1));
  }
};

}  // namespace tribo
