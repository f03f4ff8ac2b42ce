#pragma once

#include <functional>

#include "tribo/mesh/tet_mesh.h"

namespace tribo {

/// Signed distance to a surface, negative inside [m]. Called from many threads. It may fall short of the true distance,
/// and change up to 1.4 times as fast as a distance does.
using Distance = std::function<double(const Vec<double, 3>&)>;

struct TetSizing {
  double size = 0;      ///< long edge of the lattice; edges on the surface are 0.78 of it on average [m]
  bool graded = false;  ///< larger tets inside, where the surface is far
};

/// Fills what is inside a surface with tets (isosurface stuffing, Labelle & Shewchuk 2007): those of a body-centered
/// cubic lattice where it lies inside; near the surface lattice vertices are moved onto it, or tets cut by it, so that
/// all boundary vertices lie on the surface. Dihedral angles are between 11 and 162 degrees for any surface, as
/// measured on noise finer than the lattice, and between 16 and 157 where the lattice resolves the shape. Edges and
/// corners of the surface are rounded by up to about `size`; what is thinner than that has holes or vanishes. `low` and
/// `high` bound the surface. The same bytes for any number of threads; time and memory grow with the result. Throws
/// Error (bad input) when nothing is inside or the tets are too many.
TetMesh tetrahedralize(const Distance& distance, const Vec<double, 3>& low, const Vec<double, 3>& high,
                       const TetSizing& sizing);

/// A box about the origin, in cells of about `size` along each edge. Each is cut in six around a diagonal (Kuhn), cells
/// side by side as mirror images, so that a mesh with an even number of cells along an axis is symmetric.
TetMesh tetrahedralized_box(const Vec<double, 3>& edges, double size);

}  // namespace tribo
