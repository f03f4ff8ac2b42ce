#pragma once

#include <algorithm>
#include <cmath>

/// \file
/// A line search along the slope instead of the energy, whose differences vanish in the rounding of floats
/// [Matthies 1979].

namespace tribo::TRIBO_BACKEND::linear {

/// The whole step has been taken, from where the slope along it was `slope` < 0. Shortens it until it is no steeper
/// uphill there than it was downhill. `line` has `slope()`, at the present iterate, `move(share)` of the step, and
/// `evaluate()`. False when no length will do.
template <class Line>
bool search_slope(Line& line, double slope) {
  constexpr int most = 12;
  double taken = 1;
  for (int tries = 0; tries < most; ++tries) {
    const double there = line.slope();
    if (there <= -0.8 * slope) return true;
    double shorter = std::isfinite(there) ? taken * slope / (slope - there) : 0;
    shorter = std::clamp(shorter, 0.1 * taken, 0.7 * taken);
    line.move(shorter - taken);
    taken = shorter;
    line.evaluate();
  }
  return false;
}

}  // namespace tribo::TRIBO_BACKEND::linear
