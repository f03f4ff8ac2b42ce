#pragma once

#include "tribo/core/params.h"
#include "tribo/transfer/rule.h"

namespace tribo {

/// FLIP and its blend with PIC [GAMES201 L6]: particles add the grid's change of velocity to their own. Keeps energy,
/// at the price of noise that the grid does not see; a part of PIC, 1 - ratio, damps it.
struct Flip {
  static constexpr const char* name = "flip";
  static constexpr const char* doc = "particles take the grid's change of velocity, blended with PIC: lively, noisy";

  double ratio = 0.99;

  static Flip read(ParamReader& in) {
    return {in.number("flip_ratio", "1", within(0, 1), "with transfer \"flip\": share of FLIP; the rest is PIC", 0.99)};
  }
  TransferRule<double> rule() const { return {0, 0, ratio}; }
};

}  // namespace tribo
