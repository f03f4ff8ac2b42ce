#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "scene_text.h"

/// \file
/// Particles that come and go: emitters give out what they say, at the density they say, and nothing is lost on the
/// way to the sinks.

namespace tribo::test {
namespace {

/// An emitter in empty space. Water that is soft enough for long steps.
std::string jet(int dimension, const std::string& shape, const std::string& more, const std::string& rest = "") {
  return fmt::format(
      R"({{"tribo": 1, "dimension": {}, "precision": "double", "fps": 10, "duration": 1, "gravity": [0, 0, 0],
           "grid": {{"dx": 0.05}}, "time": {{"dt_max": 0.05, "cfl": 1}},
           "materials": {{"m": {{"model": "weakly_compressible", "density": 1000, "bulk_modulus": 1000, "gamma": 7,
                                 "viscosity": 0}}}},
           "objects": [{{"type": "emitter", "shape": {}, "material": "m", {}}}] {}}})",
      dimension, shape, more, rest);
}

SimulationOptions with(const char* pointer, const char* value) {
  SimulationOptions options;
  options.overrides = {{pointer, value}};
  return options;
}
SimulationOptions on_threads(int threads) {
  SimulationOptions options;
  options.threads = threads;
  return options;
}

void advance(Simulation& simulation, int frames) {
  for (int i = 0; i < frames; ++i) simulation.advance_frame();
}

TEST(Emitter, GivesOutAreaTimesSpeed) {
  struct Case {
    int dimension;
    const char* shape;
    const char* more;
    double area;  // seen along the velocity [m^2], of a plane [m]
    double speed;
  };
  const double diagonal = std::sqrt(2.0);
  const Case cases[] = {
      {2, R"({"box": [0.3, 0.1]})", R"("velocity": [0, -1])", 0.3, 1},
      {2, R"({"box": [0.3, 0.1]})", R"("velocity": [0.6, -0.8], "sampling": "poisson")", 0.3 * 0.8 + 0.1 * 0.6, 1},
      {2, R"({"sphere": 0.2})", R"("velocity": [3, 0], "rotation": {"degrees": 30})", 0.4, 3},
      {3, R"({"box": [0.3, 0.1, 0.2]})", R"("velocity": [0, 2, 0])", 0.06, 2},
      {3, R"({"sphere": 0.15})", R"("velocity": [1, 1, 1])", pi * 0.0225, std::sqrt(3.0)},
      {3, R"({"cylinder": {"radius": 0.1, "height": 0.2}})",
       R"("velocity": [2, 0, 0], "rotation": {"axis": [0, 0, 1], "degrees": 90}, "sampling": "poisson")", pi * 0.01, 2},
      {3, R"({"box": [0.2, 0.2, 0.2]})", R"("velocity": [1, 1, 0])", 0.04 * diagonal, diagonal},
  };
  for (const Case& c : cases) {
    Simulation simulation = simulate(jet(c.dimension, c.shape, c.more));
    EXPECT_EQ(simulation.measure()[0].mass, 0);
    advance(simulation, 10);
    const double rate = 1000 * c.area * c.speed;
    // Whole layers are given out, at the starts of steps: one may be on its way in, and what the last step has brought.
    const double layer = 1000 * c.area * 0.05 / std::pow(8, 1.0 / c.dimension);
    const double late = layer + rate * simulation.progress().dt_max;
    const double mass = simulation.measure()[0].mass, wanted = rate * simulation.time();
    EXPECT_GT(mass, 0.99 * wanted - late) << c.shape << c.more;
    EXPECT_LT(mass, 1.01 * wanted) << c.shape << c.more;
    EXPECT_NEAR(mass, simulation.engine().flows().emitted[0].mass, 1e-12 * mass);
  }
}

TEST(Emitter, MeetsTheRateItIsAskedFor) {
  for (const char* rate : {R"("volume_rate": 0.0123)", R"("mass_rate": 12.3)"}) {
    Simulation simulation =
        simulate(jet(3, R"({"box": [0.2, 0.1, 0.2]})", std::string(R"("velocity": [0, -1, 0], )") + rate));
    advance(simulation, 10);
    EXPECT_NEAR(simulation.measure()[0].mass, 12.3, 0.123 + 12.3 * 0.05) << rate;  // and what is late
    Simulation longer =
        simulate(jet(3, R"({"box": [0.2, 0.1, 0.2]})", std::string(R"("velocity": [0, -1, 0], )") + rate));
    advance(longer, 40);
    EXPECT_NEAR(longer.measure()[0].mass - simulation.measure()[0].mass, 3 * 12.3, 0.01 * 3 * 12.3) << rate;
  }
}

