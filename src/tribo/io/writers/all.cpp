#include "tribo/io/writer.h"
#include "tribo/io/writers/bgeo.h"
#include "tribo/io/writers/ply.h"
#include "tribo/io/writers/usd.h"
#include "tribo/io/writers/vdb.h"
#include "tribo/io/writers/vtk.h"
#include "tribo/io/writers/vtu.h"

namespace tribo {
namespace {

#ifdef TRIBO_HAS_OPENVDB
constexpr const char* no_openvdb = nullptr;
#else
constexpr const char* no_openvdb = "this build of tribo has no OpenVDB (libopenvdb-dev, then configure anew)";
#endif

}  // namespace

const std::vector<WriterEntry>& all_writers() {
  static const std::vector<WriterEntry> entries = {
      {"ply", "particles, strands and surfaces with velocity, object and color, for Blender, MeshLab and many others",
       open_ply_writer},
      {"usd", "particles, strands, meshes and colliders as USD text, one file a frame and one that plays them all",
       open_usd_writer},
      {"vtk", "particles, strands and surfaces with all quantities, as .vtp and .pvd for ParaView", open_vtk_writer},
      {"vtu", "tets of meshes with velocity, J and object, as .vtu and .pvd for ParaView", open_vtu_writer, nullptr,
       true},
      {"bgeo", "Houdini geometry: points with all attributes, strands and meshes as polygons, one file a frame",
       open_bgeo_writer},
      {"vdb", "OpenVDB points, a grid for each object, one file a frame; only in builds with OpenVDB", open_vdb_writer,
       no_openvdb},
  };
  return entries;
}

}  // namespace tribo
