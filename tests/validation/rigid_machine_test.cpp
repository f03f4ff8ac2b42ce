#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../physics/rigid_meshes.h"
#include "../physics/rigid_scenes.h"
#include "../unit/io/scratch.h"

/// \file
/// Machines of rigid bodies, joints and motors, as scenes say them, against statics and mechanics.

namespace tribo::test {
namespace {

using V = Vec<double, 3>;

class RigidMachines : public ::testing::TestWithParam<const char*> {
 protected:
  Bodies world() const {
    Bodies bodies;
    bodies.precision = GetParam();
    return bodies;
  }
};
INSTANTIATE_TEST_SUITE_P(Precisions, RigidMachines, ::testing::Values("float", "double"),
                         [](const auto& one) { return std::string(one.param); });

/// A rod hinged at the origin, turned up by degrees from where it hangs.
std::string rod(double length, double mass, double degrees) {
  const double a = degrees * pi / 180;
  return fmt::format(R"("name": "rod", "shape": {{"box": [0.05, {}, 0.05]}}, "mass": {}, "at": {},
                        "rotation": {{"axis": [0, 0, 1], "degrees": {}}})",
                     length, mass, text({{0.5 * length * std::sin(a), -0.5 * length * std::cos(a), 0}}), degrees);
}
double angle_of(const ObjectSums& sums) { return std::atan2(center(sums)[0], -center(sums)[1]); }

/// Promise: two light bodies on a rough hinge that fall, turning fast, and bounce from the floor again and again have
/// never more energy than before but for what moving along chords makes it differ by, and their hinge holds.
TEST_P(RigidMachines, HingedPairsBounce) {
  for (const double degrees : {0.0, 35.0, 70.0, 140.0}) {
    Bodies bodies = world();
    bodies.dt = 2e-3;
    bodies.floor(0.4);
    const std::string thrown = fmt::format(R"("friction": 0.4, "restitution": 0.7, "velocity": [0, -3, 0],
                                              "rotation": {{"axis": [1, 2, 3], "degrees": {}}})",
                                           degrees);
    bodies.body(R"("name": "a", "shape": {"box": [0.2, 0.1, 0.15]}, "density": 1300, "at": [0, 0.5, 0],
                   "angular_velocity": [0, 25, 0], )" +
                thrown);
    bodies.body(
        R"("name": "b", "shape": {"capsule": {"radius": 0.05, "height": 0.12}}, "density": 500, "at": [0, 0.8, 0],
                   "angular_velocity": [0, -20, 0], )" +
        thrown);
    bodies.joint(
        R"("type": "hinge", "axis": [0, 1, 0], "friction": 0.1, "at": [0, 0.65, 0], "between": "a", "and": "b")");
    Simulation simulation = bodies.simulation();
    const double start = all_energy(simulation);
    double most = 0, at = 0, farthest = 0;
    for (int k = 0; k < 300; ++k) {
      simulation.advance_frame();
      if (all_energy(simulation) > most) at = simulation.time();
      most = std::max(most, all_energy(simulation));
      farthest = std::max(farthest, norm(center(simulation.measure()[1]) - center(simulation.measure()[0])));
    }
    fmt::print(
        "hinged pair, {}, {} degrees: {:.4f} of its energy at most, at {:.2f} s, {:.4f} in the end, "
        "hinge open by {:.2f} mm at most\n",
        GetParam(), degrees, most / start, at, all_energy(simulation) / start, 1000 * (farthest - 0.3));
    EXPECT_LE(most, start * (1 + std::pow(25 * bodies.dt, 2)));
    EXPECT_LT(all_energy(simulation), 0.5 * start);
    EXPECT_LT(farthest, 0.3 + 1e-5);
  }
}

/// Promise: a motor that lifts a rod stalls where its torque is m g l sin(angle), within 1 %.
TEST_P(RigidMachines, MotorStalls) {
  const double l = 1, m = 3;
  for (const double degrees : {20.0, 60.0, 80.0}) {
    Bodies bodies = world();
    const double torque = m * 9.81 * 0.5 * l * std::sin(degrees * pi / 180);
    bodies.body(rod(l, m, degrees - 4));
    bodies.joint(fmt::format(R"("type": "hinge", "axis": [0, 0, 1], "at": [0, 0, 0], "between": "rod",
                                "motor": {{"speed": 0.02, "torque": {:.17g}}})",
                             torque));
    Simulation simulation = bodies.simulation();
    advance(simulation, 600);
    double mean = 0;
    for (int k = 0; k < 2000; ++k) {
      simulation.advance_frame();
      mean += std::sin(angle_of(simulation.measure()[0])) / 2000;
    }
    const double off = mean * m * 9.81 * 0.5 * l / torque - 1;
    fmt::print("motor stalls, {}: at {:.3f} of {} degrees, load off by {:.1e} of its torque\n", GetParam(),
               std::asin(mean) * 180 / pi, degrees, off);
    EXPECT_NEAR(off, 0, 0.01);
  }
}

