#include "tribo/matter/strands/making.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <queue>
#include <span>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/mesh/point_tree.h"
#include "tribo/setup/random.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;
constexpr double pi = std::numbers::pi;

[[noreturn]] void refuse(const std::string& message) { throw Error(ExitCode::bad_input, message); }

double norm(const Vec3& v) { return std::sqrt(squared_norm(v)); }
Vec3 unit(const Vec3& v) { return length_and_direction(v).normal; }
double smooth_step(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}
/// A unit vector across n.
Vec3 across(const Vec3& n) {
  Vec3 axis = Vec3::zero();
  axis[std::abs(n[0]) < 0.6 ? 0 : 1] = 1;
  return unit(cross(n, axis));
}

/// Independent random numbers for each purpose.
enum class Purpose : std::uint64_t { area = 1, candidates, strands, tube };
Random random_for(std::int64_t seed, Purpose purpose) {
  return Random(static_cast<std::int64_t>(
      mixed_bits(static_cast<std::uint64_t>(seed) ^ (static_cast<std::uint64_t>(purpose) << 56))));
}

SurfacePoint<double, 3> nearest_to(const Shape<double>& shape, const Vec3& p) {
  return std::visit([&](const auto& s) { return s.nearest(p); }, shape);
}

/// Random points of a surface, in strata of equal area.
class SurfaceSampler {
 public:
  explicit SurfaceSampler(SurfaceMesh mesh) : mesh_(std::move(mesh)) {
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      area_ += norm(mesh_.area(t));
      up_to_.push_back(area_);
    }
  }
  double area() const { return area_; }
  Vec3 at(const Random& random, std::size_t i, std::size_t count) const {
    const double wanted = area_ * (static_cast<double>(i) + random.at(3 * i)) / static_cast<double>(count);
    const auto found = std::upper_bound(up_to_.begin(), up_to_.end(), wanted);
    const auto t = static_cast<std::size_t>(std::min(found, up_to_.end() - 1) - up_to_.begin());
    const double u = std::sqrt(random.at(3 * i + 1)), v = random.at(3 * i + 2);
    return (1 - u) * mesh_.corner(t, 0) + u * (1 - v) * mesh_.corner(t, 1) + u * v * mesh_.corner(t, 2);
  }

 private:
  SurfaceMesh mesh_;
  std::vector<double> up_to_;  ///< area of the triangles up to each
  double area_ = 0;
};

/// Points by cubic cells.
class PointCells {
 public:
  PointCells(const std::vector<Vec3>& points, double edge) : points_(points), edge_(edge) {
    for (std::size_t i = 0; i < points.size(); ++i) entries_.push_back({key_of(cell_of(points[i])), i});
    std::sort(entries_.begin(), entries_.end());
  }
  /// Calls visit(index, distance) for the points nearer than the cells' edge to point i, but that one.
  template <class Visit>
  void each_near(std::size_t i, const Visit& visit) const {
    const Cell c = cell_of(points_[i]);
    for (std::int64_t x = c[0] - 1; x <= c[0] + 1; ++x)
      for (std::int64_t y = c[1] - 1; y <= c[1] + 1; ++y) {
        // Neighbors along z follow each other.
        auto entry =
            std::lower_bound(entries_.begin(), entries_.end(), std::pair{key_of({x, y, c[2] - 1}), std::size_t{0}});
        const std::uint64_t last = key_of({x, y, c[2] + 1});
        for (; entry != entries_.end() && entry->first <= last; ++entry) {
          if (entry->second == i) continue;
          const double d = norm(points_[entry->second] - points_[i]);
          if (d < edge_) visit(entry->second, d);
        }
      }
  }

 private:
  using Cell = std::array<std::int64_t, 3>;
  Cell cell_of(const Vec3& p) const {
    Cell c;
    for (int k = 0; k < 3; ++k)
      c[static_cast<std::size_t>(k)] = static_cast<std::int64_t>(std::floor(p[k] / edge_)) + (1 << 20);
    return c;
  }
  static std::uint64_t key_of(const Cell& c) {
    std::uint64_t key = 0;
    for (const std::int64_t i : c) key = key << 21 | (static_cast<std::uint64_t>(i) & 0x1fffff);
    return key;
  }
  const std::vector<Vec3>& points_;
  double edge_;
  std::vector<std::pair<std::uint64_t, std::size_t>> entries_;
};

