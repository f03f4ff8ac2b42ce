#pragma once

#include <vector>

#include "tribo/core/params.h"
#include "tribo/scene/scene.h"

/// \file
/// The scene format: every key, once. Reading, schema and manual all run through read_format.

namespace tribo {

/// Asks `in` for everything a scene can say. `scene.file` gives the default name.
void read_format(ParamReader& in, Scene& scene);

/// What `grid.transfer` and `grid.kernel` may be.
const std::vector<Choice>& transfers();
const std::vector<Choice>& kernels();

}  // namespace tribo
