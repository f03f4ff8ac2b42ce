#include <gtest/gtest.h>

#include "solid_scenes.h"

/// \file
/// Meshes whose vertices are particles, method "updated_lagrangian": what it promises as a baseline, with forces of the
/// mesh and all else by the grid.

namespace tribo::test {
namespace {

/// A cube of 0.2 m; `more` are further keys of it, `beside` what else is in the scene.
struct Cube {
  std::string method = "updated_lagrangian";
  double dx = 0.05, element = 0.05;  ///< [m]
  double gravity = 0;                ///< downward [m/s^2]
  double fps = 100;
  std::string more = R"("damping": 0)";
  std::string beside;
};
std::string scene_of(const Cube& cube) {
  return fmt::format(
      R"({{"tribo": 1, "fps": {}, "duration": 100, "precision": "double", "gravity": [0, {}, 0], "grid": {{"dx": {}}},
           "materials": {{"m": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2.5e5, "poisson_ratio": 0.3}}}},
           "objects": [{{"name": "cube", "type": "solid", "method": "{}", "shape": {{"box": [0.2, 0.2, 0.2]}}, "element_size": {},
                         "material": "m", {}}}]{}}})",
      cube.fps, -cube.gravity, cube.dx, cube.method, cube.element, cube.more, cube.beside);
}

/// Forces of tets add up to nothing and have no torque, and affine transfers keep both momenta.
TEST(UpdatedLagrangian, FreeBodyKeepsMomenta) {
  Cube cube;
  cube.more = R"("damping": 0, "velocity": [0.3, 0.2, -0.1], "angular_velocity": [2, 3, -1],
                 "velocity_field": {"linear": {"x": [3, 0, 0], "y": [0, -2, 0]}})";
  Simulation simulation = simulate(scene_of(cube));
  const ObjectSums before = simulation.measure()[0];
  EXPECT_NEAR(before.mass, 8, 1e-9);
  double most_elastic = 0;
  while (simulation.frame() < 20) {
    simulation.advance_frame();
    most_elastic = std::max(most_elastic, simulation.measure()[0].elastic);
  }
  const ObjectSums after = simulation.measure()[0];
  EXPECT_GT(most_elastic, 0.01 * before.kinetic) << "the mesh should be strained";
  EXPECT_LT(norm(after.momentum - before.momentum), 1e-11 * norm(before.momentum));
  EXPECT_LT(norm(after.angular_momentum - before.angular_momentum), 1e-11 * norm(before.angular_momentum));
  EXPECT_LT(energy(after), 1.02 * energy(before));
}

/// When the elastic energy of a cube that is set swinging has its second maximum: one half-period after the first.
double half_period(const Cube& cube) {
  Simulation simulation = simulate(scene_of(cube));
  double before = 0, now = 0, time[2];
  for (int maxima = 0; maxima < 2;) {
    simulation.advance_frame();
    const double next = simulation.measure()[0].elastic;
    if (now > before && now >= next) {  // the top of the parabola through three values
      const double offset = 0.5 * (before - next) / (before - 2 * now + next);
      time[maxima++] = simulation.time() + (offset - 1) / cube.fps;
    }
    before = now;
    now = next;
    if (simulation.time() > 0.2) return 0;
  }
  return time[1] - time[0];
}

/// Where the grid is as fine as the mesh it passes on what the mesh does.
TEST(UpdatedLagrangian, SwingsAsTheMeshAloneDoes) {
  Cube cube;
  cube.fps = 1000;
  cube.more = R"("damping": 0, "velocity_field": {"linear": {"x": [1, 0, 0], "y": [0, -0.5, 0], "z": [0, 0, -0.5]}})";
  cube.method = "hybrid";
  const double exact = half_period(cube);
  EXPECT_GT(exact, 0.003);
  cube.method = "updated_lagrangian";
  EXPECT_NEAR(half_period(cube), exact, 0.05 * exact);
  cube.dx = 0.025;
  EXPECT_NEAR(half_period(cube), exact, 0.01 * exact);
}

