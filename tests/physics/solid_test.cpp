#include <gtest/gtest.h>

#include "solid_scenes.h"

/// \file
/// Elastic bodies as meshes, without contact: what mechanics promises of them, and what a user may do to them.

namespace tribo::test {
namespace {

/// One mesh alone; `object` and `time` are more keys of theirs.
struct Lone {
  std::string law = "fixed_corotated";
  double youngs_modulus = 2.5e5, poisson_ratio = 0.3;  ///< [Pa], 1
  Vec<double, 3> box{{0.2, 0.2, 0.2}};                 ///< [m]
  double element = 0.05;                               ///< [m]
  double gravity = 0;                                  ///< downward [m/s^2]
  double fps = 100;
  std::string precision = "double";
  std::string time = R"("dt_max": 0.01)";
  std::string object = R"("damping": 0)";
};
std::string scene_of(const Lone& lone) {
  return fmt::format(
      R"({{"tribo": 1, "fps": {}, "duration": 100, "precision": "{}", "gravity": [0, {}, 0], "grid": {{"dx": 0.1}},
           "time": {{{}}},
           "materials": {{"m": {{"model": "{}", "density": 1000, "youngs_modulus": {}, "poisson_ratio": {}}}}},
           "objects": [{{"type": "solid", "self_contact": false, "shape": {{"box": [{}, {}, {}]}}, "element_size": {}, "material": "m", {}}}]}})",
      lone.fps, lone.precision, -lone.gravity, lone.time, lone.law, lone.youngs_modulus, lone.poisson_ratio,
      lone.box[0], lone.box[1], lone.box[2], lone.element, lone.object);
}

/// A free cube that is thrown, spins and rings: the energy of symplectic Euler wavers and does not drift, and forces
/// within the body leave both momenta alone.
TEST(Solid, FreeBodyKeepsMomentaAndEnergy) {
  Lone lone;
  lone.object = R"("damping": 0, "velocity": [0.3, 0.2, -0.1], "angular_velocity": [2, 3, -1],
                   "velocity_field": {"linear": {"x": [3, 0, 0], "y": [0, -2, 0]}})";
  lone.element = 0.1;
  Simulation simulation = simulate(scene_of(lone));
  const ObjectSums before = simulation.measure()[0];
  const double scale = before.kinetic;
  double lowest = energy(before), highest = lowest;
  while (simulation.engine().step_count() < 10000) {
    simulation.advance_frame();
    const double now = energy(simulation.measure()[0]);
    lowest = std::min(lowest, now);
    highest = std::max(highest, now);
  }
  const ObjectSums after = simulation.measure()[0];
  RecordProperty("energy", fmt::format("{:+.3f} % to {:+.3f} % over {} steps", 100 * (lowest / scale - 1),
                                       100 * (highest / scale - 1), simulation.engine().step_count()));
  EXPECT_GT(after.elastic, 0.01 * scale) << "it should still ring";
  EXPECT_LT((highest - lowest) / scale, 0.05);
  EXPECT_LT(norm(after.momentum - before.momentum), 1e-11 * norm(before.momentum));
  EXPECT_LT(norm(after.angular_momentum - before.angular_momentum), 1e-10 * norm(before.angular_momentum));
}

TEST(Solid, FallsFreely) {
  Lone lone;
  lone.gravity = 9.81;
  lone.object = R"("velocity": [1, 2, 0])";
  Simulation simulation = simulate(scene_of(lone));
  while (simulation.frame() < 20) simulation.advance_frame();
  const ObjectSums sums = simulation.measure()[0];
  const double t = simulation.time();
  EXPECT_NEAR(velocity(sums)[1], 2 - 9.81 * t, 1e-12);
  EXPECT_NEAR(center(sums)[0], t, 1e-12);
  EXPECT_LT(sums.elastic, 1e-12);
}

