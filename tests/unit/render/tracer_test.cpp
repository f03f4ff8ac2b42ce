#include "tribo/render/tracer.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "small_scene.h"
#include "tribo/setup/appearance.h"

/// \file
/// Promise: a picture shows what stands on the stage, where it stands, lit by one sun, without a trace of how many
/// threads drew it or how odd the input was.

namespace tribo {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

struct Rgb {
  double r, g, b;
  double sum() const { return r + g + b; }
};

class Tracing : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_render()) GTEST_SKIP() << "built without Embree";
    stage.surfaces = {{{{0.8F, 0.02F, 0.02F}}, 0.9F, 0, 1, 0}, {{{0.7F, 0.7F, 0.7F}}, 0.9F, 0, 1, 0}};
    options.width = 64;
    options.height = 48;
    options.samples = 16;
    options.sun = {{0, 1, 0}};
    look_from({{0, 0, 8}});
  }

  void look_from(const Vec<double, 3>& from) {
    CameraSpec spec;
    spec.from = from;
    spec.to = Vec<double, 3>::zero();
    spec.fov = 30;
    camera = place_camera(spec, {}, Horizon(Vec<double, 3>{{0, 1, 0}}), 4.0 / 3);
  }
  void add_sphere(const Vec<float, 3>& at, float radius, std::uint32_t surface = 0) {
    stage.spheres.centers.push_back({{at[0], at[1], at[2], radius}});
    stage.spheres.surface.push_back(surface);
    stage.spheres.id.push_back(static_cast<std::uint32_t>(stage.spheres.id.size()));
  }
  StageMesh& add_mesh(const std::vector<Vec<float, 3>>& vertices, const std::vector<Vec<std::uint32_t, 3>>& triangles) {
    StageMesh mesh;
    mesh.vertices = vertices;
    mesh.triangles = triangles;
    mesh.normals.assign(vertices.size(), {{0, 0, 1}});
    stage.meshes.push_back(mesh);
    return stage.meshes.back();
  }
  /// A square in the plane z, facing the viewer.
  StageMesh& add_square(float x, float y, float z, float half) {
    return add_mesh(
        {{{x - half, y - half, z}}, {{x + half, y - half, z}}, {{x + half, y + half, z}}, {{x - half, y + half, z}}},
        {{{0, 1, 2}}, {{0, 2, 3}}});
  }
  void add_strand(const std::vector<Vec<float, 3>>& points, float radius) {
    StageCurves curves;
    const auto add = [&](const Vec<float, 3>& p) { curves.points.push_back({{p[0], p[1], p[2], radius}}); };
    add(2.0F * points[0] - points[1]);
    for (const auto& p : points) add(p);
    add(2.0F * points.back() - points[points.size() - 2]);
    for (std::uint32_t i = 0; i + 1 < points.size(); ++i) {
      curves.first.push_back(i);
      curves.strand.push_back(0);
    }
    stage.curves.push_back(curves);
  }

  Picture draw() const {
    const auto picture = trace(stage, camera, options);
    EXPECT_TRUE(picture);
    EXPECT_EQ(picture->rgb.size(), 3U * static_cast<std::size_t>(options.width * options.height));
    return *picture;
  }
  /// Mean over a square of pixels about a point of the stage.
  Rgb seen_at(const Picture& picture, const Vec<double, 3>& point, int reach = 1) const {
    const Vec<double, 3> d = point - camera.from;
    const double depth = dot(d, camera.forward), aspect = static_cast<double>(picture.width) / picture.height;
    const double px = dot(d, camera.right) / (depth * camera.tan_half_fov * aspect);
    const double py = dot(d, camera.up) / (depth * camera.tan_half_fov);
    const int x = static_cast<int>((px + 1) / 2 * picture.width), y = static_cast<int>((1 - py) / 2 * picture.height);
    Rgb mean{0, 0, 0};
    const int side = 2 * reach + 1;
    for (int i = y - reach; i <= y + reach; ++i)
      for (int j = x - reach; j <= x + reach; ++j) {
        EXPECT_TRUE(i >= 0 && i < picture.height && j >= 0 && j < picture.width);
        const std::uint8_t* const p = &picture.rgb[3 * static_cast<std::size_t>(i * picture.width + j)];
        mean = {mean.r + p[0], mean.g + p[1], mean.b + p[2]};
      }
    return {mean.r / (side * side), mean.g / (side * side), mean.b / (side * side)};
  }
  static bool is_red(const Rgb& c) { return c.r > 60 && c.r > 1.8 * c.g && c.r > 1.8 * c.b; }
  static bool is_backdrop(const Rgb& c) { return c.r > 190 && c.g > 190 && c.b > 190; }
  /// Mean difference of two pictures, in steps of 255.
  static double difference(const Picture& a, const Picture& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.rgb.size(); ++i) sum += a.rgb[i] - static_cast<double>(b.rgb[i]);
    return sum / static_cast<double>(a.rgb.size());
  }

  Stage stage;
  Camera camera;
  TraceOptions options;
};

