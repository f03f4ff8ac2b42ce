#pragma once

#include <cmath>

#include "tribo/exec/macros.h"

/// \file
/// How reductions, scans and teams put values together.

namespace tribo::TRIBO_BACKEND {

template <class T>
struct Plus {
  TRIBO_HD T operator()(T a, T b) const { return a + b; }
};
template <class T>
struct Larger {
  TRIBO_HD T operator()(T a, T b) const { return a < b ? b : a; }
};
/// The larger; NaN when either is.
template <class T>
struct LargerOrNan {
  TRIBO_HD T operator()(T a, T b) const {
    if (std::isnan(a)) return a;
    return b <= a ? a : b;
  }
};

/// The sum of what the threads of a team have, to all of them, always in the same order. `parts` is memory of the team
/// for one of each thread.
template <class Team, class Sum>
TRIBO_HD Sum sum_of_team(const Team& team, Sum own, Sum* parts) {
  if constexpr (Team::size > 1) {
    parts[team.rank()] = own;
    team.barrier();
    for (int half = Team::size / 2; half > 0; half /= 2) {
      if (team.rank() < half) parts[team.rank()].add(parts[team.rank() + half]);
      team.barrier();
    }
    own = parts[0];
    team.barrier();
  }
  return own;
}

}  // namespace tribo::TRIBO_BACKEND
