#pragma once

#include "tribo/math/small.h"

/// \file
/// Angles theta of the edges of a strand, or their rates, from equations in which each knows its neighbors alone.

namespace tribo::TRIBO_BACKEND {

/// The Thomas algorithm from the first edge on: theta_j = value - upper theta_{j+1}.
template <class T>
struct EdgeSweep {
  T upper, value;  ///< of the edge before, then of this one

  TRIBO_HD static EdgeSweep start() {
    const T zero(scalar_of<T>(0));
    return {zero, zero};
  }
  /// before theta_{j-1} + D theta_j + after theta_{j+1} = right; theta_j = `given` where it is fixed. Pivots below
  /// `least` are taken for it, which is as if the diagonal were larger.
  TRIBO_HD void next(const T& before, const T& D, const T& after, const T& right, const T& least,
                     const mask_t<T>& fixed, const T& given) {
    const T zero(scalar_of<T>(0)), one(scalar_of<T>(1));
    const T pivot = one / select(fixed, one, max(fma(-before, upper, D), least));
    value = select(fixed, given, (right - before * value) * pivot);
    upper = select(fixed, zero, after * pivot);
  }
};

}  // namespace tribo::TRIBO_BACKEND
