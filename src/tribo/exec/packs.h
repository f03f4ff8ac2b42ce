#pragma once

#include "tribo/exec/columns.h"

namespace tribo::TRIBO_BACKEND {

/// Particles, or whatever stands in columns, loaded together. On the CPU a pack is the width of a register; the last
/// one may be short, and its missing lanes repeat the last item so that they never bring a number of their own.
template <class Real>
inline constexpr int pack_width = lane_count<ParticlePack<Real>>;

template <class Real>
TRIBO_HD ParticlePack<Real> load_pack(const Real* from, int n) {
  if constexpr (pack_width<Real> == 1) {
    return *from;
  } else {
    using T = ParticlePack<Real>;
    return n == pack_width<Real> ? T::load(from) : T::load_partial(from, n);
  }
}
template <class Real>
TRIBO_HD void store_pack(Real* to, const ParticlePack<Real>& value, int n) {
  if constexpr (pack_width<Real> == 1) {
    *to = value;
  } else {
    if (n == pack_width<Real>) {
      value.store(to);
    } else {
      value.store_partial(to, n);
    }
  }
}
/// Lane l of a pack kept in memory.
template <class Real>
TRIBO_HD void spill(const ParticlePack<Real>& value, Real* to) {
  store_pack<Real>(to, value, pack_width<Real>);
}
template <class Real, int N>
TRIBO_HD void load_columns(const FieldView<Real, N>& field, Index i, int n, ParticlePack<Real>* to) {
  for (int k = 0; k < N; ++k) to[k] = load_pack<Real>(field[k] + i, n);
}

}  // namespace tribo::TRIBO_BACKEND
