#include "tribo/render/stage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "small_scene.h"
#include "tribo/io/run_info.h"

/// \file
/// Promise: what the frame and the scene hold stands on the stage, where it is, in its own look; and nothing else.

namespace tribo {
namespace {

ViewBounds about_origin() {
  ViewBounds bounds;
  bounds.include(Vec<double, 3>{{-1, -1, -1}});
  bounds.include(Vec<double, 3>{{3, 1, 1}});
  return bounds;
}

Stage stage_of(const Scene& scene, const Frame& frame, const Coloring& coloring = {}) {
  return build_stage(scene, frame, coloring, about_origin());
}
Override collider(const std::string& text) { return {"/colliders", "[" + text + "]"}; }

bool is_red(const Surface& s) { return s.color[0] > 0.99F && s.color[1] < 0.01F && s.color[2] < 0.01F; }

TEST(Stage, HasParticlesAsSpheresAboutItsOrigin) {
  const Scene scene = test::small_scene();
  const Stage stage = stage_of(scene, test::frame_of<double>({0, 0, 0, 1, 2, 3, -1, 0, 0.5}));
  EXPECT_EQ(stage.origin[0], 1);  // the middle of what is shown
  EXPECT_NEAR(stage.radius, std::sqrt(6.0), 1e-6);
  EXPECT_EQ(stage.up[1], 1);
  ASSERT_EQ(stage.spheres.centers.size(), 3U);
  EXPECT_EQ(stage.spheres.surface, (std::vector<std::uint32_t>{0, 1, 0}));
  EXPECT_EQ(stage.spheres.id, (std::vector<std::uint32_t>{0, 1, 2}));
  EXPECT_TRUE(stage.spheres.scale.empty());
  EXPECT_EQ(stage.spheres.centers[1][0], 0);
  EXPECT_EQ(stage.spheres.centers[1][1], 2);
  EXPECT_EQ(stage.spheres.centers[1][2], 3);
  EXPECT_NEAR(stage.spheres.centers[0][3], 0.6 * 0.05, 1e-6);  // eight a cell of 0.1: they just about touch
  ASSERT_EQ(stage.surfaces.size(), 2U);
  EXPECT_TRUE(is_red(stage.surfaces[0]));
  EXPECT_EQ(stage.surfaces[1].color[2], 1);
  EXPECT_TRUE(stage.meshes.empty() && stage.curves.empty() && stage.planes.empty());
}

TEST(Stage, LooksAreThoseOfTheObject) {
  const Scene scene = test::small_scene(
      {{"/objects/1/look", R"({"color": "#ff0000", "roughness": 0.3, "metallic": 0.25, "opacity": 0.5, "size": 2})"}});
  const Stage stage = stage_of(scene, test::frame_of<float>({0, 0, 0, 1, 0, 0}));
  const Surface& surface = stage.surfaces[1];
  EXPECT_TRUE(is_red(surface));
  EXPECT_NEAR(surface.roughness, 0.3, 1e-6);
  EXPECT_NEAR(surface.metallic, 0.25, 1e-6);
  EXPECT_NEAR(surface.opacity, 0.5, 1e-6);
  EXPECT_NEAR(stage.spheres.centers[1][3] / stage.spheres.centers[0][3], 2, 1e-5);
}

TEST(Stage, ColorsByObjectMaterialOrValue) {
  const Scene scene = test::small_scene({{"/objects/1/material", "rubber"}});
  Frame frame = test::frame_of<float>({0, 0, 0, 1, 0, 0});
  frame.columns.push_back(test::array_of<float>("v", 3, {3, 0, 0, 0, 0, 7}));
  const Stage by_object = stage_of(scene, frame, {"object", 0, 1});
  EXPECT_NE(by_object.surfaces[0].color[0], by_object.surfaces[1].color[0]);
  const Stage by_material = stage_of(scene, frame, {"material", 0, 1});
  EXPECT_EQ(by_material.surfaces[0].color[0], by_material.surfaces[1].color[0]);
  EXPECT_EQ(by_material.surfaces[0].color[0], palette_color(0)[0]);
  const Stage by_speed = stage_of(scene, frame, {"velocity", 1, 5});
  ASSERT_EQ(by_speed.spheres.scale.size(), 2U);
  EXPECT_FLOAT_EQ(by_speed.spheres.scale[0], 0.5F);
  EXPECT_FLOAT_EQ(by_speed.spheres.scale[1], 1.5F);
}

TEST(Stage, LeavesOutWhatIsInvisible) {
  for (const char* look : {R"({"visible": false})", R"({"opacity": 0})"}) {
    const Scene scene = test::small_scene(
        {{"/objects/0/look", look},
         collider(std::string(R"({"name": "block", "shape": {"box": [1, 1, 1]}, "look": )") + look + "}, " +
                  R"({"name": "ground", "shape": {"half_space": [0, 1, 0]}, "look": )" + look + "}")});
    Frame frame = test::frame_of<float>({0, 0, 0, 1, 0, 0, 2, 0, 0});
    frame.meshes.push_back({"ball", test::array_of<float>("x", 3, {0, 0, 0, 1, 0, 0, 0, 1, 0}),
                            test::array_of<float>("v", 3, {}),
                            test::array_of<std::int32_t>("triangles", 3, {0, 1, 2})});
    frame.curves.push_back({"ball", test::array_of<float>("x", 3, {0, 0, 0, 1, 0, 0}),
                            test::array_of<float>("v", 3, {}), test::array_of<std::int32_t>("sizes", 1, {2})});
    const Stage stage = stage_of(scene, frame);
    EXPECT_EQ(stage.spheres.surface, (std::vector<std::uint32_t>{1})) << look;
    EXPECT_EQ(stage.spheres.id, (std::vector<std::uint32_t>{1})) << "variation goes by id, not by place";
    EXPECT_TRUE(stage.meshes.empty() && stage.curves.empty() && stage.planes.empty()) << look;
  }
}

TEST(Stage, HasMeshesOfObjectsWithNormals) {
  Frame frame = test::frame_of<float>({});
  frame.meshes.push_back({"pile", test::array_of<double>("x", 3, {1, 0, 0, 2, 0, 0, 2, 1, 0, 1, 1, 0}),
                          test::array_of<double>("v", 3, {}),
                          test::array_of<std::int32_t>("triangles", 3, {0, 1, 2, 0, 2, 3})});
  frame.meshes.push_back(frame.meshes[0]);
  frame.meshes[1].name = "nobody";  // a collider in an exported frame: colliders are drawn from the scene
  const Stage stage = stage_of(test::small_scene(), frame);
  ASSERT_EQ(stage.meshes.size(), 1U);
  const StageMesh& mesh = stage.meshes[0];
  EXPECT_EQ(mesh.surface, 1U);
  EXPECT_FALSE(mesh.clear);
  ASSERT_EQ(mesh.vertices.size(), 4U);
  ASSERT_EQ(mesh.triangles.size(), 2U);
  EXPECT_EQ(mesh.vertices[1][0], 1);  // 2 less the origin
  ASSERT_EQ(mesh.normals.size(), 4U);
  for (const auto& n : mesh.normals) EXPECT_FLOAT_EQ(n[2], 1);
}

/// Two squares that meet at an edge: normals are averaged across a gentle bend, and each has its own at a sharp one.
TEST(Stage, MeshesKeepTheirSharpEdges) {
  const Scene scene = test::small_scene();
  for (const double degrees : {20.0, 60.0}) {
    const double c = std::cos(degrees * 0.017453292519943295), s = std::sin(degrees * 0.017453292519943295);
    Frame frame = test::frame_of<float>({});
    frame.meshes.push_back({"pile",
                            test::array_of<double>("x", 3, {0, 0, 0, 0, 0, 1, -1, 0, 0, -1, 0, 1, c, s, 0, c, s, 1}),
                            test::array_of<double>("v", 3, {}),
                            test::array_of<std::int32_t>("triangles", 3, {0, 2, 1, 1, 2, 3, 0, 1, 4, 1, 5, 4})});
    const Stage stage = stage_of(scene, frame);
    ASSERT_EQ(stage.meshes.size(), 1U);
    const StageMesh& mesh = stage.meshes[0];
    EXPECT_EQ(mesh.vertices.size(), degrees < 40 ? 6U : 8U);
    for (const Vec<std::uint32_t, 3>& t : mesh.triangles) {
      const Vec<float, 3> a = mesh.vertices[t[0]];
      const Vec<float, 3> face = length_and_direction(cross(mesh.vertices[t[1]] - a, mesh.vertices[t[2]] - a)).normal;
      float least = 1;
      for (int k = 0; k < 3; ++k) least = std::min(least, dot(face, mesh.normals[t[k]]));
      if (degrees < 40)
        EXPECT_LT(least, 0.999F);
      else
        EXPECT_GT(least, 0.9999F);
    }
  }
}

TEST(Stage, HasStrandsThroughTheirPoints) {
  Frame frame = test::frame_of<float>({});
  frame.curves.push_back({"ball", test::array_of<float>("x", 3, {0, 0, 0, 1, 0, 0, 1, 1, 0, 5, 0, 0, 5, 0, 1}),
                          test::array_of<float>("v", 3, {}), test::array_of<std::int32_t>("sizes", 1, {3, 2})});
  const Stage stage = stage_of(test::small_scene(), frame);
  ASSERT_EQ(stage.curves.size(), 1U);
  const StageCurves& curves = stage.curves[0];
  EXPECT_EQ(curves.points.size(), 9U);  // two more a strand
  EXPECT_EQ(curves.first, (std::vector<std::uint32_t>{0, 1, 5}));
  EXPECT_EQ(curves.strand, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(curves.points[0][0], -2);  // the mirror image of the second point, less the origin
  EXPECT_EQ(curves.points[1][0], -1);
  EXPECT_EQ(curves.points[4][1], 2);
  EXPECT_GT(curves.points[0][3], 0);
}

/// Strands are as thick as the frame says, and look.size makes them; from afar, as a pixel asks for.
TEST(Stage, StrandsHaveTheirOwnRadii) {
  Frame frame = test::frame_of<float>({});
  frame.curves.push_back({"ball", test::array_of<float>("x", 3, {0, 0, 0, 1, 0, 0}), test::array_of<float>("v", 3, {}),
                          test::array_of<std::int32_t>("sizes", 1, {2}),
                          test::array_of<double>("radius", 1, {0.25, 1e-6})});
  Stage stage = stage_of(test::small_scene({parse_override("/objects/0/look/size=2")}), frame);
  ASSERT_EQ(stage.curves.size(), 1U);
  EXPECT_TRUE(stage.curves[0].fiber);
  EXPECT_FLOAT_EQ(stage.curves[0].points[1][3], 0.5F);
  EXPECT_FLOAT_EQ(stage.curves[0].points[2][3], 2e-6F);
  CameraSpec spec;
  spec.from = stage.origin + Vec<double, 3>{{0, 0, 100}};
  spec.to = stage.origin;
  spec.fov = 60;
  const Camera camera = place_camera(spec, {}, Horizon(Vec<double, 3>{{0, 1, 0}}), 1);
  keep_fibers_visible(stage, camera, 100);
  const double pixel = 2 * 100 * std::tan(30 * std::numbers::pi / 180) / 100;
  EXPECT_FLOAT_EQ(stage.curves[0].points[1][3], 0.5F);
  EXPECT_NEAR(2 * static_cast<double>(stage.curves[0].points[2][3]), 0.7 * pixel, 0.05 * pixel);
}

TEST(Stage, DrawsGroundButNoWallsAndNoCeiling) {
  const Stage stage = stage_of(
      test::small_scene({collider(R"({"name": "ground", "shape": {"half_space": [0, 2, 0]}, "at": [0, -0.5, 0]},
                                     {"name": "slope", "shape": {"half_space": [0.6, 0.8, 0]}},
                                     {"name": "wall", "shape": {"half_space": [1, 0, 0]}},
                                     {"name": "ceiling", "shape": {"half_space": [0, -1, 0]}},
                                     {"name": "lid", "shape": {"half_space": [0, -1, 0]}, "inside": true})")}),
      test::frame_of<float>({}));
  ASSERT_EQ(stage.planes.size(), 3U);
  EXPECT_FLOAT_EQ(stage.planes[0].normal[1], 1);
  EXPECT_FLOAT_EQ(stage.planes[0].offset, -0.5F);
  EXPECT_FLOAT_EQ(stage.planes[1].offset, -0.6F);  // the stage's origin is one to the right
  EXPECT_FLOAT_EQ(stage.planes[2].normal[1], 1);   // one stands inside it
  EXPECT_TRUE(stage.meshes.empty());
  for (const StagePlane& plane : stage.planes) EXPECT_LT(plane.surface, stage.surfaces.size());
}

TEST(Stage, MovesCollidersWithTime) {
  Frame frame = test::frame_of<float>({});
  frame.time = 0.5;
  const Stage stage = stage_of(test::small_scene({collider(R"({"shape": {"box": [2, 2, 2]}, "motion": [
        {"time": 0, "at": [0, 0, 0]}, {"time": 1, "at": [8, 0, 0], "rotation": {"axis": [0, 0, 1], "degrees": 90}}]})")}),
                               frame);
  ASSERT_EQ(stage.meshes.size(), 1U);
  float low = 1e9F, high = -1e9F;
  for (const auto& v : stage.meshes[0].vertices) low = std::min(low, v[0]), high = std::max(high, v[0]);
  EXPECT_NEAR(low, 3 - std::sqrt(2.0), 0.01);  // at 4 less the origin, turned by 45 degrees
  EXPECT_NEAR(high, 3 + std::sqrt(2.0), 0.01);
}

TEST(Stage, AContainerHasClearWallsASolidFloorAndEdges) {
  for (const char* shape : {R"("box": [2, 2, 2])", R"("cylinder": {"radius": 1, "height": 2})", R"("sphere": 1)"}) {
    const Stage stage = stage_of(
        test::small_scene({collider(std::string(R"({"shape": {)") + shape + R"(}, "at": [1, 0, 0], "inside": true})")}),
        test::frame_of<float>({}));
    ASSERT_EQ(stage.meshes.size(), 2U) << shape;
    const StageMesh& floor = stage.meshes[stage.meshes[0].clear ? 1 : 0];
    const StageMesh& walls = stage.meshes[stage.meshes[0].clear ? 0 : 1];
    EXPECT_TRUE(walls.clear);
    EXPECT_FALSE(floor.clear);
    EXPECT_LT(stage.surfaces[walls.surface].opacity, 0.5F);
    EXPECT_EQ(stage.surfaces[floor.surface].opacity, 1);
    for (const auto& t : floor.triangles)
      for (int k = 0; k < 3; ++k) EXPECT_LT(floor.vertices[t[k]][1], 0) << shape;
    // Faces look at what is inside.
    for (const StageMesh* mesh : {&floor, &walls})
      for (const auto& t : mesh->triangles) {
        const Vec<float, 3> a = mesh->vertices[t[0]], b = mesh->vertices[t[1]], c = mesh->vertices[t[2]];
        EXPECT_LT(dot(cross(b - a, c - a), a + b + c), 0) << shape;
      }
    ASSERT_FALSE(stage.curves.empty()) << shape;
    EXPECT_EQ(stage.surfaces[stage.curves[0].surface].opacity, 1);
  }
}

TEST(Stage, ASolidColliderIsOneClosedMesh) {
  const Stage stage = stage_of(test::small_scene({collider(R"({"shape": {"sphere": 1}})")}), test::frame_of<float>({}));
  ASSERT_EQ(stage.meshes.size(), 1U);
  EXPECT_FALSE(stage.meshes[0].clear);
  EXPECT_TRUE(stage.curves.empty());
  for (std::size_t i = 0; i < stage.meshes[0].vertices.size(); ++i) {
    const Vec<float, 3> from_center = stage.meshes[0].vertices[i] + Vec<float, 3>{{1, 0, 0}};
    if (std::abs(from_center[1]) > 0.99F) continue;  // at the poles not every vertex has a triangle
    EXPECT_GT(dot(stage.meshes[0].normals[i], from_center), 0.99F);
  }
}

TEST(Stage, ASurfaceLookIsASkinUnlessColorsShowAValue) {
  const Scene scene = test::small_scene({{"/objects/0/look", R"({"as": "surface"})"}});
  Frame frame = test::frame_of<float>({0, 0, 0, 1, 0, 0, 0.05F, 0, 0});
  frame.columns.push_back(test::array_of<float>("strain", 1, {0, 0, 0}));
  const Stage stage = stage_of(scene, frame);
  EXPECT_EQ(stage.spheres.centers.size(), 1U);
  ASSERT_EQ(stage.meshes.size(), 1U);
  EXPECT_EQ(stage.meshes[0].surface, 0U);
  EXPECT_EQ(stage.meshes[0].normals.size(), stage.meshes[0].vertices.size());
  const Stage by_value = stage_of(scene, frame, {"strain", 0, 1});
  EXPECT_EQ(by_value.spheres.centers.size(), 3U);
  EXPECT_TRUE(by_value.meshes.empty());
}

TEST(Stage, EdgesOfRoundContainersAreTheirRimsAlone) {
  for (const char* shape : {R"({"cylinder": {"radius": 0.5, "height": 1}})", R"({"sphere": 0.5})"}) {
    const Scene scene =
        test::small_scene({collider(fmt::format(R"({{"shape": {}, "at": [1, 0, 0], "inside": true}})", shape))});
    const Stage stage = stage_of(scene, test::frame_of<float>({1, 0, 0}));
    for (const StageCurves& edges : stage.curves) {
      EXPECT_TRUE(edges.clear);  // no shadows
      for (const std::uint32_t first : edges.first) {
        const Vec<float, 4> a = edges.points[first + 1], b = edges.points[first + 2];
        // No spoke to the axis, on which the origin of the stage lies.
        EXPECT_GT(std::hypot(0.5F * (a[0] + b[0]), 0.5F * (a[2] + b[2])), 0.35F) << shape;
      }
    }
  }
}

TEST(Stage, TakesFramesInThePlane) {
  Scene scene = test::small_scene({collider(R"({"shape": {"box": [1, 1, 1]}})")});
  scene.dimension = 2;
  Frame frame = test::frame_of<double>({0, 1, 2, 3}, 2);
  frame.columns.push_back(test::array_of<double>("v", 2, {3, 4, 0, 1}));
  const Stage stage = stage_of(scene, frame, {"velocity", 0, 5});
  ASSERT_EQ(stage.spheres.centers.size(), 2U);
  EXPECT_EQ(stage.spheres.centers[1][0], 1);
  EXPECT_EQ(stage.spheres.centers[1][1], 3);
  EXPECT_EQ(stage.spheres.centers[1][2], 0);
  EXPECT_FLOAT_EQ(stage.spheres.scale[0], 1);
  // The collider is a sheet behind the particles: the square, and nothing but it.
  ASSERT_EQ(stage.meshes.size(), 1U);
  const StageMesh& sheet = stage.meshes[0];
  double area = 0;
  for (const Vec<std::uint32_t, 3>& t : sheet.triangles) {
    const Vec<float, 3> a = sheet.vertices[t[0]], b = sheet.vertices[t[1]], c = sheet.vertices[t[2]];
    area += 0.5 * static_cast<double>(cross(b - a, c - a)[2]);  // counterclockwise, toward the camera
    EXPECT_LT(a[2], -stage.spheres.centers[0][3]);
  }
  EXPECT_NEAR(area, 1, 0.02);
}

}  // namespace
}  // namespace tribo
