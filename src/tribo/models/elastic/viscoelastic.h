#pragma once

#include "tribo/core/params.h"
#include "tribo/models/elastic/hencky_strain.h"

namespace tribo {

/// Solid foam: stiff against quick loads, soft against slow ones, and slow to take its shape again. A standard linear
/// solid in Hencky strain: a lasting share `a` of the elasticity acts on the strain e = ln s itself, the rest through a
/// dashpot (Maxwell element) that gives way with the relaxation time t_r. What has given way is remembered in two
/// numbers, the size of the shape change v = history[0] and the change of volume w = history[1]:
///   psi = a [mu |dev e|^2 + K/2 tr(e)^2] + (1 - a) [mu (|dev e| - v)^2 + K/2 (tr e - w)^2],   K = lambda + 2 mu / D
///   tau = 2 mu (1 - (1 - a) v / |dev e|) dev e + K (tr e - (1 - a) w)
///   dv/dt = (|dev e| - v) / t_r,   dw/dt = (tr e - w) / t_r
/// so that a strain held for the time t has the stress a + (1 - a) exp(-t / t_r) of its first one, energy is only lost
/// (-dpsi/dv dv/dt <= 0), and everything springs back in the end. One number does not remember a direction: of a strain
/// that has been held for long, the dashpots resist growth and decline, but not a turn of its axes. Wet foam that flows
/// and stays deformed is `herschel_bulkley` (the model of Yue 2015).
template <class Real>
struct Viscoelastic {
  static constexpr const char* name = "viscoelastic";
  static constexpr const char* doc = "Solid foam: stiff at first, gives way with time, slowly springs back.";

  Real mu, lambda;       ///< Lame parameters under quick loads [Pa]
  Real relaxing;         ///< 1 - a, the share that gives way
  Real volume;           ///< 1: resistance to changes of volume gives way, too; 0: only to changes of shape
  Real relaxation_rate;  ///< 1 / t_r [1/s]

  static Viscoelastic read(ParamReader& in) {
    const double E = in.number("youngs_modulus", "Pa", above(0), "stiffness in tension under a quick load");
    const double nu = in.number("poisson_ratio", "1", between(-1, 0.5), "lateral contraction; foams have next to none");
    const double lasting = in.number("lasting_fraction", "1", Range{.low = 0, .high = 1, .high_open = false},
                                     "share of the stiffness that is left under a lasting load");
    const double time = in.number("relaxation_time", "s", above(0), "time in which the rest falls to 1/e = 37 %");
    const bool volume = in.flag("volume_relaxes", "false: only the resistance to changes of shape gives way", true);
    return {Real(shear_modulus(E, nu)), Real(lame_lambda(E, nu)), Real(1 - lasting), Real(volume ? 1 : 0),
            Real(1 / time)};
  }

  static constexpr int memory = 2;
  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  template <class T, int D>
  TRIBO_HD PrincipalForce<T, D> principal(const Vec<T, D>& s, const Vec<T, 2>& history, const T& dt) const {
    Vec<T, D> e;
    for (int i = 0; i < D; ++i) e[i] = continued_log(s[i]);
    const SplitStrain<T, D> split(e);
    // v and w after the step, as in advance().
    const T left = exp(dt * T(-relaxation_rate));
    const T v = fma(history[0] - split.norm, left, split.norm);
    const T w = T(volume) * fma(history[1] - split.trace, left, split.trace);
    const T bulk = T(bulk_modulus<D>());
    const T gone = T(relaxing) * (T(1) - left);
    return hencky_principal(s, split,
                            {bulk * (split.trace - T(relaxing) * w), bulk * (T(1) - T(volume) * gone),
                             T(2 * mu) * (split.norm - T(relaxing) * v), T(2 * mu) * (T(1) - gone)},
                            T(Real(continued_log_from)));
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain, const T& dt) const {
    strain.F = advanced(G, strain.F);
    const ContinuedLogStretch<T, D> log(strain.F);
    const SplitStrain<T, D> split(log.e);
    const T left = exp(dt * T(-relaxation_rate));  // exact for a strain that is held
    strain.history[0] = fma(strain.history[0] - split.norm, left, split.norm);
    strain.history[1] = T(volume) * fma(strain.history[1] - split.trace, left, split.trace);
    return stress(log, split, strain.history);
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const ContinuedLogStretch<T, D> log(strain.F);
    return stress(log, SplitStrain<T, D>(log.e), strain.history);
  }

  template <class T, int D>
  TRIBO_HD T energy(const Strain<T, D>& strain) const {
    const SplitStrain<T, D> split(ContinuedLogStretch<T, D>(strain.F).e);
    const T shape = split.norm - strain.history[0];
    const T size = split.trace - strain.history[1];
    const T shape2 = fma(T(1 - relaxing), split.norm * split.norm, T(relaxing) * shape * shape);
    const T size2 = fma(T(1 - relaxing), split.trace * split.trace, T(relaxing) * size * size);
    return fma(T(mu), shape2, T(Real(0.5) * bulk_modulus<D>()) * size2);
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F);
  }

 private:
  template <int D>
  TRIBO_HD Real bulk_modulus() const {
    return lambda + 2 * mu / D;
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> stress(const ContinuedLogStretch<T, D>& log, const SplitStrain<T, D>& split,
                                 const Vec<T, 2>& history) const {
    // Where the strain has no direction, its stress has none: it fades over the last millionth.
    const T give = T(relaxing) * history[0] / max(split.norm, T(Real(1e-6)));
    const T shear = T(2 * mu) * (T(1) - give);
    const T pressure = T(bulk_modulus<D>()) * (split.trace - T(relaxing) * history[1]);
    Vec<T, D> principal;
    for (int i = 0; i < D; ++i) principal[i] = log.slope[i] * fma(shear, split.deviator[i], pressure);
    // Order is lost where the shape pushes beyond its rest; the last term covers that and v's own share.
    const T stiffness = hencky_stiffness(mu, lambda, log.e, principal) + T(2 * mu * relaxing) * history[0];
    return {from_principal(log.U, principal), stiffness * max(log.slope[D - 1] * log.slope[D - 1], T(1))};
  }
};

}  // namespace tribo
