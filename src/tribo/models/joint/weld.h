#pragma once

#include "tribo/models/joint/joint.h"

namespace tribo {

/// Nothing moves.
template <class Real>
struct WeldJoint {
  static constexpr const char* name = "weld";
  static constexpr const char* doc = "Holds the two together as one.";
  /// Whether there is a coordinate that it leaves free, for limits, friction and motors, and whether that is an angle.
  static constexpr bool has_coordinate = false, coordinate_turns = false;

  static WeldJoint read(ParamReader&) { return {}; }

  /// visit(JointRow) for all that it holds.
  template <class Visit>
  TRIBO_HD void each_row(const JointPlace<Real>& place, const Visit& visit) const {
    hold_point(place, visit);
    hold_turn(place, visit);
  }
};

}  // namespace tribo