struct Tangle {
  const char* law;
  const char* start;
  const char* integrator;
};
void PrintTo(const Tangle& tangle, std::ostream* out) {
  *out << tangle.law << ", " << tangle.start << ", " << tangle.integrator;
}
class Inversion : public ::testing::TestWithParam<Tangle> {};

/// Han 2019, Fig. 10: a cube whose vertices are scattered, flattened, or turned inside out is a cube again.
TEST_P(Inversion, IsUndone) {
  Lone lone;
  lone.law = GetParam().law;
  lone.time = fmt::format(R"("integrator": "{}", "dt_max": 0.002)", GetParam().integrator);
  lone.object = fmt::format(R"("initial": "{}", "seed": 1, "damping": 100)", GetParam().start);
  Simulation simulation = simulate(scene_of(lone));
  const Points rest = sample_solids(simulation.scene()).rest;
  const double energy_before = energy(simulation.measure()[0]);
  double error = shape_error(vertices(simulation), rest);
  EXPECT_GT(error, 0.05);
  double recovered = 0;
  while (simulation.frame() < 60 && error > 1e-4 * 0.2) {
    simulation.advance_frame();
    EXPECT_LE(energy(simulation.measure()[0]), 1.001 * energy_before);
    error = shape_error(vertices(simulation), rest);
    recovered = simulation.time();
  }
  RecordProperty("recovered", fmt::format("{:.2f} s, {} steps", recovered, simulation.engine().step_count()));
  EXPECT_LE(error, 1e-3 * 0.2);
}
/// Implicit steps take away the ringing that shakes the last tets loose: they recover from less.
std::vector<Tangle> tangles() {
  std::vector<Tangle> all;
  for (const char* law : {"fixed_corotated", "st_venant_kirchhoff"})
    for (const char* start : {"scrambled", "plane", "line", "point", "mirrored"})
      all.push_back({law, start, "symplectic"});
  for (const char* start : {"scrambled", "plane", "line", "point"}) all.push_back({"neo_hookean", start, "symplectic"});
  for (const char* start : {"plane", "line"}) all.push_back({"fixed_corotated", start, "implicit"});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Cube, Inversion, ::testing::ValuesIn(tangles()), [](const auto& test) {
  return std::string(test.param.law) + "_" + test.param.start + "_" + test.param.integrator;
});

/// A beam held at one end swings down under gravity: long implicit steps follow the motion of short explicit ones, with
/// an error of the order of the step.
TEST(Solid, ImplicitStepsConvergeToExplicitOnes) {
  Lone lone;
  lone.box = {{0.6, 0.15, 0.15}};
  lone.element = 0.075;
  lone.gravity = 9.81;
  const std::string held = R"("damping": 5, "pins": [{"shape": {"half_space": [1, 0, 0]}, "at": [-0.299, 0, 0]}])";
  lone.object = held;
  const auto tip = [&](const std::string& time) {
    lone.time = time;
    Simulation simulation = simulate(scene_of(lone));
    while (simulation.frame() < 10) simulation.advance_frame();
    return center(simulation.measure()[0])[1];
  };
  const double exact = tip(R"("dt_max": 1e-4)");
  const double coarse = tip(R"("integrator": "implicit", "dt_max": 0.005, "tolerance": 1e-4)");
  const double fine = tip(R"("integrator": "implicit", "dt_max": 0.0025, "tolerance": 1e-4)");
  EXPECT_LT(exact, -0.02);
  EXPECT_NEAR(coarse, exact, 0.1 * std::abs(exact));
  EXPECT_NEAR(fine - exact, 0.5 * (coarse - exact), 0.2 * std::abs(coarse - exact));
}

