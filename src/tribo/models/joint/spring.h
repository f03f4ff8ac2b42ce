#pragma once

#include <optional>

#include "tribo/models/joint/joint.h"

namespace tribo {

/// Pulls the two places to a distance, and resists any change of that.
template <class Real>
struct SpringJoint {
  static constexpr const char* name = "spring";
  static constexpr const char* doc =
      "Pulls or pushes two points to a distance from each other: a spring with a damper.";
  static constexpr bool has_coordinate = false, coordinate_turns = false;

  Real stiffness;  ///< [N/m]
  Real damping;    ///< [N s/m]
  Real length;     ///< at rest [m]; below 0: as far as they are at the start

  static SpringJoint read(ParamReader& in) {
    const double stiffness =
        in.number("stiffness", "N/m", above(0), "force for each meter that it is too long or short");
    const double damping =
        in.number("damping", "N s/m", at_least(0), "force for each m/s at which it gets longer", 0.0);
    const std::optional<double> length =
        in.open_number("length", "m", at_least(0), "at rest; as far as the two places are at the start if not given");
    return {Real(stiffness), Real(damping), Real(length.value_or(-1))};
  }

  SpringJoint begun(double distance) const { return length < Real(0) ? SpringJoint{stiffness, damping, Real(distance)} : *this; }

  template <class Visit>
  TRIBO_HD void each_row(const JointPlace<Real>& place, const Visit& visit) const {
    const auto pull = [&](JointRow<Real> row) {
      row.low = row.high = length;
      row.stiffness = stiffness;
      row.damping = damping;
      visit(row);
    };
    if (length > Real(0)) {
      pull(along_line(place));
    } else {  // without a length it pulls in every direction alike, and has none where the two places are one
      for (int k = 0; k < 3; ++k) pull(held_along(place, k));
    }
  }
};

}  // namespace tribo
