#include "tribo/matter/rigid/feelers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

/// Points on an edge of a shape, or across its faces, at most.
constexpr int most_along = 64, most_across = 16;
/// Points that a round face stands on: the polygon that they span is 0.9 % narrower at most.
constexpr int around_face = 24;

class Feelers {
 public:
  explicit Feelers(double spacing) : spacing_(spacing) {}

  std::vector<RigidSample> take() {
    all_.insert(all_.end(), faces_.begin(), faces_.end());
    return std::move(all_);
  }

  void add(const Shape<double>& shape) {
    std::visit([&](const auto& s) { of(s); }, shape);
  }

 private:
  void corner(const Vec3& x, const Vec3& n) { all_.push_back({x, length_and_direction(n).normal, 0, 0, Feeler::corner}); }
  void ball(const Vec3& x, double radius) { all_.push_back({x, Vec3::zero(), radius, 0, Feeler::ball}); }
  void face(const Vec3& x, const Vec3& n) { faces_.push_back({x, n, 0, 0, Feeler::face}); }
  void ring(double y, double radius, double ring) { all_.push_back({{{0, y, 0}}, {{0, 1, 0}}, radius, ring, Feeler::ring}); }
  /// Points that a round face at the height y stands on.
  void rims(double y, double ring) {
    for (int i = 0; i < around_face; ++i) {
      const double angle = 2 * std::numbers::pi * (i + 0.5) / around_face;
      all_.push_back({{{ring * std::cos(angle), y, ring * std::sin(angle)}},
                      {{0, y < 0 ? -1.0 : 1.0, 0}},
                      0,
                      0,
                      Feeler::rim});
    }
  }
  int parts(double length, int most) const {
    return std::clamp(static_cast<int>(std::ceil(length / spacing_)), 2, most);
  }

  void of(const HalfSpace<double>&) {}
  void of(const Sphere<double>& s) { ball(Vec3::zero(), s.radius); }

  void of(const Box<double>& box) {
    const Vec3 half = 0.5 * box.size;
    for (int i = 0; i < 8; ++i) {
      const Vec3 side{{i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1.0 : -1.0}};
      corner({{side[0] * half[0], side[1] * half[1], side[2] * half[2]}}, side);
    }
    for (int axis = 0; axis < 3; ++axis) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3, count = parts(box.size[axis], most_along);
      for (int i = 1; i < count; ++i)
        for (const double a : {-1.0, 1.0})
          for (const double b : {-1.0, 1.0}) {
            Vec3 x, n = Vec3::zero();
            x[axis] = (2.0 * i / count - 1) * half[axis];
            x[u] = a * half[u];
            x[v] = b * half[v];
            n[u] = a;
            n[v] = b;
            corner(x, n);
          }
      const int across = parts(box.size[u], most_across), along = parts(box.size[v], most_across);
      for (const double side : {-1.0, 1.0})
        for (int i = 0; i < across; ++i)
          for (int j = 0; j < along; ++j) {
            Vec3 x, n = Vec3::zero();
            x[axis] = side * half[axis];
            x[u] = ((2.0 * i + 1) / across - 1) * half[u];
            x[v] = ((2.0 * j + 1) / along - 1) * half[v];
            n[axis] = side;
            face(x, n);
          }
    }
  }

  /// Balls along the axis, so close that the surface between them is recessed by 1/32 of the radius at most.
  void of(const Capsule<double>& c) {
    const int count = c.height > 0 ? std::clamp(static_cast<int>(std::ceil(2 * c.height / c.radius)), 1, most_along) : 0;
    for (int i = 0; i <= count; ++i)
      ball({{0, count > 0 ? (static_cast<double>(i) / count - 0.5) * c.height : 0, 0}}, c.radius);
  }

  void of(const Cylinder<double>& c) {
    const int count = parts(c.height, most_along);
    for (int i = 0; i <= count; ++i) ring((static_cast<double>(i) / count - 0.5) * c.height, 0, c.radius);
    for (const double side : {-1.0, 1.0}) {
      rims(0.5 * side * c.height, c.radius);
      const int across = parts(2 * c.radius, most_across);
      for (int i = 0; i < across; ++i)
        for (int j = 0; j < across; ++j) {
          const Vec3 x{{((2.0 * i + 1) / across - 1) * c.radius, 0.5 * side * c.height,
                        ((2.0 * j + 1) / across - 1) * c.radius}};
          if (x[0] * x[0] + x[2] * x[2] < c.radius * c.radius) face(x, {{0, side, 0}});
        }
    }
  }

  void of(const Torus<double>& t) {
    ring(0, t.tube, t.ring);
    for (const double side : {-1.0, 1.0}) rims(side * t.tube, t.ring);
  }

  void of(const Mesh& mesh) { surface(mesh.solid().mesh); }
  void of(const Compound& compound) { surface(compound.surface()); }

  void surface(const SurfaceMesh& mesh) {
    std::vector<Vec3> normal(mesh.vertices.size(), Vec3::zero());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
      for (int k = 0; k < 3; ++k) normal[static_cast<std::size_t>(mesh.triangles[t][k])] += mesh.area(t);
    for (std::size_t i = 0; i < normal.size(); ++i) corner(mesh.vertices[i], normal[i]);
  }

  double spacing_;
  std::vector<RigidSample> all_, faces_;
};

}  // namespace

std::vector<RigidSample> feelers_of(const Shape<double>& shape, double spacing) {
  Feelers feelers(spacing);
  feelers.add(shape);
  return feelers.take();
}

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

double thickness_of(const Shape<double>& shape) {
  if (const auto* box = std::get_if<Box<double>>(&shape)) return std::min({box->size[0], box->size[1], box->size[2]});
  if (const auto* sphere = std::get_if<Sphere<double>>(&shape)) return 2 * sphere->radius;
  if (const auto* capsule = std::get_if<Capsule<double>>(&shape)) return 2 * capsule->radius;
  if (const auto* cylinder = std::get_if<Cylinder<double>>(&shape))
    return std::min(2 * cylinder->radius, cylinder->height);
  if (const auto* torus = std::get_if<Torus<double>>(&shape)) return 2 * torus->tube;
  const Bounds bounds = std::visit([](const auto& s) { return s.bounds(); }, shape);
  constexpr int cuts = 24;
  double deepest = 0;
  for (int i = 0; i < cuts * cuts * cuts; ++i) {
    const Vec<int, 3> cell{{i % cuts, i / cuts % cuts, i / (cuts * cuts)}};
    Vec3 x;
    for (int k = 0; k < 3; ++k) x[k] = bounds.low[k] + (bounds.high[k] - bounds.low[k]) * (cell[k] + 0.5) / cuts;
    deepest = std::max(deepest, -std::visit([&](const auto& s) { return s.nearest(x).distance; }, shape));
  }
  return 2 * deepest;
}

}  // namespace tribo
