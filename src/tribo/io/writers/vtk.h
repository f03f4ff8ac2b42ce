#pragma once

#include <memory>
#include <string>

#include "tribo/io/writer.h"

namespace tribo {

/// VTK's XML format for ParaView: DIRECTORY/NAME_000000.vtp with particles as vertices, NAME_strands_000000.vtp with
/// lines, NAME_meshes_000000.vtp and NAME_colliders_000000.vtp with polygons, the latter three where there are any; and
/// NAME.pvd, which ties them together with their times. Numbers are binary, appended raw, in the precision of the
/// frame.
std::unique_ptr<FrameWriter> open_vtk_writer(const std::string& directory, const RunInfo& info);

}  // namespace tribo
