#include <gtest/gtest.h>

#include <algorithm>

#include "solid_scenes.h"
#include "tribo/core/errors.h"
#include "tribo/io/file.h"
#include "tribo/mesh/strand_file.h"

/// \file
/// Hair as a scene has it, through the whole program: what mechanics promises of strands that hang, fall, lie and
/// slide, and that a run can be stopped and go on.

namespace tribo::test {
namespace {

/// A single strand along x with its middle at the height `height`; `keys` are more of its own.
struct LoneStrand {
  double length = 1, radius = 0.01;  ///< [m]
  int segments = 20;
  double height = 0;  ///< [m]
  std::string keys = R"("roots": "free")";
  Vec<double, 3> gravity{{0, -9.81, 0}};
  double dt = 0.005;
  std::string precision = "double";
  std::string colliders;
};
std::string scene_of(const LoneStrand& lone) {
  return fmt::format(
      R"({{"tribo": 1, "fps": 20, "duration": 100, "precision": "{}", "gravity": [{}, {}, {}], "grid": {{"dx": 0.2}},
           "time": {{"dt_max": {}}},
           "objects": [{{"type": "hair", "strands": {{"tube": {{"count": 1, "length": {}, "spacing": 0.1}}}},
                         "radius": {}, "segments": {}, "at": [0, {}, 0],
                         "rotation": {{"axis": [0, 0, 1], "degrees": 90}}, {}}}],
           "colliders": [{}]}})",
      lone.precision, lone.gravity[0], lone.gravity[1], lone.gravity[2], lone.dt, lone.length, lone.radius,
      lone.segments, lone.height, lone.keys, lone.colliders);
}
std::string floor_with(double friction) {
  return fmt::format(R"({{"shape": {{"half_space": [0, 1, 0]}}, "friction": {}}})", friction);
}
Points strand_of(Simulation& simulation) { return state_column(simulation, "rod.x"); }
void run(Simulation& simulation, double until) {
  while (simulation.time() < until - 1e-9) simulation.advance_frame();
}

/// The drop of the tip of a heavy elastica that is clamped level, over its length: theta'' = -gamma (1 - s) cos theta,
/// theta(0) = 0, theta'(1) = 0 (theory E.8), by shooting.
double elastica_drop(double gamma) {
  constexpr int n = 2000;
  double drop = 0;
  const auto end_slope = [&](double slope) {
    double theta = 0, rate = slope;
    drop = 0;
    for (int i = 0; i < n; ++i) {
      const double h = 1.0 / n, s = (i + 0.5) * h, middle = theta + 0.5 * h * rate;
      rate -= h * gamma * (1 - s) * std::cos(middle);
      drop -= h * std::sin(middle);
      theta = middle + 0.5 * h * rate;
    }
    return rate;
  };
  double low = 0, high = gamma;  // of theta' at the clamp; theta is counted downward
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (end_slope(middle) > 0 ? high : low) = middle;
  }
  return drop;
}

/// Promise: a strand that a scene clamps sags under its own weight as the heavy elastica does; so gravity, stiffness,
/// clamps and units arrive at the rods as the scene says them.
TEST(Hair, ClampedStrandSagsAsTheElastica) {
  const double gamma = 5, density = 1000, radius = 0.01;
  const double youngs_modulus = 4 * density * 9.81 / (gamma * radius * radius);  // of one meter
  LoneStrand lone;
  lone.segments = 41;
  lone.length = 41.0 / 40;  // the clamp is at the second vertex
  lone.keys = fmt::format(R"("density": {}, "youngs_modulus": {}, "stretch_scale": 1, "bend_damping": 0.3)", density,
                          youngs_modulus);
  Simulation simulation = simulate(scene_of(lone));
  const Points before = strand_of(simulation);
  run(simulation, 5);
  const Points after = strand_of(simulation);
  const double drop = before.back()[1] - after.back()[1], expected = std::abs(elastica_drop(gamma));
  RecordProperty("drop", fmt::format("{:.5f} of the length, theory {:.5f}", drop, expected));
  EXPECT_GT(expected, 0.3);
  EXPECT_NEAR(drop, expected, 0.01 * expected);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(after[0][k], before[0][k], 1e-12);
    EXPECT_NEAR(after[1][k], before[1][k], 1e-12);
  }
}

