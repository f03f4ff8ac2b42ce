#pragma once

#include "tribo/scene/scene.h"

namespace tribo {

/// An object of type "rigid".
void read_rigid(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object);

}  // namespace tribo
