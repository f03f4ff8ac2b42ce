#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "scene_text.h"
#include "tribo/core/errors.h"

/// \file
/// Backward Euler: that it solves the equations the explicit integrator solves, that long steps are stable for
/// every law, what it conserves, and that contacts with friction come out of the same solve.

namespace tribo::test {
namespace {

double total_energy(Simulation& simulation) {
  double sum = 0;
  for (const ObjectSums& s : simulation.measure()) sum += s.kinetic + s.elastic + s.gravity;
  return sum;
}

/// A square of jelly that rests on a floor which holds it, when gravity sets in: it sinks and swings.
double sunken_height(const char* time) {
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "dimension": 2, "precision": "double", "fps": 12.5, "duration": 0.08, "grid": {{"dx": 0.04}},
           "time": {{{}}},
           "materials": {{"jelly": {{"model": "neo_hookean", "density": 1000, "youngs_modulus": 2e4,
                                     "poisson_ratio": 0.3, "viscosity": 5}}}},
           "objects": [{{"name": "block", "type": "particles", "shape": {{"box": [0.32, 0.32, 0.32]}},
                         "at": [0, 0.16, 0], "material": "jelly"}}],
           "colliders": [{{"shape": {{"half_space": {{"normal": [0, 1, 0]}}}}, "boundary": "sticky"}}]}})",
      time));
  simulation.advance_frame();
  return center(simulation.measure()[0])[1];
}

/// At equal steps, since what transfers dissipate depends on their number: both are of first order, and so is the
/// distance between them.
TEST(Implicit, ConvergesToTheExplicitMotion) {
  const auto distance = [&](double dt) {
    const double expected = sunken_height(fmt::format(R"("dt_max": {})", dt).c_str());
    const double found =
        sunken_height(fmt::format(R"("integrator": "implicit", "dt_max": {}, "tolerance": 1e-6)", dt).c_str());
    return (found - expected) / (0.16 - expected);
  };
  const double coarse = distance(2e-3), medium = distance(1e-3), fine = distance(5e-4);
  RecordProperty("distances", fmt::format("{} {} {}", coarse, medium, fine));
  EXPECT_LT(std::abs(fine), 0.02);
  EXPECT_NEAR(medium / coarse, 0.5, 0.1);
  EXPECT_NEAR(fine / medium, 0.5, 0.1);
}

/// A square of jelly that spins and flies, without gravity.
Simulation spinning(const char* time, double youngs_modulus) {
  return simulate(fmt::format(
      R"({{"tribo": 1, "dimension": 2, "precision": "double", "fps": 24, "duration": 1, "gravity": [0, 0, 0],
           "grid": {{"dx": 0.05}}, "time": {{{}}},
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": {},
                                     "poisson_ratio": 0.3}}}},
           "objects": [{{"name": "block", "type": "particles", "shape": {{"box": [0.4, 0.2, 0.2]}}, "material": "jelly",
                         "velocity": [1, 0.5, 0], "angular_velocity": [0, 0, 4]}}]}})",
      time, youngs_modulus));
}

TEST(Implicit, FreeMotionKeepsMomentumAndGainsNoEnergy) {
  for (const double E : {1e4, 1e6, 1e8}) {
    Simulation simulation = spinning(R"("integrator": "implicit", "dt_max": 0.0105)", E);
    const ObjectSums start = simulation.measure()[0];
    double energy = total_energy(simulation);
    while (simulation.frame() < 24) {
      simulation.step();
      const double now = total_energy(simulation);
      ASSERT_LE(now, energy * (1 + 1e-9)) << "E = " << E << ", t = " << simulation.time();
      energy = now;
    }
    const ObjectSums end = simulation.measure()[0];
    // Forces over masses are what the solve is made of: momentum stays to rounding, whatever the tolerance.
    EXPECT_LT(norm(end.momentum - start.momentum), 1e-9 * norm(start.momentum)) << "E = " << E;
    // Spin is another matter: backward Euler turns by less than it should in each step and slows rotation.
    const auto spin = [](const ObjectSums& s) { return (s.angular_momentum - cross(center(s), s.momentum))[2]; };
    RecordProperty(fmt::format("spin_left_{}", E), fmt::format("{}", spin(end) / spin(start)));
    EXPECT_LT(spin(end), spin(start));
    EXPECT_GT(spin(end), 0.8 * spin(start));  // 1 - t dt omega^2, or 0.83
  }
}

TEST(Implicit, SlowingOfRotationIsOfFirstOrder) {
  const auto loss = [](double dt) {
    Simulation simulation = spinning(fmt::format(R"("integrator": "implicit", "dt_max": {})", dt).c_str(), 1e5);
    const auto spin = [&] {
      const ObjectSums s = simulation.measure()[0];
      return (s.angular_momentum - cross(center(s), s.momentum))[2];
    };
    const double start = spin();
    while (simulation.frame() < 6) simulation.advance_frame();
    return 1 - spin() / start;
  };
  const double coarse = loss(0.0105), fine = loss(0.00525);
  RecordProperty("loss", fmt::format("{} {}", coarse, fine));
  EXPECT_NEAR(fine / coarse, 0.5, 0.1);
}

