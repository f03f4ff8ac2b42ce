#include "tribo/matter/rigid/surface_feelers.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;
using Corner = std::int32_t;

double length(const Vec3& a) { return std::sqrt(squared_norm(a)); }
Vec3 unit(const Vec3& a) { return length_and_direction(a).normal; }

/// Bends of an edge: hardly any, as within a curved surface, or sharp.
const double flat_bend = 0.5 * std::numbers::pi / 180, sharp_bend = 25 * std::numbers::pi / 180;

/// Points of which no two are nearer than asked for, found through a hash of cells.
class Spread {
 public:
  explicit Spread(double cell) : cell_(cell) {}

  /// Takes x unless one within `apart`, which is a cell at most, is there.
  bool take(const Vec3& x, double apart) {
    const auto at = key(x);
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k) {
          const auto found = points_.find({std::get<0>(at) + i, std::get<1>(at) + j, std::get<2>(at) + k});
          if (found == points_.end()) continue;
          for (const Vec3& other : found->second)
            if (squared_norm(other - x) < apart * apart) return false;
        }
    points_[at].push_back(x);
    return true;
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  Key key(const Vec3& x) const {
    const auto cell = [&](int k) { return static_cast<std::int64_t>(std::floor(x[k] / cell_)); };
    return {cell(0), cell(1), cell(2)};
  }

  double cell_;
  std::map<Key, std::vector<Vec3>> points_;
};

class SurfaceSampler {
 public:
  SurfaceSampler(const SurfaceMesh& mesh, double edge_spacing, double smooth_spacing, double recess,
                 const std::function<bool(const Vec3&)>& counts)
      : edge_spacing_(edge_spacing),
        smooth_spacing_(smooth_spacing),
        recess_(recess),
        counts_(counts),
        taken_(std::max(edge_spacing, smooth_spacing)) {
    weld(mesh);
    find_edges();
  }

  std::vector<RigidSample> sample() {
    corners();
    edges(true);
    gentle();
    edges(false);
    faces();
    return std::move(samples_);
  }

 private:
  /// One vertex for each place: what is drawn has several along creases.
  void weld(const SurfaceMesh& mesh) {
    std::map<std::tuple<double, double, double>, Corner> number;
    std::vector<Corner> of;
    for (const Vec3& x : mesh.vertices) {
      const auto [found, is_new] = number.try_emplace({x[0], x[1], x[2]}, static_cast<Corner>(x_.size()));
      if (is_new) x_.push_back(x);
      of.push_back(found->second);
    }
    for (const auto& t : mesh.triangles) {
      Vec<Corner, 3> corners;
      for (int k = 0; k < 3; ++k) corners[k] = of[static_cast<std::size_t>(t[k])];
      const Vec3 area = 0.5 * cross(at(corners[1]) - at(corners[0]), at(corners[2]) - at(corners[0]));
      if (!(squared_norm(area) > 0)) continue;
      triangles_.push_back(corners);
      area_.push_back(length(area));
      normal_.push_back(unit(area));
    }
  }
  const Vec3& at(Corner i) const { return x_[static_cast<std::size_t>(i)]; }

  struct Edge {
    Corner a, b;
    Vec3 normal;
    double bend;  ///< angle between its sides, positive outward [rad]
  };

  void find_edges() {
    struct Half {
      Corner a, b;
      std::size_t triangle;
    };
    std::vector<Half> halves;
    for (std::size_t t = 0; t < triangles_.size(); ++t)
      for (int k = 0; k < 3; ++k) {
        const Corner a = triangles_[t][k], b = triangles_[t][(k + 1) % 3];
        halves.push_back({std::min(a, b), std::max(a, b), t});
      }
    std::sort(halves.begin(), halves.end(), [](const Half& p, const Half& q) {
      return std::tie(p.a, p.b, p.triangle) < std::tie(q.a, q.b, q.triangle);
    });
    sharp_.assign(x_.size(), {});
    curvature_.assign(x_.size(), 0);
    at_vertex_.assign(x_.size(), Vec3::zero());
    for (std::size_t t = 0; t < triangles_.size(); ++t)
      for (int k = 0; k < 3; ++k) at_vertex_[index(triangles_[t][k])] += area_[t] * normal_[t];
    for (std::size_t i = 0; i + 1 < halves.size(); ++i) {
      if (halves[i].a != halves[i + 1].a || halves[i].b != halves[i + 1].b) continue;
      const Vec3 &m = normal_[halves[i].triangle], &n = normal_[halves[i + 1].triangle];
      const Corner a = halves[i].a, b = halves[i].b;
      Corner opposite = a;
      for (int k = 0; k < 3; ++k)
        if (const Corner c = triangles_[halves[i + 1].triangle][k]; c != a && c != b) opposite = c;
      const double angle = std::atan2(length(cross(m, n)), dot(m, n));
      const Edge edge{a, b, unit(m + n), dot(at(opposite) - at(a), m) < 0 ? angle : -angle};
      if (edge.bend > flat_bend) {
        edges_.push_back(edge);
        const double size = length(at(b) - at(a));
        for (const Corner end : {a, b})
          curvature_[index(end)] = std::max(curvature_[index(end)], 2 * edge.bend / size);
      }
      if (edge.bend > sharp_bend) {
        sharp_[index(a)].push_back(b);
        sharp_[index(b)].push_back(a);
      }
    }
  }
  static std::size_t index(Corner i) { return static_cast<std::size_t>(i); }

