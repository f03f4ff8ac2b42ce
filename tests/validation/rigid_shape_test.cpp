#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../physics/rigid_meshes.h"
#include "../physics/rigid_scenes.h"
#include "../unit/io/scratch.h"
#include "tribo/math/rotation.h"

/// \file
/// Rigid bodies of shapes that nothing was tuned for: meshes, compounds, round ones on round ones, thin and fast ones.

namespace tribo::test {
namespace {

using V = Vec<double, 3>;

/// Meshes in files.
struct Meshes {
  Scratch scratch;
  std::string shape(const std::string& name, const PolygonMesh& mesh) const {
    const std::string file = scratch / (name + ".obj");
    write_bytes(file, as_obj(mesh));
    return fmt::format(R"({{"mesh": "{}"}})", file);
  }
};

/// Where the bodies of objects of one body each are.
struct Pose {
  V x;
  Mat<double, 3> rotation;
};
std::vector<Pose> poses(Simulation& simulation) {
  std::vector<Pose> all;
  const Frame frame = simulation.observe();
  for (const FrameMesh& mesh : frame.meshes) {
    if (mesh.bodies() != 1) continue;
    Pose one;
    for (int k = 0; k < 3; ++k) one.x[k] = number_at(mesh.placement, static_cast<std::size_t>(k));
    Quaternion<double> q;
    for (int k = 0; k < 4; ++k) q[k] = number_at(mesh.placement, 3 + static_cast<std::size_t>(k));
    one.rotation = rotation_of(q);
    all.push_back(one);
  }
  return all;
}
double lowest_vertex(Simulation& simulation) {
  double low = 1e300;
  const Frame frame = simulation.observe();
  for (const FrameMesh& mesh : frame.meshes)
    for (std::size_t i = 1; mesh.bodies() > 0 && i < 3 * mesh.x.count; i += 3) low = std::min(low, number_at(mesh.x, i));
  return low;
}

/// Promise: bodies of meshes come to rest where their lowest vertices are as far from the floor as those of plain shapes,
/// within a tenth of that gap and a tenth of a millimeter, and stay: creep below 1e-3 mm/s.
TEST(RigidShapes, MeshesStand) {
  const Meshes meshes;
  const std::vector<std::pair<std::string, PolygonMesh>> all = {{"ball", make_ball(0.1, 2)},
                                                                {"corner", make_corner(0.3, 0.1, 0.1)},
                                                                {"gear", make_gear(12, 0.12, 0.015, 0.06)},
                                                                {"blob", make_blob(0.12, 3)}};
  for (const auto& [name, mesh] : all)
    for (const V& axis : {V{{1, 0, 0}}, V{{1, 2, 3}}}) {
      Bodies bodies;
      bodies.fps = 50;
      bodies.dt = 2e-3;
      bodies.floor(0.5);
      bodies.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 0.5, "at": [0, 0.4, 0],
                                 "rotation": {{"axis": {}, "degrees": 80}})",
                              meshes.shape(name, mesh), text(axis)));
      Simulation simulation = bodies.simulation();
      const double energy = all_energy(simulation);
      double most = 0;
      for (int frame = 0; frame < 600; ++frame) {
        simulation.advance_frame();
        if (frame % 5 == 0) most = std::max(most, all_energy(simulation) - energy);
      }
      const V early = center(simulation.measure()[0]);
      advance(simulation, 100);
      const ObjectSums now = simulation.measure()[0];
      const double creep = norm(center(now) - early) / 2, low = lowest_vertex(simulation);
      fmt::print("{} about {}: creep {:.1e} mm/s, lowest vertex {:.3f} mm over the floor, energy rose by {:.1e} J of {:.1e}\n",
                 name, text(axis), 1000 * creep, 1000 * low, most, energy);
      EXPECT_LT(creep, name == "ball" || name == "blob" ? 1e-3 : 1e-6) << name;
      EXPECT_NEAR(low, bodies.rest(), 0.1 * bodies.rest() + 1e-4) << name;
      EXPECT_LE(most, 1e-9 * energy);
    }
}

