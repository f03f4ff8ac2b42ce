#include "tribo/matter/rigid/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tribo/matter/rigid/amounts.h"
#include "tribo/matter/rigid/feelers.h"
#include "tribo/matter/rigid/overlaps.h"
#include "tribo/matter/rigid/read.h"
#include "tribo/matter/rigid/seed.h"
#include "tribo/matter/rigid/spec.h"
#include "tribo/scene/checks.h"
#include "tribo/setup/seeds.h"

namespace tribo {
namespace {

/// Of bodies of a shape before they are made. Feelers of meshes and compounds take time to find: those of a smooth
/// surface are half a cell apart, others on edges and faces a cell.
void add_amounts(const Shape<double>& shape, double bodies, double dx, RigidAmounts& amounts) {
  double feelers = 0, edges = 0;
  const bool is_mesh = std::holds_alternative<Mesh>(shape);
  if (is_mesh || std::holds_alternative<Compound>(shape)) {
    const Bounds bounds = std::visit([](const auto& s) { return s.bounds(); }, shape);
    const Vec<double, 3> size = bounds.high - bounds.low;
    const double cells = 2 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]) / (dx * dx);
    edges = std::min<double>(most_feelers, is_mesh ? 4 * cells : cells);
    feelers = std::min<double>(most_feelers, is_mesh ? 4 * cells : 2 * cells);
  } else {
    const std::vector<RigidSample> all = feelers_of(shape, dx);
    feelers = static_cast<double>(all.size());
    for (const RigidSample& sample : all) edges += sample.feeler != Feeler::face ? 1 : 0;
  }
  amounts.bodies += bodies;
  amounts.feelers += feelers;
  amounts.felt += bodies * feelers;
  amounts.edges += bodies * edges;
}

}  // namespace

std::vector<ObjectType> RigidRoom::types() const {
  return {{"rigid", "a body that does not deform, or several of one shape", read_rigid}};
}

const char* RigidRoom::spatial(const ObjectSpec&) const {
  return "rigid bodies are three-dimensional; use dimension 3, or another type";
}

void RigidRoom::check(const Scene& scene, const ObjectSpec& object, const std::string& pointer,
                      Findings& findings) const {
  for (const ObjectSpec& other : scene.objects)
    if (const auto* rigid = other.as<RigidSpec>()) {
      if (rigid->printed != object.as<RigidSpec>()->printed && findings.clean(pointer + "/contact"))
        findings.add(pointer + "/contact",
                     fmt::format("differs from that of object '{}'; rigid bodies of a scene touch "
                                 "each other in one way: give both the same",
                                 other.name));
      break;
    }
  if (!findings.clean(pointer + "/shape")) return;
  const double any_size = 0;
  check_filled(scene, object, pointer + "/shape", findings, &any_size);
}

void RigidRoom::expect(const Scene& scene, Amounts& amounts) const {
  for (const ObjectSpec& object : scene.objects)
    if (const auto* spec = object.as<RigidSpec>())
      add_amounts(object.shape, static_cast<double>(copies_of(*spec).size()), scene.grid.dx,
                  amounts.of<RigidAmounts>());
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
  std::vector<double> edges;
  for (const RigidForm& form : seed.forms)
    edges.push_back(static_cast<double>(
        std::count_if(seed.samples.begin() + form.samples.begin, seed.samples.begin() + form.samples.end,
                      [](const RigidSample& sample) { return sample.feeler != Feeler::face; })));
  rigid.bodies += static_cast<double>(seed.bodies.size());
  rigid.feelers += static_cast<double>(seed.samples.size());
  rigid.vertices += static_cast<double>(seed.vertices.size());
  for (const RigidBody& body : seed.bodies) {
    const Run& samples = seed.forms[static_cast<std::size_t>(body.form)].samples;
    rigid.felt += samples.end - samples.begin;
    rigid.edges += edges[static_cast<std::size_t>(body.form)];
  }
}

Outlay RigidRoom::outlay(const MemoryRules&, const Model&, const Amounts& amounts) const {
  const RigidAmounts& rigid = amounts.of<RigidAmounts>();
  Outlay outlay;
  if (rigid.bodies > 0)
    outlay.bytes = 100e3 + 800 * rigid.bodies + 80 * rigid.edges + 1000 * rigid.rows();
  outlay.seed_bytes = 300 * rigid.bodies + 72 * rigid.feelers + 60 * rigid.vertices;
  if (rigid.bodies > 0) outlay.amount = fmt::format("{:.0f} rigid bodies", rigid.bodies);
  // Feelers of two near each other have numbers of their own, and those have sums.
  outlay.countable = 8 * rigid.felt < 2e9;
  outlay.remedy = "raise grid.dx, take fewer rigid bodies";
  return outlay;
}

}  // namespace tribo
