#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "scene_text.h"

/// \file
/// Measures heaps of grains. The thickness of a deposit at a place is the rest volume of the particles there over their
/// base area: it needs no surface, and counts a layer that is thinner than a particle as just that.

namespace tribo::test {

/// Thickness of a deposit in steps along the ground [m].
struct Profile {
  double step;                    ///< [m]
  std::vector<double> thickness;  ///< mean from i step to (i + 1) step [m]

  double place(std::size_t i) const { return (static_cast<double>(i) + 0.5) * step; }
};

/// place(x, y, z) >= 0 is where along the ground a particle is counted, area(i) the base of the i-th step.
template <class Place, class Area>
Profile profile(const Frame& frame, double volume_each, double step, const Place& place, const Area& area) {
  const NamedArray& x = *frame.find("x");
  const std::size_t components = x.components;
  Profile result{step, {}};
  const auto positions = x.as<float>();
  for (std::size_t i = 0; i < positions.size(); i += components) {
    const auto at = static_cast<std::size_t>(place(&positions[i]) / step);
    if (at >= result.thickness.size()) result.thickness.resize(at + 1, 0);
    result.thickness[at] += volume_each;
  }
  for (std::size_t i = 0; i < result.thickness.size(); ++i) result.thickness[i] /= area(static_cast<double>(i));
  return result;
}
/// Around the vertical axis.
inline Profile rings(const Frame& frame, double volume_each, double step) {
  return profile(
      frame, volume_each, step, [](const float* x) { return std::hypot(double{x[0]}, double{x[2]}); },
      [&](double i) { return pi * step * step * (2 * i + 1); });
}
/// Along x >= 0 in two dimensions, one meter deep.
inline Profile strips(const Frame& frame, double volume_each, double step) {
  return profile(
      frame, volume_each, step, [](const float* x) { return std::max(double{x[0]}, 0.0); },
      [&](double) { return step; });
}

/// Where the deposit ends [m]: the first place, from the middle outwards, at which it is thinner than `least`, between
/// the middles of two steps. Grains that lie beyond by themselves do not count.
inline double edge(const Profile& profile, double least) {
  const auto& h = profile.thickness;
  for (std::size_t i = 0; i < h.size(); ++i) {
    if (h[i] >= least) continue;
    if (i == 0) return 0;
    return profile.place(i - 1) + profile.step * (h[i - 1] - least) / (h[i - 1] - h[i]);
  }
  return profile.place(h.size() - 1) + profile.step * 0.5;
}

/// Mean thickness of rings within `radius` [m].
inline double height_within(const Profile& profile, double radius) {
  double volume = 0, area = 0;
  for (std::size_t i = 0; i < profile.thickness.size() && profile.place(i) < radius; ++i) {
    volume += profile.thickness[i] * profile.place(i);
    area += profile.place(i);
  }
  return volume / area;
}

/// Slope of the flank [degrees]: of the line that fits the profile best where it is between two fractions of the
/// height.
inline double flank_degrees(const Profile& profile, double height, double low = 0.2, double high = 0.8) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < profile.thickness.size(); ++i) {
    const double at = profile.place(i), h = profile.thickness[i];
    if (h < low * height || h > high * height) continue;
    n += 1, x += at, y += h, xx += at * at, xy += at * h;
  }
  return std::atan(-(n * xy - x * y) / (n * xx - x * x)) * 180 / pi;
}

}  // namespace tribo::test
