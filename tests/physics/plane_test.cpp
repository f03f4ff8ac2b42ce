#include <gtest/gtest.h>

#include "scene_text.h"

/// \file
/// Two dimensions: the same promises as in three, from the same sources.

namespace tribo::test {
namespace {

TEST(Plane, SpinningJellyKeepsMomentumAndAngularMomentum) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "dimension": 2, "precision": "{}", "fps": 1, "duration": 1, "gravity": [0, 0],
             "grid": {{"dx": 0.05}}, "time": {{"dt_max": 1e-3}},
             "objects": [{{"name": "sheet", "type": "particles", "shape": {{"box": [0.5, 0.4]}}, "at": [0.1, 0],
                           "material": "jelly", "velocity": [0.5, 0.2], "angular_velocity": [0, 0, 6]}}]}})",
        precision));
    const ObjectSums before = simulation.measure()[0];
    EXPECT_NEAR(before.mass, 1000 * 0.5 * 0.4, 1e-3);  // density times area, one meter deep
    simulation.advance_frame();
    ASSERT_GE(simulation.progress().substeps, 1000);
    const ObjectSums after = simulation.measure()[0];
    const bool single = std::string(precision) == "float";
    EXPECT_LE(norm(after.momentum - before.momentum) / norm(before.momentum), single ? 1e-5 : 1e-11);
    EXPECT_LE(norm(after.angular_momentum - before.angular_momentum) / norm(before.angular_momentum),
              single ? 1e-4 : 1e-11);
    EXPECT_EQ(after.angular_momentum[0], 0);
    EXPECT_EQ(after.momentum[2], 0);
    EXPECT_EQ(after.mass, before.mass);
  }
}

TEST(Plane, EveryMaterialFollowsTheParabola) {
  for (const char* material : {"jelly", "dry_sand", "water"}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "dimension": 2, "fps": 10, "duration": 1, "grid": {{"dx": 0.05}},
             "objects": [{{"type": "particles", "shape": {{"box": [0.3, 0.2]}}, "material": "{}",
                           "velocity": [1, 2]}}]}})",
        material));
    const Vec<double, 3> start = center(simulation.measure()[0]);
    for (int f = 0; f < 5; ++f) simulation.advance_frame();
    const ObjectSums sums = simulation.measure()[0];
    EXPECT_NEAR((center(sums) - start)[0], 0.5, 1e-5) << material;
    EXPECT_NEAR(velocity(sums)[1], 2 - 9.81 * 0.5, 1e-4) << material;
    EXPECT_LT(sums.elastic, 1e-6 * sums.kinetic) << material;
  }
}

TEST(Plane, BlockOnSlopeSlidesWithCoulombFriction) {
  const double theta = 20 * pi / 180, s = std::sin(theta), c = std::cos(theta);
  for (const double friction : {0.0, 0.2}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "dimension": 2, "fps": 50, "duration": 1, "grid": {{"dx": 0.02}},
             "objects": [{{"type": "particles", "shape": {{"box": [0.2, 0.1]}}, "material": "jelly", "at": [{}, {}],
                           "rotation": {{"degrees": -20}}}}],
             "colliders": [{{"shape": {{"half_space": [{}, {}]}}, "friction": {}}}]}})",
        0.05 * s, 0.05 * c, s, c, friction));
    const auto speed = [&] { return dot(velocity(simulation.measure()[0]), Vec<double, 3>{{c, -s, 0}}); };
    while (simulation.frame() < 10) simulation.advance_frame();
    const double before = speed();
    while (simulation.frame() < 40) simulation.advance_frame();
    const double expected = 9.81 * (s - friction * c);
    EXPECT_NEAR((speed() - before) / 0.6, expected, 0.03 * expected) << "mu = " << friction;
  }
}

/// A disk, a moving paddle, a container: everything at once, for bytes rather than numbers.
const char* const busy_scene = R"({"tribo": 1, "dimension": 2, "fps": 40, "duration": 0.2, "grid": {"dx": 0.02},
  "objects": [
    {"name": "jelly", "type": "particles", "shape": {"sphere": 0.1}, "at": [-0.15, 0.2], "material": "jelly"},
    {"name": "sand", "type": "particles", "shape": {"capsule": {"radius": 0.05, "height": 0.1}}, "at": [0.15, 0.2],
     "material": "dry_sand"},
    {"name": "water", "type": "particles", "shape": {"box": [0.3, 0.1]}, "at": [0, 0.05], "material": "water",
     "sampling": "poisson"}],
  "colliders": [
    {"shape": {"box": [0.6, 1]}, "at": [0, 0.5], "inside": true, "friction": 0.3},
    {"shape": {"cylinder": {"radius": 0.05, "height": 0.02}}, "motion": [
      {"time": 0, "at": [0, 0.3]}, {"time": 0.2, "at": [0.1, 0.2], "rotation": {"degrees": 90}}]}]})";

TEST(Plane, SameBytesForAnyNumberOfThreadsAndAfterAResume) {
  const auto hash_after = [](int threads, bool interrupted) {
    Simulation simulation = simulate(busy_scene, {"cpu", threads, "", {}});
    for (int f = 0; f < 4; ++f) simulation.advance_frame();
    if (interrupted) {
      const Container saved = simulation.checkpoint();
      simulation = simulate(busy_scene, {"cpu", threads + 1, "", {}});
      simulation.restore(saved);
    }
    while (simulation.frame() < 8) simulation.advance_frame();
    return simulation.state_hash();
  };
  const std::uint64_t hash = hash_after(1, false);
  EXPECT_EQ(hash_after(2, false), hash);
  EXPECT_EQ(hash_after(3, false), hash);
  EXPECT_EQ(hash_after(1, true), hash);
}

TEST(Plane, NothingLeavesTheContainer) {
  Simulation simulation = simulate(busy_scene);
  for (int f = 0; f < 8; ++f) simulation.advance_frame();
  for (const ObjectSums& sums : simulation.measure()) {
    EXPECT_GT(sums.low[0], -0.32);
    EXPECT_LT(sums.high[0], 0.32);
    EXPECT_GT(sums.low[1], -0.02);
  }
}

}  // namespace
}  // namespace tribo::test
