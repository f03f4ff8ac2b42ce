#include "tribo/matter/strands/checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tribo/matter/rigid/spec.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/matter/strands/spec.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

/// What curves ask of the grid: their stress goes to it as a slope of velocities.
void check_curves(const Scene& scene, const StrandsSpec& hair, const std::string& pointer, Findings& findings) {
  const GridSpec& grid = scene.grid;
  if (scene.time.implicit)
    findings.add(pointer + "/method",
                 "integrator \"implicit\" does not know curves; use method \"hybrid\", or integrator \"symplectic\"");
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

/// Hair as a volume is not on the grid where particles meet hair.
void check_beside_volume(const Scene& scene, const std::string& pointer, Findings& findings) {
  const auto other = std::find_if(scene.objects.begin(), scene.objects.end(),
                                  [](const ObjectSpec& object) { return object.touch == Touch::particles; });
  if (other != scene.objects.end() && findings.clean(pointer + "/method"))
    findings.add(
        pointer + "/method",
        fmt::format("hair of method \"mcadams\" is not on the grid where hair meets particles, and object '{}' "
                    "would pass through it; use method \"hybrid\", or remove one of the two",
                    other->name));
}

/// Hair grows on what is there, and on its outside.
void check_grown_on(const Scene& scene, const StrandsSpec& hair, const std::string& pointer, Findings& findings) {
  const auto* scalp = std::get_if<ScalpSpec>(&hair.made.source);
  const std::string key = pointer + "/on", scalp_key = pointer + "/strands/scalp";
  if (hair.on.empty()) {
    if (scalp && !scalp->has_shape && findings.clean(scalp_key))
      findings.add(scalp_key,
                   "expected `shape`, whose surface strands grow on; or name the collider, body or solid that they "
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
    const auto* rigid = other.as<RigidSpec>();
    if (hybrid_mesh(other) == nullptr && rigid == nullptr) continue;
    known.push_back(other.name);
    if (other.name != hair.on) continue;
    if (rigid != nullptr && (!rigid->copies.empty() || rigid->array))
      findings.add(key, fmt::format("'{}' is several bodies, and hair grows on one; give it an object of its own",
                                    hair.on));
    return;
  }
  std::string hint = did_you_mean(hair.on, known);
  if (hint.empty()) hint = known.empty() ? "; the scene has none" : "; there are " + quoted_list(known);
  findings.add(key, fmt::format("no collider, nor rigid body, nor solid of method \"hybrid\", is called \"{}\"{}", hair.on, hint));
}

}  // namespace

void check_hair(const Scene& scene, const ObjectSpec& object, const std::string& pointer, Findings& findings) {
  constexpr double most = 1.6e8;  // of 13 constants of each vertex every one needs a number: load_rods
  const StrandsSpec& hair = *object.as<StrandsSpec>();
  const double count = expected_segments(hair.made);
  if (!(count <= most) && findings.clean(pointer + "/strands") && findings.clean(pointer + "/segment_length"))
    findings.add(pointer + "/strands",
                 fmt::format("object '{}' would have about {:.3g} segments, more than the {:.2g} there can be; ask for "
                             "fewer strands or longer segments",
                             object.name, count, most));
  const ObjectSpec& first = *std::find_if(scene.objects.begin(), scene.objects.end(), [&](const ObjectSpec& other) {
    const auto* strands = other.as<StrandsSpec>();
    return strands != nullptr && (curves_of(other) != nullptr) == (curves_of(object) != nullptr);
  });
  if (curves_of(object) != nullptr) check_curves(scene, hair, pointer, findings);
  if (first.as<StrandsSpec>()->scheme != hair.scheme && findings.clean(pointer + "/scheme"))
    findings.add(
        pointer + "/scheme",
        fmt::format("differs from that of object '{}'; strands of a scene advance in one way: give both the same",
                    first.name));
  const auto volume = std::find_if(scene.objects.begin(), scene.objects.end(), [](const ObjectSpec& other) {
    const auto* strands = other.as<StrandsSpec>();
    return strands != nullptr && strands->method == HairMethod::mcadams;
  });
  if (hair.method == HairMethod::mcadams && volume->as<StrandsSpec>()->incompressibility != hair.incompressibility &&
      findings.clean(pointer + "/incompressibility"))
    findings.add(pointer + "/incompressibility",
                 fmt::format("differs from that of object '{}'; hair of a scene shares one volume: give both the same",
                             volume->name));
  if (hair.method == HairMethod::mcadams) check_beside_volume(scene, pointer, findings);
  check_grown_on(scene, hair, pointer, findings);
  if (const std::string& skin = hair.skin; !skin.empty() && findings.clean(pointer + "/skin")) {
    const auto found = std::find_if(scene.objects.begin(), scene.objects.end(), [&](const ObjectSpec& other) {
      return other.name == skin && (hybrid_mesh(other) != nullptr || other.as<RigidSpec>() != nullptr);
    });
    if (found == scene.objects.end())
      findings.add(pointer + "/skin",
                   fmt::format("no object called '{}' is a rigid body or a solid of method \"hybrid\", whose "
                               "surface roots could go with; name one, or use `motion`",
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

}  // namespace tribo