TEST_F(Tracing, TheFloorOfAContainerIsSeenFromItsFrontOnly) {
  add_sphere({{0, 0, 0}}, 0.3F);
  StageMesh& floor = add_square(0, 0, 1, 3);  // between camera and ball
  floor.one_sided = true;
  floor.surface = static_cast<std::uint32_t>(stage.surfaces.size());
  stage.surfaces.emplace_back();  // gray
  EXPECT_FALSE(is_red(seen_at(draw(), {{0, 0, 0}})));
  for (auto& t : stage.meshes[0].triangles) std::swap(t[1], t[2]);
  for (auto& n : stage.meshes[0].normals) n = -n;
  EXPECT_TRUE(is_red(seen_at(draw(), {{0, 0, 0}})));
}

TEST_F(Tracing, RodsOfContainersAreSeenButThrowNoShadow) {
  stage.planes.push_back({{{0, 1, 0}}, -0.5F, 0});
  const Picture bare = draw();
  add_strand({{{-4, 2.5F, 0}}, {{4, 2.5F, 0}}}, 0.4F);
  stage.curves[0].clear = true;
  const Picture clear = draw();
  stage.curves[0].clear = false;
  const Picture solid = draw();
  const auto ground_of = [&](const Picture& p) {  // rows of the lower half
    double sum = 0;
    for (std::size_t i = p.rgb.size() / 2; i < p.rgb.size(); ++i) sum += p.rgb[i];
    return sum / static_cast<double>(p.rgb.size() / 2);
  };
  EXPECT_NEAR(ground_of(clear), ground_of(bare), 0.5);
  EXPECT_LT(ground_of(solid), ground_of(bare) - 1);
}

TEST_F(Tracing, AnEmptyStageIsBackdropEverywhere) {
  const Picture picture = draw();
  for (const double x : {-2.0, 0.0, 2.0})
    for (const double y : {-1.5, 0.0, 1.5}) EXPECT_TRUE(is_backdrop(seen_at(picture, {{x, y, 0}})));
}

TEST_F(Tracing, ARedSphereIsRedWhereItIs) {
  add_sphere({{1, 0.5F, 0}}, 0.6F);
  const Picture picture = draw();
  EXPECT_TRUE(is_red(seen_at(picture, {{1, 0.5, 0}})));
  EXPECT_TRUE(is_red(seen_at(picture, {{1, 0.9, 0}})));
  EXPECT_TRUE(is_backdrop(seen_at(picture, {{1, -0.5, 0}})));
  EXPECT_TRUE(is_backdrop(seen_at(picture, {{-1, 0.5, 0}})));
  EXPECT_TRUE(is_backdrop(seen_at(picture, {{0, 0.5, 0}})));
}

TEST_F(Tracing, TheStageMayBeFarFromTheOriginOfTheScene) {
  add_sphere({{0, 0, 0}}, 0.6F);
  const Picture near = draw();
  stage.origin = {{1e6, -3e5, 2e6}};
  camera.from = camera.from + stage.origin;
  EXPECT_EQ(draw().rgb, near.rgb);
}

TEST_F(Tracing, AMeshIsSeenWhereItIsFromBothSides) {
  add_square(-1, 0, 0, 0.5F);
  add_mesh({{{0.5F, -0.5F, 0}}, {{0.5F, 0.5F, 0}}, {{1.5F, 0.5F, 0}}, {{1.5F, -0.5F, 0}}},
           {{{0, 1, 2}}, {{0, 2, 3}}});  // its back to the viewer
  const Picture picture = draw();
  EXPECT_TRUE(is_red(seen_at(picture, {{-1, 0, 0}})));
  EXPECT_TRUE(is_red(seen_at(picture, {{1, 0, 0}})));
  EXPECT_TRUE(is_backdrop(seen_at(picture, {{0, 0, 0}})));
  EXPECT_TRUE(is_backdrop(seen_at(picture, {{-1, 1, 0}})));
}

