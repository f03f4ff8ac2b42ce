#include "tribo/matter/rigid/room.h"

#include <fmt/format.h>

#include <utility>

#include "tribo/matter/rigid/amounts.h"
#include "tribo/matter/rigid/overlaps.h"
#include "tribo/matter/rigid/read.h"
#include "tribo/matter/rigid/seed.h"
#include "tribo/matter/rigid/spec.h"
#include "tribo/scene/checks.h"
#include "tribo/setup/seeds.h"

namespace tribo {

std::vector<ObjectType> RigidRoom::types() const {
  return {{"rigid", "a body that does not deform, or several of one shape", read_rigid}};
}

const char* RigidRoom::spatial(const ObjectSpec&) const {
  return "rigid bodies are three-dimensional; use dimension 3, or another type";
}

void RigidRoom::check(const Scene& scene, const ObjectSpec& object, const std::string& pointer,
                      Findings& findings) const {
  if (!findings.clean(pointer + "/shape")) return;
  const double any_size = 0;
  check_filled(scene, object, pointer + "/shape", findings, &any_size);
}

void RigidRoom::expect(const Scene& scene, Amounts& amounts) const {
  RigidAmounts& rigid = amounts.of<RigidAmounts>();
  for (const ObjectSpec& object : scene.objects)
    if (const auto* spec = object.as<RigidSpec>()) {
      const auto copies = static_cast<double>(copies_of(*spec).size());
      rigid.bodies += copies;
    }
}

void RigidRoom::seed(const Scene& scene, Seeds& seeds, std::vector<std::string>& warnings) const {
  seeds.of<RigidSeed>() = make_rigid_bodies(scene, seeds, warnings);
}

void RigidRoom::look(const Scene& scene, const Seeds& seeds, std::vector<std::string>& warnings) const {
  for (std::string& overlap : overlaps_of_bodies(scene, seeds)) warnings.push_back(std::move(overlap));
}

void RigidRoom::count(const Seeds& seeds, double /*dx*/, Amounts& amounts) const {
  const RigidSeed& seed = seeds.of<RigidSeed>();
  RigidAmounts& rigid = amounts.of<RigidAmounts>();
  rigid.bodies += static_cast<double>(seed.bodies.size());
  rigid.feelers += static_cast<double>(seed.samples.size());
  rigid.vertices += static_cast<double>(seed.vertices.size());
  for (const RigidBody& body : seed.bodies) {
    const Run& samples = seed.forms[static_cast<std::size_t>(body.form)].samples;
    rigid.felt += samples.end - samples.begin;
  }
}

Outlay RigidRoom::outlay(const MemoryRules&, const Model&, const Amounts& amounts) const {
  const RigidAmounts& rigid = amounts.of<RigidAmounts>();
  Outlay outlay;
  outlay.bytes = 600 * rigid.bodies + 80 * rigid.feelers + 120 * rigid.felt;
  outlay.seed_bytes = 300 * rigid.bodies + 72 * rigid.feelers + 60 * rigid.vertices;
  if (rigid.bodies > 0) outlay.amount = fmt::format("{:.0f} rigid bodies", rigid.bodies);
  outlay.remedy = "raise grid.dx";
  return outlay;
}

}  // namespace tribo