/// Carries two vectors across the path along it without twist.
class Transport {
 public:
  explicit Transport(const Vec3& tangent) : tangent_(tangent), u_(across(tangent)) {}
  void to(const Vec3& tangent) {
    // The rotation that takes one tangent to the next the short way.
    const Vec3 axis = cross(tangent_, tangent);
    const double cosine = dot(tangent_, tangent);
    if (cosine > -0.999) u_ = u_ + cross(axis, u_) + (1 / (1 + cosine)) * cross(axis, cross(axis, u_));
    u_ = unit(u_ - dot(u_, tangent) * tangent);
    tangent_ = tangent;
  }
  const Vec3& u() const { return u_; }
  Vec3 v() const { return cross(tangent_, u_); }

 private:
  Vec3 tangent_, u_;
};

/// The direction wanted after that before, turned by a right angle at most.
Vec3 turned_aside(const Vec3& before, const Vec3& wanted) {
  const double back = dot(wanted, before);
  if (!(back < 0)) return wanted;
  const Vec3 aside = wanted - back * before;
  return squared_norm(aside) > 1e-12 ? unit(aside) : across(before);
}

/// So many chords of a polyline from its start on, each as long as that; straight on where it ends. What is cut by
/// length along the line has short chords where it bends, and the shortest of a scene limits its steps.
std::vector<Vec3> equal_chords(const std::vector<Vec3>& points, std::size_t count, double chord) {
  std::vector<Vec3> out{points.front()};
  Vec3 last = points[1] - points[0];
  std::size_t next = 1;
  bool within = true;
  while (out.size() <= count) {
    const Vec3 from = out.back();
    while (next < points.size() && norm(points[next] - from) < chord) ++next;
    if (next == points.size()) {
      const Vec3 rest = points.back() - from;
      if (within && squared_norm(rest) > 0) last = rest;
      within = false;
      out.push_back(from + chord * unit(last));
      continue;
    }
    // Where the line leaves the ball about `from`: it begins within or, after a chord that ends there, on its surface.
    const Vec3 a = (norm(points[next - 1] - from) < chord ? points[next - 1] : from) - from,
               d = points[next] - from - a;
    const double along = dot(a, d), d2 = squared_norm(d);
    const double t = (-along + std::sqrt(along * along + d2 * std::max(0.0, chord * chord - squared_norm(a)))) / d2;
    const Vec3 along_chord = turned_aside(unit(last), unit(a + std::min(t, 1.0) * d));  // of folds that the scalp made
    out.push_back(from + chord * along_chord);
    last = along_chord;
  }
  return out;
}

std::size_t segments_of(const HairSpec& hair, double length) {
  if (hair.segment_length) return static_cast<std::size_t>(std::max(1.0, std::round(length / *hair.segment_length)));
  return static_cast<std::size_t>(std::max<std::int64_t>(1, hair.segments));
}

/// Grows strands one by one from their roots.
class Growth {
 public:
  Growth(const ScalpSpec& scalp, const HairSpec& hair, double radius)
      : scalp_(scalp), hair_(hair), radius_(radius), random_(random_for(hair.seed, Purpose::strands)) {
    step_ = scalp.length / 96;
    if (curls()) step_ = std::min(step_, scalp.curl_pitch / 24);
    if (scalp.comb_amount > 0) step_ = std::min(step_, std::max(scalp.comb_length, 1e-3 * scalp.length) / 8);
    step_ = std::max(step_, scalp.length / 4096);
    // Chords are shorter than the way along the path, and tips that are drawn to others have a shorter way there; the
    // rest is cut off.
    steps_ = static_cast<std::size_t>(std::ceil((scalp.clumps > 0 ? 1.3 : 1.15) * scalp.length / step_));
  }

