#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Reads an object of type "hair".
void read_hair(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object);

}  // namespace tribo
