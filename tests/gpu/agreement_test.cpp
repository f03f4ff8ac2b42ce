#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "cloud.h"
#include "device.h"
#include "snapshot.h"
#include "tribo/scene/format.h"
#include "tribo/scene/reader.h"
#include "tribo/transfer/kernels.h"

/// \file
/// The device gives what the CPU gives, particle by particle, in double: 1e-9 of each quantity's scale in a step. The
/// two differ by the order of sums and by fused operations, some 1e-15 a step; 20 steps of a cloud that tears itself
/// apart amplify that by a few orders of magnitude.

namespace tribo::test {
namespace {

constexpr double tolerance = 1e-9;

void expect_same_steps(const Model& model, const ParticleSeed& seed, int steps = 20, double per_step = tolerance) {
  const auto expected = make_engine(reference(), model, seed);
  const auto found = make_engine(tested(), model, seed);
  expect_agreement(snapshot(*expected), snapshot(*found), model.dx, per_step);
  for (int step = 1; step <= steps; ++step) {
    const StepReport a = expected->step(1e9);
    const StepReport b = found->step(1e9);
    ASSERT_NEAR(a.dt, b.dt, step * per_step * a.dt) << "step " << step;
    ASSERT_STREQ(a.limit, b.limit) << "step " << step;
    if (step == 1) expect_agreement(snapshot(*expected), snapshot(*found), model.dx, per_step);
  }
  expect_agreement(snapshot(*expected), snapshot(*found), model.dx, steps * per_step);
  EXPECT_EQ(found->step_count(), steps);
  EXPECT_EQ(expected->counts().particles, found->counts().particles);
}

struct LawCase {
  std::size_t law;
  int dimension;
};
std::ostream& operator<<(std::ostream& out, const LawCase& law) {
  return out << every_material()[law.law].name << ' ' << law.dimension << 'D';
}
std::vector<LawCase> law_cases() {
  std::vector<LawCase> all;
  for (std::size_t law = 0; law < every_material().size(); ++law)
    for (const int dimension : {2, 3}) all.push_back({law, dimension});
  return all;
}
class EveryLaw : public OnDeviceWith<LawCase> {};

TEST_P(EveryLaw, AgreesWithTheCpu) {
  const Model model = cloud_model(GetParam().dimension, {every_material()[GetParam().law]});
  expect_same_steps(model, random_cloud(model, 1));
}
INSTANTIATE_TEST_SUITE_P(Agreement, EveryLaw, ::testing::ValuesIn(law_cases()), [](const auto& test) {
  return fmt::format("{}_{}D", every_material()[test.param.law].name, test.param.dimension);
});

class EveryDimension : public OnDeviceWith<int> {};
INSTANTIATE_TEST_SUITE_P(Agreement, EveryDimension, ::testing::Values(2, 3),
                         [](const auto& test) { return fmt::format("{}D", test.param); });

/// All laws at once, two objects of each, all in the same blocks.
TEST_P(EveryDimension, SeveralMaterialsInABlock) {
  const Model model = cloud_model(GetParam(), every_material());
  expect_same_steps(model, random_cloud(model, 2));
}

TEST_P(EveryDimension, EveryTransferKernelAndForce) {
  for (const Choice& transfer : transfers())
    for (const KernelInfo& kernel : kernel_list)
      for (const bool gradient_forces : {false, true}) {
        const std::string scheme = transfer.name;
        if (scheme == PolyPic::name && kernel.nodes != 3) continue;
        if (kernel.nodes == 2 && !gradient_forces) continue;
        SCOPED_TRACE(fmt::format("{}, {}, {}", scheme, kernel.name, gradient_forces ? "gradient" : "mls"));
        Model model = cloud_model(GetParam(), {every_material()[0], every_material()[4]});
        [&]<class... Scheme>(const std::variant<Scheme...>*) {
          ((scheme == Scheme::name ? void(model.transfer = Scheme{}.rule()) : void()), ...);
        }(static_cast<const Transfer*>(nullptr));
        model.kernel_nodes = kernel.nodes;
        model.gradient_forces = gradient_forces;
        expect_same_steps(model, random_cloud(model, 3));
      }
}

/// Newton's iterations end at a tolerance, which is then what the two may differ by.
TEST_P(EveryDimension, ImplicitSteps) {
  Model model = cloud_model(GetParam(), {every_material()[0], every_material()[1]});
  model.time.implicit = true;
  model.time.solve.tolerance = 1e-9;
  model.time.solve.newton_iterations = 60;
  model.time.dt_max = 2e-3;
  SeedMaker make(model, 4);
  make.add(2000, {{0, 0, 0}}, {{6, 5, 4}}, 0.2);
  expect_same_steps(model, make.seed(), 5, 1e-6);
}

// --- colliders -------------------------------------------------------------------------------------------------------

/// Shapes about the origin, some cells large, as a scene names them. Each of the registry is there, and combinations.
struct ShapeCase {
  std::string name;
  std::string json;
};
std::ostream& operator<<(std::ostream& out, const ShapeCase& shape) { return out << shape.name; }
std::vector<ShapeCase> every_shape() {
  return {{"half_space", R"({"half_space": {"normal": [0.2, 1, 0]}})"},
          {"box", R"({"box": [0.4, 0.3, 0.25]})"},
          {"sphere", R"({"sphere": 0.2})"},
          {"capsule", R"({"capsule": {"radius": 0.12, "height": 0.4}})"},
          {"cylinder", R"({"cylinder": {"radius": 0.2, "height": 0.3}})"},
          {"torus", R"({"torus": {"radius": 0.25, "tube": 0.08}})"},
          {"mesh", R"({"mesh": "wedge.obj"})"},
          {"union", R"({"union": {"shapes": [{"shape": {"sphere": 0.15}}, {"shape": {"box": [0.5, 0.1, 0.2]}}]}})"},
          {"difference", R"({"difference": {"blend": 0.03, "shapes": [{"shape": {"box": [0.4, 0.3, 0.3]}},
                           {"shape": {"sphere": 0.12}, "at": [0, 0.15, 0]}]}})"},
          {"intersection", R"({"intersection": {"shapes": [{"shape": {"box": [0.4, 0.3, 0.3]}},
                             {"shape": {"sphere": 0.2}, "at": [0.05, 0, 0]}]}})"}};
}

