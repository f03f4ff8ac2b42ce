#include <gtest/gtest.h>

#include "solid_scenes.h"

/// \file
/// Solids with hair on their skin: roots go with the skin, and the skin bears what that takes.

namespace tribo::test {
namespace {

ObjectSums sum_of(const std::vector<ObjectSums>& all) {
  ObjectSums sum;
  for (const ObjectSums& one : all) sum.add(one);
  return sum;
}
double energy_of(const std::vector<ObjectSums>& all) { return energy(sum_of(all)); }

/// A ball of jelly, thrown and turning, with fur that it has yet to take along; `hair` are further keys of the fur,
/// `scene` of the scene.
std::string thrown_ball(const std::string& precision, const std::string& hair, const std::string& scene = "") {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 10, "grid": {{"dx": 0.03}}, {}
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2e4, "poisson_ratio": 0.3}}}},
           "objects": [
             {{"name": "ball", "type": "solid", "method": "hybrid", "shape": {{"sphere": 0.08}}, "material": "jelly",
               "element_size": 0.05, "velocity": [1, 2, 0], "angular_velocity": [3, 5, -8]}},
             {{"name": "fur", "type": "hair", "on": "ball", "segments": 8, "velocity": [0, 2, 0], "friction": 0.3, {},
               "strands": {{"scalp": {{"count": 150, "length": 0.06, "comb": {{"amount": 0.3}}}}}}}}]}})",
      precision, scene, hair);
}
const char* const light = R"("radius": 2e-4)";
/// As heavy as the ball: one strand weighs as much as the vertex of the mesh under its root.
const char* const heavy = R"("radius": 2e-4, "density": 1.8e6)";
/// And so stiff that a strand weighs on its root as a whole in every step.
const char* const stiff = R"("radius": 4e-4, "density": 4.5e5, "stretch_scale": 1)";

/// Promise: a furry solid in free flight keeps its momentum to rounding, whoever is heavier, whatever strands do to
/// each other, in implicit steps of the mesh, too. Energy does not rise.
TEST(Furry, KeepsMomentumInFlight) {
  for (const char* precision : {"float", "double"})
    for (const char* hair : {light, heavy, stiff})
      for (const char* more : {"", R"("time": {"integrator": "implicit", "dt_max": 0.002},)"}) {
        Simulation simulation = simulate(thrown_ball(precision, hair, more));
        const std::vector<ObjectSums> before = simulation.measure();
        const ObjectSums all = sum_of(before);
        double least = energy_of(before);
        while (simulation.frame() < 8) {
          simulation.advance_frame();
          const double now = energy_of(simulation.measure());
          EXPECT_LT(now, least + 1e-5 * energy_of(before)) << precision << hair << more;
          least = std::min(least, now);
        }
        const std::vector<ObjectSums> after = simulation.measure();
        EXPECT_GT(velocity(after[1])[0], 0.4) << "fur should have been taken along";
        const Vec<double, 3> fallen = simulation.time() * all.mass * Vec<double, 3>{{0, -9.81, 0}};
        // Of a float, what a hundred steps leave at random to the last bits of velocities that are up to 3 m/s.
        EXPECT_LT(norm(sum_of(after).momentum - all.momentum - fallen),
                  (precision == std::string("float") ? 1e-6 : 1e-13) * 3 * all.mass)
            << precision << hair << more;
      }
}

/// Promise: between the two no angular momentum is lost. What is, strands lose by themselves, as those do that nothing
/// holds, in proportion to dt; where nothing damps them by more.
TEST(Furry, KeepsAngularMomentumToFirstOrder) {
  double lost[2];
  for (int k = 0; k < 2; ++k) {
    Simulation simulation = simulate(thrown_ball("double", R"("radius": 2e-4, "bend_damping": 0, "stretch_damping": 0)",
                                                 fmt::format(R"("gravity": [0, 0, 0], "time": {{"dt_max": {}}},
                                   "strand_contact": {{"impulses": "none", "grid": {{"on": false}}}},)",
                                                             k == 0 ? 4e-4 : 1e-4)));
    const Vec<double, 3> before = sum_of(simulation.measure()).angular_momentum;
    while (simulation.frame() < 6) simulation.advance_frame();
    lost[k] = norm(sum_of(simulation.measure()).angular_momentum - before) / norm(before);
  }
  EXPECT_LT(lost[0], 2e-3);
  EXPECT_LT(lost[1], 0.4 * lost[0]);
}

