#pragma once

#include <numbers>

#include "tribo/colliders/contact.h"
#include "tribo/colliders/surface.h"
#include "tribo/core/params.h"

namespace tribo {

/// Solid cylinder along y, centered at the origin. In two dimensions its cross-section through the axis, a rectangle.
template <class Real>
struct Cylinder {
  static constexpr const char* name = "cylinder";
  static constexpr const char* doc = "a cylinder along y, centered at the origin; a rectangle in two dimensions";
  static constexpr const char* shorthand = nullptr;

  Real radius = Real(0.5);  ///< [m]
  Real height = Real(1);    ///< [m]

  static Cylinder read(ParamReader& in) {
    const double r = in.number("radius", "m", above(0), "radius");
    const double h = in.number("height", "m", above(0), "length along y");
    return {Real(r), Real(h)};
  }

  /// Half extents in the plane of distance from the axis and y, where the cylinder is a rectangle.
  TRIBO_HD Vec<Real, 2> half() const { return {{radius, Real(0.5) * height}}; }

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    if constexpr (D == 2) {
      return nearest_of_box(half(), p);
    } else {
      const SurfacePoint<Real, 2> axis = length_and_direction(Vec<Real, 2>{{p[0], p[2]}});
      return revolved(nearest_of_box(half(), {{axis.distance, p[1]}}), axis.normal);
    }
  }

  /// Inside, the lateral surface and the caps are separate surfaces, like the walls of a box.
  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    if (!inside) {
      visit_nearest(*this, p, inside, slack, visit);
    } else if constexpr (D == 2) {
      each_wall_of_box(half(), p, slack, visit);
    } else {
      const SurfacePoint<Real, 2> axis = length_and_direction(Vec<Real, 2>{{p[0], p[2]}});
      if (axis.distance - radius >= -slack) {
        visit(revolved(SurfacePoint<Real, 2>{radius - axis.distance, {{Real(-1), Real(0)}}}, axis.normal));
      }
      const Real over = std::abs(p[1]) - half()[1];
      if (over >= -slack) visit(SurfacePoint<Real, 3>{-over, axis_direction<Real, 3>(1, !(p[1] < Real(0)))});
    }
  }

  Bounds bounds() const {
    const Vec<double, 3> h{{double(radius), 0.5 * double(height), double(radius)}};
    return {true, -h, h};
  }
  SurfaceMesh surface() const {
    const double r = double(radius), h = 0.5 * double(height);
    return revolved_surface({{{{0, h}}, {{r, h}}}, {{{r, h}}, {{r, -h}}}, {{{r, -h}}, {{0, -h}}}});
  }
  double volume(int dimension) const {
    const double r = double(radius), h = double(height);
    return dimension == 2 ? 2 * r * h : std::numbers::pi * r * r * h;
  }
};

}  // namespace tribo