/// Light from behind goes through hair, and around a rod it does not.
TEST_F(Tracing, FibersLetLightThrough) {
  options.sun = {{0, 0, -1}};
  options.samples = 64;
  add_strand({{{-4, 0, 0}}, {{4, 0, 0}}}, 0.3F);
  const Rgb rod = seen_at(draw(), {{0, 0, 0}});
  stage.curves[0].fiber = true;
  const Rgb fiber = seen_at(draw(), {{0, 0, 0}});
  EXPECT_GT(fiber.r, rod.r + 15);
  EXPECT_GT(fiber.r, 2 * fiber.g) << "in its own color";
}

/// The highlight of a fiber is where eye and light are at mirrored angles to its cross-section, whichever side of it
/// faces them: seen along the light it is there only where the fiber is across.
TEST_F(Tracing, FibersShineAcrossThemselves) {
  stage.surfaces[0] = {{{0.05F, 0.05F, 0.05F}}, 0.1F, 0, 1, 0};
  options.sun = {{0, 0, 1}};
  options.samples = 64;
  const auto brightness = [&](float slope) {
    stage.curves.clear();
    add_strand({{{-2, 0, -2 * slope}}, {{2, 0, 2 * slope}}}, 0.3F);
    stage.curves[0].fiber = true;
    return seen_at(draw(), {{0, 0, 0}}).sum();
  };
  EXPECT_GT(brightness(0), 1.2 * brightness(0.7F));
}

TEST_F(Tracing, AStrandIsSeenAlongAllOfIt) {
  add_strand({{{-1.5F, -1, 0}}, {{-1.5F, 1, 0}}, {{1.5F, 1, 0}}}, 0.2F);
  const Picture picture = draw();
  for (const Vec<double, 3>& p :
       {Vec<double, 3>{{-1.5, -0.9, 0}}, Vec<double, 3>{{-1.5, 1, 0}}, Vec<double, 3>{{1.4, 1, 0}}})
    EXPECT_TRUE(is_red(seen_at(picture, p)));
  EXPECT_TRUE(is_backdrop(seen_at(picture, {{0, 0, 0}})));
  EXPECT_TRUE(is_backdrop(seen_at(picture, {{1.5, -0.5, 0}})));
}

TEST_F(Tracing, WhatIsNearerHidesWhatIsBehind) {
  add_sphere({{0, 0, 0}}, 0.5F);
  add_square(0, 0, 1, 0.6F).surface = 1;
  const Rgb c = seen_at(draw(), {{0, 0, 1}});
  EXPECT_NEAR(c.r, c.b, 0.15 * c.r);
}

TEST_F(Tracing, TheGroundIsDarkerInTheShadow) {
  stage.planes.push_back({{{0, 1, 0}}, -1, 1});
  add_sphere({{0, 0.5F, 0}}, 0.5F);
  look_from({{0, 5, 10}});
  const Picture picture = draw();
  const double below = seen_at(picture, {{0, -1, 0}}, 0).sum();
  const double beside = seen_at(picture, {{1.6, -1, 0}}).sum();
  EXPECT_LT(below, 0.75 * beside);
  // The shadow goes where the sun says.
  options.sun = {{-std::sqrt(0.5), std::sqrt(0.5), 0}};
  const Picture slanted = draw();
  EXPECT_LT(seen_at(slanted, {{1.5, -1, 0}}, 0).sum(), 0.75 * seen_at(slanted, {{-1.5, -1, 0}}).sum());
}

TEST_F(Tracing, ASunBelowTheGroundLightsNothing) {
  stage.planes.push_back({{{0, 1, 0}}, -1, 1});
  look_from({{0, 5, 10}});
  const double day = seen_at(draw(), {{0, -1, 0}}).sum();
  options.sun = {{0, -1, 0}};
  const double night = seen_at(draw(), {{0, -1, 0}}).sum();
  EXPECT_LT(night, 0.85 * day);
  EXPECT_GT(night, 30);  // the sky is still there
}

TEST_F(Tracing, NothingIsSeenOfWhatHasNoOpacity) {
  const Picture empty = draw();
  stage.surfaces[0].opacity = 0;
  add_sphere({{0, 0, 0}}, 0.6F);
  add_square(1, 0, 0.2F, 0.6F);
  EXPECT_EQ(draw().rgb, empty.rgb);
  for (int i = 0; i < 500; ++i) add_sphere({{0, 0, -0.02F * static_cast<float>(i)}}, 0.6F);  // nor when there is much
  EXPECT_EQ(draw().rgb, empty.rgb);
}

