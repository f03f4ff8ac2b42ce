#pragma once

#include "tribo/exec/backend.h"

namespace tribo::TRIBO_BACKEND {

/// Marks an item from any number of kernels at once. All of them store the same, so that their order does not matter.
TRIBO_HD void mark_one(Index* item) {
#if defined(__CUDA_ARCH__)
  *item = 1;
#else
  __atomic_store_n(item, Index{1}, __ATOMIC_RELAXED);
#endif
}

}  // namespace tribo::TRIBO_BACKEND