/// Promise: bodies of meshes slide down a slope as Coulomb says within 0.1 %, and stay where that is too rough.
TEST(RigidShapes, MeshesSlide) {
  const Meshes meshes;
  const double sine = std::sin(20 * pi / 180), cosine = std::cos(20 * pi / 180), g = 9.81;
  const std::vector<std::pair<std::string, PolygonMesh>> all = {{"brick", make_box(0.3, 0.1, 0.2)},
                                                                {"corner", make_corner(0.3, 0.1, 0.1)},
                                                                {"gear", make_gear(12, 0.12, 0.015, 0.06)}};
  for (const auto& [name, mesh] : all)
    for (const double friction : {0.0, 0.2, 0.6}) {
      Bodies bodies;
      bodies.gravity = {{g * sine, -g * cosine, 0}};
      bodies.collider(fmt::format(R"("shape": {{"box": [20, 1, 4]}}, "at": [8, -0.5, 0], "friction": {})", friction));
      // all of them lie on a flat side
      const double half = name == "gear" ? 0.03 : 0.05;
      const std::string turn = name == "brick" ? "0" : "90";
      bodies.body(fmt::format(R"("shape": {}, "density": 1000, "friction": {}, "at": [0, {}, 0],
                                 "rotation": {{"axis": [1, 0, 0], "degrees": {}}})",
                              meshes.shape(name, mesh), friction, half + bodies.rest(), turn));
      Simulation simulation = bodies.simulation();
      advance(simulation, 20);
      const ObjectSums early = simulation.measure()[0];
      advance(simulation, 80);
      const ObjectSums late = simulation.measure()[0];
      const double expected = std::max(0.0, g * (sine - friction * cosine)), rose = (velocity(late)[0] - velocity(early)[0]) / 0.8;
      fmt::print("{}, friction {}: {:.6f} of what Coulomb says, {:.1e} mm/s\n", name, friction,
                 expected > 0 ? rose / expected : 1.0, 1000 * norm(center(late) - center(early)) / 0.8);
      if (expected > 0)
        EXPECT_NEAR(rose, expected, 1e-3 * expected) << name;
      else
        EXPECT_LT(norm(center(late) - center(early)), 1e-6) << name;
    }
}

/// Promise: a block slides over ten tiles side by side, and over the triangles of a mesh, as over one floor: its speed is
/// that of Coulomb's law within 1 %, and it does not hop or turn.
TEST(RigidShapes, SlideOverTiles) {
  const Meshes meshes;
  const std::string slab = meshes.shape("slab", make_slab(2.4, 0.6, 0.1, 37, 7));
  const std::string brick = meshes.shape("brick", make_box(0.2, 0.1, 0.15)), box = R"({"box": [0.2, 0.1, 0.15]})";
  for (const char* ground : {"tiles", "wide tiles", "bodies", "mesh"})
    for (const std::string& block : {box, brick})
      for (const double turn : {0.0, 23.0}) {
        Bodies bodies;
        const double friction = 0.3, v = 2, g = 9.81;
        const std::string name = ground;
        if (name == "mesh") {
          bodies.collider(fmt::format(R"("shape": {}, "at": [1, 0, 0], "friction": {})", slab, friction));
        } else {
          const double size = name == "wide tiles" ? 0.3 : 0.1;
          for (int k = -2; k < 0.8 / size + 2; ++k) {
            const std::string tile = fmt::format(R"("shape": {{"box": [{}, 0.1, 0.6]}}, "at": [{}, -0.05, 0], "friction": {})",
                                                 size, (k + 0.5) * size, friction);
            if (name == "bodies")
              bodies.body(fmt::format(R"("shape": {{"box": [{}, 0.1, 0.6]}}, "density": 2000, "friction": {},
                                         "motion": [{{"time": 0, "at": [{}, -0.05, 0]}}])",
                                      size, friction, (k + 0.5) * size));
            else
              bodies.collider(tile);
          }
        }
        bodies.body(fmt::format(R"("name": "block", "shape": {}, "density": 1000, "friction": {}, "at": [0.02, {}, 0],
                                   "velocity": [{}, 0, 0], "rotation": {{"axis": [0, 1, 0], "degrees": {}}})",
                                block, friction, 0.05 + bodies.rest(), v, turn));
        Simulation simulation = bodies.simulation();
        double worst = 0, hop = 0, spins = 0;
        for (int frame = 1; frame <= 60; ++frame) {
          simulation.advance_frame();
          const ObjectSums now = simulation.measure().back();
          worst = std::max(worst, std::abs(velocity(now)[0] - (v - friction * g * simulation.time())) / v);
          hop = std::max(hop, std::abs(center(now)[1] - 0.05 - bodies.rest()));
          spins = std::max(spins, norm(spin(now)));
        }
        fmt::print("{} over {}, turned by {}: speed off by {:.2e} of its start, height by {:.1e} mm, spin {:.1e}\n",
                   block == box ? "box" : "mesh", ground, turn, worst, 1000 * hop, spins);
        EXPECT_LT(worst, 0.01) << ground;
        EXPECT_LT(hop, 0.25 * bodies.rest()) << ground;
        EXPECT_LT(spins, 0.02) << ground;
      }
}