TEST_F(Tracing, AThinVeilIsThinHoweverManyThereAre) {
  stage.planes.push_back({{{0, 0, 1}}, -3, 1});
  stage.surfaces[0].opacity = 0.002F;
  for (int i = 0; i < 100; ++i) add_square(0, 0, 0.01F * static_cast<float>(i), 3);
  options.width = 24;
  options.height = 18;
  options.samples = 32;
  options.sun = {{0, 0, 1}};
  const Rgb c = seen_at(draw(), {{0, 0, 0}}, 5);
  EXPECT_LT(c.r, 1.35 * c.b);  // a fifth of red, not all red
}

TEST_F(Tracing, HalfOpacityIsBetween) {
  add_square(0, 0, 0, 1);
  options.samples = 256;
  options.sun = {{0, 0, 1}};
  const Rgb solid = seen_at(draw(), {{0, 0, 0}}, 3);
  stage.surfaces[0].opacity = 0.5F;
  const Rgb half = seen_at(draw(), {{0, 0, 0}}, 3);
  stage.surfaces[0].opacity = 0;
  const Rgb none = seen_at(draw(), {{0, 0, 0}}, 3);
  EXPECT_GT(half.g, solid.g + 0.3 * (none.g - solid.g));
  EXPECT_LT(half.g, none.g - 5);
}

TEST_F(Tracing, ShadowsAreAsDeepAsWhatThrowsThemIsSolid) {
  stage.planes.push_back({{{0, 1, 0}}, -1, 1});
  stage.surfaces.push_back(stage.surfaces[1]);
  add_sphere({{0, 2.5F, 0}}, 0.8F, 2);  // out of the picture
  look_from({{0, 3, 10}});
  options.samples = 64;
  const auto shade = [&](float opacity) {
    stage.surfaces[2].opacity = opacity;
    return seen_at(draw(), {{0, -1, 0}}, 2).sum();
  };
  const double none = shade(0), half = shade(0.3F), solid = shade(1);
  EXPECT_LT(half, none - 5);
  EXPECT_LT(solid, half - 5);
}

TEST_F(Tracing, AClearWallHidesNothing) {
  stage.surfaces.push_back({{{0.7F, 0.7F, 0.7F}}, 0.9F, 0, 0.1F, 0});
  add_sphere({{0, 0, 0}}, 0.6F);
  const Rgb bare = seen_at(draw(), {{0, 0, 0}});
  StageMesh& wall = add_square(0, 0, 2, 3);
  wall.surface = 2;
  wall.clear = true;
  const Rgb behind = seen_at(draw(), {{0, 0, 0}});
  EXPECT_TRUE(is_red(behind));
  EXPECT_NEAR(behind.r, bare.r, 0.2 * bare.r);
  // Seen from behind it is not there at all, and it throws no shadow.
  look_from({{0, 0, -8}});
  const Picture with = draw();
  stage.meshes.clear();
  EXPECT_EQ(with.rgb, draw().rgb);
}

TEST_F(Tracing, LightPassesThroughWholesOfGlass) {
  stage.surfaces.push_back({{{0.7F, 0.7F, 0.7F}}, 0.9F, 0, 0.1F, 0});
  stage.planes.push_back({{{0, 1, 0}}, -1, 1});
  look_from({{0, 3, 10}});
  const double bare = seen_at(draw(), {{0, -1, 0}}).sum();
  StageMesh& lid = add_mesh({{{-9, 5, -9}}, {{9, 5, -9}}, {{9, 5, 9}}, {{-9, 5, 9}}}, {{{0, 1, 2}}, {{0, 2, 3}}});
  lid.surface = 2;
  lid.clear = true;
  EXPECT_NEAR(seen_at(draw(), {{0, -1, 0}}).sum(), bare, 0.05 * bare);
}

TEST_F(Tracing, VariationGoesWithTheParticle) {
  stage.surfaces[0].variation = 0.5F;
  const auto brightness = [&](std::uint32_t id) {
    stage.spheres = {};
    add_sphere({{0, 0, 0}}, 1);
    stage.spheres.id[0] = id;
    return seen_at(draw(), {{0, 0, 0}}).r;
  };
  double low = 255, high = 0;
  for (std::uint32_t id = 0; id < 12; ++id) {
    low = std::min(low, brightness(id));
    high = std::max(high, brightness(id));
  }
  EXPECT_GT(high - low, 20);
  EXPECT_EQ(brightness(3), brightness(3));
  stage.surfaces[0].variation = 0;
  EXPECT_EQ(brightness(1), brightness(2));
}

