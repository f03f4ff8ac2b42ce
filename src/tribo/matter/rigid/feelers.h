#pragma once

#include <vector>

#include "tribo/matter/rigid/seed.h"

namespace tribo {

/// The feelers of a bounded shape, in its frame; those within flat faces come last. `spacing` is how far apart they
/// may be along edges and on faces [m]: what is smaller and has feelers of its own is felt by these.
std::vector<RigidSample> feelers_of(const Shape<double>& shape, double spacing);

/// Farthest point of a shape from `center`, or somewhat more [m].
double reach_of(const Shape<double>& shape, const Vec<double, 3>& center);

/// Twice the depth of its deepest point, or somewhat less [m].
double thickness_of(const Shape<double>& shape);

}  // namespace tribo
