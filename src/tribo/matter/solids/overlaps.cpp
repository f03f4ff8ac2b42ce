#include "tribo/matter/solids/overlaps.h"

#include "tribo/matter/solids/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tribo/scene/scene.h"

namespace tribo {
namespace {

/// Of the undeformed vertices of a body.
struct Extent {
  Vec<double, 3> low = Vec<double, 3>::filled(std::numeric_limits<double>::infinity());
  Vec<double, 3> high = Vec<double, 3>::filled(-std::numeric_limits<double>::infinity());

  bool meets(const Extent& other) const {
    bool r = true;
    for (int k = 0; k < 3; ++k) r = r && low[k] < other.high[k] && other.low[k] < high[k];
    return r;
  }
  bool holds(const Vec<double, 3>& x) const {
    bool r = true;
    for (int k = 0; k < 3; ++k) r = r && low[k] <= x[k] && x[k] <= high[k];
    return r;
  }
};

class OverlapSearch {
 public:
  OverlapSearch(const Scene& scene, const SolidSeed& seed) : scene_(scene), seed_(seed) {
    for (const SolidBody& body : seed.bodies) {
      Extent extent;
      each_vertex(body, [&](std::size_t i) {
        for (int k = 0; k < 3; ++k) {
          extent.low[k] = std::min(extent.low[k], seed.rest[i][k]);
          extent.high[k] = std::max(extent.high[k], seed.rest[i][k]);
        }
      });
      extents_.push_back(extent);
    }
  }

  /// Free vertices of a body that a collider keeps out.
  std::int64_t in_collider(const SolidBody& body, const ColliderSpec& collider) const {
    const Pose pose = collider.motion.pose(0);
    const Mat<double, 3> to_local = transpose(pose.rotation);
    const double depth = depth_of(body);
    return std::visit(
        [&](const auto& shape) {
          std::int64_t count = 0;
          each_vertex(body, [&](std::size_t i) {
            if (seed_.drive[i] >= 0) return;
            bool beyond = false;
            shape.each_contact(to_local * (seed_.rest[i] - pose.at), collider.inside, -depth,
                               [&](const SurfacePoint<double, 3>&) { beyond = true; });
            count += beyond ? 1 : 0;
          });
          return count;
        },
        collider.shape);
  }

  /// Vertices of one body inside the shape of the other, where both may move.
  std::int64_t in_body(std::size_t one, std::size_t other) const {
    const SolidBody& body = seed_.bodies[one];
    const ObjectSpec& object = object_of(seed_.bodies[other]);
    if (!extents_[one].meets(extents_[other])) return 0;
    const Pose pose = object.as<SolidSpec>()->motion.pose(0);
    const Mat<double, 3> to_local = transpose(pose.rotation);
    const double depth = std::max(depth_of(body), depth_of(seed_.bodies[other]));
    return std::visit(
        [&](const auto& shape) {
          std::int64_t count = 0;
          each_vertex(body, [&](std::size_t i) {
            if (extents_[other].holds(seed_.rest[i]))
              count += shape.nearest(to_local * (seed_.rest[i] - pose.at)).distance < -depth ? 1 : 0;
          });
          return count;
        },
        object.shape);
  }

  const ObjectSpec& object_of(const SolidBody& body) const {
    return scene_.objects[static_cast<std::size_t>(body.object)];
  }

 private:
  template <class Visit>
  static void each_vertex(const SolidBody& body, const Visit& visit) {
    for (auto i = static_cast<std::size_t>(body.vertices.begin); i < static_cast<std::size_t>(body.vertices.end); ++i)
      visit(i);
  }
  /// Bodies rest half a cell apart, and tets round off a shape by part of their size.
  double depth_of(const SolidBody& body) const {
    return 0.5 * std::max(scene_.grid.dx, object_of(body).as<SolidSpec>()->element_size);
  }

  const Scene& scene_;
  const SolidSeed& seed_;
  std::vector<Extent> extents_;
};

}  // namespace

std::vector<std::string> overlaps_of_meshes(const Scene& scene, const SolidSeed& seed) {
  const OverlapSearch search(scene, seed);
  std::vector<std::string> sentences;
  for (const SolidBody& body : seed.bodies)
    for (const ColliderSpec& collider : scene.colliders)
      if (const std::int64_t count = search.in_collider(body, collider); count > 0)
        sentences.push_back(fmt::format("{} vertices of object '{}' begin inside collider '{}'; move one of the two",
                                        count, search.object_of(body).name, collider.name));
  for (std::size_t a = 0; a < seed.bodies.size(); ++a)
    for (std::size_t b = a + 1; b < seed.bodies.size(); ++b) {
      if (seed.bodies[a].kinematic && seed.bodies[b].kinematic) continue;
      const std::int64_t count = search.in_body(a, b) + search.in_body(b, a);
      if (count > 0)
        sentences.push_back(
            fmt::format("objects '{}' and '{}' begin inside each other, with {} vertices; move one of "
                        "the two",
                        search.object_of(seed.bodies[a]).name, search.object_of(seed.bodies[b]).name, count));
    }
  return sentences;
}

}  // namespace tribo