/// Without gravity a jet is a rod that moves: every particle keeps the velocity and the volume it began with, and
/// every stretch of it has the same mass, whatever the steps.
TEST(Emitter, GivesOutAnEvenJet) {
  for (const char* dt_max : {"1e-3", "7e-3", "0.05"}) {
    Simulation simulation =
        simulate(jet(2, R"({"box": [0.1, 0.2]})", R"("velocity": [2, 0], "from": 0.05)"), with("/time/dt_max", dt_max));
    advance(simulation, 10);
    const Frame frame = simulation.observe();
    const auto x = frame.find("x")->as<double>(), v = frame.find("v")->as<double>(), J = frame.find("J")->as<double>();
    ASSERT_GT(J.size(), 1000u);
    const double mass_each = simulation.measure()[0].mass / static_cast<double>(J.size());
    constexpr double stretch = 0.1;
    std::vector<double> mass(18, 0.0);  // the first begins at the nozzle; the jet is 1.9 long
    for (std::size_t i = 0; i < J.size(); ++i) {
      EXPECT_NEAR(v[2 * i], 2, 1e-12);
      EXPECT_NEAR(v[2 * i + 1], 0, 1e-12);
      EXPECT_NEAR(J[i], 1, 1e-12);
      const double along = (x[2 * i] - 0.05) / stretch;
      EXPECT_LT(std::abs(x[2 * i + 1]), 0.1);
      if (along >= 0 && along < 18) mass[static_cast<std::size_t>(along)] += mass_each;
    }
    // The ends of a stretch cut through a layer of jittered particles: half a layer out of 5.7 at either end, at most.
    for (const double m : mass) EXPECT_NEAR(m, 1000 * 0.2 * stretch, 1000 * 0.2 * 0.0177) << dt_max;
    const double longest = *std::max_element(mass.begin(), mass.end());
    EXPECT_LT(longest, 1.1 * 1000 * 0.2 * stretch) << dt_max;
  }
}

TEST(Emitter, HoldsItsVelocityAgainstGravity) {
  // What has just come in neither slows nor is pressed together: the nozzle drives it.
  Simulation simulation =
      simulate(jet(2, R"({"box": [0.2, 0.2]})", R"("velocity": [0, 2])", R"(, "output": {"checkpoint_frames": 0})"),
               with("/gravity", "[0, -9.81]"));
  advance(simulation, 5);
  const Frame frame = simulation.observe();
  const auto x = frame.find("x")->as<double>(), v = frame.find("v")->as<double>(), J = frame.find("J")->as<double>();
  int inside = 0;
  for (std::size_t i = 0; i < J.size(); ++i) {
    if (std::abs(x[2 * i + 1]) > 0.025) continue;  // the whole kernel is in the nozzle
    ++inside;
    EXPECT_NEAR(v[2 * i + 1], 2, 0.02);
    EXPECT_NEAR(J[i], 1, 0.01);
  }
  EXPECT_GT(inside, 10);
}

TEST(Emitter, EndsWhenItIsTold) {
  Simulation until = simulate(jet(2, R"({"box": [0.2, 0.1]})", R"("velocity": [0, -1], "from": 0.1, "until": 0.4)"));
  Simulation volume = simulate(jet(2, R"({"box": [0.2, 0.1]})", R"("velocity": [0, -1], "max_volume": 0.05)"));
  advance(until, 1);
  EXPECT_EQ(until.engine().counts().particles, 0);
  advance(until, 9);
  advance(volume, 10);
  EXPECT_NEAR(until.measure()[0].mass, 60, 0.2 * 17.7);
  EXPECT_NEAR(volume.measure()[0].mass, 50, 0.5 * volume.measure()[0].mass / 160);  // half a particle of 160
  const std::int64_t count = volume.engine().counts().particles;
  advance(volume, 5);
  EXPECT_EQ(volume.engine().counts().particles, count);
}

TEST(Emitter, BoundsTimeStepsOnlyWhileItWorks) {
  // The stiff material is drained when its emitter has given out all, and nothing is made of the thick one.
  Simulation simulation = simulate(
      R"({"tribo": 1, "dimension": 2, "fps": 20, "duration": 1, "grid": {"dx": 0.02}, "gravity": [0, 0],
          "materials": {
            "stiff": {"model": "neo_hookean", "density": 1000, "youngs_modulus": 1e8, "poisson_ratio": 0.3},
            "thick": {"model": "weakly_compressible", "density": 1000, "bulk_modulus": 1e5, "viscosity": 1e5}},
          "objects": [
            {"type": "emitter", "shape": {"box": [0.1, 0.1]}, "velocity": [0, -3], "material": "stiff",
             "max_volume": 0.002},
            {"type": "particles", "shape": {"box": [0.2, 0.2]}, "at": [1, 0], "material": "water"}],
          "sinks": [{"shape": {"box": [0.4, 0.4]}, "at": [0, -0.4]}]})");
  advance(simulation, 6);
  EXPECT_GT(simulation.engine().counts().removed, 0);
  EXPECT_EQ(simulation.measure()[0].particles, 0);
  simulation.advance_frame();
  EXPECT_LT(simulation.progress().substeps, 200);
}

