#pragma once

#include "tribo/core/cast_numbers.h"

namespace tribo {

/// What stands for a shape in kernels: a shape that is nothing but numbers, the same in the engine's precision; one
/// that refers to more, its View.
template <class Real, class S>
struct DeviceFormOf {
  using Type = typename S::template View<Real>;
};
template <class Real, template <class> class S>
struct DeviceFormOf<Real, S<double>> {
  using Type = S<Real>;
};
template <class Real, class S>
using DeviceForm = typename DeviceFormOf<Real, S>::Type;

/// The form of a shape. `store(vector)` keeps the data it refers to where kernels can read them, and gives the address.
template <class Real, template <class> class S, class Store>
S<Real> device_form(const S<double>& shape, const Store&) {
  return cast_numbers<S, Real, double>(shape);
}
template <class Real, class S, class Store>
requires requires { typename S::template View<Real>; }
DeviceForm<Real, S> device_form(const S& shape, const Store& store) { return shape.template view<Real>(store); }

}  // namespace tribo