/// Promise: a ribbon stands on edge or lies flat as `director` says, in the object's own coordinates: it sags as the
/// elastica with the stiffness of its width along the load, three times and a third of the round strand's.
TEST(Hair, RibbonsAreTurnedAsTheDirectorSays) {
  const double gamma = 1, density = 1000, radius = 0.01;
  for (const bool on_edge : {true, false}) {
    LoneStrand lone;
    lone.segments = 21;
    lone.length = 21.0 / 20;
    lone.keys = fmt::format(
        R"("density": {}, "youngs_modulus": {}, "stretch_scale": 1, "bend_damping": 0.3, "aspect": 3, "director": {})",
        density, 4 * density * 9.81 / (gamma * radius * radius), on_edge ? "[1e-9, 0, 0]" : "[0.2, 0.9, 1e4]");
    Simulation simulation = simulate(scene_of(lone));
    const double before = strand_of(simulation).back()[1];
    run(simulation, 5);
    const double drop = before - strand_of(simulation).back()[1];
    const double expected = std::abs(elastica_drop(on_edge ? gamma / 3 : 3 * gamma));
    EXPECT_NEAR(drop, expected, 0.01 * expected);
  }
}

TEST(Hair, FallsFreely) {
  LoneStrand lone;
  lone.keys = R"("roots": "free", "velocity": [1, 2, 0])";
  Simulation simulation = simulate(scene_of(lone));
  run(simulation, 0.2);
  const ObjectSums sums = simulation.measure()[0];
  EXPECT_NEAR(velocity(sums)[1], 2 - 9.81 * simulation.time(), 1e-9);
  EXPECT_NEAR(center(sums)[0], simulation.time(), 1e-9);
  EXPECT_NEAR(sums.mass, 1300 * pi * 1e-4, 1e-9);
  EXPECT_EQ(simulation.engine().counts().segments, 20);
}

/// Promise: what falls to the ground lies there, its surface and not its middle on it, and is still.
TEST(Hair, ComesToRestAtItsRadius) {
  for (const char* precision : {"double", "float"}) {
    LoneStrand lone;
    lone.radius = 0.004;
    lone.height = 0.05;
    lone.precision = precision;
    lone.keys = R"("roots": "free", "youngs_modulus": 1e8, "bend_damping": 0.01)";
    lone.colliders = floor_with(0.3);
    Simulation simulation = simulate(scene_of(lone));
    run(simulation, 1.5);
    for (const Vec<double, 3>& x : strand_of(simulation)) EXPECT_NEAR(x[1], 0.004, 4e-5) << precision;
    EXPECT_LT(norm(velocity(simulation.measure()[0])), 1e-3) << precision;
    EXPECT_GT(simulation.engine().counts().contacts, 0);
  }
}

/// Promise: hair that begins inside a collider comes out of it, no faster than if it had fallen from as high: a speed
/// that goes with 1 / dt would ask for shorter steps, and these for more speed, to a hundred meters a second.
TEST(Hair, ComesOutOfCollidersWithoutBeingThrown) {
  LoneStrand lone;
  lone.radius = 0.004;
  lone.height = -0.1;
  lone.dt = 1e-4;
  lone.keys = R"("roots": "free", "youngs_modulus": 1e8, "bend_damping": 0.01)";
  lone.colliders = floor_with(0.3);
  Simulation simulation = simulate(scene_of(lone));
  double fastest = 0;
  while (simulation.time() < 1) {
    simulation.advance_frame();
    fastest = std::max(fastest, norm(velocity(simulation.measure()[0])));
  }
  EXPECT_LT(fastest, std::sqrt(10 * 0.104));
  for (const Vec<double, 3>& x : strand_of(simulation)) EXPECT_NEAR(x[1], 0.004, 4e-4);
}