/// Promise: a door thrown against the limit of its hinge stops there within 1e-3 degrees, and gains no energy but what
/// moving along chords makes it differ by, (w dt)^2 of it.
TEST_P(RigidMachines, LimitsHold) {
  Bodies bodies = world();
  bodies.gravity = V::zero();
  bodies.body(rod(1, 2, 0) + R"(, "velocity": [2.5, 0, 0], "angular_velocity": [0, 0, 5])");
  bodies.joint(R"("type": "hinge", "axis": [0, 0, 1], "at": [0, 0, 0], "between": "rod", "min": -10, "max": 30)");
  Simulation simulation = bodies.simulation();
  const double start = all_energy(simulation);
  double highest = 0, energy = 0;
  for (int k = 0; k < 200; ++k) {
    simulation.advance_frame();
    highest = std::max(highest, angle_of(simulation.measure()[0]) * 180 / pi);
    energy = std::max(energy, all_energy(simulation));
  }
  fmt::print("limit of 30 degrees, {}: {:.6f} at most, {:.1e} of its energy left\n", GetParam(), highest,
             all_energy(simulation) / start);
  EXPECT_NEAR(highest, 30, 1e-3);
  EXPECT_LE(energy, start * (1 + std::pow(5 * bodies.dt, 2)));
}

/// Promise: a wheel with friction in its hinge slows down by friction over inertia, stops, and stays.
TEST_P(RigidMachines, FrictionOfAHinge) {
  Bodies bodies = world();
  const double r = 0.2, m = 4, inertia = 0.5 * m * r * r, friction = 0.1, w = 10;
  bodies.body(fmt::format(R"("name": "wheel", "shape": {{"cylinder": {{"radius": {}, "height": 0.05}}}}, "mass": {},
                             "angular_velocity": [0, {}, 0])",
                          r, m, w));
  bodies.joint(fmt::format(R"("type": "hinge", "axis": [0, 1, 0], "at": [0, 0, 0], "between": "wheel", "friction": {})",
                           friction));
  Simulation simulation = bodies.simulation();
  const double stops = w * inertia / friction;
  while (simulation.time() < 0.5 * stops) simulation.advance_frame();
  EXPECT_NEAR(spin(simulation.measure()[0])[1], w - friction / inertia * simulation.time(), 1e-6 * w);
  while (simulation.time() < 1.1 * stops) simulation.advance_frame();
  EXPECT_NEAR(spin(simulation.measure()[0])[1], 0, 1e-12);
}

/// Promise: a weight on a spring swings with 2 pi sqrt(m / k) within 0.1 %, for any step that shows it; on a rope it
/// never gets farther than the rope is long, and swings as a pendulum.
TEST_P(RigidMachines, SpringsAndRopes) {
  for (const double dt : {1e-3, 1e-2}) {
    Bodies bodies = world();
    bodies.dt = dt;
    const double k = 200, m = 2;
    bodies.body(fmt::format(R"("name": "weight", "shape": {{"sphere": 0.05}}, "mass": {}, "at": [0, -1, 0])", m));
    bodies.joint(
        fmt::format(R"("type": "spring", "stiffness": {}, "at": [0, -1, 0], "to": [0, 0, 0], "between": "weight")", k));
    Simulation simulation = bodies.simulation();
    const double middle = -1 - m * 9.81 / k;
    std::vector<double> crossings;
    double before = 1, lowest = 0;
    while (simulation.time() < 10) {
      simulation.advance_frame();
      const double y = center(simulation.measure()[0])[1] - middle;
      if (before > 0 && y <= 0) crossings.push_back(simulation.time() - y / (y - before) / bodies.fps);
      before = y;
      lowest = std::min(lowest, y);
    }
    const double expected = 2 * pi * std::sqrt(m / k);
    const double period = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
    fmt::print("spring, {}, dt {}: period {:.5f} of theory, lowest {:.4f} of its swing\n", GetParam(), dt,
               period / expected, -lowest / (m * 9.81 / k));
    EXPECT_NEAR(period, expected, (dt < 5e-3 ? 1e-3 : 1e-2) * expected);
    EXPECT_NEAR(-lowest, m * 9.81 / k, 0.01 * m * 9.81 / k);
  }
  Bodies bodies = world();
  bodies.body(R"("name": "weight", "shape": {"sphere": 0.05}, "mass": 2, "at": [0.3, 0.2, 0], "velocity": [1, 2, 0])");
  bodies.joint(R"("type": "distance", "max": 1, "at": [0.3, 0.2, 0], "to": [0, 0, 0], "between": "weight")");
  Simulation simulation = bodies.simulation();
  double farthest = 0, energy = all_energy(simulation), most = -1e300;
  for (int k = 0; k < 500; ++k) {
    simulation.advance_frame();
    farthest = std::max(farthest, norm(center(simulation.measure()[0])));
    most = std::max(most, all_energy(simulation) - energy);
  }
  fmt::print("rope of 1 m, {}: {:.2e} m longer at most, energy rose by {:.1e} J\n", GetParam(), farthest - 1, most);
  EXPECT_NEAR(farthest, 1, 1e-4);
  EXPECT_LT(most, 1e-3 * 2 * 9.81);
}