  Strands strands() {
    const Roots roots = place_roots(scalp_, hair_.seed);
    const std::size_t count = roots.positions.size();
    std::vector<std::vector<Vec3>> grown(count);
    std::vector<std::size_t> guides;
    if (scalp_.clumps > 0)
      guides = spread_evenly(roots.positions, std::min(count, static_cast<std::size_t>(scalp_.clumps)), roots.area);
    std::vector<Vec3> guide_roots;
    for (const std::size_t guide : guides) guide_roots.push_back(roots.positions[guide]);
    const PointTree tree(std::move(guide_roots));
    std::vector<std::vector<Vec3>> guide_paths(guides.size());
    tbb::parallel_for(std::size_t{0}, guides.size(),
                      [&](std::size_t g) { guide_paths[g] = path(roots, guides[g], guides[g]); });
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      const std::size_t g = guides.empty() ? 0 : tree.nearest(roots.positions[i]);
      std::vector<Vec3> points = path(roots, i, guides.empty() ? i : guides[g]);
      const double length = scalp_.length * (1 - scalp_.length_variation * draw(i, 0));
      if (!guides.empty()) gather(points, guide_paths[g], length);
      push_out(points);
      if (scalp_.root_depth > 0)
        points.insert(points.begin(), roots.positions[i] - scalp_.root_depth * roots.normals[i]);
      const double whole = scalp_.root_depth + length;
      const std::size_t segments = segments_of(hair_, whole);
      grown[i] = equal_chords(points, segments, whole / static_cast<double>(segments));
    });
    Strands out;
    for (const std::vector<Vec3>& points : grown) add_strand(out, points);
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t s) {
      const auto begin = static_cast<std::size_t>(out.start[s]), end = static_cast<std::size_t>(out.start[s + 1]);
      settle(std::span(out.points).subspan(begin, end - begin));
    });
    // Hair that begins crossed stays so, near roots for as long as it is shaken, and passes through in the end.
    part_strands(out, 2 * radius_, clamped_points, [&](std::span<Vec3> points) { settle(points); });
    return out;
  }

 private:
  static constexpr std::size_t clamped_points = 2;

  bool curls() const { return scalp_.curl_radius > 0 && scalp_.curl_pitch > 0; }
  double draw(std::size_t strand, std::uint64_t purpose) const { return random_.at(8 * strand + purpose); }

  /// Where tips are combed to: on the other side of the parting, to the other side.
  Vec3 comb_at(const Vec3& root) const {
    Vec3 comb = scalp_.comb;
    if (scalp_.parting && dot(root - scalp_.parting->at, scalp_.parting->normal) < 0)
      comb = comb - 2 * dot(comb, scalp_.parting->normal) * scalp_.parting->normal;
    return comb;
  }

  /// The course of strand i, longer than needed; curls in step with strand `phase_of`.
  std::vector<Vec3> path(const Roots& roots, std::size_t i, std::size_t phase_of) const {
    const Vec3 n = roots.normals[i];
    const double tilt = scalp_.spread * pi / 180 * std::sqrt(draw(i, 1)), turn = 2 * pi * draw(i, 2);
    const Vec3 u = across(n), v = cross(n, u);
    const Vec3 first = std::cos(tilt) * n + std::sin(tilt) * (std::cos(turn) * u + std::sin(turn) * v);
    const Vec3 comb = comb_at(roots.positions[i]);
    const double clearance = 2 * radius_ + scalp_.lift * draw(i, 3);
    std::vector<Vec3> center{roots.positions[i]};
    Vec3 before = first;
    for (std::size_t k = 0; k < steps_; ++k) {
      const double along = (static_cast<double>(k) + 0.5) * step_;
      const double w = scalp_.comb_amount * (scalp_.comb_length > 0 ? smooth_step(along / scalp_.comb_length) : 1);
      Vec3 direction = (1 - w) * first + w * comb;
      if (squared_norm(direction) < 1e-6) direction = direction + 0.1 * u;  // combed straight back into the scalp
      before = turned_at_most(before, along_scalp(center.back(), unit(direction), along, clearance));
      center.push_back(center.back() + step_ * before);
    }
    if (!curls()) return center;
    return curled(center, 2 * pi * draw(phase_of, 4));
  }

  /// The direction of the next step, turned away from the scalp where that would come too near.
  Vec3 along_scalp(const Vec3& from, Vec3 direction, double along, double clearance) const {
    const double wanted = std::min(clearance, along);
    for (int i = 0; i < 4; ++i) {
      const SurfacePoint<double, 3> s = nearest_to(scalp_.shape, from + step_ * direction);
      if (s.distance >= wanted) break;
      direction = unit(direction + ((wanted - s.distance) / step_) * s.normal);
    }
    return direction;
  }

  /// The direction wanted, or as near to it as a step may turn. In a valley the scalp sends strands that are combed
  /// into it from one side to the other: they would fold up there, more tightly than their segments can. They turn by
  /// no more than a right angle in a segment.
  Vec3 turned_at_most(const Vec3& before, const Vec3& wanted) const {
    const double length = scalp_.length + scalp_.root_depth;
    const double most = 0.5 * pi * step_ * static_cast<double>(segments_of(hair_, length)) / length;
    const double cosine = dot(before, wanted);
    if (most >= pi || cosine >= std::cos(most)) return wanted;
    const Vec3 aside = wanted - cosine * before;
    return std::cos(most) * before + std::sin(most) * (squared_norm(aside) > 1e-12 ? unit(aside) : across(before));
  }

  /// A helix about a path, which it leaves gradually at the root.
  std::vector<Vec3> curled(const std::vector<Vec3>& center, double phase) const {
    std::vector<Vec3> out;
    Transport frame(unit(center[1] - center[0]));
    for (std::size_t k = 0; k < center.size(); ++k) {
      const std::size_t a = k > 0 ? k - 1 : 0, b = std::min(k + 1, center.size() - 1);
      frame.to(unit(center[b] - center[a]));
      const double s = static_cast<double>(k) * step_, angle = phase + 2 * pi * s / scalp_.curl_pitch;
      const double r = scalp_.curl_radius * smooth_step(s / scalp_.curl_pitch);
      out.push_back(center[k] + r * std::cos(angle) * frame.u() + r * std::sin(angle) * frame.v());
    }
    return out;
  }

  void gather(std::vector<Vec3>& points, const std::vector<Vec3>& guide, double length) const {
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double w = scalp_.clump_tightness * smooth_step(static_cast<double>(k) * step_ / length);
      points[k] = (1 - w) * points[k] + w * guide[std::min(k, guide.size() - 1)];
    }
  }

  /// Curls and clumps may have led into the scalp.
  void push_out(std::vector<Vec3>& points) const {
    for (std::size_t k = 1; k < points.size(); ++k) {
      const double wanted = std::min(2 * radius_, 0.5 * static_cast<double>(k) * step_);
      for (int i = 0; i < 3; ++i) {
        const SurfacePoint<double, 3> s = nearest_to(scalp_.shape, points[k]);
        if (s.distance >= wanted) break;
        points[k] += (wanted - s.distance) * s.normal;
      }
    }
  }

  /// Vertices of a strand out of the scalp, but for those up to its first in the open, and its segments as long as the
  /// first. Where the scalp leaves no other way than back, a strand turns aside: the curvature 2 tan(phi/2) of a joint
  /// that begins folded has no bounds. Some that were folded by 177 degrees held more energy than all the rest of the
  /// hair, and shook it without end.
  void settle(std::span<Vec3> points) const {
    const double chord = norm(points[1] - points[0]);
    bool open = false;
    for (std::size_t k = clamped_points; k < points.size(); ++k) {
      const Vec3 from = points[k - 1], before = unit(from - points[k - 2]);
      const auto go = [&](const Vec3& direction) { points[k] = from + chord * turned_aside(before, unit(direction)); };
      const auto distance = [&] { return nearest_to(scalp_.shape, points[k]).distance; };
      go(points[k] - from);
      const double found = distance();
      open = open || found >= radius_;
      if (!open || found >= radius_) continue;
      for (int i = 0; i < 4; ++i) {
        const SurfacePoint<double, 3> s = nearest_to(scalp_.shape, points[k]);
        if (s.distance >= radius_) break;
        go(points[k] + (1.5 * radius_ - s.distance) * s.normal - from);
      }
      if (distance() < radius_) points[k] = from + chord * way_out(from, chord, before, unit(points[k] - from));
    }
  }

  /// Of directions within a right angle of the last, that nearest to the wanted one which ends outside of the scalp;
  /// the one that ends least deep inside where none does.
  Vec3 way_out(const Vec3& from, double chord, const Vec3& before, const Vec3& wanted) const {
    const Vec3 u = across(before), v = cross(before, u);
    Vec3 best = wanted;
    double farthest = -std::numeric_limits<double>::infinity(), nearest = -2;
    constexpr int tilts = 3, turns = 16;
    for (int i = 0; i <= tilts; ++i)
      for (int j = 0; j < (i == 0 ? 1 : turns); ++j) {
        const double tilt = 0.5 * pi * i / tilts, turn = 2 * pi * j / turns;
        const Vec3 way = std::cos(tilt) * before + std::sin(tilt) * (std::cos(turn) * u + std::sin(turn) * v);
        const double room = std::min(nearest_to(scalp_.shape, from + chord * way).distance, radius_);
        const double agrees = dot(way, wanted);
        if (room < farthest || (room == farthest && agrees <= nearest)) continue;
        farthest = room;
        nearest = agrees;
        best = way;
      }
    return best;
  }

  const ScalpSpec& scalp_;
  const HairSpec& hair_;
  double radius_;
  Random random_;
  double step_ = 0;
  std::size_t steps_ = 0;
};

