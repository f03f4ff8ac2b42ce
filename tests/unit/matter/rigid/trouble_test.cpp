#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tribo/core/errors.h"
#include "tribo/matter/particles/seed.h"
#include "tribo/matter/rigid/box_cells.h"
#include "tribo/matter/rigid/overlaps.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/meshes.h"
#include "tribo/setup/model.h"

/// \file
/// What is hardly meant of rigid bodies is told before anything moves: by name, number and size, with what would help.

namespace tribo {
namespace {

Scene scene_of(const std::string& objects, const std::string& more = "") {
  return parse_scene(R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.1},
                         "materials": {"sand": "dry_sand", "jelly": {"model": "neo_hookean", "density": 1000,
                                       "youngs_modulus": 1e5, "poisson_ratio": 0.3}}, "objects": [)" +
                         objects + "]" + more + "}",
                     (std::filesystem::path(testing::TempDir()) / "x.json").string());
}
/// One sentence a line.
std::string warnings(const std::string& objects, const std::string& more = "") {
  const Scene scene = scene_of(objects, more);
  std::vector<std::string> all = mesh_warnings(scene);
  make_seeds(scene, all);
  std::string lines;
  for (const std::string& one : all) lines += one + "\n";
  return lines;
}
std::string complaint(const std::string& objects, const std::string& more = "") {
  try {
    warnings(objects, more);
  } catch (const SceneError& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    EXPECT_EQ(error.findings().size(), 1u);
    return error.findings()[0].pointer + ": " + error.findings()[0].message;
  }
  return "";
}
std::string rigid(const std::string& more) { return R"({"type": "rigid", "density": 1000, )" + more + "}"; }

/// Promise: pairs that meet are found, each once, whatever sizes boxes have: as by comparing all with all.
TEST(BoxCells, FindAllPairsOnce) {
  std::vector<Bounds> boxes;
  unsigned state = 1;
  const auto random = [&] { return (state = state * 1664525u + 1013904223u) / 4294967296.0; };
  for (int i = 0; i < 600; ++i) {
    Bounds box{true, {}, {}};
    const double size = std::pow(10.0, 3 * random() - 2);
    for (int k = 0; k < 3; ++k) {
      box.low[k] = 12 * random() - 6;
      box.high[k] = box.low[k] + size * (i % 5 == 0 ? random() : 1);
    }
    boxes.push_back(box);
  }
  boxes.push_back({true, {{0, 0, 0}}, {{0, 0, 0}}});
  boxes.push_back(boxes.back());
  boxes.push_back({true, {{-1, -1, -1}}, {{1, 1, 1}}});
  std::vector<std::pair<std::int32_t, std::int32_t>> found, expected;
  const BoxCells cells(boxes);
  cells.each_pair([&](std::int32_t i, std::int32_t j) { found.emplace_back(i, j); });
  for (std::size_t i = 0; i < boxes.size(); ++i)
    for (std::size_t j = i + 1; j < boxes.size(); ++j) {
      bool meet = true;
      for (int k = 0; k < 3; ++k)
        meet = meet && boxes[i].low[k] <= boxes[j].high[k] && boxes[j].low[k] <= boxes[i].high[k];
      if (meet) expected.emplace_back(i, j);
    }
  std::sort(found.begin(), found.end());
  EXPECT_GT(expected.size(), 1000u);
  EXPECT_EQ(found, expected);
  for (int n = 0; n < 100; ++n) {
    const Vec<double, 3> x{{12 * random() - 6, 12 * random() - 6, 12 * random() - 6}};
    std::vector<std::int32_t> around, wanted;
    cells.each_at(x, [&](std::int32_t i) { around.push_back(i); });
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      bool in = true;
      for (int k = 0; k < 3; ++k) in = in && boxes[i].low[k] <= x[k] && x[k] <= boxes[i].high[k];
      if (in) wanted.push_back(static_cast<std::int32_t>(i));
    }
    std::sort(around.begin(), around.end());
    EXPECT_EQ(around, wanted);
  }
}

