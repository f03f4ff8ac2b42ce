#include "tribo/colliders/mesh.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "../io/scratch.h"
#include "../mesh/make_mesh.h"
#include "tribo/colliders/all.h"
#include "tribo/mesh/curvature.h"
#include "tribo/scene/read_shape.h"
#include "tribo/scene/reader.h"

namespace tribo {
namespace {

using namespace test;
using P = Vec<double, 3>;

Mesh mesh_of(const PolygonMesh& polygons, double spacing) {
  return {solid_from(polygons.polygons(), 1, "mesh"), spacing};
}

template <class AnyShape>
std::vector<SurfacePoint<double, 3>> contacts(const AnyShape& shape, const P& p, bool inside) {
  std::vector<SurfacePoint<double, 3>> found;
  shape.each_contact(p, inside, 1e-6, [&](const SurfacePoint<double, 3>& s) { found.push_back(s); });
  return found;
}

TEST(Mesh, ContainerOfABoxHasTheWallsOfTheBox) {
  const Mesh mesh = mesh_of(make_box(1, 1, 1), 0.02);
  // Beyond a wall, an edge and a corner: one, two and three walls, each with its own normal.
  const P places[] = {{{0.53, 0.1, 0.2}}, {{0.53, -0.54, 0.2}}, {{0.53, -0.54, 0.55}}, {{0.5, -0.5, 0}}};
  const std::size_t walls[] = {1, 2, 3, 2};
  for (int i = 0; i < 4; ++i) {
    const auto found = contacts(mesh, places[i], true);
    ASSERT_EQ(found.size(), walls[i]) << i;
    for (const auto& s : found) {
      int axis = 0;
      for (int k = 1; k < 3; ++k)
        if (std::abs(s.normal[k]) > std::abs(s.normal[axis])) axis = k;
      EXPECT_GT(std::abs(s.normal[axis]), 0.995);
      EXPECT_LT(s.normal[axis] * places[i][axis], 0);  // inward
      EXPECT_NEAR(s.distance, 0.5 - std::abs(places[i][axis]), 0.01);
    }
  }
  EXPECT_TRUE(contacts(mesh, {{0.45, 0.45, 0.45}}, true).empty());
}

TEST(Mesh, ObstacleHasOneNormalAtItsEdges) {
  const Mesh mesh = mesh_of(make_box(1, 1, 1), 0.02);
  const auto found = contacts(mesh, {{0.48, 0.1, 0.2}}, false);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NEAR(found[0].normal[0], 1, 1e-6);
  EXPECT_NEAR(found[0].distance, -0.02, 1e-6);
  // Near an edge within the solid it is the nearer face alone that pushes out.
  const auto edge = contacts(mesh, {{0.48, 0.44, 0.2}}, false);
  ASSERT_EQ(edge.size(), 1u);
  EXPECT_GT(edge[0].normal[0], 0.99);
  EXPECT_TRUE(contacts(mesh, {{0.52, 0.1, 0.2}}, false).empty());
}

/// However far ahead one looks, planes of walls do not reach beyond their ends: one wall before a face or beside an
/// edge, two in a valley.
TEST(Mesh, WallsEndWhereTheyDo) {
  const auto ahead = [](const Mesh& mesh, const P& p) {
    std::size_t count = 0;
    mesh.each_contact(p, false, 0.3, [&](const SurfacePoint<double, 3>& s) {
      EXPECT_NEAR(s.distance, mesh.nearest(p).distance, 0.02);
      ++count;
    });
    return count;
  };
  const Mesh box = mesh_of(make_box(1, 1, 1), 0.02);
  for (const double y : {0.3, 0.44, 0.47, 0.49}) EXPECT_EQ(ahead(box, {{0.53, y, 0.2}}), 1u) << y;
  const Mesh stairs = mesh_of(joined(make_box(1, 1, 1), make_box(1, 1, 1), {{0.5, 1, 0}}), 0.02);
  EXPECT_EQ(ahead(stairs, {{-0.04, 0.54, 0}}), 2u);
  EXPECT_EQ(ahead(stairs, {{-0.04, 1.46, 0}}), 1u);
}

/// A mesh says how it bends, and is sampled more finely where hair asks for it, unless its scene says how.
TEST(Mesh, IsRefined) {
  const Solid ball = solid_from(make_ball(0.1, 4).polygons(), 1, "ball");
  EXPECT_NEAR(surface_curvature(ball.mesh, 0.5), 10, 1);
  EXPECT_NEAR(surface_curvature(ball.mesh, 0.9), 10, 2);
  EXPECT_NEAR(surface_curvature(solid_from(make_box(1, 1, 1).polygons(), 1, "box").mesh, 0.2), 0, 1e-12);
  Mesh mesh(ball, 0.05);
  const Mesh copy = mesh;
  mesh.refine(0.01);
  mesh.refine(0.02);
  EXPECT_EQ(mesh.wanted_spacing(), 0.01);
  EXPECT_EQ(copy.wanted_spacing(), 0.01);
  Mesh given(ball, 0.05, false);
  given.refine(0.01);
  EXPECT_EQ(given.wanted_spacing(), 0.05);
}

/// In a scene with hair, sqrt(8 r / k) within an eighth and a half of a segment.
TEST(Mesh, IsSampledForHair) {
  const Scratch scratch;
  write_bytes(scratch / "ball.obj", as_obj(make_ball(0.1, 4)));
  const auto spacing = [&](double radius, int segments, const char* more) {
    const Scene scene = parse_scene(
        R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.1}, "objects": [{"type": "hair", "on": "ball", "radius": )" +
            number_text(radius) + R"(, "segments": )" + std::to_string(segments) +
            R"(, "strands": {"scalp": {"length": 0.08}}}], "colliders": [{"name": "ball", "shape": {"mesh": {"file":
            "ball.obj")" +
            more + "}}}]}",
        scratch / "scene.json");
    return std::get<Mesh>(scene.colliders[0].shape).wanted_spacing();
  };
  EXPECT_NEAR(spacing(1e-6, 20, ""), std::sqrt(8e-6 / 10), 5e-5);
  EXPECT_DOUBLE_EQ(spacing(1e-4, 20, ""), 0.002);   // half of 4 mm
  EXPECT_DOUBLE_EQ(spacing(1e-8, 20, ""), 0.0005);  // an eighth
  EXPECT_DOUBLE_EQ(spacing(1e-4, 20, R"(, "resolution": 0.03)"), 0.03);
}

TEST(Mesh, SurfaceIsItsTrianglesWithCreases) {
  const Mesh mesh = mesh_of(make_box(1, 1, 1), 0.1);
  EXPECT_EQ(mesh.surface().triangles.size(), 12u);
  EXPECT_EQ(mesh.surface().vertices.size(), 24u);  // four a face
  const Mesh round = mesh_of(make_ball(1, 3), 0.1);
  EXPECT_EQ(round.surface().vertices.size(), round.solid().mesh.vertices.size());  // none doubled
  EXPECT_NEAR(round.volume(3), 4.0 / 3 * 3.14159265358979, 0.05);
}

std::string scene_with(const std::string& mesh, const char* more = "") {
  return R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.1},)" + std::string(more) +
         R"("objects": [{"type": "particles", "shape": {"sphere": 0.5}, "material": "jelly"}],
           "colliders": [{"name": "thing", "shape": {"mesh": )" +
         mesh + "}}]}";
}
const Mesh& mesh_in(const Scene& scene) { return std::get<Mesh>(scene.colliders[0].shape); }
std::string said(const std::string& text, const std::string& file) {
  try {
    parse_scene(text, file);
  } catch (const SceneError& error) {
    EXPECT_EQ(error.findings().size(), 1u);
    return error.findings()[0].text();
  }
  return "";
}

TEST(Mesh, IsReadBesideTheScene) {
  const Scratch scratch;
  write_bytes(scratch / "box.obj", as_obj(make_box(2, 2, 2)));
  const Scene scene = parse_scene(scene_with(R"("box.obj")"), scratch / "scene.json");
  EXPECT_EQ(mesh_in(scene).file(), "box.obj");
  EXPECT_EQ(mesh_in(scene).wanted_spacing(), 0.05);  // half of dx
  EXPECT_NEAR(mesh_in(scene).volume(3), 8, 1e-12);
  const Scene other =
      parse_scene(scene_with(R"({"file": "box.obj", "scale": 0.5, "resolution": 0.2})"), scratch / "scene.json");
  EXPECT_EQ(mesh_in(other).wanted_spacing(), 0.2);
  EXPECT_NEAR(mesh_in(other).volume(3), 1, 1e-12);
  // The resolved scene gives the same scene again.
  EXPECT_EQ(parse_scene(scene.resolved_json, scratch / "scene.json").resolved_json, scene.resolved_json);
}

TEST(Mesh, ThatHasChangedIsRefusedUnlessACopyIsKept) {
  const Scratch scratch;
  write_bytes(scratch / "box.obj", as_obj(make_box(2, 2, 2)));
  const Scene scene = parse_scene(scene_with(R"("box.obj")"), scratch / "scene.json");
  ASSERT_EQ(mesh_in(scene).copies().size(), 1U);
  const auto [kept, bytes] = mesh_in(scene).copies()[0];

  write_bytes(scratch / "box.obj", as_obj(make_box(2, 2, 3)));
  EXPECT_THROW(mesh_in(scene).copies(), IoError);
  EXPECT_NE(said(scene.resolved_json, scratch / "scene.json").find("has changed since the scene was written"),
            std::string::npos);
  std::filesystem::remove(scratch / "box.obj");
  EXPECT_NE(said(scene.resolved_json, scratch / "scene.json").find("there is no such file"), std::string::npos);

  std::filesystem::create_directory(scratch / "meshes");
  write_bytes(scratch / kept, bytes);
  EXPECT_NEAR(mesh_in(parse_scene(scene.resolved_json, scratch / "scene.json")).volume(3), 8, 1e-12);
  write_bytes(scratch / kept, as_obj(make_box(2, 2, 3)));  // a copy that is none
  EXPECT_NE(said(scene.resolved_json, scratch / "scene.json").find("there is no such file"), std::string::npos);
}

TEST(Mesh, MistakesNameSceneAndFile) {
  const Scratch scratch;
  PolygonMesh sheet = make_box(2, 2, 2);
  sheet.faces.resize(1);
  write_bytes(scratch / "sheet.obj", as_obj(sheet));
  write_bytes(scratch / "box.obj", as_obj(make_box(2, 2, 2)));
  const std::string file = scratch / "scene.json";
  EXPECT_TRUE(contains(said(scene_with(R"("sheet.obj")"), file),
                       "/colliders/0/shape/mesh: " + (scratch / "sheet.obj") + ": encloses no volume"));
  EXPECT_TRUE(contains(said(scene_with(R"("none.obj")"), file), "there is no such file"));
  EXPECT_TRUE(contains(said(scene_with(R"("")"), file), "expected the name of a mesh file"));
  EXPECT_TRUE(contains(said(scene_with(R"({"file": "box.obj", "scale": 0})"), file), "/scale: expected a number > 0"));
  EXPECT_TRUE(contains(said(scene_with(R"("box.obj")", R"("dimension": 2, )"), file),
                       "/colliders/0/shape: expected another shape than a mesh in two dimensions"));
}

}  // namespace
}  // namespace tribo
