#include "tribo/matter/beads/room.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/matter/beads/seed.h"
#include "tribo/scene/findings.h"
#include "tribo/scene/read_object.h"
#include "tribo/setup/seeds.h"

namespace tribo {
namespace {

struct BeadSpec {
  std::int64_t beads = 0;
  Vec<double, 3> end = Vec<double, 3>::zero();  ///< from the first bead to the last [m]
  double mass = 0;                              ///< of each [kg]
  double stiffness = 0;                         ///< of each spring [N/m]
  bool hold_first = true;
};

struct BeadAmounts {
  double beads = 0;
};

void read_beads(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  BeadSpec spec;
  spec.beads = in.integer("beads", within(2, 1e6), "how many");
  read_placement(in, object.placement);
  spec.end = in.vector("end", "m", anything(), "from the first bead to the last");
  spec.mass = in.number("mass", "kg", above(0), "of each bead");
  spec.stiffness = in.number("stiffness", "N/m", above(0), "of the springs between them");
  spec.hold_first = in.flag("hold_first", "the first bead stays where it is", true);
  object.material = read_material_reference(in, materials);
  object.look = read_look(in, object.look);
  object.shape = Box<double>{2.0 * spec.end};
  object.touch = Touch::nothing;
  object.own = spec;
}

}  // namespace

std::vector<ObjectType> BeadRoom::types() const {
  return {{"beads", "points on springs, to show what a kind of matter takes", read_beads}};
}

const char* BeadRoom::spatial(const ObjectSpec&) const { return "beads are three-dimensional; set dimension to 3"; }

void BeadRoom::check(const Scene&, const ObjectSpec& object, const std::string& pointer, Findings& findings) const {
  if (findings.clean(pointer + "/end") && squared_norm(object.as<BeadSpec>()->end) == 0)
    findings.add(pointer + "/end", "expected a length, got 0: springs need one");
}

void BeadRoom::expect(const Scene& scene, Amounts& amounts) const {
  for (const ObjectSpec& object : scene.objects)
    if (const auto* spec = object.as<BeadSpec>()) amounts.of<BeadAmounts>().beads += static_cast<double>(spec->beads);
}

void BeadRoom::seed(const Scene& scene, Seeds& seeds, std::vector<std::string>& /*warnings*/) const {
  BeadSeed& seed = seeds.of<BeadSeed>();
  for (std::size_t o = 0; o < scene.objects.size(); ++o) {
    const auto* spec = scene.objects[o].as<BeadSpec>();
    if (spec == nullptr) continue;
    const Keyframe& place = scene.objects[o].placement;
    const Vec<double, 3> step =
        rotation_matrix(place.rotation) * ((1.0 / static_cast<double>(spec->beads - 1)) * spec->end);
    const double length = std::sqrt(squared_norm(step));
    BeadRow row{static_cast<int>(o), {static_cast<std::int32_t>(seed.x.size())}, 0.2 * length};
    for (std::int64_t i = 0; i < spec->beads; ++i) {
      seed.x.push_back(place.at + static_cast<double>(i) * step);
      seed.mass.push_back(i == 0 && spec->hold_first ? 0 : spec->mass);
      seed.stiffness.push_back(i + 1 < spec->beads ? spec->stiffness : 0);
      seed.length.push_back(length);
    }
    row.beads.end = static_cast<std::int32_t>(seed.x.size());
    seed.rows.push_back(row);
  }
}

void BeadRoom::count(const Seeds& seeds, double /*dx*/, Amounts& amounts) const {
  amounts.of<BeadAmounts>().beads = static_cast<double>(seeds.of<BeadSeed>().x.size());
}

Outlay BeadRoom::outlay(const MemoryRules& rules, const Model&, const Amounts& amounts) const {
  const double beads = amounts.of<BeadAmounts>().beads;
  Outlay outlay;
  outlay.bytes = 12 * rules.real * beads;
  outlay.seed_bytes = 48 * beads;
  if (beads > 0) outlay.amount = fmt::format("{:.3g} beads", beads);
  outlay.remedy = "ask for fewer beads";
  return outlay;
}

}  // namespace tribo