/// Without gravity nothing pushes or turns a free body, whenever iterations end. Backward Euler alone would: a body that
/// unfolds turns within the step at whose end its forces have no torque.
TEST(Solid, ImplicitStepsKeepMomenta) {
  Lone lone;
  lone.time = R"("integrator": "implicit", "dt_max": 0.01, "tolerance": 0.1)";
  lone.object = R"("damping": 0, "velocity": [0.3, 0.2, -0.1], "angular_velocity": [2, 3, -1], "initial": "plane")";
  Simulation simulation = simulate(scene_of(lone));
  const ObjectSums before = simulation.measure()[0];
  for (int k = 0; k < 20; ++k) simulation.step();
  const ObjectSums after = simulation.measure()[0];
  EXPECT_LT(norm(after.momentum - before.momentum), 1e-12 * norm(before.momentum));
  EXPECT_LT(norm(after.angular_momentum - before.angular_momentum), 1e-11 * norm(before.angular_momentum));
  EXPECT_LT(energy(after), energy(before));
}

/// Vertices under a pin are where its keyframes say, also after two turns; those of a kinematic body, all of them.
TEST(Solid, DrivenVerticesFollowTheirMotion) {
  const std::string motion = R"("motion": [{"time": 0, "at": [-0.1, 0, 0]},
      {"time": 0.2, "at": [-0.1, 0.05, 0], "rotation": {"axis": [1, 0, 0], "degrees": 720}}])";
  for (const bool kinematic : {false, true}) {
    Lone lone;
    lone.precision = "float";
    lone.time = R"("dt_max": 0.001)";  // velocities are those of chords, and nothing else bounds a kinematic body
    lone.object = kinematic ? R"("kinematic": true, )" + motion
                            : R"("pins": [{"shape": {"box": [0.02, 1, 1]}, "at": [-0.1, 0, 0], )" + motion + "}]";
    Simulation simulation = simulate(scene_of(lone));
    const SolidSeed seed = sample_solids(simulation.scene());
    while (simulation.frame() < 17) simulation.advance_frame();
    const Points x = vertices(simulation), v = state_column(simulation, "solid.v");
    const Pose start = seed.drives[0].pose(0), now = seed.drives[0].pose(simulation.time());
    const RigidMotion rigid = seed.drives[0].over(simulation.time(), 0);
    int driven = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (seed.drive[i] < 0) continue;
      ++driven;
      const Vec<double, 3> place = now.rotation * (transpose(start.rotation) * (seed.x[i] - start.at)) + now.at;
      EXPECT_LT(norm(x[i] - place), 1e-7);
      const Vec<double, 3> speed = rigid.velocity + cross(rigid.angular_velocity, x[i] - now.at);
      EXPECT_LT(norm(v[i] - speed), 0.05 * norm(speed)) << "the mean of a step is not that of its end";
    }
    EXPECT_EQ(driven, kinematic ? static_cast<int>(x.size()) : 25);
  }
}

/// A pin drags the rest of the body along.
TEST(Solid, PinsCarryTheBody) {
  Lone lone;
  lone.object = R"("damping": 100, "pins": [{"shape": {"box": [0.02, 1, 1]}, "at": [-0.1, 0, 0],
      "motion": [{"time": 0, "at": [0, 0, 0]}, {"time": 0.1, "at": [0, 0.1, 0]}]}])";
  Simulation simulation = simulate(scene_of(lone));
  while (simulation.frame() < 60) simulation.advance_frame();
  EXPECT_NEAR(center(simulation.measure()[0])[1], 0.1, 2e-3);
}