/// Promise: hair that falls on the ground, one end first, gains no energy there: with the damping it has by default,
/// soft against stretching or as stiff as it really is, and without any by backward Euler.
class HairFalling : public ::testing::TestWithParam<const char*> {};
TEST_P(HairFalling, GainsNoEnergy) {
  LoneStrand lone;
  lone.length = 0.2;
  lone.radius = 5e-5;
  lone.segments = 50;
  lone.height = 0.05;
  lone.precision = "float";
  lone.dt = 0.002;
  lone.keys = GetParam();
  lone.colliders = floor_with(0.3);
  std::string text = scene_of(lone);
  const std::string level = R"("degrees": 90)";
  text.replace(text.find(level), level.size(), R"("degrees": 80)");  // one end first
  Simulation simulation = simulate(text);
  const double before = energy(simulation.measure()[0]);
  for (int i = 0; i < 14; ++i) {
    simulation.advance_frame();
    EXPECT_LT(energy(simulation.measure()[0]), 1.02 * before) << "at " << simulation.time() << " s";
  }
}
INSTANTIATE_TEST_SUITE_P(Schemes, HairFalling,
                         testing::Values(R"("roots": "free")", R"("roots": "free", "stretch_scale": 1)",
                                         R"("roots": "free", "stretch_scale": 1, "scheme": "backward_euler",
                                            "bend_damping": 0, "stretch_damping": 0)"));

/// Promise: what a scene says by default can be run by every scheme: explicit strands swing and keep their energy,
/// although damping that implicit steps have by default would blow them up.
TEST(Hair, ExplicitStepsAreStableByDefault) {
  LoneStrand lone;
  lone.length = 0.1;
  lone.radius = 5e-4;
  lone.segments = 10;
  lone.precision = "float";
  lone.keys = R"("scheme": "explicit", "youngs_modulus": 1e7)";
  Simulation simulation = simulate(scene_of(lone));
  const double before = energy(simulation.measure()[0]), scale = simulation.measure()[0].mass * 9.81 * 0.1;
  run(simulation, 0.3);
  EXPECT_NEAR(energy(simulation.measure()[0]), before, 0.02 * scale);
  EXPECT_GT(simulation.measure()[0].elastic, 0.01 * scale);  // it has swung
}

/// Promise: Coulomb. On a slope a strand slides with g (sin a - mu cos a), or stays where mu > tan a; across the slope
/// and along it.
TEST(Hair, SlidesDownASlopeByCoulomb) {
  const double a = 30 * pi / 180, g = 9.81;
  for (const double turn : {0.0, 90.0})
    for (const double friction : {0.0, 0.3, 0.7}) {
      LoneStrand lone;
      lone.radius = 0.004;
      lone.height = 0.004;
      lone.gravity = {{g * std::sin(a), -g * std::cos(a), 0}};
      lone.keys = R"("roots": "free", "youngs_modulus": 1e8)";
      lone.colliders = floor_with(friction);
      std::string text = scene_of(lone);
      if (turn != 0) {  // along z: about x instead of z
        const std::string axis = R"("axis": [0, 0, 1])";
        text.replace(text.find(axis), axis.size(), R"("axis": [1, 0, 0])");
      }
      Simulation simulation = simulate(text);
      run(simulation, 0.5);
      const double expected = std::max(0.0, g * (std::sin(a) - friction * std::cos(a))) * simulation.time();
      EXPECT_NEAR(velocity(simulation.measure()[0])[0], expected, 0.01 * g * simulation.time())
          << "friction " << friction << ", turned by " << turn;
      if (friction == 0.7) {
        EXPECT_LT(norm(velocity(simulation.measure()[0])), 1e-6);
      }
    }
}

/// Promise: a ball that comes from below carries a strand along on top and does not pass through it.
TEST(Hair, IsCarriedByAMovingCollider) {
  LoneStrand lone;
  lone.radius = 0.004;
  lone.segments = 40;
  lone.keys = R"("roots": "free", "youngs_modulus": 1e8, "bend_damping": 0.01)";
  lone.colliders = R"({"shape": {"sphere": 0.1}, "friction": 0.5,
                       "motion": [{"time": 0, "at": [0, -0.11, 0]}, {"time": 0.2, "at": [0, 0.09, 0]}]})";
  lone.gravity = Vec<double, 3>::zero();
  Simulation simulation = simulate(scene_of(lone));
  run(simulation, 0.2);
  double nearest = 1e9;
  for (const Vec<double, 3>& x : strand_of(simulation))
    nearest = std::min(nearest, norm(x - Vec<double, 3>{{0, 0.09, 0}}));
  EXPECT_GT(nearest, 0.104 - 2e-4);
  EXPECT_GT(velocity(simulation.measure()[0])[1], 0.5);
}

