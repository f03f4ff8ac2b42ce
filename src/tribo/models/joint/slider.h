#pragma once

#include "tribo/models/joint/joint.h"

namespace tribo {

/// b moves along the axis and does nothing else.
template <class Real>
struct SliderJoint {
  static constexpr const char* name = "slider";
  static constexpr const char* doc = "Lets one move against the other along an axis: a drawer, a piston, a lift.";
  static constexpr bool has_coordinate = true, coordinate_turns = false;

  static SliderJoint read(ParamReader&) { return {}; }

  template <class Visit>
  TRIBO_HD void each_row(const JointPlace<Real>& place, const Visit& visit) const {
    for (int k = 0; k < 2; ++k) visit(held_along(place, k));
    hold_turn(place, visit);
  }

  /// How far b has moved along the axis.
  TRIBO_HD JointRow<Real> coordinate(const JointPlace<Real>& place) const { return held_along(place, 2); }
};

}  // namespace tribo
