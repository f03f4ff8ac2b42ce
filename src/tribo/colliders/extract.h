#pragma once

#include <algorithm>
#include <cmath>
#include <functional>

#include "tribo/colliders/contact.h"
#include "tribo/colliders/surface.h"

/// \file
/// What can be found out about a shape that is known by its distance alone.

namespace tribo {

/// Triangles of the surface within the bounds, at most 128 cells across; creases stay sharp. `nearest` is called from
/// many threads. Open where the surface leaves the bounds.
SurfaceMesh extract_surface(const std::function<SurfacePoint<double, 3>(const Vec<double, 3>&)>& nearest,
                            const Bounds& bounds);

/// Content of a cell about `center`: all or nothing when the surface is farther than its corners, half and half where
/// the surface is all but flat, else that of its halves.
template <int D, class Nearest>
double measure_cell(const Nearest& nearest, const Vec<double, D>& center, const Vec<double, D>& half, int levels) {
  double content = 1;
  for (int k = 0; k < D; ++k) content *= 2 * half[k];
  const SurfacePoint<double, D> s = nearest(center);
  const double reach = std::sqrt(squared_norm(half));
  if (s.distance >= reach) return 0;
  if (s.distance <= -reach) return content;
  if (levels == 0) {
    double width = 0;  // of the cell along the normal
    for (int k = 0; k < D; ++k) width += 2 * half[k] * std::abs(s.normal[k]);
    return content * std::clamp(0.5 - s.distance / width, 0.0, 1.0);
  }
  double sum = 0;
  for (int child = 0; child < 1 << D; ++child) {
    Vec<double, D> middle = center;
    for (int k = 0; k < D; ++k) middle[k] += (child >> k & 1 ? 0.5 : -0.5) * half[k];
    sum += measure_cell<D>(nearest, middle, 0.5 * half, levels - 1);
  }
  return sum;
}

/// Volume of a bounded shape, or area in two dimensions.
template <int D, class Nearest>
double measure(const Nearest& nearest, const Bounds& bounds) {
  Vec<double, D> center, half;
  for (int k = 0; k < D; ++k) {
    center[k] = 0.5 * (bounds.low[k] + bounds.high[k]);
    half[k] = 0.5 * (bounds.high[k] - bounds.low[k]);
  }
  return measure_cell<D>(nearest, center, half, D == 2 ? 10 : 7);
}

}  // namespace tribo