/// Half a run and the rest from its checkpoint are the whole run, and threads do not show.
TEST(Solid, SameBytesAfterResumeAndForAnyThreads) {
  for (const std::string integrator : {"symplectic", "implicit"}) {
    Lone lone;
    lone.precision = "float";
    lone.time = R"("dt_max": 0.001)";  // velocities are those of chords, and nothing else bounds a kinematic body
    lone.gravity = 9.81;
    lone.box = {{0.6, 0.6, 0.6}};
    lone.time = fmt::format(R"("integrator": "{}", "dt_max": 0.002)", integrator);
    lone.object = fmt::format(R"("initial": "{}", "pins": [{{"shape": {{"box": [0.1, 1, 1]}}, "at": [-0.3, 0, 0],
        "motion": [{{"time": 0, "at": [0, 0, 0]}}, {{"time": 0.1, "at": [0, 0.1, 0]}}]}}])",
                              integrator == "implicit" ? "plane" : "scrambled");
    const auto run = [&](int threads, bool stop) {
      SimulationOptions options;
      options.threads = threads;
      Simulation simulation = simulate(scene_of(lone), options);
      for (int k = 0; k < 6; ++k) simulation.step();
      if (stop) {
        const Container saved = simulation.checkpoint();
        simulation = simulate(scene_of(lone), options);
        simulation.restore(saved);
      }
      for (int k = 0; k < 6; ++k) simulation.step();
      return simulation.state_hash();
    };
    const std::uint64_t whole = run(1, false);
    EXPECT_EQ(run(1, true), whole);
    EXPECT_EQ(run(2, false), whole);
    EXPECT_EQ(run(5, false), whole);
  }
}

/// Contact of a tangled body with itself is internal: it must not come out flying or spinning, however coarse the grid.
TEST(Solid, TangledBodiesGetNoSpin) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "precision": "double", "fps": 100, "duration": 10, "gravity": [0, 0, 0], "grid": {"dx": 0.2},
          "materials": {"m": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5, "poisson_ratio": 0.3}},
          "objects": [{"type": "solid", "shape": {"box": [0.2, 0.2, 0.2]}, "element_size": 0.05, "material": "m",
                       "damping": 100, "initial": "scrambled", "seed": 1}]})");
  double kinetic = 0;
  while (simulation.frame() < 10) {
    simulation.advance_frame();
    kinetic = std::max(kinetic, simulation.measure()[0].kinetic);
  }
  const ObjectSums sums = simulation.measure()[0];
  EXPECT_GT(kinetic, 1);
  EXPECT_LT(norm(sums.momentum), 1e-9);
  EXPECT_LT(norm(sums.angular_momentum), 1e-7);  // 0.6 where its torque is left
}

/// What sticks remembers how far it slipped: that is part of the state.
/// A block on a turntable needs 0.6 of the friction there is, and stays where it is: its samples must not take for slip
/// that the table beside them moves otherwise than under them.
TEST(Solid, StaysOnATurntable) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "fps": 20, "duration": 10, "gravity": [0, -9.81, 0], "grid": {"dx": 0.05},
          "materials": {
            "table": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 5e4, "poisson_ratio": 0.3},
            "block": {"model": "fixed_corotated", "density": 8000, "youngs_modulus": 2e5, "poisson_ratio": 0.3}},
          "objects": [
            {"type": "solid", "kinematic": true, "shape": {"box": [1.2, 0.2, 1.2]}, "element_size": 0.1,
             "material": "table", "friction": 0.5, "motion": [
               {"time": 0, "at": [0, -0.1, 0], "rotation": {"axis": [0, 1, 0], "degrees": 0}},
               {"time": 0.5, "at": [0, -0.1, 0], "rotation": {"axis": [0, 1, 0], "degrees": 90}},
               {"time": 1, "at": [0, -0.1, 0], "rotation": {"axis": [0, 1, 0], "degrees": 180}},
               {"time": 1.5, "at": [0, -0.1, 0], "rotation": {"axis": [0, 1, 0], "degrees": 270}}]},
            {"type": "solid", "name": "block", "shape": {"box": [0.2, 0.2, 0.2]}, "element_size": 0.1,
             "material": "block", "at": [0.3, 0.126, 0], "friction": 0.5, "self_contact": false,
             "velocity": [0, 0, -0.9425], "angular_velocity": [0, 3.1416, 0]}]})");
  const auto radius = [&] {
    const ObjectSums sums = simulation.measure()[1];
    return std::hypot(sums.mass_position[0], sums.mass_position[2]) / sums.mass;
  };
  while (simulation.time() < 0.4) simulation.step();
  const double settled = radius();
  while (simulation.time() < 1.3) simulation.step();
  EXPECT_NEAR(radius(), settled, 0.008);
}

