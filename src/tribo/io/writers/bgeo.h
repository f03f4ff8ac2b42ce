#pragma once

#include <memory>
#include <string>

#include "tribo/io/writer.h"

namespace tribo {

/// Geometry for Houdini as DIRECTORY/NAME_000000.bgeo, binary JSON (docs/export.md): particles as points, strands as
/// open polygons, meshes as closed ones. Numbers keep the precision of the frame; a 2D frame gets z = 0.
std::unique_ptr<FrameWriter> open_bgeo_writer(const std::string& directory, const RunInfo& info);

}  // namespace tribo
