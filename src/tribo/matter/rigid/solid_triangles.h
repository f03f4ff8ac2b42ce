#pragma once

#include <cstdint>
#include <vector>

#include "tribo/colliders/mesh.h"
#include "tribo/math/closest.h"

/// \file
/// The exact distance of a mesh near its surface. The sampled one (DistanceField) is rounded at edges by a quarter of
/// its spacing, which is ten times the gap that bodies rest at; and where stones of an arch or bricks from a file
/// touch, all that feels is on edges, and finds edges. Signs are those of normals of faces, edges and vertices
/// (Baerentzen 2005).

namespace tribo {

/// Half of the triangles of that above it, or a few of them.
struct TriangleNode {
  Vec<double, 3> low, high;
  std::int32_t first;  ///< of a leaf, its first triangle; else the second child: the first one is the next node
  std::int32_t count;  ///< triangles of a leaf; 0: not a leaf
};

struct SolidTriangle {
  Vec<double, 3> corner[3];
  /// Of the face; of the edges from each corner to the next; of the corners: sums of the faces' that meet there, by
  /// their angles.
  Vec<double, 3> normal, edge[3], vertex[3];
};

/// As kernels see it.
struct SolidTriangles {
  const TriangleNode* node = nullptr;  ///< null: there are none
  const SolidTriangle* triangle = nullptr;

  static constexpr int deepest = 40;  ///< halves of 2^31 triangles, and to spare

  /// False where the surface is farther than `limit`.
  TRIBO_HD bool nearest(const Vec<double, 3>& p, double limit, SurfacePoint<double, 3>& found) const {
    double best2 = limit * limit;
    PointOnTriangle<double> best{};
    std::int32_t near = -1;
    std::int32_t waiting[deepest];
    int top = 0;
    waiting[top++] = 0;
    while (top > 0) {
      const std::int32_t at = waiting[--top];
      const TriangleNode& one = node[at];
      if (!(squared_distance(one, p) < best2)) continue;
      for (std::int32_t t = one.first; t < one.first + one.count; ++t) {
        const SolidTriangle& own = triangle[t];
        const PointOnTriangle<double> point = closest_on_triangle(p, own.corner[0], own.corner[1], own.corner[2]);
        if (!(squared_norm(point.gap) < best2)) continue;
        best2 = squared_norm(point.gap);
        best = point;
        near = t;
      }
      if (one.count > 0) continue;
      const bool first_is_nearer = squared_distance(node[at + 1], p) <= squared_distance(node[one.first], p);
      waiting[top++] = first_is_nearer ? one.first : at + 1;
      waiting[top++] = first_is_nearer ? at + 1 : one.first;
    }
    if (near < 0) return false;
    const SolidTriangle& own = triangle[near];
    const Vec<double, 3> side = side_of(own, best);
    const double sign = dot(best.gap, side) < 0 ? -1 : 1, distance = std::sqrt(best2);
    // A gap that is rounding has no direction.
    const bool on_it = !(best2 > 1e-20 * squared_norm(own.corner[1] - own.corner[0]));
    found = {sign * distance, on_it ? length_and_direction(side).normal : (sign / distance) * best.gap};
    return true;
  }

 private:
  TRIBO_HD static double squared_distance(const TriangleNode& one, const Vec<double, 3>& p) {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      const double under = one.low[k] - p[k], over = p[k] - one.high[k];
      const double beyond = under > over ? under : over;
      if (beyond > 0) sum += beyond * beyond;
    }
    return sum;
  }
  TRIBO_HD static Vec<double, 3> side_of(const SolidTriangle& own, const PointOnTriangle<double>& point) {
    int none = -1, zeros = 0, most = 0;
    for (int k = 0; k < 3; ++k) {
      if (!(point.weight[k] > 0)) {
        none = k;
        ++zeros;
      }
      if (point.weight[k] > point.weight[most]) most = k;
    }
    if (zeros == 0) return own.normal;
    return zeros == 1 ? own.edge[(none + 1) % 3] : own.vertex[most];
  }
};

/// The triangles of one or more meshes, on the host.
struct SolidTriangleLists {
  std::vector<TriangleNode> nodes;
  std::vector<SolidTriangle> triangles;

  /// Adds those of a mesh; false, and nothing added, where parts overlap, of which some triangles are no surface.
  bool add(const Mesh& mesh);
};

}  // namespace tribo