TEST(Solid, SameBytesAfterResumeWhereBodiesStick) {
  const std::string scene =
      R"({"tribo": 1, "fps": 50, "duration": 10, "gravity": [3, -9, 0], "grid": {"dx": 0.1}, "time": {"dt_max": 0.002},
          "materials": {"m": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2e5, "poisson_ratio": 0.3}},
          "objects": [
            {"type": "solid", "kinematic": true, "shape": {"box": [0.6, 0.2, 0.6]}, "element_size": 0.2, "material": "m",
             "at": [0, -0.1, 0], "friction": 0.8},
            {"type": "solid", "shape": {"box": [0.2, 0.2, 0.2]}, "element_size": 0.1, "material": "m",
             "at": [0, 0.145, 0], "friction": 0.8}]})";
  const auto run = [&](bool stop) {
    Simulation simulation = simulate(scene);
    for (int k = 0; k < 20; ++k) simulation.step();
    if (stop) {
      double largest = 0;
      for (const Vec<double, 3>& s : state_column(simulation, "solid.slip")) largest = std::max(largest, norm(s));
      EXPECT_GT(largest, 0) << "nothing sticks";
      const Container saved = simulation.checkpoint();
      simulation = simulate(scene);
      simulation.restore(saved);
    }
    for (int k = 0; k < 20; ++k) simulation.step();
    return simulation.state_hash();
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Solid, FramesShowItsSurface) {
  Lone lone;
  lone.element = 0.1;
  Simulation simulation = simulate(scene_of(lone));
  const Frame frame = simulation.observe();
  ASSERT_EQ(frame.meshes.size(), 1u);
  EXPECT_EQ(frame.meshes[0].name, "solid0");
  EXPECT_EQ(frame.meshes[0].x.count, 26u);          // 27 less the one inside
  EXPECT_EQ(frame.meshes[0].triangles.count, 48u);  // eight on each side
  EXPECT_EQ(frame.find("x")->count, 0u);
  EXPECT_EQ(simulation.engine().counts().tets, 48);
  write_frame(::testing::TempDir() + "solid.tbf", frame);
}

/// Particles and meshes in one scene, each as if the other were not there while they are apart.
TEST(Solid, LivesBesideParticles) {
  Lone lone;
  lone.gravity = 9.81;
  std::string text = scene_of(lone);
  text.replace(
      text.find("\"objects\": ["), 12,
      R"("objects": [{"type": "particles", "shape": {"box": [0.4, 0.4, 0.4]}, "at": [3, 0, 0], "material": "m"}, )");
  Simulation simulation = simulate(text);
  while (simulation.frame() < 10) simulation.advance_frame();
  for (const ObjectSums& sums : simulation.measure()) EXPECT_NEAR(velocity(sums)[1], -9.81 * simulation.time(), 1e-9);
  EXPECT_NEAR(simulation.measure()[0].mass, 64, 1e-9);
  EXPECT_NEAR(simulation.measure()[1].mass, 8, 1e-9);
}

/// As particles the same object needs no other word.
TEST(Solid, MethodMpmIsPlainParticles) {
  Lone lone;
  lone.object = R"("method": "mpm")";
  Simulation simulation = simulate(scene_of(lone));
  EXPECT_EQ(simulation.engine().counts().tets, 0);
  EXPECT_GT(simulation.engine().counts().particles, 50);
}

/// A step far too long for the mesh ends the run with a word about where and why.
TEST(Solid, DivergenceNamesTheObject) {
  Lone lone;
  lone.object = R"("name": "wobbly", "damping": 0, "velocity_field": {"linear": {"x": [1e30, 0, 0]}})";
  try {
    Simulation simulation = simulate(scene_of(lone));
    for (int k = 0; k < 100; ++k) simulation.step();
    FAIL() << "it should have diverged";
  } catch (const DivergedError& error) {
    EXPECT_NE(std::string(error.what()).find("wobbly"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tribo::test
