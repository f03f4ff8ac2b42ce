#pragma once

#include <numbers>

#include "tribo/colliders/contact.h"
#include "tribo/colliders/surface.h"
#include "tribo/core/params.h"

namespace tribo {

/// All points within `radius` of the segment |y| <= height / 2 on the y axis. In two dimensions, a stadium.
template <class Real>
struct Capsule {
  static constexpr const char* name = "capsule";
  static constexpr const char* doc = "a cylinder along y with round ends, centered at the origin";
  static constexpr const char* shorthand = nullptr;

  Real radius = Real(0.5);  ///< [m]
  Real height = Real(1);    ///< of the straight part [m]

  static Capsule read(ParamReader& in) {
    const double r = in.number("radius", "m", above(0), "radius of the straight part and of the round ends");
    const double h = in.number("height", "m", at_least(0), "length of the straight part, along y, without the ends");
    return {Real(r), Real(h)};
  }

  template <int D>
  TRIBO_HD SurfacePoint<Real, D> nearest(const Vec<Real, D>& p) const {
    const Real half = Real(0.5) * height;
    Vec<Real, D> from_segment = p;
    from_segment[1] = p[1] > half ? p[1] - half : p[1] < -half ? p[1] + half : Real(0);
    // On the segment itself the direction along x is right: it is the way to the straight part.
    const SurfacePoint<Real, D> s = length_and_direction(from_segment);
    return {s.distance - radius, s.normal};
  }

  template <int D, class Visit>
  TRIBO_HD void each_contact(const Vec<Real, D>& p, bool inside, Real slack, const Visit& visit) const {
    visit_nearest(*this, p, inside, slack, visit);
  }

  Bounds bounds() const {
    const double r = double(radius);
    const Vec<double, 3> h{{r, r + 0.5 * double(height), r}};
    return {true, -h, h};
  }
  SurfaceMesh surface() const {
    constexpr double pole = std::numbers::pi / 2;
    const double r = double(radius), h = 0.5 * double(height);
    ProfilePiece profile = arc(r, h, pole, 0, 24);
    const ProfilePiece lower = arc(r, -h, 0, -pole, 24);
    profile.insert(profile.end(), lower.begin() + (h > 0 ? 0 : 1), lower.end());
    return revolved_surface({profile});
  }
  double volume(int dimension) const {
    const double r = double(radius), h = double(height);
    const double disk = std::numbers::pi * r * r;
    return dimension == 2 ? disk + 2 * r * h : disk * (4.0 / 3.0 * r + h);
  }
};

}  // namespace tribo
