#include "tribo/scene/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

constexpr double most_frames = 1e6;

std::string number_text(double value) { return number_json(value).dump(); }

/// In the plane nothing may point out of it.
class PlaneCheck {
 public:
  explicit PlaneCheck(Findings& findings) : findings_(findings) {}

  void vector(const std::string& pointer, const Vec<double, 3>& v) {
    if (v[2] != 0) add(pointer, "expected a third component of 0, or two numbers");
  }
  void spin(const std::string& pointer, const Vec<double, 3>& w) {
    if (w[0] != 0 || w[1] != 0) add(pointer, "expected a rotation about z: [0, 0, w]");
  }
  void placement(const std::string& pointer, const Keyframe& key) {
    vector(pointer + "/at", key.at);
    const AxisAngle& r = key.rotation;
    if (r.degrees != 0 && (r.axis[0] != 0 || r.axis[1] != 0))
      add(pointer + "/rotation/axis", "expected the axis z, [0, 0, 1]");
  }
  void shape(const std::string& pointer, const Shape<double>& shape) {
    if (const auto* half_space = std::get_if<HalfSpace<double>>(&shape))
      vector(pointer + "/half_space/normal", half_space->normal);
    if (std::holds_alternative<Mesh>(shape)) add(pointer, no_mesh);
    const auto* compound = std::get_if<Compound>(&shape);
    if (compound == nullptr) return;
    compound->each_shape([&](const SimpleShape& part, const Compound::Placement& placement) {
      const auto* half_space = std::get_if<HalfSpace<double>>(&part);
      if (half_space != nullptr) vector(pointer, half_space->normal);
      if (std::holds_alternative<Mesh>(part)) add(pointer, no_mesh);
      vector(pointer, placement.at);
      if (std::abs(placement.rotation(2, 2) - 1) > 1e-12) add(pointer, "expected parts turned about the axis z only");
    });
  }

 private:
  static constexpr const char* no_mesh = "expected another shape than a mesh";

  void add(const std::string& pointer, const char* expected) {
    if (findings_.clean(pointer)) findings_.add(pointer, fmt::format("{} in two dimensions", expected));
  }
  Findings& findings_;
};

void check_plane(const Scene& scene, Findings& findings) {
  PlaneCheck check(findings);
  check.vector("/gravity", scene.gravity);
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const ObjectSpec& object = scene.objects[i];
    const std::string pointer = fmt::format("/objects/{}", i);
    check.placement(pointer, object.placement);
    check.shape(pointer + "/shape", object.shape);
    check.vector(pointer + "/velocity", object.velocity);
    check.spin(pointer + "/angular_velocity", object.angular_velocity);
  }
  for (std::size_t i = 0; i < scene.colliders.size(); ++i) {
    const std::string pointer = fmt::format("/colliders/{}", i);
    const std::vector<Keyframe>& keys = scene.colliders[i].motion.keys();
    check.shape(pointer + "/shape", scene.colliders[i].shape);
    for (std::size_t k = 0; k < keys.size(); ++k)
      check.placement(keys.size() > 1 ? fmt::format("{}/motion/{}", pointer, k) : pointer, keys[k]);
  }
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

void check_grid(const Scene& scene, Findings& findings) {
  const GridSpec& grid = scene.grid;
  if (grid.kernel == "linear" && grid.force == "mls" && findings.clean("/grid/force"))
    findings.add("/grid/force",
                 "\"mls\" needs a kernel whose second moment never vanishes; use \"gradient\" with the "
                 "linear kernel, or another kernel");
  if (std::holds_alternative<PolyPic>(grid.transfer) && grid.kernel != "quadratic" && findings.clean("/grid/transfer"))
    findings.add("/grid/transfer", fmt::format("\"polypic\" knows the modes of the quadratic kernel only; use it with "
                                               "kernel \"quadratic\", or \"apic\" with the {} kernel",
                                               grid.kernel));
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
  if (findings.clean("/dimension") && scene.dimension == 2) check_plane(scene, findings);
  check_grid(scene, findings);
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
