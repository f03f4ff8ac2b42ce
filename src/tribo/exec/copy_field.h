#pragma once

#include "tribo/exec/columns.h"

namespace tribo::TRIBO_BACKEND {

template <class T, int N>
struct CopyItem {
  FieldView<const T, N> from;
  FieldView<T, N> to;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < N; ++k) to[k][i] = from[k][i];
  }
};

/// A copy of `count` items.
template <class T, int N>
void copy_field(Exec& ex, const char* label, const Field<T, N>& from, Index count, Field<T, N>& to) {
  to.resize_discard(count);
  parallel_for(ex, label, count, CopyItem<T, N>{view(from), view(to)});
}

}  // namespace tribo::TRIBO_BACKEND
