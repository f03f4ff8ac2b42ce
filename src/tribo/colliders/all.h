#pragma once

#include <type_traits>
#include <variant>

#include "tribo/colliders/box.h"
#include "tribo/colliders/capsule.h"
#include "tribo/colliders/compound.h"
#include "tribo/colliders/cylinder.h"
#include "tribo/colliders/half_space.h"
#include "tribo/colliders/mesh.h"
#include "tribo/colliders/sphere.h"
#include "tribo/colliders/torus.h"

namespace tribo {

/// Every shape that is nothing but numbers, for objects and colliders alike. Listing a shape here gives it a scene key,
/// a place in the schema and the manual and in unions and differences, the distance and sampling tests, and kernels on
/// every device.
template <class Real>
using PlainShape = std::variant<HalfSpace<Real>, Box<Real>, Sphere<Real>, Capsule<Real>, Cylinder<Real>, Torus<Real>>;

/// A variant with more alternatives.
template <class Variant, class... More>
struct Extended;
template <class... S, class... More>
struct Extended<std::variant<S...>, More...> {
  using Type = std::variant<S..., More...>;
};

/// Shapes that are no combination of others. A mesh refers to data; see colliders/device_form.h.
using SimpleShape = Extended<PlainShape<double>, Mesh>::Type;
using Compound = CompoundOf<SimpleShape>;

/// Every shape of a scene, which is read in double.
template <class Real>
using Shape = typename Extended<PlainShape<Real>, Mesh, Compound>::Type;

/// The tets of a shape that is a file of tets, else null.
inline const TetSolid* given_tets(const Shape<double>& shape) {
  const auto* mesh = std::get_if<Mesh>(&shape);
  return mesh ? mesh->tets() : nullptr;
}

/// Whether a shape is nothing but Reals in memory, so that an engine may convert its parameters one by one.
template <class Real, class AnyShape>
inline constexpr bool is_only_reals = std::is_trivially_copyable_v<AnyShape>&& std::is_standard_layout_v<AnyShape> &&
                                      sizeof(AnyShape) % sizeof(Real) == 0 && alignof(AnyShape) == alignof(Real);

template <class Real, class... Shapes>
constexpr bool all_only_reals(const std::variant<Shapes...>*) {
  return (is_only_reals<Real, Shapes> && ...);
}
static_assert(all_only_reals<float>(static_cast<const PlainShape<float>*>(nullptr)));
static_assert(all_only_reals<double>(static_cast<const PlainShape<double>*>(nullptr)));

}  // namespace tribo
