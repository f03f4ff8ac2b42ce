#pragma once

#include "tribo/core/params.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// The list `joints` of a scene whose objects have been read.
void read_joints(ParamReader& in, Scene& scene);

}  // namespace tribo
