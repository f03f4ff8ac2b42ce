#include "tribo/matter/strands/hair.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/matter/strands/grid_contact.h"
#include "tribo/matter/strands/making.h"
#include "tribo/matter/strands/skin_frame.h"
#include "tribo/matter/strands/spec.h"
#include "tribo/mesh/triangle_tree.h"
#include "tribo/scene/friction.h"
#include "tribo/scene/scene.h"

namespace tribo {

StrandRules strand_rules(const Scene& scene, std::size_t o) {
  const ObjectSpec& object = scene.objects[o];
  const StrandsSpec& hair = *object.as<StrandsSpec>();
  StrandRules rules;
  rules.name = "object '" + object.name + "'";
  if (const auto* file = std::get_if<StrandFileSpec>(&hair.made.source)) rules.name += " of " + file->file;
  rules.object = static_cast<int>(o);
  rules.method = hair.method;
  rules.material = hair.material;
  rules.friction = object.friction;
  rules.clamp_root = hair.clamp_root;
  rules.clamp_tip = hair.clamp_tip;
  rules.motion = hair.motion;
  rules.tip_motion = hair.tip_motion;
  rules.keeps_shape = hair.keeps_shape;
  rules.velocity = object.velocity;
  if (hair.director) rules.director = hair.motion.pose(0).rotation * *hair.director;
  return rules;
}

namespace {

/// How far from its root a strand is in its follicle at least, in radii.
constexpr double follicle_radii = 4;

/// Places of the roots on the surface of a solid, each on the triangle that is nearest to it.
std::vector<SkinRoot> roots_on_skin(const Scene& scene, const SolidSeed& solids, const std::string& name,
                                    const Strands& strands) {
  SurfaceMesh skin;
  skin.vertices = solids.x;
  for (const SolidBody& body : solids.bodies)
    if (scene.objects[static_cast<std::size_t>(body.object)].name == name)
      skin.triangles.assign(solids.triangles.begin() + body.triangles.begin,
                            solids.triangles.begin() + body.triangles.end);
  const TriangleTree tree(skin);
  std::vector<SkinRoot> roots;
  for (std::size_t s = 0; s < strand_count(strands); ++s) {
    const Vec<double, 3>& at = strands.points[static_cast<std::size_t>(strands.start[s])];
    const std::size_t triangle = tree.nearest(at);
    SkinRoot& root = roots.emplace_back();
    root.corner = skin.triangles[triangle];
    const Vec<double, 3> corner[3] = {skin.corner(triangle, 0), skin.corner(triangle, 1), skin.corner(triangle, 2)};
    root.frame = triangle_frame(corner);
    const Vec<double, 3> normal = skin.area(triangle);
    double sum = 0;
    for (int c = 0; c < 3; ++c) {  // shares of the area; a root off an edge stays on it
      const Vec<double, 3> opposite = cross(corner[(c + 2) % 3] - corner[(c + 1) % 3], at - corner[(c + 1) % 3]);
      root.weight[c] = std::max(dot(opposite, normal), 0.0);
      sum += root.weight[c];
    }
    root.weight = sum > 0 ? (1 / sum) * root.weight : Vec<double, 3>::filled(1.0 / 3);
    Vec<double, 3> off = at;
    for (int c = 0; c < 3; ++c) off = off - root.weight[c] * corner[c];
    root.off = transpose(root.frame) * off;
  }
  return roots;
}

/// A rigid body that roots go with.
class RigidSkinOf {
 public:
  RigidSkinOf(const RigidSeed& seed, std::int32_t body)
      : number_(body),
        body_(seed.bodies[static_cast<std::size_t>(body)]),
        form_(seed.forms[static_cast<std::size_t>(body_.form)]) {}

