#pragma once

#include <cstdint>

#include "tribo/matter/particles/spec.h"
#include "tribo/scene/motion.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// An emitter as the solver needs it.
struct EmitterModel {
  int object = 0;  ///< whose particles these are
  Shape<double> shape;
  Pose pose;
  Vec<double, 3> velocity = Vec<double, 3>::zero();  ///< [m/s]
  double dx = 0;                                     ///< grid spacing [m]
  double particles_per_cell = 8;
  Sampling sampling = Sampling::jittered;
  std::int64_t seed = 0;
  EmissionSpec when;

  bool is_on(double time) const { return time >= when.from && time < when.until; }
};

}  // namespace tribo
