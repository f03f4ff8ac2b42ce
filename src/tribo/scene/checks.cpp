#include "tribo/scene/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr double most_frames = 1e6;

std::string number_text(double value) { return number_json(value).dump(); }

void check_dimension(const Scene& scene, Findings& findings) {
  if (scene.dimension == 2) findings.add("/dimension", "two dimensions are not available in this version");
}

void check_time(const Scene& scene, Findings& findings) {
  if (findings.clean("/duration") && findings.clean("/fps")) {
    const double frames = scene.duration * scene.fps;
    if (!(frames <= most_frames)) {
      findings.add("/duration", fmt::format("duration times fps makes {:.3g} frames; at most {} are possible", frames,
                                            number_text(most_frames)));
    }
  }
  if (findings.clean("/time/dt_min") && findings.clean("/time/dt_max") && !(scene.time.dt_min < scene.time.dt_max)) {
    findings.add("/time/dt_min", fmt::format("expected less than dt_max, which is {}, got {}",
                                             number_text(scene.time.dt_max), number_text(scene.time.dt_min)));
  }
}

void check_object_shape(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings) {
  const auto [bounds, volume, name] = std::visit(
      [&](const auto& shape) { return std::tuple(shape.bounds(), shape.volume(scene.dimension), shape.name); },
      object.shape);
  if (!bounds.bounded) {
    findings.add(pointer, fmt::format("a {} has no end and cannot be filled; an object needs a bounded shape", name));
    return;
  }
  double largest = 0;
  for (int i = 0; i < scene.dimension; ++i) largest = std::max(largest, bounds.high[i] - bounds.low[i]);
  if (!(volume > 0) || !std::isfinite(volume) || !std::isfinite(largest)) {
    findings.add(pointer, fmt::format("the {} has no volume that could be filled", name));
  } else if (findings.clean("/grid/dx") && largest < scene.grid.dx) {
    findings.add(pointer,
                 fmt::format("the {} is at most {:.3g} m wide, less than the grid spacing of {:.3g} m; make it "
                             "larger or /grid/dx smaller, {:.1g} or less",
                             name, largest, scene.grid.dx, largest / 4));
  }
}

}  // namespace

void check_scene(const Scene& scene, Findings& findings) {
  if (findings.clean("/dimension")) check_dimension(scene, findings);
  check_time(scene, findings);
  if (scene.objects.empty() && findings.clean("/objects")) {
    findings.add("/objects", "the list is empty; a scene needs at least one object");
  }
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const std::string pointer = fmt::format("/objects/{}", i);
    if (findings.clean(pointer + "/type") && findings.clean(pointer + "/shape")) {
      check_object_shape(scene, scene.objects[i], pointer + "/shape", findings);
    }
  }
}

}  // namespace tribo
