#include "tribo/mesh/triangle_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "tribo/math/closest.h"

namespace tribo {
namespace {

using P = Vec<double, 3>;

double squared_distance_to_segment(const P& a, const P& b, const P& p) {
  return squared_norm(closest_on_segment(p, a, b - a).gap);
}

/// Solid angle of a triangle seen from the origin (van Oosterom and Strackee 1983).
double solid_angle(const P& a, const P& b, const P& c) {
  const double la = std::sqrt(squared_norm(a)), lb = std::sqrt(squared_norm(b)), lc = std::sqrt(squared_norm(c));
  const double numerator = dot(a, cross(b, c));
  const double denominator = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
  return 2 * std::atan2(numerator, denominator);
}

}  // namespace

TriangleTree::TriangleTree(const SurfaceMesh& mesh) {
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    triangles_.push_back({mesh.corner(t, 0), mesh.corner(t, 1), mesh.corner(t, 2), static_cast<std::uint32_t>(t)});
  nodes_.reserve(triangles_.size());
  build(0, static_cast<std::uint32_t>(triangles_.size()));
}

std::uint32_t TriangleTree::build(std::uint32_t begin, std::uint32_t end) {
  constexpr std::uint32_t leaf_size = 4;
  const auto index = static_cast<std::uint32_t>(nodes_.size());
  Node node;
  node.low = node.high = triangles_[begin].a;
  double area_sum = 0;
  P spread_low = P::filled(1e300), spread_high = P::filled(-1e300);
  for (std::uint32_t t = begin; t < end; ++t) {
    const Triangle& q = triangles_[t];
    for (const P* corner : {&q.a, &q.b, &q.c})
      for (int k = 0; k < 3; ++k) {
        node.low[k] = std::min(node.low[k], (*corner)[k]);
        node.high[k] = std::max(node.high[k], (*corner)[k]);
      }
    const P middle = (1.0 / 3) * (q.a + q.b + q.c);
    for (int k = 0; k < 3; ++k) {
      spread_low[k] = std::min(spread_low[k], middle[k]);
      spread_high[k] = std::max(spread_high[k], middle[k]);
    }
    const P normal = 0.5 * cross(q.b - q.a, q.c - q.a);
    const double area = std::sqrt(squared_norm(normal));
    node.dipole += normal;
    node.center += area * middle;
    area_sum += area;
  }
  node.center = area_sum > 0 ? (1 / area_sum) * node.center : 0.5 * (node.low + node.high);
  for (int k = 0; k < 8; ++k) {
    const P corner{
        {k & 1 ? node.low[0] : node.high[0], k & 2 ? node.low[1] : node.high[1], k & 4 ? node.low[2] : node.high[2]}};
    node.radius2 = std::max(node.radius2, squared_norm(corner - node.center));
  }
  if (end - begin <= leaf_size) {
    node.first = begin;
    node.count = end - begin;
    nodes_.push_back(node);
    return index;
  }
  int axis = 0;
  for (int k = 1; k < 3; ++k)
    if (spread_high[k] - spread_low[k] > spread_high[axis] - spread_low[axis]) axis = k;
  const std::uint32_t half = begin + (end - begin) / 2;
  std::nth_element(triangles_.begin() + begin, triangles_.begin() + half, triangles_.begin() + end,
                   [&](const Triangle& s, const Triangle& t) {
                     return s.a[axis] + s.b[axis] + s.c[axis] < t.a[axis] + t.b[axis] + t.c[axis];
                   });
  nodes_.push_back(node);
  build(begin, half);
  const std::uint32_t second = build(half, end);
  nodes_[index].first = second;
  return index;
}

std::vector<std::size_t> TriangleTree::order() const {
  std::vector<std::size_t> order;
  for (const Triangle& triangle : triangles_) order.push_back(triangle.index);
  return order;
}

double TriangleTree::squared_distance(const Node& node, const P& p) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const double beyond = std::max({node.low[k] - p[k], p[k] - node.high[k], 0.0});
    sum += beyond * beyond;
  }
  return sum;
}

double TriangleTree::squared_distance(const Triangle& t, const P& p) {
  const P normal = cross(t.b - t.a, t.c - t.a);
  const double area2 = squared_norm(normal);
  if (area2 > 0 && dot(cross(normal, t.b - t.a), p - t.a) >= 0 && dot(cross(normal, t.c - t.b), p - t.b) >= 0 &&
      dot(cross(normal, t.a - t.c), p - t.c) >= 0) {
    const double height = dot(normal, p - t.a);
    return height * height / area2;
  }
  return std::min({squared_distance_to_segment(t.a, t.b, p), squared_distance_to_segment(t.b, t.c, p),
                   squared_distance_to_segment(t.c, t.a, p)});
}

TriangleTree::Found TriangleTree::find(const P& p, double limit2) const {
  struct Visit {
    std::uint32_t node;
    double nearest;
  };
  Visit stack[deepest];
  int top = 0;
  Found best{limit2, 0};
  stack[top++] = {0, squared_distance(nodes_[0], p)};
  while (top > 0) {
    const Visit visit = stack[--top];
    if (!(visit.nearest < best.distance2)) continue;
    const Node& node = nodes_[visit.node];
    if (node.count > 0) {
      for (std::uint32_t t = node.first; t < node.first + node.count; ++t)
        if (const double d = squared_distance(triangles_[t], p); d < best.distance2) best = {d, t};
      continue;
    }
    Visit near{visit.node + 1, squared_distance(nodes_[visit.node + 1], p)};
    Visit far{node.first, squared_distance(nodes_[node.first], p)};
    if (far.nearest < near.nearest) std::swap(near, far);
    stack[top++] = far;
    stack[top++] = near;
  }
  return best;
}

double TriangleTree::distance(const P& p, double limit) const { return std::sqrt(find(p, limit * limit).distance2); }

std::size_t TriangleTree::nearest(const P& p) const {
  return triangles_[find(p, std::numeric_limits<double>::infinity()).triangle].index;
}

double TriangleTree::winding(const P& p) const {
  constexpr double far2 = 2.5 * 2.5;  // radii away, squared
  std::uint32_t stack[deepest];
  int top = 0;
  double angle = 0;
  stack[top++] = 0;
  while (top > 0) {
    const std::uint32_t index = stack[--top];
    const Node& node = nodes_[index];
    const P to_center = node.center - p;
    const double distance2 = squared_norm(to_center);
    if (distance2 > far2 * node.radius2) {
      angle += dot(to_center, node.dipole) / (distance2 * std::sqrt(distance2));
    } else if (node.count > 0) {
      for (std::uint32_t t = node.first; t < node.first + node.count; ++t)
        angle += solid_angle(triangles_[t].a - p, triangles_[t].b - p, triangles_[t].c - p);
    } else {
      stack[top++] = node.first;
      stack[top++] = index + 1;
    }
  }
  return angle / (4 * std::numbers::pi);
}

}  // namespace tribo
