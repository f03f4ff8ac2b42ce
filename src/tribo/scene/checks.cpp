#include "tribo/scene/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tribo/colliders/silhouette.h"
#include "tribo/io/writer.h"
#include "tribo/matter/solids/expected_tets.h"
#include "tribo/scene/friction.h"
#include "tribo/scene/suggest.h"

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
    if (object.solid) {
      findings.add(pointer + "/type", "meshes of tets are three-dimensional; use method \"mpm\", or another type");
      continue;
    }
    if (object.strands) {
      findings.add(pointer + "/type", "strands are three-dimensional; set dimension to 3, or use another type");
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
  for (std::size_t i = 0; i < scene.objects.size(); ++i)
    if (scene.objects[i].is_hybrid() && scene.objects[i].solid->grid_damping)
      findings.add(fmt::format("/objects/{}/grid_damping", i),
                   "expected integrator \"symplectic\": implicit steps damp by themselves; remove one of the two");
  for (std::size_t i = 0; i < scene.objects.size(); ++i)
    if (scene.objects[i].is_updated_lagrangian())
      findings.add(fmt::format("/objects/{}/method", i),
                   "integrator \"implicit\" does not know \"updated_lagrangian\"; use method \"hybrid\" or \"mpm\", or "
                   "integrator \"symplectic\"");
    else if (scene.objects[i].is_curves())
      findings.add(fmt::format("/objects/{}/method", i),
                   "integrator \"implicit\" does not know curves; use method \"hybrid\", or integrator \"symplectic\"");
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
  } else if (object.solid && !given_tets(object.shape)) {
    if (largest < object.solid->element_size)
      findings.add(pointer, fmt::format("the {} is at most {:.3g} m wide, less than its element_size of {:.3g} m; make "
                                        "the latter smaller, {:.1g} or less",
                                        name, largest, object.solid->element_size, largest / 4));
  } else if (findings.clean("/grid/dx") && largest < scene.grid.dx) {
    findings.add(pointer,
                 fmt::format("the {} is at most {:.3g} m wide, less than the grid spacing of {:.3g} m; make it "
                             "larger or /grid/dx smaller, {:.1g} or less",
                             name, largest, scene.grid.dx, largest / 4));
  }
}

