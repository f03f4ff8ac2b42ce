#include <gtest/gtest.h>

#include "solid_scenes.h"

/// \file
/// Contact of bodies that take steps of backward Euler, a fraction of a frame long and many times what explicit elastic
/// forces allow: they rest on each other, slide by Coulomb's law, stick, and do not pass through.

namespace tribo::test {
namespace {

/// A cube above a slab whose bottom is held; gravity is tilted by some degrees instead of the slab.
std::string block_on_slab(double friction, double degrees, double speed) {
  return fmt::format(
      R"({{"tribo": 1, "fps": 50, "duration": 10, "gravity": [{}, {}, 0], "grid": {{"dx": 0.05}},
           "time": {{"integrator": "implicit", "dt_max": 0.005}},
           "materials": {{"m": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5, "poisson_ratio": 0.3}}}},
           "objects": [
             {{"name": "slab", "type": "solid", "shape": {{"box": [1, 0.1, 0.4]}}, "element_size": 0.1, "material": "m",
               "at": [0.2, -0.05, 0], "friction": {}, "self_contact": false,
               "pins": [{{"shape": {{"half_space": [0, 1, 0]}}, "at": [0, -0.09, 0]}}]}},
             {{"name": "cube", "type": "solid", "shape": {{"box": [0.2, 0.2, 0.2]}}, "element_size": 0.05, "material": "m",
               "at": [-0.1, 0.13, 0.0123], "velocity": [0, {}, 0], "friction": {}, "self_contact": false}}]}})",
      9.81 * std::sin(degrees * pi / 180), -9.81 * std::cos(degrees * pi / 180), friction, speed, friction);
}

TEST(ImplicitContact, ACubeSlidesByCoulombsLaw) {
  Simulation simulation = simulate(block_on_slab(0.2, 20, 0));
  while (simulation.frame() < 10) simulation.advance_frame();
  const double start = simulation.time(), before = velocity(simulation.measure()[1])[0];
  while (simulation.frame() < 25) simulation.advance_frame();
  const double found = (velocity(simulation.measure()[1])[0] - before) / (simulation.time() - start);
  const double expected = 9.81 * (std::sin(pi / 9) - 0.2 * std::cos(pi / 9));
  RecordProperty("acceleration", fmt::format("{:.3f} ({:.3f})", found, expected));
  EXPECT_NEAR(found, expected, 0.03 * expected);
  EXPECT_GT(simulation.measure()[1].low[1], 0.3 * 0.05);
}

TEST(ImplicitContact, ACubeSticks) {
  Simulation simulation = simulate(block_on_slab(0.5, 20, 0));
  while (simulation.frame() < 25) simulation.advance_frame();
  const double start = simulation.time(), before = center(simulation.measure()[1])[0];
  while (simulation.frame() < 50) simulation.advance_frame();
  const double crept = (center(simulation.measure()[1])[0] - before) / (simulation.time() - start);
  RecordProperty("creeps_mm_per_s", fmt::format("{:.2f}", 1000 * crept));
  EXPECT_LT(std::abs(crept), 2e-3);
}

TEST(ImplicitContact, ACubeThatFallsComesToRest) {
  Simulation simulation = simulate(block_on_slab(0.3, 0, -3));
  double lowest = 1;
  while (simulation.frame() < 50) {
    simulation.advance_frame();
    lowest = std::min(lowest, simulation.measure()[1].low[1]);
  }
  RecordProperty("lowest_cells", fmt::format("{:.2f}", lowest / 0.05));
  EXPECT_GT(lowest, -0.3 * 0.05);
  EXPECT_NEAR(simulation.measure()[1].low[1], 0.45 * 0.05, 0.15 * 0.05);
  EXPECT_LT(norm(velocity(simulation.measure()[1])), 0.05);
}

}  // namespace
}  // namespace tribo::test