  std::vector<SkinRoot> roots(const Strands& strands) const {
    std::vector<SkinRoot> roots;
    for (std::size_t s = 0; s < strand_count(strands); ++s) {
      SkinRoot& root = roots.emplace_back();
      root.body = number_;
      root.frame = body_.rotation;
      root.off = local(strands.points[static_cast<std::size_t>(strands.start[s])]);
    }
    return roots;
  }
  /// Whether a point is inside, or no farther from it.
  bool holds(const Vec<double, 3>& x, double distance) const {
    bool any = false;
    std::visit(
        [&](const auto& shape) {
          shape.each_contact(local(x) + form_.center, false, distance,
                             [&](const SurfacePoint<double, 3>&) { any = true; });
        },
        form_.shape);
    return any;
  }
  /// As find_roots and lead_roots do.
  void find_roots(std::int32_t first_strand, RodSeed& seed) const {
    tbb::parallel_for(static_cast<std::size_t>(first_strand), seed.rooted.size(), [&](std::size_t s) {
      const auto first = static_cast<std::size_t>(seed.start[s]), end = static_cast<std::size_t>(seed.start[s + 1]);
      if (seed.drive[first] < 0) return;
      std::size_t i = first;
      for (double along = 0; i < end; along += seed.length[i++])
        if (i >= first + 2 && !(along < follicle_radii * seed.radius[i]) && !holds(seed.x[i], seed.radius[i])) break;
      seed.rooted[s] = static_cast<std::int32_t>(i - first);
      const Vec<double, 3> moves[3] = {body_.v, body_.w, Vec<double, 3>::zero()};
      SkinClamp(body_.x, seed.x[first], seed.x[first + 1]).move(moves, &seed.v[first]);
    });
  }
  void warn_of_far_roots(const ObjectSpec& object, const Strands& strands, std::vector<std::string>& warnings) const {
    const StrandsSpec& hair = *object.as<StrandsSpec>();
    const auto* scalp = std::get_if<ScalpSpec>(&hair.made.source);
    const double near = 0.1 * form_.radius + (scalp ? scalp->root_depth : 0);
    std::size_t count = 0;
    for (std::size_t s = 0; s < strand_count(strands); ++s)
      count += holds(strands.points[static_cast<std::size_t>(strands.start[s])], near) ? 0 : 1;
    if (count > 0)
      warnings.push_back(fmt::format(
          "{} of {} roots of hair '{}' are farther than {:.3g} m from the body '{}', and go with it at that distance; "
          "move the hair or the body by `at`, or check the units of its strands (`scale`)",
          count, strand_count(strands), object.name, near, hair.skin));
  }

 private:
  Vec<double, 3> local(const Vec<double, 3>& x) const { return transpose(body_.rotation) * (x - body_.x); }

