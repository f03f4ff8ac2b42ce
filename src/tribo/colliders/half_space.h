#pragma once

#include <limits>

#include "tribo/colliders/contact.h"
#include "tribo/colliders/surface.h"
#include "tribo/core/params.h"

namespace tribo {

/// All points at or below a plane through the origin: distance = n . p. In two dimensions, a half plane.
template <class Real>
struct HalfSpace {
  static constexpr const char* name = "half_space";
  static constexpr const char* doc = "everything below a plane through the origin: a floor, a wall, an incline";
  static constexpr const char* shorthand = "normal";

  Vec<Real, 3> normal{{Real(0), Real(1), Real(0)}};  ///< out of the solid side, unit length

  static HalfSpace read(ParamReader& in) {
    const Vec<double, 3> up{{0, 1, 0}};
    const Vec<double, 3> n = in.vector("normal", "1", anything(), "direction out of the solid side, of any length", up);
    if (!(n[0] != 0 || n[1] != 0 || n[2] != 0)) {
      in.complain("normal", "expected a direction, got a vector of length 0");
      return {};
    }
    return {cast<Real>(length_and_direction(n).normal)};
  }

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    if constexpr (D == 3) {
      return {dot(normal, p), normal};
    } else {
      // The plane z = 0 cuts a tilted half space in a half plane whose normal is shorter than 1.
      const Vec<Real, D> n = length_and_direction(Vec<Real, D>{{normal[0], normal[1]}}).normal;
      return {dot(n, p), n};
    }
  }

  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    visit_nearest(*this, p, inside, slack, visit);
  }

  Bounds bounds() const { return {}; }
  /// A piece of the plane, two meters wide; whoever draws it scales it to the size of the scene.
  SurfaceMesh surface() const {
    const Vec<double, 3> n = cast<double>(normal);
    const int steepest = std::abs(n[0]) < 0.7 ? 0 : 1;
    Vec<double, 3> along = Vec<double, 3>::zero();
    along[steepest] = 1;
    const Vec<double, 3> u = length_and_direction(cross(n, along)).normal;
    const Vec<double, 3> v = cross(n, u);
    SurfaceMesh mesh;
    mesh.add_quad(-u - v, u - v, u + v, v - u);
    return mesh;
  }
  double volume(int /*dimension*/) const { return std::numeric_limits<double>::infinity(); }
};

}  // namespace tribo
