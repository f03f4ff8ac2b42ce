#include <gtest/gtest.h>

#include "../physics/solid_scenes.h"

/// \file
/// A cantilever of tets under its own weight. Linear tets are too stiff in bending, by an error that falls with the
/// square of their size; what it falls towards is the beam of Timoshenko: the mean sag is
///   q L^4 / (20 E I) + q L^2 / (3 k G A),   k = 5/6.

namespace tribo::test {
namespace {

constexpr double length = 0.4, thickness = 0.1, youngs_modulus = 4e6, density = 1000, gravity = 9.81;

/// Mean sag of a beam with n tets through its thickness [m]: implicit steps lose what rings.
double sag(int n) {
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "fps": 10, "duration": 1.5, "precision": "double", "gravity": [0, {}, 0], "grid": {{"dx": 0.5}},
           "time": {{"integrator": "implicit", "dt_max": 0.02, "tolerance": 1e-3}},
           "materials": {{"m": {{"model": "fixed_corotated", "density": {}, "youngs_modulus": {}, "poisson_ratio": 0}}}},
           "objects": [{{"type": "solid", "shape": {{"box": [{}, {}, {}]}}, "element_size": {}, "material": "m",
                         "damping": 0, "self_contact": false,
                         "pins": [{{"shape": {{"half_space": [1, 0, 0]}}, "at": [{}, 0, 0]}}]}}]}})",
      -gravity, density, youngs_modulus, length, thickness, thickness, thickness / n, -length / 2 + 1e-4));
  while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
  return -center(simulation.measure()[0])[1];
}

TEST(Cantilever, SagsAsBeamsDo) {
  const double A = thickness * thickness, I = A * A / 12, q = density * gravity * A, G = youngs_modulus / 2;
  const double expected = q * std::pow(length, 4) / (20 * youngs_modulus * I) + q * length * length / (2.5 * G * A);
  const double coarse = sag(4), fine = sag(8);
  const double limit = fine + (fine - coarse) / 3;  // of errors that fall with the square
  RecordProperty("sag", fmt::format("{:.4f}, {:.4f} of theory with 4 and 8 tets through the thickness; limit {:.4f}",
                                    coarse / expected, fine / expected, limit / expected));
  EXPECT_LT(coarse, fine);
  EXPECT_NEAR(limit, expected, 0.02 * expected);
}

}  // namespace
}  // namespace tribo::test
