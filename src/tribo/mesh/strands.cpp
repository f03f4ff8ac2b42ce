#include "tribo/mesh/strands.h"

#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

double norm(const Vec3& v) { return std::sqrt(squared_norm(v)); }

/// Places along a polyline that are equally far apart, as (segment, share of it).
struct Place {
  std::size_t segment;
  double share;
};
std::vector<Place> equal_places(std::span<const Vec3> points, std::size_t segments) {
  std::vector<double> along{0};
  for (std::size_t i = 1; i < points.size(); ++i) along.push_back(along.back() + norm(points[i] - points[i - 1]));
  std::vector<Place> places;
  std::size_t at = 0;
  for (std::size_t k = 0; k <= segments; ++k) {
    const double wanted = along.back() * (static_cast<double>(k) / static_cast<double>(segments));
    while (at + 2 < points.size() && along[at + 1] < wanted) ++at;
    const double length = along[at + 1] - along[at];
    places.push_back({at, k == segments ? 1.0 : length > 0 ? std::min(1.0, (wanted - along[at]) / length) : 0.0});
  }
  return places;
}

template <class T>
T at_place(std::span<const T> values, const Place& place) {
  const T a = values[place.segment], b = values[place.segment + 1];
  if (place.share == 0) return a;
  if (place.share == 1) return b;
  return a + (b - a) * place.share;
}

template <class Segments>
Strands resampled_by(const Strands& strands, const Segments& segments) {
  Strands out;
  for (std::size_t s = 0; s < strand_count(strands); ++s) {
    const std::span<const Vec3> points = strand_points(strands, s);
    std::vector<Vec3> new_points;
    std::vector<double> new_radius;
    for (const Place& place : equal_places(points, segments(points))) {
      new_points.push_back(at_place(points, place));
      if (strands.radius.empty()) continue;
      const auto begin = static_cast<std::size_t>(strands.start[s]);
      new_radius.push_back(at_place(std::span<const double>(strands.radius.data() + begin, points.size()), place));
    }
    add_strand(out, new_points, new_radius);
  }
  if (out.start.empty()) out.start = {0};
  return out;
}

/// Minimum of |a + s u - c - t v|^2 on the unit square: that of the lines, brought into the square one parameter after
/// the other.
struct Nearest {
  double s, t, distance;
};
Nearest nearest_of(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const Vec3 u = b - a, v = d - c, w = a - c;
  const double uu = dot(u, u), vv = dot(v, v), uv = dot(u, v), uw = dot(u, w), vw = dot(v, w);
  const double det = uu * vv - uv * uv;
  double s = det > 1e-14 * uu * vv ? std::clamp((uv * vw - vv * uw) / det, 0.0, 1.0) : 0.0;
  double t = vv > 0 ? (uv * s + vw) / vv : 0;
  if (t < 0 || t > 1) {
    t = std::clamp(t, 0.0, 1.0);
    s = uu > 0 ? std::clamp((uv * t - uw) / uu, 0.0, 1.0) : 0;
  }
  return {s, t, norm(w + s * u - t * v)};
}

struct Segment {
  std::size_t first;  ///< point
  std::int32_t strand;
};

/// visit(segment, segment, nearest) for all pairs of segments of different strands that may be nearer than `reach`, each
/// once.
template <class Visit>
void each_near(const Strands& strands, double reach, const Visit& visit) {
  std::vector<Segment> segments;
  double length = 0;
  for (std::size_t s = 0; s < strand_count(strands); ++s)
    for (auto i = static_cast<std::size_t>(strands.start[s]); i + 1 < static_cast<std::size_t>(strands.start[s + 1]); ++i) {
      segments.push_back({i, static_cast<std::int32_t>(s)});
      length += norm(strands.points[i + 1] - strands.points[i]);
    }
  // Each segment is in the cells that its box reaches, widened by the reach; two that are within it share the cell
  // that the larger of their low corners lies in, where they are counted once.
  const double cell = length / std::max(1.0, static_cast<double>(segments.size())) + reach;
  struct Entry {
    std::int64_t x, y, z;
    std::uint32_t segment;
  };
  struct Box {
    std::int64_t low[3], high[3];
  };
  std::vector<Entry> entries;
  std::vector<Box> boxes(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(strands.points[segments[i].first][k], strands.points[segments[i].first + 1][k]);
      boxes[i].low[k] = static_cast<std::int64_t>(std::floor((low - 0.5 * reach) / cell));
      boxes[i].high[k] = static_cast<std::int64_t>(std::floor((high + 0.5 * reach) / cell));
    }
    for (std::int64_t x = boxes[i].low[0]; x <= boxes[i].high[0]; ++x)
      for (std::int64_t y = boxes[i].low[1]; y <= boxes[i].high[1]; ++y)
        for (std::int64_t z = boxes[i].low[2]; z <= boxes[i].high[2]; ++z)
          entries.push_back({x, y, z, static_cast<std::uint32_t>(i)});
  }
  tbb::parallel_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.x, a.y, a.z, a.segment) < std::tie(b.x, b.y, b.z, b.segment);
  });
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    const Box& box = boxes[e.segment];
    for (std::size_t j = i + 1; j < entries.size(); ++j) {
      const Entry& f = entries[j];
      if (f.x != e.x || f.y != e.y || f.z != e.z) break;
      const Segment &one = segments[e.segment], &other = segments[f.segment];
      if (one.strand == other.strand) continue;
      const Box& other_box = boxes[f.segment];
      const std::int64_t here[3] = {e.x, e.y, e.z};
      bool first = true;
      for (int k = 0; k < 3; ++k) first = first && here[k] == std::max(box.low[k], other_box.low[k]);
      if (!first) continue;
      visit(one, other,
            nearest_of(strands.points[one.first], strands.points[one.first + 1], strands.points[other.first],
                       strands.points[other.first + 1]));
    }
  }
}

