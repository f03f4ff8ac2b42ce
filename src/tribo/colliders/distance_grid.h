#pragma once

#include <cstdint>

#include "tribo/colliders/contact.h"
#include "tribo/mesh/distance_field.h"

namespace tribo {

/// A value and its gradient interpolated linearly along each axis between the corners of a cell. `f` in [0, 1].
template <class Real>
TRIBO_HD SurfacePoint<Real, 3> trilinear(const Real (&v)[2][2][2], const Vec<Real, 3>& f, Real edge) {
  Real along[2][2], slope[2][2];  // after the third axis
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      slope[i][j] = v[i][j][1] - v[i][j][0];
      along[i][j] = v[i][j][0] + f[2] * slope[i][j];
    }
  const auto between = [&](Real a, Real b, int axis) { return a + f[axis] * (b - a); };
  const Real low = between(along[0][0], along[0][1], 1), high = between(along[1][0], along[1][1], 1);
  const Vec<Real, 3> rise{{high - low, between(along[0][1] - along[0][0], along[1][1] - along[1][0], 0),
                           between(between(slope[0][0], slope[0][1], 1), between(slope[1][0], slope[1][1], 1), 0)}};
  const Real per_edge = Real(1) / edge;
  return {between(low, high, 0), rise * per_edge};
}

/// The DistanceField of a mesh as kernels see it. Distances are good to a fraction of the spacing near the surface and
/// approximate far from it.
template <class Real>
struct DistanceGrid {
  const float* samples;
  const float* corners;
  const std::int32_t* fine;
  Vec<std::int32_t, 3> blocks;
  Vec<Real, 3> low;
  Real spacing;

  TRIBO_HD SurfacePoint<Real, 3> nearest(const Vec<Real, 3>& p) const {
    const Vec<Real, 3> u = place_within(p);
    const SurfacePoint<Real, 3> here = interpolated(u);
    const Vec<Real, 3> normal = length_and_direction(here.normal).normal;
    const Vec<Real, 3> outside = p - (low + spacing * u);
    bool far = false;
    for (int k = 0; k < 3; ++k) far = far || std::abs(outside[k]) > spacing;
    if (!far) return {here.distance, normal};
    // Outside of what is sampled, the way leads over the nearest point there is a sample at.
    return length_and_direction(outside + here.distance * normal);
  }
  /// Meshes are refused in two dimensions; this lets kernels of the plane compile.
  TRIBO_HD SurfacePoint<Real, 2> nearest(const Vec<Real, 2>& p) const {
    return {spacing, length_and_direction(p).normal};
  }

