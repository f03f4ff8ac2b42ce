#pragma once

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "tribo/io/frame.h"

namespace tribo::test {

/// Number of pieces a body in two dimensions is in: groups of occupied squares of edge `cell` that touch at a side or a
/// corner, and hold at least `least` particles. The frame must be of a run in double.
inline int clumps(const Frame& frame, double cell, int least) {
  using Square = std::pair<int, int>;
  const auto x = frame.find("x")->as<double>();
  std::map<Square, int> left;  // particles in each square not yet counted
  for (std::size_t i = 0; i < x.size(); i += 2)
    ++left[{static_cast<int>(std::floor(x[i] / cell)), static_cast<int>(std::floor(x[i + 1] / cell))}];
  int count = 0;
  while (!left.empty()) {
    int particles = 0;
    std::vector<Square> open{left.begin()->first};
    const auto take = [&](const Square& square) {
      particles += left[square];
      left.erase(square);
    };
    take(open.back());
    while (!open.empty()) {
      const Square at = open.back();
      open.pop_back();
      for (int i = -1; i <= 1; ++i)
        for (int j = -1; j <= 1; ++j) {
          const Square neighbor{at.first + i, at.second + j};
          if (!left.contains(neighbor)) continue;
          take(neighbor);
          open.push_back(neighbor);
        }
    }
    if (particles >= least) ++count;
  }
  return count;
}

}  // namespace tribo::test
