#include <gtest/gtest.h>

#include <algorithm>

#include "solid_scenes.h"
#include "tribo/io/file.h"
#include "tribo/mesh/strand_file.h"

/// \file
/// Contact of hair as a scene has it: strands that meet strands, and roots that go with something that moves.

namespace tribo::test {
namespace {

/// A bundle falls on one across it that is held at both ends; `contact` is the block of that name, `more` are keys of
/// the scene.
std::string crossed_bundles(const std::string& contact, double speed, double dt, const std::string& more = "") {
  return fmt::format(
      R"({{"tribo": 1, "fps": 100, "duration": 1, "grid": {{"dx": 0.004}}, "time": {{"dt_max": {}, "cfl": 0.6}},
           "strand_contact": {}, {}
           "objects": [
             {{"name": "lower", "type": "hair", "radius": 2e-4, "segments": 16, "youngs_modulus": 1e9, "friction": 0.3,
               "tips": "clamped", "rotation": {{"axis": [0, 0, 1], "degrees": 90}},
               "strands": {{"tube": {{"count": 7, "length": 0.06, "spacing": 0.002, "jitter": 0.1}}}}}},
             {{"name": "upper", "type": "hair", "radius": 2e-4, "segments": 16, "youngs_modulus": 1e9, "friction": 0.3,
               "roots": "free", "at": [0, 0.006, 0], "rotation": {{"axis": [1, 0, 0], "degrees": 90}}, "seed": 3,
               "velocity": [0, {}, 0],
               "strands": {{"tube": {{"count": 7, "length": 0.06, "spacing": 0.002, "jitter": 0.1}}}}}}]}})",
      dt, contact, more, -speed);
}
std::int64_t frames(Simulation& simulation, int count) {
  std::int64_t missed = 0;
  for (int i = 0; i < count; ++i) {
    simulation.advance_frame();
    missed += simulation.progress().strands.missed;
  }
  return missed;
}

/// Promise: with the fail-safe no segment passes through another, at whatever speed and step; the bundle that fell
/// stays above the one it fell on. Without contact it falls through, and what passes is counted.
TEST(HairContact, NoStrandPassesThroughAnother) {
  for (const double speed : {1.0, 4.0}) {
    Simulation simulation = simulate(crossed_bundles("{}", speed, 0.002));
    EXPECT_EQ(frames(simulation, 4), 0) << speed;
    EXPECT_GT(center(simulation.measure()[1])[1], center(simulation.measure()[0])[1]) << speed;
  }
  Simulation through = simulate(crossed_bundles(R"({"impulses": "none"})", 1, 0.002));
  EXPECT_GT(frames(through, 4), 40);
  EXPECT_LT(center(through.measure()[1])[1], -0.01);
}

/// Promise: of strands that pass it is said which, where and when.
TEST(HairContact, SaysWhichStrandsPass) {
  Simulation simulation = simulate(crossed_bundles(R"({"impulses": "none"})", 1, 0.002));
  while (simulation.progress().strands.missed == 0 && simulation.time() < 0.02) simulation.step();
  const StrandPassage& first = simulation.progress().strands.first;
  EXPECT_EQ(first.object[0] + first.object[1], 1);
  for (const std::int64_t strand : first.strand) {
    EXPECT_GE(strand, 0);
    EXPECT_LT(strand, 7);
  }
  EXPECT_NEAR(first.at[1], 0, 0.004);  // between the bundles
  EXPECT_GT(first.time, 0);
  EXPECT_LT(first.time, simulation.time());
}

