#include <gtest/gtest.h>

#include <algorithm>

#include "solid_scenes.h"

/// \file
/// Hair where colliders leave no room to it, or that begins inside of one: what no motion can obey is no reason to
/// throw it, nor to end a run.

namespace tribo::test {
namespace {

/// Fur on a roll that sinks into a floor by 5 mm, turning, and comes back. Segments are three radii long and far easier
/// to compress than to bend, so that they do not get out of the way.
std::string sinking_roll(const char* precision) {
  return fmt::format(
      R"({{"tribo": 1, "fps": 100, "duration": 0.06, "grid": {{"dx": 0.01}}, "precision": "{}",
           "objects": [{{"name": "fur", "type": "hair", "radius": 1.4e-4, "segments": 40, "friction": 0.3,
             "stretch_scale": 0.0013, "youngs_modulus": 2.7e7, "bend_damping": 0.01, "stretch_damping": 0.01,
             "strands": {{"scalp": {{"count": 24, "length": 0.017}}}}, "on": "roll"}}],
           "colliders": [
             {{"name": "roll", "shape": {{"cylinder": {{"radius": 0.03, "height": 0.06}}}}, "friction": 0.3, "motion": [
               {{"time": 0}},
               {{"time": 0.03, "at": [0.01, -0.025, 0], "rotation": {{"axis": [1, 0, 0], "degrees": 20}}}},
               {{"time": 0.06}}]}},
             {{"shape": {{"half_space": {{"normal": [0.05, 1, 0]}}}}, "at": [0, -0.04, 0], "friction": 0.9}}]}})",
      precision);
}

/// Promise: hair between colliders that sink into each other is not thrown out from there, and roots that are led
/// through a floor do not tear at what the floor keeps out: it is no faster on the whole than what squeezes it, and no
/// segment spans the 20 mm that roots come below the floor. (Friction draws some of these soft segments to 3 mm.)
TEST(HairSqueeze, CollidersWithoutRoomThrowNothing) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(sinking_roll(precision));
    constexpr double fastest = 0.9 + 0.35 / 0.03 * 0.05;  // of the roll: its way, and its turning
    while (simulation.time() < 0.06 - 1e-9) {
      simulation.advance_frame();
      const ObjectSums fur = simulation.measure()[0];
      EXPECT_LT(fur.kinetic, 0.5 * fur.mass * fastest * fastest) << precision << ' ' << simulation.time();
      double longest = 0;
      const Points x = state_column(simulation, "rod.x");
      for (std::size_t i = 0; i + 1 < x.size(); ++i)
        if ((i + 1) % 41 != 0) longest = std::max(longest, norm(x[i + 1] - x[i]));
      EXPECT_LT(longest, 0.25 * 0.02) << precision << ' ' << simulation.time();
    }
  }
}

/// Promise: in float, hair on a floor moves as in double also where strands are 1e5 times as stiff along as across.
/// Impulses that hold such a vertex are as many times its momentum, and what a float left out of them stayed with it: 6
/// % of the energy of this fur, and on other bodies it left with kilometers a second.
TEST(HairSqueeze, FloatHoldsStiffStrandsAsDoubleDoes) {
  ObjectSums fur[2];
  for (int k = 0; k < 2; ++k) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 100, "duration": 0.03, "grid": {{"dx": 0.02}}, "precision": "{}",
             "objects": [{{"name": "fur", "type": "hair", "radius": 3.2e-5, "segments": 50, "friction": 0,
               "stretch_scale": 0.33, "youngs_modulus": 2.1e9, "bend_damping": 1e-4, "stretch_damping": 0.01,
               "strands": {{"scalp": {{"count": 40, "length": 0.085, "spread": 12}}}}, "on": "body"}}],
             "colliders": [
               {{"name": "body", "shape": {{"sphere": 0.05}}, "friction": 0.3,
                 "motion": [{{"time": 0}}, {{"time": 0.1, "at": [-0.08, 0, 0]}}]}},
               {{"shape": {{"half_space": {{"normal": [-0.08, 1, -0.2]}}}}, "at": [0, -0.09, 0], "friction": 0}}]}})",
        k == 0 ? "float" : "double"));
    for (int frame = 0; frame < 3; ++frame) simulation.advance_frame();
    fur[k] = simulation.measure()[0];
  }
  EXPECT_NEAR(fur[0].kinetic, fur[1].kinetic, 0.005 * fur[1].kinetic);
  EXPECT_NEAR(fur[0].elastic, fur[1].elastic, 0.02 * fur[1].elastic);
}

}  // namespace
}  // namespace tribo::test
