#pragma once

#include <cstdint>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/math/small.h"
#include "tribo/scene/motion.h"
#include "tribo/scene/sampling.h"

namespace tribo {

template <int D>
class Silhouette;

/// Particles that fill a shape.
struct Samples {
  std::vector<Vec<double, 3>> positions;  ///< in the world [m]; in two dimensions the pose alone decides z
  double volume_each = 0;                 ///< volume of the shape / number of particles, so that mass is exact [m^D]
};

/// Distance between neighbors of a regular lattice with the wanted number of points per cell [m].
double lattice_spacing(double dx, double particles_per_cell, int dimension);

/// Number of particles `sample_shape` will make, within some percent for shapes of many cells. Allocates nothing, so
/// that a scene with a slip in its units can be refused before it fills the memory. Infinite for a half space.
double expected_count(const Shape<double>& shape, double dx, double particles_per_cell, int dimension);

/// Fills a shape with particles, `particles_per_cell` in a grid cell of edge dx > 0. The same arguments give the same
/// bytes on every platform whose floating point is IEEE. Shapes thinner than half the particle spacing get none.
/// Throws Error for a shape without bounds.
Samples sample_shape(const Shape<double>& shape, const Pose& pose, double dx, double particles_per_cell,
                     Sampling sampling, std::int64_t seed, int dimension);

/// The same for what an outline sweeps over `length` along its direction, in the outline's coordinates; the last is the
/// distance swept, 0 to `length`.
template <int D>
std::vector<Vec<double, D>> sample_swept(const Silhouette<D>& outline, double length, double dx,
                                         double particles_per_cell, Sampling sampling, std::int64_t seed);

}  // namespace tribo
