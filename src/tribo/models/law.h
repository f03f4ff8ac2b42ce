#pragma once

#include "tribo/math/lanes.h"
#include "tribo/math/small.h"

/// \file
/// What a law of a particle material is. A law is a value: parameters of type Real and pure functions of the strain;
/// T is Real itself or a pack of particles. Each law provides
///
///   name, doc                       how scenes and manuals call it
///   Law read(ParamReader&)          the one place its parameters are described
///   int memory                      how many numbers of history it uses; those it does not use stay as they were
///   Vec<double, 2> initial_history()
///   Response advance(G, strain)     strain after a step with velocity gradient G / dt, and the stress there; a law
///                                   that flows or relaxes with time takes advance(G, strain, dt) instead
///   Response response(strain)       stress at a given strain
///   T energy(strain)                elastic energy per rest volume [J/m^3], psi
///   T volume_ratio(strain)          present over rest volume
///   PrincipalForce principal(s, history, dt)
///                                   for implicit steps (models/step_force.h): principal stresses at the stretches s
///                                   that a step of length dt leads to, after flow and relaxation, and their
///                                   derivatives; a law of the volume alone has volume_force(J) instead
///   Real viscosity                  [Pa s], only if it resists the rate of strain; then also
///   Sym viscous_stress(grad v, strain)

namespace tribo {

/// What a particle remembers of its deformation.
template <class T, int D>
struct Strain {
  Mat<T, D> F;        ///< elastic deformation gradient
  Vec<T, 2> history;  ///< what else the law keeps; it names them
};

/// What the grid needs to know of it.
template <class T, int D>
struct Response {
  Sym<T, D> tau;  ///< Kirchhoff stress [Pa], tau = P F^T
  T stiffness;    ///< bound of D lambda + 2 mu in the present state [Pa]: sets the elastic time step
};

/// First and second Lame parameters of isotropic elasticity.
TRIBO_HD double shear_modulus(double youngs_modulus, double poisson_ratio) {
  return youngs_modulus / (2 * (1 + poisson_ratio));
}
TRIBO_HD double lame_lambda(double youngs_modulus, double poisson_ratio) {
  return youngs_modulus * poisson_ratio / ((1 + poisson_ratio) * (1 - 2 * poisson_ratio));
}

/// F after a step in which the velocity gradient is G / dt: (I + G) F.
template <class T, int D>
TRIBO_HD Mat<T, D> advanced(const Mat<T, D>& G, const Mat<T, D>& F) {
  Mat<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      T s = F(i, j);
      for (int k = 0; k < D; ++k) s = fma(G(i, k), F(k, j), s);
      r(i, j) = s;
    }
  return r;
}

/// A law whose strain changes with time, also at rest.
template <class Law, class T, int D>
concept RateDependent = requires(const Law& law, const Mat<T, D>& G, Strain<T, D>& strain, const T& dt) {
  law.advance(G, strain, dt);
};

/// The step of any law.
template <class Law, class T, int D>
TRIBO_HD Response<T, D> advance_law(const Law& law, const Mat<T, D>& G, Strain<T, D>& strain, const T& dt) {
  if constexpr (RateDependent<Law, T, D>)
    return law.advance(G, strain, dt);
  else
    return law.advance(G, strain);
}

/// A law that resists the rate of strain, too.
template <class Law>
concept Viscous = requires(const Law& law) {
  law.viscosity;
};

/// Kirchhoff stress of a Newtonian fluid, |J| 2 eta sym(grad v), with or without its resistance to changes of volume.
/// The magnitude because viscosity must not drive an inverted particle.
template <class T, int D>
TRIBO_HD Sym<T, D> newtonian_stress(const T& viscosity, const T& J, const Mat<T, D>& velocity_gradient,
                                    bool deviatoric) {
  const T scale = viscosity * abs(J);
  Sym<T, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = i; j < D; ++j) r(i, j) = scale * (velocity_gradient(i, j) + velocity_gradient(j, i));
  if (deviatoric) {
    const T mean = trace(r) * T(1.0 / D);
    for (int i = 0; i < D; ++i) r(i, i) = r(i, i) - mean;
  }
  return r;
}

/// Upper bound of the largest eigenvalue, exact for a multiple of the identity:
/// mean + sqrt((D-1)/D) |deviator|.
template <class T, int D>
TRIBO_HD T largest_eigenvalue_bound(const Sym<T, D>& a) {
  const T mean = trace(a) * T(1.0 / D);
  T sum = T(0);
  for (int i = 0; i < D; ++i) {
    sum = fma(a(i, i) - mean, a(i, i) - mean, sum);
    for (int j = i + 1; j < D; ++j) sum = fma(T(2) * a(i, j), a(i, j), sum);
  }
  return mean + sqrt(sum * T((D - 1.0) / D));
}

}  // namespace tribo
