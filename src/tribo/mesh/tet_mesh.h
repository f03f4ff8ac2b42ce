#pragma once

#include <cstdint>
#include <vector>

#include "tribo/mesh/surface_mesh.h"

namespace tribo {

/// Tetrahedra with positive volume: (b - a) x (c - a) . (d - a) > 0 for corners a, b, c, d.
struct TetMesh {
  std::vector<Vec<double, 3>> vertices;      ///< [m]
  std::vector<Vec<std::int32_t, 4>> tets;
};

/// The faces that belong to one tet only.
struct TetBoundary {
  std::vector<Vec<std::int32_t, 3>> triangles;  ///< vertices of the mesh, counterclockwise seen from outside
  std::vector<std::int32_t> tet;                ///< behind each
};
TetBoundary boundary_of(const TetMesh& mesh);

}  // namespace tribo
