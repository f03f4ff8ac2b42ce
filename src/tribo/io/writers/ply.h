#pragma once

#include <memory>
#include <string>

#include "tribo/io/writer.h"

namespace tribo {

/// Particles as DIRECTORY/NAME_000000.ply: binary little-endian; x y z, vx vy vz, id, object, material, J, strain,
/// radius and red green blue as far as the frame has them. Strands go to NAME_strands_000000.ply with edges, surfaces
/// to NAME_meshes_000000.ply and NAME_colliders_000000.ply with faces, where there are any. Floats are written in the
/// precision of the frame; a 2D frame gets z = 0.
std::unique_ptr<FrameWriter> open_ply_writer(const std::string& directory, const RunInfo& info);

}  // namespace tribo