/// A box of sand and a jet above a drain, and one more jet that is drained on its way.
constexpr const char* comings_and_goings =
    R"({"tribo": 1, "dimension": 2, "fps": 20, "duration": 1, "grid": {"dx": 0.04},
        "objects": [
          {"name": "sand", "type": "particles", "shape": {"box": [0.4, 0.4]}, "at": [0, 0.2], "material": "dry_sand"},
          {"name": "tap", "type": "emitter", "shape": {"box": [0.1, 0.1]}, "at": [0, 0.7], "velocity": [0, -1],
           "material": "water", "volume_rate": 0.06},
          {"name": "side", "type": "emitter", "shape": {"sphere": 0.06}, "at": [0.8, 0.5], "velocity": [-2, 0],
           "material": "dry_sand", "from": 0.1, "sampling": "poisson"}],
        "sinks": [
          {"name": "below", "shape": {"half_space": [0, 1]}, "at": [0, -0.1]},
          {"name": "way", "shape": {"box": [0.1, 0.6]}, "at": [0.4, 0.5], "from": 0.3, "until": 0.7}]})";

void expect_balance(Simulation& simulation, std::int64_t seeded, double seeded_mass) {
  const EngineCounts counts = simulation.engine().counts();
  EXPECT_EQ(counts.particles, seeded + counts.emitted - counts.removed);
  const EngineFlows flows = simulation.engine().flows();
  double mass = seeded_mass, present = 0;
  std::int64_t emitted = 0, removed = 0;
  for (const Flow& flow : flows.emitted) mass += flow.mass, emitted += flow.particles;
  for (const Flow& flow : flows.removed) mass -= flow.mass, removed += flow.particles;
  EXPECT_EQ(emitted, counts.emitted);
  EXPECT_EQ(removed, counts.removed);
  for (const ObjectSums& sums : simulation.measure()) present += sums.mass;
  EXPECT_NEAR(present, mass, 1e-9 * (mass + 1));
}

TEST(Sink, BalanceIsExactInEveryFrame) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(comings_and_goings, with("/precision", precision));
    const std::int64_t seeded = simulation.engine().counts().particles;
    const double mass = simulation.measure()[0].mass;
    for (int i = 0; i < 20; ++i) {
      simulation.advance_frame();
      expect_balance(simulation, seeded, mass);
    }
    const EngineFlows flows = simulation.engine().flows();
    EXPECT_GT(flows.removed[0].particles, 100);
    EXPECT_GT(flows.removed[1].particles, 20);
    // Ids are given once and kept.
    const Frame frame = simulation.observe();
    const auto ids = frame.find("id")->as<std::int32_t>();
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
    EXPECT_LT(ids.back(), seeded + simulation.engine().counts().emitted);
  }
}

TEST(Sink, WorksFromItsBeginningToItsEnd) {
  const char* scene =
      R"({"tribo": 1, "fps": 10, "duration": 1, "gravity": [0, 0, 0], "grid": {"dx": 0.05},
          "objects": [{"type": "particles", "shape": {"box": [0.2, 0.2, 0.2]}, "material": "jelly"},
                      {"type": "particles", "shape": {"sphere": 0.1}, "at": [1, 0, 0], "material": "water",
                       "velocity": [-1, 0, 0]}],
          "sinks": [{"shape": {"box": [0.2, 0.4, 0.4]}, "at": [0.1, 0, 0], "from": 0.25, "until": 0.5}]})";
  Simulation simulation = simulate(scene);
  const std::int64_t all = simulation.engine().counts().particles;
  advance(simulation, 2);
  EXPECT_EQ(simulation.engine().counts().removed, 0);
  advance(simulation, 1);  // half of the cube, which rests, goes at once; the ball comes too late
  EXPECT_NEAR(static_cast<double>(simulation.engine().counts().removed), 256, 1);
  advance(simulation, 7);
  EXPECT_EQ(simulation.engine().counts().particles, all - simulation.engine().counts().removed);
  EXPECT_NEAR(static_cast<double>(simulation.engine().counts().removed), 256, 1);
}

