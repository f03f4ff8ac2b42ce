#include "tribo/io/writer.h"
#include "tribo/io/writers/ply.h"

namespace tribo {

const std::vector<WriterEntry>& all_writers() {
  static const std::vector<WriterEntry> entries = {
      {"ply", "points with velocity, id, object and material, binary, one file a frame", open_ply_writer},
  };
  return entries;
}

}  // namespace tribo
