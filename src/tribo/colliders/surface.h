#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

#include "tribo/math/small.h"
#include "tribo/mesh/surface_mesh.h"

/// \file
/// Triangles of shapes, for pictures and exports; contact uses the exact distance instead.

namespace tribo {

/// A box by its half extents.
inline SurfaceMesh box_surface(const Vec<double, 3>& half) {
  SurfaceMesh mesh;
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-1.0, 1.0}) {
      const int u = (axis + 1) % 3, v = (axis + 2) % 3;
      const auto corner = [&](double a, double b) {
        Vec<double, 3> p;
        p[axis] = side * half[axis];
        p[u] = side * a * half[u];  // the mirrored face is walked around the other way
        p[v] = b * half[v];
        return p;
      };
      mesh.add_quad(corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1));
    }
  return mesh;
}

/// A smooth piece of a profile in the half plane (distance from the axis, y), from top to bottom, or clockwise around
/// and back to its first point.
using ProfilePiece = std::vector<Vec<double, 2>>;

/// The surface that pieces of a profile sweep out around the y axis; the ends of pieces are creases.
inline SurfaceMesh revolved_surface(const std::vector<ProfilePiece>& pieces, int around = 96) {
  SurfaceMesh mesh;
  for (const ProfilePiece& piece : pieces) {
    std::vector<std::int32_t> first;  // vertex of each row; on the axis the ring is a single point
    for (const Vec<double, 2>& p : piece) {
      if (&p == &piece.back() && p[0] == piece[0][0] && p[1] == piece[0][1] && piece.size() > 2) {
        first.push_back(first.front());
        break;
      }
      first.push_back(static_cast<std::int32_t>(mesh.vertices.size()));
      const int count = p[0] > 0 ? around : 1;
      for (int k = 0; k < count; ++k) {
        const double angle = 2 * std::numbers::pi * k / around;
        mesh.add({{p[0] * std::cos(angle), p[1], p[0] * std::sin(angle)}});
      }
    }
    const auto at = [&](std::size_t row, int k) { return first[row] + (piece[row][0] > 0 ? k % around : 0); };
    for (std::size_t row = 0; row + 1 < piece.size(); ++row)
      for (int k = 0; k < around; ++k) {
        // Next to the axis one of the two triangles of a cell has no area.
        if (piece[row][0] > 0) mesh.triangles.push_back({{at(row, k), at(row, k + 1), at(row + 1, k)}});
        if (piece[row + 1][0] > 0) mesh.triangles.push_back({{at(row, k + 1), at(row + 1, k + 1), at(row + 1, k)}});
      }
  }
  return mesh;
}

/// Part of a circle about (0, y), from one angle above the horizontal down to another [rad].
inline ProfilePiece arc(double radius, double y, double from, double to, int steps) {
  ProfilePiece piece;
  for (int i = 0; i <= steps; ++i) {
    const double angle = from + (to - from) * i / steps;
    const bool pole = std::abs(std::abs(angle) - std::numbers::pi / 2) < 1e-9;
    piece.push_back({{pole ? 0 : radius * std::cos(angle), y + radius * std::sin(angle)}});
  }
  return piece;
}

}  // namespace tribo
