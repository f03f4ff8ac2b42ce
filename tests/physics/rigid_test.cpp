#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "rigid_scenes.h"

/// \file
/// Rigid bodies by themselves, against each other and on colliders, against mechanics.

namespace tribo::test {
namespace {

using V = Vec<double, 3>;

class RigidBodies : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Precisions, RigidBodies, ::testing::Values("float", "double"),
                         [](const auto& one) { return std::string(one.param); });

/// Promise: a free body keeps its angular momentum to rounding and its energy to 2e-5, and flips over its middle axis in
/// the time that elliptic integrals give (Landau and Lifshitz, Mechanics, 37).
TEST_P(RigidBodies, SpinFreely) {
  Bodies world;
  world.precision = GetParam();
  world.fps = 200;
  world.gravity = V::zero();
  world.dt = 5e-3;
  const double a = 0.2, b = 0.4, c = 0.6, low = (a * a + b * b) / 12, middle = (a * a + c * c) / 12,
               high = (b * b + c * c) / 12;
  const V w{{0.3, 3, 0.1}};  // about the axes of high, middle and low
  world.body(fmt::format(R"("shape": {{"box": [{}, {}, {}]}}, "mass": 1, "angular_velocity": {})", a, b, c, text(w)));
  Simulation simulation = world.simulation();
  const ObjectSums start = simulation.measure()[0];
  const double twice = 2 * start.kinetic, square = squared_norm(start.angular_momentum);
  EXPECT_NEAR(twice, high * w[0] * w[0] + middle * w[1] * w[1] + low * w[2] * w[2], 1e-12 * twice);
  ASSERT_GT(square, twice * middle);
  const double rate = std::sqrt((high - middle) * (square - twice * low) / (low * middle * high));
  const double modulus =
      std::sqrt((middle - low) * (twice * high - square) / ((high - middle) * (square - twice * low)));
  const double half_period = 2 * std::comp_ellint_1(modulus) / rate;
  std::vector<double> speeds, peaks;
  for (int frame = 0; frame < 4000; ++frame) {
    simulation.advance_frame();
    const ObjectSums now = simulation.measure()[0];
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(now.angular_momentum[k], start.angular_momentum[k], 1e-13 * std::sqrt(square));
    EXPECT_NEAR(now.kinetic, start.kinetic, 2e-5 * start.kinetic);
    speeds.push_back(squared_norm(spin(now)));
    const std::size_t n = speeds.size();
    if (n < 3 || !(speeds[n - 2] > speeds[n - 3]) || !(speeds[n - 2] >= speeds[n - 1])) continue;
    const double bend = speeds[n - 1] - 2 * speeds[n - 2] + speeds[n - 3];
    peaks.push_back((frame - 0.5 * (speeds[n - 1] - speeds[n - 3]) / bend) / world.fps);
  }
  ASSERT_GE(peaks.size(), 4u);
  EXPECT_NEAR((peaks.back() - peaks.front()) / static_cast<double>(peaks.size() - 1), half_period, 0.005 * half_period);
}

/// Promise: a box on a slope, aligned with it or turned about its normal, on a half space, on a box of a collider and on a
/// kinematic body, slides as Coulomb says within 0.1 %, or stays: creep below 1e-3 mm/s.
TEST_P(RigidBodies, SlideOrStayOnSlopes) {
  const double degrees = 20, g = 9.81, sine = std::sin(degrees * pi / 180), cosine = std::cos(degrees * pi / 180);
  const V along{{cosine, -sine, 0}}, up{{sine, cosine, 0}};
  for (const char* ground : {"half space", "collider", "body"})
    for (const double turn : {0.0, 30.0})
      for (const double friction : {0.0, 0.1, 0.2, 0.3, 0.35, 0.38, 0.6}) {
        SCOPED_TRACE(fmt::format("{} turned {} friction {}", ground, turn, friction));
        Bodies world;
        world.precision = GetParam();
        world.fps = 50;
        // about the normal, then about z
        const double t = turn * pi / 360, s = -degrees * pi / 360;
        const V axis{{-std::sin(s) * std::sin(t), std::cos(s) * std::sin(t), std::sin(s) * std::cos(t)}};
        const double angle = 2 * std::acos(std::cos(s) * std::cos(t)) * 180 / pi;
        const double height = 0.1 + world.rest();
        world.body(fmt::format(R"("shape": {{"box": [0.3, 0.2, 0.25]}}, "density": 1000, "friction": {}, "at": {},
                                  "rotation": {{"axis": {}, "degrees": {:.17g}}})",
                               friction, text(height * up), text(axis), angle));
        const std::string thick = R"("shape": {"box": [40, 1, 2]}, )";
        const std::string placed = fmt::format(R"("at": {}, "rotation": {{"axis": [0, 0, 1], "degrees": {}}})",
                                               text(-0.5 * up), -degrees);
        const std::string rubs = fmt::format(R"(, "friction": {})", friction);
        if (ground == std::string("half space"))
          world.collider(fmt::format(R"("shape": {{"half_space": {}}})", text(up)) + rubs);
        else if (ground == std::string("collider"))
          world.collider(thick + placed + rubs);
        else
          world.body(thick + R"("density": 1000, "motion": [{"time": 0, )" + placed + "}]" + rubs);
        Simulation simulation = world.simulation();
        const auto speed = [&] { return dot(velocity(simulation.measure()[0]), along); };
        const double expected = friction < sine / cosine ? g * (sine - friction * cosine) : 0;
        advance(simulation, 10);
        const double early = speed();
        const V place = center(simulation.measure()[0]);
        advance(simulation, 50);
        if (expected > 0)
          EXPECT_NEAR(speed() - early, expected, 1e-3 * expected);
        else
          EXPECT_LT(norm(center(simulation.measure()[0]) - place), 1e-6);
      }
}

