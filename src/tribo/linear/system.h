#pragma once

#include <utility>

#include "tribo/linear/space.h"

/// \file
/// What solvers ask of a system A x = b. A is only ever applied. The preconditioner M is symmetric and positive, close
/// to A, and answers entry by entry: `precondition(r)` does what must be done for all entries together, if anything,
/// and returns a kernel with z_i = inverse(i, r_i), so that what is local (masses, blocks on the diagonal) needs
/// neither a pass nor a vector of its own.

namespace tribo::TRIBO_BACKEND::linear {

template <class System>
using SpaceOf = decltype(std::declval<System&>().space());
template <class System>
using EntryOf = typename SpaceOf<System>::Entry;

template <class System>
concept LinearSystem = requires(System& system, const EntryOf<System>* x, EntryOf<System>* y) {
  system.apply(x, y);      // y = A x
  system.precondition(x);  // as above
};

/// M = 1.
struct Unpreconditioned {
  template <class Entry>
  TRIBO_HD Entry operator()(Index, const Entry& r) const {
    return r;
  }
};

/// z has been computed and stored.
template <class Entry>
struct StoredInverse {
  const Entry* z;
  TRIBO_HD Entry operator()(Index i, const Entry&) const { return z[i]; }
};

}  // namespace tribo::TRIBO_BACKEND::linear
