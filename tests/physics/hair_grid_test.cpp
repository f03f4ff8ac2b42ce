#include <gtest/gtest.h>

#include <algorithm>

#include "solid_scenes.h"

/// \file
/// Hair in bulk, as scenes have it: against particles and meshes on its own grid (Han 2019, sec. 5.2, 7).

namespace tribo::test {
namespace {

ObjectSums sum_of(const std::vector<ObjectSums>& all) {
  ObjectSums sum;
  for (const ObjectSums& one : all) sum.add(one);
  return sum;
}

/// A bundle of free strands that something flies into; `other` is that object, `more` are further keys of the scene.
std::string struck_bundle(const std::string& other, const std::string& precision = "double",
                          const std::string& more = "") {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 10, "gravity": [0, 0, 0], "grid": {{"dx": 0.02}},
           "time": {{"dt_max": 0.001}}, {}
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 100, "youngs_modulus": 2e4, "poisson_ratio": 0.3}},
                         "sand": {{"model": "drucker_prager", "density": 300, "youngs_modulus": 2e4, "poisson_ratio": 0.3,
                                  "friction_angle": 30}}}},
           "objects": [
             {{"name": "hair", "type": "hair", "strands": {{"tube": {{"count": 91, "length": 0.24, "spacing": 0.01,
                                                                   "jitter": 0.1}}}},
               "radius": 0.002, "segments": 12, "roots": "free", "youngs_modulus": 1e7, "friction": 0.3}},
             {}]}})",
      precision, more, other);
}
const char* const sand_ball =
    R"({"name": "ball", "type": "particles", "shape": {"sphere": 0.05}, "material": "sand", "at": [0.13, 0.02, 0],
                                 "velocity": [-1, 0, 0]})";
const char* const jelly_cube = R"({"name": "cube", "type": "solid", "shape": {"box": [0.08, 0.08, 0.08]},
                                  "element_size": 0.02, "material": "jelly", "at": [0.13, 0.02, 0],
                                  "velocity": [-1, 0, 0], "friction": 0.3})";

const char* const sand_from_behind =
    R"({"name": "ball", "type": "particles", "shape": {"sphere": 0.04}, "material": "sand",
                                        "at": [-0.13, -0.02, 0], "velocity": [0.5, 0, 0]})";

/// Promise: what hair gets, the other loses, and they do not pass through each other.
void expect_balance(const std::string& text, double until) {
  Simulation simulation = simulate(text);
  const std::vector<ObjectSums> before = simulation.measure();
  while (simulation.time() < until) simulation.advance_frame();
  const std::vector<ObjectSums> after = simulation.measure();
  const double exchanged = norm(after[0].momentum - before[0].momentum);
  ::testing::Test::RecordProperty("speeds", fmt::format("{:.3f} {:.3f}", velocity(after[0])[0], velocity(after[1])[0]));
  EXPECT_GT(exchanged, 0.3 * std::min(before[0].mass, before[1].mass)) << "they should have met";
  EXPECT_LT(norm(sum_of(after).momentum - sum_of(before).momentum), 1e-10 * exchanged);
  EXPECT_LT(sum_of(after).kinetic + sum_of(after).elastic, sum_of(before).kinetic);
  EXPECT_GT(velocity(after[1])[0], velocity(after[0])[0] - 0.25) << "hair should take most of its speed of 1 m/s";
}
TEST(HairGrid, SharesMomentumWithParticles) { expect_balance(struck_bundle(sand_ball), 0.15); }
TEST(HairGrid, SharesMomentumWithParticlesByTheGridAlone) {
  expect_balance(struck_bundle(sand_ball, "double", R"("strand_contact": {"grid": {"blend": 1, "blend_time": 0}},)"),
                 0.15);
}
TEST(HairGrid, SharesMomentumWithMeshes) { expect_balance(struck_bundle(jelly_cube), 0.08); }
TEST(HairGrid, SharesMomentumWithBoth) {
  Simulation simulation = simulate(struck_bundle(std::string(jelly_cube) + "," + sand_from_behind));
  const std::vector<ObjectSums> before = simulation.measure();
  while (simulation.time() < 0.08) simulation.advance_frame();
  const std::vector<ObjectSums> after = simulation.measure();
  EXPECT_LT(norm(sum_of(after).momentum - sum_of(before).momentum), 1e-10 * norm(before[1].momentum));
  for (int o : {1, 2}) EXPECT_GT(norm(velocity(after[std::size_t(o)]) - velocity(before[std::size_t(o)])), 0.1);
}

