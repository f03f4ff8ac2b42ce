#include <gtest/gtest.h>

#include "solid_scenes.h"

/// \file
/// The damping grid of hybrid bodies (Han 2019, sec. 4; Jiang 2017, eq. 2): takes vibration away, and nothing else.

namespace tribo::test {
namespace {

/// A free cube of 0.2 m that is thrown, spins and rings; `damping` are its keys about that.
std::string ringing_cube(const std::string& damping) {
  return fmt::format(
      R"({{"tribo": 1, "fps": 100, "duration": 100, "precision": "double", "gravity": [0, 0, 0], "grid": {{"dx": 0.1}},
           "materials": {{"m": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5, "poisson_ratio": 0.3}}}},
           "objects": [{{"type": "solid", "self_contact": false, "shape": {{"box": [0.2, 0.2, 0.2]}}, "element_size": 0.05,
                         "material": "m", "damping": 0{}, "velocity": [0.3, 0.2, -0.1], "angular_velocity": [2, 3, -1],
                         "velocity_field": {{"linear": {{"x": [3, 0, 0], "y": [0, -2, 0]}}}}}}]}})",
      damping);
}

/// Kinetic energy of a rigid cube with these momenta.
double rigid_energy(const ObjectSums& sums) {
  const Vec<double, 3> spin = sums.angular_momentum - cross(center(sums), sums.momentum);
  const double inertia = sums.mass * 0.2 * 0.2 / 6;
  return 0.5 * squared_norm(sums.momentum) / sums.mass + 0.5 * squared_norm(spin) / inertia;
}

TEST(GridDamping, KeepsMomentaAndEndsVibration) {
  const auto ring = [](const std::string& damping) {
    Simulation simulation = simulate(ringing_cube(damping));
    const ObjectSums before = simulation.measure()[0];
    while (simulation.frame() < 30) simulation.advance_frame();
    const ObjectSums after = simulation.measure()[0];
    EXPECT_LT(norm(after.momentum - before.momentum), 1e-11 * norm(before.momentum)) << damping;
    EXPECT_LT(norm(after.angular_momentum - before.angular_momentum), 1e-10 * norm(before.angular_momentum)) << damping;
    return (energy(after) - rigid_energy(after)) / (energy(before) - rigid_energy(before));
  };
  EXPECT_GT(ring(""), 0.8);
  const double little = ring(R"(, "grid_damping": 0.01)"), much = ring(R"(, "grid_damping": 0.5)");
  EXPECT_LT(much, little);
  EXPECT_LT(much, 0.1);
}

/// What vertices keep of the grid is part of the state, of bodies that have one.
TEST(GridDamping, ResumesToTheLastBit) {
  SimulationOptions options;
  options.threads = 1;
  const std::string text = ringing_cube(R"(, "grid_damping": 0.1)");
  Simulation simulation = simulate(text, options);
  for (int k = 0; k < 7; ++k) simulation.step();
  options.threads = 2;
  Simulation resumed = simulate(text, options);
  const Container saved = simulation.checkpoint();
  EXPECT_NE(saved.find("solid.C.0"), nullptr);
  resumed.restore(saved);
  for (Simulation* run : {&simulation, &resumed})
    for (int k = 0; k < 20; ++k) run->step();
  EXPECT_EQ(simulation.state_hash(), resumed.state_hash());
  EXPECT_EQ(simulate(ringing_cube("")).checkpoint().find("solid.C.0"), nullptr);
}

}  // namespace
}  // namespace tribo::test
