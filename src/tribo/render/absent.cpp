#include "tribo/core/errors.h"
#include "tribo/render/picture.h"
#include "tribo/render/tracer.h"

/// \file
/// Stands in for the tracer in builds without Embree or libpng.

namespace tribo {

bool can_render() { return false; }

std::optional<Picture> trace(const Stage& /*stage*/, const Camera& /*camera*/, const TraceOptions& /*options*/) {
  throw Error(ExitCode::internal, "drawing without Embree");
}

void write_png(const std::string& path, const Picture& /*picture*/,
               const std::vector<std::pair<std::string, std::string>>& /*texts*/) {
  throw Error(ExitCode::internal, "writing " + path + " without libpng");
}

}  // namespace tribo