/// Promise: bodies that begin inside each other are named, with the number of the copy and the depth; those that touch,
/// are joined, or both follow keyframes are not.
TEST(RigidTrouble, BodiesThatOverlap) {
  const std::string ball = R"("shape": {"sphere": 1}, "name": "ball")";
  const auto cubes = [](const std::string& copies) {
    return rigid(R"("shape": {"box": [1, 1, 1]}, "name": "cube", "copies": [)" + copies + "]");
  };
  EXPECT_EQ(warnings(rigid(ball) + "," + rigid(R"("shape": {"sphere": 1}, "name": "other", "at": [1.5, 0, 0])")),
            "'ball' and 'other' begin 0.5 m inside each other; move one of the two\n");
  EXPECT_EQ(warnings(cubes(R"({}, {"at": [0.9, 0.2, 0.2]}, {"at": [0, 5, 0]}, {"at": [0.95, 5, 0]})")),
            "'cube/0' and 'cube/1' begin 0.1 m inside each other, the deepest of 2 such pairs; move one of the two\n");
  EXPECT_EQ(warnings(cubes(R"({}, {})")), "'cube/0' and 'cube/1' begin 1 m inside each other; move one of the two\n");
  // rods that cross have no corner in each other
  EXPECT_EQ(warnings(rigid(R"("shape": {"box": [2, 0.1, 0.1]}, "name": "x")") + "," +
                     rigid(R"("shape": {"box": [0.1, 2, 0.1]}, "name": "y", "at": [0.3, 0, 0.06])")),
            "'x' and 'y' begin 0.04 m inside each other; move one of the two\n");
  EXPECT_EQ(warnings(cubes(R"({}, {"at": [1, 0.2, 0]}, {"at": [0, 1, 0]}, {"at": [-1.001, 0.5, 0.5]})")), "");
  EXPECT_EQ(warnings(rigid(R"("shape": {"box": [1, 1, 1]}, "name": "wall",
                                "array": {"count": [6, 5, 4], "spacing": [1, 1, 1], "stagger": [0.5, 0, 0]})")),
            "");
  EXPECT_EQ(warnings(rigid(ball) + "," + rigid(R"("shape": {"sphere": 1}, "name": "other", "at": [1.5, 0, 0])"),
                     R"(, "joints": [{"type": "ball", "at": [0.7, 0, 0], "between": "ball", "and": "other"}])"),
            "");
  const std::string driven = R"({"type": "rigid", "shape": {"sphere": 1}, "motion": [{"time": 0}]})";
  EXPECT_EQ(warnings(driven + "," + driven), "");
}

/// Promise: likewise inside colliders, solids and particles, and outside of what shall hold them.
TEST(RigidTrouble, BodiesInOtherThings) {
  const std::string cube = rigid(R"("shape": {"box": [1, 1, 1]}, "name": "cube", "at": [0, 0.5, 0])");
  const auto collider = [](const std::string& more) { return R"(, "colliders": [{"name": "wall", )" + more + "}]"; };
  EXPECT_EQ(warnings(cube, collider(R"("shape": {"half_space": [0, 1, 0]})")), "");
  EXPECT_EQ(warnings(cube, collider(R"("shape": {"half_space": [0, 1, 0]}, "at": [0, 0.25, 0])")),
            "'cube' and collider 'wall' begin 0.25 m inside each other; move one of the two\n");
  EXPECT_EQ(warnings(cube, collider(R"("shape": {"sphere": 1}, "at": [1.25, 0.5, 0])")),
            "'cube' and collider 'wall' begin 0.25 m inside each other; move one of the two\n");
  EXPECT_EQ(warnings(cube, collider(R"("shape": {"box": [4, 4, 4]}, "inside": true)")), "");
  EXPECT_EQ(warnings(cube, collider(R"("shape": {"box": [4, 4, 0.9]}, "inside": true)")),
            "'cube' and collider 'wall' begin 0.05 m inside each other; move one of the two\n");

  const auto jelly = [](const std::string& more) {
    return R"({"type": "solid", "name": "jelly", "material": "jelly", "element_size": 0.2, )" + more + "}";
  };
  EXPECT_EQ(warnings(cube + "," + jelly(R"("shape": {"box": [1, 1, 1]}, "at": [0, 1.52, 0])")), "");
  for (const char* size : {"0.3", "3"}) {  // one of the two has no vertex in the other
    const std::string found =
        warnings(cube + "," + jelly(fmt::format(R"("shape": {{"sphere": {}}}, "at": [0, 0.5, 0])", size)));
    EXPECT_TRUE(found.starts_with("'cube' and 'jelly' begin ")) << found;
    EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 1) << found;
  }
  const std::string sand = R"({"type": "particles", "name": "sand", "material": "sand", "shape": {"box": [2, 0.4, 1]},
                               "at": [1, 0.5, 0]})";
  std::int64_t inside = 0;
  const Seeds seeds = make_seeds(scene_of(sand));
  for (const Vec<double, 3>& x : seeds.of<ParticleSeed>().x)
    inside += x[0] < 0.45 && std::abs(x[1] - 0.5) < 0.45 && std::abs(x[2]) < 0.45 ? 1 : 0;
  EXPECT_GT(inside, 1000);
  EXPECT_EQ(
      warnings(cube + "," + sand),
      fmt::format("{} particles of object 'sand' begin inside the rigid object 'cube'; move one of the two\n", inside));
}