/// Throws when strands come nearer to each other than they are thick.
void check_apart(const Strands& strands, double radius, const char* what, const char* remedy) {
  const StrandGap gap = closest_strands(strands, 2 * radius);
  if (gap.one < 0) return;
  refuse(fmt::format("strands {} and {} of the {} come as near as {:.3g} m, and are {:.3g} m thick; {}", gap.one + 1,
                     gap.other + 1, what, gap.distance, 2 * radius, remedy));
}

/// The paths of a braid's bundles. Bundle k of m has its own phase on the common path
///   x = a sin p,   z = c a (sin 2p + e cos p),   y = -pitch p / 2 pi,   c = 0.6.
/// Two that are a phase q apart meet in x where p = (pi - q) / 2 and, the other way, half a period later. There their z
/// differ by 2 c a sin(q / 2) (2 cos(q / 2) +- e), of one sign for all q < pi when e is below every 2 cos(q / 2): of
/// the two the same is in front on both sides, where they cross in opposite directions, which is the usual braid. With
/// an even number of bundles some are opposite (q = pi), and only e keeps those apart. A larger c makes the braid
/// narrower and rounder.
class BraidPaths {
 public:
  BraidPaths(int bundles, double pitch) : bundles_(bundles), pitch_(pitch) {
    even_ = bundles % 2 == 0 ? std::sin(pi / bundles) : 0;
  }
  Vec3 at(int bundle, double width, double down) const {
    const double p = 2 * pi * (down / pitch_ + static_cast<double>(bundle) / bundles_);
    return {{width * std::sin(p), -down, flatness * width * (std::sin(2 * p) + even_ * std::cos(p))}};
  }
  std::vector<Vec3> path(int bundle, double width, double length, int steps) const {
    std::vector<Vec3> points;
    for (int i = 0; i <= steps; ++i) points.push_back(at(bundle, width, length * i / steps));
    return points;
  }
  /// Whether bundles that thick keep that far `apart` and can follow their bends.
  bool fits(double width, double apart, double bundle_radius) const {
    constexpr int steps = 192;
    Strands period;
    for (int k = 0; k < bundles_; ++k) add_strand(period, path(k, width, 1.5 * pitch_, steps));
    if (closest_strands(period, apart).one >= 0) return false;
    const std::span<const Vec3> one = strand_points(period, 0);
    for (std::size_t i = 1; i + 1 < one.size(); ++i) {
      const Vec3 a = one[i] - one[i - 1], b = one[i + 1] - one[i];
      const double curvature = 2 * norm(cross(a, b)) / (norm(a) * norm(b) * norm(a + b));
      if (curvature * bundle_radius > 0.8) return false;  // strands inside of the bend would bunch up
    }
    return true;
  }

