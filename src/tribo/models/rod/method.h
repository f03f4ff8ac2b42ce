#pragma once

/// \file
/// How contact of many strands is discretized, so that methods can be compared by one word of a scene.

namespace tribo {

enum class HairMethod {
  hybrid,   ///< elastic rods that touch by their segments (Han 2019)
  mcadams,  ///< elastic rods whose volume is an incompressible fluid, too (McAdams 2009; theory I)
  mpm       ///< curves of particles (Jiang 2017)
};

/// What the volume of `mcadams` may do (theory I.2).
enum class Incompressibility {
  bilateral,  ///< its divergence is the target everywhere: hair is pulled together where it opens
  clamped,    ///< where it is thinner than it was groomed and opens, it has no pressure
  separating  ///< pressure only pushes, and only what is denser than it was groomed is pushed
};

}  // namespace tribo