/// Promise: how fast strands go together shortens no step, only what touches does: strands that fly side by side take
/// the steps that the scene allows, and take shorter ones when they come to a floor, where they gain no energy.
TEST(HairContact, StepsFollowWhatIsNear) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 100, "duration": 1, "grid": {{"dx": 0.02}}, "time": {{"dt_max": 0.001}}, "gravity": [0, 0, 0],
             "precision": "{}", "objects": [
             {{"name": "bundle", "type": "hair", "radius": 2e-4, "segments": 16, "youngs_modulus": 1e9, "roots": "free",
               "velocity": [0, -10, 0], "rotation": {{"axis": [0, 0, 1], "degrees": 80}},
               "strands": {{"tube": {{"count": 7, "length": 0.06, "spacing": 0.002, "jitter": 0.1}}}}}}],
             "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}, "at": [0, -0.12, 0], "friction": 0.3}}]}})",
        precision));
    const double before = energy(simulation.measure()[0]);
    simulation.advance_frame();
    EXPECT_LE(simulation.progress().substeps, 16) << precision;  // waves on the grid; a quarter of a segment: 107
    simulation.advance_frame();
    EXPECT_LT(simulation.progress().dt_min, 0.25 * 0.06 / 16 / 10 * 2) << precision;
    for (int i = 0; i < 3; ++i) {
      EXPECT_LT(energy(simulation.measure()[0]), before) << precision;
      simulation.advance_frame();
    }
  }
}

/// Promise: one strand that flies off makes nobody wait: hair that nothing else can meet goes farther than a cell in a
/// step, and flies as it would in shorter ones.
TEST(HairContact, HairAloneGoesAsFarAsItMay) {
  for (const char* precision : {"float", "double"}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 100, "duration": 1, "grid": {{"dx": 0.004}}, "time": {{"dt_max": 0.001}}, "precision": "{}",
             "strand_contact": {{"grid": {{"wave_speed": 3}}}}, "objects": [
             {{"name": "bundle", "type": "hair", "radius": 1e-4, "segments": 16, "roots": "free",
               "velocity": [0, -50, 0],
               "strands": {{"tube": {{"count": 7, "length": 0.06, "spacing": 0.002, "jitter": 0.1}}}}}}]}})",
        precision));
    const double before = center(simulation.measure()[0])[1];
    simulation.advance_frame();
    EXPECT_LE(simulation.progress().substeps, 12) << precision;  // 0.9 cells: 139
    // Symplectic Euler falls by g t dt / 2 farther.
    EXPECT_NEAR(center(simulation.measure()[0])[1] - before, -0.5 - 0.5 * 9.81 * 1e-4, 0.5 * 9.81 * 0.01 * 1e-3 + 1e-6)
        << precision;
  }
}

