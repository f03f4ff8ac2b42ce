#include <gtest/gtest.h>

#include <algorithm>

#include "../physics/solid_scenes.h"

/// \file
/// A free elastic body without damping: symplectic Euler follows a system whose energy is near the true one, so that
/// the true one wavers and does not drift, however long (physics.Solid has the same over a tenth of the steps).

namespace tribo::test {
namespace {

TEST(FreeBody, KeepsItsEnergyOverAHundredThousandSteps) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "fps": 100, "duration": 1000, "precision": "double", "gravity": [0, 0, 0], "grid": {"dx": 0.1},
          "time": {"dt_max": 0.01},
          "materials": {"m": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5, "poisson_ratio": 0.3}},
          "objects": [{"type": "solid", "self_contact": false, "shape": {"box": [0.2, 0.2, 0.2]}, "element_size": 0.1,
                       "material": "m", "damping": 0, "velocity": [0.3, 0.2, -0.1], "angular_velocity": [2, 3, -1],
                       "velocity_field": {"linear": {"x": [3, 0, 0], "y": [0, -2, 0]}}}]})");
  constexpr int steps = 100000;
  const ObjectSums before = simulation.measure()[0];
  const double scale = before.kinetic;
  double lowest = 1, highest = 1, early = 0, late = 0;
  int early_frames = 0, late_frames = 0;
  while (simulation.engine().step_count() < steps) {
    simulation.advance_frame();
    const double now = energy(simulation.measure()[0]) / scale;
    lowest = std::min(lowest, now);
    highest = std::max(highest, now);
    if (simulation.engine().step_count() < steps / 10) {
      early += now;
      ++early_frames;
    } else if (simulation.engine().step_count() >= steps - steps / 10) {
      late += now;
      ++late_frames;
    }
  }
  const double drift = late / late_frames - early / early_frames;
  const ObjectSums after = simulation.measure()[0];
  RecordProperty(
      "energy",
      fmt::format("{:+.2f} % to {:+.2f} % over {} steps; mean of the last tenth {:+.3f} % from that of the first",
                  100 * (lowest - 1), 100 * (highest - 1), simulation.engine().step_count(), 100 * drift));
  EXPECT_GT(after.elastic, 0.01 * scale) << "it should still ring";
  EXPECT_LT(highest - lowest, 0.06);
  EXPECT_LT(std::abs(drift), 0.005);
  EXPECT_LT(norm(after.angular_momentum - before.angular_momentum), 1e-9 * norm(before.angular_momentum));
}

}  // namespace
}  // namespace tribo::test
