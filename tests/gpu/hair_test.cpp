#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "columns.h"
#include "tribo/scene/reader.h"

/// \file
/// Hair on the device: step by step as on the CPU, swinging, in contact with itself, colliders, particles and meshes,
/// and by the methods it is compared with.

namespace tribo::test {
namespace {

struct HairCase {
  std::string name;
  std::string rest;  ///< keys of the scene beside those that all have
  int steps = 40;
  double tolerance = 1e-9;  ///< per step, of places in cells
  std::string grid = "";    ///< more keys of the grid
};
std::ostream& operator<<(std::ostream& out, const HairCase& hair) { return out << hair.name; }

std::string scene_of(const HairCase& hair) {
  return fmt::format(
      R"({{"tribo": 1, "precision": "double", "fps": 100, "duration": 10, "grid": {{"dx": 0.004{}}}, "time": {{"dt_max": 1e-3}},
           "materials": {{"snow": "snow", "jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5,
                                                   "poisson_ratio": 0.3}}}}, {}}})",
      hair.grid, hair.rest);
}

std::string bundles(const std::string& keys) {
  return fmt::format(
      R"({{"name": "lower", "type": "hair", "radius": 2e-4, "segments": 14, "youngs_modulus": 1e9, "friction": 0.3,
           "tips": "clamped", "rotation": {{"axis": [0, 0, 1], "degrees": 90}}, {0}
           "strands": {{"tube": {{"count": 19, "length": 0.05, "spacing": 0.002, "jitter": 0.1}}}}}},
         {{"name": "upper", "type": "hair", "radius": 2e-4, "segments": 14, "youngs_modulus": 1e9, "friction": 0.3,
           "roots": "free", "at": [0, 0.0085, 0], "rotation": {{"axis": [1, 0, 0], "degrees": 90}}, "seed": 3,
           "velocity": [0, -1, 0], {0}
           "strands": {{"tube": {{"count": 19, "length": 0.05, "spacing": 0.002, "jitter": 0.1}}}}}})",
      keys);
}

std::string curls(const std::string& keys) {
  return fmt::format(
      R"({{"name": "curls", "type": "hair", "radius": 2e-4, "segments": 20, "youngs_modulus": 1e9, {}
           "aspect": 1.5, "strands": {{"scalp": {{"shape": {{"sphere": 0.02}}, "count": 70, "length": 0.05, "spread": 15,
                                                 "length_variation": 0.5, "curl": {{"radius": 0.003, "pitch": 0.015}}}}}},
           "motion": [{{"time": 0}}, {{"time": 0.1, "at": [0.05, 0, 0], "rotation": {{"degrees": 90}}}}]}})",
      keys);
}

std::vector<HairCase> cases() {
  const std::string ball = R"("colliders": [{"shape": {"sphere": 0.0195}, "friction": 0.3,
    "motion": [{"time": 0}, {"time": 0.1, "at": [0.05, 0, 0], "rotation": {"degrees": 90}}]},
    {"shape": {"half_space": [0, 1, 0]}, "at": [0, -0.05, 0], "friction": 0.5}])";
  const std::string snow =
      R"({"name": "snow", "type": "particles", "material": "snow", "shape": {"box": [0.03, 0.01, 0.03]},
    "at": [0, 0.022, 0], "velocity": [0, -2, 0]})";
  const std::string block =
      R"({"name": "block", "type": "solid", "material": "jelly", "shape": {"box": [0.02, 0.01, 0.02]},
    "element_size": 0.005, "at": [0, 0.022, 0], "velocity": [0, -2, 0]})";
  const std::string nozzle =
      R"({"name": "snowfall", "type": "emitter", "material": "snow", "shape": {"box": [0.02, 0.004, 0.02]},
    "at": [0, 0.022, 0], "velocity": [0, -4, 0]})";
  const std::string cloth = R"({"name": "net", "type": "solid", "method": "updated_lagrangian", "material": "jelly",
    "shape": {"box": [0.02, 0.01, 0.02]}, "element_size": 0.005, "at": [0, 0.022, 0], "velocity": [0, -2, 0]})";
  const std::string mpm = R"("method": "mpm",)";
  return {
      {"Shaken", fmt::format(R"("objects": [{}], {})", curls(""), ball)},
      {"InContact", fmt::format(R"("objects": [{}])", bundles(""))},
      {"InContactByOtherImpulses",
       fmt::format(R"("strand_contact": {{"impulses": "accumulated", "iterations": 20}}, "objects": [{}])",
                   bundles(""))},
      {"AmongParticles", fmt::format(R"("objects": [{}, {}])", bundles(""), snow)},
      {"UnderAMesh", fmt::format(R"("objects": [{}, {}])", bundles(""), block)},
      {"AsAVolume", fmt::format(R"("objects": [{}])", bundles(R"("method": "mcadams",)")), 20, 1e-6},
      {"AsCurves", fmt::format(R"("objects": [{}])", bundles(mpm))},
      {"AsCurvesByRpic", fmt::format(R"("objects": [{}])", bundles(mpm)), 40, 1e-9, R"(, "transfer": "rpic")"},
      {"AsCurvesByPic", fmt::format(R"("objects": [{}])", bundles(mpm)), 40, 1e-9, R"(, "transfer": "pic")"},
      {"AsCurvesShaken", fmt::format(R"("objects": [{}], {})", curls(mpm), ball), 80},
      {"AsCurvesAmongParticles", fmt::format(R"("objects": [{}, {}])", bundles(mpm), snow), 200},
      {"AsCurvesUnderANozzle", fmt::format(R"("objects": [{}, {}])", nozzle, bundles(mpm)), 200},
      {"AsCurvesUnderAMesh", fmt::format(R"("objects": [{}, {}])", bundles(mpm), block)},
      {"AsCurvesUnderAMeshOfParticles", fmt::format(R"("objects": [{}, {}])", bundles(mpm), cloth), 100},
  };
}

