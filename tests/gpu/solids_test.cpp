#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "columns.h"
#include "tribo/scene/reader.h"

/// \file
/// Meshes on the device: step by step as on the CPU, alone, in contact with each other, themselves and colliders, and
/// among particles.

namespace tribo::test {
namespace {

struct SolidCase {
  std::string name;
  std::string rest;  ///< keys of the scene beside those that all have
  int steps = 60;
  double tolerance = 1e-9;  ///< per step, of places in cells
  std::string grid = "";    ///< more keys of the grid
};
std::ostream& operator<<(std::ostream& out, const SolidCase& solid) { return out << solid.name; }

std::string scene_of(const SolidCase& solid) {
  return fmt::format(
      R"({{"tribo": 1, "precision": "double", "fps": 100, "duration": 10, "grid": {{"dx": 0.05{}}},
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}},
                         "rubber": {{"model": "neo_hookean", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}},
                         "stiff": {{"model": "st_venant_kirchhoff", "density": 1000, "youngs_modulus": 2e5, "poisson_ratio": 0.3}},
                         "sand": {{"model": "drucker_prager", "density": 1600, "youngs_modulus": 1e5, "poisson_ratio": 0.3,
                                  "friction_angle": 35}}}}, {}}})",
      solid.grid, solid.rest);
}

const char* const floor =
    R"("colliders": [{"name": "floor", "shape": {"half_space": {"normal": [0, 1, 0]}}, "friction": 0.4}])";

std::vector<SolidCase> cases() {
  const std::string three = R"(
    {"name": "a", "type": "solid", "shape": {"box": [0.2, 0.2, 0.2]}, "element_size": 0.05, "material": "jelly",
     "at": [0, 0.1, 0], "velocity": [0, -1, 0], "friction": 0.5},
    {"name": "b", "type": "solid", "shape": {"sphere": 0.12}, "element_size": 0.05, "material": "rubber",
     "at": [0.05, 0.345, 0.02], "velocity": [0.5, -1, 0], "friction": 0.3},
    {"name": "c", "type": "solid", "shape": {"box": [0.2, 0.1, 0.2]}, "element_size": 0.05, "material": "stiff",
     "at": [0.23, 0.1, 0.05], "velocity": [-1, 0, 0]})";
  const std::string sand = R"({"name": "sand", "type": "particles", "shape": {"box": [0.3, 0.1, 0.3]}, "material": "sand",
    "at": [0, 0.53, 0], "velocity": [0, -2, 0]})";
  return {
      {"AloneAndScrambled", R"("gravity": [0, 0, 0], "objects": [{"name": "a", "type": "solid", "shape": {"box": [0.2, 0.2, 0.2]},
        "element_size": 0.05, "material": "jelly", "initial": "mirrored"}])"},
      {"InContact", fmt::format(R"("objects": [{}], {})", three, floor)},
      {"InContactAsPrinted", fmt::format(R"("contact": {{"form": "paper"}}, "objects": [{}], {})", three, floor)},
      {"AmongParticles", fmt::format(R"("objects": [{}, {}], {})", three, sand, floor), 120},
      {"AmongParticlesOfAnotherScheme",
       fmt::format(R"("objects": [{}, {}], {})", three, sand, floor), 60, 1e-9,
       R"(, "kernel": "cubic", "transfer": "flip")"},
      {"Implicit", fmt::format(R"("time": {{"integrator": "implicit", "dt_max": 2e-3}}, "objects": [{}], {})", three, floor),
       10, 1e-3},
  };
}

class EverySolid : public OnDeviceWith<SolidCase> {
 protected:
  Simulation open(const EngineOptions& options) const {
    const SimulationOptions settings = simulation_options(options);
    return {parse_scene(scene_of(GetParam()), "test.json", settings.overrides), settings};
  }
};
INSTANTIATE_TEST_SUITE_P(Gpu, EverySolid, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

TEST_P(EverySolid, AgreesWithTheCpu) {
  Simulation expected = open(reference()), found = open(tested());
  for (int step = 0; step < GetParam().steps; ++step) {
    expected.step();
    found.step();
  }
  EXPECT_NEAR(expected.time(), found.time(), 1e-9 * expected.time());
  expect_agreement(columns_of(expected.engine(), "solid."), columns_of(found.engine(), "solid."),
                   GetParam().tolerance * GetParam().steps, 0.05);
}

TEST_P(EverySolid, HasOneResultAlsoAfterAResume) {
  expect_one_result([&] { return open(tested()); });
}

}  // namespace
}  // namespace tribo::test
