#pragma once

#include <cstddef>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// Points in halves of halves, to find the nearest one in logarithmic time.
class PointTree {
 public:
  explicit PointTree(std::vector<Vec<double, 3>> points);

  /// Index of the point that is nearest to p, the least of several. There must be one.
  std::size_t nearest(const Vec<double, 3>& p) const;

 private:
  struct Best {
    std::size_t point;
    double distance2;
  };
  void split(std::size_t begin, std::size_t end);
  int widest(std::size_t begin, std::size_t end) const;
  void search(std::size_t begin, std::size_t end, const Vec<double, 3>& p, Best& best) const;

  std::vector<Vec<double, 3>> points_;
  std::vector<std::size_t> order_;  ///< the middle of each run splits the rest of it
  std::vector<int> axis_;           ///< by which it does
};

}  // namespace tribo
