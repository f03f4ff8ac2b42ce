#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "tribo/render/picture.h"
#include "tribo/render/stage.h"

namespace tribo {

struct TraceOptions {
  int width = 1280;
  int height = 720;
  int samples = 16;
  Vec<double, 3> sun{{0, 1, 0}};  ///< unit vector toward it
  double sun_diameter = 4;        ///< as seen [deg]
  double exposure = 1;
  std::function<void(double share)> on_progress;  ///< less than 1; from any thread, one at a time
  const std::atomic<bool>* stop = nullptr;
};

/// Whether this build has the tracer (Embree was found).
bool can_render();

/// A picture of the stage by path tracing on Embree: sun with soft shadows, sky, two diffuse bounces. The same bytes
/// for any number of threads. Nothing when stopped on request.
std::optional<Picture> trace(const Stage& stage, const Camera& camera, const TraceOptions& options);

}  // namespace tribo
