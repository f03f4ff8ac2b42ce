#pragma once

#include <string>
#include <vector>

#include "tribo/matter/rigid/seed.h"

namespace tribo {

/// A sentence for rigid bodies that begin inside each other, colliders, solids or particles: for each two objects one,
/// with the deepest of their bodies. And one for bodies that begin on others too light to carry them.
std::vector<std::string> overlaps_of_bodies(const Scene& scene, const Seeds& seeds);

}  // namespace tribo