/// Promise: what rolls down a slope of 20 degrees does so with g sin / (1 + I / (m R^2)), within 0.5 %.
TEST_P(RigidBodies, Roll) {
  const double sine = std::sin(20 * pi / 180), cosine = std::cos(20 * pi / 180), g = 9.81;
  const double ring = 0.2, tube = 0.02;
  struct Round {
    const char* name;
    std::string shape;
    double radius, inertia;  ///< the latter over m R^2
  };
  const std::vector<Round> rounds = {
      {"sphere", R"({"sphere": 0.1})", 0.1, 0.4},
      {"cylinder", R"({"cylinder": {"radius": 0.15, "height": 0.3}})", 0.15, 0.5},
      {"ring", fmt::format(R"({{"torus": {{"radius": {}, "tube": {}}}}})", ring, tube), ring + tube,
       (ring * ring + 0.75 * tube * tube) / ((ring + tube) * (ring + tube))}};
  for (const Round& round : rounds) {
    SCOPED_TRACE(round.name);
    Bodies world;
    world.precision = GetParam();
    world.dx = 0.02;
    world.gravity = {{g * sine, -g * cosine, 0}};
    world.floor(1);
    world.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 1, "at": [0, {}, 0],
                              "rotation": {{"axis": [1, 0, 0], "degrees": {}}})",
                           round.shape, round.radius + world.rest(), round.name == std::string("sphere") ? 0 : 90));
    Simulation simulation = world.simulation();
    advance(simulation, 20);
    const ObjectSums early = simulation.measure()[0];
    advance(simulation, 50);
    const ObjectSums late = simulation.measure()[0];
    const double expected = g * sine / (1 + round.inertia);
    EXPECT_NEAR((velocity(late)[0] - velocity(early)[0]) / 0.5, expected, 0.005 * expected);
    EXPECT_NEAR(-spin(late)[2] * round.radius, velocity(late)[0], 0.005 * velocity(late)[0]);
  }
}

