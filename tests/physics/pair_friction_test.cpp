#include <gtest/gtest.h>

#include "scene_text.h"

/// \file
/// Promise: what slides on something does so by the coefficient that the scene's `friction` has for the two, whatever
/// they have themselves: g (sin theta - mu cos theta) down a slope of 20 degrees, or not at all where mu > tan theta =
/// 0.364. Gravity is tilted instead of the slope. Every test fails where the list is not heeded: then all have the
/// coefficient of 0.5 or 0 that is theirs.

namespace tribo::test {
namespace {

constexpr double degrees = 20;
const double along = 9.81 * std::sin(degrees * pi / 180), across = 9.81 * std::cos(degrees * pi / 180);

struct Pair {
  std::string one, other;
  double coefficient;
};

std::string scene(const std::string& precision, const std::string& objects, const std::string& colliders,
                  const std::vector<Pair>& pairs) {
  std::string friction;
  for (const Pair& pair : pairs)
    friction += fmt::format(R"({}{{"between": "{}", "and": "{}", "coefficient": {}}})", friction.empty() ? "" : ", ",
                            pair.one, pair.other, pair.coefficient);
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 10, "gravity": [{}, {}, 0], "grid": {{"dx": 0.025}},
           "materials": {{"stone": {{"model": "fixed_corotated", "density": 2000, "youngs_modulus": 1e5,
                                     "poisson_ratio": 0.3}},
                         "jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5,
                                    "poisson_ratio": 0.3, "viscosity": 100}}}},
           "objects": [{}], "colliders": [{}], "friction": [{}]}})",
      precision, along, -across, objects, colliders, friction);
}

/// Mean accelerations of objects down the slope from frame 15, when the wobble of their release has died down, to 45.
std::vector<double> accelerations(Simulation& simulation) {
  while (simulation.frame() < 15) simulation.advance_frame();
  const std::vector<ObjectSums> start = simulation.measure();
  const double start_time = simulation.time();
  while (simulation.frame() < 45) simulation.advance_frame();
  const std::vector<ObjectSums> end = simulation.measure();
  std::vector<double> found;
  for (std::size_t o = 0; o < end.size(); ++o)
    found.push_back((velocity(end[o])[0] - velocity(start[o])[0]) / (simulation.time() - start_time));
  return found;
}
/// Speed of the second object down the slope, in parts of what it would have without friction.
double part_of_free_speed(Simulation& simulation, int frames) {
  while (simulation.frame() < frames) simulation.advance_frame();
  return velocity(simulation.measure()[1])[0] / (along * simulation.time());
}
double by_coulomb(double friction) { return std::max(0.0, along - friction * across); }

const char* const slope_collider = R"({"name": "slope", "shape": {"half_space": [0, 1, 0]}, "friction": 0.5})";
const char* const slope_mesh =
    R"({"name": "slope", "type": "solid", "kinematic": true, "shape": {"box": [1.2, 0.1, 0.4]}, "element_size": 0.1,
        "material": "stone", "at": [0.2, -0.05, 0], "friction": 0.5})";

std::string block(const std::string& name, const std::string& type, double height, double z) {
  return fmt::format(R"({{"name": "{}", "type": "{}", "shape": {{"box": [0.3, 0.1, 0.2]}}, "material": "jelly",
                          "at": [-0.1, {}, {}]}})",
                     name, type, height, z);
}
/// Stiff strands that lie down the slope.
std::string strands(const std::string& name, int count, double height, double z, double friction = 0) {
  return fmt::format(
      R"({{"name": "{}", "type": "hair", "radius": 0.004, "segments": 12, "roots": "free", "youngs_modulus": 1e8,
           "friction": {}, "at": [-0.3, {}, {}], "rotation": {{"axis": [0, 0, 1], "degrees": -90}},
           "strands": {{"tube": {{"count": {}, "length": 0.3, "spacing": 0.02}}}}}})",
      name, friction, height, z, count);
}

class PairFriction : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Precisions, PairFriction, ::testing::Values("float", "double"),
                         [](const auto& precision) { return std::string(precision.param); });

