#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// How many cubes of a lattice points are in.
class BlockCount {
 public:
  explicit BlockCount(double edge) : edge_(edge) {}

  void add(const Vec<double, 3>& x) {
    std::uint64_t key = 0;  // cubes that are two million apart are taken for one
    for (int k = 0; k < 3; ++k)
      key = key << 21 | (static_cast<std::uint64_t>(static_cast<std::int64_t>(std::floor(x[k] / edge_))) & 0x1fffff);
    if (keys_.empty() || keys_.back() != key) keys_.push_back(key);
  }
  double count() {
    std::sort(keys_.begin(), keys_.end());
    return static_cast<double>(std::unique(keys_.begin(), keys_.end()) - keys_.begin());
  }

 private:
  double edge_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace tribo
