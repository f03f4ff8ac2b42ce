#include "tribo/matter/rigid/feelers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "tribo/colliders/extract.h"
#include "tribo/matter/rigid/surface_feelers.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

double size_of(const SurfaceMesh& mesh) {
  auto low = Vec3::filled(1e300), high = Vec3::filled(-1e300);
  for (const Vec3& x : mesh.vertices)
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], x[k]);
      high[k] = std::max(high[k], x[k]);
    }
  return mesh.vertices.empty() ? 0 : std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
}

/// Points on an edge of a shape, or across its faces, at most.
constexpr int most_along = 64, most_across = 16;
/// Points that a round face stands on: the polygon that they span is 0.9 % narrower at most.
constexpr int around_face = 24;

/// Of a surface that is known by its triangles. What bends gently is felt for twice as finely as edges are, unless that
/// would be too many.
std::vector<RigidSample> limited_feelers(const SurfaceMesh& mesh, double spacing,
                                         const std::function<bool(const Vec3&)>& counts) {
  const double size = size_of(mesh), edges = std::max(spacing, size / most_along);
  for (double gentle = 0.5 * edges;; gentle *= 1.5) {
    std::vector<RigidSample> samples = surface_feelers(mesh, edges, gentle, counts);
    if (samples.size() <= most_feelers || gentle > size) return samples;
  }
}

std::vector<RigidSample> compound_feelers(const Compound& compound, double spacing);

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

  void of(const Mesh& mesh) {
    // Parts that overlap are one solid (DistanceField): what is within another part is not on its surface.
    const double rounding = mesh.field().spacing;
    surface(mesh.solid().mesh, [&](const Vec3& x) { return mesh.nearest(x).distance > -rounding; });
  }
  void of(const Compound& compound) {
    for (const RigidSample& sample : compound_feelers(compound, spacing_))
      (sample.feeler == Feeler::face ? faces_ : all_).push_back(sample);
  }

  void surface(const SurfaceMesh& mesh, const std::function<bool(const Vec3&)>& counts) {
    for (const RigidSample& sample : limited_feelers(mesh, spacing_, counts))
      (sample.feeler == Feeler::face ? faces_ : all_).push_back(sample);
  }

  double spacing_;
  std::vector<RigidSample> all_, faces_;
};

/// What is left of the feelers of parts when they are combined, and those of the seams between them.
class CompoundFeelers {
 public:
  explicit CompoundFeelers(double spacing) : spacing_(spacing) {}

  std::vector<RigidSample> of(const Compound& compound) const {
    return compound
        .fold([&](const SimpleShape& shape, const Compound::Placement& place) { return leaf(shape, place); },
              [&](Operation operation, double blend, Part first, Part second) {
                return operation == Operation::unite ? united(blend, first, second)
                                                     : cut(operation, blend, first, second);
              })
        .samples;
  }

 private:
  using Surface = std::function<SurfacePoint<double, 3>(const Vec3&)>;
  struct Part {
    std::vector<RigidSample> samples;
    Surface nearest;
    Bounds bounds;
    double rounding;        ///< of the distance [m]
    bool convex = false;
    bool complete = true;   ///< whether there are feelers all over its surface
  };

  Part leaf(const SimpleShape& shape, const Compound::Placement& place) const {
    const Mat<double, 3> to_local = transpose(place.rotation);
    Part part;
    part.rounding = 1e-6 * spacing_;
    std::visit(
        [&]<class S>(const S& s) {
          part.samples = feelers_of(Shape<double>(s), spacing_);
          part.bounds = turned(s.bounds(), place.rotation, place.at);
          part.convex = !std::is_same_v<S, Mesh> && !std::is_same_v<S, Torus<double>>;
          part.complete = part.bounds.bounded;
          if constexpr (std::is_same_v<S, Mesh>) part.rounding = s.field().spacing;
          part.nearest = [s, place, to_local](const Vec3& p) {
            SurfacePoint<double, 3> found = s.nearest(to_local * (p - place.at));
            found.normal = place.rotation * found.normal;
            return found;
          };
        },
        shape);
    for (RigidSample& sample : part.samples) {
      sample.x = place.rotation * sample.x + place.at;
      sample.n = place.rotation * sample.n;
    }
    return part;
  }

