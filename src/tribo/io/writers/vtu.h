#pragma once

#include <memory>
#include <string>

#include "tribo/io/writer.h"

namespace tribo {

/// VTK's unstructured grids for ParaView: DIRECTORY/NAME_000000.vtu with the tets of all meshes, and NAME.pvd, which ties
/// them together with their times. Vertices have velocity; tets have J, their volume over that at rest, and object, its number
/// in the scene. Numbers are binary, appended raw, in the precision of the frame. A frame without tets is an Error that says
/// how to get them.
std::unique_ptr<FrameWriter> open_vtu_writer(const std::string& directory, const RunInfo& info);

}  // namespace tribo