  std::int32_t number_;
  const RigidBody& body_;
  const RigidForm& form_;
};

/// The follicles of roots on a skin, as `find_follicles` has them of colliders. The two vertices of a root are never in
/// the open, and what is only some radii farther on its strand is there by how that bends.
void find_roots(const SolidSeed& solids, const Run& triangles, std::int32_t first_strand, RodSeed& seed) {
  SurfaceMesh skin;
  skin.vertices = solids.x;
  skin.triangles.assign(solids.triangles.begin() + triangles.begin, solids.triangles.begin() + triangles.end);
  const TriangleTree tree(skin);
  tbb::parallel_for(static_cast<std::size_t>(first_strand), seed.rooted.size(), [&](std::size_t s) {
    const auto first = static_cast<std::size_t>(seed.start[s]), end = static_cast<std::size_t>(seed.start[s + 1]);
    if (seed.drive[first] < 0) return;
    std::size_t i = first;
    for (double along = 0; i < end; along += seed.length[i++]) {
      const double r = seed.radius[i];
      const bool near = i < first + 2 || along < follicle_radii * r || tree.distance(seed.x[i], r) < r;
      if (!near && !(tree.winding(seed.x[i]) > 0.5)) break;
    }
    seed.rooted[s] = static_cast<std::int32_t>(i - first);
  });
}

/// Roots begin with the motion of their skin.
void lead_roots(const SolidSeed& solids, const std::vector<SkinRoot>& roots, std::int32_t first_strand, RodSeed& seed) {
  for (std::size_t s = 0; s < roots.size(); ++s) {
    const auto first = static_cast<std::size_t>(seed.start[static_cast<std::size_t>(first_strand) + s]);
    if (seed.drive[first] < 0) continue;
    Vec<double, 3> corner[3], velocity[3];
    for (int c = 0; c < 3; ++c) {
      corner[c] = solids.x[static_cast<std::size_t>(roots[s].corner[c])];
      velocity[c] = solids.v[static_cast<std::size_t>(roots[s].corner[c])];
    }
    SkinClamp(roots[s], corner, seed.x[first], seed.x[first + 1]).move(velocity, &seed.v[first]);
  }
}

/// Roots go with their skin at any distance from it. Farther than its triangles are large, beside the depth that
/// strands were asked to begin at, it is another place or other units than were meant.
void warn_of_far_roots(const ObjectSpec& object, const SolidSeed& solids, const std::vector<SkinRoot>& roots,
                       std::vector<std::string>& warnings) {
  const StrandsSpec& hair = *object.as<StrandsSpec>();
  const auto* scalp = std::get_if<ScalpSpec>(&hair.made.source);
  const double depth = scalp ? scalp->root_depth : 0;
  std::size_t count = 0, farthest = 0;
  double most = 0;
  for (std::size_t s = 0; s < roots.size(); ++s) {
    double edge2 = 0;
    for (int c = 0; c < 3; ++c)
      edge2 = std::max(edge2, squared_norm(solids.x[static_cast<std::size_t>(roots[s].corner[c])] -
                                           solids.x[static_cast<std::size_t>(roots[s].corner[(c + 1) % 3])]));
    const double distance = std::sqrt(squared_norm(roots[s].off));
    if (!(distance > std::sqrt(edge2) + depth)) continue;
    ++count;
    if (!(distance > most)) continue;
    most = distance;
    farthest = s;
  }
  if (count > 0)
    warnings.push_back(fmt::format(
        "{} of {} roots of hair '{}' are far from their skin '{}', strand {} by {:.3g} m, and go with it at that "
        "distance; move the hair or the solid by `at`, or check the units of its strands (`scale`)",
        count, roots.size(), object.name, hair.skin, farthest + 1, most));
}

/// All strands of a scene meet, whatever object they belong to.
void warn_of_contact(const Scene& scene, const RodSeed& seed, const Strands& all, std::vector<std::string>& warnings) {
  const StrandGap gap = overlapping_strands(all);
  if (gap.pair_count == 0) return;
  const auto named = [&](std::int32_t strand) {
    const auto body = std::find_if(seed.bodies.begin(), seed.bodies.end(),
                                   [&](const RodBody& one) { return strand < one.strands.end; });
    return fmt::format("strand {} of '{}'", strand - body->strands.begin + 1,
                       scene.objects[static_cast<std::size_t>(body->object)].name);
  };
  warnings.push_back(fmt::format(
      "{} pairs of segments begin nearer to each other than they are thick; of those that do so most, {} and {}, "
      "center "
      "lines are {:.3g} m apart and radii {:.3g} m together: strands that begin crossed stay so; make them thinner, "
      "fewer, or use another seed",
      gap.pair_count, named(gap.one), named(gap.other), gap.distance, gap.thickness));
}

/// Whether vertices are beyond a collider's surface at time 0.
class ColliderProbe {
 public:
  explicit ColliderProbe(const ColliderSpec& collider)
      : collider_(collider), at_(collider.motion.pose(0).at), to_local_(transpose(collider.motion.pose(0).rotation)) {}
  bool is_beyond(const Vec<double, 3>& x, double depth) const {
    bool beyond = false;
    std::visit(
        [&](const auto& shape) {
          shape.each_contact(to_local_ * (x - at_), collider_.inside, -depth,
                             [&](const SurfacePoint<double, 3>&) { beyond = true; });
        },
        collider_.shape);
    return beyond;
  }