  void take(const Vec3& x, const Vec3& n, double apart) {
    if (counts_(x) && taken_.take(x, apart)) samples_.push_back({x, n});
  }

  /// Where edges end, branch or turn.
  void corners() {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const std::vector<Corner>& to = sharp_[i];
      bool corner = to.size() == 1 || to.size() > 2;
      if (to.size() == 2) corner = dot(unit(at(to[0]) - x_[i]), unit(at(to[1]) - x_[i])) > -std::cos(sharp_bend);
      if (corner) take(x_[i], unit(at_vertex_[i]), 0.1 * edge_spacing_);
    }
  }
  void edges(bool sharp) {
    const double spacing = sharp ? edge_spacing_ : smooth_spacing_;
    for (const Edge& edge : edges_) {
      if ((edge.bend > sharp_bend) != sharp) continue;
      if (sharp) {
        take(at(edge.a), unit(at_vertex_[index(edge.a)]), 0.5 * spacing);
        take(at(edge.b), unit(at_vertex_[index(edge.b)]), 0.5 * spacing);
      }
      const double size = length(at(edge.b) - at(edge.a));
      const int parts = std::max(sharp && size > 0.5 * spacing ? 2 : 1, static_cast<int>(std::ceil(size / spacing)));
      for (int i = 1; i < parts; ++i)
        take(at(edge.a) + (static_cast<double>(i) / parts) * (at(edge.b) - at(edge.a)), edge.normal, 0.5 * spacing);
    }
  }
  /// So close that the surface between them is recessed by `recess_` at most: what rests on a knob that has none sinks
  /// in by the knob.
  void gentle() {
    for (std::size_t i = 0; i < x_.size(); ++i)
      if (curvature_[i] > 0)
        take(x_[i], unit(at_vertex_[i]), std::min(smooth_spacing_, std::sqrt(8 * recess_ / curvature_[i])));
  }

  /// As many as a triangle's area asks for, with what is left over handed on to the next.
  void faces() {
    const double each = edge_spacing_ * edge_spacing_;
    double owed = 0.5;
    for (std::size_t t = 0; t < triangles_.size(); ++t) {
      owed += area_[t] / each;
      const int count = static_cast<int>(std::min(owed, 4096.0));
      owed -= std::floor(owed);
      const Vec3 &a = at(triangles_[t][0]), &b = at(triangles_[t][1]), &c = at(triangles_[t][2]);
      for (int j = 0; j < count; ++j) {
        const double u = std::sqrt((j + 0.5) / count), along = 0.5 + 0.6180339887498949 * j;
        const double v = along - std::floor(along);
        const Vec3 x = (1 - u) * a + (u * (1 - v)) * b + (u * v) * c;
        if (counts_(x)) samples_.push_back({x, normal_[t], 0, 0, 0, Feeler::face});
      }
    }
  }

  double edge_spacing_, smooth_spacing_, recess_;
  const std::function<bool(const Vec3&)>& counts_;
  Spread taken_;
  std::vector<Vec3> x_, normal_, at_vertex_;  ///< the last two: of triangles; of vertices, as long as areas around
  std::vector<double> area_;
  std::vector<Vec<Corner, 3>> triangles_;
  std::vector<Edge> edges_;                 ///< that bend outward
  std::vector<std::vector<Corner>> sharp_;  ///< of vertices: the other ends of sharp edges
  std::vector<double> curvature_;           ///< the most by edges there that bend outward [1/m]
  std::vector<RigidSample> samples_;
};

}  // namespace

std::vector<RigidSample> surface_feelers(const SurfaceMesh& mesh, double edge_spacing, double smooth_spacing,
                                         double recess, const std::function<bool(const Vec3&)>& counts) {
  return SurfaceSampler(mesh, edge_spacing, smooth_spacing, recess, counts).sample();
}

}  // namespace tribo