/// Promise: a wheel with spokes rolls down a slope as its inertia says within 0.5 %; a ball of a mesh, which rolls from
/// facet to facet, within 3 % without slipping.
TEST(RigidShapes, WheelsRoll) {
  const Meshes meshes;
  const double sine = std::sin(20 * pi / 180), cosine = std::cos(20 * pi / 180), g = 9.81, r = 0.2;
  const std::string rim =
      R"({"difference": {"shapes": [{"shape": {"cylinder": {"radius": 0.2, "height": 0.08}}}, {"shape": {"cylinder": {"radius": 0.17, "height": 0.2}}}]}})";
  std::string spokes;
  for (int k = 0; k < 3; ++k)
    spokes += fmt::format(R"(, {{"shape": {{"box": [0.36, 0.02, 0.02]}}, "rotation": {{"axis": [0, 1, 0], "degrees": {}}}}})", 60 * k);
  const std::string wheel = fmt::format(R"({{"union": {{"shapes": [{{"shape": {}}}{}]}}}})", rim, spokes);
  struct Round {
    const char* name;
    std::string shape;
    double radius, bound;
  };
  for (const Round& round : {Round{"wheel", wheel, r, 0.005}, Round{"ball of 1280 triangles", meshes.shape("ball", make_ball(0.1, 3)), 0.1, 0.03}}) {
    Bodies bodies;
    bodies.dx = 0.02;
    bodies.gravity = {{g * sine, -g * cosine, 0}};
    bodies.floor(1);
    bodies.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 1, "at": [0, {}, 0],
                               "rotation": {{"axis": [1, 0, 0], "degrees": 90}})",
                            round.shape, round.radius + bodies.rest()));
    Simulation simulation = bodies.simulation();
    const ObjectSums start = simulation.measure()[0];
    double inertia = 0;  // about z
    for (int k = 0; k < 2; ++k) inertia += start.second_moment(k, k) - start.mass * center(start)[k] * center(start)[k];
    advance(simulation, 20);
    const ObjectSums early = simulation.measure()[0];
    advance(simulation, 80);
    const ObjectSums late = simulation.measure()[0];
    const double expected = g * sine / (1 + inertia / (start.mass * round.radius * round.radius));
    const double rose = (velocity(late)[0] - velocity(early)[0]) / 0.8;
    fmt::print("{}: rolls with {:.4f} of what its inertia says, spin {:.4f} of its speed\n", round.name, rose / expected,
               -spin(late)[2] * round.radius / velocity(late)[0]);
    EXPECT_NEAR(rose, expected, round.bound * expected) << round.name;
    EXPECT_NEAR(-spin(late)[2] * round.radius, velocity(late)[0], round.bound * velocity(late)[0]) << round.name;
    EXPECT_LT(std::abs(velocity(late)[2]), 0.01 * velocity(late)[0]) << round.name;
  }
}

