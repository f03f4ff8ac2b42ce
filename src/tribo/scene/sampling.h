#pragma once

namespace tribo {

/// How a shape is filled with particles.
enum class Sampling {
  jittered,  ///< a lattice with each point moved at random within its own cell
  poisson,   ///< a Poisson-disk set: no lattice directions, no two particles closer than a set distance
};

}  // namespace tribo
