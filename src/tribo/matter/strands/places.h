#pragma once

#include "tribo/scene/scene.h"

/// \file
/// What hair takes from the rest of its scene, once objects and colliders are read.

namespace tribo {

/// Hair that grows `on` a collider has its motion, on a solid its place and its skin; a scalp that names no shape is
/// the surface of either. Names that are not found stay as they are, for check_scene to find.
void place_hair(Scene& scene);

/// Meshes that hair grows on or may touch are sampled as finely as its vertices feel them, unless the scene says how
/// finely. Particles meet colliders at nodes of the grid and need no more than half its spacing; strands have nothing
/// to do with the grid. Their vertices see a surface that is bent by k off by k h^2 / 8 where it is sampled every h,
/// which should not be more than their radius. Below an eighth of a segment nothing is gained: what is that small
/// passes between vertices. Nor should it be more than half of one: neighbors would share the facets of the samples.
void refine_meshes_at_hair(Scene& scene);

}  // namespace tribo
