#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Reads an object of type "solid".
void read_solid(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object);

}  // namespace tribo
