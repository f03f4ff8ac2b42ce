#pragma once

#include <memory>
#include <string>

#include "tribo/io/writer.h"

namespace tribo {

/// Points as DIRECTORY/NAME_000000.ply: binary little-endian; x y z, vx vy vz, id, object, material as far as the
/// frame has them. Floats are written in the precision of the frame; a 2D frame gets z = 0.
std::unique_ptr<FrameWriter> open_ply_writer(const std::string& directory, const RunInfo& info);

}  // namespace tribo