struct Dropped {
  double height;  ///< of the center at the end
  double lowest;  ///< point at the end
  double speed;   ///< at the end
  std::int64_t steps;
};
Dropped drop(const std::string& material, const char* time, const char* precision = "float", double seconds = 1) {
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "dimension": 2, "precision": "{}", "fps": 24, "duration": {}, "grid": {{"dx": 0.025}},
           "time": {{{}}}, "materials": {{"it": {}}},
           "objects": [{{"name": "block", "type": "particles", "shape": {{"box": [0.2, 0.2, 0.2]}}, "at": [0, 0.25, 0],
                         "material": "it"}}],
           "colliders": [{{"shape": {{"half_space": {{"normal": [0, 1, 0]}}}}, "friction": 0.3}}]}})",
      precision, seconds, time, material));
  while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
  const ObjectSums s = simulation.measure()[0];
  return {center(s)[1], s.low[1], norm(velocity(s)), simulation.engine().step_count()};
}

TEST(Implicit, StiffBlocksLandAtStepsOfAFrameQuarter) {
  for (const double E : {1e6, 1e8, 1e9}) {
    const Dropped r = drop(
        fmt::format(R"({{"model": "neo_hookean", "density": 1000, "youngs_modulus": {}, "poisson_ratio": 0.3}})", E),
        R"("integrator": "implicit")");
    EXPECT_NEAR(r.height, 0.1 + 0.5 * 0.025, 0.5 * 0.025) << "E = " << E;  // the grid feels contact up to a cell ahead
    EXPECT_GT(r.lowest, -0.02) << "E = " << E;
    EXPECT_LT(r.speed, 0.1) << "E = " << E;
    EXPECT_LT(r.steps, 200) << "E = " << E;
  }
}

/// Every preset material falls on the floor with steps far beyond the explicit limit.
TEST(Implicit, EveryMaterialLandsAtLongSteps) {
  for (const char* material : {"jelly", "rubber", "silicone", "foam", "snow", "powder_snow", "dry_sand", "wet_sand",
                               "clay", "soft_metal", "honey", "slime", "toothpaste", "water"}) {
    const Dropped r = drop(fmt::format("\"{}\"", material), R"("integrator": "implicit")", "float", 0.5);
    EXPECT_GT(r.height, 0) << material;
    EXPECT_LT(r.height, 0.25) << material;
    EXPECT_GT(r.lowest, -0.02) << material;
    EXPECT_LT(r.speed, 2) << material;
    EXPECT_LT(r.steps, 300) << material;
  }
}

/// A column of sand between the explicit and the implicit integrator: how far it runs, and how high it stays.
TEST(Implicit, SandRunsOutAsFar) {
  const auto collapse = [](const char* time) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "dimension": 2, "fps": 24, "duration": 0.5, "grid": {{"dx": 0.02}}, "time": {{{}}},
             "objects": [{{"name": "column", "type": "particles", "shape": {{"box": [0.2, 0.3, 0.2]}},
                           "at": [0, 0.15, 0], "material": "dry_sand"}}],
             "colliders": [{{"shape": {{"half_space": {{"normal": [0, 1, 0]}}}}, "boundary": "sticky"}}]}})",
        time));
    while (simulation.frame() < 12) simulation.advance_frame();
    const ObjectSums s = simulation.measure()[0];
    const double width = std::sqrt(s.second_moment(0, 0) / s.mass);
    return std::array<double, 3>{width, center(s)[1], double(simulation.engine().step_count())};
  };
  const auto expected = collapse("");
  const auto found = collapse(R"("integrator": "implicit")");
  RecordProperty("width_height_steps", fmt::format("explicit {} {} {}, implicit {} {} {}", expected[0], expected[1],
                                                   expected[2], found[0], found[1], found[2]));
  EXPECT_NEAR(found[0], expected[0], 0.15 * expected[0]);
  EXPECT_NEAR(found[1], expected[1], 0.15 * expected[1]);
  EXPECT_LT(10 * found[2], expected[2]);
}

/// A block of jelly, 20 x 10 cm, lying on a slope that falls towards +x.
Simulation block_on_slope(double degrees, double friction) {
  const double theta = degrees * pi / 180;
  return simulate(fmt::format(
      R"({{"tribo": 1, "dimension": 2, "fps": 50, "duration": 1, "grid": {{"dx": 0.02}},
           "time": {{"integrator": "implicit"}},
           "objects": [{{"name": "block", "type": "particles", "shape": {{"box": [0.2, 0.1, 0.2]}}, "material": "jelly",
                         "at": [{}, {}, 0], "rotation": {{"axis": [0, 0, 1], "degrees": {}}}}}],
           "colliders": [{{"shape": {{"half_space": {{"normal": [{}, {}, 0]}}}}, "friction": {}}}]}})",
      0.05 * std::sin(theta), 0.05 * std::cos(theta), -degrees, std::sin(theta), std::cos(theta), friction));
}

