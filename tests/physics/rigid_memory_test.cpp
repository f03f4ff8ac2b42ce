#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scene_text.h"
#include "tribo/engine/engine.h"
#include "tribo/matter/rigid/amounts.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"
#include "tribo/simulation.h"

/// \file
/// Whether a scene of rigid bodies fits the memory is told before it begins: the estimate is what they come to hold in
/// a heap, with the rows of their contacts.

namespace tribo::test {
namespace {

struct Heap {
  const char* name;
  const char* shape;
  double spacing, dx;
};
void PrintTo(const Heap& one, std::ostream* out) { *out << one.name; }
class RigidMemory : public ::testing::TestWithParam<Heap> {};

TEST_P(RigidMemory, OfHeapsIsForeseen) {
  const Heap& heap = GetParam();
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "fps": 100, "duration": 10, "grid": {{"dx": {}}},
           "objects": [{{"type": "rigid", "density": 1000, "friction": 0.5, "angular_velocity": [3, 5, 4], "shape": {},
                        "at": [0, {}, 0],
                        "array": {{"count": [3, 10, 3], "spacing": [{}, {}, {}]}}}}],
           "colliders": [{{"shape": {{"box": [{}, 10, {}]}}, "at": [0, 5, 0], "inside": true}}]}})",
      heap.dx, heap.shape, heap.spacing, heap.spacing, heap.spacing, heap.spacing, 4.5 * heap.spacing,
      4.5 * heap.spacing));
  double rows = 0, held = 0;
  for (int frame = 0; frame < 40; ++frame) {
    simulation.advance_frame();
    rows = std::max(rows, static_cast<double>(simulation.engine().counts().contacts));
    held = std::max(held, static_cast<double>(simulation.engine().bytes()));
  }
  const EngineOptions engine{"cpu", "float", 0, ""};
  const Scene& scene = simulation.scene();
  const double exact = estimated_bytes(engine, build_model(scene), simulation.amounts());
  const double before = estimated_bytes(engine, build_model(scene), expected_amounts(scene));
  EXPECT_GT(exact, held / 1.5);
  EXPECT_LT(exact, held * 1.5);
  EXPECT_GT(before, held / 3);  // of compounds it knows no more than the box around them
  EXPECT_LT(before, held * 3);
  const double expected_rows = simulation.amounts().of<RigidAmounts>().rows();
  EXPECT_GT(expected_rows, rows / 1.5);
  EXPECT_LT(expected_rows, rows * 3);
}

INSTANTIATE_TEST_SUITE_P(Shapes, RigidMemory,
                         ::testing::Values(Heap{"balls", R"({"sphere": 0.05})", 0.11, 0.05},
                                           Heap{"boxes", R"({"box": [0.1, 0.1, 0.1]})", 0.12, 0.05},
                                           Heap{"finely_felt_boxes", R"({"box": [0.1, 0.1, 0.1]})", 0.12, 0.015},
                                           Heap{"rings", R"({"torus": {"radius": 0.05, "tube": 0.02}})", 0.15, 0.05},
                                           Heap{"crosses", R"({"union": {"shapes": [
                                             {"shape": {"box": [0.12, 0.04, 0.04]}},
                                             {"shape": {"box": [0.04, 0.12, 0.04]}}]}})",
                                                0.14, 0.02}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace tribo::test
