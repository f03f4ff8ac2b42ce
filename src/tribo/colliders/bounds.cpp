#include <algorithm>

#include "tribo/colliders/contact.h"

namespace tribo {

Bounds turned(const Bounds& bounds, const Mat<double, 3>& rotation, const Vec<double, 3>& at) {
  if (!bounds.bounded) return bounds;
  const Vec<double, 3> center = rotation * (0.5 * (bounds.low + bounds.high)) + at;
  const Vec<double, 3> half = 0.5 * (bounds.high - bounds.low);
  Vec<double, 3> reach = Vec<double, 3>::zero();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) reach[i] += std::abs(rotation(i, j)) * half[j];
  return {true, center - reach, center + reach};
}

Bounds united(const Bounds& a, const Bounds& b, double margin) {
  if (!a.bounded || !b.bounded) return {};
  Bounds sum{true, a.low, a.high};
  for (int k = 0; k < 3; ++k) {
    sum.low[k] = std::min(a.low[k], b.low[k]) - margin;
    sum.high[k] = std::max(a.high[k], b.high[k]) + margin;
  }
  return sum;
}

Bounds common(const Bounds& a, const Bounds& b) {
  if (!a.bounded || !b.bounded) return a.bounded ? a : b;
  Bounds both{true, a.low, a.high};
  for (int k = 0; k < 3; ++k) {
    both.low[k] = std::max(a.low[k], b.low[k]);
    both.high[k] = std::max(both.low[k], std::min(a.high[k], b.high[k]));
  }
  return both;
}

Bounds hull_of_bounded(const Bounds& a, const Bounds& b) {
  if (!a.bounded || !b.bounded) return a.bounded ? a : b;
  return united(a, b);
}

Bounds widened(const Bounds& bounds) {
  if (!bounds.bounded) return {true, Vec<double, 3>::filled(-1), Vec<double, 3>::filled(1)};
  const Vec<double, 3> half = 0.5 * (bounds.high - bounds.low);
  return {true, bounds.low - half, bounds.high + half};
}

}  // namespace tribo
