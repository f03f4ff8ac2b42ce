#pragma once

#include <type_traits>
#include <variant>

#include "tribo/colliders/box.h"
#include "tribo/colliders/capsule.h"
#include "tribo/colliders/cylinder.h"
#include "tribo/colliders/half_space.h"
#include "tribo/colliders/sphere.h"

namespace tribo {

/// Every analytic shape, for objects and colliders alike. Listing a shape here gives it a scene key, a place in the
/// schema and the manual, the distance and sampling tests, and kernels on every device.
template <class Real>
using Shape = std::variant<HalfSpace<Real>, Box<Real>, Sphere<Real>, Capsule<Real>, Cylinder<Real>>;

/// Whether a shape is nothing but Reals in memory, so that an engine may convert its parameters one by one.
template <class Real, class AnyShape>
inline constexpr bool is_only_reals = std::is_trivially_copyable_v<AnyShape>&& std::is_standard_layout_v<AnyShape> &&
                                      sizeof(AnyShape) % sizeof(Real) == 0 && alignof(AnyShape) == alignof(Real);

template <class Real, class... Shapes>
constexpr bool all_only_reals(const std::variant<Shapes...>*) {
  return (is_only_reals<Real, Shapes> && ...);
}
static_assert(all_only_reals<float>(static_cast<const Shape<float>*>(nullptr)));
static_assert(all_only_reals<double>(static_cast<const Shape<double>*>(nullptr)));

}  // namespace tribo
