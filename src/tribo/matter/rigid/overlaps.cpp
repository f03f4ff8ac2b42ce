#include "tribo/matter/rigid/overlaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "tribo/matter/particles/seed.h"
#include "tribo/matter/rigid/box_cells.h"
#include "tribo/matter/rigid/feelers.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/seeds.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

/// Bodies rest 0.02 cells apart; what is as much too near is put right in a few steps.
constexpr double much_too_near = 0.02, side_by_side = 0.1;
/// Heavier ones on top of others ask for shorter steps: a hundred times as heavy a one stands with 1 ms, and as many
/// times more in steps shorter by that. Longer ones leave errors of an impulse, of g dt each, that throw light ones
/// out.
constexpr double too_heavy = 100, weight_time = 0.1;

/// How near one comes to another, and the direction away from the other there.
struct Nearness {
  double gap = 1e300;
  Vec3 away = Vec3::zero();
};

class OverlapsOfBodies {
 public:
  OverlapsOfBodies(const Scene& scene, const Seeds& seeds)
      : scene_(scene),
        dx_(scene.grid.dx),
        seed_(seeds.of<RigidSeed>()),
        solids_(seeds.of<SolidSeed>()),
        particles_(seeds.of<ParticleSeed>()),
        cells_(boxes()) {
    for (const RigidForm& form : seed_.forms)
      inner_.push_back(
          std::visit([&](const auto& s) { return std::max(0.0, -s.nearest(form.center).distance); }, form.shape));
    for (std::size_t i = 0; i < seed_.bodies.size(); ++i) {
      const auto [first, is_new] = first_.try_emplace(seed_.bodies[i].object, static_cast<std::int32_t>(i));
      several_[seed_.bodies[i].object] = !is_new;
    }
    for (const RigidJoint& joint : seed_.joints)
      if (!joint.touch) apart_.insert(std::minmax(joint.a, joint.b));
    for (std::size_t s = 0; s < solids_.bodies.size(); ++s) {
      const Run& run = solids_.bodies[s].vertices;
      for (auto v = static_cast<std::size_t>(run.begin); v < static_cast<std::size_t>(run.end); ++v)
        if (const std::int32_t drive = solids_.drive[v]; drive >= 0)
          if (const int object = solids_.drive_object[static_cast<std::size_t>(drive)]; object >= 0)
            pinned_.insert({s, object});
    }
  }

  std::vector<std::string> take() {
    const auto bodies = static_cast<std::int32_t>(seed_.bodies.size());
    cells_.each_pair([&](std::int32_t i, std::int32_t j) {
      if (j < bodies)
        meet(i, j);
      else if (i < bodies)
        meet_solid(i, static_cast<std::size_t>(j - bodies));
    });
    for (std::size_t c = 0; c < scene_.colliders.size(); ++c) meet_open(static_cast<int>(c));
    for (std::size_t s = 0; s < solids_.bodies.size(); ++s) find_vertices(s);
    for (const auto& [two, depth] : in_solids_)
      if (depth > depth_of(two.second) && may_overlap(two.first, two.second))
        note(two.first, solids_.bodies[two.second].object, name_of_solid(two.second), depth);
    find_particles();
    say_overlaps();
    say_heavy();
    return std::move(sentences_);
  }

 private:
  const RigidBody& body(std::int32_t i) const { return seed_.bodies[static_cast<std::size_t>(i)]; }
  const RigidForm& form_of(std::int32_t i) const { return seed_.forms[static_cast<std::size_t>(body(i).form)]; }

  /// Of all bodies, then of solids.
  std::vector<Bounds> boxes() const {
    std::vector<Bounds> boxes;
    const double margin = 0.5 * side_by_side * dx_;
    for (const RigidBody& one : seed_.bodies) {
      const RigidForm& form = seed_.forms[static_cast<std::size_t>(one.form)];
      Bounds box = std::visit([](const auto& s) { return s.bounds(); }, form.shape);
      box.low = box.low - form.center;
      box.high = box.high - form.center;
      box = turned(box, one.rotation, one.x);
      boxes.push_back(united(box, box, margin));
    }
    for (const SolidBody& solid : solids_.bodies) {
      Bounds box{true, Vec3::filled(1e300), Vec3::filled(-1e300)};
      for (auto i = static_cast<std::size_t>(solid.vertices.begin); i < static_cast<std::size_t>(solid.vertices.end);
           ++i)
        for (int k = 0; k < 3; ++k) {
          box.low[k] = std::min(box.low[k], solids_.rest[i][k]);
          box.high[k] = std::max(box.high[k], solids_.rest[i][k]);
        }
      boxes.push_back(box);
    }
    return boxes;
  }

  SurfacePoint<double, 3> nearest(std::int32_t i, const Vec3& x) const {
    const RigidBody& one = body(i);
    const RigidForm& form = form_of(i);
    const Vec3 local = transpose(one.rotation) * (x - one.x) + form.center;
    SurfacePoint<double, 3> found = std::visit([&](const auto& s) { return s.nearest(local); }, form.shape);
    found.normal = one.rotation * found.normal;
    return found;
  }
  /// Distances of meshes are known to a part of the spacing of their samples.
  double rounding_of(std::int32_t i) const {
    const auto* mesh = std::get_if<Mesh>(&form_of(i).shape);
    return mesh != nullptr ? 0.5 * mesh->field().spacing : 0;
  }

