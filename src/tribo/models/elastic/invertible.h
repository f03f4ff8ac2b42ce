#pragma once

#include "tribo/models/elastic/fixed_corotated.h"
#include "tribo/models/elastic/neo_hookean.h"
#include "tribo/models/elastic/st_venant_kirchhoff.h"

/// \file
/// Elastic laws as a mesh takes them: functions of the stretches alone that drive a tet back from any collapse.

namespace tribo {

/// Neo-Hookean elasticity for meshes,
///   psi = sum [mu/2 (s^2 - 1) - mu e(s)] + U(J),   e = ln s,  U = lambda/2 (ln J)^2,
/// where below one half e and U go on as parabolas: e with its own curvature there, U with lambda, that of an
/// undeformed body. While no stretch and no volume is below one half it is NeoHookean. That law, for particles, goes on
/// at a hundredth of the volume, where stiffness has grown by ten thousand and the steps of a mesh would be a hundred
/// times shorter; and knowing the volume alone, it leaves a tet that is a line or a point where it is. Here each
/// stretch drives itself back, and a negative volume all of them. Of meshes whose vertices are scattered at random some
/// keep a few inverted tets at their corners; the less stiffly e and U go on, the fewer.
template <class Real>
struct InvertibleNeoHookean {
  static constexpr double least = 0.5;  ///< where e and U become parabolas
  Real mu, lambda;                      ///< Lame parameters [Pa]

  template <class T>
  TRIBO_HD PrincipalForce<T, 3> principal(const Vec<T, 3>& s) const {
    const StretchProducts<T, 3> product(s);
    const T volume = max(product.J, T(Real(least)));
    const T slope = T(1) / volume;
    const T at_seam = T(lambda) * log(volume) * slope;  // U'
    const T force = fma(T(lambda), product.J - volume, at_seam);
    const T curve = select(product.J > T(Real(least)), (T(lambda) * slope - at_seam) * slope, T(lambda));
    PrincipalForce<T, 3> r;
    for (int i = 0; i < 3; ++i) {
      const T stretch = max(s[i], T(Real(least)));
      const T inverse = T(1) / stretch;
      r.g[i] = fma(T(mu), s[i] - fma(stretch - s[i], inverse * inverse, inverse), force * product.without[i]);
      for (int j = i; j < 3; ++j)
        r.A(i, j) =
            fma(curve * product.without[i], product.without[j], force * StretchProducts<T, 3>::without_both(s, i, j));
      r.A(i, i) = fma(T(mu), fma(inverse, inverse, T(1)), r.A(i, i));
    }
    return r;
  }

  template <class T>
  TRIBO_HD T energy(const Vec<T, 3>& s) const {
    T sum = T(0), J = T(1);
    for (int i = 0; i < 3; ++i) {
      const T stretch = max(s[i], T(Real(least)));
      const T below = (stretch - s[i]) / stretch;
      const T e = log(stretch) - fma(T(Real(0.5)) * below, below, below);
      sum = sum + fma(T(Real(0.5)) * (s[i] - T(1)), s[i] + T(1), -e);
      J = J * s[i];
    }
    const T volume = max(J, T(Real(least)));
    const T l = log(volume), below = J - volume;
    const T U = fma(T(Real(0.5)) * l, l, below * fma(T(Real(0.5)), below, l / volume));
    return fma(T(mu), sum, T(lambda) * U);
  }
};

/// A law that is fit for meshes as it is.
template <class Law>
struct InvertibleAsItIs {
  Law law;

  template <class T>
  TRIBO_HD PrincipalForce<T, 3> principal(const Vec<T, 3>& s) const {
    return law.principal(s, Vec<T, 2>::zero(), T(0));
  }
  template <class T>
  TRIBO_HD T energy(const Vec<T, 3>& s) const {
    return law.energy(Strain<T, 3>{Mat<T, 3>::diagonal(s), Vec<T, 2>::zero()});
  }
};

/// Force of a tet without an SVD, where that is safe.
template <class T>
struct DirectForce {
  Mat<T, 3> P;
  T stiffness;    ///< at least the largest eigenvalue of dP/dF
  mask_t<T> ill;  ///< where F is inverted or nearly collapsed, and only the SVD knows
};

/// Fixed corotated elasticity, which needs the rotation alone.
template <class Real>
struct InvertibleFixedCorotated : InvertibleAsItIs<FixedCorotated<Real>> {
  /// P = 2 mu (F - R) + lambda (J - 1) cof F. Of the Hessian, the first part is at most 2 mu while no stretch is
  /// negative; of the second, cof cof^T has the norm b, and the second derivative of J no more than two stretches.
  template <class T>
  TRIBO_HD DirectForce<T> direct(const Mat<T, 3>& F, const Sym<T, 3>& B) const {
    const Real mu = this->law.mu, lambda = this->law.lambda;
    const T J = determinant(F);
    const T b = sum_of_minors(B);
    const Mat<T, 3> cofactor = cofactors(F);
    const StretchTrace<T> root(trace(B), b, J);
    const Mat<T, 3> R = rotation_from(root, F, B, cofactor);
    const T pressure = T(lambda) * (J - T(1));
    DirectForce<T> r;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) r.P(i, j) = fma(T(2 * mu), F(i, j) - R(i, j), pressure * cofactor(i, j));
    r.stiffness = fma(T(abs(lambda)), fma(abs(J - T(1)), root.l, b), T(2 * mu));
    r.ill = root.ill;
    return r;
  }
};

template <class Real>
InvertibleFixedCorotated<Real> invertible(const FixedCorotated<Real>& law) {
  return {{law}};
}
template <class Real>
InvertibleAsItIs<StVenantKirchhoff<Real>> invertible(const StVenantKirchhoff<Real>& law) {
  return {law};
}
template <class Real>
InvertibleNeoHookean<Real> invertible(const NeoHookean<Real>& law) {
  return {law.mu, law.lambda};
}
/// A law that meshes can follow. Hencky's is none: it gives way when pulled far, and tangles of it stay.
template <class Law>
concept MeshLaw = requires(const Law& law) {
  invertible(law);
};

}  // namespace tribo
