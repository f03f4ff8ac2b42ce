#pragma once

#include <cstdint>

namespace tribo {

/// What contact between strands did, summed over steps.
struct StrandReport {
  std::int64_t pairs = 0;         ///< of segments near enough to touch
  std::int64_t missed_grid = 0;   ///< pairs that would have passed through each other without impulses, if counted
  std::int64_t missed_pairs = 0;  ///< or with impulses alone
  std::int64_t missed = 0;        ///< that did pass
  std::int64_t missed_odd = 0;    ///< and ended on the other side
  std::int64_t rounds = 0;        ///< of the fail-safe
  std::int64_t retries = 0;       ///< steps taken again with half their length

  void add(const StrandReport& other) {
    pairs += other.pairs;
    missed_grid += other.missed_grid;
    missed_pairs += other.missed_pairs;
    missed += other.missed;
    missed_odd += other.missed_odd;
    rounds += other.rounds;
    retries += other.retries;
  }
};

}  // namespace tribo
