#include "tribo/matter/particles/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tribo/colliders/silhouette.h"
#include "tribo/core/errors.h"
#include "tribo/matter/particles/amounts.h"
#include "tribo/matter/particles/emission.h"
#include "tribo/matter/particles/sampling.h"
#include "tribo/matter/particles/seed.h"
#include "tribo/matter/particles/spec.h"
#include "tribo/scene/checks.h"
#include "tribo/scene/read_object.h"
#include "tribo/setup/initial_motion.h"
#include "tribo/setup/model.h"
#include "tribo/setup/seeds.h"

namespace tribo {
namespace {

void read_particles(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  read_shape(in, object.shape, "what is filled with particles; must be bounded");
  read_placement(in, object.placement);
  object.material = read_material_reference(in, materials);
  object.velocity = in.vector("velocity", "m/s", anything(), "at the start", Vec<double, 3>::zero());
  object.angular_velocity =
      in.vector("angular_velocity", "rad/s", anything(), "at the start, about `at`", Vec<double, 3>::zero());
  object.velocity_field = read_velocity_field(in, object.placement.at);
  read_filling(in, materials, object);
}

void read_emitter(ParamReader& in, const std::vector<MaterialSpec>* materials, ObjectSpec& object) {
  EmissionSpec emission;
  read_shape(in, object.shape,
             "the nozzle: particles enter on the side that `velocity` comes from; everything inside moves with "
             "`velocity` while the emitter works; must be bounded");
  read_placement(in, object.placement);
  object.material = read_material_reference(in, materials);
  object.velocity = in.vector("velocity", "m/s", anything(), "with which particles leave");
  const double speed2 = squared_norm(object.velocity);
  if (!(speed2 > 0 && std::isfinite(speed2))) {
    in.complain("velocity", "expected a velocity, got a vector whose length is 0 or too large");
    object.velocity = {{0, -1, 0}};
  }
  emission.volume_rate = in.open_number("volume_rate", "m^3/s", above(0),
                                        "volume given out per time; by default all that fits through the shape");
  const auto mass_rate =
      in.open_number("mass_rate", "kg/s", above(0), "mass given out per time, instead of `volume_rate`");
  if (mass_rate) {
    if (emission.volume_rate) in.complain("mass_rate", "contradicts `volume_rate`; remove one of the two");
    const bool known = materials && !materials->empty();
    emission.rate_by_mass = true;
    if (known) emission.volume_rate = *mass_rate / (*materials)[static_cast<std::size_t>(object.material)].density;
  }
  read_times(in, emission.from, emission.until);
  if (const auto most = in.open_number("max_volume", "m^3", above(0), "volume after which it ends; by default never"))
    emission.max_volume = *most;
  object.own = emission;
  read_filling(in, materials, object);
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
  if (!object.as<EmissionSpec>()->volume_rate) return;
  const double speed = std::sqrt(squared_norm(object.velocity));
  if (*object.as<EmissionSpec>()->volume_rate < 0.8 * outline.area(4) * speed) return;  // no need to look closer
  const double most = outline.area() * speed;
  if (*object.as<EmissionSpec>()->volume_rate <= 1.001 * most) return;
  const bool by_mass = object.as<EmissionSpec>()->rate_by_mass;
  const double density = by_mass ? scene.materials[static_cast<std::size_t>(object.material)].density : 1;
  findings.add(pointer + (by_mass ? "/mass_rate" : "/volume_rate"),
               fmt::format("at most {:.3g} {} fit through the shape at this velocity; raise the velocity, make the "
                           "shape wider or leave the rate out",
                           most * density, by_mass ? "kg/s" : "m^3/s"));
}

/// Filled with particles at the start.
bool is_filled(const ObjectSpec& object) { return !object.own.has_value(); }

/// Whether a point is further beyond a shape's surface than `depth`.
template <int D, class AnyShape>
bool is_beyond(const AnyShape& shape, const Vec<double, 3>& point, bool inside, double depth) {
  Vec<double, D> p;
  for (int k = 0; k < D; ++k) p[k] = point[k];
  bool beyond = false;
  shape.each_contact(p, inside, -depth, [&](const SurfacePoint<double, D>&) { beyond = true; });
  return beyond;
}

}  // namespace

std::vector<ObjectType> ParticleRoom::types() const {
  return {{"particles", "a shape filled with particles of one material: sand, fluid, soft solids", read_particles},
          {"emitter", "a nozzle that particles of one material come out of", read_emitter}};
}

void ParticleRoom::check(const Scene& scene, const ObjectSpec& object, const std::string& pointer,
                         Findings& findings) const {
  if (!findings.clean(pointer + "/shape")) return;
  check_filled(scene, object, pointer + "/shape", findings);
  if (object.as<EmissionSpec>() == nullptr || !findings.clean("/grid/dx") || !findings.clean("/dimension") ||
      !findings.clean(pointer))
    return;
  if (scene.dimension == 2)
    check_emitter<2>(scene, object, pointer, findings);
  else
    check_emitter<3>(scene, object, pointer, findings);
}

void ParticleRoom::expect(const Scene& scene, Amounts& amounts) const {
  const double cell = std::pow(scene.grid.dx, scene.dimension);
  ParticleAmounts& particles = amounts.of<ParticleAmounts>();
  for (const ObjectSpec& object : scene.objects) {
    if (is_filled(object))
      particles.count += expected_count(object.shape, scene.grid.dx, object.particles_per_cell, scene.dimension);
    if (object.as<EmissionSpec>() != nullptr)
      particles.emitted += emitted_volume(scene, object) / cell * object.particles_per_cell;
  }
}

void ParticleRoom::seed(const Scene& scene, Seeds& seeds, std::vector<std::string>& /*warnings*/) const {
  ParticleSeed& seed = seeds.of<ParticleSeed>();
  std::vector<Finding> findings;
  for (std::size_t o = 0; o < scene.objects.size(); ++o) {
    const ObjectSpec& object = scene.objects[o];
    if (!is_filled(object)) continue;
    const Pose pose{object.placement.at, rotation_matrix(object.placement.rotation)};
    const Samples samples = sample_shape(object.shape, pose, scene.grid.dx, object.particles_per_cell, object.sampling,
                                         object.seed, scene.dimension);
    if (samples.positions.empty())
      findings.push_back({scene.file, 0, 0, "/objects/" + std::to_string(o),
                          "object '" + object.name +
                              "' holds no particle: its shape is thinner than the particle spacing; lower grid.dx or "
                              "raise particles_per_cell"});
    const InitialMotion motion = motion_of(object);
    const double mass = scene.materials[static_cast<std::size_t>(object.material)].density * samples.volume_each;
    for (const Vec<double, 3>& x : samples.positions)
      seed.add(x, motion.velocity_at(x), mass, static_cast<std::int32_t>(o));
  }
  if (!findings.empty()) throw SceneError(std::move(findings));
}

/// Objects that begin inside colliders by more than half a cell: hardly ever what was meant.
void ParticleRoom::look(const Scene& scene, const Seeds& seeds, std::vector<std::string>& warnings) const {
  const ParticleSeed& seed = seeds.of<ParticleSeed>();
  for (const ColliderSpec& collider : scene.colliders) {
    const Pose pose = collider.motion.pose(0);
    const Mat<double, 3> to_local = transpose(pose.rotation);
    std::vector<std::int64_t> inside(scene.objects.size(), 0);
    std::visit(
        [&](const auto& shape) {
          for (std::size_t i = 0; i < seed.x.size(); ++i) {
            const Vec<double, 3> local = to_local * (seed.x[i] - pose.at);
            const bool deep = scene.dimension == 2 ? is_beyond<2>(shape, local, collider.inside, 0.5 * scene.grid.dx)
                                                   : is_beyond<3>(shape, local, collider.inside, 0.5 * scene.grid.dx);
            inside[static_cast<std::size_t>(seed.object[i])] += deep ? 1 : 0;
          }
        },
        collider.shape);
    for (std::size_t o = 0; o < inside.size(); ++o)
      if (inside[o] > 0)
        warnings.push_back(std::to_string(inside[o]) + " particles of object '" + scene.objects[o].name +
                           "' begin inside collider '" + collider.name + "'; move one of the two");
  }
}

void ParticleRoom::count(const Seeds& seeds, double /*dx*/, Amounts& amounts) const {
  amounts.of<ParticleAmounts>().count = static_cast<double>(seeds.of<ParticleSeed>().x.size());
}

Outlay ParticleRoom::outlay(const MemoryRules& rules, const Model& model, const Amounts& amounts) const {
  const ParticleAmounts& particles = amounts.of<ParticleAmounts>();
  const int D = model.dimension;
  const auto [cuda, real] = rules;
  const double pack = 4 * real;  // of a node
  const bool poly = model.transfer.poly_degree > 0;
  const bool general = poly || model.gradient_forces || model.kernel_nodes != 3;  // the gradient waits in a column
  const double modes = poly ? D * (std::pow(3.0, D) - 1 - D) : 0;
  const double columns = real * (2 * D + 2 * D * D + 2 + D * (D + 1) / 2.0 + 1 + modes + (general ? D * D : 0)) + 8;
  const double nodes = std::pow(4.0, D);  // of a grid block; and the cells of one
  double per_particle = columns;
  double per_block = 2 * nodes * pack;  // a block of particles has about two of the grid
  const double sorting = sorting_bytes(real);
  const double arena = std::pow(model.kernel_nodes + (cuda ? 3.0 : 5.0), D);
  if (cuda && !model.time.implicit) {
    const double records = D == 3 ? 8 : 5;                    // of four numbers, packed for kernels
    const double copy = records * pack + (2 + modes) * real;  // and history, and PolyPIC's modes
    const bool sorts_again = !model.emitters.empty() || !model.sinks.empty();
    per_particle += 2 * copy + 2 * 4 + 4 + 1 + (sorts_again ? sorting : 0);  // two copies, id and object, order, key
    per_block += arena * pack + packed_block_bytes(D);
  } else {
    per_particle += sorting;
    per_block += arena * pack;
  }
  if (model.time.implicit) {  // a tangent for each particle, and six vectors over the grid
    per_particle += real * D * D * (D * D + 1) / 2.0;
    per_block += 2 * nodes * (6 * pack + 4);
  }
  per_particle += 3 * real;                                              // what a frame shows beside the state
  if (model.transfer.flip > 0) per_block += (arena + 2 * nodes) * pack;  // before forces act
  // A block holds at most 4^D cells of particles, in thin bodies far fewer. A quarter-full block is a fair guess before
  // the particles exist.
  const double blocks = std::fmax(particles.count - particles.on_lines, 0) / (0.25 * 8 * nodes);
  Outlay outlay;
  outlay.bytes = particles.count * per_particle + blocks * per_block;
  outlay.seed_bytes = 100 * particles.count;
  outlay.countable = particles.count + particles.emitted < 2e9;
  if (particles.count + particles.emitted > 0)
    outlay.amount = fmt::format("{:.3g} particles", particles.count + particles.emitted);
  outlay.remedy = "raise grid.dx, lower particles_per_cell";
  return outlay;
}

}  // namespace tribo
