#pragma once

#include "tribo/models/joint/joint.h"

namespace tribo {

/// b turns about the axis and does nothing else.
template <class Real>
struct HingeJoint {
  static constexpr const char* name = "hinge";
  static constexpr const char* doc = "Lets one turn against the other about an axis: a wheel, a door, a knee.";
  static constexpr bool has_coordinate = true, coordinate_turns = true;

  static HingeJoint read(ParamReader&) { return {}; }

  template <class Visit>
  TRIBO_HD void each_row(const JointPlace<Real>& place, const Visit& visit) const {
    hold_point(place, visit);
    const Vec<Real, 3> off = cross(place.axis(place.frame_a, 2), place.axis(place.frame_b, 2));
    for (int k = 0; k < 2; ++k) {
      const Vec<Real, 3> across = place.axis(place.frame_a, k);
      visit(JointRow<Real>{across, true, dot(across, off), Real(0), Real(0)});
    }
  }

  /// The angle by which b is turned about the axis, without whole turns.
  TRIBO_HD JointRow<Real> coordinate(const JointPlace<Real>& place) const {
    const Vec<Real, 3> axis = place.axis(place.frame_a, 2), x = place.axis(place.frame_b, 0);
    const Real angle = angle_of(dot(place.axis(place.frame_a, 1), x), dot(place.axis(place.frame_a, 0), x));
    return {axis, true, angle, Real(0), Real(0)};
  }
};

}  // namespace tribo