/// Promise: a heavy body on one a hundred times lighter, which steps of this length do not carry, is told with steps
/// that do; below it, or beside, it is no trouble.
TEST(RigidTrouble, HeavyOnLight) {
  const auto two = [](double ratio, const char* at) {
    return rigid(R"("shape": {"box": [1, 1, 1]}, "name": "light", "at": [0, 0.5, 0])") + "," +
           fmt::format(
               R"({{"type": "rigid", "shape": {{"box": [1, 1, 1]}}, "name": "heavy", "density": {}, "at": {}}})",
               1000 * ratio, at);
  };
  EXPECT_EQ(
      warnings(two(500, "[0, 1.502, 0]")),
      "'heavy' begins on 'light', which is 500 times lighter, and is thrown out by it; lower time.dt_max to 0.0002 "
      "s, or make the two alike\n");
  EXPECT_EQ(warnings(two(500, "[0, 1.502, 0]"), R"(, "time": {"dt_max": 2e-4})"), "");
  EXPECT_EQ(warnings(two(90, "[0, 1.502, 0]")), "");
  EXPECT_EQ(warnings(two(500, "[0, -0.502, 0]")), "");
  EXPECT_EQ(warnings(two(500, "[1.002, 0.5, 0]")), "");
  EXPECT_EQ(warnings(two(500, "[0, 2, 0]")), "");
}

/// Promise: speed that steps cannot follow is refused; that which makes them very short is told.
TEST(RigidTrouble, TooFast) {
  const std::string plate = R"("shape": {"box": [1, 1e-3, 1]}, "name": "plate", )";
  EXPECT_EQ(warnings(rigid(plate + R"("velocity": [0, 1, 0])")), "");
  EXPECT_EQ(
      warnings(rigid(plate + R"("velocity": [0, 50, 0])")),
      "object 'plate' is 0.001 m thick where it is thin and moves with 50 m/s: steps are 6.7e-06 s, 6.3e+03 for a "
      "frame, so that it does not pass through what it meets; make it thicker or slower\n");
  EXPECT_EQ(warnings(rigid(R"("shape": {"sphere": 1}, "name": "top", "angular_velocity": [0, 2e4, 0])")),
            "object 'top' spins with 2e+04 rad/s: steps are 2.5e-05 s, 1.7e+03 for a frame, so that it turns by half a "
            "radian "
            "at most in each; make it slower\n");
  EXPECT_TRUE(
      complaint(rigid(plate + R"("velocity": [0, 1e7, 0])"))
          .starts_with("/objects/0/velocity: object 'plate' is 0.001 m thick where it is thin and moves with 1e+07 "
                       "m/s: steps would have to be 3.3e-11 s, less than time.dt_min"));
  EXPECT_TRUE(complaint(rigid(R"("shape": {"sphere": 1}, "angular_velocity": [0, 1e10, 0])"))
                  .starts_with("/objects/0/angular_velocity: object 'rigid0' spins with 1e+10 rad/s"));
  EXPECT_TRUE(
      complaint(R"({"type": "rigid", "shape": {"sphere": 1}, "motion": [{"time": 0},
                            {"time": 1e-9, "at": [1, 0, 0]}]})")
          .starts_with("/objects/0/motion: object 'rigid0' is 2 m thick where it is thin and moves with 1e+09"));
}

