#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "columns.h"
#include "tribo/scene/reader.h"

/// \file
/// Rigid bodies on the device: step by step as on the CPU, flying, striking each other, in stacks, on joints, and among
/// particles, bodies of tets and strands.

namespace tribo::test {
namespace {

struct RigidCase {
  std::string name;
  std::string rest;  ///< keys of the scene beside those that all have
  int steps = 60;
  double tolerance = 1e-9;  ///< per step, of places in cells
};
std::ostream& operator<<(std::ostream& out, const RigidCase& rigid) { return out << rigid.name; }

std::string scene_of(const RigidCase& rigid) {
  return fmt::format(
      R"({{"tribo": 1, "precision": "double", "fps": 100, "duration": 10, "grid": {{"dx": 0.05}},
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}},
                         "sand": {{"model": "drucker_prager", "density": 1600, "youngs_modulus": 1e5, "poisson_ratio": 0.3,
                                  "friction_angle": 35}}}}, {}}})",
      rigid.rest);
}

std::vector<RigidCase> cases() {
  const std::string floor =
      R"("colliders": [{"name": "floor", "shape": {"half_space": {"normal": [0, 1, 0]}}, "friction": 0.4}])";
  const std::string ball = R"({"name": "ball", "type": "rigid", "shape": {"sphere": 0.1}, "density": 2000, "friction": 0.3,
    "restitution": 0.5, "at": [0, 0.52, 0.02], "velocity": [0.3, -2, 0]})";
  const std::string boxes = R"({"name": "box", "type": "rigid", "shape": {"box": [0.3, 0.1, 0.2]}, "density": 1000,
    "friction": 0.5, "at": [0, 0.052, 0], "array": {"count": [1, 4, 1], "spacing": [0, 0.101, 0], "stagger": [0.05, 0, 0]}})";
  const std::string joined = R"(
    {"name": "arm", "type": "rigid", "shape": {"box": [0.4, 0.05, 0.05]}, "density": 1000, "at": [0.2, 1, 0]},
    {"name": "bob", "type": "rigid", "shape": {"capsule": {"radius": 0.04, "height": 0.2}}, "density": 2000, "at": [0.4, 0.9, 0]})";
  const std::string joints = R"("joints": [
    {"name": "motor", "type": "hinge", "axis": [0, 0, 1], "at": [0, 1, 0], "between": "arm", "and": "world",
     "motor": {"speed": 3, "torque": 20}},
    {"name": "ball", "type": "ball", "at": [0.4, 1, 0], "between": "bob", "and": "arm"}])";
  const std::string sand = R"({"name": "sand", "type": "particles", "shape": {"box": [0.5, 0.2, 0.5]}, "material": "sand",
    "at": [0, 0.1, 0]})";
  const std::string jelly = R"({"name": "jelly", "type": "solid", "shape": {"box": [0.3, 0.2, 0.3]}, "element_size": 0.05,
    "material": "jelly", "at": [0, 0.11, 0], "friction": 0.4})";
  const std::string hair = R"({"name": "fur", "type": "hair", "radius": 2e-4, "segments": 10, "youngs_modulus": 1e8,
    "friction": 0.3, "on": "ball", "strands": {"scalp": {"count": 30, "length": 0.1}}})";
  return {
      {"Spinning", R"("gravity": [0, 0, 0], "objects": [{"name": "top", "type": "rigid", "shape": {"box": [0.2, 0.4, 0.6]},
        "density": 1000, "angular_velocity": [0.3, 3, 0.1]}])"},
      {"Striking", fmt::format(R"("objects": [{}, {}], {})", boxes, ball, floor), 100, 1e-7},
      {"OnJoints", fmt::format(R"("objects": [{}], {}, {})", joined, joints, floor), 100},
      {"AmongParticles", fmt::format(R"("objects": [{}, {}], {})", ball, sand, floor), 120},
      {"OnSolids", fmt::format(R"("objects": [{}, {}], {})", ball, jelly, floor), 120},
      {"WithFur", fmt::format(R"("objects": [{}, {}], {})", ball, hair, floor), 200, 1e-7},
  };
}

class EveryRigid : public OnDeviceWith<RigidCase> {
 protected:
  Simulation open(const EngineOptions& options) const {
    const SimulationOptions settings = simulation_options(options);
    return {parse_scene(scene_of(GetParam()), "test.json", settings.overrides), settings};
  }
};
INSTANTIATE_TEST_SUITE_P(Gpu, EveryRigid, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EveryRigid, AgreesWithTheCpu) {
  Simulation expected = open(reference()), found = open(tested());
  for (int step = 0; step < GetParam().steps; ++step) {
    expected.step();
    found.step();
  }
  EXPECT_NEAR(expected.time(), found.time(), 1e-9 * expected.time());
  for (const char* name : {"rigid.x", "rigid.q", "rigid.v", "rigid.L"})
    expect_agreement(columns_of(expected.engine(), name), columns_of(found.engine(), name),
                     GetParam().tolerance * GetParam().steps, 0.05);
}

TEST_P(EveryRigid, HasOneResultAlsoAfterAResume) {
  expect_one_result([&] { return open(tested()); });
}

}  // namespace
}  // namespace tribo::test
