#include <gtest/gtest.h>

#include <cstring>

#include "solid_scenes.h"
#include "tribo/core/errors.h"

/// \file
/// Checkpoints of scenes that have every kind of matter at once: particles, bodies of tets, meshes of particles, rods,
/// and curves, with an emitter and a sink.

namespace tribo::test {
namespace {

std::string everything(const char* precision) {
  return fmt::format(
      R"({{"tribo": 1, "fps": 100, "duration": 1, "grid": {{"dx": 0.02}}, "precision": "{}",
           "materials": {{"soft": {{"model": "fixed_corotated", "density": 500, "youngs_modulus": 1e4, "poisson_ratio": 0.3}}}},
           "objects": [
             {{"name": "grains", "type": "particles", "shape": {{"sphere": 0.05}}, "at": [0, 0.2, 0], "material": "soft"}},
             {{"name": "jet", "type": "emitter", "shape": {{"sphere": 0.03}}, "at": [0.3, 0.3, 0], "material": "soft",
               "velocity": [0, -2, 0]}},
             {{"name": "body", "type": "solid", "shape": {{"box": [0.1, 0.1, 0.1]}}, "at": [0, 0.07, 0], "material": "soft"}},
             {{"name": "other", "type": "solid", "shape": {{"box": [0.1, 0.1, 0.1]}}, "at": [0.13, 0.06, 0], "material": "soft"}},
             {{"name": "net", "type": "solid", "method": "updated_lagrangian", "shape": {{"box": [0.1, 0.1, 0.1]}},
               "at": [-0.2, 0.1, 0], "material": "soft"}},
             {{"name": "hair", "type": "hair", "radius": 2e-4, "segments": 10, "roots": "free", "at": [0, 0.14, 0],
               "strands": {{"tube": {{"count": 7, "length": 0.06, "spacing": 0.002}}}}}},
             {{"name": "curves", "type": "hair", "method": "mpm", "radius": 1e-3, "segments": 6, "at": [-0.2, 0.35, 0],
               "strands": {{"tube": {{"count": 3, "length": 0.1, "spacing": 0.01}}}}}}],
           "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}, "friction": 0.3}}]}})",
      precision);
}

/// Promise: what a checkpoint brings back goes on as what it was made of, whatever has happened in between.
TEST(Checkpoint, BringsEverythingBack) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(everything(precision));
    for (int frame = 0; frame < 3; ++frame) simulation.advance_frame();
    const Container saved = simulation.checkpoint();
    const std::uint64_t then = simulation.state_hash();
    for (int k = 0; k < 20; ++k) simulation.step();
    const std::uint64_t later = simulation.state_hash();
    EXPECT_NE(later, then) << precision;
    simulation.engine().load(saved);
    EXPECT_EQ(simulation.state_hash(), then) << precision;
    for (int k = 0; k < 20; ++k) simulation.step();
    EXPECT_EQ(simulation.state_hash(), later) << precision;
  }
}

/// Promise: a checkpoint that does not fit is refused, and leaves everything as it was: each array missing, or of
/// another length, and particles, bins and strands that are not this scene's.
TEST(Checkpoint, ThatDoesNotFitChangesNothing) {
  Simulation simulation = simulate(everything("float"));
  simulation.advance_frame();
  const Container saved = simulation.checkpoint();
  for (int k = 0; k < 3; ++k) simulation.step();
  const std::uint64_t hash = simulation.state_hash();
  const auto refused = [&](const Container& wrong, const std::string& what) {
    EXPECT_THROW(simulation.engine().load(wrong), IoError) << what;
    EXPECT_EQ(simulation.state_hash(), hash) << what;
  };
  for (std::size_t a = 0; a < saved.arrays.size(); ++a) {
    Container wrong = saved;
    wrong.arrays.erase(wrong.arrays.begin() + static_cast<std::ptrdiff_t>(a));
    refused(wrong, "without " + saved.arrays[a].name);
    if (saved.arrays[a].count < 2) continue;
    wrong = saved;
    NamedArray& shorter = wrong.arrays[a];
    shorter.data.resize(shorter.data.size() / shorter.count * (shorter.count - 1));
    shorter.count -= 1;
    refused(wrong, "less of " + shorter.name);
  }
  for (const char* name : {"object.0", "bins", "bundle.id.0", "bundle.object.0", "bundle.bins"}) {
    Container wrong = saved;
    for (NamedArray& array : wrong.arrays)
      if (array.name == name) {
        const std::int32_t nonsense = 1 << 20;
        std::memcpy(array.data.data(), &nonsense, sizeof nonsense);
      }
    refused(wrong, std::string("nonsense in ") + name);
  }
  simulation.engine().load(saved);  // after all that
  EXPECT_NE(simulation.state_hash(), hash);
}

}  // namespace
}  // namespace tribo::test