 private:
  static constexpr double flatness = 0.6;

  int bundles_;
  double pitch_;
  double even_ = 0;
};

}  // namespace

std::vector<std::size_t> spread_evenly(const std::vector<Vec3>& points, std::size_t wanted, double area) {
  const std::size_t n = points.size();
  std::vector<std::size_t> kept;
  if (wanted >= n || wanted == 0) {
    for (std::size_t i = 0; i < std::min(n, wanted); ++i) kept.push_back(i);
    return kept;
  }
  // Yuksel 2015, secs. 3.1-3.3: weights (1 - d / 2 r)^8 of neighbors within twice the largest possible radius, with
  // distances taken no smaller than those of dense clusters, which would be eliminated too eagerly.
  const double share = static_cast<double>(wanted) / static_cast<double>(n);
  const double r = std::sqrt(area / (2 * std::sqrt(3.0) * static_cast<double>(wanted)));
  const double least = 2 * r * 0.65 * (1 - std::pow(share, 1.5));
  const PointCells cells(points, 2 * r);
  const auto weight_of = [&](double d) {
    const double x = 1 - std::max(d, std::min(least, 2 * r)) / (2 * r), x2 = x * x, x4 = x2 * x2;
    return x4 * x4;
  };
  std::vector<double> weight(n, 0);
  tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
    cells.each_near(i, [&](std::size_t, double d) { weight[i] += weight_of(d); });
  });
  std::vector<bool> gone(n, false);
  std::priority_queue<std::pair<double, std::size_t>> heaviest;
  for (std::size_t i = 0; i < n; ++i) heaviest.emplace(weight[i], i);
  for (std::size_t left = n; left > wanted;) {
    const auto [w, i] = heaviest.top();
    heaviest.pop();
    if (gone[i]) continue;
    if (w != weight[i]) {  // has lost neighbors since
      heaviest.emplace(weight[i], i);
      continue;
    }
    gone[i] = true;
    --left;
    cells.each_near(i, [&](std::size_t j, double d) {
      if (!gone[j]) weight[j] -= weight_of(d);
    });
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!gone[i]) kept.push_back(i);
  return kept;
}

