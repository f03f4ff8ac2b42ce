#include "tribo/mesh/strands.h"

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "tribo/math/closest.h"

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

struct Nearest {
  double s, t, distance;
};
Nearest nearest_of(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d) {
  const ClosestPoints<double> near = closest_points(a, b - a, c, d - c);
  return {near.a, near.b, norm(near.gap)};
}

struct Segment {
  std::size_t first;  ///< point
  std::int32_t strand;
};

/// take(sum, segment, segment, nearest) for all pairs of segments of different strands that are nearer than `reach`,
/// each once, into sums that begin empty. Returns these, the same in the same order for any number of threads.
template <class Sum, class Take>
std::vector<Sum> each_near(const Strands& strands, double reach, const Take& take) {
  std::vector<Segment> segments;
  double length = 0;
  for (std::size_t s = 0; s < strand_count(strands); ++s)
    for (auto i = static_cast<std::size_t>(strands.start[s]); i + 1 < static_cast<std::size_t>(strands.start[s + 1]);
         ++i) {
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
      const auto [low, high] =
          std::minmax(strands.points[segments[i].first][k], strands.points[segments[i].first + 1][k]);
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
  constexpr std::size_t block = 1 << 14;
  std::vector<Sum> sums(entries.size() / block + 1);
  tbb::parallel_for(std::size_t{0}, sums.size(), [&](std::size_t at) {
    for (std::size_t i = at * block; i < std::min((at + 1) * block, entries.size()); ++i) {
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
        const Nearest near = nearest_of(strands.points[one.first], strands.points[one.first + 1],
                                        strands.points[other.first], strands.points[other.first + 1]);
        if (near.distance < reach) take(sums[at], one, other, near);
      }
    }
  });
  return sums;
}

