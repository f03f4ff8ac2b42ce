#pragma once

#include <variant>

#include "tribo/models/joint/weld.h"

namespace tribo {

/// Every joint. Listing one here gives it a scene key, a place in the schema and the manual, and the solver.
template <class Real>
using Joint = std::variant<Weld<Real>>;

}  // namespace tribo
