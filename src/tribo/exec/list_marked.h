#pragma once

#include "tribo/exec/backend.h"

namespace tribo::TRIBO_BACKEND {

struct StoreMarked {
  const Index* before;  ///< how many are marked before each
  Index entries, count;
  Index* marked;
  TRIBO_HD void operator()(Index k) const {
    if (before[k] != (k + 1 < entries ? before[k + 1] : count)) marked[before[k]] = k;
  }
};
/// Entries with a 1, rising, of marks that are lost by that. Returns how many.
inline Index list_marked(Exec& ex, const char* label, Array<Index>& mark, Index entries, Array<Index>& marked) {
  const Index count = exclusive_scan(ex, label, mark, mark, entries);
  marked.resize_discard(count);
  parallel_for(ex, label, entries, StoreMarked{mark.data(), entries, count, marked.data()});
  return count;
}

}  // namespace tribo::TRIBO_BACKEND