  /// visit(center, radius) for balls that stand for the feelers of a body, and for the largest about its center: of two
  /// bodies in one place no feeler is within the other.
  template <class Visit>
  void each_ball(std::int32_t i, const Visit& visit) const {
    const RigidBody& one = body(i);
    const RigidForm& form = form_of(i);
    if (const double inner = inner_[static_cast<std::size_t>(one.form)]; inner > 0) visit(one.x, inner);
    for (std::int32_t k = form.samples.begin; k < form.samples.end; ++k) {
      const RigidSample& sample = seed_.samples[static_cast<std::size_t>(k)];
      each_ball_of(sample, [&](const Vec3& x, double radius) { visit(one.x + one.rotation * x, radius); });
    }
  }

  Nearness feel(std::int32_t a, std::int32_t b) const {
    Nearness least;
    const Bounds& around = cells_.box(b);
    each_ball(a, [&](const Vec3& x, double radius) {
      for (int k = 0; k < 3; ++k)
        if (x[k] + radius < around.low[k] || x[k] - radius > around.high[k]) return;
      const SurfacePoint<double, 3> surface = nearest(b, x);
      if (surface.distance - radius < least.gap) least = {surface.distance - radius, surface.normal};
    });
    return least;
  }

  void meet(std::int32_t a, std::int32_t b) {
    if ((body(a).drive >= 0 && body(b).drive >= 0) || apart_.count({a, b}) > 0) return;
    Nearness least = feel(a, b);
    if (Nearness other = feel(b, a); other.gap < least.gap) least = {other.gap, -other.away};
    if (-least.gap > much_too_near * dx_ + rounding_of(a) + rounding_of(b))
      note(a, body(b).object >= 0 ? body(b).object : -1 - collider_of(b), name_of(b), -least.gap);
    else if (least.gap < side_by_side * dx_)
      weigh(a, b, least.away);
  }
  void meet_open(int c) {
    const ColliderSpec& collider = scene_.colliders[static_cast<std::size_t>(c)];
    const bool bounded = std::visit([](const auto& s) { return s.bounds().bounded; }, collider.shape);
    if (bounded && !collider.inside) return;
    const Pose pose = collider.motion.pose(0);
    const Mat<double, 3> to_local = transpose(pose.rotation);
    std::visit(
        [&](const auto& shape) {
          for (std::int32_t i = 0; i < static_cast<std::int32_t>(seed_.bodies.size()); ++i) {
            if (body(i).drive >= 0) continue;
            bool is_near = false;
            const auto local = [&](const Vec3& x) { return to_local * (x - pose.at); };
            shape.each_contact(local(body(i).x), collider.inside, form_of(i).radius,
                               [&](const SurfacePoint<double, 3>&) { is_near = true; });
            if (!is_near) continue;
            double depth = 0;
            each_ball(i, [&](const Vec3& x, double radius) {
              shape.each_contact(local(x), collider.inside, radius, [&](const SurfacePoint<double, 3>& surface) {
                depth = std::max(depth, radius - surface.distance);
              });
            });
            if (depth > much_too_near * dx_ + rounding_of(i))
              note(i, -1 - c, "collider '" + collider.name + "'", depth);
          }
        },
        collider.shape);
  }

  const ObjectSpec& object_of(std::size_t solid) const {
    return scene_.objects[static_cast<std::size_t>(solids_.bodies[solid].object)];
  }
  std::string name_of_solid(std::size_t s) const { return "'" + object_of(s).name + "'"; }
  /// Tets round a shape off by part of their size.
  double depth_of(std::size_t solid) const {
    return 0.5 * std::max(dx_, object_of(solid).as<SolidSpec>()->element_size);
  }
  bool may_overlap(std::int32_t i, std::size_t solid) const {
    return body(i).object >= 0 && !(body(i).drive >= 0 && solids_.bodies[solid].kinematic) &&
           pinned_.count({solid, body(i).object}) == 0;
  }
  void meet_solid(std::int32_t i, std::size_t s) {
    const Pose pose = object_of(s).as<SolidSpec>()->motion.pose(0);
    const Mat<double, 3> to_local = transpose(pose.rotation);
    double depth = 0;
    std::visit(
        [&](const auto& shape) {
          each_ball(i, [&](const Vec3& x, double radius) {
            depth = std::max(depth, radius - shape.nearest(to_local * (x - pose.at)).distance);
          });
        },
        object_of(s).shape);
    deepen(i, s, depth);
  }
  void find_vertices(std::size_t s) {
    const Run& run = solids_.bodies[s].vertices;
    for (auto v = static_cast<std::size_t>(run.begin); v < static_cast<std::size_t>(run.end); ++v)
      each_around(solids_.rest[v], [&](std::int32_t i, double below) { deepen(i, s, below); });
  }
  void deepen(std::int32_t i, std::size_t s, double depth) {
    double& deepest = in_solids_[{i, s}];
    deepest = std::max(deepest, depth);
  }
  void find_particles() {
    std::map<std::pair<int, int>, std::int64_t> inside;
    for (std::size_t p = 0; p < particles_.x.size(); ++p)
      each_around(particles_.x[p], [&](std::int32_t i, double below) {
        if (below > 0.5 * dx_) ++inside[{body(i).object, particles_.object[p]}];
      });
    for (const auto& [two, count] : inside)
      if (two.first >= 0)
        sentences_.push_back(
            fmt::format("{} particles of object '{}' begin inside the rigid object '{}'; move one of "
                        "the two",
                        count, scene_.objects[static_cast<std::size_t>(two.second)].name,
                        scene_.objects[static_cast<std::size_t>(two.first)].name));
  }
  /// visit(body, depth) for bodies around a point.
  template <class Visit>
  void each_around(const Vec3& x, const Visit& visit) const {
    cells_.each_at(x, [&](std::int32_t i) {
      if (i >= static_cast<std::int32_t>(seed_.bodies.size())) return;
      if (const double below = -nearest(i, x).distance; below > 0) visit(i, below);
    });
  }

