#pragma once

#include "tribo/core/params.h"
#include "tribo/transfer/rule.h"

namespace tribo {

/// Particle-in-cell [GAMES201 L6]: particles take the grid's velocity and forget their own. Stable, but rotation dies
/// away within some steps: angular momentum is lost on the way back.
struct Pic {
  static constexpr const char* name = "pic";
  static constexpr const char* doc = "particle-in-cell: very stable, loses rotation and detail";

  static Pic read(ParamReader& /*in*/) { return {}; }
  TransferRule<double> rule() const { return {0, 0, 0}; }
};

}  // namespace tribo