Roots place_roots(const ScalpSpec& scalp, std::int64_t seed) {
  const Bounds bounds = std::visit([](const auto& s) { return s.bounds(); }, scalp.shape);
  if (!bounds.bounded) refuse("a scalp without bounds has no area to grow on; intersect it with a box");
  SurfaceMesh triangles = std::visit([](const auto& s) { return s.surface(); }, scalp.shape);
  // Triangles of a mesh may lie within another of its parts, or face one across a gap too narrow to be sampled: there
  // is no room for hair.
  double room = 0;
  if (const auto* mesh = std::get_if<Mesh>(&scalp.shape)) {
    triangles.triangles.resize(mesh->solid().given);
    room = 2 * mesh->field().spacing;
  }
  const SurfaceSampler surface(triangles);
  if (!(surface.area() > 0)) refuse("the scalp has no surface");
  const double size = norm(bounds.high - bounds.low);
  Mat<double, 3> to_region = Mat<double, 3>::identity();
  if (scalp.region) to_region = transpose(rotation_matrix(scalp.region->placement.rotation));
  const auto in_region = [&](const Vec3& p) {
    return !scalp.region || nearest_to(scalp.region->shape, to_region * (p - scalp.region->placement.at)).distance < 0;
  };
  // Triangles are near the surface; the rest of the way is along the gradient of its distance.
  const auto candidates = [&](Purpose purpose, std::size_t count) {
    const Random random = random_for(seed, purpose);
    std::vector<Vec3> all(count);
    std::vector<char> good(count);
    tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
      Vec3 p = surface.at(random, i, count);
      SurfacePoint<double, 3> s = nearest_to(scalp.shape, p);
      if (room > 0 && std::abs(s.distance) > 0.5 * room) return;
      for (int k = 0; k < 8 && std::abs(s.distance) > 1e-13 * size; ++k) {
        p = p - s.distance * s.normal;
        s = nearest_to(scalp.shape, p);
      }
      all[i] = p;
      good[i] = std::abs(s.distance) < 1e-3 * size && in_region(p) &&
                (room == 0 || nearest_to(scalp.shape, p + room * s.normal).distance > 0.5 * room);
    });
    std::vector<Vec3> kept;
    for (std::size_t i = 0; i < count; ++i)
      if (good[i]) kept.push_back(all[i]);
    return kept;
  };
  constexpr std::size_t trials = 1 << 16;
  const double part = static_cast<double>(candidates(Purpose::area, trials).size()) / static_cast<double>(trials);
  Roots roots;
  roots.area = part * surface.area();
  if (!(part > 0)) refuse("no part of the scalp is in the region where strands shall grow; move or widen it");
  const double wanted = scalp.density ? std::round(*scalp.density * roots.area) : static_cast<double>(scalp.count);
  if (wanted > most_strands)
    refuse(fmt::format("{:.3g} strands on {:.3g} m^2 of scalp are too many; the most is {:.3g}", wanted, roots.area,
                       most_strands));
  if (wanted < 1)
    refuse(fmt::format("not a single strand grows on {:.3g} m^2 of scalp; raise the density", roots.area));
  constexpr double surplus = 5;  // candidates for each root (Yuksel 2015, sec. 3.4)
  std::vector<Vec3> points;
  for (double tried = std::ceil(surplus * wanted / part) + 16; static_cast<double>(points.size()) < wanted; tried *= 2)
    points = candidates(Purpose::candidates, static_cast<std::size_t>(tried));
  for (const std::size_t i : spread_evenly(points, static_cast<std::size_t>(wanted), roots.area)) {
    roots.positions.push_back(points[i]);
    roots.normals.push_back(nearest_to(scalp.shape, points[i]).normal);
  }
  return roots;
}