TEST(Sink, TakesEvenWhenItWorksForLessThanAStep) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "dimension": 2, "fps": 10, "duration": 1, "gravity": [0, 0], "grid": {"dx": 0.05},
          "objects": [{"type": "particles", "shape": {"box": [0.2, 0.2]}, "material": "water"}],
          "sinks": [{"shape": {"box": [1, 1]}, "from": 0.123456, "until": 0.123457}]})");
  advance(simulation, 1);
  EXPECT_GT(simulation.engine().counts().particles, 0);
  advance(simulation, 1);
  EXPECT_EQ(simulation.engine().counts().particles, 0);
}

TEST(Sink, MayTakeEverything) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "fps": 10, "duration": 1, "grid": {"dx": 0.05},
          "objects": [{"type": "particles", "shape": {"sphere": 0.1}, "material": "water"}],
          "sinks": [{"shape": {"half_space": [0, 1, 0]}, "at": [0, -1, 0]}]})");
  const std::int64_t all = simulation.engine().counts().particles;
  advance(simulation, 10);
  EXPECT_EQ(simulation.engine().counts().particles, 0);
  EXPECT_EQ(simulation.engine().counts().removed, all);
  EXPECT_EQ(simulation.observe().find("x")->count, 0u);
}

TEST(ComingsAndGoings, GoOnFromACheckpointWithTheSameBytes) {
  Simulation whole = simulate(comings_and_goings, on_threads(2));
  advance(whole, 20);
  for (const int steps : {0, 3, 150, 400}) {
    Simulation first = simulate(comings_and_goings, on_threads(1));
    for (int i = 0; i < steps; ++i) first.step();
    Simulation second = simulate(comings_and_goings, on_threads(1));
    second.restore(first.checkpoint());
    EXPECT_EQ(second.state_hash(), first.state_hash());
    while (second.frame() < 20) second.step();
    EXPECT_EQ(second.state_hash(), whole.state_hash()) << steps;
    EXPECT_EQ(second.engine().counts().emitted, whole.engine().counts().emitted);
    EXPECT_EQ(second.engine().counts().removed, whole.engine().counts().removed);
  }
}

TEST(VelocityField, BeginsAsTheSameMotionGivenOtherwise) {
  const char* scene =
      R"({"tribo": 1, "precision": "double", "fps": 10, "duration": 1, "gravity": [0, 0, 0], "grid": {"dx": 0.05},
          "objects": [{"type": "particles", "shape": {"box": [0.3, 0.2, 0.4]}, "at": [1, 0, 0], "material": "jelly",
                       "velocity": [1, 2, 3], )";
  for (const char* transfer : {"apic", "rpic", "pic", "flip"}) {
    const SimulationOptions options = with("/grid/transfer", transfer);
    Simulation spin = simulate(std::string(scene) + R"("angular_velocity": [2, -1, 4]}]})", options);
    Simulation field = simulate(std::string(scene) + R"("velocity_field": {"linear":
        {"x": [0, -4, -1], "y": [4, 0, -2], "z": [1, 2, 0]}}}]})",
                                options);
    for (int frame = 0; frame < 2; ++frame) {
      const ObjectSums a = spin.measure()[0], b = field.measure()[0];
      EXPECT_NEAR(a.kinetic, b.kinetic, 1e-9 * a.kinetic) << transfer;
      EXPECT_LT(norm(a.angular_momentum - b.angular_momentum), 1e-9 * norm(a.angular_momentum)) << transfer;
      spin.advance_frame();
      field.advance_frame();
    }
  }
}

TEST(VelocityField, HasItsEnergy) {
  // Over whole waves the mean of |v|^2 is U^2 / 2 and that of |grad v|^2 is k^2 U^2, of which APIC carries dx^2 / 4.
  const double U = 2, k = 2 * pi / 0.5, dx = 0.02;
  Simulation simulation = simulate(
      R"({"tribo": 1, "dimension": 2, "precision": "double", "fps": 10, "duration": 1, "gravity": [0, 0],
          "grid": {"dx": 0.02}, "objects": [{"type": "particles", "shape": {"box": [1, 1]}, "material": "water",
          "velocity_field": {"taylor_green": {"speed": 2, "wavelength": 0.5}}}]})");
  const ObjectSums sums = simulation.measure()[0];
  EXPECT_NEAR(sums.kinetic, 0.5 * sums.mass * (U * U / 2 + k * k * U * U * dx * dx / 4), 0.002 * sums.kinetic);
  EXPECT_LT(norm(sums.momentum), 1e-3 * sums.mass * U);
}

}  // namespace
}  // namespace tribo::test