/// A shaken ball of hair, half of it curled, over the ground.
const char* const shaken = R"({"tribo": 1, "fps": 50, "duration": 1, "grid": {"dx": 0.02}, "time": {"dt_max": 0.002},
  "objects": [{"type": "hair", "radius": 2e-4, "segments": 12, "aspect": 1.5, "youngs_modulus": 1e9,
    "strands": {"scalp": {"shape": {"sphere": 0.1}, "count": 20, "length": 0.1, "spread": 20,
                          "curl": {"radius": 0.005, "pitch": 0.03}}},
    "motion": [{"time": 0, "at": [0, 0.2, 0]}, {"time": 0.06, "at": [0.1, 0.11, 0], "rotation": {"degrees": 90}}]}],
  "colliders": [{"shape": {"sphere": 0.099}, "friction": 0.3,
    "motion": [{"time": 0, "at": [0, 0.2, 0]}, {"time": 0.06, "at": [0.1, 0.11, 0], "rotation": {"degrees": 90}}]},
    {"shape": {"half_space": [0, 1, 0]}, "friction": 0.5}]})";

/// Promise: a checkpoint is all of the state: what goes on from it has the same bytes, frames and twist included.
TEST(Hair, ResumesWithTheSameBytes) {
  Simulation whole = simulate(shaken);
  whole.advance_frame();
  whole.step();
  const Container saved = whole.checkpoint();
  Simulation resumed = simulate(shaken);
  resumed.restore(saved);
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  std::int64_t contacts = 0;
  for (int i = 0; i < 120; ++i) {
    whole.step();
    resumed.step();
    contacts += whole.engine().counts().contacts;
  }
  EXPECT_EQ(resumed.state_hash(), whole.state_hash());
  EXPECT_GT(contacts, 0);
}

/// Promise: to ask for the next step is not to take it: nothing that evolves is changed, also where the pace of strands
/// remembers the step before.
TEST(Hair, AskingForTheNextStepChangesNothing) {
  Simulation simulation = simulate(shaken);
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t before = simulation.state_hash();
    const StepReport next = simulation.engine().next_dt(simulation.frame_time(simulation.frame() + 1));
    EXPECT_GT(next.dt, 0);
    EXPECT_EQ(simulation.state_hash(), before);
    EXPECT_EQ(simulation.engine().next_dt(simulation.frame_time(simulation.frame() + 1)).dt, next.dt);
    simulation.step();
  }
}

TEST(Hair, SameBytesForAnyNumberOfThreads) {
  std::uint64_t hash[2];
  for (int t = 0; t < 2; ++t) {
    SimulationOptions options;
    options.threads = 1 + t;
    Simulation simulation = simulate(shaken, options);
    run(simulation, 0.06);
    hash[t] = simulation.state_hash();
  }
  EXPECT_EQ(hash[0], hash[1]);
}

/// Promise: clamped roots are where the keyframes say, and strands are seen as curves with their radius.
TEST(Hair, RootsFollowTheirKeyframes) {
  Simulation simulation = simulate(shaken);
  const Frame first = simulation.observe();
  run(simulation, 0.06);
  const Frame last = simulation.observe();
  ASSERT_EQ(last.curves.size(), 1U);
  const FrameCurves& curves = last.curves[0];
  EXPECT_EQ(curves.sizes.count, 20U);
  EXPECT_FLOAT_EQ(curves.radius.as<float>()[5], 2e-4F);
  const auto x0 = first.curves[0].x.as<float>(), x1 = curves.x.as<float>();
  for (std::size_t s = 0; s < 20; ++s) {
    const std::size_t i = 3 * 13 * s;  // turned by 90 degrees about z
    EXPECT_NEAR(x1[i], 0.1 - (x0[i + 1] - 0.2), 1e-5);
    EXPECT_NEAR(x1[i + 1], 0.11 + x0[i], 1e-5);
    EXPECT_NEAR(x1[i + 2], x0[i + 2], 1e-5);
  }
}

