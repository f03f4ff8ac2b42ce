#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "scene_text.h"
#include "tribo/run/statistics.h"

/// \file
/// Forces and torques of joints and motors in the statistics, against statics.

namespace tribo::test {
namespace {

using Json = nlohmann::json;

/// A bar of 2 kg, 1 m long, from the origin along x, and what holds it.
std::string bar(const char* precision, const std::string& joints, const std::string& more = "") {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 50, "duration": 10, "grid": {{"dx": 0.05}},
           "objects": [{{"name": "bar", "type": "rigid", "shape": {{"box": [1, 0.02, 0.02]}}, "mass": 2, "at": [0.5, 0, 0]
                         {}}}], "joints": [{}]}})",
      precision, more, joints);
}
Json after(Simulation& simulation, int frames) {
  for (int k = 0; k < frames; ++k) simulation.advance_frame();
  return Json::parse(frame_statistics(simulation, 0, {}));
}
constexpr double weight = 2 * 9.81;

class JointReports : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Precisions, JointReports, ::testing::Values("float", "double"),
                         [](const auto& one) { return std::string(one.param); });

/// Promise: a weld bears the weight at its place, and its moment about that.
TEST_P(JointReports, WeldBearsWeight) {
  Simulation simulation =
      simulate(bar(GetParam(), R"({"name": "wall", "type": "weld", "at": [0, 0, 0], "between": "bar"})"));
  EXPECT_TRUE(
      Json::parse(frame_statistics(simulation, 0, {}))["joints"]["wall"].empty());  // nothing has been given yet
  const Json wall = after(simulation, 20)["joints"]["wall"];
  EXPECT_FALSE(wall.contains("angle"));
  EXPECT_FALSE(wall.contains("motor"));
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(wall["force"][k].get<double>(), k == 1 ? weight : 0, 1e-6 * weight);
    EXPECT_NEAR(wall["torque"][k].get<double>(), k == 2 ? 0.5 * weight : 0, 1e-6 * weight);
  }
}

/// Promise: a motor that holds an arm has its moment m g l; one that is too weak gives all it can, and the arm falls by
/// the rest.
TEST_P(JointReports, MotorHoldsAnArm) {
  const auto hinge = [](const std::string& motor) {
    return R"({"name": "axle", "type": "hinge", "axis": [0, 0, 1], "at": [0, 0, 0], "between": "bar", "motor": )" +
           motor + "}";
  };
  Simulation held = simulate(bar(GetParam(), hinge(R"({"speed": 0})")));
  const Json strong = after(held, 20)["joints"]["axle"];
  EXPECT_NEAR(strong["motor"].get<double>(), 0.5 * weight, 1e-6 * weight);
  EXPECT_NEAR(strong["torque"][2].get<double>(), 0.5 * weight, 1e-6 * weight);
  EXPECT_NEAR(strong["force"][1].get<double>(), weight, 1e-6 * weight);
  EXPECT_NEAR(strong["angle"].get<double>(), 0, 1e-6);
  EXPECT_NEAR(strong["speed"].get<double>(), 0, 1e-9);

  Simulation falls = simulate(bar(GetParam(), hinge(R"({"speed": 0, "torque": 5})")));
  const Json weak = after(falls, 3)["joints"]["axle"];
  EXPECT_NEAR(weak["motor"].get<double>(), 5, 1e-9);
  const double inertia = 2.0 / 3 + 2 * 0.02 * 0.02 / 12;
  const double moment = 5 - 0.5 * weight, t = 3.0 / 50;
  EXPECT_NEAR(weak["speed"].get<double>(), moment / inertia * t, 0.01 * std::abs(moment / inertia * t));
  EXPECT_NEAR(weak["angle"].get<double>(), 0.5 * moment / inertia * t * t, 0.02 * std::abs(moment / inertia * t * t));
}

/// Promise: angles count whole turns.
TEST_P(JointReports, AnglesCountTurns) {
  Simulation simulation =
      simulate(bar(GetParam(), R"({"name": "axle", "type": "hinge", "axis": [0, 0, 1], "at": [0, 0, 0],
                                                       "between": "bar", "motor": {"speed": 20}})"));
  const Json axle = after(simulation, 50)["joints"]["axle"];
  EXPECT_NEAR(axle["angle"].get<double>(), 20, 0.2);
  EXPECT_NEAR(axle["speed"].get<double>(), 20, 1e-6);
}

/// Promise: a spring tells its length, and its energy, which is part of the scene's: all together is kept.
TEST_P(JointReports, SpringHasEnergy) {
  Simulation simulation =
      simulate(bar(GetParam(), R"({"name": "spring", "type": "spring", "at": [0.5, 0, 0], "to": [0.5, 1, 0],
                                                       "between": "bar", "stiffness": 100, "length": 0.8})"));
  const Json begin = Json::parse(frame_statistics(simulation, 0, {}));
  EXPECT_NEAR(begin["joints"]["spring"]["length"].get<double>(), 1, 1e-12);
  EXPECT_NEAR(begin["joints"]["spring"]["energy"].get<double>(), 0.5 * 100 * 0.2 * 0.2, 1e-12);
  EXPECT_NEAR(begin["energy"]["elastic"].get<double>(), 0.5 * 100 * 0.2 * 0.2, 1e-12);
  const auto all = [](const Json& line) {
    return line["energy"]["kinetic"].get<double>() + line["energy"]["elastic"].get<double>() +
           line["energy"]["gravity"].get<double>();
  };
  for (int frame = 0; frame < 20; ++frame) {
    const Json now = after(simulation, 1);
    const double length = now["joints"]["spring"]["length"].get<double>();
    EXPECT_NEAR(now["joints"]["spring"]["energy"].get<double>(), 50 * (length - 0.8) * (length - 0.8), 1e-9);
    EXPECT_LE(all(now), all(begin) + 1e-3 * weight);
  }
}

/// Promise: lines have the same bytes for any number of threads, and after a checkpoint within a frame; bounds of
/// forces in `expect` pass over frame 0.
TEST_P(JointReports, SameAfterACheckpoint) {
  const std::string text =
      bar(GetParam(), R"({"name": "axle", "type": "hinge", "axis": [0, 0, 1], "at": [0, 0, 0], "between": "bar/0",
                          "motor": {"speed": 1, "torque": 12}},
                         {"name": "link", "type": "ball", "at": [1, 0, 0], "between": "bar/0", "and": "bar/1"})",
          R"(, "copies": [{}, {"at": [1, 0, 0]}])");
  std::string expected;
  for (const int threads : {1, 3}) {
    SimulationOptions options;
    options.threads = threads;
    Simulation simulation(parse_scene(text, "test.json"), options), other(parse_scene(text, "test.json"), options);
    const std::string first = frame_statistics(simulation, 0, {});
    for (int frame = 0; frame < 4; ++frame) simulation.advance_frame();
    simulation.step();
    simulation.step();
    ASSERT_EQ(simulation.frame(), 4);
    other.restore(simulation.checkpoint());
    for (Simulation* one : {&simulation, &other}) {
      while (one->frame() < 5) one->step();
      const std::string line = frame_statistics(*one, 0, {});
      if (expected.empty()) expected = line;
      EXPECT_EQ(line, expected) << threads;
    }
    EXPECT_TRUE(unmet_expectations(R"({"always": {"/joints/axle/motor": {"min": -12, "max": 12}}})", {first, expected})
                    .empty());
    EXPECT_EQ(unmet_expectations(R"({"always": {"/joints/axle/motor": {"max": -13}}})", {first, expected}).size(), 1u);
  }
}

}  // namespace
}  // namespace tribo::test
