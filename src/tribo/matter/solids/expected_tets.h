#pragma once

#include "tribo/scene/scene.h"

namespace tribo {

/// Tets an object will have, roughly, before they are made; 0 of what is no mesh.
double expected_tets(const ObjectSpec& object);

}  // namespace tribo
