#pragma once

#include <cmath>

#include "solid_scenes.h"

/// \file
/// A beam of tets held at one end, and what theory says of it.

namespace tribo::test {

/// What errors that fall with the square of the size leave, from two sizes of tets, one half of the other.
inline double extrapolated(double coarse, double fine) { return fine + (fine - coarse) / 3; }

struct Cantilever {
  double length = 0.4, thickness = 0.1;                         ///< [m]
  double youngs_modulus = 4e6, density = 1000, gravity = 9.81;  ///< SI; Poisson's ratio is 0: nothing happens across

  double shear_modulus() const { return youngs_modulus / 2; }
  double area() const { return thickness * thickness; }
  double second_moment() const { return area() * area() / 12; }
  static constexpr double shear_coefficient = 5.0 / 6;

  /// Mean sag under its own weight (Timoshenko): q L^4 / (20 E I) + q L^2 / (3 k G A) [m].
  double mean_sag() const {
    const double q = density * gravity * area();
    return q * std::pow(length, 4) / (20 * youngs_modulus * second_moment()) +
           q * length * length / (3 * shear_coefficient * shear_modulus() * area());
  }

  /// Of the first mode of Timoshenko's beam, with rotary inertia and shear (Huang 1961) [s]: b^2 = rho A L^4 w^2 / (E
  /// I) is the first root of
  ///   2 + (b^2 (r^2 - s^2)^2 + 2) cosh(b alpha) cos(b beta) - b (r^2 + s^2) / sqrt(1 - b^2 r^2 s^2) sinh(b alpha)
  ///   sin(b beta),
  /// r^2 = I / (A L^2), s^2 = E I / (k A G L^2), alpha and beta = sqrt((-+(r^2 + s^2) + sqrt((r^2 - s^2)^2 + 4/b^2)) /
  /// 2).
  double period() const {
    const double E_I = youngs_modulus * second_moment();
    const double r2 = second_moment() / (area() * length * length);
    const double s2 = E_I / (shear_coefficient * area() * shear_modulus() * length * length);
    const auto f = [&](double b) {
      const double root = std::sqrt((r2 - s2) * (r2 - s2) + 4 / (b * b));
      const double alpha = std::sqrt(0.5 * (root - r2 - s2)), beta = std::sqrt(0.5 * (root + r2 + s2));
      return 2 + (b * b * (r2 - s2) * (r2 - s2) + 2) * std::cosh(b * alpha) * std::cos(b * beta) -
             b * (r2 + s2) / std::sqrt(1 - b * b * r2 * s2) * std::sinh(b * alpha) * std::sin(b * beta);
    };
    double low = 1, high = 3.6;  // of a slender beam it is 1.875^2
    for (int i = 0; i < 60; ++i) (f(0.5 * (low + high)) > 0 ? low : high) = 0.5 * (low + high);
    const double w = low * std::sqrt(E_I / (density * area())) / (length * length);
    return 2 * M_PI / w;
  }

  /// The beam with n tets through its thickness.
  Simulation with_tets(int n, double fps, double duration, const std::string& time) const {
    return simulate(fmt::format(
        R"({{"tribo": 1, "fps": {}, "duration": {}, "precision": "double", "gravity": [0, {}, 0], "grid": {{"dx": 0.5}},
             "time": {{{}}},
             "materials": {{"m": {{"model": "fixed_corotated", "density": {}, "youngs_modulus": {}, "poisson_ratio": 0}}}},
             "objects": [{{"type": "solid", "shape": {{"box": [{}, {}, {}]}}, "element_size": {}, "material": "m",
                           "damping": 0, "self_contact": false,
                           "pins": [{{"shape": {{"half_space": [1, 0, 0]}}, "at": [{}, 0, 0]}}]}}]}})",
        fps, duration, -gravity, time, density, youngs_modulus, length, thickness, thickness, thickness / n,
        -length / 2 + 1e-4));
  }

  /// Mean sag [m]: implicit steps lose what rings.
  double measured_sag(int n) const {
    Simulation simulation = with_tets(n, 10, 1.5, R"("integrator": "implicit", "dt_max": 0.02, "tolerance": 1e-3)");
    while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
    return -center(simulation.measure()[0])[1];
  }

  /// Let go, it swings about the sag, and is up again after each period [s]; the mean of some.
  double measured_period(int n, int periods) const {
    Simulation simulation = with_tets(n, 500, 10, R"("dt_max": 0.01)");
    double before = -1;
    for (int returns = 0;;) {
      simulation.advance_frame();
      const double now = velocity(simulation.measure()[0])[1];
      if (before > 0 && now <= 0 && ++returns == periods)
        return (simulation.time() - now / (now - before) / 500) / periods;
      before = now;
    }
  }
};

}  // namespace tribo::test