/// Promise: a sphere thrown without spin slides for 2 v / (7 mu g), and rolls with 5/7 of its speed from then on.
TEST_P(RigidBodies, SlideUntilTheyRoll) {
  const double friction = 0.3, v = 2, g = 9.81, until = 2 * v / (7 * friction * g);
  Bodies world;
  world.precision = GetParam();
  world.dx = 0.02;
  world.fps = 1000;
  world.floor(friction);
  world.body(fmt::format(R"("shape": {{"sphere": 0.1}}, "density": 1000, "friction": {}, "at": [0, {}, 0],
                            "velocity": [{}, 0, 0])",
                         friction, 0.1 + world.rest(), v));
  Simulation simulation = world.simulation();
  double time = 0;
  while (simulation.time() < 1) {
    simulation.advance_frame();
    const ObjectSums now = simulation.measure()[0];
    // the gap at rest makes the lever of friction longer than the radius by itself
    if (time == 0 && std::abs(velocity(now)[0] + 0.1 * spin(now)[2]) < 0.005 * v) time = simulation.time();
  }
  EXPECT_NEAR(time, until, 0.005 * until + 2e-3);
  EXPECT_NEAR(velocity(simulation.measure()[0])[0], 5.0 / 7 * v, 0.005 * v);
}

/// Promise: a slender box tips over where the slope is steeper than its width over its height: stands at 0.97 of that,
/// falls at 1.03.
TEST_P(RigidBodies, Topple) {
  for (const double width : {0.1, 0.2})
    for (const double part : {0.97, 1.03}) {
      SCOPED_TRACE(fmt::format("width {} part {}", width, part));
      Bodies world;
      world.precision = GetParam();
      world.dx = 0.02;
      const double height = 0.5, tangent = part * width / height, g = 9.81 / std::sqrt(1 + tangent * tangent);
      world.gravity = {{g * tangent, -g, 0}};
      world.floor(1);
      world.body(fmt::format(R"("shape": {{"box": [{}, {}, 0.3]}}, "density": 1000, "friction": 1, "at": [0, {}, 0])",
                             width, height, 0.5 * height + world.rest()));
      Simulation simulation = world.simulation();
      advance(simulation, 200);
      if (part < 1)
        EXPECT_LT(std::abs(center(simulation.measure()[0])[0]), 1e-4);
      else
        EXPECT_GT(center(simulation.measure()[0])[0], 0.3 * height);
    }
}

/// Promise: four bricks at the edge of a table stand with the overhang of 25/24 bricks that statics allows, at 0.97 of it,
/// and fall at 1.03.
TEST_P(RigidBodies, Overhang) {
  for (const double part : {0.97, 1.03}) {
    SCOPED_TRACE(part);
    Bodies world;
    world.precision = GetParam();
    world.dx = 0.02;
    world.collider(R"("shape": {"box": [2, 1, 1]}, "at": [-1, -0.5, 0], "friction": 0.6)");
    const double length = 0.4, height = 0.08;
    double at = -0.5 * length;
    for (int k = 0; k < 4; ++k) {  // from below: 1/8, 1/6, 1/4, 1/2 of a brick over the one below
      at += part * length / (8 - 2 * k);
      world.body(fmt::format(
          R"("shape": {{"box": [{}, {}, 0.2]}}, "density": 1000, "friction": 0.6, "at": [{:.17g}, {:.17g}, 0])", length,
          height, at, (k + 0.5) * height + (k + 1) * world.rest()));
    }
    Simulation simulation = world.simulation();
    const double start = center(simulation.measure()[3])[1];
    advance(simulation, 150);
    const double sunk = start - center(simulation.measure()[3])[1];
    if (part < 1)
      EXPECT_LT(sunk, 0.01 * height);
    else
      EXPECT_GT(sunk, height);
  }
}

