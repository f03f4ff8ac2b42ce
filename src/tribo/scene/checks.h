#pragma once

#include "tribo/scene/findings.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// Mistakes that show only when parts of a scene are seen together. Each check is made when the parts it compares are
/// right by themselves.
void check_scene(const Scene& scene, Findings& findings);

/// Whether an object's shape, at `pointer`, can be filled: with particles, or with elements of a size.
void check_filled(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings,
                  const double* element_size = nullptr);

/// Whether `variants` of the scene `root` has the form {name: {"/json/pointer": value}}. What the changed scenes are
/// worth is found by those who make them (scene/variants.h).
void check_variants(const Json& root, Findings& findings);

}  // namespace tribo
