#pragma once

#include <array>
#include <cstdint>

namespace tribo {

/// Two strands that passed through each other.
struct StrandPassage {
  double time = 0;                       ///< before the step [s]
  std::array<int, 2> object{-1, -1};     ///< of the model; -1: none did
  std::array<std::int64_t, 2> strand{};  ///< of its object
  std::array<double, 3> at{};            ///< [m]
};

/// What contact between strands did, summed over steps.
struct StrandReport {
  std::int64_t pairs = 0;         ///< of segments near enough to touch
  std::int64_t missed_grid = 0;   ///< pairs that would have passed through each other without impulses, if counted
  std::int64_t missed_pairs = 0;  ///< or with impulses alone
  std::int64_t tied = 0;          ///< or if they had not gone on as one piece
  std::int64_t missed = 0;        ///< that did pass
  std::int64_t missed_odd = 0;    ///< and ended on the other side
  std::int64_t rounds = 0;        ///< of the fail-safe
  std::int64_t retries = 0;       ///< steps taken again with half their length
  StrandPassage first;            ///< of those that passed

  void add(const StrandReport& other) {
    if (first.object[0] < 0) first = other.first;
    pairs += other.pairs;
    missed_grid += other.missed_grid;
    missed_pairs += other.missed_pairs;
    tied += other.tied;
    missed += other.missed;
    missed_odd += other.missed_odd;
    rounds += other.rounds;
    retries += other.retries;
  }
};

}  // namespace tribo
