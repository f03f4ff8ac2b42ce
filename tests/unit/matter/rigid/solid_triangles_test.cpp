#include "tribo/matter/rigid/solid_triangles.h"

#include <gtest/gtest.h>

#include <random>

#include "../../mesh/make_mesh.h"
#include "tribo/colliders/box.h"
#include "tribo/mesh/solid.h"

namespace tribo::test {
namespace {

using V = Vec<double, 3>;

Mesh mesh_of(const PolygonMesh& mesh, double spacing) { return {solid_from(mesh.polygons(), 1, "test"), spacing}; }

/// Promise: distances and normals of a box from triangles are those of the box, also at its edges and corners, on both
/// sides, and nothing is found beyond the limit.
TEST(SolidTriangles, AreTheBox) {
  const V size{{0.3, 0.2, 0.5}};
  const Box<double> box{size};
  SolidTriangleLists lists;
  ASSERT_TRUE(lists.add(mesh_of(make_box(size[0], size[1], size[2]), 0.05)));
  const SolidTriangles triangles{lists.nodes.data(), lists.triangles.data()};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int i = 0; i < 20000; ++i) {
    V p;
    for (int k = 0; k < 3; ++k) p[k] = 0.7 * size[k] * unit(random);
    if (i % 3 == 0) p[i % 9 / 3] = 0.5 * size[i % 9 / 3] * (1 + 1e-3 * unit(random));  // near a face
    const SurfacePoint<double, 3> expected = box.nearest(p);
    SurfacePoint<double, 3> found{};
    ASSERT_TRUE(triangles.nearest(p, 1, found));
    ASSERT_NEAR(found.distance, expected.distance, 1e-15);
    SurfacePoint<double, 3> none{};
    ASSERT_FALSE(triangles.nearest(p, 0.999 * std::abs(expected.distance), none));
    // Where two faces are as near, either normal will do.
    double second = 1e300;
    for (int k = 0; k < 3; ++k) {
      const double depth = 0.5 * size[k] - std::abs(p[k]);
      if (depth > -expected.distance + 1e-12) second = std::min(second, depth);
    }
    const bool one_side = expected.distance > 1e-9 || second + expected.distance > 1e-9;
    ASSERT_GT(one_side ? dot(found.normal, expected.normal) : 1, 1 - 1e-9) << i;
  }
}

/// Promise: on the surface itself the normal is that of the face, and of edges and corners the mean of what meets
/// there.
TEST(SolidTriangles, HaveNormalsWhereDistancesHaveNone) {
  SolidTriangleLists lists;
  ASSERT_TRUE(lists.add(mesh_of(make_box(1, 1, 1), 0.1)));
  const SolidTriangles triangles{lists.nodes.data(), lists.triangles.data()};
  for (const V& p : {V{{0.5, 0.1, 0.2}}, V{{0.5, 0.5, 0.2}}, V{{0.5, 0.5, 0.5}}}) {
    V expected = V::zero();
    for (int k = 0; k < 3; ++k) expected[k] = p[k] == 0.5 ? 1 : 0;
    SurfacePoint<double, 3> found{};
    ASSERT_TRUE(triangles.nearest(p, 1, found));
    EXPECT_EQ(found.distance, 0);
    EXPECT_NEAR(dot(found.normal, expected), std::sqrt(squared_norm(expected)), 1e-12);
  }
}

/// Promise: of parts that overlap, whose triangles are not all surface, nothing is taken.
TEST(SolidTriangles, RefuseWhatIsHidden) {
  SolidTriangleLists lists;
  EXPECT_FALSE(lists.add(mesh_of(joined(make_box(1, 1, 1), make_box(1, 1, 1), {{0.4, 0.3, 0.2}}), 0.05)));
  EXPECT_TRUE(lists.nodes.empty());
  EXPECT_TRUE(lists.triangles.empty());
  EXPECT_TRUE(lists.add(mesh_of(joined(make_box(1, 1, 1), make_box(1, 1, 1), {{2, 0, 0}}), 0.05)));
}

}  // namespace
}  // namespace tribo::test
