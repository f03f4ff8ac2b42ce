#include <gtest/gtest.h>

#include "../unit/io/scratch.h"
#include "../unit/mesh/make_mesh.h"
#include "solid_scenes.h"
#include "tribo/mesh/solid.h"
#include "tribo/mesh/triangle_tree.h"

/// \file
/// Hair on what it grows on: a mesh that is scalp and collider at once, a collider or a solid that it names.

namespace tribo::test {
namespace {

/// A ball with knobs, as animals have ears: features much smaller than a cell of the grid, and valleys between them.
/// `open`: without the faces below, like a scan that stood on a table.
PolygonMesh knobby_ball(bool open) {
  PolygonMesh mesh = make_ball(0.1, 4);
  for (Vec<double, 3>& v : mesh.vertices) {
    const Vec<double, 3> n = 10.0 * v;
    double knobs = 0;
    for (int k = 0; k < 3; ++k) {
      const Vec<double, 3> axis{{k == 0 ? 0.8 : -0.3, 0.5, k == 2 ? 0.8 : -0.2}};
      const double cosine = dot(n, axis) / norm(axis);
      knobs += std::exp(-60 * (1 - cosine));
    }
    v = (1 + 0.5 * knobs) * v;
  }
  if (open)
    std::erase_if(mesh.faces, [&](const std::vector<int>& face) {
      return mesh.vertices[static_cast<std::size_t>(face[0])][1] < -0.08;
    });
  return mesh;
}

/// Shaken to and fro and turned.
const char* const shake =
    R"("motion": [{"time": 0}, {"time": 0.06, "at": [0.04, 0, 0], "rotation": {"axis": [0, 1, 0], "degrees": 30}},
    {"time": 0.12, "at": [-0.04, 0.02, 0], "rotation": {"axis": [0, 1, 0], "degrees": -30}}, {"time": 0.16}])";

/// Combed hair on a body that is a collider; `hair` and `body` are keys of the two.
std::string furry(const std::string& precision, const std::string& hair, const std::string& body) {
  return fmt::format(
      R"({{"tribo": 1, "fps": 50, "duration": 0.2, "grid": {{"dx": 0.04}}, "precision": "{}",
           "objects": [{{"name": "fur", "type": "hair", "radius": 1e-4, "segments": 10, "friction": 0.3, {}}}],
           "colliders": [{{"name": "body", "friction": 0.3, {}}}]}})",
      precision, hair, body);
}

/// Promise: hair on a mesh that is its scalp and a collider, whose details are finer than the grid, is shaken through
/// to the end, with nothing said about either; strands keep their length and stay outside of the mesh, in steps that
/// nothing but their speed limits.
TEST(HairOnMesh, IsShakenThrough) {
  const Scratch scratch;
  for (const bool open : {false, true})
    for (const char* precision : {"float", "double"}) {
      const PolygonMesh mesh = knobby_ball(open);
      write_bytes(scratch / "ball.obj", as_obj(mesh));
      Simulation simulation = simulate(furry(
          precision, R"("on": "body", "strands": {"scalp": {"count": 60, "length": 0.05, "comb": {"amount": 0.8}}})",
          fmt::format(R"("shape": {{"mesh": "{}"}}, {})", scratch / "ball.obj", shake)));
      std::int64_t steps = 0;
      while (simulation.frame() < 10) {
        simulation.advance_frame();
        steps += simulation.progress().substeps;
      }
      // A quarter of a segment, 1.25 mm, at some 2 m/s is 0.6 ms.
      EXPECT_LT(steps, 800) << precision << open;
      const Points x = state_column(simulation, "rod.x");
      ASSERT_EQ(x.size(), 660U);
      const Solid solid = solid_from(mesh.polygons(), 1, "ball");
      const TriangleTree tree(solid.mesh);
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (i % 11 > 0) {
          EXPECT_NEAR(norm(x[i] - x[i - 1]), 0.005, 0.001) << i;
        }
        if (i % 11 > 1 && tree.winding(x[i]) > 0.5) {
          EXPECT_LT(tree.distance(x[i], 1), 5e-4) << i;
        }
      }
    }
}