const char* const cup =
    R"({"difference": {"shapes": [{"shape": {"cylinder": {"radius": 0.4, "height": 0.4}}, "at": [0, -0.2, 0]}, {"shape": {"sphere": 0.3}}]}})";

/// Promise: a ball rolls to and fro in a bowl with the period 2 pi sqrt(7 (R - r) / (5 g)), within 1 %; a box and a mesh of
/// a ball come to rest in it.
TEST(RigidShapes, BallsInBowls) {
  const double r = 0.05, R = 0.3, g = 9.81;
  {
    Bodies bodies;
    bodies.dx = 0.02;
    bodies.fps = 500;
    bodies.collider(fmt::format(R"("shape": {}, "friction": 1)", cup));
    const double a = 8 * pi / 180, far = R - r - bodies.rest();
    bodies.body(fmt::format(R"("shape": {{"sphere": {}}}, "density": 1000, "friction": 1, "at": {})", r,
                            text({{far * std::sin(a), -far * std::cos(a), 0}})));
    Simulation simulation = bodies.simulation();
    std::vector<double> crossings;
    double before = 1;
    while (simulation.time() < 5) {
      simulation.advance_frame();
      const double x = center(simulation.measure()[0])[0];
      if (before > 0 && x <= 0) crossings.push_back(simulation.time() - x / (x - before) / bodies.fps);
      before = x;
    }
    ASSERT_GT(crossings.size(), 2U);
    const double expected = 2 * pi * std::sqrt(1.4 * far / g) * (1 + a * a / 16);
    const double period = (crossings.back() - crossings.front()) / static_cast<double>(crossings.size() - 1);
    fmt::print("ball in a bowl: period {:.4f} of theory\n", period / expected);
    EXPECT_NEAR(period, expected, 0.01 * expected);
  }
  const Meshes meshes;
  for (const std::string& shape : {std::string(R"({"box": [0.2, 0.06, 0.15]})"), meshes.shape("ball", make_ball(0.1, 2))}) {
    Bodies bodies;
    bodies.dx = 0.02;
    bodies.fps = 50;
    bodies.collider(fmt::format(R"("shape": {}, "friction": 0.5)", cup));
    bodies.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 0.5, "at": [0.02, -0.1, 0.01])", shape));
    Simulation simulation = bodies.simulation();
    advance(simulation, 600);
    const V early = center(simulation.measure()[0]);
    advance(simulation, 100);
    double out = 0;  // of the bowl
    const Frame frame = simulation.observe();
    for (const FrameMesh& mesh : frame.meshes)
      for (std::size_t i = 0; mesh.bodies() > 0 && i < mesh.x.count; ++i)
        out = std::max(out, norm({{number_at(mesh.x, 3 * i), number_at(mesh.x, 3 * i + 1), number_at(mesh.x, 3 * i + 2)}}) - R);
    const double creep = norm(center(simulation.measure()[0]) - early) / 2;
    fmt::print("in a bowl: creep {:.1e} mm/s, vertices {:.3f} mm from it\n", 1000 * creep, -1000 * out);
    EXPECT_LT(creep, 1e-3);
    EXPECT_NEAR(-out, bodies.rest(), 0.25 * bodies.rest());
  }
}

