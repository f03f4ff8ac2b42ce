#pragma once

#include <cmath>

#include "tribo/core/params.h"
#include "tribo/math/svd.h"
#include "tribo/models/law.h"

namespace tribo {

/// Dry sand: Hencky elasticity [Klar 2016; Han 2019, eqs. 7-9] under the Drucker-Prager yield condition
///   alpha tr(tau) + |dev tau| <= 0,   alpha = sqrt(2/3) 2 sin(phi) / (3 - sin(phi)),
/// with the volume correction of Tampubolon 2017: volume gained while the sand was loose is remembered in
/// history[0] = v_c and must be lost again before the sand pushes back.
///   psi = mu sum e_i^2 + lambda/2 (sum e_i)^2,   e = ln s,   tau = U diag(2 mu e_i + lambda sum e) U^T
template <class Real>
struct DruckerPrager {
  static constexpr const char* name = "drucker_prager";
  static constexpr const char* doc = "Dry granular material: resists shear in proportion to pressure, no tension.";

  Real mu, lambda;         ///< Lame parameters [Pa]
  Real alpha;              ///< slope of the yield cone
  Real volume_correction;  ///< 1 or 0

  static DruckerPrager read(ParamReader& in) {
    const double E = in.number("youngs_modulus", "Pa", above(0), "stiffness of the grains' packing");
    const double nu = in.number("poisson_ratio", "1", between(-1, 0.5), "lateral contraction");
    const double phi = in.number("friction_angle", "deg", between(0, 80), "internal friction; steepest stable slope");
    const bool correct = in.flag("volume_correction", "grains that spread apart must close up before they push", true);
    const double sine = std::sin(phi * 3.14159265358979323846 / 180);
    return {Real(shear_modulus(E, nu)), Real(lame_lambda(E, nu)), Real(std::sqrt(2.0 / 3) * 2 * sine / (3 - sine)),
            Real(correct ? 1 : 0)};
  }

  Vec<double, 2> initial_history() const { return {{0, 0}}; }

  /// Return mapping (formulas B.5): trial strain to the yield surface, then the stress there.
  template <class T, int D>
  TRIBO_HD Response<T, D> advance(const Mat<T, D>& G, Strain<T, D>& strain) const {
    const Mat<T, D> trial = advanced(G, strain.F);
    const Principal<T, D> p(trial);
    const T vc = strain.history[0];
    Vec<T, D> e;
    T tr = T(0);
    for (int i = 0; i < D; ++i) {
      e[i] = p.log_stretch[i] + vc * T(1.0 / D);
      tr = tr + e[i];
    }
    Vec<T, D> eh;
    T norm2 = T(0);
    for (int i = 0; i < D; ++i) {
      eh[i] = e[i] - tr * T(1.0 / D);
      norm2 = fma(eh[i], eh[i], norm2);
    }
    const T norm = sqrt(norm2);
    const T excess = fma(T((D * lambda + 2 * mu) / (2 * mu) * alpha), tr, norm);
    // Elastic: keep 1; cone: 1 - excess / |eh|; tip (expanding): no strain is left.
    const T keep = T(1) - max(excess, T(0)) / max(norm, T(Real(1e-30)));
    const auto loose = tr >= T(0);
    T before = T(0);
    T after = T(0);
    Vec<T, D> ratio;
    for (int i = 0; i < D; ++i) {
      const T projected = select(loose, T(0), fma(keep, eh[i], tr * T(1.0 / D)));
      ratio[i] = exp(projected - p.log_stretch[i]);
      before = before + p.log_stretch[i];
      after = after + projected;
      e[i] = projected;
    }
    // F_new = U diag(e^projected) V^T = U diag(ratio) U^T F_trial, without V. A particle that is inverted or flat has
    // no logarithm: it goes back to the tip, free of strain and stress, and remembers no new volume.
    const Mat<T, D> projected_F = full(from_principal(p.U, ratio)) * trial;
    const T gained = T(volume_correction) * max(vc + before - after, T(0));
    strain.history[0] = select(p.degenerate, vc, gained);
    for (int i = 0; i < D; ++i) {
      e[i] = select(p.degenerate, T(0), e[i]);
      for (int j = 0; j < D; ++j) strain.F(i, j) = select(p.degenerate, T(Real(i == j ? 1 : 0)), projected_F(i, j));
    }
    return stress(p.U, e);
  }

  template <class T, int D>
  TRIBO_HD Response<T, D> response(const Strain<T, D>& strain) const {
    const Principal<T, D> p(strain.F);
    return stress(p.U, p.log_stretch);
  }

  template <class T, int D>
  TRIBO_HD T energy(const Strain<T, D>& strain) const {
    const Principal<T, D> p(strain.F);
    T sum = T(0);
    T squares = T(0);
    for (int i = 0; i < D; ++i) {
      sum = sum + p.log_stretch[i];
      squares = fma(p.log_stretch[i], p.log_stretch[i], squares);
    }
    return fma(T(mu), squares, T(Real(0.5) * lambda) * sum * sum);
  }

  template <class T, int D>
  TRIBO_HD T volume_ratio(const Strain<T, D>& strain) const {
    return determinant(strain.F) * exp(strain.history[0]);
  }

 private:
  /// Principal logarithmic stretches of F. The SVD rather than the eigenvalues of F F^T: squaring would lose the small
  /// stretches of a flattened particle in float.
  template <class T, int D>
  struct Principal {
    Mat<T, D> U;
    Vec<T, D> log_stretch;
    mask_t<T> degenerate;  ///< inverted, or flatter than 1e-4: taken as unstrained

    TRIBO_HD explicit Principal(const Mat<T, D>& F) {
      Mat<T, D> V;
      Vec<T, D> s;
      polar_svd(F, U, s, V);
      degenerate = s[D - 1] <= T(Real(1e-4));
      for (int i = 0; i < D; ++i) log_stretch[i] = log(select(degenerate, T(1), s[i]));
    }
  };

  template <class T, int D>
  TRIBO_HD Response<T, D> stress(const Mat<T, D>& U, const Vec<T, D>& e) const {
    T tr = T(0);
    for (int i = 0; i < D; ++i) tr = tr + e[i];
    Vec<T, D> principal;
    T lowest = T(0);
    for (int i = 0; i < D; ++i) {
      principal[i] = fma(T(2 * mu), e[i], T(lambda) * tr);
      lowest = min(lowest, principal[i]);
    }
    // s_i^2 d2psi/ds_i^2 = 2 mu + lambda - tau_i: Hencky elasticity stiffens in compression (formulas J).
    const Real bulk = lambda > Real(0) ? D * lambda : Real(0);
    return {from_principal(U, principal), T(2 * mu + bulk) - lowest};
  }
};

}  // namespace tribo
