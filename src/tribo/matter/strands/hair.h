#pragma once

#include <string>
#include <vector>

#include "tribo/matter/rigid/seed.h"
#include "tribo/matter/strands/seed.h"

namespace tribo {

struct ObjectSpec;
struct Scene;
struct StrandsSpec;

/// How the scene wants the strands of its object `o`.
StrandRules strand_rules(const Scene& scene, std::size_t o);

/// What had to be put right about the file that strands come from, where there is one.
void warn_of_file(const ObjectSpec& object, const StrandsSpec& hair, std::vector<std::string>& warnings);

/// The strands of all hair of elastic rods at time 0, on `solids` and `rigids` where roots go with one of them. Adds a sentence to
/// `warnings` for what can be simulated but is hardly meant, such as strands that begin in contact. Throws SceneError
/// for strands that cannot be made or cannot move.
RodSeed sample_hair(const Scene& scene, const SolidSeed& solids, const RigidSeed& rigids,
                    std::vector<std::string>& warnings);

}  // namespace tribo
