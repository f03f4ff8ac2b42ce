#pragma once

#include <variant>

#include "tribo/colliders/all.h"
#include "tribo/core/params.h"
#include "tribo/scene/motion.h"

namespace tribo {

/// Calls visit.operator()<T>() for each alternative of a variant.
template <class... Ts, class Visit>
void each_alternative(const std::variant<Ts...>*, const Visit& visit) {
  (visit.template operator()<Ts>(), ...);
}

/// Reads the key `shape`; where it may be left out and is, the shape stays as it was.
void read_shape(ParamReader& in, Shape<double>& shape, const char* doc, bool required = true);

/// Position and orientation, of an object or collider, of one of its keyframes, or of a part of a shape.
void read_placement(ParamReader& in, Keyframe& key);

}  // namespace tribo
