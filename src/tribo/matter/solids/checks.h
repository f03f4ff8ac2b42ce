#pragma once

#include "tribo/scene/findings.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// Mistakes of an object that is a mesh of tets.
void check_solid(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings);

}  // namespace tribo
