#include "tribo/matter/rigid/feelers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tribo/matter/rigid/extent.h"
#include "tribo/mesh/solid.h"
#include "tribo/scene/motion.h"

/// \file
/// Promise: feelers lie on the surface, and bodies rest on flat ground by them as by their whole surface: in every
/// direction the farthest of them is as far as the body.

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

SurfacePoint<double, 3> nearest(const Shape<double>& shape, const Vec3& x) {
  return std::visit([&](const auto& s) { return s.nearest(x); }, shape);
}

Vec3 across(const Vec3& n) {
  const int least = std::abs(n[0]) < 0.6 ? 0 : 1;
  return length_and_direction(cross(n, axis_direction<double, 3>(least, false))).normal;
}

/// Largest distance of a feeler's skin from the surface.
double off_surface(const Shape<double>& shape, const RigidSample& f) {
  if (f.feeler != Feeler::ring) return std::abs(nearest(shape, f.x).distance + f.radius);
  double worst = 0;
  for (int i = 0; i < 16; ++i) {
    const double angle = 2 * std::numbers::pi * i / 16;
    const Vec3 u = across(f.n), v = cross(f.n, u);
    const Vec3 x = f.x + f.ring * (std::cos(angle) * u + std::sin(angle) * v);
    worst = std::max(worst, std::abs(nearest(shape, x).distance + f.radius));
  }
  return worst;
}

/// How far feelers reach along n.
double reach_along(const std::vector<RigidSample>& feelers, const Vec3& n) {
  double farthest = -1e300;
  for (const RigidSample& f : feelers) {
    if (f.feeler == Feeler::face) continue;
    double far = dot(f.x, n) + f.radius;
    if (f.feeler == Feeler::ring) {
      const Vec3 flat = n - dot(n, f.n) * f.n;
      far += f.ring * std::sqrt(squared_norm(flat));
    }
    farthest = std::max(farthest, far);
  }
  return farthest;
}

/// Directions all around, and those of the axes.
std::vector<Vec3> directions() {
  std::vector<Vec3> all;
  for (int k = 0; k < 3; ++k)
    for (const bool backward : {false, true}) all.push_back(axis_direction<double, 3>(k, backward));
  for (int i = 0; i < 200; ++i) {
    const double y = 1 - 2 * (i + 0.5) / 200, angle = 2.399963 * i, r = std::sqrt(1 - y * y);
    all.push_back({{r * std::cos(angle), y, r * std::sin(angle)}});
  }
  return all;
}

/// Same, of the whole shape.
double reach_along(const Shape<double>& shape, const SurfaceMesh& surface, const Vec3& n) {
  Mat<double, 3> rotation = Mat<double, 3>::identity();
  const Vec3 u = across(n), v = cross(n, u);
  for (int k = 0; k < 3; ++k) {
    rotation(0, k) = n[k];
    rotation(1, k) = u[k];
    rotation(2, k) = v[k];
  }
  return turned_bounds(shape, rotation, surface.vertices).high[0];
}

/// `drawn`: how far the surface that stands for the shape may be within it.
void expect_good(const Shape<double>& shape, double spacing, double on_surface, double rests, double drawn = 0) {
  const std::vector<RigidSample> feelers = feelers_of(shape, spacing);
  const SurfaceMesh surface = std::visit([](const auto& s) { return s.surface(); }, shape);
  ASSERT_FALSE(feelers.empty());
  double off = 0, low = 0, high = 0;
  for (const RigidSample& f : feelers) off = std::max(off, off_surface(shape, f));
  for (const Vec3& n : directions()) {
    const double more = reach_along(feelers, n) - reach_along(shape, surface, n);
    low = std::min(low, more);
    high = std::max(high, more);
  }
  EXPECT_LE(off, on_surface);
  EXPECT_LE(high, on_surface + drawn);
  EXPECT_GE(low, -rests);
  const auto first_face = std::find_if(feelers.begin(), feelers.end(), [](const RigidSample& f) { return f.feeler == Feeler::face; });
  EXPECT_TRUE(std::all_of(first_face, feelers.end(), [](const RigidSample& f) { return f.feeler == Feeler::face; }));
}