  /// Behind a corner where walls meet, as seen from the allowed side, the nearest point is the corner and the normal
  /// points anywhere between those of the walls. Each wall is to act by itself (see each_wall_of_box), so they are
  /// looked for around the nearest point, on the allowed side, where each place has one nearest wall.
  template <class Visit>
  TRIBO_HD void each_contact(const Vec<Real, 3>& p, bool inside, Real slack, const Visit& visit) const {
    const Real sign = inside ? Real(1) : Real(-1);
    const SurfacePoint<Real, 3> s = nearest(p);
    const Real beyond = sign * s.distance;
    if (beyond < -slack) return;
    const Vec<Real, 3> away = -sign * s.normal;
    // Two cells before the surface, in two goes: behind a corner the direction is good to some degrees only.
    const Vec<Real, 3> foot = p + (beyond + spacing) * away;
    const SurfacePoint<Real, 3> there = nearest(foot);
    const Vec<Real, 3> before = foot - sign * (sign * there.distance + Real(2) * spacing) * there.normal;
    Vec<Real, 3> walls[12];
    int count = 0;
    const Real rounding = slack < Real(0.1) * spacing ? slack : Real(0.1) * spacing;  // of what is sampled
    SurfacePoint<Real, 3> own{-beyond, away};  // the wall that the nearest point is on, if it is on one
    Real likeness = Real(same_wall);
    bool corner = false;
    for (int i = 0; i < 12; ++i) {  // toward the middles of a cube's edges
      const int u = i / 4, v = (u + 1) % 3;
      Vec<Real, 3> q = before;
      q[u] += (i % 2 == 0 ? Real(3) : Real(-3)) * spacing;
      q[v] += (i % 4 < 2 ? Real(3) : Real(-3)) * spacing;
      const SurfacePoint<Real, 3> around = interpolated(place_within(q));
      // Where the nearest wall changes the gradient is not of length 1; such places say nothing.
      const SurfacePoint<Real, 3> slope = length_and_direction(-sign * around.normal);
      if (!(sign * around.distance <= slack) || std::abs(slope.distance - Real(1)) > Real(0.03)) continue;
      const Vec<Real, 3>& n = slope.normal;
      const Real depth = sign * around.distance - dot(p - q, n);
      if (dot(n, away) > likeness) {
        likeness = dot(n, away);
        own = {-depth, n};
        continue;
      }
      if (is_same_wall(n, away)) continue;
      corner = corner || depth > Real(-2) * spacing;
      // Not far before the wall; and not at a ridge, where p is behind other walls more deeply than behind its own,
      // however far ahead `slack` looks.
      bool counts = depth >= -slack && depth <= beyond + rounding;
      for (int k = 0; k < count; ++k) counts = counts && !is_same_wall(n, walls[k]);
      if (!counts) continue;
      // A wall ends: its plane stops nobody where there is free space behind it.
      if (sign * interpolated(place_within(p + depth * n)).distance < -spacing) continue;
      walls[count++] = n;
      visit(SurfacePoint<Real, 3>{-depth, n});
    }
    // Next to a corner the normal is bent by the interpolation, that of the wall is not. On a curved surface it is the
    // other way round.
    if (likeness > Real(same_wall) || count == 0) visit(corner ? own : SurfacePoint<Real, 3>{-beyond, away});
  }
  template <class Visit>
  TRIBO_HD void each_contact(const Vec<Real, 2>& p, bool inside, Real slack, const Visit& visit) const {
    visit_nearest(*this, p, inside, slack, visit);
  }

 private:
  static constexpr double same_wall = 0.95;  ///< least cosine of the angle between normals of one wall
  TRIBO_HD static bool is_same_wall(const Vec<Real, 3>& a, const Vec<Real, 3>& b) {
    return dot(a, b) > Real(same_wall);
  }

  /// The nearest place to p within the field, counted in samples.
  TRIBO_HD Vec<Real, 3> place_within(const Vec<Real, 3>& p) const {
    Vec<Real, 3> u;
    for (int k = 0; k < 3; ++k) {
      const Real most = Real(blocks[k] * DistanceField::side);
      u[k] = (p[k] - low[k]) / spacing;
      u[k] = u[k] > Real(0) ? (u[k] < most ? u[k] : most) : Real(0);
    }
    return u;
  }
  /// Distance and gradient at a place counted in samples, within the field.
  TRIBO_CALLED SurfacePoint<Real, 3> interpolated(const Vec<Real, 3>& u) const {
    constexpr int side = DistanceField::side;
    Vec<std::int32_t, 3> block;
    for (int k = 0; k < 3; ++k) {
      block[k] = static_cast<std::int32_t>(u[k]) / side;
      block[k] = block[k] < blocks[k] ? block[k] : blocks[k] - 1;
    }
    const std::int64_t index = (std::int64_t{block[0]} * blocks[1] + block[1]) * blocks[2] + block[2];
    const std::int32_t number = fine[index];
    const bool far = number == DistanceField::far;
    Vec<Real, 3> f;
    Vec<std::int32_t, 3> cell = block;
    for (int k = 0; k < 3; ++k) {
      const Real within = u[k] - Real(block[k] * side);
      if (far) {
        f[k] = within * Real(1.0 / side);
      } else {
        cell[k] = static_cast<std::int32_t>(within);
        cell[k] = cell[k] < side ? cell[k] : side - 1;
        f[k] = within - Real(cell[k]);
      }
    }
    // Both kinds of samples lie z fastest; they differ in where they begin and how wide their rows are.
    const float* const from = far ? corners : samples + std::int64_t{number} * DistanceField::block_nodes;
    const std::int64_t ny = far ? blocks[1] + 1 : side + 1, nz = far ? blocks[2] + 1 : side + 1;
    Real v[2][2][2];
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        for (int k = 0; k < 2; ++k) v[i][j][k] = Real(from[((cell[0] + i) * ny + cell[1] + j) * nz + cell[2] + k]);
    return trilinear(v, f, far ? spacing * Real(side) : spacing);
  }
};

}  // namespace tribo
