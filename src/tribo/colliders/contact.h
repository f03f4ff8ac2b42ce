#pragma once

#include <cmath>

#include "tribo/math/small.h"

namespace tribo {

/// Nearest surface point of a shape as seen from p: signed distance (negative inside) and outward unit normal.
template <class Real, int D>
struct SurfacePoint {
  Real distance;        ///< [m]
  Vec<Real, D> normal;  ///< gradient of the distance
};

/// Axis-aligned bounds of a shape in its own frame; `bounded` is false for a half space.
struct Bounds {
  bool bounded = false;
  Vec<double, 3> low = Vec<double, 3>::zero();
  Vec<double, 3> high = Vec<double, 3>::zero();
};

/// Bounds of a turned and moved shape, or of something within these bounds.
Bounds turned(const Bounds& bounds, const Mat<double, 3>& rotation, const Vec<double, 3>& at);
/// Around both, and `margin` more.
Bounds united(const Bounds& a, const Bounds& b, double margin = 0);
/// Around what is in both.
Bounds common(const Bounds& a, const Bounds& b);
/// Around both, or the one that is bounded.
Bounds hull_of_bounded(const Bounds& a, const Bounds& b);
/// Twice as wide; where there are none, two meters.
Bounds widened(const Bounds& bounds);

/// The unit vector along `axis`, or against it.
template <class Real, int D>
TRIBO_HD Vec<Real, D> axis_direction(int axis, bool backward) {
  Vec<Real, D> r = Vec<Real, D>::zero();
  r[axis] = backward ? Real(-1) : Real(1);
  return r;
}

/// Length and direction of v, that is, v as seen from a single point at the origin. The zero vector points along x:
/// any direction serves there, and a fixed one keeps runs reproducible. Scaled by the largest component first, so
/// that squares of very small or very large components neither vanish nor overflow.
template <class Real, int D>
TRIBO_HD SurfacePoint<Real, D> length_and_direction(const Vec<Real, D>& v) {
  Real largest = Real(0);
  for (int i = 0; i < D; ++i) largest = std::abs(v[i]) > largest ? std::abs(v[i]) : largest;
  if (!(largest > Real(0))) return {Real(0), axis_direction<Real, D>(0, false)};
  Vec<Real, D> scaled;
  for (int i = 0; i < D; ++i) scaled[i] = v[i] / largest;
  const Real length = std::sqrt(squared_norm(scaled));
  for (int i = 0; i < D; ++i) scaled[i] = scaled[i] / length;
  return {largest * length, scaled};
}

/// A surface point of the half plane (distance from the axis, y), turned to the direction `radial` = (x, z).
template <class Real>
TRIBO_HD SurfacePoint<Real, 3> revolved(const SurfacePoint<Real, 2>& s, const Vec<Real, 2>& radial) {
  return {s.distance, {{s.normal[0] * radial[0], s.normal[1], s.normal[0] * radial[1]}}};
}

/// Nearest surface point of the box |p_i| <= half_i. Inside, the closest face; outside, the closest point of a face,
/// edge or corner.
template <class Real, int D>
TRIBO_HD SurfacePoint<Real, D> nearest_of_box(const Vec<Real, D>& half, const Vec<Real, D>& p) {
  Vec<Real, D> beyond;  // from the closest point of the solid box to p
  int face = 0;
  Real depth = std::abs(p[0]) - half[0];
  for (int i = 0; i < D; ++i) {
    const Real over = std::abs(p[i]) - half[i];
    beyond[i] = over > Real(0) ? (p[i] < Real(0) ? -over : over) : Real(0);
    if (over > depth) {
      depth = over;
      face = i;
    }
  }
  if (depth > Real(0)) return length_and_direction(beyond);
  return {depth, axis_direction<Real, D>(face, p[face] < Real(0))};
}

/// Calls visit(SurfacePoint) for the walls of the container |p_i| <= half_i that p is beyond, or before by at most
/// `slack`. Each wall is a surface of its own, with its own normal: one diagonal normal in a corner would let material
/// slide through both walls.
template <class Real, int D, class Visit>
TRIBO_HD void each_wall_of_box(const Vec<Real, D>& half, const Vec<Real, D>& p, Real slack, const Visit& visit) {
  for (int i = 0; i < D; ++i) {
    const Real over = std::abs(p[i]) - half[i];
    if (over >= -slack) visit(SurfacePoint<Real, D>{-over, axis_direction<Real, D>(i, !(p[i] < Real(0)))});
  }
}

/// The contact of a shape with a single smooth surface: at most one call of visit(SurfacePoint), when p is on the
/// forbidden side or before it by at most `slack`: nodes that lie on a wall but for rounding must all count as on it,
/// or opposite walls would act half a cell apart. Normals handed to `visit` point to the allowed side, which is the
/// inside of the shape when `inside` is set, and distances are negative on the other.
template <class AnyShape, class Real, int D, class Visit>
TRIBO_HD void visit_nearest(const AnyShape& shape, const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) {
  const SurfacePoint<Real, D> s = shape.nearest(p);
  if (inside ? s.distance >= -slack : s.distance <= slack) {
    visit(inside ? SurfacePoint<Real, D>{-s.distance, -s.normal} : s);
  }
}

}  // namespace tribo