std::string write_mesh() {
  const std::filesystem::path directory = std::filesystem::path(::testing::TempDir()) / "tribo_gpu_test";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "wedge.obj") << "v -0.2 -0.15 -0.2\nv 0.2 -0.15 -0.2\nv 0.2 -0.15 0.2\nv -0.2 -0.15 0.2\n"
                                            "v 0 0.2 0.05\nf 1 2 3 4\nf 2 1 5\nf 3 2 5\nf 4 3 5\nf 1 4 5\n";
  return (directory / "scene.json").string();
}

/// The colliders of a scene: one of the shape, from outside or as a container, fixed or moving.
std::vector<ColliderSpec> colliders_of(const std::string& shape, int dimension, bool inside, bool moving) {
  const char* const boundary = inside ? "slip" : moving ? "sticky" : "separate";
  const std::string place = moving ? R"("motion": [{"time": 0, "at": [0.02, -0.05, 0]},
      {"time": 0.01, "at": [0.05, 0, 0], "rotation": {"axis": [0, 0, 1], "degrees": 10}},
      {"time": 0.05, "at": [0, 0.05, 0], "rotation": {"axis": [0, 0, 1], "degrees": -20}}])"
                                   : R"("at": [0.01, -0.02, 0])";
  return parse_scene(fmt::format(R"({{"tribo": 1, "dimension": {}, "duration": 1, "grid": {{"dx": {}}},
      "materials": {{"m": "jelly"}},
      "objects": [{{"type": "particles", "shape": {{"sphere": 1}}, "material": "m"}}],
      "colliders": [{{"shape": {}, "inside": {}, "boundary": "{}", "friction": 0.3, {}}},
                    {{"shape": {{"half_space": [0, 1, 0]}}, "at": [0, -0.4, 0], "friction": 0.5}}]}})",
                                 dimension, cloud_dx, shape, inside, boundary, place),
                     write_mesh())
      .colliders;
}

class EveryShape : public OnDeviceWith<ShapeCase> {};

TEST_P(EveryShape, AsColliderAgreesWithTheCpu) {
  for (const int dimension : {2, 3})
    for (const bool inside : {false, true})
      for (const bool moving : {false, true}) {
        if (dimension == 2 && GetParam().name == "mesh") continue;
        SCOPED_TRACE(fmt::format("{}D, {}, {}", dimension, inside ? "inside" : "outside", moving ? "moving" : "fixed"));
        Model model = cloud_model(dimension, {every_material()[0], every_material()[4], every_material()[9]}, 1);
        model.colliders = colliders_of(GetParam().json, dimension, inside, moving);
        SeedMaker make(model, 5);
        make.add(2500, {{0, 0, 0}}, {{7, 7, 6}});
        expect_same_steps(model, make.seed());
      }
}
INSTANTIATE_TEST_SUITE_P(Agreement, EveryShape, ::testing::ValuesIn(every_shape()),
                         [](const auto& test) { return test.param.name; });

TEST(Agreement, EveryListedShapeHasACase) {
  for (const ListEntry& entry : list_entries("colliders")) {
    if (entry.name == "tets") continue;  // a mesh for the device, read from another file
    bool known = false;
    for (const ShapeCase& shape : every_shape()) known = known || shape.name == entry.name;
    EXPECT_TRUE(known) << entry.name;
  }
}

}  // namespace
}  // namespace tribo::test
