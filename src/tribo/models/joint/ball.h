#pragma once

#include "tribo/models/joint/joint.h"

namespace tribo {

/// b turns about the place and does nothing else.
template <class Real>
struct BallJoint {
  static constexpr const char* name = "ball";
  static constexpr const char* doc = "Lets one turn against the other in every way about a point: a link, a shoulder.";
  static constexpr bool has_coordinate = false, coordinate_turns = false;

  static BallJoint read(ParamReader&) { return {}; }

  template <class Visit>
  TRIBO_HD void each_row(const JointPlace<Real>& place, const Visit& visit) const {
    hold_point(place, visit);
  }
};

}  // namespace tribo
