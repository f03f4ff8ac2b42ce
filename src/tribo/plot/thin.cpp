#include "tribo/plot/thin.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tribo {

std::vector<std::size_t> thin(std::span<const double> values, std::size_t most) {
  const std::size_t n = values.size();
  std::vector<std::size_t> kept;
  if (n <= most) {
    kept.resize(n);
    std::iota(kept.begin(), kept.end(), std::size_t{0});
    return kept;
  }
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const std::size_t per_stretch = std::all_of(values.begin(), values.end(), is_finite) ? 2 : 3;
  const std::size_t stretches = std::max<std::size_t>(1, (most - 2) / per_stretch);
  kept.push_back(0);
  for (std::size_t s = 0; s < stretches; ++s) {
    const std::size_t begin = s * n / stretches;
    const std::size_t end = (s + 1) * n / stretches;
    std::array<std::size_t, 3> found = {n, n, n};  // least, greatest, not finite
    for (std::size_t i = begin; i < end; ++i) {
      if (!is_finite(values[i])) {
        if (found[2] == n) found[2] = i;
        continue;
      }
      if (found[0] == n || values[i] < values[found[0]]) found[0] = i;
      if (found[1] == n || values[i] > values[found[1]]) found[1] = i;
    }
    std::sort(found.begin(), found.end());
    for (const std::size_t i : found)
      if (i < n && i > kept.back()) kept.push_back(i);
  }
  if (kept.back() != n - 1) kept.push_back(n - 1);
  return kept;
}

}  // namespace tribo
