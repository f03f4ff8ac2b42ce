#include "tribo/io/writer.h"
#include "tribo/io/writers/ply.h"
#include "tribo/io/writers/usd.h"
#include "tribo/io/writers/vtk.h"

namespace tribo {

const std::vector<WriterEntry>& all_writers() {
  static const std::vector<WriterEntry> entries = {
      {"ply", "particles, strands and surfaces with velocity, object and color, for Blender, MeshLab and many others",
       open_ply_writer},
      {"usd", "particles, strands, meshes and colliders as USD text, one file a frame and one that plays them all",
       open_usd_writer},
      {"vtk", "particles, strands and surfaces with all quantities, as .vtp and .pvd for ParaView", open_vtk_writer},
  };
  return entries;
}

}  // namespace tribo
