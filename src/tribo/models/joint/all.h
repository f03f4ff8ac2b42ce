#pragma once

#include <variant>

#include "tribo/models/joint/ball.h"
#include "tribo/models/joint/distance.h"
#include "tribo/models/joint/hinge.h"
#include "tribo/models/joint/slider.h"
#include "tribo/models/joint/spring.h"
#include "tribo/models/joint/weld.h"

namespace tribo {

/// Every joint. Listing one here gives it a scene key, a place in the schema and the manual, and the solver.
template <class Real>
using Joint = std::variant<WeldJoint<Real>, HingeJoint<Real>, SliderJoint<Real>, BallJoint<Real>, DistanceJoint<Real>, SpringJoint<Real>>;

}  // namespace tribo
