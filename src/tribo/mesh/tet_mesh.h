#pragma once

#include <cstdint>
#include <vector>

#include "tribo/mesh/surface_mesh.h"

namespace tribo {

/// Tetrahedra with positive volume: (b - a) x (c - a) . (d - a) > 0 for corners a, b, c, d.
struct TetMesh {
  std::vector<Vec<double, 3>> vertices;  ///< [m]
  std::vector<Vec<std::int32_t, 4>> tets;

  /// Corner k of tet t.
  const Vec<double, 3>& corner(std::size_t t, int k) const { return vertices[static_cast<std::size_t>(tets[t][k])]; }
  double volume(std::size_t t) const {
    const Vec<double, 3>& a = corner(t, 0);
    return dot(cross(corner(t, 1) - a, corner(t, 2) - a), corner(t, 3) - a) / 6;
  }
};

/// Faces of a tet by its corners, counterclockwise seen from outside.
inline constexpr int tet_faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};

/// What is on the other side of face k of tet t, at [4 t + k]: face l of tet u as 4 u + l.
inline constexpr std::int64_t no_mate = -1;     ///< the face is on the boundary
inline constexpr std::int64_t many_mates = -2;  ///< three or more tets share the face
std::vector<std::int64_t> mates_of_faces(const TetMesh& mesh);

/// The faces that belong to one tet only, by tet, then face.
struct TetBoundary {
  std::vector<Vec<std::int32_t, 3>> triangles;  ///< vertices of the mesh, counterclockwise seen from outside
  std::vector<std::int32_t> tet;                ///< behind each
};
TetBoundary boundary_of(const TetMesh& mesh);

/// Edges with more than two triangles: where parts of a body touch along an edge only.
std::size_t crowded_edges(const TetBoundary& boundary);

/// How well tets are shaped: errors grow with the sine of large dihedral angles, stiffness and the number of time steps
/// with that of small ones and with small altitudes.
struct TetQuality {
  double smallest_angle = 0;     ///< between two faces of a tet [degrees]
  double largest_angle = 0;      ///< [degrees]
  double smallest_altitude = 0;  ///< of a corner over the face opposite: 3 V / A [m]
  double volume = 0;             ///< of all tets [m^3]
  double smallest_volume = 0;    ///< of one tet [m^3]
};
TetQuality quality_of(const TetMesh& mesh);

/// Cosines of the six dihedral angles of a tet with positive volume.
struct DihedralCosines {
  double smallest, largest;
};
DihedralCosines dihedral_cosines(const Vec<double, 3>& a, const Vec<double, 3>& b, const Vec<double, 3>& c,
                                 const Vec<double, 3>& d);

}  // namespace tribo
