#pragma once

#include "tribo/core/params.h"
#include "tribo/transfer/rule.h"

namespace tribo {

/// Affine particle-in-cell [Jiang 2017, sec. 4.2; GAMES201 L6]. Conserves mass, linear and angular momentum (the affine
/// part counted) in both directions; keeps affine motion exactly.
struct Apic {
  static constexpr const char* name = "apic";
  static constexpr const char* doc = "affine particle-in-cell: conserves linear and angular momentum";

  static Apic read(ParamReader& /*in*/) { return {}; }
  TransferRule<double> rule() const { return {1, 1, 0}; }
};

}  // namespace tribo