TEST_P(PairFriction, SolidsSlideOnACollider) {
  Simulation simulation = simulate(scene(GetParam(),
                                         block("slow", "solid", 0.05, -0.5) + "," + block("fast", "solid", 0.05, 0) +
                                             "," + block("still", "solid", 0.05, 0.5),
                                         slope_collider, {{"slope", "slow", 0.2}, {"fast", "slope", 0}}));
  const std::vector<double> found = accelerations(simulation);
  EXPECT_NEAR(found[0], by_coulomb(0.2), 0.02 * along);
  EXPECT_NEAR(found[1], along, 0.02 * along);
  EXPECT_NEAR(found[2], 0, 0.02 * along) << "has the collider's 0.5";
}

TEST_P(PairFriction, HairSlidesOnACollider) {
  Simulation simulation = simulate(scene(
      GetParam(),
      strands("slow", 1, 0.004, -0.5) + "," + strands("fast", 1, 0.004, 0) + "," + strands("still", 1, 0.004, 0.5),
      slope_collider, {{"slope", "slow", 0.2}, {"fast", "slope", 0}}));
  while (simulation.frame() < 30) simulation.advance_frame();
  const std::vector<ObjectSums> sums = simulation.measure();
  EXPECT_NEAR(velocity(sums[0])[0], by_coulomb(0.2) * simulation.time(), 0.03 * along * simulation.time());
  EXPECT_NEAR(velocity(sums[1])[0], along * simulation.time(), 0.03 * along * simulation.time());
  EXPECT_NEAR(velocity(sums[2])[0], 0, 0.01 * along * simulation.time());
}

TEST_P(PairFriction, ParticlesSlideOnAColliderOnWhichASolidDoesNot) {
  Simulation simulation =
      simulate(scene(GetParam(), block("load", "particles", 0.05, 0) + "," + block("still", "solid", 0.05, 0.5),
                     slope_collider, {{"load", "slope", 0.2}}));
  const std::vector<double> found = accelerations(simulation);
  EXPECT_NEAR(found[0], by_coulomb(0.2), 0.03 * along);
  EXPECT_NEAR(found[1], 0, 0.02 * along);
}

TEST_P(PairFriction, ParticlesSlideOnASolid) {
  Simulation simulation = simulate(scene(
      GetParam(), slope_mesh + std::string(",") + block("load", "particles", 0.071, 0), "", {{"load", "slope", 0.1}}));
  EXPECT_NEAR(accelerations(simulation)[1], by_coulomb(0.1), 0.03 * along);
}

/// On its grid hair is a cell wide at least, and slower than Coulomb says: half as fast without friction.
TEST_P(PairFriction, HairSlidesOnASolid) {
  double part[2];
  for (const int rough : {0, 1}) {
    Simulation simulation = simulate(scene(GetParam(), slope_mesh + std::string(",") + strands("wig", 19, 0.08, 0, 1),
                                           "", {{"wig", "slope", 1.0 * rough}}));
    part[rough] = part_of_free_speed(simulation, 40);
  }
  RecordProperty("parts", fmt::format("{} {}", part[0], part[1]));
  EXPECT_GT(part[0], 0.4);
  EXPECT_LT(part[1], 0.5 * part[0]);
}

/// A block of particles on a bed of hair that is held at both ends.
TEST_P(PairFriction, ParticlesSlideOnHair) {
  for (const int rough : {0, 1}) {
    const std::string bed = fmt::format(
        R"({{"name": "bed", "type": "hair", "radius": 0.004, "segments": 24, "youngs_modulus": 1e10, "tips": "clamped",
             "stretch_scale": 1, "friction": {}, "at": [-0.4, 0, 0], "rotation": {{"axis": [0, 0, 1], "degrees": -90}},
             "strands": {{"tube": {{"count": 217, "length": 1.2, "spacing": 0.0125}}}}}})",
        1 - rough);
    Simulation simulation = simulate(
        scene(GetParam(), bed + "," + block("load", "particles", 0.17, 0), "", {{"bed", "load", 1.0 * rough}}));
    const double part = part_of_free_speed(simulation, 30);
    if (rough == 0)
      EXPECT_GT(part, 0.8);
    else
      EXPECT_LT(part, 0.3);
  }
}

}  // namespace
}  // namespace tribo::test
