#include "tribo/matter/strands/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/matter/particles/amounts.h"
#include "tribo/matter/strands/amounts.h"
#include "tribo/matter/strands/checks.h"
#include "tribo/matter/strands/hair.h"
#include "tribo/matter/strands/places.h"
#include "tribo/matter/strands/read_hair.h"
#include "tribo/matter/strands/spec.h"
#include "tribo/mesh/block_count.h"
#include "tribo/models/all.h"
#include "tribo/setup/model.h"
#include "tribo/setup/seeds.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

constexpr double block_cells = 4;  ///< along the edge of a block of the grid

/// Everything that asks for an object's material finds one: hair that names none has its own.
void add_hair_materials(Scene& scene) {
  for (ObjectSpec& object : scene.objects) {
    const auto* hair = object.as<StrandsSpec>();
    if (hair == nullptr || hair->has_material) continue;
    const RodMaterial& rod = hair->material;
    const double E = rod.youngs_modulus, nu = rod.poisson_ratio;
    MaterialSpec material;
    material.name = object.name;
    material.density = rod.density;
    FixedCorotated<double> law{};
    law.mu = E / (2 * (1 + nu));
    law.lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    material.law = law;
    material.look = object.look;
    object.material = static_cast<int>(scene.materials.size());
    scene.materials.push_back(std::move(material));
  }
}

/// The box around all hair that is a volume, in cells.
class VolumeBox {
 public:
  void add(const Vec3& x, const Vec3& half = Vec3::zero()) {
    for (int k = 0; k < 3; ++k) {
      low_[k] = std::min(low_[k], x[k] - half[k]);
      high_[k] = std::max(high_[k], x[k] + half[k]);
    }
  }
  double cells(double dx) const {
    if (!(low_[0] <= high_[0])) return 0;
    double product = 1;
    for (int k = 0; k < 3; ++k) product *= (high_[k] - low_[k]) / dx + margin;
    return product;
  }

 private:
  static constexpr double margin = 5;  ///< of cells at both sides, together
  Vec3 low_ = Vec3::filled(std::numeric_limits<double>::max()), high_ = -low_;
};

}  // namespace

std::vector<ObjectType> StrandRoom::types() const {
  return {{"hair", "strands, each an elastic rod: hair, fur, fibers", read_hair}};
}

void StrandRoom::complete(Scene& scene) const {
  add_hair_materials(scene);
  place_hair(scene);
  refine_meshes_at_hair(scene);
}

const char* StrandRoom::spatial(const ObjectSpec&) const {
  return "strands are three-dimensional; set dimension to 3, or use another type";
}

void StrandRoom::check(const Scene& scene, const ObjectSpec& object, const std::string& pointer,
                       Findings& findings) const {
  if (findings.clean(pointer + "/shape")) check_hair(scene, object, pointer, findings);
}

void StrandRoom::each_shape(const ObjectSpec& object, const ShapeVisitor& visit) const {
  const auto* scalp = std::get_if<ScalpSpec>(&object.as<StrandsSpec>()->made.source);
  if (scalp == nullptr) return;
  if (scalp->has_shape) visit(scalp->shape);  // else it is that of what it grows on
  if (scalp->region) visit(scalp->region->shape);
}

std::vector<NamedBytes> StrandRoom::files(const ObjectSpec& object) const {
  const auto* file = std::get_if<StrandFileSpec>(&object.as<StrandsSpec>()->made.source);
  return file != nullptr ? std::vector{file->copy()} : std::vector<NamedBytes>{};
}

void StrandRoom::expect(const Scene& scene, Amounts& amounts) const {
  StrandAmounts& strands = amounts.of<StrandAmounts>();
  VolumeBox volume;
  for (const ObjectSpec& object : scene.objects) {
    const StrandsSpec* hair = rods_of(object);
    if (hair == nullptr) continue;
    const double segments = expected_segments(hair->made);
    strands.segments += segments;
    if (hair->method == HairMethod::hybrid && scene.strand_grid.on) {
      strands.grid_segments += segments;
      strands.blocks += expected_blocks(hair->made, block_cells * scene.grid.dx);
    }
    if (hair->method != HairMethod::mcadams) continue;
    const Mat<double, 3> turn = rotation_matrix(object.placement.rotation);
    const Vec3 half = expected_half_size(hair->made);
    Vec3 turned = Vec3::zero();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) turned[i] += std::abs(turn(i, j)) * half[j];
    volume.add(object.placement.at, turned);
  }
  strands.volume_cells = volume.cells(scene.grid.dx);
  strands.contact = scene.strand_contact.form != StrandContactSpec::Form::none;
}

void StrandRoom::seed(const Scene& scene, Seeds& seeds, std::vector<std::string>& warnings) const {
  seeds.of<RodSeed>() = sample_hair(scene, seeds.of<SolidSeed>(), seeds.of<RigidSeed>(), warnings);
}

void StrandRoom::count(const Seeds& seeds, double dx, Amounts& amounts) const {
  const RodSeed& rods = seeds.of<RodSeed>();
  StrandAmounts& strands = amounts.of<StrandAmounts>();
  BlockCount blocks(block_cells * dx);
  VolumeBox volume;
  for (const RodBody& body : rods.bodies) {
    strands.segments += segments_of(body);
    if (body.wave_speed > 0) strands.grid_segments += segments_of(body);
    for (auto i = static_cast<std::size_t>(body.vertices.begin); i < static_cast<std::size_t>(body.vertices.end); ++i) {
      if (body.wave_speed > 0) blocks.add(rods.x[i]);
      if (body.method == HairMethod::mcadams) volume.add(rods.x[i]);
    }
  }
  strands.blocks = blocks.count();
  strands.volume_cells = volume.cells(dx);
  strands.contact = rods.contact.form != StrandContactSpec::Form::none;
}

Outlay StrandRoom::outlay(const MemoryRules& rules, const Model& model, const Amounts& amounts) const {
  const StrandAmounts& strands = amounts.of<StrandAmounts>();
  const double real = rules.real;
  double per_segment = rod_bytes(rules.cuda, real);
  // Contact between them: boxes and their places in pads, impulses of vertices; and one pair for each segment, with its
  // impulse and the lists by segments. Hair that rubs has some pairs, hair that flies none.
  if (strands.contact) per_segment += (6 + 13) * real + 160 + (16 + 11) * real + 56;
  if (!model.colliders.empty()) per_segment += 39 * real + 8;
  // On their own grid: columns of a particle, a copy of what a step changes, sorting; and for each block that strands
  // are in a pair of arenas, before and after forces act.
  const double columns = 33 + 29 + (amounts.of<ParticleAmounts>().count > 0 ? 3 : 0);
  const double per_grid_segment = columns * real + 2 * 4 + sorting_bytes(real);
  // As a volume: what is staggered and solved for on a window, and the multigrid of its pressure.
  const double per_volume_cell = 50 * real + 40;
  Outlay outlay;
  outlay.bytes = strands.segments * per_segment + strands.grid_segments * per_grid_segment +
                 strands.blocks * 2 * strand_block_bytes(rules.cuda, real) + strands.volume_cells * per_volume_cell;
  outlay.seed_bytes = 350 * strands.segments;
  outlay.countable = strands.segments < 5e8;
  if (strands.segments > 0) outlay.amount = fmt::format("{:.3g} segments of strands", strands.segments);
  outlay.remedy = "ask for fewer strands or longer segments";
  return outlay;
}

}  // namespace tribo
