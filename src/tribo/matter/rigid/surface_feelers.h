#pragma once

#include <functional>
#include <vector>

#include "tribo/matter/rigid/seed.h"
#include "tribo/mesh/surface_mesh.h"

namespace tribo {

/// Feelers on a closed surface of triangles: its corners, points along its edges, and, where it bends gently, points
/// `smooth_spacing` from each other, or nearer, so that nothing between them stands out by more than `recess`; then
/// points within flat faces. Where it bends inward nothing but a surface that bends outward can touch it, which has
/// feelers of its own. `counts` says of a point whether it matters.
std::vector<RigidSample> surface_feelers(const SurfaceMesh& mesh, double edge_spacing, double smooth_spacing,
                                         double recess, const std::function<bool(const Vec<double, 3>&)>& counts);

}  // namespace tribo
