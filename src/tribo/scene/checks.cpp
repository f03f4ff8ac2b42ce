#include "tribo/scene/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tribo/io/writer.h"
#include "tribo/scene/friction.h"
#include "tribo/scene/room.h"

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
  void field(const std::string& pointer, const FieldSpec& spec) {
    vector(pointer + "/center", spec.center);
    bool leaves = false;
    for (const Vec<double, 3>& r : {Vec<double, 3>{{1, 0, 0}}, Vec<double, 3>{{0, 1, 0}}}) {
      const Mat<double, 3> G = std::visit([&](const auto& f) { return f.gradient(r); }, spec.field);
      const Vec<double, 3> v = std::visit([&](const auto& f) { return f.velocity(r); }, spec.field);
      for (const double out : {v[2], G(2, 0), G(2, 1), G(0, 2), G(1, 2)}) leaves = leaves || out != 0;
    }
    if (leaves) add(pointer, "expected a field that does not leave the plane and does not change across it");
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
    if (!findings.clean(pointer + "/type")) continue;
    if (const char* reason = room_of(object).spatial(object)) {
      findings.add(pointer + "/type", reason);
      continue;
    }
    check.placement(pointer, object.placement);
    check.shape(pointer + "/shape", object.shape);
    check.vector(pointer + "/velocity", object.velocity);
    check.spin(pointer + "/angular_velocity", object.angular_velocity);
    if (object.velocity_field) check.field(pointer + "/velocity_field", *object.velocity_field);
  }
  for (std::size_t i = 0; i < scene.sinks.size(); ++i) {
    const std::string pointer = fmt::format("/sinks/{}", i);
    check.placement(pointer, scene.sinks[i].placement);
    check.shape(pointer + "/shape", scene.sinks[i].shape);
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
  if (grid.kernel != "linear") return;
  if (std::holds_alternative<Rpic>(grid.transfer) && findings.clean("/grid/transfer"))
    findings.add(
        "/grid/transfer",
        "\"rpic\" loses angular momentum with the linear kernel, whose second moment differs between the axes; "
        "use \"apic\", or another kernel");
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const auto index = static_cast<std::size_t>(scene.objects[i].material);
    const bool known = findings.clean("/materials") && findings.clean(fmt::format("/objects/{}/material", i));
    if (!known || index >= scene.materials.size() || !findings.clean("/grid/kernel")) continue;
    const MaterialSpec& material = scene.materials[index];
    if (viscosity_of(material.law) > 0)
      findings.add("/grid/kernel", fmt::format("\"linear\" cannot bear the viscosity of material '{}': its gradients "
                                               "jump between cells; use \"quadratic\" or \"cubic\", or set the "
                                               "material's viscosity to 0",
                                               material.name));
  }
}

void check_implicit(const Scene& scene, Findings& findings) {
  if (!scene.time.implicit) return;
  if (scene.grid.kernel != "quadratic" && findings.clean("/grid/kernel"))
    findings.add("/grid/kernel", fmt::format("integrator \"implicit\" knows the quadratic kernel only, got \"{}\"; use "
                                             "that, or integrator \"symplectic\"",
                                             scene.grid.kernel));
  else if (scene.grid.force != "mls" && findings.clean("/grid/force"))
    findings.add("/grid/force", fmt::format("integrator \"implicit\" needs force \"mls\", got \"{}\"; use that, or "
                                            "integrator \"symplectic\"",
                                            scene.grid.force));
}

/// Particles are looked at when they are sorted, before any has moved by a cell.
void check_sink(const Scene& scene, const SinkSpec& sink, const std::string& pointer, Findings& findings) {
  const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, sink.shape);
  if (!bounds.bounded) return;
  double narrowest = bounds.high[0] - bounds.low[0];
  for (int k = 1; k < scene.dimension; ++k) narrowest = std::min(narrowest, bounds.high[k] - bounds.low[k]);
  if (narrowest < 2 * scene.grid.dx)
    findings.add(pointer,
                 fmt::format("the shape is {:.3g} m thin; particles might pass through a sink thinner than two "
                             "grid spacings, {:.3g} m: make it thicker",
                             narrowest, 2 * scene.grid.dx));
}

}  // namespace

void check_filled(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings,
                  const double* element_size) {
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
  } else if (element_size != nullptr) {
    if (largest < *element_size)
      findings.add(pointer, fmt::format("the {} is at most {:.3g} m wide, less than its element_size of {:.3g} m; make "
                                        "the latter smaller, {:.1g} or less",
                                        name, largest, *element_size, largest / 4));
  } else if (findings.clean("/grid/dx") && largest < scene.grid.dx) {
    findings.add(pointer,
                 fmt::format("the {} is at most {:.3g} m wide, less than the grid spacing of {:.3g} m; make it "
                             "larger or /grid/dx smaller, {:.1g} or less",
                             name, largest, scene.grid.dx, largest / 4));
  }
}

void check_scene(const Scene& scene, Findings& findings) {
  if (findings.clean("/dimension") && scene.dimension == 2) check_plane(scene, findings);
  check_grid(scene, findings);
  check_implicit(scene, findings);
  check_time(scene, findings);
  if (scene.objects.empty() && findings.clean("/objects")) {
    findings.add("/objects", "the list is empty; a scene needs at least one object");
  }
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const std::string pointer = fmt::format("/objects/{}", i);
    if (findings.clean(pointer + "/type")) room_of(scene.objects[i]).check(scene, scene.objects[i], pointer, findings);
  }
  for (std::size_t i = 0; i < scene.sinks.size(); ++i) {
    const std::string pointer = fmt::format("/sinks/{}/shape", i);
    if (findings.clean(pointer) && findings.clean("/grid/dx")) check_sink(scene, scene.sinks[i], pointer, findings);
  }
  for (const WriterEntry& writer : all_writers())
    if (writer.needs_tets && std::find(scene.output.formats.begin(), scene.output.formats.end(), writer.name) !=
                                 scene.output.formats.end()) {
      const bool any = std::any_of(scene.objects.begin(), scene.objects.end(),
                                   [](const ObjectSpec& object) { return room_of(object).has_tets(object); });
      if (!any && findings.clean("/objects") && findings.clean("/output"))
        findings.add(
            "/output/formats",
            fmt::format("\"{}\" is for tets, and no object has any; use another format, such as \"vtk\"", writer.name));
    }
  check_friction(scene, findings);
}

void check_variants(const Json& root, Findings& findings) {
  const auto variants = root.is_object() ? root.find("variants") : root.end();
  if (variants == root.end() || !variants->is_object()) return;  // none, or reported as no object
  for (const auto& variant : variants->items()) {
    const std::string pointer = join_pointer("/variants", variant.key());
    if (variant.key().empty()) findings.add_at_key(pointer, "expected a name that is not empty");
    if (!variant.value().is_object()) {
      findings.add(pointer, "expected what is changed, values by JSON pointer: { \"/grid/dx\": 0.01 }");
      continue;
    }
    for (const auto& change : variant.value().items()) {
      const std::vector<std::string> steps = split_pointer(change.key());
      const std::string place = join_pointer(pointer, change.key());
      if (!change.key().starts_with('/')) {
        findings.add_at_key(place, "expected a JSON pointer, such as \"/grid/dx\"");
      } else if (steps.front() == "variants") {
        findings.add_at_key(place,
                            "variants cannot change each other; expected a pointer to another part of the scene");
      }
    }
  }
}

}  // namespace tribo
