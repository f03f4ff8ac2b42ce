#pragma once

#include "tribo/mesh/surface_mesh.h"

namespace tribo {

/// How strongly a surface of triangles bends [1/m]: of that part of its area no more than this. At an edge between two
/// triangles it is the angle between them over the distance of their centers. 0 for a surface without such edges.
double surface_curvature(const SurfaceMesh& mesh, double part);

}  // namespace tribo
