#include <gtest/gtest.h>

#include <tuple>

#include "scene_text.h"

namespace tribo::test {
namespace {

/// Farthest that a particle of a two-dimensional run is beyond a collider [cells].
double deepest(Simulation& simulation) {
  const Frame frame = simulation.observe();
  const auto x = frame.find("x")->as<float>();
  double depth = 0;
  for (const ColliderSpec& collider : simulation.scene().colliders) {
    const Pose pose = collider.motion.pose(frame.time);
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const Vec<double, 3> local = transpose(pose.rotation) * (Vec<double, 3>{{x[i], x[i + 1], 0}} - pose.at);
      std::visit(
          [&](const auto& shape) {
            shape.each_contact(Vec<double, 2>{{local[0], local[1]}}, collider.inside, 0.0,
                               [&](const SurfacePoint<double, 2>& s) { depth = std::max(depth, -s.distance); });
          },
          collider.shape);
    }
  }
  return depth / simulation.scene().grid.dx;
}

TEST(Leak, NothingIsDeeperInAShakenContainerThanContactAllows) {
  for (const auto& [name, shape, inside] :
       {std::tuple{"box", R"("box": [0.6, 0.4])", true}, std::tuple{"sphere", R"("sphere": 0.3)", true},
        std::tuple{"tub",
                   R"("difference": {"shapes": [{"shape": {"box": [0.9, 0.7]}}, {"shape": {"box": [0.6, 0.4]}}]})",
                   false}}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "dimension": 2, "fps": 50, "duration": 1, "grid": {{"dx": 0.02}},
             "objects": [
               {{"type": "particles", "shape": {{"box": [0.2, 0.2]}}, "at": [-0.11, -0.05], "material": "dry_sand"}},
               {{"type": "particles", "shape": {{"box": [0.2, 0.2]}}, "at": [0.11, -0.05], "material": "water"}}],
             "colliders": [{{"shape": {{{}}}, "inside": {}, "friction": 0.3, "motion": [
               {{"time": 0}}, {{"time": 0.2, "at": [0.3, 0]}}, {{"time": 0.4, "at": [-0.1, 0.1], "rotation": {{"degrees": 40}}}},
               {{"time": 0.6, "at": [0, 0.3], "rotation": {{"degrees": -60}}}},
               {{"time": 1, "at": [0, 0], "rotation": {{"degrees": 150}}}}]}}]}})",
        shape, inside));
    double worst = 0;
    while (simulation.frame() < simulation.frame_count()) {
      simulation.advance_frame();
      worst = std::max(worst, deepest(simulation));
    }
    RecordProperty(name, fmt::format("{}", worst));
    EXPECT_LT(worst, 0.901) << name;
    EXPECT_GT(worst, 0.3) << name << ": the walls were not put to the test";
  }
}

TEST(Leak, ATubThatIsADifferenceHoldsWhatABoxHolds) {
  double height[2];
  for (const bool tub : {false, true}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "dimension": 2, "fps": 10, "duration": 1, "grid": {{"dx": 0.02}},
             "objects": [{{"type": "particles", "shape": {{"box": [0.3, 0.6]}}, "at": [0, -0.2], "material": "water"}}],
             "colliders": [{{{}}}]}})",
        tub ? R"("shape": {"difference": {"shapes": [{"shape": {"box": [0.6, 1.2]}, "at": [0, -0.1]},
                                                     {"shape": {"box": [0.3, 1]}}]}})"
            : R"("shape": {"box": [0.3, 1]}, "inside": true)"));
    while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
    height[tub] = center(simulation.measure()[0])[1];
  }
  EXPECT_NEAR(height[true], height[false], 1e-3);
}

TEST(Leak, WhatAStickyColliderHoldsStaysInIt) {
  // A bar with one end in a clamp that moves: its end is deeper in the clamp than contact would ever let it.
  Simulation simulation = simulate(R"({"tribo": 1, "dimension": 2, "fps": 50, "duration": 0.2, "gravity": [0, 0],
    "grid": {"dx": 0.02},
    "objects": [{"type": "particles", "shape": {"box": [0.4, 0.1]}, "material": "jelly"}],
    "colliders": [{"shape": {"box": [0.1, 0.3]}, "boundary": "sticky", "motion": [
      {"time": 0, "at": [0.2, 0]}, {"time": 0.2, "at": [0.2, 0.1]}]}]})");
  const double before = simulation.measure()[0].high[0];
  while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
  EXPECT_NEAR(simulation.measure()[0].high[0], before, 1e-3);
  EXPECT_GT(deepest(simulation), 1.5);
}

}  // namespace
}  // namespace tribo::test