/// Promise: a chain of links of tori hangs from the first: links rest in each other's inside, swing when pushed, never come
/// through each other, and gain no energy.
TEST(RigidShapes, LinksOfAChain) {
  for (const double push : {0.0, 1.5}) {
    Bodies bodies;
    bodies.dx = 0.01;
    const double ring = 0.05, tube = 0.01, apart = 2 * (ring - tube) - bodies.rest();
    const int links = 8;
    for (int k = 0; k < links; ++k) {
      const std::string turn = fmt::format(R"("rotation": {{"axis": {}, "degrees": 90}})", k % 2 == 0 ? "[1, 0, 0]" : "[0, 0, 1]");
      const std::string at = text({{0, -k * (apart - 0.001), 0}});
      const std::string shape = fmt::format(R"("shape": {{"torus": {{"radius": {}, "tube": {}}}}}, "density": 7800, "friction": 0.3)", ring, tube);
      if (k == 0)
        bodies.body(shape + fmt::format(R"(, "motion": [{{"time": 0, "at": {}, {}}}])", at, turn));
      else
        bodies.body(shape + fmt::format(R"(, "at": {}, {}, "velocity": [{}, 0, {}])", at, turn, push * k / links, 0.3 * push * k / links));
    }
    Simulation simulation = bodies.simulation();
    const double energy = all_energy(simulation), scale = 9.81 * all(simulation).mass * links * apart;
    double worst = 0, deepest = 1, most = 0;
    for (int frame = 0; frame < 300; ++frame) {
      simulation.advance_frame();
      const std::vector<Pose> all = poses(simulation);
      for (std::size_t k = 1; k < all.size(); ++k) {
        worst = std::max(worst, norm(all[k].x - all[k - 1].x));
        // the middle of the tube of one from that of the other
        for (int i = 0; i < 180; ++i) {
          const double angle = 2 * pi * i / 180;
          const V p = all[k].x + all[k].rotation * V{{ring * std::cos(angle), 0, ring * std::sin(angle)}};
          const V q = transpose(all[k - 1].rotation) * (p - all[k - 1].x);
          deepest = std::min(deepest, std::hypot(std::hypot(q[0], q[2]) - ring, q[1]) - 2 * tube);
        }
      }
      most = std::max(most, all_energy(simulation) - energy);
    }
    const std::vector<Pose> all = poses(simulation);
    fmt::print("chain of {} links, pushed by {} m/s: centers at most {:.3f} of what links allow, deepest {:.3f} mm, energy "
               "rose by {:.1e} of its scale\n",
               links, push, worst / apart, 1000 * deepest, most / scale);
    EXPECT_LT(worst, apart + bodies.rest());
    EXPECT_GT(deepest, -bodies.rest());
    EXPECT_LT(most, 1e-4 * scale);
    if (push == 0)
      for (std::size_t k = 1; k < all.size(); ++k)
        EXPECT_NEAR(all[k - 1].x[1] - all[k].x[1], apart, bodies.rest()) << k;
  }
}

/// Promise: round bodies lie across round ones where their surfaces meet, wherever along their axes that is, and slide
/// there without a bump.
TEST(RigidShapes, RoundAcrossRound) {
  const double low = 0.1, high = 0.06;
  for (const char* below : {"cylinder", "capsule"})
    for (const char* above : {"cylinder", "capsule"})
      for (const double turn : {90.0, 60.0})
        for (const bool slides : {false, true}) {
          Bodies bodies;
          bodies.dx = 0.02;
          bodies.dt = 1e-3;
          const double friction = slides ? 0 : 0.6, rest = bodies.rest();
          bodies.collider(fmt::format(R"("shape": {{"{}": {{"radius": {}, "height": 1.5}}}}, "friction": {},
                                         "rotation": {{"axis": [0, 0, 1], "degrees": 90}})",
                                      below, low, friction));
          const double a = turn * pi / 180;  // of its axis from x to z
          const V along{{std::cos(a), 0, std::sin(a)}};
          // about (along + y): by half a turn y comes to `along`
          const V axis = along + V{{0, 1, 0}};
          bodies.body(fmt::format(R"("shape": {{"{}": {{"radius": {}, "height": 0.7}}}}, "density": 1000, "friction": {}, "at": {},
                                     "velocity": {}, "rotation": {{"axis": {}, "degrees": 180}})",
                                  above, high, friction, text(V{{0.013, low + high + rest, 0}}),
                                  text(slides ? 0.2 * along : V::zero()), text(axis)));
          Simulation simulation = bodies.simulation();
          double off = 0, slowest = 1e300, fastest = 0;
          const int frames = slides ? 60 : 200;
          for (int k = 0; k < frames; ++k) {
            simulation.advance_frame();
            const Pose now = poses(simulation)[0];
            // of the lines of the axes: x, and now.x + t u
            const V u = now.rotation * V{{0, 1, 0}}, n = cross(V{{1, 0, 0}}, u);
            off = std::max(off, std::abs(std::abs(dot(now.x, n)) / norm(n) - low - high - rest));
            const double speed = dot(velocity(simulation.measure()[0]), along);
            slowest = std::min(slowest, speed);
            fastest = std::max(fastest, speed);
          }
          fmt::print("{} across {} at {} degrees, {}: axes off by {:.4f} mm", above, below, turn, slides ? "slides" : "stays", 1000 * off);
          if (slides) fmt::print(", speed {:.4f} to {:.4f} of its start", slowest / 0.2, fastest / 0.2);
          fmt::print("\n");
          EXPECT_LT(off, 0.5 * rest);
          if (slides) {
            EXPECT_GT(slowest, 0.99 * 0.2);
            EXPECT_LT(fastest, 1.01 * 0.2);
          }
        }
}

