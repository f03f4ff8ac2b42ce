#pragma once

#include <string>
#include <vector>

#include "tribo/mesh/polygons.h"
#include "tribo/mesh/surface_mesh.h"

namespace tribo {

/// A closed surface: what can be told to have an inside.
struct Solid {
  SurfaceMesh mesh;                ///< no two vertices in one place
  std::size_t given = 0;           ///< triangles of the file, which are first; the others close its holes
  std::vector<std::string> notes;  ///< what had to be put right, one sentence each
  double volume = 0;               ///< enclosed, > 0 [m^3]
  Vec<double, 3> low = Vec<double, 3>::zero(), high = Vec<double, 3>::zero();  ///< bounds [m]
};

/// Cuts polygons into triangles, joins vertices that are in one place and turns faces outward. Every edge must belong
/// to as many faces from one side as from the other, or to one face only: holes are closed by a fan of triangles about
/// the middle of their rim, and noted. Parts may overlap or touch. Throws Error (bad input) whose text
/// begins with the file's name and names the element.
Solid solid_from(const Polygons& polygons, double scale, const std::string& file);

/// The solid in a file; its extension says how to read it: .obj, .ply or .stl. `bytes` is what the file holds.
Solid parse_solid(const std::string& bytes, double scale, const std::string& file);

}  // namespace tribo
