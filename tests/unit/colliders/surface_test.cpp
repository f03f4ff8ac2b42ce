#include "tribo/colliders/surface.h"

#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "random_params.h"
#include "tribo/colliders/all.h"

/// \file
/// Promise: the triangles by which a shape is drawn and exported are those of the shape that contact knows.

namespace tribo {
namespace {

using P = Vec<double, 3>;

double norm(const P& v) { return std::sqrt(squared_norm(v)); }

P area_of(const SurfaceMesh& mesh, const Vec<std::int32_t, 3>& t) {
  const P a = mesh.vertices[static_cast<std::size_t>(t[0])];
  return 0.5 *
         cross(mesh.vertices[static_cast<std::size_t>(t[1])] - a, mesh.vertices[static_cast<std::size_t>(t[2])] - a);
}
P center_of(const SurfaceMesh& mesh, const Vec<std::int32_t, 3>& t) {
  P sum = P::zero();
  for (int k = 0; k < 3; ++k) sum += mesh.vertices[static_cast<std::size_t>(t[k])];
  return (1.0 / 3) * sum;
}
double enclosed_volume(const SurfaceMesh& mesh) {
  double sum = 0;
  for (const auto& t : mesh.triangles) sum += dot(center_of(mesh, t), area_of(mesh, t)) / 3;
  return sum;
}

template <class List>
struct TypesOf;
template <class... Shapes>
struct TypesOf<std::variant<Shapes...>> {
  using Types = testing::Types<Shapes...>;
};

template <class AnyShape>
class EverySurface : public testing::Test {
 protected:
  template <class Check>
  static void for_random_shapes(const Check& check) {
    for (unsigned seed = 1; seed <= 8; ++seed) {
      test::RandomParams params(seed);
      const AnyShape shape = AnyShape::read(params);
      const SurfaceMesh mesh = shape.surface();
      ASSERT_FALSE(mesh.triangles.empty());
      for (const auto& t : mesh.triangles)
        for (int k = 0; k < 3; ++k) ASSERT_TRUE(t[k] >= 0 && static_cast<std::size_t>(t[k]) < mesh.vertices.size());
      check(shape, mesh);
    }
  }
};
struct ShapeName {
  template <class AnyShape>
  static std::string GetName(int) {
    return AnyShape::name;
  }
};
TYPED_TEST_SUITE(EverySurface, TypesOf<PlainShape<double>>::Types, ShapeName);

TYPED_TEST(EverySurface, VerticesAreOnTheShape) {
  this->for_random_shapes([](const TypeParam& shape, const SurfaceMesh& mesh) {
    for (const P& v : mesh.vertices) ASSERT_NEAR(shape.nearest(v).distance, 0, 1e-12);
  });
}

TYPED_TEST(EverySurface, TrianglesFaceOutwardAndStayNearTheShape) {
  this->for_random_shapes([](const TypeParam& shape, const SurfaceMesh& mesh) {
    double size = 2;  // that of the piece of a half space
    if (const Bounds bounds = shape.bounds(); bounds.bounded) size = norm(bounds.high - bounds.low);
    for (const auto& t : mesh.triangles) {
      const P area = area_of(mesh, t);
      ASSERT_GT(norm(area), 0);
      const auto at = shape.nearest(center_of(mesh, t));
      ASSERT_NEAR(at.distance, 0, 2e-3 * size);
      ASSERT_GT(dot(at.normal, area), 0.99 * norm(area));
    }
  });
}

// Normals averaged at vertices, as pictures and exports have them, are those of the shape: creases are doubled.
TYPED_TEST(EverySurface, AveragedNormalsAreThoseOfTheFaces) {
  this->for_random_shapes([](const TypeParam&, const SurfaceMesh& mesh) {
    std::vector<P> normals(mesh.vertices.size(), P::zero());
    for (const auto& t : mesh.triangles)
      for (int k = 0; k < 3; ++k) normals[static_cast<std::size_t>(t[k])] += area_of(mesh, t);
    for (const auto& t : mesh.triangles)
      for (int k = 0; k < 3; ++k) {
        const P n = normals[static_cast<std::size_t>(t[k])], area = area_of(mesh, t);
        ASSERT_GT(dot(n, area), 0.99 * norm(n) * norm(area));
      }
  });
}

TYPED_TEST(EverySurface, EnclosesTheVolume) {
  this->for_random_shapes([](const TypeParam& shape, const SurfaceMesh& mesh) {
    if (!shape.bounds().bounded) return;
    const double share = enclosed_volume(mesh) / shape.volume(3);
    EXPECT_GT(share, 0.99);
    EXPECT_LT(share, 1 + 1e-12);  // flat triangles cut round shapes
  });
}

TYPED_TEST(EverySurface, FillsTheBounds) {
  this->for_random_shapes([](const TypeParam& shape, const SurfaceMesh& mesh) {
    const Bounds bounds = shape.bounds();
    if (!bounds.bounded) return;
    P low = mesh.vertices[0], high = low;
    for (const P& v : mesh.vertices)
      for (int k = 0; k < 3; ++k) low[k] = std::min(low[k], v[k]), high[k] = std::max(high[k], v[k]);
    EXPECT_NEAR(norm(low - bounds.low), 0, 1e-12);
    EXPECT_NEAR(norm(high - bounds.high), 0, 1e-12);
  });
}

// A capsule without a straight part is a ball; no band of triangles without area is left at its equator.
TEST(CapsuleSurface, WithoutHeightIsABall) {
  const Capsule<double> capsule{0.5, 0};
  const SurfaceMesh mesh = capsule.surface();
  for (const auto& t : mesh.triangles) ASSERT_GT(norm(area_of(mesh, t)), 0);
  EXPECT_NEAR(enclosed_volume(mesh) / Sphere<double>{0.5}.volume(3), 1, 0.01);
}

}  // namespace
}  // namespace tribo
