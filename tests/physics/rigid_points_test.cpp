#include <gtest/gtest.h>

#include "rigid_world.h"

/// \file
/// Rigid bodies against particles, both ways: momenta are kept, nothing gains energy, nothing leaks, and what should
/// float, rest or slide does.

namespace tribo::test {
namespace {

class RigidAgainstParticles : public ::testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(RigidPoints, RigidAgainstParticles, ::testing::Values(1e-3, 0.1, 1.0, 1e2, 1e4));

/// A rigid cube and an elastic one of particles fly into each other, off center and turned.
TEST_P(RigidAgainstParticles, KeepMomentaAndGainNoEnergy) {
  RigidWorld world(R"({"tribo": 1, "precision": "double", "fps": 200, "duration": 10, "gravity": [0, 0, 0],
    "grid": {"dx": 0.05},
    "materials": {"jelly": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5, "poisson_ratio": 0.3}},
    "objects": [{"name": "jelly", "type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "jelly",
                 "at": [0.2, 0.07, 0.03], "rotation": {"axis": [0, 0, 1], "degrees": 20}, "velocity": [-1, 0, 0]}]})");
  const int box = world.add({.size = {{0.2, 0.2, 0.2}},
                             .density = 1000 * GetParam(),
                             .at = {{-0.1, 0, 0}},
                             .rotation = turn_about(1, 15),
                             .v = {{1, 0, 0}},
                             .w = {{0.5, -1, 2}},
                             .friction = 0.4});
  world.start();
  const ObjectSums before = world.all(), box_before = world.sums(box);
  const double energy = before.kinetic + before.elastic;
  double highest = energy;
  for (int k = 1; k <= 20; ++k) {
    world.run(0.01 * k);
    const ObjectSums now = world.all();
    highest = std::max(highest, now.kinetic + now.elastic);
  }
  const ObjectSums after = world.all(), box_after = world.sums(box);
  const double exchanged = norm(box_after.momentum - box_before.momentum);
  std::printf("ratio %g: exchanged %.3g, momentum %.1e, angular %.1e, energy %.6f -> %.6f, unsettled %ld of %ld\n",
              GetParam(), exchanged, norm(after.momentum - before.momentum) / exchanged,
              norm(after.angular_momentum - before.angular_momentum) / (0.2 * exchanged), highest / energy,
              (after.kinetic + after.elastic) / energy, world.unsettled, world.steps);
  EXPECT_GT(exchanged, 0.3 * std::min(before.mass - box_before.mass, box_before.mass));
  const double all = norm(box_before.momentum) + norm(before.momentum - box_before.momentum);
  EXPECT_LT(norm(after.momentum - before.momentum), 1e-14 * all + 1e-12 * exchanged);
  EXPECT_LT(norm(after.angular_momentum - before.angular_momentum), 0.2 * (1e-14 * all + 1e-12 * exchanged));
  EXPECT_LE(highest, energy * (1 + 1e-12));
}

}  // namespace
}  // namespace tribo::test