/// Promise: what has no size, weight or place that numbers can hold is refused.
TEST(RigidTrouble, BeyondNumbers) {
  EXPECT_TRUE(complaint(rigid(R"("shape": {"sphere": 1e-70})")).starts_with("/objects/0/shape: object 'rigid0' has"));
  EXPECT_TRUE(complaint(R"({"type": "rigid", "shape": {"sphere": 1}, "mass": 1e200})")
                  .starts_with("/objects/0/mass: object 'rigid0' has a volume of 4.19 m^3"));
  EXPECT_TRUE(complaint(rigid(R"("shape": {"sphere": 1}, "at": [0, 1e12, 0])"))
                  .starts_with("/objects/0/at: object 'rigid0' is 1e+12 m away from the origin"));
}

/// Promise: a mesh that is open is closed, one that is inside out is turned, and both are told; one that encloses
/// nothing or has no inside is refused.
TEST(RigidTrouble, Meshes) {
  const std::vector<std::string> faces = {"1 4 3 2", "1 2 6 5", "2 3 7 6", "3 4 8 7", "4 1 5 8", "5 6 7 8"};
  const auto cube = [&](const std::string& kind, std::size_t count) {
    const std::string name = "cube_" + kind + ".obj";
    std::ofstream file(std::filesystem::path(testing::TempDir()) / name);
    for (int i = 0; i < 8; ++i)
      file << fmt::format("v {} {} {}\n", (i & 3) == 1 || (i & 3) == 2 ? 1 : 0, (i & 3) > 1 ? 1 : 0, i >> 2);
    for (std::size_t f = 0; f < count; ++f)
      file << "f " << (kind == "inward" ? std::string(faces[f].rbegin(), faces[f].rend()) : faces[f]) << "\n";
    file.close();
    return rigid(R"("name": "cube", "shape": {"mesh": ")" + name + "\"}");
  };
  EXPECT_EQ(warnings(cube("whole", 6)), "");
  EXPECT_NE(warnings(cube("open", 5)).find("of 'cube': is open: 1 hole"), std::string::npos);
  EXPECT_NE(warnings(cube("inward", 6)).find("of 'cube': its faces looked inward and were turned"), std::string::npos);
  for (const auto& [kind, count] : {std::pair("whole", 6), std::pair("open", 5), std::pair("inward", 6)}) {
    std::vector<std::string> unheard;
    const Seeds seeds = make_seeds(scene_of(cube(kind, static_cast<std::size_t>(count))), unheard);
    EXPECT_NEAR(seeds.of<RigidSeed>().bodies[0].mass, 1000, 1e-9) << kind;
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(seeds.of<RigidSeed>().bodies[0].x[k], 0.5, 1e-12) << kind;
  }
  EXPECT_NE(complaint(cube("flat", 1)).find("cube_flat.obj: encloses no volume"), std::string::npos)
      << complaint(cube("flat", 1));
}

/// Promise: a joint far from both of its bodies is told.
TEST(RigidTrouble, JointFarAway) {
  const auto joint = [](const char* at) {
    return fmt::format(R"(, "joints": [{{"type": "ball", "name": "link", "between": "ball", "at": {}}}])", at);
  };
  const std::string ball = rigid(R"("shape": {"sphere": 1}, "name": "ball")");
  EXPECT_EQ(warnings(ball, joint("[0, 3, 0]")), "");
  EXPECT_NE(warnings(ball, joint("[0, 30, 0]")).find("joint \"link\" is 30 m from the center of \"ball\""),
            std::string::npos);
}

}  // namespace
}  // namespace tribo