/// Places and velocities of all vertices, as frames show them.
Columns strands_of(Simulation& simulation) {
  Columns columns;
  for (const FrameCurves& curves : simulation.observe().curves)
    for (const auto& [name, array] : {std::pair{".x", &curves.x}, std::pair{".v", &curves.v}}) {
      const auto numbers = array->as<double>();
      columns[curves.name + name].assign(numbers.begin(), numbers.end());
    }
  return columns;
}

Simulation open(const HairCase& hair, const EngineOptions& options) {
  const SimulationOptions settings = simulation_options(options);
  return {parse_scene(scene_of(hair), "test.json", settings.overrides), settings};
}

class EveryHair : public OnDeviceWith<HairCase> {};
INSTANTIATE_TEST_SUITE_P(Gpu, EveryHair, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EveryHair, AgreesWithTheCpu) {
  Simulation expected = open(GetParam(), reference()), found = open(GetParam(), tested());
  for (int step = 0; step < GetParam().steps; ++step) {
    expected.step();
    found.step();
  }
  EXPECT_NEAR(expected.time(), found.time(), 1e-9 * expected.time());
  expect_agreement(strands_of(expected), strands_of(found), GetParam().tolerance * GetParam().steps, 0.004);
}

TEST_P(EveryHair, HasOneResultAlsoAfterAResume) {
  expect_one_result([&] { return open(GetParam(), tested()); });
}

/// At rest nothing bounds the first step but gravity, which only the grid feels. On a device curves have been put in
/// their places by then, which must come to nothing.
TEST_F(OnDevice, CurvesTakeStepsAgainThatAreTooLong) {
  const HairCase hair{"Heavy", R"("gravity": [0, -2e4, 0], "objects": [
        {"name": "heavy", "type": "hair", "method": "mpm", "radius": 2e-4, "aspect": 1.5, "segments": 14,
         "youngs_modulus": 1e3, "contact_stiffness": 100, "tips": "clamped",
         "rotation": {"axis": [0, 0, 1], "degrees": 90},
         "strands": {"tube": {"count": 19, "length": 0.05, "spacing": 0.002, "jitter": 0.1}}}])"};
  Simulation expected = open(hair, reference()), found = open(hair, tested());
  for (int step = 0; step < 4; ++step) {
    const StepReport a = expected.step(), b = found.step();
    EXPECT_STREQ(a.limit, b.limit);
    EXPECT_NEAR(a.dt, b.dt, 1e-9 * a.dt);
    if (step == 0) EXPECT_STREQ(b.limit, "retry");
  }
  expect_agreement(strands_of(expected), strands_of(found), 4e-9, 0.004);
}

}  // namespace
}  // namespace tribo::test
