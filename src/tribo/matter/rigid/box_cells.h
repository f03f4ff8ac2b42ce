#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tribo/colliders/contact.h"

namespace tribo {

/// Which of many boxes meet, before there is a device to search on (search/box_search.h). Each box is entered in the
/// cells that it reaches of a grid as coarse as itself, to a factor of two, and looked for in those of its own grid and
/// of coarser ones: that is 8 at most in each, so that work grows with the number of boxes and of pairs, whatever their
/// sizes are.
class BoxCells {
 public:
  explicit BoxCells(std::vector<Bounds> boxes) : box_(std::move(boxes)) {
    for (std::size_t i = 0; i < box_.size(); ++i) {
      level_.push_back(level_of(box_[i]));
      each_cell(box_[i], level_[i], [&](const Cell& cell) { in_[cell].push_back(static_cast<std::int32_t>(i)); });
      levels_.push_back(level_[i]);
    }
    std::sort(levels_.begin(), levels_.end());
    levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
  }

  /// visit(i, j) for boxes that meet, i < j, each pair once.
  template <class Visit>
  void each_pair(const Visit& visit) const {
    for (std::size_t i = 0; i < box_.size(); ++i)
      for (auto level = std::lower_bound(levels_.begin(), levels_.end(), level_[i]); level != levels_.end(); ++level)
        each_cell(box_[i], *level, [&](const Cell& cell) {
          const auto found = in_.find(cell);
          if (found == in_.end()) return;
          for (const std::int32_t other : found->second) {
            const auto j = static_cast<std::size_t>(other);
            if (level_[j] == level_[i] && j <= i) continue;
            if (!meet(box_[i], box_[j]) || !begins_in(cell, box_[i], box_[j])) continue;
            visit(static_cast<std::int32_t>(std::min(i, j)), static_cast<std::int32_t>(std::max(i, j)));
          }
        });
  }
  /// visit(i) for boxes around a point.
  template <class Visit>
  void each_at(const Vec<double, 3>& x, const Visit& visit) const {
    for (const int level : levels_) {
      const auto found = in_.find(cell_of(x, level));
      if (found == in_.end()) continue;
      for (const std::int32_t i : found->second)
        if (meet(box_[static_cast<std::size_t>(i)], {true, x, x})) visit(i);
    }
  }

  const Bounds& box(std::int32_t i) const { return box_[static_cast<std::size_t>(i)]; }

 private:
  /// Coordinates are whole numbers; far away some have no neighbor.
  struct Cell {
    int level;
    double at[3];
    bool operator==(const Cell& other) const {
      return level == other.level && at[0] == other.at[0] && at[1] == other.at[1] && at[2] == other.at[2];
    }
  };
  struct Hash {
    std::size_t operator()(const Cell& cell) const {
      std::size_t h = static_cast<std::size_t>(cell.level);
      for (const double at : cell.at) h = h * 0x9e3779b97f4a7c15u + std::hash<double>()(at);
      return h ^ (h >> 29);
    }
  };

  static bool meet(const Bounds& a, const Bounds& b) {
    bool r = true;
    for (int k = 0; k < 3; ++k) r = r && a.low[k] <= b.high[k] && b.low[k] <= a.high[k];
    return r;
  }
  /// Its cells are no smaller than the box.
  static int level_of(const Bounds& box) {
    double size = 1e-30;
    for (int k = 0; k < 3; ++k) size = std::max(size, box.high[k] - box.low[k]);
    return std::ilogb(size) + 1;
  }
  static Cell cell_of(const Vec<double, 3>& x, int level) {
    Cell cell{level, {}};
    for (int k = 0; k < 3; ++k) cell.at[k] = std::floor(std::ldexp(x[k], -level)) + 0.0;  // no two zeros
    return cell;
  }
  template <class Visit>
  static void each_cell(const Bounds& box, int level, const Visit& visit) {
    const Cell low = cell_of(box.low, level), high = cell_of(box.high, level);
    for (int corner = 0; corner < 8; ++corner) {
      Cell cell = low;
      bool is_new = true;
      for (int k = 0; k < 3; ++k) {
        if ((corner >> k & 1) == 0) continue;
        is_new = is_new && high.at[k] != low.at[k];
        cell.at[k] = high.at[k];
      }
      if (is_new) visit(cell);
    }
  }
  /// Whether what two boxes have in common begins in a cell: it does in one of those that both reach.
  static bool begins_in(const Cell& cell, const Bounds& a, const Bounds& b) {
    Vec<double, 3> x;
    for (int k = 0; k < 3; ++k) x[k] = std::max(a.low[k], b.low[k]);
    return cell_of(x, cell.level) == cell;
  }

  std::vector<Bounds> box_;
  std::vector<int> level_, levels_;
  std::unordered_map<Cell, std::vector<std::int32_t>, Hash> in_;
};

}  // namespace tribo
