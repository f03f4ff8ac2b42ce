#pragma once

#include <optional>

#include "tribo/models/joint/joint.h"

namespace tribo {

/// The two places stay as far from each other as `low` to `high`.
template <class Real>
struct DistanceJoint {
  static constexpr const char* name = "distance";
  static constexpr const char* doc =
      "Keeps a point of one at a distance from a point of the other: a rod, or a rope, which only holds back.";
  static constexpr bool has_coordinate = false, coordinate_turns = false;

  Real low, high;  ///< [m]; below 0: as far as they are at the start

  static DistanceJoint read(ParamReader& in) {
    const std::optional<double> length =
        in.open_number("length", "m", above(0), "of a rod; as far as the two places are at the start if not given");
    const std::optional<double> least = in.open_number(
        "min", "m", at_least(0), "in place of `length`: the two come no nearer; 0 if only `max` is given");
    const std::optional<double> most =
        in.open_number("max", "m", above(0),
                       "in place of `length`: the two get no farther, as on a rope; no bound if only `min` is given");
    if (length && (least || most))
      in.complain("length", "a rod has a `length`, a rope `min` and `max`; give one of both");
    if (least && most && *least > *most) in.complain("min", "is more than `max`; swap them");
    if (!least && !most) return {Real(length.value_or(-1)), Real(length.value_or(-1))};
    return {Real(least.value_or(0)), Real(most.value_or(1e300))};
  }

  /// With what is not given taken from the distance at the start [m].
  DistanceJoint begun(double distance) const { return low < Real(0) ? DistanceJoint{Real(distance), Real(distance)} : *this; }

  template <class Visit>
  TRIBO_HD void each_row(const JointPlace<Real>& place, const Visit& visit) const {
    JointRow<Real> row = along_line(place);
    row.low = low;
    row.high = high;
    visit(row);
  }
};

}  // namespace tribo