/// Promise: a chain of rods that lies over the edge of a table holds on by its friction, with its end swinging, and its
/// joints and the table both hold.
TEST_P(RigidMachines, ChainOverAnEdge) {
  Bodies bodies = world();
  bodies.dx = 0.02;
  bodies.fps = 50;
  const int links = 14;
  const double l = 0.1, r = 0.015;
  bodies.collider(R"("shape": {"box": [2, 0.5, 1]}, "at": [-1, -0.25, 0], "friction": 0.8)");
  for (int k = 0; k < links; ++k) {
    const double x = -1 + (k + 0.5) * l;
    bodies.body(fmt::format(
        R"("name": "l{}", "shape": {{"capsule": {{"radius": {}, "height": {}}}}}, "density": 2000, "friction": 0.8,
                               "at": {}, "rotation": {{"axis": [0, 0, 1], "degrees": 90}})",
        k, r, l - 2 * r, text({{x, r + bodies.rest(), 0}})));
    if (k > 0)
      bodies.joint(fmt::format(R"("type": "ball", "at": {}, "between": "l{}", "and": "l{}")",
                               text({{x - 0.5 * l, r + bodies.rest(), 0}}), k, k - 1));
  }
  Simulation simulation = bodies.simulation();
  advance(simulation, 400);
  const std::vector<ObjectSums> early = simulation.measure();
  advance(simulation, 100);
  const std::vector<ObjectSums> late = simulation.measure();
  double creep = 0, stretch = 0, deepest = 1;
  for (int k = 0; k < links; ++k) {
    const auto i = static_cast<std::size_t>(k);
    if (k < links / 2) creep = std::max(creep, norm(center(late[i]) - center(early[i])) / 2);
    if (k > 0) stretch = std::max(stretch, norm(center(late[i]) - center(late[i - 1])) - l);
    if (center(late[i])[0] < -0.01) deepest = std::min(deepest, center(late[i])[1] - r);
  }
  fmt::print(
      "chain over an edge, {}: creep {:.1e} mm/s, stretched by {:.1e} mm, {:.3f} mm over the table, end at {:.3f} m\n",
      GetParam(), 1000 * creep, 1000 * stretch, 1000 * deepest, center(late.back())[1]);
  EXPECT_LT(creep, 1e-4);
  EXPECT_LT(stretch, 1e-6);
  EXPECT_GT(deepest, 0);
  EXPECT_LT(center(late.back())[1], -0.2);
}

/// Promise: two wheels with teeth turn each other by their teeth alone, in the ratio of their numbers within 0.2 %, and
/// the motor of the first bears what the second's hinge rubs.
TEST_P(RigidMachines, Gears) {
  const Scratch scratch;
  const int first = 12, second = 18;
  const double module = 0.01, depth = module;
  const auto gear = [&](const char* name, int teeth) {
    const std::string file = scratch / (std::string(name) + ".obj");
    write_bytes(file, as_obj(make_gear(teeth, 0.5 * module * teeth, depth, 0.03)));
    return fmt::format(R"("name": "{}", "shape": {{"mesh": "{}"}}, "density": 2000, "friction": 0.05)", name, file);
  };
  Bodies bodies = world();
  bodies.dx = 0.01;
  bodies.fps = 50;
  const double apart = 0.5 * module * (first + second) + 0.1 * module;
  bodies.body(gear("first", first));
  // a tooth of the first is at 0 degrees; a gap of the second at 180
  bodies.body(
      gear("second", second) +
      fmt::format(R"(, "at": [{}, 0, 0], "rotation": {{"axis": [0, 0, 1], "degrees": {}}})", apart, 180.0 / second));
  bodies.joint(R"("type": "hinge", "axis": [0, 0, 1], "at": [0, 0, 0], "between": "first", "motor": {"speed": 3})");
  bodies.joint(fmt::format(
      R"("type": "hinge", "axis": [0, 0, 1], "at": [{}, 0, 0], "between": "second", "friction": 0.2)", apart));
  Simulation simulation = bodies.simulation();
  double turned[2] = {0, 0};
  for (int k = 0; k < 500; ++k) {
    simulation.advance_frame();
    const std::vector<ObjectSums> now = simulation.measure();
    for (std::size_t i = 0; i < 2; ++i) turned[i] += spin(now[i])[2] / bodies.fps;
  }
  fmt::print("gears, {}: turned by {:.3f} and {:.3f} rad, ratio {:.5f} of that of their teeth\n", GetParam(), turned[0],
             turned[1], -turned[1] / turned[0] * second / first);
  EXPECT_NEAR(turned[0], 30, 0.01);
  EXPECT_NEAR(-turned[1] / turned[0] * second / first, 1, 0.01);
}

}  // namespace
}  // namespace tribo::test
