#include "tribo/mesh/distance_field.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <cmath>
#include <random>

#include "make_mesh.h"
#include "tribo/colliders/box.h"
#include "tribo/colliders/distance_grid.h"
#include "tribo/mesh/triangle_tree.h"

namespace tribo {
namespace {

using namespace test;
using P = Vec<double, 3>;

P random_point(std::mt19937& random, double extent) {
  std::uniform_real_distribution<double> place(-extent, extent);
  return {{place(random), place(random), place(random)}};
}

template <class Real = double>
DistanceGrid<Real> view(const DistanceField& f) {
  return {f.samples.data(), f.corners.data(), f.fine.data(), f.blocks, cast<Real>(f.low), static_cast<Real>(f.spacing)};
}

TEST(TriangleTree, DistanceIsThatOfBruteForce) {
  std::mt19937 random(1);
  SurfaceMesh soup;  // any triangles will do, slivers and points among them
  for (int t = 0; t < 200; ++t) {
    const P a = random_point(random, 1);
    const double size = t % 10 == 0 ? 0 : 0.3;
    const std::int32_t first = soup.add(a);
    soup.add(a + random_point(random, size));
    soup.add(t % 7 == 0 ? a : a + random_point(random, size));
    soup.triangles.push_back({{first, first + 1, first + 2}});
  }
  const TriangleTree tree(soup);
  for (int k = 0; k < 300; ++k) {
    const P p = random_point(random, 1.5);
    double nearest = 1e300;
    for (std::size_t t = 0; t < soup.triangles.size(); ++t)  // minimum over a fine lattice of barycentric coordinates
      for (int i = 0; i <= 60; ++i)
        for (int j = 0; i + j <= 60; ++j) {
          const P q = soup.corner(t, 0) + (i / 60.0) * (soup.corner(t, 1) - soup.corner(t, 0)) +
                      (j / 60.0) * (soup.corner(t, 2) - soup.corner(t, 0));
          nearest = std::min(nearest, std::sqrt(squared_norm(p - q)));
        }
    const double found = tree.distance(p, 1e300);
    EXPECT_LE(found, nearest + 1e-12);
    EXPECT_GT(found, nearest - 0.005);                      // the lattice misses by less than its spacing
    EXPECT_EQ(tree.distance(p, 0.5 * found), 0.5 * found);  // nothing that near
  }
}

TEST(TriangleTree, WindingNumberCountsSheets) {
  // Two balls that overlap, and a hollow in one of them.
  PolygonMesh hollow = make_ball(0.3, 2);
  for (auto& face : hollow.faces) std::reverse(face.begin(), face.end());
  const PolygonMesh balls = joined(joined(make_ball(1, 3), make_ball(1, 3), {{1.2, 0, 0}}), hollow, {{-0.5, 0, 0}});
  const Solid solid = solid_from(balls.polygons(), 1, "balls");
  const TriangleTree tree(solid.mesh);
  std::mt19937 random(2);
  for (int k = 0; k < 2000; ++k) {
    const P p = random_point(random, 2.5);
    const double d[] = {std::sqrt(squared_norm(p)), std::sqrt(squared_norm(p - P{{1.2, 0, 0}})),
                        std::sqrt(squared_norm(p + P{{0.5, 0, 0}}))};
    if (std::abs(d[0] - 1) < 0.02 || std::abs(d[1] - 1) < 0.02 || std::abs(d[2] - 0.3) < 0.02) continue;
    const int expected = (d[0] < 1 ? 1 : 0) + (d[1] < 1 ? 1 : 0) - (d[2] < 0.3 ? 1 : 0);
    EXPECT_NEAR(tree.winding(p), expected, 0.05);
  }
}

TEST(DistanceField, OfABoxIsThatOfTheBox) {
  const Solid solid = solid_from(make_box(1, 0.6, 0.8).polygons(), 1, "box");
  const double h = 0.02;
  const DistanceField field = sample_distance(solid, h);
  const Box<double> box{{{1, 0.6, 0.8}}};
  std::mt19937 random(3);
  double flat = 0, worst = 0;
  for (int k = 0; k < 20000; ++k) {
    const P p = random_point(random, 0.55);
    const double exact = box.nearest(p).distance;
    const double error = std::abs(view(field).nearest(p).distance - exact);
    if (std::abs(exact) > 1.5 * h) continue;
    int close = 0;  // faces nearby: at edges the interpolation rounds off
    for (int i = 0; i < 3; ++i) close += std::abs(std::abs(p[i]) - 0.5 * box.size[i]) < 4 * h ? 1 : 0;
    (close == 1 ? flat : worst) = std::max(close == 1 ? flat : worst, error);
  }
  EXPECT_LT(flat, 1e-6);      // linear there, but for floats
  EXPECT_LT(worst, 0.5 * h);  // at edges and corners
}

TEST(DistanceField, OfABallConvergesToTheSphere) {
  const Solid solid = solid_from(make_ball(1, 5).polygons(), 1, "ball");
  std::vector<double> errors, gradient_errors;
  for (const double h : {0.16, 0.08, 0.04}) {
    const DistanceField field = sample_distance(solid, h);
    std::mt19937 random(4);
    double error = 0, gradient_error = 0;
    for (int k = 0; k < 20000; ++k) {
      P p = random_point(random, 1);
      p = ((1 + 0.1 * random_point(random, 1)[0]) / std::sqrt(squared_norm(p))) * p;
      const double r = std::sqrt(squared_norm(p));
      const auto s = view(field).nearest(p);
      error = std::max(error, std::abs(s.distance - (r - 1)));
      gradient_error = std::max(gradient_error, std::sqrt(squared_norm(s.normal - (1 / r) * p)));
    }
    errors.push_back(error);
    gradient_errors.push_back(gradient_error);
  }
  // Second order in the value, first in the gradient, down to the flatness of the triangles, 5e-4.
  EXPECT_GT(errors[0] / errors[1], 3);
  EXPECT_LT(errors[2], 0.04 * 0.04 + 6e-4);
  EXPECT_GT(gradient_errors[0] / gradient_errors[1], 1.6);
  EXPECT_LT(gradient_errors[2], 0.06);
}

TEST(DistanceField, FarFieldIsCloseAndSignsAreRight) {
  const Solid solid = solid_from(make_ball(1, 4).polygons(), 1, "ball");
  const DistanceField field = sample_distance(solid, 0.03);
  std::mt19937 random(5);
  for (int k = 0; k < 20000; ++k) {
    const P p = random_point(random, k % 2 ? 1.2 : 5);
    const double exact = std::sqrt(squared_norm(p)) - 1;
    const auto s = view(field).nearest(p);
    // Deep inside, where the distance has a tip, samples lie a block apart: it is cut by half its diagonal at most.
    const double tip = exact < 0 ? 0.5 * std::sqrt(3.0) * 8 * 0.03 : 0;
    ASSERT_NEAR(s.distance, exact, 0.03 + 0.05 * std::abs(exact) + tip) << p[0] << " " << p[1] << " " << p[2];
    if (std::abs(exact) > 0.01) {
      ASSERT_EQ(s.distance < 0, exact < 0);
    }
    ASSERT_NEAR(squared_norm(s.normal), 1, 1e-12);
    if (exact > 0) {
      ASSERT_GT(dot(s.normal, p), 0.98 * std::sqrt(squared_norm(p)));
    }
  }
}

TEST(DistanceField, NormalIsTheGradientOfTheDistance) {
  const Solid solid = solid_from(make_ball(1, 3).polygons(), 1, "ball");
  const DistanceField field = sample_distance(solid, 0.05);
  std::mt19937 random(6);
  int compared = 0;
  for (int k = 0; k < 5000; ++k) {
    const P p = random_point(random, 1.1);
    if (std::abs(std::sqrt(squared_norm(p)) - 1) > 0.08) continue;
    constexpr double step = 1e-5;
    P difference;
    for (int i = 0; i < 3; ++i) {
      P high = p, low = p;
      high[i] += step;
      low[i] -= step;
      difference[i] = (view(field).nearest(high).distance - view(field).nearest(low).distance) / (2 * step);
    }
    const auto s = view(field).nearest(p);
    const double length = std::sqrt(squared_norm(difference));
    if (std::sqrt(squared_norm(s.normal - view(field).nearest(p + P::filled(step)).normal)) > 0.01) continue;  // a seam
    ++compared;
    ASSERT_LT(std::sqrt(squared_norm((1 / length) * difference - s.normal)), 0.02);
    ASSERT_NEAR(length, 1, 0.1);
  }
  EXPECT_GT(compared, 500);
}

TEST(DistanceField, OverlappingPartsAreOneSolid) {
  const PolygonMesh two = joined(make_box(1, 1, 1), make_box(1, 1, 1), {{0.9, 0.05, 0.02}});
  const DistanceField field = sample_distance(solid_from(two.polygons(), 1, "boxes"), 0.03);
  const Box<double> box{{{1, 1, 1}}};
  std::mt19937 random(7);
  for (int k = 0; k < 10000; ++k) {
    const P p = random_point(random, 1.6);
    const double a = box.nearest(p).distance, b = box.nearest(p - P{{0.9, 0.05, 0.02}}).distance;
    if (std::min(std::abs(a), std::abs(b)) < 0.02) continue;
    ASSERT_EQ(view(field).nearest(p).distance < 0, std::min(a, b) < 0);
  }
}

/// Inside, the distance is that to the outside, not to what parts have within each other.
TEST(DistanceField, OverlappingPartsHaveOneDepth) {
  const PolygonMesh two = joined(make_ball(0.5, 4), make_ball(0.5, 4), {{0.4, 0, 0}});
  const DistanceField field = sample_distance(solid_from(two.polygons(), 1, "balls"), 0.02);
  // As far inside as this samples are 8 cells apart. The first ball ends at 0.5.
  for (const double x : {0.45, 0.5, 0.55})
    EXPECT_NEAR(view(field).nearest(P{{x, 0, 0}}).distance, x - 0.9, 0.1) << x;
}

TEST(DistanceField, MemoryIsBounded) {
  const Solid solid = solid_from(make_ball(1, 3).polygons(), 1, "ball");
  const DistanceField fine = sample_distance(solid, 0.02);
  EXPECT_EQ(fine.spacing, 0.02);
  const DistanceField coarse = sample_distance(solid, 0.0001, 1 << 20);  // would be some 100 GB
  EXPECT_LE(coarse.bytes(), std::size_t{1} << 20);
  EXPECT_GT(coarse.bytes(), std::size_t{1} << 18);
  EXPECT_LT(coarse.spacing, 0.1);
  EXPECT_NEAR(view(coarse).nearest(P{{0, 1.05, 0}}).distance, 0.05, 0.02);
}

TEST(DistanceField, BlocksNearTheSurfaceAreFineAndNoOthers) {
  const Solid solid = solid_from(make_ball(1, 3).polygons(), 1, "ball");
  const DistanceField field = sample_distance(solid, 0.03);
  const TriangleTree tree(solid.mesh);
  const double edge = DistanceField::side * field.spacing;
  const double reach = 0.5 * std::sqrt(3.0) * edge + 2 * field.spacing;
  std::size_t index = 0;
  for (int x = 0; x < field.blocks[0]; ++x)
    for (int y = 0; y < field.blocks[1]; ++y)
      for (int z = 0; z < field.blocks[2]; ++z) {
        const double distance = tree.distance(field.low + edge * P{{x + 0.5, y + 0.5, z + 0.5}}, 1e300);
        ASSERT_EQ(field.fine[index++] != DistanceField::far, distance < reach) << distance / reach;
      }
}

TEST(DistanceField, SameBytesForAnyNumberOfThreads) {
  const Solid solid = solid_from(make_ball(1, 3).polygons(), 1, "ball");
  const DistanceField many = sample_distance(solid, 0.05);
  const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
  const DistanceField few = sample_distance(solid, 0.05);
  EXPECT_EQ(many.samples, few.samples);
  EXPECT_EQ(many.corners, few.corners);
  EXPECT_EQ(many.fine, few.fine);
}

}  // namespace
}  // namespace tribo