/// Promise: strands pressed against a collider by others neither pass through each other nor are thrown off by the two
/// who hold them, nor enter it: what leaves is slower than what came, and energy is never gained.
TEST(HairContact, PressedAgainstACollider) {
  for (const char* impulses : {"plain", "accumulated"}) {
    Simulation simulation =
        simulate(crossed_bundles(fmt::format(R"({{"iterations": 1, "impulses": "{}"}})", impulses), 4, 0.001,
                                 R"("precision": "double",
           "colliders": [{"shape": {"half_space": [0, 1, 0]}, "at": [0, -0.0025, 0], "friction": 0.3}],)"));
    const auto total = [&] {
      double sum = 0;
      for (const ObjectSums& one : simulation.measure()) sum += energy(one);
      return sum;
    };
    const double before = total();
    std::int64_t rounds = 0, held = 0;
    double rises = 0, nearest = 1;
    while (simulation.time() < 0.006) {
      simulation.step();
      held = std::max<std::int64_t>(held, simulation.engine().counts().contacts);
      for (const Vec<double, 3>& x : state_column(simulation, "rod.x")) nearest = std::min(nearest, x[1] + 0.0025);
    }
    EXPECT_GT(held, 0) << impulses;
    EXPECT_GT(nearest, 0.999 * 2e-4) << impulses;
    for (int i = 0; i < 3; ++i) {
      simulation.advance_frame();
      rounds += simulation.progress().strands.rounds;
      EXPECT_EQ(simulation.progress().strands.missed, 0) << impulses;
      for (const Vec<double, 3>& v : state_column(simulation, "rod.v")) rises = std::max(rises, v[1]);
      EXPECT_LT(total(), 1.001 * before) << impulses;
    }
    EXPECT_GT(rounds, 0) << impulses;
    EXPECT_LT(rises, 4) << impulses;
  }
}

/// A bow of 16 segments over the y axis, turned about the x axis; its summit is `high` from there.
Strands bow(double from, double high, double degrees) {
  std::vector<Vec<double, 3>> points;
  for (int i = 0; i <= 16; ++i) {
    const double angle = pi * i / 16, turn = degrees * pi / 180, y = 0.005 * std::cos(angle);
    points.push_back({{from + high * std::sin(angle), std::cos(turn) * y, std::sin(turn) * y}});
  }
  Strands strands;
  add_strand(strands, points, std::vector<double>(points.size(), 1e-4));
  return strands;
}
std::string in_file(const Strands& strands, const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name;
  write_text(path, strand_file_bytes(strands, name));
  return path;
}
/// Of two strands of as many vertices each.
double distance_of_two(const Points& x) {
  constexpr int parts = 50;
  const std::size_t n = x.size() / 2;
  const auto at = [&](std::size_t first, int k) {
    const std::size_t i = first + static_cast<std::size_t>(k / parts);
    const double a = static_cast<double>(k % parts) / parts;
    return (1 - a) * x[i] + a * x[i + 1];
  };
  double least = 1;
  for (int k = 0; k < parts * static_cast<int>(n - 1); ++k)
    for (int l = 0; l < parts * static_cast<int>(n - 1); ++l) least = std::min(least, norm(at(0, k) - at(n, l)));
  return least;
}

/// Promise: strands that are hooked into each other and pulled hold each other by their thickness, however the hook is
/// turned and however fast it is pulled: none passes, and nearly half of the thickness is left. Where a strand passes
/// over another and, next to that, under it, impulses along both normals have nothing to say about the pull.
TEST(HairContact, HookedStrandsHold) {
  const std::string still = in_file(bow(0, 0.01, 0), "still.ply");
  for (const char* precision : {"float", "double"})
    for (const double degrees : {20.0, 50.0, 90.0})
      for (const double speed : {0.5, 4.0}) {
        Simulation simulation = simulate(fmt::format(
            R"({{"tribo": 1, "fps": 1000, "duration": 1, "grid": {{"dx": 0.004}}, "time": {{"dt_max": 5e-4}},
                 "precision": "{}", "objects": [
                 {{"name": "still", "type": "hair", "strands": {{"file": "{}"}}, "tips": "clamped"}},
                 {{"name": "pulled", "type": "hair", "strands": {{"file": "{}"}}, "tips": "clamped",
                   "motion": [{{"time": 0}}, {{"time": {}, "at": [0.008, 0, 0]}}]}}]}})",
            precision, still, in_file(bow(0.016, -0.01, degrees), fmt::format("pulled{}.ply", degrees)),
            0.008 / speed));
        std::int64_t missed = 0;
        double least = 1;
        while (simulation.time() < 0.01 / speed) {
          missed += frames(simulation, 1);
          least = std::min(least, distance_of_two(state_column(simulation, "rod.x")));
        }
        EXPECT_EQ(missed, 0) << precision << ", " << degrees << " degrees, " << speed << " m/s";
        EXPECT_GT(least, 0.9e-4) << precision << ", " << degrees << " degrees, " << speed << " m/s";
      }
}