/// Strands of a file, as the program finds them on the disk.
std::string written(const Strands& strands, const std::string& name) {
  const std::string path = testing::TempDir() + "/tribo_hair_test_" + name;
  write_text(path, strand_file_bytes(strands, name));
  return path;
}

/// Promise: hair that tapers to a point, as groomers make it, has the mass of its segments, and lies on the floor at
/// its radius from root to tip.
TEST(Hair, TapersToAPoint) {
  constexpr int segments = 16;
  Strands cone;
  std::vector<Vec<double, 3>> points;
  std::vector<double> radius;
  for (int i = 0; i <= segments; ++i) {
    points.push_back({{static_cast<double>(i) / segments, 0.03, 0}});
    radius.push_back(0.02 * (segments - i) / segments);
  }
  add_strand(cone, points, radius);
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "fps": 20, "duration": 100, "grid": {{"dx": 0.2}}, "time": {{"dt_max": 0.005}},
           "objects": [{{"type": "hair", "strands": {{"file": "{}"}}, "roots": "free", "youngs_modulus": 1e6,
                         "density": 1000, "stretch_scale": 1}}],
           "colliders": [{}]}})",
      written(cone, "cone.ply"), floor_with(0.5)));
  ASSERT_EQ(simulation.warnings().size(), 1U);
  EXPECT_NE(simulation.warnings()[0].find("thinner than 0.1"), std::string::npos) << simulation.warnings()[0];
  double mass = 0;
  for (double& r : radius) r = std::max(r, 0.002);
  for (int i = 0; i < segments; ++i) {
    const double r = 0.5 * (radius[static_cast<std::size_t>(i)] + radius[static_cast<std::size_t>(i) + 1]);
    mass += 1000 * pi * r * r / segments;
  }
  EXPECT_NEAR(simulation.measure()[0].mass, mass, 1e-6 * mass);
  run(simulation, 2);
  const Points x = strand_of(simulation);
  ASSERT_EQ(x.size(), radius.size());
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i][1], radius[i], 1e-4) << "vertex " << i;
}

/// Strands that are nowhere thick are refused with a word about what to do.
TEST(Hair, WithoutAnyThicknessIsRefused) {
  Strands thin;
  add_strand(thin, std::vector<Vec<double, 3>>{{{0, 0, 0}}, {{0, 1, 0}}, {{0, 2, 0}}}, std::vector<double>{0, 0, 0});
  const std::string scene = fmt::format(
      R"({{"tribo": 1, "duration": 1, "grid": {{"dx": 0.2}},
           "objects": [{{"type": "hair", "strands": {{"file": "{}"}}}}]}})",
      written(thin, "thin.ply"));
  try {
    simulate(scene);
    FAIL() << "strands of no thickness";
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find("give the key `radius`"), std::string::npos) << error.what();
  }
  SimulationOptions thicker;
  thicker.overrides = {parse_override("/objects/0/radius=1e-3")};
  EXPECT_NO_THROW(simulate(scene, thicker));
}

/// Promise: what looks like a mistake is said and still simulated.
TEST(Hair, WarnsOfStrandsThatBeginInContact) {
  const Simulation simulation = simulate(R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.1}, "objects": [
    {"type": "hair", "strands": {"tube": {"count": 1, "length": 1, "spacing": 0.1}}, "radius": 0.01, "segments": 7},
    {"type": "hair", "strands": {"tube": {"count": 1, "length": 1, "spacing": 0.1}}, "radius": 0.01, "segments": 7,
     "at": [0, 0, 0.015], "rotation": {"degrees": 90}}]})");
  ASSERT_EQ(simulation.warnings().size(), 1U);
  EXPECT_NE(simulation.warnings()[0].find("0.015 m apart"), std::string::npos) << simulation.warnings()[0];
}

}  // namespace
}  // namespace tribo::test
