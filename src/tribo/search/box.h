#pragma once

#include <type_traits>

#include "tribo/exec/packs.h"

/// \file
/// Boxes around what may touch something: segments, triangles, points, bodies.

namespace tribo::TRIBO_BACKEND {

/// Rounding of positions, with their tails, and of what is computed from a few of them.
template <class Real>
inline constexpr Real position_rounding = Real(sizeof(Real) == 4 ? 1e-6 : 2e-15);

/// Of positions [m] and velocities [m/s] that are taken for finite.
template <class Real>
inline constexpr Real largest_position = Real(1e18);

/// Empty (high below low) where there is nothing, or what is there is not finite.
template <class Real>
struct Box {
  Vec<Real, 3> low, high;

  TRIBO_HD bool empty() const { return !(low[0] <= high[0]); }
  TRIBO_HD double extent(int k) const { return static_cast<double>(high[k]) - static_cast<double>(low[k]); }
  /// Neither may be empty.
  TRIBO_HD bool meets(const Box& other) const {
    bool all = true;
    for (int k = 0; k < 3; ++k) all = all && low[k] <= other.high[k] && other.low[k] <= high[k];
    return all;
  }
};

template <class Real>
struct BoxColumns {
  Field<Real, 3> low, high;

  void resize_discard(Index n) {
    low.resize_discard(n);
    high.resize_discard(n);
  }
  std::size_t bytes() const { return low.bytes() + high.bytes(); }
};
template <class Real>
struct BoxView {
  FieldView<Real, 3> low, high;

  TRIBO_HD Box<std::remove_const_t<Real>> operator[](Index i) const {
    return {{{low[0][i], low[1][i], low[2][i]}}, {{high[0][i], high[1][i], high[2][i]}}};
  }
  TRIBO_HD void put(Index i, const Box<Real>& box) const {
    for (int k = 0; k < 3; ++k) {
      low[k][i] = box.low[k];
      high[k][i] = box.high[k];
    }
  }
};
template <class Real>
BoxView<Real> view(BoxColumns<Real>& boxes) {
  return {view(boxes.low), view(boxes.high)};
}
template <class Real>
BoxView<const Real> view(const BoxColumns<Real>& boxes) {
  return {view(boxes.low), view(boxes.high)};
}

/// Grows around the points of something, whose ways within a step may turn into any direction; T may be a pack, one box
/// in each lane.
template <class T>
struct SweptBox {
  using Real = scalar_of<T>;
  Vec<T, 3> low, high;
  T speed2;         ///< largest, squared
  mask_t<T> valid;  ///< false where a number is none, or there is nothing

  TRIBO_HD SweptBox(const Vec<T, 3>& x, const Vec<T, 3>& v) : low(x), high(x), speed2(squared_norm(v)) {
    valid = x[0] == x[0];
    check(x, v);
  }
  TRIBO_HD void add(const Vec<T, 3>& x, const Vec<T, 3>& v) {
    for (int k = 0; k < 3; ++k) {
      low[k] = min(low[k], x[k]);
      high[k] = max(high[k], x[k]);
    }
    speed2 = max(speed2, squared_norm(v));
    check(x, v);
  }
  /// To all that is within `thickness` of it during dt, and rounding; empty where it is not valid.
  TRIBO_HD void close(const T& thickness, const T& dt) {
    const T rounding(position_rounding<Real>), far(largest_position<Real>);
    const T reach = (T(Real(1)) + rounding) * (thickness + dt * sqrt(speed2));
    for (int k = 0; k < 3; ++k) {
      const T all = reach + rounding * max(abs(low[k]), abs(high[k]));
      low[k] = low[k] - all;
      high[k] = high[k] + all;
      valid = valid && low[k] > -far && high[k] < far;
    }
    for (int k = 0; k < 3; ++k) {
      low[k] = select(valid, low[k], T(Real(1)));
      high[k] = select(valid, high[k], T(Real(-1)));
    }
  }

 private:
  TRIBO_HD void check(const Vec<T, 3>& x, const Vec<T, 3>& v) {
    for (int k = 0; k < 3; ++k) valid = valid && x[k] == x[k] && v[k] == v[k];
  }
};

}  // namespace tribo::TRIBO_BACKEND
