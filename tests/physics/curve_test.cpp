#include <gtest/gtest.h>

#include <algorithm>

#include "solid_scenes.h"

/// \file
/// Hair of method "mpm": curves in the grid (Jiang 2017), what it promises as a baseline, and what it costs: strands
/// share velocities within a cell (Han 2019, Fig. 11).

namespace tribo::test {
namespace {

/// Strands of 0.2 m and radius 1 mm, 20 segments, through the origin but for `at`: along x, y or z.
struct Curve {
  std::string name = "one";
  char along = 'x';
  Vec<double, 3> at = Vec<double, 3>::zero(), velocity = Vec<double, 3>::zero();
  std::string keys = R"("roots": "free")";
};
std::string object_of(const Curve& curve, const char* method = "mpm") {
  const char* const turn = curve.along == 'x'   ? R"({"axis": [0, 0, 1], "degrees": -90})"
                           : curve.along == 'y' ? R"({"axis": [0, 0, 1], "degrees": 180})"
                                                : R"({"axis": [1, 0, 0], "degrees": 90})";
  return fmt::format(
      R"({{"name": "{}", "type": "hair", "method": "{}", "strands": {{"tube": {{"count": 1, "length": 0.2, "spacing": 0.1}}}},
           "radius": 1e-3, "segments": 20, "youngs_modulus": 1e7, "stretch_scale": 0.1, "at": [{}, {}, {}], "rotation": {},
           "velocity": [{}, {}, {}], {}}})",
      curve.name, method, curve.at[0], curve.at[1], curve.at[2], turn, curve.velocity[0], curve.velocity[1],
      curve.velocity[2], curve.keys);
}
struct World {
  double gravity = 0, dx = 0.01, fps = 100;
  std::string precision = "double", transfer = "apic", beside;
};
std::string scene_of(const World& world, const std::string& objects) {
  return fmt::format(
      R"({{"tribo": 1, "fps": {}, "duration": 100, "precision": "{}", "gravity": [0, {}, 0],
           "grid": {{"dx": {}, "transfer": "{}"}}, "objects": [{}]{}}})",
      world.fps, world.precision, -world.gravity, world.dx, world.transfer, objects, world.beside);
}
void run(Simulation& simulation, double until) {
  while (simulation.time() < until - 1e-9) simulation.advance_frame();
}
/// Vertices of the curves of an object, as observers see them.
Points points_of(Simulation& simulation, std::size_t curves) {
  const Frame frame = simulation.observe();
  const FrameCurves& shown = frame.curves.at(curves);
  Points points(shown.x.count);
  for (std::size_t i = 0; i < points.size(); ++i)
    for (int k = 0; k < 3; ++k)
      points[i][k] = shown.x.type == DType::f64 ? shown.x.as<double>()[3 * i + static_cast<std::size_t>(k)]
                                                : shown.x.as<float>()[3 * i + static_cast<std::size_t>(k)];
  return points;
}

/// Nothing acts on strands at rest, straight or curled: they stay where they are.
TEST(Curves, StayAtRest) {
  World world;
  Simulation simulation = simulate(scene_of(
      world, object_of({}) + R"(, {"type": "hair", "method": "mpm", "radius": 1e-3, "segments": 24, "at": [0, 0.2, 0],
             "youngs_modulus": 1e7, "roots": "free", "strands": {"scalp": {"shape": {"sphere": 0.02}, "count": 5,
             "length": 0.1, "curl": {"radius": 0.01, "pitch": 0.05}}}})"));
  const Points before = points_of(simulation, 1);
  run(simulation, 0.05);
  const Points after = points_of(simulation, 1);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_LT(norm(after[i] - before[i]), 1e-9);
  for (const ObjectSums& sums : simulation.measure()) {
    EXPECT_LT(sums.kinetic, 1e-16);
    EXPECT_LT(sums.elastic, 1e-12);
  }
}

/// Shares of vertices and elements are all of the mass, and gravity is the grid's alone.
TEST(Curves, FallFreely) {
  World world;
  world.gravity = 9.81;
  Curve curve;
  curve.velocity = {{1, 2, 0}};
  Simulation simulation = simulate(scene_of(world, object_of(curve)));
  run(simulation, 0.1);
  const ObjectSums sums = simulation.measure()[0];
  EXPECT_NEAR(sums.mass, 1300 * pi * 1e-6 * 0.2, 1e-12);
  EXPECT_NEAR(velocity(sums)[1], 2 - 9.81 * simulation.time(), 1e-9);
  EXPECT_NEAR(center(sums)[0], 0.1, 1e-9);
  EXPECT_EQ(simulation.engine().counts().segments, 20);
  EXPECT_EQ(simulation.engine().counts().particles, 0) << "its particles are none to observers";
  EXPECT_EQ(simulation.observe().find("x")->count, 0U);
}