/// Promise: a ring thrown over a peg comes to lie around it on the floor; a peg falls through a ring that it fits through,
/// and stays on one that it does not.
TEST(RigidShapes, PegsAndRings) {
  {
    Bodies bodies;
    bodies.dx = 0.01;
    bodies.floor(0.4);
    bodies.collider(R"("shape": {"cylinder": {"radius": 0.03, "height": 0.4}}, "at": [0, 0.2, 0], "friction": 0.2)");
    bodies.body(R"("shape": {"torus": {"radius": 0.07, "tube": 0.015}}, "density": 1000, "friction": 0.4,
                   "at": [0.015, 0.45, 0], "velocity": [0.1, 0, 0.1], "rotation": {"axis": [0, 0, 1], "degrees": 20})");
    Simulation simulation = bodies.simulation();
    double deepest = 1;
    for (int frame = 0; frame < 300; ++frame) {
      simulation.advance_frame();
      const Pose ring = poses(simulation)[0];
      for (int i = 0; i < 180; ++i) {
        const double angle = 2 * pi * i / 180;
        const V p = ring.x + ring.rotation * V{{0.07 * std::cos(angle), 0, 0.07 * std::sin(angle)}};
        if (p[1] < 0.4) deepest = std::min(deepest, std::hypot(p[0], p[2]) - 0.03 - 0.015);
      }
    }
    const V at = center(simulation.measure()[0]);
    fmt::print("ring over a peg: lies {:.3f} mm over the floor, deepest {:.3f} mm\n", 1000 * (at[1] - 0.015), 1000 * deepest);
    EXPECT_NEAR(at[1], 0.015 + bodies.rest(), 0.5 * bodies.rest());
    EXPECT_GT(deepest, -bodies.rest());
  }
  for (const bool fits : {true, false}) {
    Bodies bodies;
    bodies.dx = 0.01;
    bodies.collider(R"("shape": {"torus": {"radius": 0.07, "tube": 0.02}}, "friction": 0.1)");
    bodies.body(fmt::format(R"("shape": {{"cylinder": {{"radius": {}, "height": 0.2}}}}, "density": 1000, "friction": 0.1, "at": [0, 0.15, 0])",
                            fits ? 0.048 : 0.055));
    Simulation simulation = bodies.simulation();
    advance(simulation, 100);
    const V at = center(simulation.measure()[0]);
    fmt::print("peg {} a ring: at {:.4f} m\n", fits ? "through" : "on", at[1]);
    if (fits)
      EXPECT_LT(at[1], -1);
    else
      EXPECT_NEAR(at[1], 0.1 + std::sqrt(0.02 * 0.02 - 0.015 * 0.015), 2 * bodies.rest());
  }
}

