#include "tribo/matter/solids/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "tribo/matter/rigid/spec.h"
#include "tribo/matter/solids/expected_tets.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/scene/json_document.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

std::string number_text(double value) { return number_json(value).dump(); }

/// What of a mesh is beyond what steps, numbers or memory bear.
class SolidCheck {
 public:
  SolidCheck(const Scene& scene, const ObjectSpec& object, std::string pointer, Findings& findings)
      : scene_(scene),
        object_(object),
        solid_(*object.as<SolidSpec>()),
        pointer_(std::move(pointer)),
        findings_(findings) {
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

}  // namespace

void check_pins(const Scene& scene, const SolidSpec& solid, const std::string& pointer, Findings& findings) {
  for (std::size_t p = 0; p < solid.pins.size(); ++p) {
    const std::string& name = solid.pins[p].body;
    const std::string key = fmt::format("{}/pins/{}/body", pointer, p);
    if (name.empty() || !findings.clean(key)) continue;
    if (solid.updated_lagrangian) {
      findings.add(key, "vertices that are particles go with no body; use method \"hybrid\", or `motion`");
      continue;
    }
    std::vector<std::string> known;
    const RigidSpec* found = nullptr;
    for (const ObjectSpec& object : scene.objects)
      if (const auto* rigid = object.as<RigidSpec>()) {
        known.push_back(object.name);
        if (object.name == name) found = rigid;
      }
    if (found == nullptr) {
      std::string hint = did_you_mean(name, known);
      if (hint.empty()) hint = known.empty() ? "; the scene has none" : "; there are " + quoted_list(known);
      findings.add(key, fmt::format("no rigid object is called \"{}\"{}", name, hint));
    } else if (copies_of(*found).size() > 1) {
      findings.add(
          key, fmt::format("\"{}\" is several bodies, and vertices go with one; give it an object of its own", name));
    } else if (scene.time.implicit && !found->kinematic) {
      // The solve holds no vertex that others move, and with what it leaves of forces there a body would not be held.
      findings.add(key,
                   fmt::format("implicit steps do not let \"{}\" bear what pins pull; use integrator \"symplectic\", "
                               "or give the body `motion`",
                               name));
    }
  }
}

void check_solid(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings) {
  SolidCheck check(scene, object, pointer, findings);
  check.tets();
  if (!findings.clean("/time") || !findings.clean(pointer + "/element_size")) return;
  check.damping();
  if (!findings.clean("/grid/dx")) return;
  check.speed();
  check.place();
}

}  // namespace tribo