/// Promise: a ball that falls comes back to e^2 of its height above where it rests, within 1 %, for any step.
TEST_P(RigidBodies, BounceBack) {
  for (const double restitution : {1.0, 0.8, 0.5, 0.2})
    for (const double dt : {2e-3, 1e-3, 3e-4}) {
      SCOPED_TRACE(fmt::format("e {} dt {}", restitution, dt));
      Bodies world;
      world.precision = GetParam();
      world.dx = 0.02;
      world.dt = dt;
      world.fps = 500;
      const double height = 0.5;
      world.floor(0.5);
      world.body(fmt::format(R"("shape": {{"sphere": 0.1}}, "density": 1000, "restitution": {}, "at": [0, {}, 0])",
                             restitution, 0.1 + world.rest() + height));
      Simulation simulation = world.simulation();
      const double energy = all(simulation).gravity;
      const double impact = std::sqrt(2 * height / 9.81);
      double highest = 0;
      while (simulation.time() < impact * (1 + 1.9 * restitution)) {
        simulation.advance_frame();
        const ObjectSums now = simulation.measure()[0];
        EXPECT_LE(now.kinetic + now.gravity, energy * (1 + 1e-12));
        if (simulation.time() > impact + 2e-3)
          highest = std::max(highest, center(now)[1] - 0.1 - world.rest());
      }
      EXPECT_NEAR(highest, restitution * restitution * height, 0.01 * restitution * restitution * height);
    }
}

/// Promise: a ball that meets a row of others of its kind stops and the last goes on with its speed, whether they nearly
/// touch or not, and with e < 1 each passes on (1 + e)/2; energy never rises.
TEST_P(RigidBodies, PassOnImpacts) {
  for (const double gap : {1e-2, 2e-3, 1e-3, 1e-4})
    for (const double restitution : {1.0, 0.6}) {
      SCOPED_TRACE(fmt::format("gap {} e {}", gap, restitution));
      Bodies world;
      world.precision = GetParam();
      world.gravity = V::zero();
      for (int k = 0; k < 5; ++k)
        world.body(fmt::format(
            R"("shape": {{"sphere": 0.05}}, "density": 1000, "restitution": {}, "at": [{}, 0, 0], "velocity": [{}, 0, 0])",
            restitution, k * (0.1 + world.rest() + gap) - (k == 0 ? 0.1 : 0), k == 0 ? 1 : 0));
      Simulation simulation = world.simulation();
      const double energy = all(simulation).kinetic;
      double before = energy;
      for (int frame = 0; frame < 60; ++frame) {
        simulation.advance_frame();
        const double now = all(simulation).kinetic;
        EXPECT_LE(now, before * (1 + 1e-12));
        before = now;
      }
      const std::vector<ObjectSums> balls = simulation.measure();
      const double passed = std::pow(0.5 * (1 + restitution), 4);
      EXPECT_NEAR(velocity(balls[4])[0], passed, 1e-9);
      for (int k = 0; restitution == 1 && k < 4; ++k)
        EXPECT_NEAR(velocity(balls[static_cast<std::size_t>(k)])[0], 0, 1e-9);
    }
}

/// Promise: bodies that collide off center, spinning, rough and with any masses keep linear and angular momentum to
/// rounding, and have no more energy than before.
TEST_P(RigidBodies, KeepMomentaInCollisions) {
  for (const double ratio : {1e-3, 0.1, 1.0, 1e2, 1e4})
    for (const double restitution : {0.0, 0.5, 1.0})
      for (const char* shape : {R"({"sphere": 0.1})", R"({"box": [0.2, 0.15, 0.25]})",
                                R"({"capsule": {"radius": 0.06, "height": 0.2}})"}) {
        SCOPED_TRACE(fmt::format("ratio {} e {} {}", ratio, restitution, shape));
        Bodies world;
        world.precision = GetParam();
        world.gravity = V::zero();
        world.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 0.6, "restitution": {},
                                  "velocity": [2, 0, 0], "angular_velocity": [1, -4, 3], "at": [-0.4, 0, 0],
                                  "rotation": {{"axis": [1, 2, 3], "degrees": 40}})",
                               shape, restitution));
        world.body(fmt::format(R"("shape": {{"box": [0.2, 0.3, 0.2]}}, "density": {}, "friction": 0.4,
                                  "velocity": [-1, 0.2, 0.1], "angular_velocity": [3, 2, -2], "at": [0.1, 0.07, -0.04],
                                  "rotation": {{"axis": [3, 1, 2], "degrees": 70}})",
                               1000 * ratio));
        Simulation simulation = world.simulation();
        const ObjectSums start = all(simulation), first = simulation.measure()[0];
        double highest = 0;
        for (int frame = 0; frame < 30; ++frame) {
          simulation.advance_frame();
          highest = std::max(highest, all(simulation).kinetic);
        }
        const ObjectSums end = all(simulation);
        const double exchanged = norm(simulation.measure()[0].momentum - first.momentum);
        EXPECT_GT(exchanged, 0.1 * std::min(first.mass, start.mass - first.mass)) << "they should have met";
        const double scale = norm(first.momentum) + norm(start.momentum - first.momentum);
        EXPECT_LT(norm(end.momentum - start.momentum), 1e-12 * scale);
        EXPECT_LT(norm(end.angular_momentum - start.angular_momentum), 1e-12 * 0.3 * scale);
        EXPECT_LE(highest, start.kinetic * (1 + 1e-6));
      }
}