/// Two strands thrown at each other crosswise, the upper one toward the lower.
struct Crossing {
  Simulation simulation;
  explicit Crossing(const World& world, double speed, double friction, double height = 0.03)
      : simulation(simulate(scene_of(world, objects(speed, friction, height)))) {}
  static std::string objects(double speed, double friction, double height) {
    const std::string keys = fmt::format(R"("roots": "free", "friction": {})", friction);
    return object_of({"lower", 'x', {{0.003, 0, 0.001}}, {{0, 0, 0}}, keys}) + ", " +
           object_of({"upper", 'z', {{0, height, 0.002}}, {{0, -speed, 0}}, keys});
  }
};

/// Forces of elements, through vertices along and through slopes across, add up to nothing: linear momentum is kept to
/// rounding. Angular momentum is kept by forces and transfers; what is lost is that elements are put at the middle of
/// their vertices instead of where the grid moves them (Jiang 2017, 4.1).
TEST(Curves, KeepMomenta) {
  Crossing crossing(World{}, 1, 0.3);
  const auto sums = [&] {
    ObjectSums all;
    for (const ObjectSums& object : crossing.simulation.measure()) all.add(object);
    return all;
  };
  const ObjectSums before = sums();
  double most_elastic = 0;
  while (crossing.simulation.time() < 0.1 - 1e-9) {
    crossing.simulation.advance_frame();
    most_elastic = std::max(most_elastic, sums().elastic);
  }
  const ObjectSums after = sums();
  EXPECT_GT(most_elastic, 1e-3 * before.kinetic) << "they should have met";
  EXPECT_LT(norm(after.momentum - before.momentum), 1e-11 * norm(before.momentum));
  const double lever = 0.1 * norm(before.momentum);
  const double lost = norm(after.angular_momentum - before.angular_momentum) / lever;
  RecordProperty("angular_momentum_lost", fmt::format("{:.2e} of p L/2", lost));
  EXPECT_LT(lost, 1e-4);
  EXPECT_LT(after.kinetic + after.elastic, 1.001 * (before.kinetic + before.elastic));
}

/// Where the grid resolves them strands do not pass through each other, and come to move together.
TEST(Curves, CrossedStrandsDoNotPass) {
  for (const double speed : {0.5, 2.0}) {
    Crossing crossing(World{}, speed, 0.3);
    double gap = 1;
    while (crossing.simulation.time() < 0.06 / speed - 1e-9) {
      crossing.simulation.step();
      const Points lower = points_of(crossing.simulation, 0), upper = points_of(crossing.simulation, 1);
      gap = std::min(gap, upper[10][1] - lower[10][1]);
    }
    RecordProperty(fmt::format("gap_at_{}_m_s", speed), fmt::format("{:.3f} dx", gap / 0.01));
    EXPECT_GT(gap, 0.8 * 0.01) << speed;
    const std::vector<ObjectSums> sums = crossing.simulation.measure();
    EXPECT_LT(velocity(sums[0])[1], -0.05 * speed) << "the lower one is pushed along";
  }
}

/// Han 2019, Fig. 11: strands without friction that lie side by side within a cell drag each other along, where rods
/// slide for ever. The number is the share of the slip that is left.
double slip_left(const char* method, double spacing) {
  World world;
  const std::string keys = R"("roots": "free", "friction": 0)";
  Simulation simulation =
      simulate(scene_of(world, object_of({"one", 'x', {{0, 0, 0}}, {{0, 0, 0}}, keys}, method) + ", " +
                                   object_of({"other", 'x', {{0, spacing, 0}}, {{1, 0, 0}}, keys}, method)));
  run(simulation, 0.02);
  const std::vector<ObjectSums> sums = simulation.measure();
  return velocity(sums[1])[0] - velocity(sums[0])[0];
}
TEST(Curves, ShareVelocitiesWithinACell) {
  const double near = slip_left("mpm", 0.005), far = slip_left("mpm", 0.035), rods = slip_left("hybrid", 0.005);
  RecordProperty("slip_left_after_20_ms", fmt::format("{:.3f} at half a cell, {:.3f} at 3.5 cells", near, far));
  EXPECT_LT(near, 0.3);
  EXPECT_NEAR(far, 1, 1e-9);
  EXPECT_GT(rods, 0.99);  // the blend of eq. 33 takes a twentieth in 1/24 s of what their grid does not see
}