TEST(RigidFeelers, OfPlainShapesAreExact) {
  constexpr double rounding = 1e-15;
  expect_good(Box<double>{{{0.3, 0.5, 1.1}}}, 0.05, rounding, rounding);
  expect_good(Sphere<double>{0.4}, 0.05, rounding, rounding);
  expect_good(Capsule<double>{0.2, 0.7}, 0.05, rounding, rounding);
  expect_good(Capsule<double>{0.2, 0}, 0.05, rounding, rounding);
  expect_good(Cylinder<double>{0.2, 0.7}, 0.05, rounding, rounding);
  expect_good(Torus<double>{0.4, 0.1}, 0.05, rounding, rounding);
}

/// Along an edge there is one feeler within each spacing, so that no ledge that wide is missed.
TEST(RigidFeelers, OfABoxFollowItsEdges) {
  const std::vector<RigidSample> feelers = feelers_of(Box<double>{{{0.4, 0.4, 1}}}, 0.05);
  std::vector<double> z;
  for (const RigidSample& f : feelers)
    if (f.feeler == Feeler::corner && f.x[0] == 0.2 && f.x[1] == 0.2) z.push_back(f.x[2]);
  std::sort(z.begin(), z.end());
  ASSERT_GT(z.size(), 2U);
  EXPECT_EQ(z.front(), -0.5);
  EXPECT_EQ(z.back(), 0.5);
  for (std::size_t i = 1; i < z.size(); ++i) EXPECT_LE(z[i] - z[i - 1], 0.05 + 1e-12);
}

Mesh mesh_of(const SurfaceMesh& surface, double spacing) {
  Polygons polygons;
  polygons.vertices = surface.vertices;
  for (const auto& t : surface.triangles) {
    polygons.begin_face();
    for (int k = 0; k < 3; ++k) polygons.corners.push_back(t[k]);
  }
  polygons.finish();
  return {solid_from(polygons, 1, "test"), spacing};
}

/// A mesh of a box has the feelers that matter of a box, wherever its triangles are.
TEST(RigidFeelers, OfAMeshAreOnItsEdgesAndCorners) {
  const Box<double> box{{{0.4, 0.3, 0.6}}};
  const Shape<double> mesh = mesh_of(box.surface(), 0.02);
  const std::vector<RigidSample> feelers = feelers_of(mesh, 0.05);
  for (int i = 0; i < 8; ++i) {
    Vec3 corner;
    for (int k = 0; k < 3; ++k) corner[k] = (i >> k & 1 ? 0.5 : -0.5) * box.size[k];
    EXPECT_TRUE(std::any_of(feelers.begin(), feelers.end(),
                            [&](const RigidSample& f) { return squared_norm(f.x - corner) < 1e-20; }));
  }
  std::size_t faces = 0;
  for (const RigidSample& f : feelers) {
    EXPECT_NEAR(box.nearest(f.x).distance, 0, 1e-12);
    faces += f.feeler == Feeler::face ? 1 : 0;
    if (f.feeler != Feeler::corner) continue;
    int on = 0;  // of no diagonal
    for (int k = 0; k < 3; ++k) on += std::abs(std::abs(f.x[k]) - 0.5 * box.size[k]) < 1e-12 ? 1 : 0;
    EXPECT_GE(on, 2);
  }
  const double area = 2 * (0.12 + 0.18 + 0.24);
  EXPECT_NEAR(static_cast<double>(faces), area / 0.0025, 2);
}