  int collider_of(std::int32_t i) const { return body(i).group - seed_.groups; }
  /// "'wall/3'", or "'wheel'" of an object with one body.
  std::string name_of(std::int32_t i) const {
    const int object = body(i).object;
    if (object < 0) return "collider '" + scene_.colliders[static_cast<std::size_t>(collider_of(i))].name + "'";
    const std::string& name = scene_.objects[static_cast<std::size_t>(object)].name;
    return several_.at(object) ? fmt::format("'{}/{}'", name, i - first_.at(object)) : "'" + name + "'";
  }

  struct Overlap {
    std::string one, other;
    double worst = 0;
    std::int64_t pairs = 0;
  };
  using Parties = std::pair<int, int>;  ///< objects; colliders are -1, -2, ...
  static void keep_worst(Overlap& kept, const std::string& one, const std::string& other, double worst) {
    ++kept.pairs;
    if (worst > kept.worst) kept = {one, other, worst, kept.pairs};
  }
  void note(std::int32_t i, int other, const std::string& name, double depth) {
    keep_worst(overlaps_[{body(i).object, other}], name_of(i), name, depth);
  }
  void weigh(std::int32_t a, std::int32_t b, Vec3 away) {
    const double weight = std::sqrt(squared_norm(scene_.gravity));
    if (body(a).drive >= 0 || body(b).drive >= 0 || !(weight > 0)) return;
    if (body(a).mass < body(b).mass) {
      std::swap(a, b);
      away = -away;
    }
    const double ratio = body(a).mass / body(b).mass;
    if (ratio > too_heavy && -dot(away, scene_.gravity) > 0.5 * weight)
      keep_worst(heavy_[{body(a).object, body(b).object}], name_of(a), name_of(b), ratio);
  }
  void say_overlaps() {
    for (const auto& [parties, overlap] : overlaps_)
      sentences_.push_back(fmt::format(
          "{} and {} begin {:.3g} m inside each other{}; move one of the two", overlap.one, overlap.other,
          overlap.worst, overlap.pairs > 1 ? fmt::format(", the deepest of {} such pairs", overlap.pairs) : ""));
  }
  void say_heavy() {
    for (const auto& [parties, stack] : heavy_)
      if (const double most = weight_time / stack.worst; scene_.time.dt_max > most)
        sentences_.push_back(
            fmt::format("{} begins on {}, which is {:.3g} times lighter{}, and is thrown out by it; lower time.dt_max "
                        "to {:.1g} s, or "
                        "make the two alike",
                        stack.one, stack.other, stack.worst,
                        stack.pairs > 1 ? fmt::format(", the most of {} such pairs", stack.pairs) : "", most));
  }

  const Scene& scene_;
  double dx_;
  const RigidSeed& seed_;
  const SolidSeed& solids_;
  const ParticleSeed& particles_;
  BoxCells cells_;
  std::vector<double> inner_;          ///< of forms: radius of the ball about the center that fits in [m]
  std::map<int, std::int32_t> first_;  ///< of objects: their first body
  std::map<int, bool> several_;        ///< of objects: whether they have more than one
  std::set<std::pair<std::int32_t, std::int32_t>> apart_;  ///< joined, and do not touch
  std::set<std::pair<std::size_t, int>> pinned_;           ///< solids, and objects that parts of them go with
  std::map<std::pair<std::int32_t, std::size_t>, double> in_solids_;  ///< body and solid: depth [m]
  std::map<Parties, Overlap> overlaps_, heavy_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<std::string> overlaps_of_bodies(const Scene& scene, const Seeds& seeds) {
  if (seeds.of<RigidSeed>().bodies.empty()) return {};
  return OverlapsOfBodies(scene, seeds).take();
}

}  // namespace tribo
