#include "tribo/matter/rigid/extent.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "tribo/matter/rigid/solid_triangles.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

/// Half of what a shape about the origin takes up along a direction of unit length.
double half_width(const Box<double>& s, const Vec3& n) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += 0.5 * s.size[k] * std::abs(n[k]);
  return sum;
}
double half_width(const Sphere<double>& s, const Vec3&) { return s.radius; }
double half_width(const Capsule<double>& s, const Vec3& n) { return s.radius + 0.5 * s.height * std::abs(n[1]); }
double half_width(const Cylinder<double>& s, const Vec3& n) {
  return s.radius * std::sqrt(std::max(0.0, 1 - n[1] * n[1])) + 0.5 * s.height * std::abs(n[1]);
}
double half_width(const Torus<double>& s, const Vec3& n) {
  return s.tube + s.ring * std::sqrt(std::max(0.0, 1 - n[1] * n[1]));
}
template <class S>
concept HasWidth = requires(const S& s, const Vec3& n) {
  half_width(s, n);
};

using Nearest = std::function<SurfacePoint<double, 3>(const Vec3&)>;

/// Largest ball inside that touches the surface at x, from behind, where distances are good to `rounding`.
double thickness_at(const Nearest& nearest, const Vec3& x, const Vec3& normal, double most, double rounding) {
  const auto fits = [&](double radius) { return nearest(x - radius * normal).distance <= rounding - radius; };
  double low = 0, high = 0.5 * most;
  for (int i = 0; i < 12; ++i) {
    const double middle = 0.5 * (low + high);
    (fits(middle) ? low : high) = middle;
  }
  return 2 * low;
}

/// What nine tenths of the surface have behind them at least. `rounding` of distances, or, below 0, a little.
double usual_thickness(const Nearest& nearest, const SurfaceMesh& surface, double rounding = -1) {
  std::vector<std::pair<double, double>> found;  // thickness and area
  double most = 0, area = 0;
  auto low = Vec3::filled(1e300), high = Vec3::filled(-1e300);
  for (const Vec3& x : surface.vertices)
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], x[k]);
      high[k] = std::max(high[k], x[k]);
    }
  for (int k = 0; k < 3; ++k) most = std::max(most, high[k] - low[k]);
  if (rounding < 0) rounding = 1e-4 * most;
  const std::size_t skip = std::max<std::size_t>(1, surface.triangles.size() / 2000);
  for (std::size_t t = 0; t < surface.triangles.size(); t += skip) {
    const double size = std::sqrt(squared_norm(surface.area(t)));
    if (!(size > 0)) continue;
    Vec3 x = (1.0 / 3) * (surface.corner(t, 0) + surface.corner(t, 1) + surface.corner(t, 2));
    SurfacePoint<double, 3> s = nearest(x);
    x = x - s.distance * s.normal;
    s = nearest(x);
    found.emplace_back(thickness_at(nearest, x - s.distance * s.normal, s.normal, most, rounding), size);
    area += size;
  }
  std::sort(found.begin(), found.end());
  double below = 0;
  for (const auto& [thickness, part] : found) {
    below += part;
    if (below >= 0.1 * area) return thickness;
  }
  return most;
}

double thickness(const HalfSpace<double>&) { return 1e300; }
double thickness(const Box<double>& s) { return std::min({s.size[0], s.size[1], s.size[2]}); }
double thickness(const Sphere<double>& s) { return 2 * s.radius; }
double thickness(const Capsule<double>& s) { return 2 * s.radius; }
double thickness(const Cylinder<double>& s) { return std::min(2 * s.radius, s.height); }
double thickness(const Torus<double>& s) { return 2 * s.tube; }
/// By the triangles themselves, since balls behind curved surfaces end where samples begin to round: steps of bodies of
/// scanned meshes were a hundredth of what they may be.
double thickness(const Mesh& mesh) {
  SolidTriangleLists exact;
  if (!exact.add(mesh))
    return usual_thickness([&](const Vec3& p) { return mesh.nearest(p); }, mesh.solid().mesh,
                           0.5 * mesh.field().spacing);
  const SolidTriangles triangles{exact.nodes.data(), exact.triangles.data()};
  return usual_thickness(
      [&](const Vec3& p) {
        SurfacePoint<double, 3> found{};
        triangles.nearest(p, 1e150, found);
        return found;
      },
      mesh.solid().mesh);
}
double thickness(const Compound& compound) {
  const double of_union = compound.fold(
      [](const SimpleShape& part, const Compound::Placement&) {
        return std::visit([](const auto& s) { return thickness(s); }, part);
      },
      [](Operation operation, double, double first, double second) {
        return operation == Operation::unite ? std::min(first, second) : 0;
      });
  if (of_union > 0) return of_union;
  return usual_thickness([&](const Vec3& p) { return compound.nearest(p); }, compound.surface());
}

}  // namespace

double reach_of(const Shape<double>& shape, const Vec3& center) {
  const double away = std::sqrt(squared_norm(center));
  if (const auto* sphere = std::get_if<Sphere<double>>(&shape)) return sphere->radius + away;
  if (const auto* capsule = std::get_if<Capsule<double>>(&shape)) return capsule->radius + 0.5 * capsule->height + away;
  if (const auto* cylinder = std::get_if<Cylinder<double>>(&shape))
    return std::hypot(cylinder->radius, 0.5 * cylinder->height) + away;
  if (const auto* torus = std::get_if<Torus<double>>(&shape)) return torus->ring + torus->tube + away;
  double farthest2 = 0;
  if (const auto* mesh = std::get_if<Mesh>(&shape)) {
    for (const Vec3& x : mesh->solid().mesh.vertices) farthest2 = std::max(farthest2, squared_norm(x - center));
    return std::sqrt(farthest2);
  }
  const Bounds bounds = std::visit([](const auto& s) { return s.bounds(); }, shape);
  for (int i = 0; i < 8; ++i) {
    Vec3 x;
    for (int k = 0; k < 3; ++k) x[k] = (i >> k & 1) != 0 ? bounds.high[k] : bounds.low[k];
    farthest2 = std::max(farthest2, squared_norm(x - center));
  }
  return std::sqrt(farthest2);
}

Bounds turned_bounds(const Shape<double>& shape, const Mat<double, 3>& rotation, const std::vector<Vec3>& surface) {
  return std::visit(
      [&]<class S>(const S& s) {
        Bounds bounds{true, Vec3::filled(1e300), Vec3::filled(-1e300)};
        if constexpr (HasWidth<S>) {
          for (int k = 0; k < 3; ++k) {
            bounds.high[k] = half_width(s, {{rotation(k, 0), rotation(k, 1), rotation(k, 2)}});
            bounds.low[k] = -bounds.high[k];
          }
        } else {
          for (const Vec3& p : surface) {
            const Vec3 x = rotation * p;
            for (int k = 0; k < 3; ++k) {
              bounds.low[k] = std::min(bounds.low[k], x[k]);
              bounds.high[k] = std::max(bounds.high[k], x[k]);
            }
          }
        }
        return bounds;
      },
      shape);
}

double thickness_of(const Shape<double>& shape) {
  return std::visit([](const auto& s) { return thickness(s); }, shape);
}

}  // namespace tribo
