#include <gtest/gtest.h>

#include <cmath>

#include "scene_text.h"
#include "tribo/run/statistics.h"

/// \file
/// Forces of contact in the statistics. What colliders get is summed up from impulses, what objects get follows from
/// their momentum: neither knows of the other, and action is reaction.

namespace tribo::test {
namespace {

using V = Vec<double, 3>;

struct Made {
  const char* name;
  std::string objects;
  std::string more;      ///< of the scene
  double mutual = 1e-9;  ///< part of the weight by which action may differ from reaction: rounding of doubles
};

const char* const soft =
    R"("materials": {"m": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 2e5, "poisson_ratio": 0.3}},)";

std::string scene_of(const Made& made, const char* precision = "double",
                     const char* colliders = R"([{"name": "floor", "shape": {"half_space": {"normal": [0, 1, 0]}},
                                                  "at": [0.1, 0, -0.2], "friction": 0.5}])") {
  return fmt::format(R"({{"tribo": 1, "fps": 50, "duration": 1, "precision": "{}", "grid": {{"dx": 0.02}}, {} {}
                        "colliders": {}, "objects": [{}]}})",
                     precision, soft, made.more, colliders, made.objects);
}

const std::string box = R"("name": "b", "shape": {"box": [0.2, 0.1, 0.2]}, "at": [0.3, 0.06, 0.5])";
const std::vector<Made>& kinds() {
  static const std::vector<Made> all = {
      {"particles", R"({"type": "particles", "material": "m", )" + box + "}", ""},
      // Newton's method ends when velocities change by 1e-4 of what they are.
      {"implicit", R"({"type": "particles", "material": "m", )" + box + "}", R"("time": {"integrator": "implicit"},)",
       2e-3},
      {"solid", R"({"type": "solid", "element_size": 0.05, "material": "m", "damping": 100, )" + box + "}", ""},
      {"vertices", R"({"type": "solid", "method": "updated_lagrangian", "element_size": 0.05, "material": "m", )" + box +
                       "}",
       ""},
      {"hair", R"({"name": "b", "type": "hair", "roots": "free", "radius": 1e-3, "segments": 8, "at": [1, 0.02, 3],
                   "strands": {"tube": {"count": 4, "length": 0.1, "spacing": 0.02}}})",
       ""},
      {"rigid", R"({"type": "rigid", "density": 1000, )" + box + "}", ""},
  };
  return all;
}

/// Promise: on every frame, from the fall to the impact and after it, what the floor gets is what the object gets, with
/// the other sign, and turns it by as much as it would if it acted where it does.
TEST(ContactForce, OfColliderAndObjectAreOpposite) {
  for (const Made& made : kinds()) {
    Simulation simulation = simulate(scene_of(made));
    const double weight = simulation.measure()[0].mass * 9.81;
    double largest = 0;
    for (int frame = 0; frame < 8; ++frame) {
      const ObjectSums before = simulation.measure()[0];
      simulation.advance_frame();
      const ObjectSums after = simulation.measure()[0];
      const ContactForces forces = simulation.contact_forces();
      ASSERT_TRUE(forces.objects[0].has_value()) << made.name;
      const V on = forces.objects[0]->force, from = forces.colliders[0].force;
      for (int k = 0; k < 3; ++k) EXPECT_NEAR(on[k], -from[k], made.mutual * weight) << made.name << " " << frame;
      largest = std::max(largest, on[1]);
      // About the collider's origin the object's force has an arm to its center, which hardly moves sideways.
      const V center = 0.5 * (before.mass_position * (1 / before.mass) + after.mass_position * (1 / after.mass));
      const V arm = center - V{{0.1, 0, -0.2}}, expected = -(*forces.objects[0]->torque + cross(arm, on));
      for (int k = 0; k < 3; ++k)
        EXPECT_NEAR((*forces.colliders[0].torque)[k], expected[k], (made.mutual + 2e-3) * (weight + norm(on)))
            << made.name << " " << frame;
    }
    EXPECT_GT(largest, 0.9 * weight) << made.name;  // it has arrived
  }
}

/// Promise: what lies still presses with its weight: within 1 %, in floats as well.
TEST(ContactForce, OfWhatRestsIsItsWeight) {
  for (const char* precision : {"float", "double"})
    for (const Made& made : kinds()) {
      const std::string name = made.name;
      if (name == "particles" || name == "vertices" || name == "solid") continue;  // swing for long
      Simulation simulation = simulate(scene_of(made, precision));
      const double weight = simulation.measure()[0].mass * 9.81;
      for (int frame = 0; frame < 25; ++frame) {
        simulation.measure();
        simulation.advance_frame();
      }
      const ContactForces forces = simulation.contact_forces();
      EXPECT_NEAR(forces.colliders[0].force[1], -weight, 0.01 * weight) << precision << " " << name;
      EXPECT_NEAR(forces.objects[0]->force[1], weight, 0.01 * weight) << precision << " " << name;
      for (const int k : {0, 2}) EXPECT_NEAR(forces.colliders[0].force[k], 0, 0.01 * weight) << precision << " " << name;
    }
}

