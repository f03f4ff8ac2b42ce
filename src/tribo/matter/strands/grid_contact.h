#pragma once

#include "tribo/matter/strands/seed.h"

namespace tribo {

struct Scene;

/// How strands touch on a grid of their own (matter/strands/stages/bundle.h): gives bodies their friction there and the
/// speed of waves, 0 where a lone strand has nothing to touch.
void set_grid_contact(const Scene& scene, RodSeed& seed);

/// How fast things in the scene may hit each other [m/s]: what they begin with and what gravity adds to it over the
/// heights that are there, and what drives them.
double expected_impact_speed(const Scene& scene, const RodSeed& seed);

}  // namespace tribo
