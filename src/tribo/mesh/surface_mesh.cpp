#include "tribo/mesh/surface_mesh.h"

#include <cmath>
#include <numbers>

namespace tribo {

double signed_volume(const SurfaceMesh& mesh, const Vec<double, 3>& about) {
  double sum = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) sum += dot(mesh.corner(t, 0) - about, mesh.area(t)) / 3;
  return sum;
}

SurfaceMesh with_creases(const SurfaceMesh& mesh, double degrees) {
  const double least = std::cos(degrees * std::numbers::pi / 180);
  std::vector<Vec<double, 3>> normals;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec<double, 3> area = mesh.area(t);
    const double length = std::sqrt(squared_norm(area));
    normals.push_back(length > 0 ? (1 / length) * area : Vec<double, 3>::zero());
  }
  // The copies of each vertex form a list; every copy stands for faces whose normals are close to its first one's.
  struct Copy {
    std::int32_t vertex;
    Vec<double, 3> normal;
    std::int32_t next;
  };
  std::vector<Copy> copies;
  std::vector<std::int32_t> first(mesh.vertices.size(), -1);
  SurfaceMesh out;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (!(squared_norm(normals[t]) > 0)) continue;  // without area, nothing to draw
    Vec<std::int32_t, 3> triangle;
    for (int k = 0; k < 3; ++k) {
      const auto v = static_cast<std::size_t>(mesh.triangles[t][k]);
      std::int32_t found = first[v];
      while (found >= 0 && dot(copies[static_cast<std::size_t>(found)].normal, normals[t]) < least)
        found = copies[static_cast<std::size_t>(found)].next;
      if (found < 0) {
        found = static_cast<std::int32_t>(copies.size());
        copies.push_back({out.add(mesh.vertices[v]), normals[t], first[v]});
        first[v] = found;
      }
      triangle[k] = copies[static_cast<std::size_t>(found)].vertex;
    }
    out.triangles.push_back(triangle);
  }
  return out;
}

}  // namespace tribo