  static bool all(const RigidSample& sample, const std::function<bool(const Vec3&, double)>& is) {
    bool result = true;
    each_ball_of(sample, [&](const Vec3& center, double radius) { result = result && is(center, radius); });
    return result;
  }

  static Surface joined(Operation operation, double blend, const Part& a, const Part& b) {
    return [operation, blend, a = a.nearest, b = b.nearest](const Vec3& p) {
      return combined(operation, a(p), b(p), blend);
    };
  }

  /// Without what has disappeared in the other one.
  static Part united(double blend, const Part& a, const Part& b) {
    Part sum;
    sum.nearest = joined(Operation::unite, blend, a, b);
    sum.bounds = tribo::united(a.bounds, b.bounds, 0.25 * blend);
    sum.rounding = std::max(a.rounding, b.rounding);
    sum.complete = a.complete && b.complete;
    const auto keep = [&](const Part& from, const Part& other) {
      for (const RigidSample& sample : from.samples)
        if (!all(sample, [&](const Vec3& x, double r) { return other.nearest(x).distance < -r - other.rounding; }))
          sum.samples.push_back(sample);
    };
    keep(a, b);
    keep(b, a);
    return sum;
  }

  /// What the other one has left whole, and seams.
  Part cut(Operation operation, double blend, const Part& a, const Part& b) const {
    const bool difference = operation == Operation::difference;
    Part rest;
    rest.nearest = joined(operation, blend, a, b);
    rest.bounds = difference ? a.bounds : common(a.bounds, b.bounds);
    rest.rounding = std::max(a.rounding, b.rounding);
    bool cut_a = !a.complete, cut_b = !b.complete || (difference && !b.convex);
    const auto keep = [&](const Part& from, const Part& other, bool outside, bool& was_cut) {
      for (const RigidSample& sample : from.samples) {
        const bool point = !(sample.radius > 0) && sample.feeler != Feeler::ring;
        // A point is on the surface yet, or not; a ball of which part is gone must not feel there.
        const bool whole = all(sample, [&](const Vec3& x, double r) {
          const double distance = outside ? other.nearest(x).distance : -other.nearest(x).distance;
          return distance >= r - rest.rounding && distance >= (point ? 0 : blend) - rest.rounding;
        });
        if (whole)
          rest.samples.push_back(sample);
        else if (!point)
          was_cut = true;
      }
    };
    keep(a, b, difference, cut_a);
    if (!difference) keep(b, a, false, cut_b);
    rest.complete = rest.bounds.bounded;
    if (!rest.complete) return rest;
    const SurfaceMesh surface = extract_surface(rest.nearest, rest.bounds);
    const double near = 0.02 * size_of(surface) / 124 + rest.rounding + blend;
    for (const RigidSample& sample : limited_feelers(surface, spacing_, [&](const Vec3& x) {
           const bool on_a = std::abs(a.nearest(x).distance) < near, on_b = std::abs(b.nearest(x).distance) < near;
           return (on_a && on_b) || (cut_a && on_a) || (cut_b && on_b);
         }))
      rest.samples.push_back(sample);
    return rest;
  }

  double spacing_;
};

std::vector<RigidSample> compound_feelers(const Compound& compound, double spacing) {
  return CompoundFeelers(spacing).of(compound);
}

}  // namespace

std::vector<RigidSample> feelers_of(const Shape<double>& shape, double spacing) {
  Feelers feelers(spacing);
  feelers.add(shape);
  return feelers.take();
}

}  // namespace tribo