/// Promise: each of two colliders gets what is its own: a block in free flight that hits a wall without friction and a
/// floor gives the wall the momentum it loses across, and the floor what it loses downward.
TEST(ContactForce, IsSharedOutAmongColliders) {
  const char* const walls = R"([{"name": "floor", "shape": {"half_space": {"normal": [0, 1, 0]}}},
                                {"name": "wall", "shape": {"half_space": {"normal": [-1, 0, 0]}}, "at": [0.42, 0, 0]}])";
  for (const Made& made : kinds()) {
    const std::string name = made.name;
    if (name == "hair") continue;  // is elsewhere
    std::string text = scene_of(made, "double", walls);
    const std::string at = R"("at": [0.3, 0.06, 0.5])";
    text.replace(text.find(at), at.size(), at + R"(, "velocity": [1, -1, 0])");
    text.insert(text.find(R"("grid")"), R"("gravity": [0, 0, 0], )");
    Simulation simulation = simulate(text);
    simulation.measure();
    const V before = simulation.measure()[0].momentum;
    const double scale = norm(before) * 50;  // over a frame
    V floor = V::zero(), wall = V::zero();
    for (int frame = 0; frame < 2; ++frame) {  // what does not deform meets them in different frames
      simulation.advance_frame();
      simulation.measure();
      const ContactForces forces = simulation.contact_forces();
      EXPECT_NEAR(forces.colliders[0].force[0], 0, made.mutual * scale) << name;
      EXPECT_NEAR(forces.colliders[1].force[1], 0, made.mutual * scale) << name;
      EXPECT_NEAR(forces.colliders[0].force[1], -forces.objects[0]->force[1], made.mutual * scale) << name;
      EXPECT_NEAR(forces.colliders[1].force[0], -forces.objects[0]->force[0], made.mutual * scale) << name;
      floor += forces.colliders[0].force;
      wall += forces.colliders[1].force;
    }
    EXPECT_GT(wall[0], 0.05 * scale) << name;
    EXPECT_LT(floor[1], -0.05 * scale) << name;
  }
}

/// Promise: of a solid that is held somewhere, what contact gives the rest of it is what the floor feels of that.
TEST(ContactForce, OfPinnedSolidsIsWhatTouchesThem) {
  const Made pinned = {"pinned",
                       R"({"type": "solid", "element_size": 0.05, "material": "m", "name": "b", "damping": 100,
                           "shape": {"box": [0.4, 0.1, 0.1]}, "at": [0.3, 0.055, 0.5],
                           "pins": [{"shape": {"box": [0.06, 0.2, 0.2]}, "at": [0.11, 0.055, 0.5]}]})",
                       ""};
  Simulation simulation = simulate(scene_of(pinned));
  const double weight = simulation.measure()[0].mass * 9.81;
  double largest = 0;
  for (int frame = 0; frame < 6; ++frame) {
    simulation.measure();
    simulation.advance_frame();
    const ContactForces forces = simulation.contact_forces();
    ASSERT_TRUE(forces.objects[0].has_value());
    // Samples between what is held and what is not give a part to what holds.
    EXPECT_LE(forces.objects[0]->force[1], -forces.colliders[0].force[1] + 1e-9 * weight);
    EXPECT_GE(forces.objects[0]->force[1], -0.8 * forces.colliders[0].force[1] - 1e-9 * weight);
    largest = std::max(largest, forces.objects[0]->force[1]);
  }
  EXPECT_GT(largest, 0.1 * weight);
}

/// Promise: where it cannot be known, nothing is said; and of frame 0 nothing at all.
TEST(ContactForce, IsNotMadeUp) {
  const Made jet = {"jet", R"({"name": "b", "type": "emitter", "shape": {"sphere": 0.05}, "at": [0, 0.3, 0],
                               "material": "m", "velocity": [0, -2, 0]})",
                    ""};
  const Made held = {"held", R"({"name": "b", "type": "hair", "radius": 1e-3, "segments": 8, "at": [0, 0.05, 0],
                                 "strands": {"tube": {"count": 4, "length": 0.1, "spacing": 0.02}}})",
                     ""};
  for (const Made& made : {jet, held}) {
    Simulation simulation = simulate(scene_of(made));
    EXPECT_TRUE(simulation.contact_forces().objects.empty());
    EXPECT_TRUE(simulation.contact_forces().colliders.empty());
    simulation.measure();
    simulation.advance_frame();
    EXPECT_FALSE(simulation.contact_forces().objects[0].has_value()) << made.name;
    EXPECT_EQ(simulation.contact_forces().colliders.size(), 1u);
  }
  // Who has not measured where the frame began does not know the momentum then.
  Simulation simulation = simulate(scene_of(kinds()[0]));
  simulation.advance_frame();
  EXPECT_FALSE(simulation.contact_forces().objects[0].has_value());
}

/// Promise: lines of statistics have the same bytes for any number of threads, and after a checkpoint within a frame.
TEST(ContactForce, IsTheSameForAnyThreadsAndAfterACheckpoint) {
  for (const Made& made : kinds()) {
    std::string expected;
    for (const int threads : {1, 3}) {
      SimulationOptions options;
      options.threads = threads;
      const std::string text = scene_of(made, "float");
      Simulation simulation(parse_scene(text, "test.json"), options), other(parse_scene(text, "test.json"), options);
      for (int frame = 0; frame < 4; ++frame) {
        simulation.measure();
        simulation.advance_frame();
      }
      simulation.measure();
      simulation.step();
      simulation.step();
      ASSERT_EQ(simulation.frame(), 4) << made.name;
      other.restore(simulation.checkpoint());
      for (Simulation* one : {&simulation, &other}) {
        while (one->frame() < 5) one->step();
        const std::string line = frame_statistics(*one, 0, {});
        if (expected.empty()) expected = line;
        EXPECT_EQ(line, expected) << made.name << " " << threads;
      }
    }
    EXPECT_NE(expected.find(R"("colliders":{"floor":{"force":[)"), std::string::npos);
    EXPECT_NE(expected.find(R"("contact":{"force":[)"), std::string::npos);
  }
}

}  // namespace
}  // namespace tribo::test