/// Layers of strands across each other that lie on a floor, the lowest first.
std::string crib(const char* precision, int layers, double weight, const std::string& contact = "{}") {
  Strands strands;
  for (int layer = 0; layer < layers; ++layer)
    for (int k = 0; k < 4; ++k) {
      std::vector<Vec<double, 3>> points;
      for (int i = 0; i <= 8; ++i) {
        // Crossings are at the middles of segments, and nowhere near in the next layer but one.
        const double along = 1.25e-3 * (i - 4), aside = 2.5e-3 * (k - 1.5) + 0.4e-3 * (layer % 4), y = 1.02e-4 * (2 * layer + 1);
        points.push_back(layer % 2 == 0 ? Vec<double, 3>{{along, y, aside}} : Vec<double, 3>{{aside, y, along}});
      }
      add_strand(strands, points, std::vector<double>(points.size(), 1e-4));
    }
  return fmt::format(
      R"({{"tribo": 1, "fps": 500, "duration": 1, "grid": {{"dx": 0.004}}, "time": {{"dt_max": 5e-5}}, "precision": "{}",
           "gravity": [0, {}, 0], "strand_contact": {},
           "objects": [{{"name": "crib", "type": "hair", "roots": "free", "friction": 0.5, "strands": {{"file": "{}"}}}}],
           "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}, "friction": 0.5}}]}})",
      precision, -9.81 * weight, contact, in_file(strands, "crib.ply"));
}

/// Promise: strands that are pressed together in many layers keep their thickness for as long as they are pressed, with
/// no more than what kept them apart in the step before and one round about that: the pile neither sinks nor costs more
/// the longer it lies.
TEST(HairContact, PressedLayersKeepTheirThickness) {
  constexpr int layers = 8;
  for (const char* precision : {"float", "double"})
    for (const double weight : {1.0, 100.0}) {
      Simulation simulation = simulate(crib(precision, layers, weight, R"({"grid": {"on": false}})"));
      std::int64_t missed = frames(simulation, 20), rounds = 0, steps = 0;  // until it lies
      double lowest = 1;
      for (int frame = 0; frame < 20; ++frame) {
        missed += frames(simulation, 1);
        rounds += simulation.progress().strands.rounds;
        steps += simulation.progress().substeps;
        double top = 0;
        for (const Vec<double, 3>& x : state_column(simulation, "rod.x")) top = std::max(top, x[1]);
        lowest = std::min(lowest, top);
      }
      EXPECT_EQ(missed, 0) << precision << ", " << weight;
      EXPECT_LT(rounds, 1.5 * static_cast<double>(steps)) << precision << ", " << weight;
      // The load bends them by less than a hundredth of their radius.
      EXPECT_GT(lowest, 0.95 * 1e-4 * (2 * layers - 1)) << precision << ", " << weight;
    }
}

/// Promise: momentum is exchanged, not lost: free bundles that meet keep theirs.
TEST(HairContact, KeepsMomentum) {
  std::string text = crossed_bundles("{}", 2, 0.002, R"("gravity": [0, 0, 0], "precision": "double",)");
  const std::string held = R"("tips": "clamped")";
  text.replace(text.find(held), held.size(), R"("roots": "free")");
  Simulation simulation = simulate(text);
  const auto momentum = [&] {
    const std::vector<ObjectSums> sums = simulation.measure();
    return sums[0].momentum + sums[1].momentum;
  };
  const Vec<double, 3> before = momentum();
  frames(simulation, 2);
  EXPECT_LT(norm(momentum() - before), 1e-9 * norm(before));
  EXPECT_LT(simulation.measure()[0].momentum[1], 0.1 * before[1]);  // and was exchanged
}