/// A block of jelly with standing fur on its left, at rest; `more` are further objects.
std::string furry_block(const std::string& precision, const std::string& block, const std::string& more = "") {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 10, "gravity": [0, 0, 0], "grid": {{"dx": 0.02}},
           "time": {{"dt_max": 0.001}},
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 300, "youngs_modulus": 5e4, "poisson_ratio": 0.3}}}},
           "objects": [
             {{"name": "block", "type": "solid", "method": "hybrid", "shape": {{"box": [0.12, 0.12, 0.12]}},
               "material": "jelly", "element_size": 0.04, "friction": 0.3, {}}},
             {{"name": "fur", "type": "hair", "on": "block", "radius": 1e-3, "segments": 8, "youngs_modulus": 1e7,
               "friction": 0.3, {}, "strands": {{"scalp": {{"count": 250, "length": 0.08}}}}}}{}]}})",
      precision, block, block, more);
}

/// Promise: fur that stands on its skin without any force stays so: it does not meet what it grows on.
TEST(Furry, StandsOnItsOwnSkin) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(furry_block(precision, R"("velocity": [0, 0, 0])"));
    simulation.advance_frame();
    simulation.advance_frame();
    const double still = precision == std::string("float") ? 1e-4 : 1e-10;
    for (const char* column : {"solid.v", "rod.v"})
      for (const Vec<double, 3>& v : state_column(simulation, column)) EXPECT_LT(norm(v), still) << column << precision;
  }
}

/// Promise: other solids are met by fur, and by it push what it grows on: a bare block that is hit by a furry one goes
/// before the two have come as near as solids touch.
TEST(Furry, MeetsOtherSolids) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(furry_block(precision, R"("velocity": [1, 0, 0])",
                                                 R"(, {"name": "bare", "type": "solid", "method": "hybrid",
                     "shape": {"box": [0.12, 0.12, 0.12]}, "at": [0.22, 0, 0], "material": "jelly", "element_size": 0.04})"));
    const Vec<double, 3> before = sum_of(simulation.measure()).momentum;
    while (simulation.time() < 0.045) simulation.advance_frame();
    const std::vector<ObjectSums> after = simulation.measure();
    EXPECT_GT(center(after[2])[0] - center(after[0])[0], 0.12 + 2 * 0.02) << "only fur should have met it";
    EXPECT_GT(velocity(after[2])[0], 0.02) << precision;
    EXPECT_LT(velocity(after[0])[0], 0.985) << precision;
    EXPECT_LT(norm(sum_of(after).momentum - before), (precision == std::string("float") ? 1e-5 : 1e-11) * norm(before));
  }
}

/// Promise: fur between a soft block and the floor that it falls on is not thrown out of where it has no room: energy
/// does not rise.
TEST(Furry, LiesOnAFloor) {
  for (const char* precision : {"float", "double"})
    for (const double density : {1300.0, 1e5}) {
      Simulation simulation = simulate(fmt::format(
          R"({{"tribo": 1, "precision": "{}", "fps": 50, "duration": 10, "grid": {{"dx": 0.03}},
               "materials": {{"jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 5e4, "poisson_ratio": 0.3}}}},
               "objects": [
                 {{"name": "block", "type": "solid", "method": "hybrid", "shape": {{"box": [0.16, 0.16, 0.16]}},
                   "material": "jelly", "element_size": 0.04, "at": [0, 0.15, 0], "velocity": [0, -1, 0]}},
                 {{"name": "fur", "type": "hair", "on": "block", "radius": 2e-4, "segments": 8, "density": {},
                   "velocity": [0, -1, 0],
                   "strands": {{"scalp": {{"count": 80, "length": 0.05, "comb": {{"amount": 0.3}}}}}}}}],
               "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}, "friction": 0.5}}]}})",
          precision, density));
      const double before = energy_of(simulation.measure());
      while (simulation.frame() < 10) {
        simulation.advance_frame();
        EXPECT_LT(energy_of(simulation.measure()), 1.01 * before) << precision << density << simulation.frame();
      }
    }
}

/// Promise: a furry solid that is thrown onto a floor and lies there is the same for any number of threads, and goes on
/// from a checkpoint with the same bytes.
TEST(Furry, SameBytesForThreadsAndResumed) {
  std::string text = furry_block("float", R"("velocity": [0, -1, 0])");
  text.insert(1, R"("colliders": [{"shape": {"half_space": [0, 1, 0]}, "at": [0, -0.13, 0], "friction": 0.5}],)");
  std::uint64_t hash[2];
  Container saved;
  for (int t = 0; t < 2; ++t) {
    SimulationOptions options;
    options.threads = 1 + t;
    Simulation simulation = simulate(text, options);
    for (int i = 0; i < 120; ++i) {
      simulation.step();
      if (i == 60) saved = simulation.checkpoint();
    }
    hash[t] = simulation.state_hash();
  }
  EXPECT_EQ(hash[0], hash[1]);
  Simulation resumed = simulate(text);
  resumed.restore(saved);
  for (int i = 61; i < 120; ++i) resumed.step();
  EXPECT_EQ(resumed.state_hash(), hash[0]);
}

}  // namespace
}  // namespace tribo::test