struct NearPair {
  Segment one, other;
  Nearest near;
};
std::vector<NearPair> near_pairs(const Strands& strands, double reach) {
  using Pairs = std::vector<NearPair>;
  Pairs all;
  for (const Pairs& some :
       each_near<Pairs>(strands, reach, [](Pairs&pairs, const Segment&one, const Segment&other, const Nearest&near) {
         pairs.push_back({one, other, near});
       }))
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

/// Of the pairs of segments of different strands for which `rank(distance, thickness)` is below `bound`, the one for
/// which it is least; none of them is farther apart than `reach`.
template <class Rank>
StrandGap least_gap(const Strands& strands, double reach, double bound, const Rank& rank) {
  const auto radius_at = [&](const Segment& segment, double share) {
    if (strands.radius.empty()) return 0.0;
    return (1 - share) * strands.radius[segment.first] + share * strands.radius[segment.first + 1];
  };
  struct Least {
    StrandGap gap;
    double value = std::numeric_limits<double>::infinity();
    auto key() const { return std::tie(value, gap.one, gap.other); }
  };
  const auto take = [&](Least& least, const Segment& one, const Segment& other, const Nearest& near) {
    const double thickness = radius_at(one, near.s) + radius_at(other, near.t), value = rank(near.distance, thickness);
    if (!(value < bound)) return;
    const auto [low, high] = std::minmax(one.strand, other.strand);
    const Least own{{near.distance, thickness, low, high, least.gap.pair_count + 1}, value};
    const std::int64_t count = own.gap.pair_count;
    if (own.key() < least.key()) least = own;
    least.gap.pair_count = count;
  };
  Least all;
  all.gap.distance = reach;
  for (const Least& some : each_near<Least>(strands, reach, take)) {
    const std::int64_t count = all.gap.pair_count + some.gap.pair_count;
    if (some.key() < all.key()) all = some;
    all.gap.pair_count = count;
  }
  return all.gap;
}

/// Pushes of pairs that are too near, each by itself, and what they come to together.
class Pushes {
 public:
  Pushes(Strands& strands, std::size_t held) : strands_(strands), held_(held), push_(strands.points.size()) {}

  /// Where a pair is nearer than `reach`, to be as far apart as `wanted`, but no vertex by more than `most`.
  void add(const NearPair& pair, double reach, double wanted, double most) {
    const std::size_t vertex[4] = {pair.one.first, pair.one.first + 1, pair.other.first, pair.other.first + 1};
    const auto x = [&](int i) { return strands_.points[vertex[i]]; };
    const Nearest near = nearest_of(x(0), x(1), x(2), x(3));
    if (near.distance >= reach) return;
    Vec3 n = (x(0) + near.s * (x(1) - x(0))) - (x(2) + near.t * (x(3) - x(2)));
    if (near.distance < 1e-6 * reach) {  // either side is as good
      const Vec3 u = x(1) - x(0), v = x(3) - x(2);
      n = cross(u, v);
      Vec3 axis = Vec3::zero();
      axis[std::abs(u[0]) < std::abs(u[1]) ? 0 : 1] = 1;
      if (squared_norm(n) < 1e-12 * squared_norm(u) * squared_norm(v)) n = cross(u, axis);
    }
    if (!(squared_norm(n) > 0)) return;
    n = length_and_direction(n).normal;
    const double part[4] = {1 - near.s, near.s, near.t - 1, -near.t};
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += stays(i < 2 ? pair.one : pair.other, vertex[i]) ? 0 : part[i] * part[i];
    if (!(sum > 0.01)) return;  // at what is held
    for (int i = 0; i < 4; ++i) {
      if (stays(i < 2 ? pair.one : pair.other, vertex[i])) continue;
      Push& own = push_[vertex[i]];
      if (own.count++ == 0) pushed_.push_back(vertex[i]);
      own.sum += std::clamp((wanted - near.distance) * part[i] / sum, -most, most) * n;
    }
    moved_.push_back(static_cast<std::size_t>(pair.one.strand));
    moved_.push_back(static_cast<std::size_t>(pair.other.strand));
  }

  /// Moves points by the mean of their pushes. Returns the strands they are of, rising.
  std::vector<std::size_t> apply() {
    for (const std::size_t i : pushed_) {
      strands_.points[i] += (1.0 / push_[i].count) * push_[i].sum;
      push_[i] = {};
    }
    pushed_.clear();
    std::sort(moved_.begin(), moved_.end());
    moved_.erase(std::unique(moved_.begin(), moved_.end()), moved_.end());
    return std::exchange(moved_, {});
  }

 private:
  struct Push {
    Vec3 sum = Vec3::zero();
    int count = 0;
  };
  bool stays(const Segment& segment, std::size_t point) const {
    return point < static_cast<std::size_t>(strands_.start[static_cast<std::size_t>(segment.strand)]) + held_;
  }
  Strands& strands_;
  std::size_t held_;
  std::vector<Push> push_;  ///< of points
  std::vector<std::size_t> pushed_, moved_;
};

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

void part_strands(Strands& strands, double reach, std::size_t held,
                  const std::function<void(std::span<Vec3>)>& settle) {
  // Pairs are looked for as far as strands may come until they are looked for again.
  constexpr int most_searches = 60, patience = 10, most_pushes = 10;
  const double wanted = 1.02 * reach, farthest = 0.6 * reach, seen = wanted + 2 * farthest;
  Pushes pushes(strands, held);
  std::ptrdiff_t fewest = std::numeric_limits<std::ptrdiff_t>::max();  // pairs that were too near, so far
  std::vector<Vec3> best;
  int since = 0;
  for (int search = 0; search < most_searches; ++search) {
    const std::vector<NearPair> pairs = near_pairs(strands, seen);
    const std::ptrdiff_t too_near =
        std::count_if(pairs.begin(), pairs.end(), [&](const NearPair& pair) { return pair.near.distance < reach; });
    if (too_near == 0) return;
    const std::vector<Vec3> before = strands.points;
    since = too_near < fewest ? 0 : since + 1;
    if (too_near < fewest) {
      fewest = too_near;
      best = before;
    }
    if (since == patience) break;
    double way = 0;
    for (int k = 0; k < most_pushes && way < farthest; ++k) {
      for (const NearPair& pair : pairs) pushes.add(pair, reach, wanted, farthest);
      const std::vector<std::size_t> moved = pushes.apply();
      if (moved.empty()) break;
      std::vector<double> ways(moved.size(), 0);
      tbb::parallel_for(std::size_t{0}, moved.size(), [&](std::size_t m) {
        const auto begin = static_cast<std::size_t>(strands.start[moved[m]]),
                   end = static_cast<std::size_t>(strands.start[moved[m] + 1]);
        settle(std::span(strands.points).subspan(begin, end - begin));
        for (std::size_t i = begin; i < end; ++i) ways[m] = std::max(ways[m], norm(strands.points[i] - before[i]));
      });
      way = std::max(way, *std::max_element(ways.begin(), ways.end()));
    }
  }
  strands.points = best;
}

StrandGap overlapping_strands(const Strands& strands) {
  if (strands.radius.empty()) return {};
  const double thickest = 2 * *std::max_element(strands.radius.begin(), strands.radius.end());
  return least_gap(strands, thickest, 0, [](double distance, double thickness) { return distance - thickness; });
}

}  // namespace tribo
