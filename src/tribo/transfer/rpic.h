#pragma once

#include "tribo/core/params.h"
#include "tribo/transfer/rule.h"

namespace tribo {

/// APIC whose symmetric part is damped [Jiang 2017, eq. 2]: C = skew(L) + (1 - nu) sym(L). Keeps linear and angular
/// momentum; takes energy out of deformation, not out of rotation. The damping acts once per transfer, so that it is
/// stronger the shorter the time steps are. With the linear kernel, whose second moment D is no multiple of the
/// identity, it would have to act on C D (theory A.3), and that divided by D has no bound: scenes with both are
/// refused.
struct Rpic {
  static constexpr const char* name = "rpic";
  static constexpr const char* doc =
      "APIC with damped deformation: conserves momenta, calms vibration; not with the linear kernel";

  double damping = 1;

  static Rpic read(ParamReader& in) {
    return {in.number("rpic_damping", "1", within(0, 1),
                      "with transfer \"rpic\": share of the symmetric part lost in each transfer", 1)};
  }
  TransferRule<double> rule() const { return {1, 1 - damping, 0}; }
};

}  // namespace tribo
