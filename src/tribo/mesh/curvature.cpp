#include "tribo/mesh/curvature.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace tribo {
namespace {

using P = Vec<double, 3>;

struct Side {
  std::int32_t low, high;
  std::size_t triangle;
};
struct Bend {
  double curvature, area;
};

double norm(const P& p) { return std::sqrt(squared_norm(p)); }
P center(const SurfaceMesh& mesh, std::size_t t) {
  return (1.0 / 3) * (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2));
}

}  // namespace

double surface_curvature(const SurfaceMesh& mesh, double part) {
  std::vector<Side> sides;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const std::int32_t a = mesh.triangles[t][k], b = mesh.triangles[t][(k + 1) % 3];
      sides.push_back({std::min(a, b), std::max(a, b), t});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
  });
  std::vector<Bend> bends;
  double all = 0;
  for (std::size_t i = 0; i + 1 < sides.size(); ++i) {
    if (sides[i].low != sides[i + 1].low || sides[i].high != sides[i + 1].high) continue;
    const std::size_t s = sides[i].triangle, t = sides[i + 1].triangle;
    const P m = mesh.area(s), n = mesh.area(t);
    const double apart = norm(center(mesh, s) - center(mesh, t)), area = norm(m) + norm(n);
    if (!(apart > 0 && area > 0)) continue;
    bends.push_back({std::atan2(norm(cross(m, n)), dot(m, n)) / apart, area});
    all += area;
  }
  std::sort(bends.begin(), bends.end(),
            [](const Bend& a, const Bend& b) { return std::tie(a.curvature, a.area) < std::tie(b.curvature, b.area); });
  double sum = 0;
  for (const Bend& bend : bends) {
    sum += bend.area;
    if (sum >= part * all) return bend.curvature;
  }
  return 0;
}

}  // namespace tribo