/// What of a mesh is beyond what steps, numbers or memory bear.
class SolidCheck {
 public:
  SolidCheck(const Scene& scene, const ObjectSpec& object, std::string pointer, Findings& findings)
      : scene_(scene), object_(object), solid_(*object.solid), pointer_(std::move(pointer)), findings_(findings) {
    const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, object.shape);
    radius_ = std::sqrt(std::max(squared_norm(bounds.low), squared_norm(bounds.high)));
  }

  void tets() {
    constexpr double most = 5e8;  // four corners of each need numbers
    const double count = expected_tets(object_);
    if (count <= most || given_tets(object_.shape)) return;
    const double volume = std::visit([](const auto& shape) { return shape.volume(3); }, object_.shape);
    findings_.add(
        pointer_ + "/element_size",
        fmt::format("{} would make about {:.3g} tets of object '{}'; a mesh can have {:.2g}: raise it to {:.2g} "
                    "or more",
                    number_text(solid_.element_size), count, object_.name, most, 1.1 * std::cbrt(6 * volume / most)));
  }

  /// An explicit step is no longer than rho h^2 / (8 eta) (experiments_solids Q9). An implicit one takes any
  /// damping, until numbers no longer tell its forces from those that keep a body rigid.
  void damping() {
    const std::string key = pointer_ + (solid_.damping ? "/damping" : "/material");
    const auto material = static_cast<std::size_t>(object_.material);
    if (!findings_.clean(key) || !findings_.clean(pointer_ + "/material") || !findings_.clean("/materials") ||
        material >= scene_.materials.size())
      return;
    const double eta = solid_.damping.value_or(viscosity_of(scene_.materials[material].law));
    const double inertia = scene_.materials[material].density * solid_.element_size * solid_.element_size;
    const double most = scene_.time.implicit ? 1e12 * inertia / scene_.time.dt_max : inertia / (8 * scene_.time.dt_min);
    if (eta <= most) return;
    findings_.add(
        key,
        scene_.time.implicit
            ? fmt::format("{:.3g} Pa s make a rigid body of object '{}'; expected {:.2g} or less, or use a collider",
                          eta, object_.name, most)
            : fmt::format("with tets of {:.3g} m, {:.3g} Pa s allow steps of {:.2g} s only, less than time.dt_min; "
                          "lower it to less than {:.2g}, leave it out, raise element_size, or use integrator "
                          "\"implicit\"",
                          solid_.element_size, eta, inertia / (8 * eta), most));
  }

  void speed() {
    const double most = scene_.time.cfl * scene_.grid.dx / scene_.time.dt_min;
    report_speed("/velocity", "", length(object_.velocity), most);
    report_speed("/angular_velocity", "at its edge ", length(object_.angular_velocity) * radius_, most);
  }

  /// Coordinates are as exact as their distance from the origin allows; strains are differences of theirs.
  void place() {
    const bool in_motion = solid_.motion.keys().size() > 1;
    const std::string key = pointer_ + (in_motion ? "/motion" : "/at");
    if (!findings_.clean(key)) return;
    double farthest = 0;
    for (int k = 0; k < 3; ++k) farthest = std::max(farthest, std::abs(object_.placement.at[k]));
    farthest += radius_;
    constexpr double cells = 131072;  // what has numbers on either side of the origin
    const bool rounded = scene_.precision == "float" && solid_.element_size < scene_.grid.dx;
    const double finest = rounded ? solid_.element_size : scene_.grid.dx;
    if (farthest <= cells * finest) return;
    findings_.add(key,
                  fmt::format("object '{}' reaches {:.3g} m away from the origin, {:.2g} times the {}, which {}; "
                              "bring it closer than {:.2g} m, or raise {}",
                              object_.name, farthest, farthest / finest, rounded ? "size of its tets" : "grid spacing",
                              rounded ? "leaves coordinates in float too few digits for strains; use precision "
                                        "\"double\""
                                      : "is more than cells have numbers",
                              cells * finest, rounded ? "element_size" : "grid.dx"));
  }

 private:
  /// Also where its square is no number any more.
  static double length(const Vec<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }

  void report_speed(const char* key, const char* where, double speed, double most) {
    if (speed <= most || !findings_.clean(pointer_ + key)) return;
    findings_.add(
        pointer_ + key,
        fmt::format("object '{}' would cross a cell of {:.3g} m in less than time.dt_min: {}it moves with {:.3g} "
                    "m/s; expected {:.2g} or less",
                    object_.name, scene_.grid.dx, where, speed, most));
  }

  const Scene& scene_;
  const ObjectSpec& object_;
  const SolidSpec& solid_;
  std::string pointer_;
  Findings& findings_;
  double radius_ = 0;  ///< of the shape about its origin [m]
};

void check_solid(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings) {
  SolidCheck check(scene, object, pointer, findings);
  check.tets();
  if (!findings.clean("/time") || !findings.clean(pointer + "/element_size")) return;
  check.damping();
  if (!findings.clean("/grid/dx")) return;
  check.speed();
  check.place();
}

/// What curves ask of the grid: their stress goes to it as a slope of velocities.
void check_curves(const Scene& scene, const StrandsSpec& hair, const std::string& pointer, Findings& findings) {
  const GridSpec& grid = scene.grid;
  const char* const needs = "hair of method \"mpm\" needs {}, got {}; use that, or method \"hybrid\"";
  if (grid.kernel != "quadratic" && findings.clean("/grid/kernel"))
    findings.add("/grid/kernel", fmt::format(fmt::runtime(needs), "the quadratic kernel", grid.kernel));
  else if (grid.force != "mls" && findings.clean("/grid/force"))
    findings.add("/grid/force", fmt::format(fmt::runtime(needs), "force \"mls\"", grid.force));
  const TransferRule<double> rule = std::visit([](const auto& scheme) { return scheme.rule(); }, grid.transfer);
  if ((rule.flip > 0 || rule.poly_degree > 0) && findings.clean("/grid/transfer"))
    findings.add("/grid/transfer",
                 fmt::format(fmt::runtime(needs), "transfer \"apic\", \"rpic\" or \"pic\"",
                             std::visit([](const auto& scheme) { return scheme.name; }, grid.transfer)));
  const std::string key = pointer + (hair.on.empty() ? "/skin" : "/on");
  if (!hair.skin.empty() && findings.clean(key))
    findings.add(key, "curves cannot grow on a solid; use `motion`, or method \"hybrid\"");
  if (!scene.sinks.empty())
    findings.add(pointer + "/method",
                 "sinks take particles, and those of \"mpm\" hair are strands that need them all; use method "
                 "\"hybrid\", or remove the sinks");
}

