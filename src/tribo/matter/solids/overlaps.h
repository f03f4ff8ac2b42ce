#pragma once

#include <string>
#include <vector>

#include "tribo/matter/solids/seed.h"

namespace tribo {

/// A sentence for each mesh that begins inside a collider or another mesh, deeper than half a cell and half a tet:
/// contact drives them apart with a jolt, which is hardly ever what was meant. Vertices that are driven may be
/// anywhere.
std::vector<std::string> overlaps_of_meshes(const Scene& scene, const SolidSeed& seed);

}  // namespace tribo