/// Promise: strands that can yield do not outrun what pushes them because others in the same cells cannot: those are as
/// slow as ever, however often their common nodes are pushed.
TEST(HairGrid, NothingOutrunsWhatPushesIt) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "precision": "double", "fps": 200, "duration": 10, "gravity": [0, 0, 0], "grid": {"dx": 0.02},
          "time": {"dt_max": 0.0005},
          "materials": {"sand": {"model": "drucker_prager", "density": 3000, "youngs_modulus": 2e5, "poisson_ratio": 0.3,
                                 "friction_angle": 30}},
          "objects": [
            {"name": "held", "type": "hair", "strands": {"tube": {"count": 61, "length": 0.24, "spacing": 0.012,
                                                                  "jitter": 0.1}},
             "radius": 0.002, "segments": 12, "tips": "clamped", "youngs_modulus": 1e10, "friction": 0.3},
            {"name": "free", "type": "hair", "strands": {"tube": {"count": 61, "length": 0.16, "spacing": 0.012,
                                                                  "jitter": 0.1}},
             "radius": 0.001, "segments": 8, "roots": "free", "youngs_modulus": 1e7, "friction": 0.3, "seed": 3,
             "at": [0.006, 0.003, 0]},
            {"name": "ball", "type": "particles", "shape": {"sphere": 0.06}, "material": "sand", "at": [0.13, 0.02, 0],
             "velocity": [-1, 0, 0]}]})");
  double fastest = 0;
  while (simulation.time() < 0.03) {
    simulation.advance_frame();
    for (const Vec<double, 3>& v : state_column(simulation, "rod.v")) fastest = std::max(fastest, norm(v));
  }
  EXPECT_GT(fastest, 0.3) << "they should have met";
  EXPECT_LT(fastest, 1.8) << "sand comes with 1 m/s";
}

/// Promise: without a grid of its own, hair is not there for particles, and that is said.
TEST(HairGrid, WithoutGridOthersPass) {
  Simulation simulation = simulate(struck_bundle(sand_ball, "double", R"("strand_contact": {"grid": {"on": false}},)"));
  ASSERT_EQ(simulation.warnings().size(), 1U);
  EXPECT_EQ(simulation.warnings()[0],
            "object 'ball' passes through hair, which meets particles on its grid; set strand_contact.grid.on to true");
  const double before = velocity(simulation.measure()[1])[0];
  while (simulation.time() < 0.15) simulation.advance_frame();
  EXPECT_NEAR(velocity(simulation.measure()[1])[0], before, 1e-6);
}

/// Promise: a checkpoint holds what hair in bulk remembers, too: what goes on from it has the same bytes.
TEST(HairGrid, ResumesWithTheSameBytes) {
  const std::string text = struck_bundle(sand_ball, "float");
  Simulation whole = simulate(text);
  while (whole.time() < 0.08) whole.advance_frame();
  for (int i = 0; i < 3; ++i) whole.step();
  const Container saved = whole.checkpoint();
  Simulation resumed = simulate(text);
  resumed.restore(saved);
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  for (int i = 0; i < 40; ++i) {
    whole.step();
    resumed.step();
  }
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
}

TEST(HairGrid, SameBytesForAnyNumberOfThreads) {
  std::uint64_t hash[2];
  for (int t = 0; t < 2; ++t) {
    SimulationOptions options;
    options.threads = 1 + t;
    Simulation simulation = simulate(struck_bundle(std::string(jelly_cube) + "," + sand_from_behind, "float"), options);
    for (int i = 0; i < 60; ++i) simulation.step();
    hash[t] = simulation.state_hash();
  }
  EXPECT_EQ(hash[0], hash[1]);
}

}  // namespace
}  // namespace tribo::test
