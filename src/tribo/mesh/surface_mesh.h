#pragma once

#include <cstdint>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// Triangles, counterclockwise seen from outside. Where they are to be drawn, vertices are shared where the surface is
/// smooth and doubled along creases, so that normals averaged at vertices are those of the shape.
struct SurfaceMesh {
  std::vector<Vec<double, 3>> vertices;
  std::vector<Vec<std::int32_t, 3>> triangles;

  std::int32_t add(const Vec<double, 3>& vertex) {
    vertices.push_back(vertex);
    return static_cast<std::int32_t>(vertices.size() - 1);
  }
  /// A flat quadrilateral a b c d with vertices of its own.
  void add_quad(const Vec<double, 3>& a, const Vec<double, 3>& b, const Vec<double, 3>& c, const Vec<double, 3>& d) {
    const std::int32_t first = add(a);
    add(b), add(c), add(d);
    triangles.push_back({{first, first + 1, first + 2}});
    triangles.push_back({{first, first + 2, first + 3}});
  }
  /// Corner k of triangle t.
  const Vec<double, 3>& corner(std::size_t t, int k) const {
    return vertices[static_cast<std::size_t>(triangles[t][k])];
  }
  /// Normal of triangle t, as long as the triangle's area.
  Vec<double, 3> area(std::size_t t) const {
    return 0.5 * cross(corner(t, 1) - corner(t, 0), corner(t, 2) - corner(t, 0));
  }
};

/// Six times the signed volume of the tetrahedra over some triangles, and the like, are sums of this: a closed surface
/// encloses the sum over its triangles. `about` is a point near them, against cancellation.
double signed_volume(const SurfaceMesh& mesh, const Vec<double, 3>& about);

/// The mesh with a vertex doubled wherever faces meet there at more than `degrees`: the creases of what is drawn.
SurfaceMesh with_creases(const SurfaceMesh& mesh, double degrees = 35);

}  // namespace tribo
