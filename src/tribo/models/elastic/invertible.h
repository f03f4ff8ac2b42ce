#pragma once

#include "tribo/models/elastic/fixed_corotated.h"
#include "tribo/models/elastic/hencky.h"
#include "tribo/models/elastic/neo_hookean.h"
#include "tribo/models/elastic/st_venant_kirchhoff.h"

/// \file
/// Elastic laws as a mesh takes them: functions of the stretches alone that drive a tet back from any collapse. Particles
/// seldom get there and have their own continuations at a hundredth of the volume, where stiffness has grown by a factor
/// of ten thousand, and so have the steps of an explicit mesh. A mesh is let off earlier, and stretch by stretch, since
/// the volume alone does not tell a tet that is flat from one that has become a line or a point.

namespace tribo {

/// The logarithm of a stretch that below a quarter goes on along its tangent, through flat to inverted.
template <class T>
struct MeshLog {
  using Real = scalar_of<T>;
  static constexpr double from = 0.25;
  T e, slope, curve;  ///< value and derivatives

  TRIBO_HD explicit MeshLog(const T& s) {
    const T kept = max(s, T(Real(from)));
    slope = T(1) / kept;
    e = fma(s - kept, slope, log(kept));
    curve = select(s > T(Real(from)), -(slope * slope), T(0));
  }
};

/// Neo-Hookean elasticity in `MeshLog`: psi = sum [mu/2 (s^2 - 1) - mu e] + lambda/2 (sum e)^2. That of NeoHookean while
/// every stretch is above a quarter.
template <class Real>
struct InvertibleNeoHookean {
  Real mu, lambda;  ///< Lame parameters [Pa]

  template <class T>
  TRIBO_HD PrincipalForce<T, 3> principal(const Vec<T, 3>& s) const {
    const MeshLog<T> log[3] = {MeshLog<T>(s[0]), MeshLog<T>(s[1]), MeshLog<T>(s[2])};
    const T pressure = fma(T(lambda), log[0].e + log[1].e + log[2].e, T(-mu));
    PrincipalForce<T, 3> r;
    for (int i = 0; i < 3; ++i) {
      r.g[i] = fma(T(mu), s[i], pressure * log[i].slope);
      for (int j = i; j < 3; ++j) r.A(i, j) = T(lambda) * log[i].slope * log[j].slope;
      r.A(i, i) = r.A(i, i) + fma(pressure, log[i].curve, T(mu));
    }
    return r;
  }
  template <class T>
  TRIBO_HD T energy(const Vec<T, 3>& s) const {
    T sum = T(0), trace = T(0);
    for (int i = 0; i < 3; ++i) {
      const T e = MeshLog<T>(s[i]).e;
      sum = sum + fma(T(Real(0.5)) * (s[i] - T(1)), s[i] + T(1), -e);
      trace = trace + e;
    }
    return fma(T(mu), sum, T(Real(0.5) * lambda) * trace * trace);
  }
};

/// Hencky elasticity in `MeshLog`: psi = mu sum e^2 + lambda/2 (sum e)^2.
template <class Real>
struct InvertibleHencky {
  Real mu, lambda;  ///< Lame parameters [Pa]

  template <class T>
  TRIBO_HD PrincipalForce<T, 3> principal(const Vec<T, 3>& s) const {
    const MeshLog<T> log[3] = {MeshLog<T>(s[0]), MeshLog<T>(s[1]), MeshLog<T>(s[2])};
    const T pressure = T(lambda) * (log[0].e + log[1].e + log[2].e);
    PrincipalForce<T, 3> r;
    for (int i = 0; i < 3; ++i) {
      const T stress = fma(T(2 * mu), log[i].e, pressure);
      r.g[i] = stress * log[i].slope;
      for (int j = i; j < 3; ++j) r.A(i, j) = T(i == j ? 2 * mu + lambda : lambda) * log[i].slope * log[j].slope;
      r.A(i, i) = fma(stress, log[i].curve, r.A(i, i));
    }
    return r;
  }
  template <class T>
  TRIBO_HD T energy(const Vec<T, 3>& s) const {
    T squares = T(0), trace = T(0);
    for (int i = 0; i < 3; ++i) {
      const T e = MeshLog<T>(s[i]).e;
      squares = fma(e, e, squares);
      trace = trace + e;
    }
    return fma(T(mu), squares, T(Real(0.5) * lambda) * trace * trace);
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

template <class Real>
InvertibleAsItIs<FixedCorotated<Real>> invertible(const FixedCorotated<Real>& law) {
  return {law};
}
template <class Real>
InvertibleAsItIs<StVenantKirchhoff<Real>> invertible(const StVenantKirchhoff<Real>& law) {
  return {law};
}
template <class Real>
InvertibleNeoHookean<Real> invertible(const NeoHookean<Real>& law) {
  return {law.mu, law.lambda};
}
template <class Real>
InvertibleHencky<Real> invertible(const Hencky<Real>& law) {
  return {law.mu, law.lambda};
}

/// A law that meshes can follow.
template <class Law>
concept MeshLaw = requires(const Law& law) {
  invertible(law);
};

}  // namespace tribo