 private:
  const ColliderSpec& collider_;
  Vec<double, 3> at_;
  Mat<double, 3> to_local_;
};

/// A scalp that is a collider, too, must neither throw out nor hold what grows out of it. So from a clamped root on,
/// vertices that begin beyond a collider's surface, or nearer to it than their radius, are in a follicle: colliders do
/// not act on them. The first vertex that begins in the open ends it, and all that follow meet colliders like others.
void find_follicles(const Scene& scene, RodSeed& seed) {
  seed.buried.assign(seed.start.size() - 1, 0);
  for (const ColliderSpec& collider : scene.colliders) {
    const ColliderProbe probe(collider);
    tbb::parallel_for(std::size_t{0}, seed.buried.size(), [&](std::size_t s) {
      const auto first = static_cast<std::size_t>(seed.start[s]), end = static_cast<std::size_t>(seed.start[s + 1]);
      if (seed.drive[first] < 0) return;
      std::size_t i = first;
      while (i < end && probe.is_beyond(seed.x[i], -seed.radius[i])) ++i;
      // What has no vertex in the open grows out of nothing.
      if (i < end) seed.buried[s] = std::max(seed.buried[s], static_cast<std::int32_t>(i - first));
    });
  }
}

/// Free vertices that begin deeper than their radius beyond a collider's surface: what is there is pushed out, or stays
/// where it is when it is deep.
void warn_of_colliders(const Scene& scene, const RodSeed& seed, std::vector<std::string>& warnings) {
  for (const RodBody& body : seed.bodies)
    for (const ColliderSpec& collider : scene.colliders) {
      const ColliderProbe probe(collider);
      std::int64_t inside = 0;
      for (auto s = static_cast<std::size_t>(body.strands.begin); std::cmp_less(s, body.strands.end); ++s)
        for (auto i = static_cast<std::size_t>(seed.start[s] + seed.buried[s]); std::cmp_less(i, seed.start[s + 1]);
             ++i)
          if (seed.drive[i] < 0) inside += probe.is_beyond(seed.x[i], seed.radius[i]) ? 1 : 0;
      if (inside > 0)
        warnings.push_back(
            fmt::format("{} vertices of hair '{}' begin inside collider '{}'; move one of the two, or comb "
                        "the hair so that it stays outside",
                        inside, scene.objects[static_cast<std::size_t>(body.object)].name, collider.name));
    }
}

void set_friction(const Scene& scene, RodSeed& seed) {
  if (scene.friction.empty()) return;
  const FrictionTable friction(scene);
  for (const RodBody& a : seed.bodies) {
    for (const RodBody& b : seed.bodies)
      seed.pair_friction.push_back(friction.between({.index = a.object}, {.index = b.object}));
    if (friction.names_colliders())
      for (std::size_t c = 0; c < scene.colliders.size(); ++c)
        seed.collider_friction.push_back(
            friction.between({.index = a.object}, {.collider = true, .index = static_cast<int>(c)}));
  }
  seed.particle_friction = friction.strands_with_particles();
}

}  // namespace

void warn_of_file(const ObjectSpec& object, const StrandsSpec& hair, std::vector<std::string>& warnings) {
  if (const auto* file = std::get_if<StrandFileSpec>(&hair.made.source))
    for (const std::string& note : file->content->notes)
      warnings.push_back(fmt::format("strands {} of '{}': {}", file->file, object.name, note));
}

RodSeed sample_hair(const Scene& scene, const SolidSeed& solids, const RigidSeed& rigids,
                    std::vector<std::string>& warnings) {
  RodSeed seed;
  seed.contact = scene.strand_contact;
  Strands all;
  std::vector<Finding> findings;
  for (std::size_t o = 0; o < scene.objects.size(); ++o) {
    if (rods_of(scene.objects[o]) == nullptr) continue;
    const StrandsSpec& hair = *rods_of(scene.objects[o]);
    warn_of_file(scene.objects[o], hair, warnings);
    seed.scheme = hair.scheme;
    if (hair.method == HairMethod::mcadams) seed.incompressibility = hair.incompressibility;
    try {
      const Strands strands = placed(make_strands(hair.made), hair.motion.pose(0));
      StrandRules rules = strand_rules(scene, o);
      std::vector<SkinRoot> roots;
      const auto skin = std::find_if(scene.objects.begin(), scene.objects.end(),
                                     [&](const ObjectSpec& other) { return other.name == hair.skin; });
      const std::int32_t rigid =
          hair.skin.empty() || skin == scene.objects.end()
              ? -1
              : body_of(rigids, static_cast<int>(skin - scene.objects.begin()));
      if (rigid >= 0) {
        const RigidSkinOf body(rigids, rigid);
        const std::vector<SkinRoot> on_body = body.roots(strands);
        for (std::size_t s = 0; s < on_body.size(); ++s)
          rules.skin.push_back({strands.points[static_cast<std::size_t>(strands.start[s])]});
        body.warn_of_far_roots(scene.objects[o], strands, warnings);
        seed.skin.insert(seed.skin.end(), on_body.begin(), on_body.end());
      } else if (!hair.skin.empty()) {
        roots = roots_on_skin(scene, solids, hair.skin, strands);
        for (std::size_t s = 0; s < roots.size(); ++s)
          rules.skin.push_back({strands.points[static_cast<std::size_t>(strands.start[s])]});
        warn_of_far_roots(scene.objects[o], solids, roots, warnings);
        seed.skin.insert(seed.skin.end(), roots.begin(), roots.end());
      }
      add_strands(seed, strands, rules);
      lead_roots(solids, roots, seed.bodies.back().strands.begin, seed);
      if (rigid >= 0) RigidSkinOf(rigids, rigid).find_roots(seed.bodies.back().strands.begin, seed);
      for (const SolidBody& body : solids.bodies)
        if (!hair.skin.empty() && scene.objects[static_cast<std::size_t>(body.object)].name == hair.skin)
          find_roots(solids, body.triangles, seed.bodies.back().strands.begin, seed);
      for (std::size_t s = 0; s < strand_count(strands); ++s) {
        const auto first = static_cast<std::size_t>(strands.start[s]);
        const std::span<const Vec<double, 3>> points = strand_points(strands, s);
        all.points.insert(all.points.end(), points.begin(), points.end());
        all.radius.insert(all.radius.end(), strands.radius.begin() + static_cast<std::ptrdiff_t>(first),
                          strands.radius.begin() + static_cast<std::ptrdiff_t>(first + points.size()));
        if (all.start.empty()) all.start.push_back(0);
        all.start.push_back(static_cast<std::int32_t>(all.points.size()));
      }
    } catch (const SceneError&) {
      throw;
    } catch (const Error& error) {
      findings.push_back({scene.file, 0, 0, fmt::format("/objects/{}/strands", o), error.what()});
    }
  }
  set_friction(scene, seed);
  if (!findings.empty()) throw SceneError(std::move(findings));
  if (all.points.empty()) return seed;
  warn_of_contact(scene, seed, all, warnings);
  find_follicles(scene, seed);
  warn_of_colliders(scene, seed, warnings);
  set_grid_contact(scene, seed);
  for (const ObjectSpec& object : scene.objects)
    if (object.touch == Touch::particles && !scene.strand_grid.on) {
      warnings.push_back(
          "object '" + object.name +
          "' passes through hair, which meets particles on its grid; set strand_contact.grid.on to true");
      break;
    }
  return seed;
}

}  // namespace tribo
