#pragma once

#include "tribo/exec/backend.h"
#include "tribo/math/lanes.h"

/// \file
/// What vectors of unknowns are made of. Vectors are plain arrays of entries; a *space* names the type of an entry,
/// which entries are unknowns, and how two of them are added and multiplied. Inner products are in double.

namespace tribo::TRIBO_BACKEND::linear {

/// An unknown in every entry: the first D numbers of a pack. The others must be zero in what is added.
template <class Real, int D>
struct PackSpace {
  using Scalar = Real;
  using Entry = Lanes<Real, 4>;
  Index count;

  TRIBO_HD Index at(Index i) const { return i; }
  /// y + a x
  TRIBO_HD static Entry sum(const Entry& y, Scalar a, const Entry& x) { return fma(Entry(a), x, y); }
  TRIBO_HD static double dot(const Entry& a, const Entry& b) {
    double sum = 0;
    for (int k = 0; k < D; ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    return sum;
  }
};

/// Unknowns are those entries that a list names. Others are neither read nor written.
template <class Real>
struct ListSpace {
  using Scalar = Real;
  using Entry = Real;
  const Index* list;
  Index count;

  TRIBO_HD Index at(Index i) const { return list[i]; }
  /// y + a x
  TRIBO_HD static Entry sum(Entry y, Scalar a, Entry x) { return y + a * x; }
  TRIBO_HD static double dot(Entry a, Entry b) { return static_cast<double>(a) * static_cast<double>(b); }
};

}  // namespace tribo::TRIBO_BACKEND::linear