/// Promise: `friction` of the scene says what two objects of hair do to each other, whatever their own coefficients
/// are: a strand lies across two that slope by 20 degrees, and slides where mu < tan 20 = 0.364. Without the grid,
/// whose blend takes some of any relative velocity.
TEST(HairContact, PairsHaveTheFrictionThatTheSceneSays) {
  for (const double friction : {0.1, 0.6}) {
    Simulation simulation = simulate(fmt::format(
        R"({{"tribo": 1, "fps": 50, "duration": 1, "grid": {{"dx": 0.05}}, "time": {{"dt_max": 0.001}},
             "precision": "double", "gravity": [{}, {}, 0], "strand_contact": {{"grid": {{"on": false}}}},
             "friction": [{{"between": "rail", "and": "rod", "coefficient": {}}}],
             "objects": [
               {{"name": "rail", "type": "hair", "radius": 0.002, "segments": 20, "youngs_modulus": 1e11, "tips": "clamped",
                 "stretch_scale": 1, "rotation": {{"axis": [0, 0, 1], "degrees": -90}}, "friction": 1,
                 "strands": {{"tube": {{"count": 2, "length": 1, "spacing": 0.1}}}}}},
               {{"name": "rod", "type": "hair", "radius": 0.002, "segments": 11, "youngs_modulus": 1e9, "roots": "free",
                 "friction": 0, "at": [-0.02, 0.004, 0], "rotation": {{"axis": [1, 0, 0], "degrees": 90}},
                 "strands": {{"tube": {{"count": 1, "length": 0.4, "spacing": 0.1}}}}}}]}})",
        9.81 * std::sin(pi / 9), -9.81 * std::cos(pi / 9), friction));
    // The two rails lie apart in z, so that the rod rests on both.
    const Points start = state_column(simulation, "rod.x");
    ASSERT_GT(std::abs(start[0][2] - start[21][2]), 0.05) << "rails are not side by side";
    frames(simulation, 15);
    const double slope = std::sin(pi / 9) - friction * std::cos(pi / 9);
    const double expected = std::max(0.0, 9.81 * slope) * simulation.time();
    EXPECT_NEAR(velocity(simulation.measure()[1])[0], expected, 0.08 * 9.81 * simulation.time() * std::sin(pi / 9))
        << friction;
  }
}

TEST(HairContact, ResumesWithTheSameBytes) {
  const std::string text = crossed_bundles("{}", 2, 0.002);
  Simulation whole = simulate(text);
  whole.step();
  Simulation resumed = simulate(text);
  resumed.restore(whole.checkpoint());
  std::int64_t pairs = 0;
  for (int i = 0; i < 2; ++i) {
    whole.advance_frame();
    resumed.advance_frame();
    pairs += whole.progress().strands.pairs;
    EXPECT_EQ(resumed.progress().strands.pairs, whole.progress().strands.pairs);
  }
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  EXPECT_GT(pairs, 0);
}

/// Promise: clamped tips go where `tip_motion` says, roots where `motion` says.
TEST(HairContact, TipsHaveAMotionOfTheirOwn) {
  Simulation simulation = simulate(
      R"({"tribo": 1, "fps": 50, "duration": 1, "grid": {"dx": 0.05}, "time": {"dt_max": 0.002}, "precision": "double",
          "objects": [{"type": "hair", "radius": 0.002, "segments": 12, "youngs_modulus": 1e8, "tips": "clamped",
            "strands": {"tube": {"count": 1, "length": 0.4, "spacing": 0.1}},
            "motion": [{"time": 0}, {"time": 0.2, "at": [0.1, 0, 0]}],
            "tip_motion": [{"time": 0, "at": [0.05, 0, 0]},
                           {"time": 0.2, "at": [0.05, -0.02, 0], "rotation": {"axis": [0, 1, 0], "degrees": 90}}]}]})");
  const Points before = state_column(simulation, "rod.x");
  frames(simulation, 10);
  const Points after = state_column(simulation, "rod.x");
  EXPECT_NEAR(norm(after[0] - before[0] - Vec<double, 3>{{0.1, 0, 0}}), 0, 1e-12);
  // From 5 cm beside the axis a quarter of a turn leads to 5 cm behind it.
  const Vec<double, 3> tip = before.back() - Vec<double, 3>{{0.05, 0, 0}};
  const Vec<double, 3> expected{{0.05 + tip[2], tip[1] - 0.02, -tip[0]}};
  EXPECT_NEAR(norm(after.back() - expected), 0, 1e-12);
}

