#pragma once

#include <variant>

#include "tribo/fields/linear.h"
#include "tribo/fields/radial.h"
#include "tribo/fields/taylor_green.h"
#include "tribo/fields/vortex.h"

namespace tribo {

/// Every velocity field a body can begin with. A field is a value in double with pure functions of the place r, counted
/// from the field's center along the world's axes:
///
///   name, doc                 how scenes and manuals call it
///   Field read(ParamReader&)  the one place its parameters are described
///   velocity(r)               [m/s]
///   gradient(r)               (i, j): how component i grows along axis j [1/s]; affine particles begin with it
///
/// Listing a field here gives it a scene key, a place in the schema and the manual, and the test of its gradient.
using VelocityField = std::variant<LinearField, RadialField, TaylorGreenField, VortexField>;

}  // namespace tribo
