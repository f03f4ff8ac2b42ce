#pragma once

#include "tribo/io/frame.h"
#include "tribo/io/run_info.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// What writers of other formats need to know of a scene.
RunInfo run_info(const Scene& scene);

/// Adds the surfaces of visible colliders where they are at the frame's time. A half space becomes a square, large
/// beside the scene.
void add_colliders(const Scene& scene, Frame& frame);

/// Unit vector against gravity; +y without gravity.
Vec<double, 3> up_direction(const Scene& scene);

/// Mean distance of neighboring particles of an object at the start [m].
double particle_spacing(const Scene& scene, const ObjectSpec& object);

/// Radius at which the particles of an object, drawn as spheres, just about touch [m].
double particle_radius(const Scene& scene, const ObjectSpec& object);

}  // namespace tribo
