#pragma once

#include <numbers>

#include "tribo/colliders/contact.h"
#include "tribo/colliders/surface.h"
#include "tribo/core/params.h"

namespace tribo {

/// Ball centered at the origin: distance = |p| - radius. In two dimensions, a disk.
template <class Real>
struct Sphere {
  static constexpr const char* name = "sphere";
  static constexpr const char* doc = "a ball centered at the origin; a disk in two dimensions";
  static constexpr const char* shorthand = "radius";

  Real radius = Real(0.5);  ///< [m]

  static Sphere read(ParamReader& in) { return {Real(in.number("radius", "m", above(0), "radius"))}; }

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    const SurfacePoint<Real, D> from_center = length_and_direction(p);
    return {from_center.distance - radius, from_center.normal};
  }

  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    visit_nearest(*this, p, inside, slack, visit);
  }

  Bounds bounds() const {
    const auto r = Vec<double, 3>::filled(double(radius));
    return {true, -r, r};
  }
  SurfaceMesh surface() const {
    constexpr double pole = std::numbers::pi / 2;
    return revolved_surface({arc(double(radius), 0, pole, -pole, 48)});
  }
  double volume(int dimension) const {
    const double r = double(radius);
    return dimension == 2 ? std::numbers::pi * r * r : 4.0 / 3.0 * std::numbers::pi * r * r * r;
  }
};

}  // namespace tribo
