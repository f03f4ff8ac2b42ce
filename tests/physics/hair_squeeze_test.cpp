#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solid_scenes.h"

/// \file
/// Hair where colliders leave no room to it, or that begins inside of one: what no motion can obey is no reason to
/// throw it, nor to end a run.

namespace tribo::test {
namespace {

/// Fur on a roll that sinks into a floor, its rim by 23 mm, turning, and comes back. Segments are three radii long and
/// far easier to compress than to bend, so that they do not get out of the way.
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
/// through a floor do not tear at what the floor keeps out: it is no faster on the whole than what squeezes it, and
/// segments are drawn by what sticks between the two, half of their way past each other, but not by the 20 mm that
/// roots are deep.
TEST(HairSqueeze, CollidersWithoutRoomThrowNothing) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(sinking_roll(precision));
    constexpr double fastest = 0.9 + 0.35 / 0.03 * 0.05;               // of the roll: its way, and its turning
    constexpr double drawn = 0.017 / 40 + 0.5 * (0.01 + 0.35 * 0.05);  // by the same along the floor
    while (simulation.time() < 0.06 - 1e-9) {
      simulation.advance_frame();
      const ObjectSums fur = simulation.measure()[0];
      EXPECT_LT(fur.kinetic, 0.5 * fur.mass * fastest * fastest) << precision << ' ' << simulation.time();
      double longest = 0;
      const Points x = state_column(simulation, "rod.x");
      for (std::size_t i = 0; i + 1 < x.size(); ++i)
        if ((i + 1) % 41 != 0) longest = std::max(longest, norm(x[i + 1] - x[i]));
      EXPECT_LT(longest, drawn) << precision << ' ' << simulation.time();
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

/// One free strand along z, 8 cm long and as thick as 2 mm, at a place in the plane, among colliders.
std::string one_strand(const char* precision, double x, double y, double degrees, const std::string& colliders,
                       const std::string& more = "") {
  return fmt::format(
      R"({{"tribo": 1, "fps": 100, "duration": 1, "grid": {{"dx": 0.01}}, "precision": "{}",
           "objects": [{{"name": "hair", "type": "hair", "radius": 1e-3, "segments": 40, "roots": "free",
             "youngs_modulus": 1e8, "at": [{}, {}, 0], "rotation": {{"axis": [1, 0, 0], "degrees": {}}},
             "strands": {{"tube": {{"count": 1, "length": 0.08, "spacing": 0.01}}}}}}],
           "colliders": [{}] {}}})",
      precision, x, y, degrees, colliders, more);
}
std::string roll_at(double x, double y, double friction) {
  return fmt::format(R"({{"shape": {{"cylinder": {{"radius": 0.05, "height": 0.3}}}}, "at": [{}, {}, 0], "friction": {},
                          "rotation": {{"axis": [1, 0, 0], "degrees": 90}}}})",
                     x, y, friction);
}

/// Promise: what lies in a narrow wedge that stands still is held there, and does not slip through the crack: between
/// two rolls that touch, and between a roll and the floor it lies on, with gravity into the wedge.
TEST(HairSqueeze, NothingSlipsThroughACrack) {
  constexpr double R = 0.05, r = 1e-3;
  for (const char* precision : {"float", "double"}) {
    Simulation rolls = simulate(one_strand(precision, 0, 0.012, 90, roll_at(-R, 0, 0) + ", " + roll_at(R, 0, 0)));
    Simulation floor = simulate(
        one_strand(precision, 0.016, 0.0011, 90,
                   roll_at(0, R, 0.1) + R"(, {"shape": {"half_space": {"normal": [0, 1, 0]}}, "friction": 0.1})",
                   R"(, "gravity": [-5, -8, 0])"));
    for (int frame = 0; frame < 40; ++frame) {
      rolls.advance_frame();
      floor.advance_frame();
    }
    EXPECT_NEAR(center(rolls.measure()[0])[1], std::sqrt((R + r) * (R + r) - R * R), 0.1 * r) << precision;
    EXPECT_NEAR(center(floor.measure()[0])[0], std::sqrt((R + r) * (R + r) - (R - r) * (R - r)), 0.1 * r) << precision;
  }
}