/// Of the pairs of segments of different strands for which `rank(distance, thickness)` is below `bound`, the one for
/// which it is least; none of them is farther apart than `reach`.
template <class Rank>
StrandGap least_gap(const Strands& strands, double reach, double bound, const Rank& rank) {
  const auto radius_at = [&](const Segment& segment, double share) {
    if (strands.radius.empty()) return 0.0;
    return (1 - share) * strands.radius[segment.first] + share * strands.radius[segment.first + 1];
  };
  StrandGap gap;
  gap.distance = reach;
  double least = bound;
  each_near(strands, reach, [&](const Segment& one, const Segment& other, const Nearest& near) {
    const double thickness = radius_at(one, near.s) + radius_at(other, near.t), value = rank(near.distance, thickness);
    if (!(value < bound)) return;
    ++gap.pair_count;
    const auto [low, high] = std::minmax(one.strand, other.strand);
    if (std::tie(value, low, high) < std::tie(least, gap.one, gap.other)) {
      least = value;
      gap.distance = near.distance;
      gap.thickness = thickness;
      gap.one = low;
      gap.other = high;
    }
  });
  return gap;
}

}  // namespace

void add_strand(Strands& strands, std::span<const Vec3> points, std::span<const double> radius) {
  if (strands.start.empty()) strands.start.push_back(0);
  strands.points.insert(strands.points.end(), points.begin(), points.end());
  strands.radius.insert(strands.radius.end(), radius.begin(), radius.end());
  strands.start.push_back(static_cast<std::int32_t>(strands.points.size()));
}

double length_of(std::span<const Vec3> points) {
  double sum = 0;
  for (std::size_t i = 1; i < points.size(); ++i) sum += norm(points[i] - points[i - 1]);
  return sum;
}

std::vector<Vec3> with_segments(std::span<const Vec3> points, std::size_t segments) {
  std::vector<Vec3> out;
  for (const Place& place : equal_places(points, segments)) out.push_back(at_place(points, place));
  return out;
}

Strands resampled(const Strands& strands, double segment_length) {
  return resampled_by(strands, [&](std::span<const Vec3> points) {
    return static_cast<std::size_t>(std::max(1.0, std::round(length_of(points) / segment_length)));
  });
}

Strands resampled(const Strands& strands, std::size_t segments) {
  return resampled_by(strands, [&](std::span<const Vec3>) { return segments; });
}

double segment_distance(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  return nearest_of(a, b, c, d).distance;
}

StrandGap closest_strands(const Strands& strands, double reach) {
  return least_gap(strands, reach, reach, [](double distance, double) { return distance; });
}

std::vector<std::size_t> strands_near_earlier(const Strands& strands, double reach) {
  std::vector<std::size_t> later;
  each_near(strands, reach, [&](const Segment& one, const Segment& other, const Nearest& near) {
    if (near.distance < reach) later.push_back(static_cast<std::size_t>(std::max(one.strand, other.strand)));
  });
  std::sort(later.begin(), later.end());
  later.erase(std::unique(later.begin(), later.end()), later.end());
  return later;
}

StrandGap overlapping_strands(const Strands& strands) {
  if (strands.radius.empty()) return {};
  const double thickest = 2 * *std::max_element(strands.radius.begin(), strands.radius.end());
  return least_gap(strands, thickest, 0, [](double distance, double thickness) { return distance - thickness; });
}

}  // namespace tribo
