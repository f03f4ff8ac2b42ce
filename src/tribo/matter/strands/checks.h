#pragma once

#include "tribo/scene/findings.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// What strands cannot be, before they are made.
void check_hair(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings);

}  // namespace tribo