/// Hair grows on what is there, and on its outside.
void check_grown_on(const Scene& scene, const StrandsSpec& hair, const std::string& pointer, Findings& findings) {
  const auto* scalp = std::get_if<ScalpSpec>(&hair.made.source);
  const std::string key = pointer + "/on", scalp_key = pointer + "/strands/scalp";
  if (hair.on.empty()) {
    if (scalp && !scalp->has_shape && findings.clean(scalp_key))
      findings.add(scalp_key,
                   "expected `shape`, whose surface strands grow on; or name the collider or solid that they "
                   "grow on: \"on\" of the object");
    return;
  }
  if (!findings.clean(key) || !findings.clean("/colliders")) return;
  std::vector<std::string> known;
  for (const ColliderSpec& collider : scene.colliders) {
    known.push_back(collider.name);
    if (collider.name != hair.on) continue;
    if (collider.inside)
      findings.add(key,
                   fmt::format("collider '{}' keeps material inside, and hair grows on the outside of a shape; name "
                               "another, or use `motion`",
                               hair.on));
    else if (scalp && !scalp->has_shape &&
             !std::visit([](const auto& shape) { return shape.bounds(); }, collider.shape).bounded)
      findings.add(key, fmt::format("collider '{}' has no end and no area to grow on; give the scalp a bounded `shape`",
                                    hair.on));
    return;
  }
  for (const ObjectSpec& other : scene.objects) {
    if (!other.is_hybrid()) continue;
    known.push_back(other.name);
    if (other.name == hair.on) return;
  }
  std::string hint = did_you_mean(hair.on, known);
  if (hint.empty()) hint = known.empty() ? "; the scene has neither" : "; there are " + quoted_list(known);
  findings.add(key, fmt::format("no collider, nor solid of method \"hybrid\", is called \"{}\"{}", hair.on, hint));
}

/// What strands cannot be, before they are made.
void check_hair(const Scene& scene, std::size_t index, const std::string& pointer, Findings& findings) {
  constexpr double most = 1.6e8;  // of 13 constants of each vertex every one needs a number: load_rods
  const ObjectSpec& object = scene.objects[index];
  const double count = expected_segments(object.strands->made);
  if (!(count <= most) && findings.clean(pointer + "/strands") && findings.clean(pointer + "/segment_length"))
    findings.add(pointer + "/strands",
                 fmt::format("object '{}' would have about {:.3g} segments, more than the {:.2g} there can be; ask for "
                             "fewer strands or longer segments",
                             object.name, count, most));
  const ObjectSpec& first = *std::find_if(scene.objects.begin(), scene.objects.end(), [&](const ObjectSpec& other) {
    return other.strands && other.is_curves() == object.is_curves();
  });
  if (object.is_curves()) check_curves(scene, *object.strands, pointer, findings);
  if (first.strands->scheme != object.strands->scheme && findings.clean(pointer + "/scheme"))
    findings.add(
        pointer + "/scheme",
        fmt::format("differs from that of object '{}'; strands of a scene advance in one way: give both the same",
                    first.name));
  const auto volume = std::find_if(scene.objects.begin(), scene.objects.end(), [](const ObjectSpec& other) {
    return other.strands && other.strands->method == HairMethod::mcadams;
  });
  if (object.strands->method == HairMethod::mcadams &&
      volume->strands->incompressibility != object.strands->incompressibility &&
      findings.clean(pointer + "/incompressibility"))
    findings.add(pointer + "/incompressibility",
                 fmt::format("differs from that of object '{}'; hair of a scene shares one volume: give both the same",
                             volume->name));
  check_grown_on(scene, *object.strands, pointer, findings);
  if (const std::string& skin = object.strands->skin; !skin.empty() && findings.clean(pointer + "/skin")) {
    const auto found = std::find_if(scene.objects.begin(), scene.objects.end(),
                                    [&](const ObjectSpec& other) { return other.name == skin && other.is_hybrid(); });
    if (found == scene.objects.end())
      findings.add(pointer + "/skin",
                   fmt::format("no object called '{}' is a solid of method \"hybrid\", whose surface "
                               "roots could go with; name one, or use `motion`",
                               skin));
  }
  const double speed = std::hypot(object.velocity[0], object.velocity[1], object.velocity[2]);
  const double fastest = scene.time.cfl * scene.grid.dx / scene.time.dt_min;
  if (findings.clean("/time") && findings.clean("/grid/dx") && findings.clean(pointer + "/velocity") && speed > fastest)
    findings.add(
        pointer + "/velocity",
        fmt::format("object '{}' would cross a cell of {:.3g} m in less than time.dt_min: it moves with {:.3g} "
                    "m/s; expected {:.2g} or less",
                    object.name, scene.grid.dx, speed, fastest));
}