TEST_F(Tracing, ExposureBrightens) {
  add_sphere({{0, 0, 0}}, 1);
  const double before = seen_at(draw(), {{0, 0, 0}}).sum();
  options.exposure = 2;
  EXPECT_GT(seen_at(draw(), {{0, 0, 0}}).sum(), 1.2 * before);
}

// Particles of large runs are a ten-thousandth of the picture: rays that leave them must not meet them again.
TEST_F(Tracing, SmallParticlesAreAsBrightAsLargeOnes) {
  stage.radius = 3;
  options.sun = {{0, 0, 1}};
  const auto brightness = [&](float radius, const Vec<float, 3>& at) {
    stage.spheres = {};
    add_sphere(at, radius, 1);
    camera.from = cast<double>(at) + Vec<double, 3>{{0, 0, 8}};
    camera.tan_half_fov = 1.5 * radius / 8;
    return seen_at(draw(), cast<double>(at), 6).sum();
  };
  const double large = brightness(1, {{0, 0, 0}});
  for (const float radius : {0.1F, 0.01F, 1e-3F, 3e-4F}) {
    EXPECT_NEAR(brightness(radius, {{0, 0, 0}}), large, 0.03 * large) << radius;
    EXPECT_NEAR(brightness(radius, {{1.7F, -1.1F, 2.3F}}), large, 0.03 * large) << radius;
  }
}

TEST_F(Tracing, StopsWithoutAPicture) {
  std::atomic<bool> stop{true};
  options.stop = &stop;
  EXPECT_FALSE(trace(stage, camera, options));
  stop = false;
  double most = 0;
  int calls = 0;
  options.on_progress = [&](double share) {
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 1);
    most = std::max(most, share);
    if (++calls == 2) stop = true;
  };
  EXPECT_FALSE(trace(stage, camera, options));
  EXPECT_GT(most, 0);
}

TEST_F(Tracing, IsTheSameOnAnyNumberOfThreads) {
  stage.planes.push_back({{{0, 1, 0}}, -1, 1});
  stage.surfaces[0].opacity = 0.6F;
  stage.surfaces[0].variation = 0.3F;
  for (int i = 0; i < 200; ++i)
    add_sphere({{0.2F * static_cast<float>(i % 10) - 1, 0.1F * static_cast<float>(i / 10) - 1, 0}}, 0.12F);
  add_square(1, 0, -1, 0.5F);
  add_strand({{{-1, 0, 1}}, {{0, 1, 1}}, {{1, 0, 1}}}, 0.1F);
  options.samples = 8;
  const auto drawn_on = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return draw();
  };
  const Picture one = drawn_on(1);
  EXPECT_EQ(drawn_on(2).rgb, one.rgb);
  EXPECT_EQ(drawn_on(5).rgb, one.rgb);
}

// More samples take noise away and nothing else. Pixels are displayed values, of which noise shifts the mean a little.
TEST_F(Tracing, MoreSamplesGiveTheSamePictureWithLessNoise) {
  stage.planes.push_back({{{0, 1, 0}}, -1, 1});
  add_sphere({{0, 0, 0}}, 1);
  look_from({{2, 3, 8}});
  const auto drawn = [&](int samples) {
    options.samples = samples;
    return draw();
  };
  const Picture few = drawn(16), some = drawn(64), many = drawn(256);
  EXPECT_NEAR(difference(some, many), 0, 0.25);
  const auto noise = [&](const Picture& picture) {
    double sum = 0;
    for (std::size_t i = 0; i < picture.rgb.size(); ++i) sum += std::abs(picture.rgb[i] - many.rgb[i]);
    return sum / static_cast<double>(picture.rgb.size());
  };
  EXPECT_LT(noise(some), 3);
  EXPECT_LT(noise(some), noise(few));
}

