#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// Polylines from root to tip, one after the other: hair, yarn, fibers.
struct Strands {
  std::vector<Vec<double, 3>> points;  ///< [m]
  std::vector<std::int32_t> start;     ///< of each strand, and one past the last point
  std::vector<double> radius;          ///< of each point [m], or empty
};

inline std::size_t strand_count(const Strands& strands) { return strands.start.empty() ? 0 : strands.start.size() - 1; }
inline std::span<const Vec<double, 3>> strand_points(const Strands& strands, std::size_t s) {
  const auto begin = static_cast<std::size_t>(strands.start[s]), end = static_cast<std::size_t>(strands.start[s + 1]);
  return {strands.points.data() + begin, end - begin};
}

/// Appends a strand; its radii, too, where `strands` has them.
void add_strand(Strands& strands, std::span<const Vec<double, 3>> points, std::span<const double> radius = {});

/// Along the polyline [m].
double length_of(std::span<const Vec<double, 3>> points);

/// Points that cut a polyline into `segments` pieces of equal length along it; both ends stay where they are.
std::vector<Vec<double, 3>> with_segments(std::span<const Vec<double, 3>> points, std::size_t segments);

/// Strands of segments about as long as wanted: each strand has a whole number of equal ones, at least one.
Strands resampled(const Strands& strands, double segment_length);
/// Strands of so many segments each.
Strands resampled(const Strands& strands, std::size_t segments);

/// Shortest distance between two segments.
double segment_distance(const Vec<double, 3>& a, const Vec<double, 3>& b, const Vec<double, 3>& c,
                        const Vec<double, 3>& d);

/// Where two strands come nearest to each other.
struct StrandGap {
  double distance = 0;          ///< between the center lines [m]
  double thickness = 0;         ///< sum of the radii there, where strands have any [m]
  std::int32_t one = -1;        ///< the strands; -1 when none are nearer than the reach
  std::int32_t other = -1;      ///< > one
  std::int64_t pair_count = 0;  ///< pairs of segments of different strands within the reach
};
/// Of all pairs of strands nearer than `reach` > 0. Linear in the number of segments while few are within reach.
StrandGap closest_strands(const Strands& strands, double reach);
/// Pushes strands apart that come nearer than `reach` > 0 to each other, to whichever side they are on. The first `held`
/// points of each stay. Whenever a strand has been pushed, `settle` may put its points right, and may fail to keep them
/// apart by that: what is not apart after some iterations stays so. For any number of threads the same.
void part_strands(Strands& strands, double reach, std::size_t held,
                  const std::function<void(std::span<Vec<double, 3>>)>& settle);
/// Of all pairs of strands that overlap: nearer than the radii are thick where they are nearest, as contact takes them.
/// The two that do so most. Strands must have radii.
StrandGap overlapping_strands(const Strands& strands);

}  // namespace tribo
