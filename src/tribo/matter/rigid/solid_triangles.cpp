#include "tribo/matter/rigid/solid_triangles.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tribo/mesh/triangle_tree.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

Vec3 unit(const Vec3& v) { return length_and_direction(v).normal; }

bool is_hidden(const Mesh& mesh, const SolidTriangle& t) {
  const double deep = -mesh.field().spacing;
  for (int k = -1; k < 3; ++k) {
    Vec3 x = Vec3::zero();
    for (int i = 0; i < 3; ++i) x += (k < 0 ? 1.0 / 3 : i == k ? 0.8 : 0.1) * t.corner[i];
    if (mesh.nearest(x).distance < deep) return true;
  }
  return false;
}

}  // namespace

bool SolidTriangleLists::add(const Mesh& mesh) {
  const SurfaceMesh& surface = mesh.solid().mesh;
  const TriangleTree tree(surface);
  std::map<std::pair<std::int32_t, std::int32_t>, Vec3> at_edge;
  std::vector<Vec3> at_vertex(surface.vertices.size(), Vec3::zero());
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const Vec3 area = surface.area(t);
    if (!(squared_norm(area) > 0)) continue;
    for (int k = 0; k < 3; ++k) {
      const std::int32_t a = surface.triangles[t][k], b = surface.triangles[t][(k + 1) % 3];
      at_edge.try_emplace(std::minmax(a, b), Vec3::zero()).first->second += unit(area);
      const Vec3 u = surface.corner(t, (k + 1) % 3) - surface.corner(t, k);
      const Vec3 v = surface.corner(t, (k + 2) % 3) - surface.corner(t, k);
      at_vertex[static_cast<std::size_t>(a)] +=
          std::atan2(std::sqrt(squared_norm(cross(u, v))), dot(u, v)) * unit(area);
    }
  }
  std::vector<SolidTriangle> all;
  for (const std::size_t t : tree.order()) {
    const Vec<std::int32_t, 3>& corners = surface.triangles[t];
    SolidTriangle one;
    one.normal = unit(surface.area(t));
    for (int k = 0; k < 3; ++k) {
      const std::int32_t a = corners[k], b = corners[(k + 1) % 3];
      one.corner[k] = surface.corner(t, k);
      one.vertex[k] = at_vertex[static_cast<std::size_t>(a)];
      const auto edge = at_edge.find(std::minmax(a, b));
      one.edge[k] = edge != at_edge.end() ? edge->second : one.normal;
    }
    if (is_hidden(mesh, one)) return false;
    all.push_back(one);
  }
  tree.each_node([&](const Vec3& low, const Vec3& high, std::uint32_t first, std::uint32_t count) {
    nodes.push_back({low, high, static_cast<std::int32_t>(first), static_cast<std::int32_t>(count)});
  });
  triangles.insert(triangles.end(), all.begin(), all.end());
  return true;
}

}  // namespace tribo
