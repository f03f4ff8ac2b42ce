#include "tribo/io/writer.h"
#include "tribo/io/writers/ply.h"
#include "tribo/io/writers/usd.h"

namespace tribo {

const std::vector<WriterEntry>& all_writers() {
  static const std::vector<WriterEntry> entries = {
      {"ply", "points with velocity, id, object and material, binary, one file a frame", open_ply_writer},
      {"usd", "particles, strands, meshes and colliders as USD text, one file a frame and one that plays them all",
       open_usd_writer},
  };
  return entries;
}

}  // namespace tribo
