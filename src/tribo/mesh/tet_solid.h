#pragma once

#include <string>
#include <vector>

#include "tribo/core/named_bytes.h"
#include "tribo/mesh/tet_file.h"
#include "tribo/mesh/tet_mesh.h"

namespace tribo {

/// Tets from a file that can be simulated.
struct TetSolid {
  TetMesh mesh;                    ///< every vertex belongs to a tet
  std::vector<std::string> notes;  ///< what had to be put right or may be a mistake, one sentence each
  double volume = 0;               ///< [m^3]
  Vec<double, 3> low = Vec<double, 3>::zero(), high = Vec<double, 3>::zero();  ///< bounds [m]
};

/// Drops vertices without a tet, and turns the tets when all are inside out. Throws Error (bad input), naming the first
/// few by their numbers in the file, when some only are inside out; when tets are flat or there twice; when three share
/// a face, or two lie on the same side of one.
TetSolid check_tets(const TetFile& tets, double scale, const std::string& file);

/// The files that a mesh consists of, the named one among them: .node and .ele belong together.
std::vector<std::string> tet_mesh_files(const std::string& path);

/// Whether a name is one of a file of tets.
bool is_tet_mesh_name(const std::string& path);

/// The tets in a file, as its extension says: Gmsh .msh (2.2, 4.1), MEDIT .mesh, TetGen .node and .ele (in that order),
/// VTK .vtk and .vtu. Throws Error (bad input) whose text begins with the file's name.
TetSolid parse_tet_mesh(const std::vector<NamedBytes>& files, double scale = 1);

/// The same from disk. Throws IoError, too.
TetSolid read_tet_mesh(const std::string& path, double scale = 1);

}  // namespace tribo
