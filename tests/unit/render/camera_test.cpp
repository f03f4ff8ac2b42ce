#include "tribo/render/camera.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "small_scene.h"

/// \file
/// Promise: an automatic camera shows everything, upright, and not smaller than need be.

namespace tribo {
namespace {

using P = Vec<double, 3>;

double norm(const P& v) { return std::sqrt(squared_norm(v)); }

/// Where a point is in the picture: within -1 and 1 across and upward when it is seen.
struct Place {
  double across, upward, depth;
};
Place place_of(const P& p, const Camera& camera, double aspect) {
  const P d = p - camera.from;
  const double depth = dot(d, camera.forward);
  return {dot(d, camera.right) / (depth * camera.tan_half_fov * aspect),
          dot(d, camera.up) / (depth * camera.tan_half_fov), depth};
}

void expect_right_handed(const Camera& camera) {
  for (const P& v : {camera.forward, camera.right, camera.up}) EXPECT_NEAR(norm(v), 1, 1e-12);
  EXPECT_NEAR(norm(cross(camera.right, camera.forward) - camera.up), 0, 1e-12);
  EXPECT_NEAR(dot(camera.right, camera.forward), 0, 1e-12);
}

std::vector<ViewBounds> some_bounds() {
  std::vector<ViewBounds> all;
  const auto add = [&](const P& low, const P& high) {
    all.emplace_back();
    all.back().include(low);
    all.back().include(high);
  };
  add({{-1, -1, -1}}, {{1, 1, 1}});
  add({{3, 0, -7}}, {{23, 0.1, -6.9}});        // long
  add({{-0.01, 5, 0}}, {{0.01, 105, 0.02}});   // tall
  add({{-50, -1e-6, -50}}, {{50, 1e-6, 50}});  // flat
  add({{1e3, 1e3, 1e3}}, {{1000.001, 1000.002, 1000.001}});
  return all;
}

TEST(Camera, ShowsEveryCornerAndNotFromTooFar) {
  for (const P& up : {P{{0, 1, 0}}, P{{0, 0, 1}}, P{{1, 0, 0}}, P{{0, -1, 0}}, P{{0.6, 0.8, 0}}}) {
    const Horizon horizon(up);
    for (const ViewBounds& bounds : some_bounds())
      for (const double azimuth : {0.0, 30.0, 45.0, 90.0, 179.0, 215.0, -77.0})
        for (const double elevation : {-90.0, -30.0, 0.0, 18.0, 60.0, 89.0, 89.999, 90.0})
          for (const double aspect : {0.1, 0.5, 1.0, 16.0 / 9, 8.0})
            for (const double fov : {10.0, 30.0, 90.0}) {
              CameraSpec spec;
              spec.azimuth = azimuth;
              spec.elevation = elevation;
              spec.fov = fov;
              const Camera camera = place_camera(spec, bounds, horizon, aspect);
              expect_right_handed(camera);
              EXPECT_NEAR(norm(camera.forward + horizon.direction(azimuth, elevation)), 0, 1e-12);
              double farthest_out = 0;
              for (int i = 0; i < 8; ++i) {
                const Place place = place_of(bounds.corner(i), camera, aspect);
                ASSERT_GT(place.depth, 0) << azimuth << " " << elevation << " " << aspect;
                farthest_out = std::max({farthest_out, std::abs(place.across), std::abs(place.upward)});
              }
              ASSERT_LT(farthest_out, 0.95) << azimuth << " " << elevation << " " << aspect << " " << fov;
              ASSERT_GT(farthest_out, 0.85) << azimuth << " " << elevation << " " << aspect << " " << fov;
            }
  }
}

TEST(Camera, KeepsTheBoundsInViewWhenItLooksElsewhere) {
  const Horizon horizon(P{{0, 1, 0}});
  for (const ViewBounds& bounds : some_bounds())
    for (const double azimuth : {0.0, 50.0, 180.0}) {
      CameraSpec spec;
      spec.azimuth = azimuth;
      spec.to = bounds.high;
      const Camera camera = place_camera(spec, bounds, horizon, 1.5);
      for (int i = 0; i < 8; ++i) {
        const Place place = place_of(bounds.corner(i), camera, 1.5);
        EXPECT_GT(place.depth, 0);
        EXPECT_LT(std::max(std::abs(place.across), std::abs(place.upward)), 0.95);
      }
    }
}

TEST(Camera, StandsUpright) {
  for (const P& up : {P{{0, 1, 0}}, P{{0, 0, 1}}, P{{0, 0.6, -0.8}}}) {
    const Horizon horizon(up);
    ViewBounds bounds;
    bounds.include(P{{-1, -1, -1}});
    bounds.include(P{{1, 1, 1}});
    for (const double elevation : {-80.0, 0.0, 30.0, 89.0}) {
      CameraSpec spec;
      spec.azimuth = 70;
      spec.elevation = elevation;
      const Camera camera = place_camera(spec, bounds, horizon, 1);
      EXPECT_NEAR(dot(camera.right, up), 0, 1e-12);  // the horizon is level
      EXPECT_GT(dot(camera.up, up), 0);
      EXPECT_NEAR(dot(-camera.forward, up), std::sin(elevation * std::acos(-1) / 180), 1e-9);
    }
    CameraSpec top;
    top.elevation = 90;
    EXPECT_GT(dot(place_camera(top, bounds, horizon, 1).up, -horizon.front), 0.99) << "the front is below in a map";
  }
}

TEST(Camera, IsWhereTheSceneSays) {
  CameraSpec spec;
  spec.from = P{{1, 2, 3}};
  spec.to = P{{1, 2, -5}};
  spec.fov = 90;
  const Camera camera = place_camera(spec, {}, Horizon(P{{0, 1, 0}}), 1);
  EXPECT_NEAR(norm(camera.from - *spec.from), 0, 0);
  EXPECT_NEAR(norm(camera.forward - P{{0, 0, -1}}), 0, 1e-12);
  EXPECT_NEAR(norm(camera.right - P{{1, 0, 0}}), 0, 1e-12);
  EXPECT_NEAR(camera.tan_half_fov, 1, 1e-12);
  spec.to = P{{1, 7, 3}};  // straight up
  expect_right_handed(place_camera(spec, {}, Horizon(P{{0, 1, 0}}), 1));
  spec.to = spec.from;
  expect_right_handed(place_camera(spec, {}, Horizon(P{{0, 1, 0}}), 1));
}

TEST(Horizon, FrontIsTowardTheViewerWithYUpAndWithZUp) {
  const Horizon y(P{{0, 1, 0}});
  EXPECT_NEAR(norm(y.direction(0, 0) - P{{0, 0, 1}}), 0, 1e-12);
  EXPECT_NEAR(norm(y.direction(90, 0) - P{{1, 0, 0}}), 0, 1e-12);
  EXPECT_NEAR(norm(y.direction(123, 90) - P{{0, 1, 0}}), 0, 1e-12);
  const Horizon z(P{{0, 0, 1}});
  EXPECT_NEAR(norm(z.direction(0, 0) - P{{0, -1, 0}}), 0, 1e-12);
  EXPECT_NEAR(norm(z.direction(90, 0) - P{{1, 0, 0}}), 0, 1e-12);
}

TEST(Camera, TurnsAroundTheVerticalAndComesBack) {
  const Horizon horizon(P{{0, 0, 1}});
  ViewBounds bounds;
  bounds.include(P{{1, 2, 3}});
  bounds.include(P{{3, 5, 4}});
  CameraSpec spec;
  spec.azimuth = 20;
  const Camera camera = place_camera(spec, bounds, horizon, 1);
  const P center = bounds.center();
  const Camera back = turned(camera, center, horizon, 360);
  EXPECT_NEAR(norm(back.from - camera.from), 0, 1e-9);
  EXPECT_NEAR(norm(back.forward - camera.forward), 0, 1e-12);
  EXPECT_NEAR(norm(back.up - camera.up), 0, 1e-12);
  for (const double degrees : {10.0, 90.0, 200.0}) {
    const Camera there = turned(camera, center, horizon, degrees);
    expect_right_handed(there);
    EXPECT_NEAR(norm(there.from - center), norm(camera.from - center), 1e-9);
    EXPECT_NEAR(there.from[2], camera.from[2], 1e-9);
    spec.azimuth = 20 + degrees;
    EXPECT_NEAR(norm(there.forward - place_camera(spec, bounds, horizon, 1).forward), 0, 1e-9);
  }
}

Override collider(const char* text) { return {"/colliders", std::string("[") + text + "]"}; }

TEST(Camera, DrawnBackForATurntableShowsEverythingAllAround) {
  const Horizon horizon(P{{0, 1, 0}});
  for (const ViewBounds& bounds : some_bounds())
    for (const double aspect : {0.5, 16.0 / 9}) {
      CameraSpec spec;
      spec.azimuth = 90;  // a long bar end on: the picture that needs the least distance
      const P center = bounds.center();
      const Camera camera = drawn_back(place_camera(spec, bounds, horizon, aspect), bounds, center, horizon, aspect);
      for (double degrees = 0; degrees < 360; degrees += 10)
        for (int i = 0; i < 8; ++i) {
          const Place place = place_of(bounds.corner(i), turned(camera, center, horizon, degrees), aspect);
          ASSERT_GT(place.depth, 0);
          ASSERT_LT(std::abs(place.across), 0.95);
          ASSERT_LT(std::abs(place.upward), 0.95);
        }
    }
}

TEST(ExpectedMotion, ReachesTheGround) {
  const ViewBounds still = expected_motion(test::small_scene());
  EXPECT_NEAR(still.low[1], 0.8, 1e-9);
  EXPECT_NEAR(still.low[0], -0.2, 1e-9);
  EXPECT_NEAR(still.high[0], 1.2, 1e-9);
  const ViewBounds fall =
      expected_motion(test::small_scene({collider(R"({"shape": {"half_space": [0, 1, 0]}, "at": [0, -2, 0]})")}));
  EXPECT_NEAR(fall.low[1], -2, 1e-9);
  EXPECT_NEAR(fall.high[1], still.high[1], 1e-9);
  // Ground above, a wall, and a ceiling are nothing to fall onto.
  for (const char* other :
       {R"({"shape": {"half_space": [0, 1, 0]}, "at": [0, 5, 0]})", R"({"shape": {"half_space": [1, 0, 0]}})",
        R"({"shape": {"half_space": [0, -1, 0]}, "at": [0, 3, 0]})"})
    EXPECT_NEAR(expected_motion(test::small_scene({collider(other)})).low[1], 0.8, 1e-9) << other;
  const ViewBounds sideways = expected_motion(test::small_scene(
      {{"/gravity", "[0, 0, -9.81]"}, collider(R"({"shape": {"half_space": [0, 0, 1]}, "at": [0, 0, -4]})")}));
  EXPECT_NEAR(sideways.low[2], -4, 1e-9);
}

TEST(InterestingBounds, TakeInCollidersNearbyButNotTheLandscape) {
  const auto bounds_with = [](const char* text) {
    const Scene scene = test::small_scene({collider(text)});
    return interesting_bounds(scene, expected_motion(scene));
  };
  const Scene bare = test::small_scene();
  const ViewBounds objects = interesting_bounds(bare, expected_motion(bare));
  EXPECT_LT(objects.low[1], 0.8);  // particles have a size
  EXPECT_GT(objects.low[1], 0.7);
  EXPECT_LT(bounds_with(R"({"shape": {"box": [0.2, 0.2, 0.2]}, "at": [0, -1, 0]})").low[1], -1.1);
  EXPECT_EQ(bounds_with(R"({"shape": {"box": [0.2, 0.2, 0.2]}, "at": [0, -1, 0], "look": {"visible": false}})").low[1],
            objects.low[1]);
  EXPECT_EQ(bounds_with(R"({"shape": {"box": [200, 2, 200]}, "at": [0, -1, 0]})").low[0], objects.low[0]);
  EXPECT_EQ(bounds_with(R"({"shape": {"half_space": [0, 1, 0]}})").low[0], objects.low[0]);
  // A moving one wherever it comes to.
  EXPECT_GT(bounds_with(R"({"shape": {"box": [0.2, 0.2, 0.2]}, "motion": [{"time": 0}, {"time": 1, "at": [3, 0, 0]}]})")
                .high[0],
            3.0);
  // Of a container the floor, and no more of its height than is filled.
  const ViewBounds tank = bounds_with(R"({"shape": {"box": [6, 8, 6]}, "at": [0, 2, 0], "inside": true})");
  EXPECT_LT(tank.low[1], -1.9);
  EXPECT_LT(tank.high[1], 1.4);
  EXPECT_LT(tank.low[0], -2.9);
}

TEST(InterestingBounds, AreNeverEmpty) {
  const ViewBounds nothing = interesting_bounds(test::small_scene(), {});
  EXPECT_FALSE(nothing.empty());
  EXPECT_GT(nothing.radius(), 0);
  EXPECT_TRUE(std::isfinite(nothing.radius()));
}

}  // namespace
}  // namespace tribo
