#pragma once

#include <memory>
#include <string>

#include "tribo/io/writer.h"

namespace tribo {

/// Particles, strands and meshes as USD text: DIRECTORY/NAME_000000.usda holds one frame at time code 0 and can be
/// opened by itself; NAME.usda, written by `finish`, ties the frames together by value clips. Floats are float32, as
/// the schemas of USD demand: doubles are rounded.
std::unique_ptr<FrameWriter> open_usd_writer(const std::string& directory, const RunInfo& info);

}  // namespace tribo
