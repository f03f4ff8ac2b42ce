#pragma once

#include <cmath>

#include "tribo/exec/macros.h"

/// \file
/// How reductions and scans put two values together.

namespace tribo::TRIBO_BACKEND {

template <class T>
struct Plus {
  TRIBO_HD T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Larger {
  TRIBO_HD T operator()(T a, T b) const { return a < b ? b : a; }
};
/// The larger; NaN when either is.
template <class T>
struct LargerOrNan {
  TRIBO_HD T operator()(T a, T b) const {
    if (std::isnan(a)) return a;
    return b <= a ? a : b;
  }
};

}  // namespace tribo::TRIBO_BACKEND