/// Promise: hair that a scene puts inside a collider is said to be there.
TEST(HairContact, WarnsOfHairInsideColliders) {
  const Simulation simulation = simulate(R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.1}, "objects": [
    {"name": "lock", "type": "hair", "strands": {"tube": {"count": 1, "length": 1, "spacing": 0.1}}, "radius": 0.01,
     "segments": 10}],
    "colliders": [{"name": "ball", "shape": {"sphere": 0.25}, "at": [0, 0, 0]}]})");
  ASSERT_EQ(simulation.warnings().size(), 1U);
  EXPECT_NE(simulation.warnings()[0].find("5 vertices of hair 'lock' begin inside collider 'ball'"), std::string::npos)
      << simulation.warnings()[0];
}

/// A block with hair on it; `block` are its keys.
std::string furry_block(const std::string& block) {
  return fmt::format(
      R"({{"tribo": 1, "fps": 50, "duration": 1, "grid": {{"dx": 0.05}}, "time": {{"dt_max": 0.001}}, "precision": "double",
           "materials": {{"rubber": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}}}},
           "objects": [{{"name": "block", "type": "solid", "method": "hybrid", "shape": {{"box": [0.2, 0.2, 0.2]}}, "material": "rubber",
                         "element_size": 0.1, {}}},
                       {{"name": "fur", "type": "hair", "skin": "block", "radius": 3e-4, "segments": 6,
                         "strands": {{"scalp": {{"shape": {{"box": [0.2, 0.2, 0.2]}}, "count": 12, "length": 0.06}}}}}}]}})",
      block);
}

/// Promise: roots on a skin go with it. On a block that is turned by keyframes they are where the rotation puts them;
/// on one that falls freely and wobbles they keep their places on its surface.
TEST(HairContact, RootsGoWithTheirSkin) {
  Simulation turned = simulate(furry_block(
      R"("kinematic": true, "motion": [{"time": 0}, {"time": 0.1, "at": [0.3, 0, 0], "rotation": {"degrees": 90}}])"));
  const Points before = state_column(turned, "rod.x");
  frames(turned, 5);
  const Points after = state_column(turned, "rod.x");
  for (std::size_t s = 0; s < 12; ++s)
    for (const std::size_t i : {7 * s, 7 * s + 1}) {
      const Vec<double, 3> expected{{0.3 - before[i][1], before[i][0], before[i][2]}};
      EXPECT_LT(norm(after[i] - expected), 1e-4) << s;
    }

  Simulation falling = simulate(furry_block(R"("angular_velocity": [2, 3, 1])"));
  const Points start = state_column(falling, "rod.x"), block_start = vertices(falling);
  frames(falling, 10);
  const Points roots = state_column(falling, "rod.x"), block = vertices(falling);
  for (std::size_t s = 0; s < 12; ++s) {
    std::size_t nearest = 0;
    for (std::size_t i = 0; i < block.size(); ++i)
      if (norm(block_start[i] - start[7 * s]) < norm(block_start[nearest] - start[7 * s])) nearest = i;
    EXPECT_NEAR(norm(block[nearest] - roots[7 * s]), norm(block_start[nearest] - start[7 * s]), 5e-3) << s;
    EXPECT_GT(norm(roots[7 * s] - start[7 * s]), 0.05);
  }
}

/// Promise: hair that was put elsewhere than on its skin is simulated, and said; on its skin and below it is not.
TEST(HairContact, WarnsOfRootsFarFromTheirSkin) {
  const auto warnings = [](const std::string& keys) {
    std::string scene = furry_block(R"("kinematic": true)");
    scene.replace(scene.find(R"("skin": "block")"), 0, keys);
    return simulate(scene).warnings();
  };
  EXPECT_TRUE(warnings("").empty());
  EXPECT_TRUE(warnings(R"("at": [0, 0.02, 0], )").empty());
  const std::vector<std::string> said = warnings(R"("at": [0, 1, 0], )");
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("12 of 12 roots of hair 'fur' are far from their skin 'block'"), std::string::npos) << said[0];
  EXPECT_NE(said[0].find("by 1 m"), std::string::npos) << said[0];
}

}  // namespace
}  // namespace tribo::test