/// Between feelers s apart a ball of radius r is recessed by s^2 / 8 r, on a triangular pattern by 4/3 of that.
TEST(RigidFeelers, OfASmoothMeshRoundItOff) {
  const Shape<double> ball = mesh_of(Sphere<double>{0.5}.surface(), 0.02);
  constexpr double dx = 0.1, apart = 1.5 * 0.5 * dx;
  expect_good(ball, dx, 2e-3, apart * apart / (6 * 0.5) + 6e-4);  // and facets
}

TEST(RigidFeelers, OfCompoundsAreThoseOfTheirPartsAndSeams) {
  const auto at = [](const Vec3& x) { return Compound::Placement{x}; };
  const Cylinder<double> handle{0.02, 0.4};
  const Box<double> head{{{0.06, 0.08, 0.16}}};
  const Compound hammer(Operation::unite, 0, {{at(Vec3::zero()), SimpleShape(handle)}, {at({{0, 0.2, 0}}), SimpleShape(head)}});
  expect_good(hammer, 0.01, 1e-9, 1e-9, 0.44 / 124);
  for (const RigidSample& f : feelers_of(hammer, 0.01))
    EXPECT_FALSE(f.feeler == Feeler::rim && f.x[1] > 0) << "of the handle's end within the head";
  // Through a cube, and through its corner: seams are round edges.
  const Box<double> cube{{{0.4, 0.4, 0.4}}};
  const Cylinder<double> drill{0.1, 1};
  const Compound bored(Operation::difference, 0, {{at(Vec3::zero()), SimpleShape(cube)}, {at({{0.2, 0, 0}}), SimpleShape(drill)}});
  expect_good(bored, 0.02, 1e-4, 1e-9, 0.4 / 124);
  double nearest_to_seam = 1;
  for (const RigidSample& f : feelers_of(bored, 0.02))
    nearest_to_seam = std::min(nearest_to_seam, std::sqrt(squared_norm(f.x - Vec3{{0.1, 0.2, 0}})));
  EXPECT_LT(nearest_to_seam, 0.02);
  // A ball of which a half is gone must not feel there; the rest of it does.
  const Compound bowl(Operation::intersect, 0, {{at(Vec3::zero()), SimpleShape(Sphere<double>{0.3})}, {at(Vec3::zero()), SimpleShape(HalfSpace<double>{})}});
  for (const RigidSample& f : feelers_of(bowl, 0.05)) EXPECT_LT(f.x[1] + f.radius, 1e-4);
  expect_good(bowl, 0.05, 1e-3, 2e-3, 0.6 / 124);
}

TEST(RigidExtent, IsThatOfTheShape) {
  const Mat<double, 3> turn = rotation_matrix({{{0, 0, 1}}, 90});
  const Bounds b = turned_bounds(Cylinder<double>{0.1, 1}, turn, {});
  EXPECT_NEAR(b.high[0], 0.5, 1e-12);
  EXPECT_NEAR(b.high[1], 0.1, 1e-12);
  EXPECT_NEAR(b.high[2], 0.1, 1e-12);
  EXPECT_EQ(reach_of(Box<double>{{{0.6, 0, 0.8}}}, Vec3::zero()), 0.5);
  EXPECT_EQ(thickness_of(Cylinder<double>{0.1, 1}), 0.2);
}

TEST(RigidExtent, ThicknessIsThatOfWalls) {
  const Compound cup(Operation::difference, 0,
                     {{{}, SimpleShape(Cylinder<double>{0.1, 0.2})}, {{{{0, 0.02, 0}}}, SimpleShape(Cylinder<double>{0.09, 0.2})}});
  EXPECT_NEAR(thickness_of(cup), 0.01, 0.001);
  const Compound hammer(Operation::unite, 0,
                        {{{}, SimpleShape(Cylinder<double>{0.02, 0.4})}, {{{{0, 0.2, 0}}}, SimpleShape(Box<double>{{{0.06, 0.08, 0.16}}})}});
  EXPECT_EQ(thickness_of(hammer), 0.04);
}

}  // namespace
}  // namespace tribo
