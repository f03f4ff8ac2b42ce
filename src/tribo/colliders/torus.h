#pragma once

#include <numbers>

#include "tribo/colliders/contact.h"
#include "tribo/colliders/surface.h"
#include "tribo/core/params.h"

namespace tribo {

/// All points within `tube` of the circle of radius `ring` about the y axis. In two dimensions its cross-section
/// through the axis, two disks.
template <class Real>
struct Torus {
  static constexpr const char* name = "torus";
  static constexpr const char* doc = "a ring around the y axis, centered at the origin; two disks in two dimensions";
  static constexpr const char* shorthand = nullptr;

  Real ring = Real(0.5);   ///< from the center to the middle of the tube [m]
  Real tube = Real(0.25);  ///< of the tube itself [m]

  static Torus read(ParamReader& in) {
    const double r = in.number("radius", "m", above(0), "from the center to the middle of the tube");
    const double t = in.number("tube", "m", above(0), "radius of the tube; smaller than `radius`");
    if (!(t < r)) {
      in.complain("tube", "expected less than `radius`: the ring would have no hole");
      return {};
    }
    return {Real(r), Real(t)};
  }

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    if constexpr (D == 2) {
      const Real side = p[0] < Real(0) ? Real(-1) : Real(1);
      const SurfacePoint<Real, 2> s = length_and_direction(Vec<Real, 2>{{p[0] - side * ring, p[1]}});
      return {s.distance - tube, s.normal};
    } else {
      const SurfacePoint<Real, 2> axis = length_and_direction(Vec<Real, 2>{{p[0], p[2]}});
      const SurfacePoint<Real, 2> s = length_and_direction(Vec<Real, 2>{{axis.distance - ring, p[1]}});
      return revolved(SurfacePoint<Real, 2>{s.distance - tube, s.normal}, axis.normal);
    }
  }

  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    visit_nearest(*this, p, inside, slack, visit);
  }

  Bounds bounds() const {
    const double outer = double(ring) + double(tube);
    const Vec<double, 3> h{{outer, double(tube), outer}};
    return {true, -h, h};
  }
  SurfaceMesh surface() const {
    constexpr int around_tube = 48;
    ProfilePiece profile;  // from the outermost point down and around; it ends where it began
    for (int i = 0; i <= around_tube; ++i) {
      const double angle = -2 * std::numbers::pi * (i % around_tube) / around_tube;
      profile.push_back({{double(ring) + double(tube) * std::cos(angle), double(tube) * std::sin(angle)}});
    }
    return revolved_surface({profile});
  }
  double volume(int dimension) const {
    const double r = double(ring), t = double(tube);
    const double disk = std::numbers::pi * t * t;
    return dimension == 2 ? 2 * disk : 2 * std::numbers::pi * r * disk;
  }
};

}  // namespace tribo
