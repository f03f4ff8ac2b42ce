#pragma once

#include <cmath>

#include "tribo/linear/system.h"

/// \file
/// Operations on vectors of a space.

namespace tribo::TRIBO_BACKEND::linear {

/// y = 0
template <class Space>
struct ClearEntry {
  Space space;
  typename Space::Entry* y;
  TRIBO_HD void operator()(Index i) const { y[space.at(i)] = typename Space::Entry(typename Space::Scalar(0)); }
};
/// y = x
template <class Space>
struct CopyEntry {
  Space space;
  const typename Space::Entry* x;
  typename Space::Entry* y;
  TRIBO_HD void operator()(Index i) const { y[space.at(i)] = x[space.at(i)]; }
};
/// y = a x
template <class Space>
struct ScaleEntry {
  Space space;
  typename Space::Scalar a;
  const typename Space::Entry* x;
  typename Space::Entry* y;
  TRIBO_HD void operator()(Index i) const {
    const Index at = space.at(i);
    y[at] = x[at] * typename Space::Entry(a);
  }
};
/// y += a x
template <class Space>
struct AddEntry {
  Space space;
  typename Space::Scalar a;
  const typename Space::Entry* x;
  typename Space::Entry* y;
  TRIBO_HD void operator()(Index i) const {
    const Index at = space.at(i);
    y[at] = Space::sum(y[at], a, x[at]);
  }
};
/// a . b
template <class Space>
struct DotEntry {
  Space space;
  const typename Space::Entry* a;
  const typename Space::Entry* b;
  TRIBO_HD double operator()(Index i) const {
    const Index at = space.at(i);
    return Space::dot(a[at], b[at]);
  }
};
/// z = M^-1 r
template <class Space, class Inverse>
struct PreconditionEntry {
  Space space;
  Inverse inverse;
  const typename Space::Entry* r;
  typename Space::Entry* z;
  TRIBO_HD void operator()(Index i) const {
    const Index at = space.at(i);
    z[at] = inverse(at, r[at]);
  }
};
/// r . M^-1 r, by the preconditioner itself where it knows better than by what it rounds M^-1 r to.
template <class Space, class Inverse>
struct DotPreconditioned {
  Space space;
  Inverse inverse;
  const typename Space::Entry* r;
  TRIBO_HD double operator()(Index i) const {
    const Index at = space.at(i);
    if constexpr (requires { inverse.dot(at, r[at]); })
      return inverse.dot(at, r[at]);
    else
      return Space::dot(r[at], inverse(at, r[at]));
  }
};

/// The same, of whole vectors. Sums are always taken in the same order.
template <class Space>
class Vectors {
 public:
  using Entry = typename Space::Entry;
  using Scalar = typename Space::Scalar;

  Vectors(Exec& ex, const char* label, const Space& space) : ex_(ex), label_(label), space_(space) {}

  const Space& space() const { return space_; }
  template <class Kernel>
  void each(const Kernel& kernel) const {
    parallel_for(ex_, label_, space_.count, kernel);
  }
  template <class Map>
  double sum(const Map& map) const {
    return reduce(ex_, label_, space_.count, 0.0, map, Plus<double>{});
  }

  void clear(Entry* y) const { each(ClearEntry<Space>{space_, y}); }
  void copy(const Entry* x, Entry* y) const { each(CopyEntry<Space>{space_, x, y}); }
  void scale(double a, const Entry* x, Entry* y) const {
    each(ScaleEntry<Space>{space_, static_cast<Scalar>(a), x, y});
  }
  void add(double a, const Entry* x, Entry* y) const { each(AddEntry<Space>{space_, static_cast<Scalar>(a), x, y}); }
  double dot(const Entry* a, const Entry* b) const { return sum(DotEntry<Space>{space_, a, b}); }
  double norm(const Entry* a) const { return std::sqrt(dot(a, a)); }

  template <class Inverse>
  void precondition(const Inverse& inverse, const Entry* r, Entry* z) const {
    each(PreconditionEntry<Space, Inverse>{space_, inverse, r, z});
  }
  template <class Inverse>
  double dot_preconditioned(const Inverse& inverse, const Entry* r) const {
    return sum(DotPreconditioned<Space, Inverse>{space_, inverse, r});
  }

 private:
  Exec& ex_;
  const char* label_;
  Space space_;
};

}  // namespace tribo::TRIBO_BACKEND::linear