/// Promise: a clamp holds what it squeezes to less than it is thick. It falls freely while the clamp closes, which is
/// for 0.05 s by 12 mm, and then not at all.
TEST(HairSqueeze, ClampsHoldWhatTheySqueeze) {
  const auto jaw = [](double side) {
    return fmt::format(R"({{"shape": {{"box": {{"size": [0.04, 0.04, 0.04]}}}}, "friction": 0.8, "motion": [
                            {{"time": 0, "at": [{}, 0, 0]}}, {{"time": 0.05, "at": [{}, 0, 0]}}]}})",
                       side * 0.022, side * 0.0209);
  };
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(one_strand(precision, 0, 0, 0, jaw(-1) + ", " + jaw(1)));
    const double start = center(simulation.measure()[0])[1];
    for (int frame = 0; frame < 10; ++frame) simulation.advance_frame();
    const double caught = center(simulation.measure()[0])[1];
    EXPECT_GT(caught, start - 0.5 * 9.81 * 0.06 * 0.06) << precision;
    for (int frame = 0; frame < 30; ++frame) simulation.advance_frame();
    EXPECT_NEAR(center(simulation.measure()[0])[1], caught, 1e-3) << precision;
  }
}

/// Promise: roots that are led through a floor and back take their strand along, which is then as it was. On the way it
/// holds some times the energy of an arc with a radius of the depth, EI L / 2 R^2, and no segment is crushed between
/// the root and the floor.
TEST(HairSqueeze, RootsLedThroughAFloorComeBack) {
  constexpr double radius = 5e-4, young = 1e9, length = 0.06, depth = 0.03;
  constexpr double arc = young * 0.25 * pi * radius * radius * radius * radius * length / (2 * depth * depth);
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 100, "duration": 1, "grid": {{"dx": 0.01}}, "precision": "{}",
             "objects": [{{"name": "hair", "type": "hair", "radius": {}, "segments": 30, "youngs_modulus": {},
               "strands": {{"tube": {{"count": 1, "length": {}, "spacing": 0.01}}}},
               "motion": [{{"time": 0, "at": [0, 0.01, 0], "rotation": {{"axis": [0, 0, 1], "degrees": 80}}}},
                          {{"time": 0.2, "at": [-0.02, {}, 0], "rotation": {{"axis": [0, 0, 1], "degrees": 80}}}},
                          {{"time": 0.4, "at": [-0.04, 0.02, 0], "rotation": {{"axis": [0, 0, 1], "degrees": 80}}}}]}}],
             "colliders": [{{"shape": {{"half_space": {{"normal": [0, 1, 0]}}}}, "friction": 0.3}}]}})",
        precision, radius, young, length, -depth));
    double most = 0;
    for (int frame = 0; frame < 60; ++frame) {
      simulation.advance_frame();
      most = std::max(most, simulation.measure()[0].elastic);
    }
    EXPECT_LT(most, 10 * arc) << precision;
    EXPECT_LT(simulation.measure()[0].elastic, 0.01 * arc) << precision;
  }
}

/// Promise: fur that its body presses into a corner of a box comes back as it was, whatever became of it there. At rest
/// it holds less than its weight times its length, of which one folded joint alone holds a hundred times as much, and
/// no segment stays short: what has collapsed must not be best off so.
TEST(HairSqueeze, FurPressedIntoACornerComesBack) {
  constexpr double length = 0.03;
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 20, "duration": 1, "grid": {{"dx": 0.01}}, "precision": "{}",
             "objects": [{{"name": "fur", "type": "hair", "radius": 2e-4, "segments": 20, "friction": 0.3,
               "youngs_modulus": 1e8, "on": "ball",
               "strands": {{"scalp": {{"count": 40, "length": {}, "spread": 10}}}}}}],
             "colliders": [
               {{"name": "ball", "shape": {{"sphere": 0.03}}, "friction": 0.3, "motion": [
                 {{"time": 0}}, {{"time": 0.15, "at": [-0.06, -0.06, -0.06]}}, {{"time": 0.3}}]}},
               {{"shape": {{"box": [0.16, 0.16, 0.16]}}, "inside": true, "friction": 0.3}}]}})",
        precision, length));
    const double rest = norm(state_column(simulation, "rod.x")[1] - state_column(simulation, "rod.x")[0]);
    for (int frame = 0; frame < 10; ++frame) simulation.advance_frame();
    const ObjectSums fur = simulation.measure()[0];
    EXPECT_LT(fur.elastic, fur.mass * 9.81 * length) << precision;
    const Points x = state_column(simulation, "rod.x");
    double shortest = rest;
    for (std::size_t i = 0; i + 1 < x.size(); ++i)
      if ((i + 1) % 21 != 0) shortest = std::min(shortest, norm(x[i + 1] - x[i]));
    EXPECT_GT(shortest, 0.9 * rest) << precision;
  }
}

}  // namespace
}  // namespace tribo::test