// A white furnace: in even light a white body without sun is as bright as what lights it, neither gaining nor losing.
TEST_F(Tracing, NoSurfaceGivesMoreLightThanItGets) {
  options.sun = {{0, -1, 0}};
  options.samples = 64;
  stage.planes.push_back({{{0, 1, 0}}, -1, 1});
  for (const float roughness : {0.0F, 0.3F, 1.0F})
    for (const float metallic : {0.0F, 1.0F}) {
      stage.spheres = {};
      stage.surfaces[0] = {{{1, 1, 1}}, roughness, metallic, 1, 0};
      add_sphere({{0, 0, 0}}, 1);
      const Rgb c = seen_at(draw(), {{0, 0.5, 0.8}}, 2);
      EXPECT_LT(c.r, 215) << roughness << " " << metallic;  // the sky's brightest part is displayed as that
      EXPECT_GT(c.r, 60) << roughness << " " << metallic;
    }
}

TEST_F(Tracing, DegenerateInputIsDrawnAsIfItWereNotThere) {
  add_sphere({{0, 0, 0}}, 0.5F);
  const Picture good = draw();
  add_mesh({{{1, 1, 0}}, {{1, 1, 0}}, {{1, 1, 0}}, {{nan, 0, 0}}, {{inf, 0, 0}}, {{1, 0, 0}}, {{1.5F, 0, 0}}},
           {{{0, 1, 2}}, {{0, 1, 5}}, {{3, 4, 5}}, {{5, 6, 5}}, {{3, 5, 6}}});
  stage.meshes.back().normals.assign(7, {{nan, 0, 0}});
  add_strand({{{1, 1, 0}}, {{1, 1, 0}}, {{1, 1, 0}}}, 0);
  add_strand({{{nan, 1, 0}}, {{1, inf, 0}}}, 0.1F);
  add_sphere({{nan, 0, 0}}, 0.5F);
  add_sphere({{1, 0, inf}}, 0.5F);
  add_sphere({{-1, 0, 0}}, nan);
  add_sphere({{1, 0, 0}}, 0);
  const Picture picture = draw();
  EXPECT_NEAR(difference(picture, good), 0, 0.5);
  for (const Vec<double, 3>& p : {Vec<double, 3>{{-1, 0, 0}}, Vec<double, 3>{{1, 1, 0}}, Vec<double, 3>{{1.2, 0, 0}}})
    EXPECT_TRUE(is_backdrop(seen_at(picture, p, 0)));
}

TEST_F(Tracing, NormalsThatVanishAreNotBlack) {
  StageMesh& mesh = add_square(0, 0, 0, 1);
  options.sun = {{0, 0, 1}};
  const Rgb good = seen_at(draw(), {{0, 0, 0}}, 3);
  mesh.normals.assign(4, {{0, 0, 0}});
  EXPECT_NEAR(seen_at(draw(), {{0, 0, 0}}, 3).r, good.r, 10);
  mesh.normals.assign(4, {{nan, nan, nan}});
  EXPECT_NEAR(seen_at(draw(), {{0, 0, 0}}, 3).r, good.r, 10);
}

TEST_F(Tracing, FromInsideASphereOneSeesItsInside) {
  add_sphere({{0, 0, 8}}, 1);
  const Picture picture = draw();
  for (const double x : {-2.0, 0.0, 2.0}) EXPECT_FALSE(is_backdrop(seen_at(picture, {{x, 0, 0}})));
}

TEST_F(Tracing, OddSizesAreDrawnWhole) {
  add_sphere({{0, 0, 0}}, 0.5F);
  for (const auto& [width, height] : {std::pair{16, 16}, {17, 33}, {100, 16}, {1, 1}}) {
    options.width = width;
    options.height = height;
    options.samples = 1;
    EXPECT_EQ(draw().rgb.size(), static_cast<std::size_t>(3 * width * height));
  }
}

// From the scene to the pixels.
TEST_F(Tracing, ASceneIsSeenAsItsCameraSays) {
  const Scene scene = test::small_scene({{"/colliders", R"([{"shape": {"half_space": [0, 1, 0]}}])"}});
  const Frame frame = test::frame_of<float>({0, 1, 0, 1, 1, 0});
  const ViewBounds shown = interesting_bounds(scene, expected_motion(scene));
  CameraSpec front;
  front.azimuth = front.elevation = 0;
  stage = build_stage(scene, frame, {}, shown);
  camera = place_camera(front, shown, Horizon(up_direction(scene)), 4.0 / 3);
  options.width = 320;
  options.height = 240;
  const Picture picture = draw();
  EXPECT_TRUE(is_red(seen_at(picture, {{0, 1, 0}})));
  const Rgb blue = seen_at(picture, {{1, 1, 0}});
  EXPECT_GT(blue.b, 1.8 * blue.r);
}

}  // namespace
}  // namespace tribo
