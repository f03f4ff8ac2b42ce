#pragma once

#include "tribo/colliders/all.h"
#include "tribo/mesh/tet_mesh.h"

namespace tribo {

/// Tets that fill a shape, in its own coordinates: those of its file, where it is a file of tets. Else `size` is about
/// the edge length on the surface [m]; graded: larger inside. A box keeps its edges and corners; those of other shapes
/// are rounded by less than `size`. Throws Error (bad input) for a shape without bounds and for one of which a fifth or
/// more is lost, with the remedy.
TetMesh tets_of(const Shape<double>& shape, double size, bool graded);

}  // namespace tribo