/// A strand that hangs from its clamped end is longer by rho g l^2 / (2 k).
TEST(Curves, HangAsLongAsHookeSays) {
  World world;
  world.gravity = 9.81;
  Curve curve;
  curve.along = 'y';
  curve.keys = R"("roots": "clamped", "drag": 20, "density": 2000)";  // k = 1e6 Pa
  Simulation simulation = simulate(scene_of(world, object_of(curve)));
  const Points before = points_of(simulation, 0);
  run(simulation, 0.4);
  const Points after = points_of(simulation, 0);
  const std::size_t tip = before.size() - 1;
  const double free_length = norm(before[tip] - before[1]), sign = before[tip][1] < before[0][1] ? 1 : -1;
  const double expected = 2000 * 9.81 * free_length * free_length / (2 * 1e6);
  ASSERT_EQ(sign, 1) << "it hangs from its root";
  const double longer = before[tip][1] - after[tip][1];
  RecordProperty("longer", fmt::format("{:.4f} mm, Hooke {:.4f} mm", 1e3 * longer, 1e3 * expected));
  EXPECT_NEAR(longer, expected, 0.02 * expected);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) EXPECT_LT(norm(after[i] - before[i]), 1e-12);
}

/// A level cantilever sags by rho A g l^4 / (8 E I): bending is that of rods.
TEST(Curves, SagAsABeam) {
  World world;
  world.gravity = 1;
  Curve curve;
  curve.keys = R"("roots": "clamped", "drag": 20)";
  std::string object = object_of(curve);
  const std::string limp = R"("youngs_modulus": 1e7, "stretch_scale": 0.1)";
  object.replace(object.find(limp), limp.size(), R"("youngs_modulus": 2e8, "stretch_scale": 5e-3)");
  Simulation simulation = simulate(scene_of(world, object));
  const Points before = points_of(simulation, 0);
  run(simulation, 0.5);
  const Points after = points_of(simulation, 0);
  const std::size_t tip = before.size() - 1;
  const double l = norm(before[tip] - before[1]);
  const double expected = 1300 * l * l * l * l / (8 * 2e8 * 1e-6 / 4);
  const double sag = before[tip][1] - after[tip][1];
  RecordProperty("sag", fmt::format("{:.3f} mm, beam {:.3f} mm", 1e3 * sag, 1e3 * expected));
  EXPECT_NEAR(sag, expected, 0.05 * expected);
}

/// Colliders at nodes stop curves as they stop particles.
TEST(Curves, LieOnAFloor) {
  World world;
  world.gravity = 9.81;
  world.fps = 20;
  world.precision = "float";
  world.beside = R"(, "colliders": [{"shape": {"half_space": [0, 1, 0]}, "friction": 0.5}])";
  Curve curve;
  curve.at = {{0, 0.05, 0}};
  Simulation simulation = simulate(scene_of(world, object_of(curve)));
  run(simulation, 0.5);
  for (const Vec<double, 3>& x : points_of(simulation, 0)) {
    EXPECT_GT(x[1], -0.1 * world.dx);
    EXPECT_LT(x[1], 1.5 * world.dx);
  }
  EXPECT_LT(norm(velocity(simulation.measure()[0])), 0.01);
}

/// A shaken ball of curls, whose strands need frames, over the ground.
const char* const shaken = R"({"tribo": 1, "fps": 50, "duration": 1, "grid": {"dx": 0.01},
  "objects": [{"name": "curls", "type": "hair", "method": "mpm", "radius": 2e-4, "segments": 12, "aspect": 1.5,
    "youngs_modulus": 1e8, "friction": 0.3,
    "strands": {"scalp": {"shape": {"sphere": 0.03}, "count": 10, "length": 0.06, "spread": 20,
                          "curl": {"radius": 0.004, "pitch": 0.02}}},
    "motion": [{"time": 0, "at": [0, 0.12, 0]}, {"time": 0.06, "at": [0.06, 0.06, 0], "rotation": {"degrees": 90}}]}],
  "colliders": [{"shape": {"half_space": [0, 1, 0]}, "friction": 0.5}]})";

/// Promise: a checkpoint is all of the state, normals and frames included, whatever the threads.
TEST(Curves, ResumeWithTheSameBytes) {
  SimulationOptions options;
  options.threads = 1;
  Simulation whole = simulate(shaken, options);
  for (int i = 0; i < 57; ++i) whole.step();
  const Container saved = whole.checkpoint();
  options.threads = 2;
  Simulation resumed = simulate(shaken, options);
  resumed.restore(saved);
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  for (int i = 0; i < 200; ++i) {
    whole.step();
    resumed.step();
  }
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  EXPECT_GT(whole.measure()[0].elastic, 0);
}

TEST(Curves, RootsFollowTheirKeyframes) {
  Simulation simulation = simulate(shaken);
  const Points first = points_of(simulation, 0);
  run(simulation, 0.06);
  const Points last = points_of(simulation, 0);
  ASSERT_EQ(last.size(), 130U);
  for (std::size_t s = 0; s < 10; ++s) {  // turned by 90 degrees about z
    const std::size_t i = 13 * s;
    EXPECT_NEAR(last[i][0], 0.06 - (first[i][1] - 0.12), 1e-5);
    EXPECT_NEAR(last[i][1], 0.06 + first[i][0], 1e-5);
    EXPECT_NEAR(last[i][2], first[i][2], 1e-5);
  }
}

}  // namespace
}  // namespace tribo::test
