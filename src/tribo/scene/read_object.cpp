#include "tribo/scene/read_object.h"

#include <utility>

#include "tribo/scene/look.h"
#include "tribo/scene/presets.h"
#include "tribo/scene/suggest.h"

namespace tribo {
namespace {

const std::vector<EnumWord<Sampling>> samplings{
    {{"jittered", "a lattice with each point moved at random within its own cell"}, Sampling::jittered},
    {{"poisson", "random with a smallest distance: no lattice directions; slower to set up"}, Sampling::poisson}};

}  // namespace

std::optional<FieldSpec> read_velocity_field(ParamReader& in, const Vec<double, 3>& at) {
  std::optional<FieldSpec> spec;
  Alternatives fields{"field", {}, false};
  each_alternative(static_cast<const VelocityField*>(nullptr), [&]<class T>() {
    fields.all.push_back({T::name, T::doc, [&](ParamReader& inner) {
                            spec = FieldSpec{T::read(inner), at};
                            const auto center = inner.open_vector("center", "m", anything(),
                                                                  "where the field has its center; by default `at`");
                            if (center) spec->center = *center;
                          }});
  });
  in.one_of("velocity_field", fields, "at the start, in addition to `velocity` and `angular_velocity`");
  return spec;
}

int find_material(ParamReader& in, const std::string& name, const std::vector<MaterialSpec>* materials) {
  if (!materials) return 0;
  std::vector<std::string> known;
  for (const MaterialSpec& material : *materials) {
    if (material.name == name) return static_cast<int>(known.size());
    known.push_back(material.name);
  }
  if (!in.describing()) {
    for (const std::string& preset : preset_names()) known.push_back(preset);
    std::string hint = did_you_mean(name, known);
    if (hint.empty()) hint = "; there are " + quoted_list(known);
    in.complain("material", "no material or preset is called \"" + name + "\"" + hint);
  }
  return 0;
}

int read_material_reference(ParamReader& in, const std::vector<MaterialSpec>* materials) {
  return find_material(in, in.text("material", "name of an entry of `materials`, or of a preset"), materials);
}

void read_filling(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  object.particles_per_cell =
      in.number("particles_per_cell", "1", within(1, 1000), "average number of particles in a grid cell", 8);
  object.sampling = enum_choice(in, "sampling", samplings, "how particles are placed", Sampling::jittered);
  object.seed = in.integer("seed", within(0, 4294967295.0), "start of the random placement", 0);
  const bool known = materials && !materials->empty();
  object.look = read_look(in, known ? (*materials)[static_cast<std::size_t>(object.material)].look : Look{});
}

bool read_keyframes(ParamReader& in, const char* key, const char* doc, std::vector<Keyframe>& keys) {
  bool in_order = true;
  in.list(key, doc, false, [&](ParamReader& entry, const std::string&) {
    Keyframe frame;
    frame.time = entry.number("time", "s", anything(), "when; later than the keyframe before");
    if (!keys.empty() && !(frame.time > keys.back().time)) {
      in_order = false;
      entry.complain("time", "expected a time later than that of the keyframe before");
    }
    read_placement(entry, frame);
    keys.push_back(frame);
  });
  if (in.describing()) keys.clear();
  return in_order;
}

bool read_motion_or_placement(ParamReader& in, const char* doc, const char* what, Motion& motion) {
  std::vector<Keyframe> keys;
  const bool in_order = read_keyframes(in, "motion", doc, keys);
  const bool moves = !keys.empty();
  for (const char* key : {"at", "rotation"}) {
    if (moves && in.has(key)) {
      in.complain(key, std::string("contradicts `motion`, whose keyframes say where the ") + what +
                           " is; remove one of the two");
    }
  }
  Keyframe fixed;
  if (!moves || in.has("at") || in.has("rotation")) read_placement(in, fixed);
  if (!moves) {
    motion = Motion({fixed});
  } else if (in_order) {
    motion = Motion(std::move(keys));
  }
  return moves;
}

void read_times(ParamReader& in, double& from, double& until) {
  from = in.number("from", "s", at_least(0), "when it begins", 0);
  const auto end = in.open_number("until", "s", above(0), "when it ends; by default never");
  if (end && !(*end > from)) in.complain("until", "expected a time later than `from`");
  if (end) until = *end;
}

}  // namespace tribo