/// The jet must be as wide as a particle, and no more can be asked of it than fits through.
template <int D>
void check_emitter(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings) {
  const Vec<double, 3> local = transpose(rotation_matrix(object.placement.rotation)) * object.velocity;
  Vec<double, D> along;
  for (int k = 0; k < D; ++k) along[k] = local[k];
  const Silhouette<D> outline(object.shape, length_and_direction(along).normal);
  const double spacing = scene.grid.dx / std::pow(object.particles_per_cell, 1.0 / D);
  double narrowest = outline.high()[0] - outline.low()[0];
  for (int k = 1; k < D - 1; ++k) narrowest = std::min(narrowest, outline.high()[k] - outline.low()[k]);
  if (narrowest < spacing) {
    findings.add(pointer + "/shape",
                 fmt::format("seen along the velocity it is {:.3g} m wide, less than the particle spacing of {:.3g} m; "
                             "make it wider or /grid/dx smaller",
                             narrowest, spacing));
    return;
  }
  if (!object.emission->volume_rate) return;
  const double speed = std::sqrt(squared_norm(object.velocity));
  if (*object.emission->volume_rate < 0.8 * outline.area(4) * speed) return;  // no need to look closer
  const double most = outline.area() * speed;
  if (*object.emission->volume_rate <= 1.001 * most) return;
  const bool by_mass = object.emission->rate_by_mass;
  const double density = by_mass ? scene.materials[static_cast<std::size_t>(object.material)].density : 1;
  findings.add(pointer + (by_mass ? "/mass_rate" : "/volume_rate"),
               fmt::format("at most {:.3g} {} fit through the shape at this velocity; raise the velocity, make the "
                           "shape wider or leave the rate out",
                           most * density, by_mass ? "kg/s" : "m^3/s"));
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
    if (findings.clean(pointer + "/type") && findings.clean(pointer + "/shape")) {
      if (scene.objects[i].strands) {
        check_hair(scene, i, pointer, findings);
        continue;
      }
      if (findings.clean(pointer + "/element_size"))
        check_object_shape(scene, scene.objects[i], pointer + "/shape", findings);
      const bool meshes = scene.objects[i].solid.has_value() && findings.clean(pointer + "/shape") &&
                          findings.clean(pointer + "/element_size");
      if (meshes) check_solid(scene, scene.objects[i], pointer, findings);
      const bool emits = scene.objects[i].emission.has_value() && findings.clean("/grid/dx") &&
                         findings.clean("/dimension") && findings.clean(pointer);
      if (emits && scene.dimension == 2) check_emitter<2>(scene, scene.objects[i], pointer, findings);
      if (emits && scene.dimension == 3) check_emitter<3>(scene, scene.objects[i], pointer, findings);
    }
  }
  for (std::size_t i = 0; i < scene.sinks.size(); ++i) {
    const std::string pointer = fmt::format("/sinks/{}/shape", i);
    if (findings.clean(pointer) && findings.clean("/grid/dx")) check_sink(scene, scene.sinks[i], pointer, findings);
  }
  for (const WriterEntry& writer : all_writers())
    if (writer.needs_tets && std::find(scene.output.formats.begin(), scene.output.formats.end(), writer.name) !=
                                 scene.output.formats.end()) {
      const bool any = std::any_of(scene.objects.begin(), scene.objects.end(),
                                   [](const ObjectSpec& object) { return object.solid.has_value(); });
      if (!any && findings.clean("/objects") && findings.clean("/output"))
        findings.add(
            "/output/formats",
            fmt::format("\"{}\" is for tets, and no object has any; use another format, such as \"vtk\"", writer.name));
    }
  check_friction(scene, findings);
  const bool takes = !scene.sinks.empty();
  for (std::size_t i = 0; takes && i < scene.objects.size(); ++i)
    if (scene.objects[i].is_updated_lagrangian())
      findings.add(
          fmt::format("/objects/{}/method", i),
          "sinks take particles, and those of \"updated_lagrangian\" are vertices of a mesh that needs them all; "
          "use method \"hybrid\" or \"mpm\", or remove the sinks");
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
