#pragma once

#include <memory>
#include <string>

#include "tribo/io/writer.h"

namespace tribo {

/// Particles as DIRECTORY/NAME_000000.vdb, a grid of OpenVDB points for each object (docs/export.md). Positions of a
/// frame in float are stored without loss, those in double to 2^-26 of a voxel. Without OpenVDB in the build it only
/// removes such files.
std::unique_ptr<FrameWriter> open_vdb_writer(const std::string& directory, const RunInfo& info);

}  // namespace tribo
