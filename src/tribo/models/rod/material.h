#pragma once

/// \file
/// What a strand is made of, and what its cross-section makes of that (theory E.6).

namespace tribo {

/// Human hair by default, but for the resistance to stretching: a thousandth of the real one. Stretching hair is
/// stiffer than anything that can be seen, and at a thousandth its strain stays at some percent in a blow of 1 m/s
/// while steps are an order of magnitude longer and lose less energy (experiments_hair 5).
struct RodMaterial {
  double density = 1300;        ///< [kg/m^3]
  double youngs_modulus = 4e9;  ///< E [Pa]
  double poisson_ratio = 0.3;   ///< for the shear modulus, where that is not given
  double shear_modulus = 0;     ///< G [Pa]; 0: E / (2 (1 + nu))
  double stretch_scale = 1e-3;  ///< factor of EA
  double aspect = 1;            ///< of elliptic sections: a / b, with a along the first director
  double bend_damping = 0;      ///< Rayleigh: damping forces are this times stiffness times velocity [s]
  double stretch_damping = 0;   ///< likewise [s]
  double drag = 0;              ///< and this times mass times velocity [1/s]
};

/// How a step of strands advances in time.
enum class RodScheme {
  /// A = M + dt^2 K_s + dt^2/4 K_b; A dv = dt f - dt^2 K_s v: stretch by backward Euler; bending and twist by the
  /// leapfrog with an implicit mass (experiments_hair default 1), with no less damping than backward Euler has.
  implicit,
  /// Bending by backward Euler too: for stiff contact, at the price of energy.
  backward_euler,
  /// v += dt f / m, for dt below RodState::stable_dt.
  explicit_euler
};

/// Stiffness of a cross-section.
struct RodSection {
  double mass;     ///< rho A [kg/m]
  double stretch;  ///< EA, softened [N]
  double bend1;    ///< E I of bending toward the first director [N m^2]
  double bend2;    ///< and toward the second
  double twist;    ///< GJ [N m^2]
};

/// `radius` is that of the circle with the same area. An ellipse of radii a and b has A = pi a b, E I = E A a^2 / 4 and
/// E A b^2 / 4, and GJ = G pi a^3 b^3 / (a^2 + b^2).
inline RodSection section_of(const RodMaterial& material, double radius) {
  constexpr double pi = 3.14159265358979323846;
  const double a2 = radius * radius * material.aspect, b2 = radius * radius / material.aspect;
  const double area = pi * radius * radius, EA = material.youngs_modulus * area;
  const double G = material.shear_modulus > 0 ? material.shear_modulus
                                              : material.youngs_modulus / (2 * (1 + material.poisson_ratio));
  return {material.density * area, EA * material.stretch_scale, EA * a2 / 4, EA * b2 / 4,
          G * area * radius * radius * radius * radius / (a2 + b2)};
}

}  // namespace tribo