std::vector<Vec<double, 2>> honeycomb(std::size_t count, double spacing) {
  struct Site {
    std::int64_t shell;  ///< squared distance, in squares of half the spacing: a whole number
    double angle;
    Vec<double, 2> at;
  };
  std::vector<Site> sites;
  const auto reach = static_cast<std::int64_t>(std::ceil(0.75 * std::sqrt(static_cast<double>(count)))) + 2;
  for (std::int64_t j = -2 * reach; j <= 2 * reach; ++j)
    for (std::int64_t i = -2 * reach; i <= 2 * reach; ++i) {
      const double x = static_cast<double>(i) + 0.5 * static_cast<double>(j);
      const double y = 0.5 * std::sqrt(3.0) * static_cast<double>(j);
      sites.push_back({i * i + i * j + j * j, std::atan2(y, x), {{spacing * x, spacing * y}}});
    }
  std::sort(sites.begin(), sites.end(),
            [](const Site& a, const Site& b) { return std::tie(a.shell, a.angle) < std::tie(b.shell, b.angle); });
  std::vector<Vec<double, 2>> centers;
  for (std::size_t i = 0; i < count; ++i) centers.push_back(sites[i].at);
  return centers;
}

Strands grow_strands(const ScalpSpec& scalp, const HairSpec& hair, double radius) {
  return Growth(scalp, hair, radius).strands();
}

Strands braid_strands(const BraidSpec& braid, const HairSpec& hair, double radius) {
  const std::vector<Vec<double, 2>> places = honeycomb(static_cast<std::size_t>(braid.strands), braid.spacing);
  double bundle_radius = 0;
  for (const Vec<double, 2>& p : places) bundle_radius = std::max(bundle_radius, std::sqrt(squared_norm(p)));
  const double apart = 2 * bundle_radius + braid.spacing;
  // Bundles need about twice their widths to pass each other; with three times the braid is nearly as narrow as can be
  // (measured for 3 to 8 bundles).
  const double pitch = braid.pitch.value_or(3 * braid.bundles * apart);
  const BraidPaths paths(braid.bundles, pitch);
  double width = 0;
  for (double tried = 0.5 * apart; tried < 4 * pitch && width == 0; tried *= 1.05)
    if (paths.fits(tried, apart, bundle_radius)) width = tried;
  if (width == 0)
    refuse(
        fmt::format("the bundles of the braid, {:.3g} m thick, do not pass each other in a pitch of {:.3g} m; make "
                    "it longer, {:.2g} m say, or use fewer strands or less spacing",
                    apart, pitch, 3 * braid.bundles * apart));
  const int steps = std::max(64, static_cast<int>(std::ceil(192 * braid.length / pitch)));
  Strands out;
  for (int k = 0; k < braid.bundles; ++k) {
    const std::vector<Vec3> center = paths.path(k, width, braid.length, steps);
    std::vector<std::vector<Vec3>> strands(places.size());
    Transport frame(unit(center[1] - center[0]));
    for (std::size_t i = 0; i < center.size(); ++i) {
      frame.to(unit(center[std::min(i + 1, center.size() - 1)] - center[i > 0 ? i - 1 : 0]));
      for (std::size_t s = 0; s < places.size(); ++s)
        strands[s].push_back(center[i] + places[s][0] * frame.u() + places[s][1] * frame.v());
    }
    for (const std::vector<Vec3>& points : strands)
      add_strand(out, with_segments(points, segments_of(hair, length_of(points))));
  }
  check_apart(out, radius, "braid", "raise the spacing, or use more segments");
  return out;
}

