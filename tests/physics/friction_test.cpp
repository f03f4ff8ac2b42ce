#include <gtest/gtest.h>

#include "scene_text.h"

namespace tribo::test {
namespace {

/// A block of jelly, 20 x 10 x 20 cm, lying on a slope of `degrees` that falls towards +x.
Simulation block_on_slope(double degrees, double friction, const char* boundary = "separate") {
  const double theta = degrees * pi / 180;
  const double s = std::sin(theta);
  const double c = std::cos(theta);
  const double half = 0.05;  // of the block's height
  return simulate(fmt::format(
      R"({{"tribo": 1, "fps": 50, "duration": 1, "grid": {{"dx": 0.02}}, "materials": {{"jelly": "jelly"}},
           "objects": [{{"name": "block", "type": "particles", "shape": {{"box": [0.2, 0.1, 0.2]}}, "material": "jelly",
                         "at": [{}, {}, 0], "rotation": {{"axis": [0, 0, 1], "degrees": {}}}}}],
           "colliders": [{{"shape": {{"half_space": {{"normal": [{}, {}, 0]}}}}, "friction": {},
                           "boundary": "{}"}}]}})",
      half * s, half * c, -degrees, s, c, friction, boundary));
}

/// Speed down the slope.
double speed_along(Simulation& simulation, double degrees) {
  const double theta = degrees * pi / 180;
  return dot(velocity(simulation.measure()[0]), Vec<double, 3>{{std::cos(theta), -std::sin(theta), 0}});
}

/// Mean acceleration between 0.2 s, when the wobble of the release has died down, and 0.8 s.
double acceleration(Simulation& simulation, double degrees) {
  while (simulation.frame() < 10) simulation.advance_frame();
  const double before = speed_along(simulation, degrees);
  while (simulation.frame() < 40) simulation.advance_frame();
  return (speed_along(simulation, degrees) - before) / 0.6;
}

TEST(BlockOnSlope, SlidesWithCoulombFriction) {
  // g (sin theta - mu cos theta), within 3 %
  for (const double friction : {0.0, 0.1, 0.2}) {
    Simulation simulation = block_on_slope(20, friction);
    const double expected = 9.81 * (std::sin(20 * pi / 180) - friction * std::cos(20 * pi / 180));
    const double measured = acceleration(simulation, 20);
    RecordProperty(fmt::format("acceleration_mu_{}", friction), fmt::format("{} (analytic {})", measured, expected));
    EXPECT_NEAR(measured, expected, 0.03 * expected) << "mu = " << friction;
  }
}

TEST(BlockOnSlope, SticksWhenFrictionExceedsTheSlope) {
  Simulation simulation = block_on_slope(20, 0.5);
  const Vec<double, 3> start = center(simulation.measure()[0]);
  while (simulation.frame() < 20) simulation.advance_frame();
  const Vec<double, 3> before = center(simulation.measure()[0]);
  // Released at once it leans downhill and wobbles, which takes it a few millimeters.
  EXPECT_LT(norm(before - start), 0.006);
  while (simulation.frame() < 50) simulation.advance_frame();
  const double creep = norm(center(simulation.measure()[0]) - before);
  RecordProperty("creep", fmt::format("{}", creep));
  EXPECT_LT(creep, 2e-4);  // in 0.6 s, in which a frictionless block would slide another 1.4 m
}

TEST(BlockOnSlope, SlipIgnoresFrictionAndStickyHolds) {
  Simulation slip = block_on_slope(20, 0.9, "slip");
  const double free = 9.81 * std::sin(20 * pi / 180);
  EXPECT_NEAR(acceleration(slip, 20), free, 0.03 * free);
  Simulation sticky = block_on_slope(20, 0, "sticky");
  EXPECT_NEAR(acceleration(sticky, 20), 0, 0.05);  // what is left of the wobble
}

TEST(Overlap, ObjectsThatBeginInsideCollidersAreReported) {
  const auto warnings = [](double height) {
    return simulate(fmt::format(
                        R"({{"tribo": 1, "duration": 1, "grid": {{"dx": 0.05}},
           "objects": [{{"name": "block", "type": "particles", "shape": {{"box": [0.3, 0.2, 0.3]}}, "material": "jelly",
                         "at": [0, {}, 0]}}],
           "colliders": [{{"name": "floor", "shape": {{"half_space": {{"normal": [0, 1, 0]}}}}}}]}})",
                        height))
        .warnings();
  };
  EXPECT_TRUE(warnings(0.1).empty());   // lies on it
  EXPECT_TRUE(warnings(0.08).empty());  // presses into it by less than half a cell
  ASSERT_EQ(warnings(0.0).size(), 1u);  // half sunk
  EXPECT_NE(warnings(0.0)[0].find("'block' begin inside collider 'floor'"), std::string::npos);
}

TEST(MovingCollider, CarriesWhatLiesOnIt) {
  // A plate moves sideways at 1 m/s; with friction the block reaches its speed, after v / (mu g) = 0.2 s.
  Simulation simulation = simulate(R"({"tribo": 1, "fps": 20, "duration": 1, "grid": {"dx": 0.025},
    "materials": {"jelly": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}},
    "objects": [{"name": "block", "type": "particles", "shape": {"box": [0.3, 0.1, 0.3]}, "at": [0, 0.05, 0],
                 "material": "jelly"}],
    "colliders": [{"shape": {"box": [4, 0.4, 4]}, "friction": 0.5,
                   "motion": [{"time": 0, "at": [0, -0.2, 0]}, {"time": 1, "at": [1, -0.2, 0]}]}]})");
  while (simulation.frame() < 2) simulation.advance_frame();
  const double early = velocity(simulation.measure()[0])[0];
  EXPECT_NEAR(early, 0.5 * 9.81 * 0.1, 0.05 * early);  // still slipping: mu g t
  while (simulation.frame() < 10) simulation.advance_frame();
  EXPECT_NEAR(velocity(simulation.measure()[0])[0], 1, 0.02);
}

}  // namespace
}  // namespace tribo::test