/// Promise: a scalp that is a collider neither throws out nor holds strands that begin below its surface: where nothing
/// acts on them, they stay as they are.
TEST(HairOnMesh, RootsBelowTheSurfaceRest) {
  const Scratch scratch;
  write_bytes(scratch / "ball.obj", as_obj(make_ball(0.1, 3)));
  for (const char* precision : {"float", "double"})
    for (const char* shape : {R"({"sphere": 0.1})", "mesh"}) {
      const std::string ball =
          shape == std::string("mesh") ? fmt::format(R"({{"mesh": "{}"}})", scratch / "ball.obj") : shape;
      Simulation simulation = simulate(
          furry(precision, R"("on": "body", "strands": {"scalp": {"count": 60, "length": 0.05, "root_depth": 0.02}})",
                fmt::format(R"("shape": {})", ball))
              .replace(1, 0, R"("gravity": [0, 0, 0], )"));
      EXPECT_TRUE(simulation.warnings().empty());
      const Points before = state_column(simulation, "rod.x");
      simulation.advance_frame();
      simulation.advance_frame();
      const Points after = state_column(simulation, "rod.x");
      for (std::size_t i = 0; i < before.size(); ++i) EXPECT_LT(norm(after[i] - before[i]), 1e-5) << i << shape;
    }
}

/// Promise: `on` names a collider or a solid instead of repeating its shape, place and motion: the same bytes.
TEST(HairOnMesh, OnIsWhatWasRepeated) {
  const auto hash = [](const std::string& scene) {
    Simulation simulation = simulate(scene);
    simulation.advance_frame();
    simulation.advance_frame();
    return state_column(simulation, "rod.x");
  };
  const auto same = [](const Points& a, const Points& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(norm(a[i] - b[i]), 0) << i;
  };
  const std::string grown = R"("count": 20, "length": 0.05, "spread": 20)";
  const std::string body = fmt::format(R"("shape": {{"sphere": 0.1}}, {})", shake);
  same(hash(furry("float", fmt::format(R"("on": "body", "strands": {{"scalp": {{{}}}}})", grown), body)),
       hash(furry("float",
                  fmt::format(R"({}, "strands": {{"scalp": {{"shape": {{"sphere": 0.1}}, {}}}}})", shake, grown),
                  body)));

  const auto block = [&](const std::string& hair) {
    return fmt::format(
        R"({{"tribo": 1, "fps": 50, "duration": 1, "grid": {{"dx": 0.05}}, "materials": {{"rubber": {{
             "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}}}},
             "objects": [{{"name": "fur", "type": "hair", "radius": 3e-4, "segments": 6, {}}},
                         {{"name": "block", "type": "solid", "method": "hybrid", "shape": {{"box": [0.2, 0.2, 0.2]}},
                           "material": "rubber", "element_size": 0.1, "at": [0, 1, 0], "angular_velocity": [2, 3, 1]}}]}})",
        hair);
  };
  same(hash(block(fmt::format(R"("on": "block", "strands": {{"scalp": {{{}}}}})", grown))),
       hash(block(fmt::format(
           R"("skin": "block", "at": [0, 1, 0], "strands": {{"scalp": {{"shape": {{"box": [0.2, 0.2, 0.2]}}, {}}}}})",
           grown))));
}

/// Promise: a soft body with hair on its skin that falls to the ground comes to the end of its scene.
TEST(HairOnMesh, SoftBodyWithFurIsDropped) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 50, "duration": 0.4, "grid": {{"dx": 0.03}}, "precision": "{}", "materials": {{"rubber": {{
             "model": "fixed_corotated", "density": 1000, "youngs_modulus": 2e4, "poisson_ratio": 0.3}}}},
             "objects": [{{"name": "ball", "type": "solid", "method": "hybrid", "shape": {{"sphere": 0.08}}, "material": "rubber",
                           "element_size": 0.05, "at": [0, 0.2, 0], "velocity": [0, -1, 0]}},
                         {{"name": "fur", "type": "hair", "on": "ball", "radius": 1e-4, "segments": 8, "friction": 0.3,
                           "strands": {{"scalp": {{"count": 80, "length": 0.04, "comb": {{"amount": 0.5}}}}}}}}],
             "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}, "friction": 0.5}}]}})",
        precision));
    std::int64_t steps = 0;
    while (simulation.frame() < 20) {
      simulation.advance_frame();
      steps += simulation.progress().substeps;
    }
    EXPECT_LT(steps, 3000) << precision;
    for (const Vec<double, 3>& x : state_column(simulation, "rod.x")) {
      EXPECT_GT(x[1], -0.02);
      EXPECT_LT(norm(x), 0.4);
    }
  }
}

}  // namespace
}  // namespace tribo::test
