#pragma once

#include <cmath>
#include <numbers>

#include "../unit/mesh/make_mesh.h"

/// \file
/// Closed meshes of bodies.

namespace tribo::test {

/// An outline in the plane of x and y, counterclockwise, made `thick` along z.
inline PolygonMesh prism(const std::vector<Vec<double, 2>>& outline, double thick) {
  PolygonMesh mesh;
  const int n = static_cast<int>(outline.size());
  for (const double z : {-0.5 * thick, 0.5 * thick})
    for (const Vec<double, 2>& p : outline) mesh.vertices.push_back({{p[0], p[1], z}});
  std::vector<int> low, high;
  for (int i = 0; i < n; ++i) {
    low.push_back(n - 1 - i);
    high.push_back(n + i);
    mesh.faces.push_back({i, (i + 1) % n, n + (i + 1) % n, n + i});
  }
  mesh.faces.push_back(low);
  mesh.faces.push_back(high);
  return mesh;
}

/// Two arms of `length`, `width` wide.
inline PolygonMesh make_corner(double length, double width, double thick) {
  const double l = length, w = width;
  return prism({{{0, 0}}, {{l, 0}}, {{l, w}}, {{w, w}}, {{w, l}}, {{0, l}}}, thick);
}

/// A wheel with teeth whose sides are straight: half a pitch wide where two of them roll on each other.
inline PolygonMesh make_gear(int teeth, double radius, double depth, double thick) {
  std::vector<Vec<double, 2>> outline;
  const double pitch = 2 * std::numbers::pi / teeth;
  for (int k = 0; k < teeth; ++k)
    for (const auto& [part, out] : {std::pair{-0.32, -1.2}, {-0.12, 1.0}, {0.12, 1.0}, {0.32, -1.2}}) {
      const double angle = (k + part) * pitch, r = radius + out * depth;
      outline.push_back({{r * std::cos(angle), r * std::sin(angle)}});
    }
  return prism(outline, thick);
}

/// A ball with bumps, as scans of animals have them: curved everywhere, convex hardly anywhere.
inline PolygonMesh make_blob(double radius, int levels) {
  PolygonMesh mesh = make_ball(1, levels);
  for (Vec<double, 3>& v : mesh.vertices) {
    const double bumps = 1 + 0.25 * std::sin(3 * v[0] + 1) * std::cos(4 * v[1]) + 0.15 * std::sin(5 * v[2] + 2 * v[0]);
    v = (radius * bumps) * v;
  }
  return mesh;
}

/// A slab whose top, at the height 0, is cut into n x m squares of two triangles each.
inline PolygonMesh make_slab(double length, double width, double thick, int n, int m) {
  PolygonMesh mesh;
  const auto at = [&](int i, int j) { return i * (m + 1) + j; };
  for (int i = 0; i <= n; ++i)
    for (int j = 0; j <= m; ++j)
      mesh.vertices.push_back(
          {{(static_cast<double>(i) / n - 0.5) * length, 0, (static_cast<double>(j) / m - 0.5) * width}});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) {
      const int a = at(i, j), b = at(i, j + 1), c = at(i + 1, j + 1), d = at(i + 1, j);
      if ((i + j) % 2 == 0) {
        mesh.faces.push_back({a, b, c});
        mesh.faces.push_back({a, c, d});
      } else {
        mesh.faces.push_back({a, b, d});
        mesh.faces.push_back({b, c, d});
      }
    }
  // rim, down and together: one vertex below each on the rim
  std::vector<int> rim;
  for (int j = 0; j < m; ++j) rim.push_back(at(0, j));
  for (int i = 0; i < n; ++i) rim.push_back(at(i, m));
  for (int j = m; j > 0; --j) rim.push_back(at(n, j));
  for (int i = n; i > 0; --i) rim.push_back(at(i, 0));
  const int first = static_cast<int>(mesh.vertices.size()), count = static_cast<int>(rim.size());
  for (const int i : rim) {
    Vec<double, 3> v = mesh.vertices[static_cast<std::size_t>(i)];
    v[1] = -thick;
    mesh.vertices.push_back(v);
  }
  std::vector<int> bottom;
  for (int k = 0; k < count; ++k) {
    const int next = (k + 1) % count;
    mesh.faces.push_back(
        {rim[static_cast<std::size_t>(k)], first + k, first + next, rim[static_cast<std::size_t>(next)]});
    bottom.push_back(first + count - 1 - k);
  }
  mesh.faces.push_back(bottom);
  return mesh;
}

/// A stone of an arch of the middle radius `radius`, which is `thick` and whose center is the origin, about the y axis:
/// `angle` is what it takes up, less `gap` / 2 on each of its two joints.
inline PolygonMesh make_voussoir(double radius, double thick, double wide, double angle, double gap) {
  PolygonMesh mesh = make_box(1, 1, 1);
  for (Vec<double, 3>& v : mesh.vertices) {
    const double side = v[0] > 0 ? -1 : 1, r = radius + v[1] * thick, a = 0.5 * std::numbers::pi + side * 0.5 * angle;
    v = {{r * std::cos(a) + side * 0.5 * gap * std::sin(a), r * std::sin(a) - side * 0.5 * gap * std::cos(a),
          v[2] * wide}};
  }
  return mesh;
}

}  // namespace tribo::test