/// Promise: a rough rod thrust slantwise onto a floor, for which Coulomb's law and rigidity contradict each other without
/// impulses (Painleve), has finite speeds, and energy never rises.
TEST_P(RigidBodies, PainleveRod) {
  for (const double degrees : {40.0, 55.0, 70.0}) {
    SCOPED_TRACE(degrees);
    Bodies world;
    world.precision = GetParam();
    world.floor(1.5);
    world.body(fmt::format(R"("shape": {{"box": [1, 0.04, 0.04]}}, "density": 1000, "friction": 1.5, "at": [0, 0.6, 0],
                              "velocity": [3, -2, 0], "rotation": {{"axis": [0, 0, 1], "degrees": {}}})",
                           -degrees));
    Simulation simulation = world.simulation();
    const ObjectSums start = all(simulation);
    double lowest = start.kinetic + start.gravity;
    const double lifted = start.mass * 9.81 * world.rest();
    for (int frame = 0; frame < 100; ++frame) {
      simulation.advance_frame();
      const ObjectSums now = all(simulation);
      // A corner that has come too near is lifted to where it rests.
      EXPECT_LE(now.kinetic + now.gravity, lowest + lifted);
      EXPECT_LE(now.kinetic + now.gravity, start.kinetic + start.gravity);
      EXPECT_LT(now.kinetic, 2 * start.kinetic);
      lowest = std::min(lowest, now.kinetic + now.gravity);
    }
  }
}

/// Promise: five boxes stand on each other with a creep below 1e-3 mm/s, ten and light ones below a hundred times
/// heavier one below 1 mm/s.
TEST_P(RigidBodies, StandInStacks) {
  struct Stack {
    int count;
    double top;    ///< density over that of the others
    double creep;  ///< [m/s]
  };
  for (const Stack& stack : {Stack{5, 1, 1e-6}, Stack{10, 1, 1e-3}, Stack{4, 100, 1e-3}}) {
    SCOPED_TRACE(fmt::format("{} boxes, top {}", stack.count, stack.top));
    Bodies world;
    world.precision = GetParam();
    world.fps = 50;
    world.floor(0.5);
    for (int k = 0; k < stack.count; ++k)
      world.body(fmt::format(R"("shape": {{"box": [0.2, 0.2, 0.2]}}, "density": {}, "friction": 0.5, "at": [0, {}, 0])",
                             k + 1 == stack.count ? 1000 * stack.top : 1000.0,
                             0.2 * (k + 0.5) + (k + 1) * world.rest()));
    Simulation simulation = world.simulation();
    advance(simulation, 25);
    const std::vector<ObjectSums> early = simulation.measure();
    advance(simulation, 100);
    const std::vector<ObjectSums> late = simulation.measure();
    for (std::size_t k = 0; k < late.size(); ++k)
      EXPECT_LT(norm(center(late[k]) - center(early[k])), 2 * stack.creep) << k;
  }
}

}  // namespace
}  // namespace tribo::test