/// Promise: what is thin or fast is stopped: a plate that falls by twice its thickness in a step, a ball as fast as a
/// bullet on a wall thinner than its way in one.
TEST(RigidShapes, ThinAndFast) {
  {
    Bodies bodies;
    bodies.fps = 500;
    bodies.floor(0.4);
    bodies.body(R"("shape": {"box": [0.3, 0.01, 0.3]}, "density": 1000, "friction": 0.4, "at": [0, 0.1, 0], "velocity": [0, -20, 0])");
    bodies.body(R"("shape": {"box": [0.3, 0.01, 0.3]}, "density": 1000, "friction": 0.4, "at": [1, 0.4, 0], "velocity": [0, -20, 0],
                   "rotation": {"axis": [1, 2, 3], "degrees": 50})");
    Simulation simulation = bodies.simulation();
    double low = 1;
    for (int k = 0; k < 500; ++k) {
      simulation.advance_frame();
      low = std::min(low, lowest_vertex(simulation));
    }
    fmt::print("thin plates: lowest {:.3f} mm\n", 1000 * low);
    EXPECT_GT(low, -bodies.rest());
  }
  for (const char* wall : {R"({"box": [1, 1, 0.005]})", R"({"cylinder": {"radius": 0.5, "height": 0.005}})"})
    for (const double slant : {0.0, 0.7})
      for (const bool moves : {false, true}) {
        Bodies bodies;
        bodies.fps = 1000;
        bodies.gravity = V::zero();
        const bool box = std::string(wall).find("box") != std::string::npos;
        const std::string turn = box ? "0" : "90";
        if (moves)
          bodies.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 0.3, "rotation": {{"axis": [1, 0, 0], "degrees": {}}})", wall, turn));
        else
          bodies.collider(fmt::format(R"("shape": {}, "friction": 0.3, "rotation": {{"axis": [1, 0, 0], "degrees": {}}})", wall, turn));
        bodies.body(fmt::format(R"("shape": {{"sphere": 0.01}}, "density": 7800, "friction": 0.3, "at": {}, "velocity": {})",
                                text({{-0.3 * slant, 0, 0.3}}), text({{100 * slant, 0, -100}})));
        Simulation simulation = bodies.simulation();
        const double energy = all(simulation).kinetic;
        advance(simulation, 10);
        const std::vector<Pose> all_poses = poses(simulation);
        const V at = all_poses.back().x, wall_at = moves ? all_poses.front().x : V::zero();
        fmt::print("bullet on {}{}, slant {}: {:.3f} mm before it, {:.3f} of its energy\n", box ? "a plate" : "a disk", moves ? " that moves" : "",
                   slant, 1000 * (at[2] - wall_at[2]) - 12.5, all(simulation).kinetic / energy);
        EXPECT_GT(at[2] - wall_at[2], 0.0125 - bodies.rest());
        EXPECT_LE(all(simulation).kinetic, energy * (1 + 1e-12));
      }
}

/// Promise: bodies that begin in each other are moved apart without any energy, and lie apart in the end.
TEST(RigidShapes, BeginOverlapped) {
  const Meshes meshes;
  const std::string blob = meshes.shape("blob", make_blob(0.12, 3));
  const std::string shapes[] = {R"({"box": [0.2, 0.2, 0.2]})", R"({"sphere": 0.1})", R"({"capsule": {"radius": 0.08, "height": 0.2}})",
                                R"({"torus": {"radius": 0.1, "tube": 0.04}})", blob};
  for (const std::string& first : shapes)
    for (const std::string& second : shapes) {
      Bodies bodies;
      bodies.fps = 50;
      bodies.gravity = V::zero();
      bodies.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 0.4)", first));
      bodies.body(fmt::format(R"("shape": {}, "density": 1000, "friction": 0.4, "at": [0.11, 0.03, 0.05], "rotation": {{"axis": [1, 2, 0], "degrees": 30}})", second));
      Simulation simulation = bodies.simulation();
      double most = 0;
      for (int k = 0; k < 100; ++k) {
        simulation.advance_frame();
        most = std::max(most, all(simulation).kinetic);
      }
      const double early = norm(poses(simulation)[1].x - poses(simulation)[0].x);
      advance(simulation, 20);
      const double late = norm(poses(simulation)[1].x - poses(simulation)[0].x);
      fmt::print("{} in {}: energy {:.1e} J, apart {:.4f} m and {:.4f}\n", second.substr(2, 7), first.substr(2, 7), most, early, late);
      EXPECT_LT(most, 1e-12);
      EXPECT_NEAR(early, late, 1e-4);
    }
}

}  // namespace
}  // namespace tribo::test
