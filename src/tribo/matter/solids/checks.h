#pragma once

#include "tribo/scene/findings.h"
#include "tribo/scene/scene.h"

namespace tribo {

struct SolidSpec;

/// Mistakes of an object that is a mesh of tets.
void check_solid(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings);

/// Whether pins name rigid bodies that there are.
void check_pins(const Scene& scene, const SolidSpec& solid, const std::string& pointer, Findings& findings);

}  // namespace tribo