/// Han 2019, Fig. 10: what the grid cannot tell apart moves as one, whatever the mesh wants. Flattened to a plane, a
/// body stays flat, where a hybrid one unfolds at once.
TEST(UpdatedLagrangian, CoincidentVerticesNeverPart) {
  Cube cube;
  cube.more = R"("damping": 50, "initial": "plane")";
  const auto thickness = [&](const char* method) {
    cube.method = method;
    Simulation simulation = simulate(scene_of(cube));
    while (simulation.frame() < 10) simulation.advance_frame();
    const ObjectSums sums = simulation.measure()[0];
    return sums.high[1] - sums.low[1];
  };
  EXPECT_LT(thickness("updated_lagrangian"), 1e-6);
  EXPECT_GT(thickness("hybrid"), 0.1);
}

/// Colliders at nodes stop it as they stop particles: it comes to rest near the floor, and does not creep through.
TEST(UpdatedLagrangian, StandsOnAFloor) {
  Cube cube;
  cube.gravity = 9.81;
  cube.fps = 20;
  cube.more = R"("at": [0, 0.15, 0])";
  cube.beside = R"(, "colliders": [{"shape": {"half_space": [0, 1, 0]}, "friction": 0.5}])";
  Simulation simulation = simulate(scene_of(cube));
  while (simulation.frame() < 20) simulation.advance_frame();
  const ObjectSums sums = simulation.measure()[0];
  EXPECT_NEAR(center(sums)[1], 0.1, 0.6 * cube.dx);
  EXPECT_GT(sums.low[1], -0.5 * cube.dx);
  EXPECT_LT(norm(velocity(sums)), 0.02);
}

/// Nothing but the particles is saved, and a run goes on from there as if nothing had been, whatever the threads.
TEST(UpdatedLagrangian, ResumesToTheLastBit) {
  Cube cube;
  cube.more = R"("initial": "mirrored", "angular_velocity": [1, 2, 3])";
  SimulationOptions options;
  options.threads = 1;
  Simulation simulation = simulate(scene_of(cube), options);
  for (int k = 0; k < 7; ++k) simulation.step();
  options.threads = 2;
  Simulation resumed = simulate(scene_of(cube), options);
  resumed.restore(simulation.checkpoint());
  for (Simulation* run : {&simulation, &resumed})
    for (int k = 0; k < 20; ++k) run->step();
  EXPECT_EQ(simulation.state_hash(), resumed.state_hash());
}

/// Observers see the body's boundary as they do of hybrid bodies; its vertices are no particles to them.
TEST(UpdatedLagrangian, FramesShowTheMesh) {
  Cube cube;
  cube.gravity = 9.81;
  std::string text = scene_of(cube);
  text.replace(
      text.find("\"objects\": ["), 12,
      R"("objects": [{"type": "particles", "shape": {"box": [0.4, 0.4, 0.4]}, "at": [3, 0, 0], "material": "m"}, )");
  Simulation simulation = simulate(text);
  while (simulation.frame() < 5) simulation.advance_frame();
  const EngineCounts counts = simulation.engine().counts();
  const Frame frame = simulation.observe();
  ASSERT_EQ(frame.meshes.size(), 1u);
  EXPECT_EQ(frame.meshes[0].name, "cube");
  EXPECT_GT(counts.vertices, 50);
  EXPECT_GT(counts.particles, 1000);
  EXPECT_EQ(std::int64_t(frame.find("x")->count), counts.particles);
  for (const std::int32_t object : frame.find("object")->as<std::int32_t>()) EXPECT_EQ(object, 0);
  for (const ObjectSums& sums : simulation.measure()) EXPECT_NEAR(velocity(sums)[1], -9.81 * simulation.time(), 1e-9);
  for (std::size_t i = 0; i < frame.meshes[0].x.count; ++i)
    EXPECT_LT(frame.meshes[0].x.as<double>()[3 * i], 1) << "the mesh is where the cube is";
}

}  // namespace
}  // namespace tribo::test
