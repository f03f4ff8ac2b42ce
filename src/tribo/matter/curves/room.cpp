#include "tribo/matter/curves/room.h"

#include <fmt/format.h>

#include "tribo/matter/curves/seed.h"
#include "tribo/matter/particles/amounts.h"
#include "tribo/matter/particles/seed.h"
#include "tribo/matter/strands/amounts.h"
#include "tribo/matter/strands/spec.h"
#include "tribo/mesh/block_count.h"
#include "tribo/setup/seeds.h"

namespace tribo {
namespace {

constexpr double block_cells = 4;  ///< along the edge of a block of the grid

/// What memory of curves goes by, beside their particles.
struct CurveAmounts {
  double segments = 0;
  double blocks = 0;  ///< of 4^3 cells, that these are in
};

}  // namespace

void CurveRoom::expect(const Scene& scene, Amounts& amounts) const {
  CurveAmounts& curves = amounts.of<CurveAmounts>();
  for (const ObjectSpec& object : scene.objects) {
    const StrandsSpec* hair = curves_of(object);
    if (hair == nullptr) continue;
    curves.segments += expected_segments(hair->made);
    curves.blocks += expected_blocks(hair->made, block_cells * scene.grid.dx);
  }
  ParticleAmounts& particles = amounts.of<ParticleAmounts>();
  particles.count += 2 * curves.segments;  // vertices and elements
  particles.on_lines += 2 * curves.segments;
}

void CurveRoom::seed(const Scene& scene, Seeds& seeds, std::vector<std::string>& warnings) const {
  CurveSeed& seed = seeds.of<CurveSeed>();
  seed = sample_curves(scene, warnings);
  add_curves(seed, seeds.of<ParticleSeed>());
}

void CurveRoom::count(const Seeds& seeds, double dx, Amounts& amounts) const {
  const RodSeed& rods = seeds.of<CurveSeed>().strands;
  CurveAmounts& curves = amounts.of<CurveAmounts>();
  BlockCount blocks(block_cells * dx);
  for (const RodBody& body : rods.bodies) curves.segments += segments_of(body);
  for (const Vec<double, 3>& x : rods.x) blocks.add(x);
  curves.blocks = blocks.count();
  amounts.of<ParticleAmounts>().on_lines += 2 * curves.segments;
}

Outlay CurveRoom::outlay(const MemoryRules& rules, const Model&, const Amounts& amounts) const {
  const CurveAmounts& curves = amounts.of<CurveAmounts>();
  const double per_block = strand_block_bytes(rules.cuda, rules.real) + (rules.cuda ? 1.1 * packed_block_bytes(3) : 0);
  Outlay outlay;
  outlay.bytes = curves.segments * rod_bytes(rules.cuda, rules.real) + curves.blocks * per_block;
  outlay.seed_bytes = 350 * curves.segments;
  outlay.countable = curves.segments < 5e8;
  if (curves.segments > 0) outlay.amount = fmt::format("{:.3g} segments of curves", curves.segments);
  outlay.remedy = "ask for fewer strands or longer segments";
  return outlay;
}

}  // namespace tribo
