#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scene_text.h"
#include "tribo/engine/engine.h"
#include "tribo/matter/solids/contact_samples.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"
#include "tribo/simulation.h"

/// \file
/// Whether a scene of meshes fits the memory is told before it begins: the estimate is what they come to hold, with the
/// fields of contact, which are most of it.

namespace tribo::test {
namespace {

struct Case {
  const char* scene;
  const char* precision;
  double most = 1.5;  ///< the estimate, in units of what is held
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.scene << ", " << one.precision; }
class SolidMemory : public ::testing::TestWithParam<Case> {};

void expect_foreseen(Simulation& simulation, int steps, double most) {
  const Scene& scene = simulation.scene();
  for (int i = 0; i < steps; ++i) simulation.step();
  const auto held = static_cast<double>(simulation.engine().bytes());
  const EngineOptions engine{"cpu", scene.precision, 0, ""};
  const double exact = estimated_bytes(engine, build_model(scene), simulation.amounts());
  const double before = estimated_bytes(engine, build_model(scene), expected_amounts(scene));
  ::testing::Test::RecordProperty(
      "memory", fmt::format("{:.2f} of the {:.3g} bytes that are held; before there are tets {:.2f}", exact / held,
                            held, before / held));
  EXPECT_GT(exact, held / 1.5);
  EXPECT_LT(exact, held * most);
  EXPECT_GT(before, held / 3);  // knows no more of a shape than the box around it
  EXPECT_LT(before, held * std::max(3.0, most));
}

TEST_P(SolidMemory, IsForeseen) {
  SimulationOptions options;
  options.overrides = {parse_override(std::string("/precision=") + GetParam().precision)};
  Simulation simulation =
      Simulation::open(std::string(TRIBO_SCENE_DIR "/han2019/") + GetParam().scene + ".json", options);
  expect_foreseen(simulation, 10, GetParam().most);
}

/// Dice of one and of two cells in a heap: each has blocks of its own, and many neighbors.
TEST(SolidHeap, MemoryOfManySmallBodiesIsForeseen) {
  for (const double size : {0.04, 0.08}) {
    std::string objects;
    for (int i = 0; i < 343; ++i)
      objects += fmt::format(
          R"({}{{"type": "solid", "shape": {{"box": [{}, {}, {}]}}, "at": [{}, {}, {}], "element_size": {},
               "material": "m"}})",
          i == 0 ? "" : ",", size, size, size, (size + 0.02) * (i % 7), (size + 0.02) * (i / 7 % 7),
          (size + 0.02) * (i / 49), 0.5 * size);
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 100, "duration": 1, "grid": {{"dx": 0.04}},
             "materials": {{"m": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5, "poisson_ratio": 0.3}}}},
             "objects": [{}]}})",
        objects));
    expect_foreseen(simulation, 3, 1.5);
  }
}

/// The cubes and the rabbits are out of each other's reach, and contact makes no field of them, which nobody knows
/// before; nor does what is tangled touch itself.
INSTANTIATE_TEST_SUITE_P(Han2019, SolidMemory,
                         ::testing::Values(Case{"fig04_jello_sand", "float"}, Case{"fig07_type_ii", "float"},
                                           Case{"fig09_friction", "float"}, Case{"fig10_inversion", "float", 4},
                                           Case{"fig10_rabbits", "float", 2}, Case{"fig14_walking_mannequin", "float"},
                                           Case{"fig14_walking_mannequin", "double"}),
                         [](const auto& test) { return std::string(test.param.scene) + "_" + test.param.precision; });

}  // namespace
}  // namespace tribo::test
