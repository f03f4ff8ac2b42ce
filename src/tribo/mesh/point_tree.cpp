#include "tribo/mesh/point_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace tribo {

PointTree::PointTree(std::vector<Vec<double, 3>> points)
    : points_(std::move(points)), order_(points_.size()), axis_(points_.size(), 0) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  split(0, order_.size());
}

int PointTree::widest(std::size_t begin, std::size_t end) const {
  Vec<double, 3> low = points_[order_[begin]], high = low;
  for (std::size_t i = begin; i < end; ++i)
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], points_[order_[i]][k]);
      high[k] = std::max(high[k], points_[order_[i]][k]);
    }
  const Vec<double, 3> size = high - low;
  return size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
}

void PointTree::split(std::size_t begin, std::size_t end) {
  if (end - begin < 2) return;
  const std::size_t middle = begin + (end - begin) / 2;
  const int axis = axis_[middle] = widest(begin, end);
  const auto at = [&](std::size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
  std::nth_element(at(begin), at(middle), at(end),
                   [&](std::size_t a, std::size_t b) { return points_[a][axis] < points_[b][axis]; });
  split(begin, middle);
  split(middle + 1, end);
}

void PointTree::search(std::size_t begin, std::size_t end, const Vec<double, 3>& p, Best& best) const {
  if (begin == end) return;
  const std::size_t middle = begin + (end - begin) / 2, point = order_[middle];
  const double distance2 = squared_norm(points_[point] - p);
  if (std::pair(distance2, point) < std::pair(best.distance2, best.point)) best = {point, distance2};
  const double beyond = p[axis_[middle]] - points_[point][axis_[middle]];
  const bool after = beyond > 0;  // its own half first: then the other one is hardly ever of interest
  after ? search(middle + 1, end, p, best) : search(begin, middle, p, best);
  if (beyond * beyond > best.distance2) return;
  after ? search(begin, middle, p, best) : search(middle + 1, end, p, best);
}

std::size_t PointTree::nearest(const Vec<double, 3>& p) const {
  Best best{order_.size(), std::numeric_limits<double>::infinity()};
  search(0, order_.size(), p, best);
  return best.point;
}

}  // namespace tribo