Strands tube_strands(const TubeSpec& tube, const HairSpec& hair, double radius) {
  // Two neighbors may both come nearer by jitter and wave; and what is at an angle is nearer than side by side.
  const double slope = 2 * pi * tube.wave * tube.spacing / tube.wavelength;
  const double gap = tube.spacing * (1 - 2 * (tube.jitter + tube.wave)) / std::sqrt(1 + 4 * slope * slope);
  if (gap < 2 * radius * (1 - 1e-9))
    refuse(fmt::format(
        "strands of the tube might come as near as {:.3g} m, and are {:.3g} m thick; raise the spacing "
        "to {:.3g} m, or lower jitter or wave",
        std::max(gap, 0.0), 2 * radius, 1.01 * 2 * radius / std::max(1e-3, 1 - 2 * (tube.jitter + tube.wave))));
  const Random random = random_for(hair.seed, Purpose::tube);
  const std::vector<Vec<double, 2>> places = honeycomb(static_cast<std::size_t>(tube.count), tube.spacing);
  const std::size_t segments = segments_of(hair, tube.length);
  Strands out;
  for (std::size_t s = 0; s < places.size(); ++s) {
    const auto draw = [&](std::uint64_t purpose) { return random.at(4 * s + purpose); };
    const double shift = tube.jitter * tube.spacing * std::sqrt(draw(0)), way = 2 * pi * draw(1);
    const double swing = 2 * pi * draw(2), phase = 2 * pi * draw(3), amplitude = tube.wave * tube.spacing;
    const double x = places[s][0] + shift * std::cos(way), z = places[s][1] + shift * std::sin(way);
    std::vector<Vec3> points;
    for (std::size_t i = 0; i <= segments; ++i) {
      const double y = tube.length * (static_cast<double>(i) / static_cast<double>(segments) - 0.5);
      const double out_of_line = amplitude * std::sin(2 * pi * y / tube.wavelength + phase);
      points.push_back({{x + out_of_line * std::cos(swing), y, z + out_of_line * std::sin(swing)}});
    }
    add_strand(out, points);
  }
  return out;
}

Strands make_strands(const HairSpec& hair) {
  Strands out;
  if (const auto* file = std::get_if<StrandFileSpec>(&hair.source)) {
    out = file->content->strands;
    if (hair.segment_length) {
      out = resampled(out, *hair.segment_length);
    } else if (hair.segments > 0) {
      out = resampled(out, static_cast<std::size_t>(hair.segments));
    }
    if (!hair.radius && out.radius.empty())
      refuse(file->file + ": does not say how thick its strands are; give a radius");
    if (hair.radius) out.radius.assign(out.points.size(), *hair.radius);
    return out;
  }
  if (!hair.radius) refuse("strands that are made need a radius");
  if (const auto* scalp = std::get_if<ScalpSpec>(&hair.source)) out = grow_strands(*scalp, hair, *hair.radius);
  if (const auto* braid = std::get_if<BraidSpec>(&hair.source)) out = braid_strands(*braid, hair, *hair.radius);
  if (const auto* tube = std::get_if<TubeSpec>(&hair.source)) out = tube_strands(*tube, hair, *hair.radius);
  out.radius.assign(out.points.size(), *hair.radius);
  return out;
}

Strands placed(Strands strands, const Pose& pose) {
  for (Vec3& x : strands.points) x = pose.rotation * x + pose.at;
  return strands;
}

}  // namespace tribo
