#include "tribo/matter/solids/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/matter/particles/amounts.h"
#include "tribo/matter/solids/amounts.h"
#include "tribo/matter/solids/checks.h"
#include "tribo/matter/solids/contact_samples.h"
#include "tribo/matter/solids/overlaps.h"
#include "tribo/matter/solids/read.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/scene/checks.h"
#include "tribo/setup/model.h"
#include "tribo/setup/seeds.h"

namespace tribo {

std::vector<ObjectType> SolidRoom::types() const {
  return {{"solid", "an elastic body that keeps its shape: a mesh of tets, or particles to compare with", read_solid}};
}

const char* SolidRoom::spatial(const ObjectSpec& object) const {
  return has_tets(object) ? "meshes of tets are three-dimensional; use method \"mpm\", or another type" : nullptr;
}

void SolidRoom::check(const Scene& scene, const ObjectSpec& object, const std::string& pointer,
                      Findings& findings) const {
  const bool sized = findings.clean(pointer + "/shape") && findings.clean(pointer + "/element_size");
  const SolidSpec* solid = object.as<SolidSpec>();
  if (sized)
    check_filled(scene, object, pointer + "/shape", findings,
                 solid != nullptr && !given_tets(object.shape) ? &solid->element_size : nullptr);
  if (solid == nullptr) return;
  check_pins(scene, *solid, pointer, findings);
  if (sized && findings.clean(pointer + "/shape")) check_solid(scene, object, pointer, findings);
  if (scene.time.implicit && !solid->updated_lagrangian && solid->grid_damping)
    findings.add(pointer + "/grid_damping",
                 "expected integrator \"symplectic\": implicit steps damp by themselves; remove one of the two");
  if (scene.time.implicit && solid->updated_lagrangian)
    findings.add(pointer + "/method",
                 "integrator \"implicit\" does not know \"updated_lagrangian\"; use method \"hybrid\" or \"mpm\", or "
                 "integrator \"symplectic\"");
  if (!scene.sinks.empty() && solid->updated_lagrangian)
    findings.add(
        pointer + "/method",
        "sinks take particles, and those of \"updated_lagrangian\" are vertices of a mesh that needs them all; "
        "use method \"hybrid\" or \"mpm\", or remove the sinks");
}

void SolidRoom::each_shape(const ObjectSpec& object, const ShapeVisitor& visit) const {
  if (const SolidSpec* solid = object.as<SolidSpec>())
    for (const PinSpec& pin : solid->pins) visit(pin.region);
}

bool SolidRoom::takes_tets(const ObjectSpec& object) const { return has_tets(object) && given_tets(object.shape); }
bool SolidRoom::has_tets(const ObjectSpec& object) const { return object.as<SolidSpec>() != nullptr; }

void SolidRoom::expect(const Scene& scene, Amounts& amounts) const {
  for (const ObjectSpec& object : scene.objects)
    check_sample_count(scene, object, expected_solids(scene, object).samples);
  amounts.of<SolidAmounts>() += expected_solids(scene);
}

void SolidRoom::seed(const Scene& scene, Seeds& seeds, std::vector<std::string>& /*warnings*/) const {
  seeds.of<SolidSeed>() = sample_solids(scene);
}

void SolidRoom::look(const Scene& scene, const Seeds& seeds, std::vector<std::string>& warnings) const {
  for (std::string& overlap : overlaps_of_meshes(scene, seeds.of<SolidSeed>())) warnings.push_back(std::move(overlap));
}

void SolidRoom::count(const Seeds& seeds, double dx, Amounts& amounts) const {
  amounts.of<SolidAmounts>() += amounts_of(seeds.of<SolidSeed>(), dx);
}

Outlay SolidRoom::outlay(const MemoryRules& rules, const Model& model, const Amounts& amounts) const {
  const SolidAmounts& solids = amounts.of<SolidAmounts>();
  const double real = rules.real, pack = 4 * real;  // of a node
  // Corners, inverse rest shape and rate of each tet; a quarter as many vertices, each with some twenty corners.
  double per_tet = 4 * pack + 12 * real + 10 * 4 + 0.25 * (12 * real + 5 * 4);
  if (model.time.implicit) per_tet += 45 * real + 0.25 * (7 * pack + 6 * real);
  // Collision particles: weights, places and order; and for the field they make with other bodies or particles, and for
  // those by direction in which a body meets itself, what each adds to the grid, impulses, and the sums at nodes with
  // their changes. A block of a field has about five cells of surface, of one by direction not two, where bodies are
  // large; kernels of a body as small as a cell reach six, and those of its six sides six each. Each meeting with
  // another body has a slot for every sample around, and small bodies have many neighbors.
  double per_sample = 14 * real + 72, per_surface_cell = 0, per_body = solids.bodies * real;  // friction by pairs
  const double sums = 64 * (32 + 3) * real;
  if (solids.bodies > 1 || amounts.of<ParticleAmounts>().count > 0) {
    per_sample += 36 * real + 4 + 4 * real * std::fmin(std::fmax(solids.bodies - 1, 0), 8);
    per_surface_cell += sums / 5;
    per_body += 6 * sums;
  }
  if (solids.self_contact) {
    per_sample += 55 * real + 80;
    per_surface_cell += sums / 1.7;
    per_body += 38 * sums;
  }
  Outlay outlay;
  outlay.bytes = solids.tets * per_tet + solids.samples * per_sample + solids.surface_cells * per_surface_cell +
                 solids.bodies * per_body;
  outlay.seed_bytes = 200 * solids.tets + 100 * solids.samples;
  outlay.countable = solids.tets < 5e8;
  if (solids.tets > 0)
    outlay.amount = fmt::format("{:.3g} tets with {:.3g} collision particles", solids.tets, solids.samples);
  outlay.remedy = "raise element_size, lower contact.samples_per_cell";
  return outlay;
}

}  // namespace tribo