TEST(Implicit, BlockSlidesWithCoulombFriction) {
  // g (sin theta - mu cos theta): the normal impulse must hold the weight of the whole block, not of its lowest nodes.
  const double theta = 20 * pi / 180;
  for (const double friction : {0.0, 0.1, 0.2}) {
    Simulation simulation = block_on_slope(20, friction);
    const auto speed = [&] {
      return dot(velocity(simulation.measure()[0]), Vec<double, 3>{{std::cos(theta), -std::sin(theta), 0}});
    };
    while (simulation.frame() < 10) simulation.advance_frame();
    const double before = speed();
    while (simulation.frame() < 40) simulation.advance_frame();
    const double measured = (speed() - before) / 0.6;
    const double expected = 9.81 * (std::sin(theta) - friction * std::cos(theta));
    RecordProperty(fmt::format("acceleration_mu_{}", friction), fmt::format("{} (analytic {})", measured, expected));
    EXPECT_NEAR(measured, expected, 0.05 * expected) << "mu = " << friction;
  }
}

TEST(Implicit, BlockSticksWhenFrictionExceedsTheSlope) {
  Simulation simulation = block_on_slope(20, 0.5);
  while (simulation.frame() < 20) simulation.advance_frame();
  const Vec<double, 3> before = center(simulation.measure()[0]);
  while (simulation.frame() < 50) simulation.advance_frame();
  const double creep = norm(center(simulation.measure()[0]) - before);
  RecordProperty("creep", fmt::format("{}", creep));
  EXPECT_LT(creep, 2e-4);
}

/// Several materials, friction, a moving collider, FLIP.
const char* const mixture = R"({"tribo": 1, "fps": 50, "duration": 0.2, "grid": {"dx": 0.05, "transfer": "flip"},
  "time": {"integrator": "implicit"},
  "objects": [
    {"name": "cube", "type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "at": [0, 0.15, 0],
     "rotation": {"axis": [1, 1, 0], "degrees": 20}, "material": "jelly", "angular_velocity": [0, 3, 1]},
    {"name": "sand", "type": "particles", "shape": {"sphere": 0.1}, "at": [0.2, 0.2, 0], "material": "dry_sand"},
    {"name": "water", "type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "at": [0, 0.4, 0], "material": "water"}],
  "colliders": [
    {"shape": {"half_space": {"normal": [0, 1, 0]}}, "friction": 0.4},
    {"shape": {"box": [0.05, 0.4, 0.4]}, "motion": [
      {"time": 0, "at": [-0.3, 0.2, 0]},
      {"time": 0.2, "at": [0, 0.2, 0], "rotation": {"axis": [0, 0, 1], "degrees": 20}}]}]})";

TEST(Implicit, SameBytesForAnyThreadsAndAfterARestart) {
  SimulationOptions one, three;
  one.threads = 1;
  three.threads = 3;
  Simulation a = simulate(mixture, one), b = simulate(mixture, three);
  while (a.frame() < 3) a.advance_frame();
  for (int k = 0; k < 2; ++k) a.step();  // in the middle of a frame
  while (b.frame() < 3) b.advance_frame();
  for (int k = 0; k < 2; ++k) b.step();
  ASSERT_EQ(a.state_hash(), b.state_hash());
  Simulation resumed = simulate(mixture, three);
  resumed.restore(a.checkpoint());
  for (Simulation* s : {&a, &resumed})
    while (s->frame() < 6) s->advance_frame();
  EXPECT_EQ(a.state_hash(), resumed.state_hash());
  EXPECT_EQ(a.progress().solve.linear, resumed.progress().solve.linear);
  EXPECT_GT(a.progress().solve.linear, 0);
}

TEST(Implicit, WithoutParticlesTimeGoesOn) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "dimension": 2, "fps": 10, "duration": 0.3, "grid": {"dx": 0.02},
          "time": {"integrator": "implicit", "dt_max": 0.01},
          "objects": [{"type": "emitter", "shape": {"box": [0.2, 0.1]}, "at": [0, 1], "velocity": [0, -1],
                       "material": "jelly", "from": 0.15}],
          "sinks": [{"shape": {"box": [4, 4]}, "from": 0.2}]})");
  while (simulation.frame() < simulation.frame_count()) {
    simulation.advance_frame();
    EXPECT_LE(simulation.progress().substeps, 30) << simulation.time();
  }
}

TEST(Implicit, ParticlesThatAreNotFiniteEndTheRun) {
  for (const char* column : {"v.1", "F.0"}) {
    Simulation simulation = simulate(mixture);
    simulation.advance_frame();
    Container broken = simulation.checkpoint();
    for (NamedArray& array : broken.arrays)
      if (array.name == column)
        reinterpret_cast<float*>(array.data.data())[7] = std::numeric_limits<float>::quiet_NaN();
    simulation.restore(broken);
    try {
      simulation.advance_frame();
      FAIL() << column << " went unnoticed";
    } catch (const DivergedError& error) {
      EXPECT_NE(std::string(error.what()).find("no longer finite"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace tribo::test
