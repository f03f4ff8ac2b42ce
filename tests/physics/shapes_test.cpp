#include <gtest/gtest.h>

#include "../unit/io/scratch.h"
#include "../unit/mesh/make_mesh.h"
#include "scene_text.h"

/// \file
/// Promise: material meets a mesh, or a combination of shapes, as it meets the simple shape that they amount to.

namespace tribo::test {
namespace {

/// A block of jelly on a slab that falls by 20 degrees towards +x; `shape` is the slab, 2.4 x 0.2 x 0.5 m.
Simulation block_on_slab(const std::string& shape, double friction) {
  const double s = std::sin(20 * pi / 180), c = std::cos(20 * pi / 180);
  const double up = 0.1 + 0.05, back = -0.6;  // of the block's center from that of the slab
  return simulate(fmt::format(
      R"({{"tribo": 1, "fps": 50, "duration": 1, "grid": {{"dx": 0.025}}, "materials": {{"jelly": "jelly"}},
           "objects": [{{"name": "block", "type": "particles", "shape": {{"box": [0.2, 0.1, 0.2]}}, "material": "jelly",
                         "at": [{}, {}, 0], "rotation": {{"axis": [0, 0, 1], "degrees": -20}}}}],
           "colliders": [{{"shape": {}, "friction": {}, "rotation": {{"axis": [0, 0, 1], "degrees": -20}}}}]}})",
      back * c + up * s, -back * s + up * c, shape, friction));
}

double sliding_acceleration(Simulation& simulation) {
  const Vec<double, 3> down{{std::cos(20 * pi / 180), -std::sin(20 * pi / 180), 0}};
  while (simulation.frame() < 10) simulation.advance_frame();
  const double before = dot(velocity(simulation.measure()[0]), down);
  while (simulation.frame() < 30) simulation.advance_frame();
  return (dot(velocity(simulation.measure()[0]), down) - before) / 0.4;
}

TEST(MeshCollider, BlockSlidesOnItAsOnTheBox) {
  const Scratch scratch;
  write_bytes(scratch / "slab.obj", as_obj(make_box(2.4, 0.2, 0.5)));
  for (const double friction : {0.0, 0.2}) {
    Simulation on_box = block_on_slab(R"({"box": [2.4, 0.2, 0.5]})", friction);
    Simulation on_mesh = block_on_slab(R"({"mesh": ")" + (scratch / "slab.obj") + "\"}", friction);
    Simulation on_halves = block_on_slab(R"({"union": {"shapes": [
        {"shape": {"box": [1.2, 0.2, 0.5]}, "at": [-0.6, 0, 0]}, {"shape": {"box": [1.2, 0.2, 0.5]}, "at": [0.6, 0, 0]}
      ]}})",
                                         friction);
    const double expected = 9.81 * (std::sin(20 * pi / 180) - friction * std::cos(20 * pi / 180));
    const double box = sliding_acceleration(on_box), mesh = sliding_acceleration(on_mesh);
    const double halves = sliding_acceleration(on_halves);
    RecordProperty(fmt::format("acceleration_mu_{}", friction),
                   fmt::format("box {}, mesh {}, union {} (analytic {})", box, mesh, halves, expected));
    EXPECT_NEAR(box, expected, 0.05 * expected);
    EXPECT_NEAR(mesh, box, 0.01 * box);
    EXPECT_NEAR(halves, box, 0.01 * box);
  }
}

TEST(MeshCollider, CarriesWhatLiesOnIt) {
  const Scratch scratch;
  write_bytes(scratch / "plate.stl", as_stl(triangulated(make_box(1.5, 0.2, 0.6)), false));
  Simulation simulation = simulate(R"({"tribo": 1, "fps": 20, "duration": 1, "grid": {"dx": 0.025},
    "materials": {"jelly": {"preset": "jelly", "youngs_modulus": 1e5}},
    "objects": [{"name": "block", "type": "particles", "shape": {"box": [0.3, 0.1, 0.3]}, "at": [0, 0.05, 0],
                 "material": "jelly"}],
    "colliders": [{"shape": {"mesh": ")" +
                                   (scratch / "plate.stl") + R"("}, "friction": 0.5,
                   "motion": [{"time": 0, "at": [0, -0.1, 0]}, {"time": 1, "at": [1, -0.1, 0]}]}]})");
  while (simulation.frame() < 2) simulation.advance_frame();
  const double early = velocity(simulation.measure()[0])[0];
  EXPECT_NEAR(early, 0.5 * 9.81 * 0.1, 0.05 * early);  // still slipping: mu g t
  while (simulation.frame() < 8) simulation.advance_frame();
  EXPECT_NEAR(velocity(simulation.measure()[0])[0], 1, 0.03);
}

/// How far any particle of water gets out of a tank of 0.4 x 0.6 x 0.4 m, turned about y [m].
double leak(const std::string& shape, double degrees) {
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "fps": 10, "duration": 0.6, "grid": {{"dx": 0.025}},
           "objects": [{{"name": "water", "type": "particles", "shape": {{"box": [0.2, 0.3, 0.25]}}, "material": "water",
                         "at": [0, 0.15, 0]}}],
           "colliders": [{{"shape": {}, "at": [0, 0.3, 0], "inside": true,
                           "rotation": {{"axis": [0, 1, 0], "degrees": {}}}}}]}})",
      shape, degrees));
  const double s = std::sin(degrees * pi / 180), c = std::cos(degrees * pi / 180);
  double farthest = 0;
  while (simulation.frame() < simulation.frame_count()) {
    simulation.advance_frame();
    const Frame frame = simulation.observe();
    const auto x = frame.find("x")->as<float>();
    for (std::size_t i = 0; i < x.size(); i += 3) {
      const double local[] = {c * x[i] - s * x[i + 2], double(x[i + 1]) - 0.3, s * x[i] + c * x[i + 2]};
      const double half[] = {0.2, 0.3, 0.2};
      for (int k = 0; k < 3; ++k) farthest = std::max(farthest, std::abs(local[k]) - half[k]);
    }
  }
  return farthest;
}

TEST(MeshContainer, DoesNotLeak) {
  const Scratch scratch;
  write_bytes(scratch / "tank.ply", as_ply(make_box(0.4, 0.6, 0.4), "binary_big_endian"));
  const std::string mesh = R"({"mesh": ")" + (scratch / "tank.ply") + "\"}";
  for (const double degrees : {0.0, 25.0}) {
    const double out = leak(mesh, degrees), reference = leak(R"({"box": [0.4, 0.6, 0.4]})", degrees);
    RecordProperty(fmt::format("leak_{}", degrees), fmt::format("mesh {}, box {}", out, reference));
    EXPECT_LT(out, reference + 0.1 * 0.025) << degrees;  // a tenth of a cell more than out of the box itself
  }
}

TEST(CombinedContainer, DoesNotLeak) {
  // The tank as what two slabs have in common: four of its edges are seams.
  const std::string shape = R"({"intersection": {"shapes": [
    {"shape": {"box": [0.4, 0.6, 3]}}, {"shape": {"box": [3, 3, 0.4]}}]}})";
  EXPECT_LT(leak(shape, 25), leak(R"({"box": [0.4, 0.6, 0.4]})", 25) + 0.1 * 0.025);
}

TEST(MeshBody, HasTheMassOfItsVolume) {
  const Scratch scratch;
  write_bytes(scratch / "ball.obj", as_obj(make_ball(0.2, 4)));
  Simulation simulation = simulate(R"({"tribo": 1, "fps": 50, "duration": 0.1, "grid": {"dx": 0.02},
    "gravity": [0, 0, 0], "objects": [
      {"name": "ball", "type": "particles", "shape": {"mesh": ")" +
                                   (scratch / "ball.obj") + R"("}, "material": "jelly",
       "at": [1, 2, 3]},
      {"name": "ring", "type": "particles", "shape": {"torus": {"radius": 0.2, "tube": 0.06}}, "material": "jelly"}]})");
  const std::vector<ObjectSums> sums = simulation.measure();
  EXPECT_NEAR(sums[0].mass, 1000 * 4.0 / 3 * pi * 0.008, 0.01 * sums[0].mass);  // triangles cut off a little
  EXPECT_LT(norm(center(sums[0]) - Vec<double, 3>{{1, 2, 3}}), 0.002);
  EXPECT_NEAR(sums[0].high[1], 2.2, 0.02);
  EXPECT_NEAR(sums[1].mass, 1000 * 2 * pi * 0.2 * pi * 0.06 * 0.06, 1e-4 * sums[1].mass);
}

TEST(Shapes, SameStateForAnyNumberOfThreads) {
  const Scratch scratch;
  write_bytes(scratch / "wheel.obj", as_obj(make_box(0.5, 0.1, 0.2)));
  const std::string scene = R"({"tribo": 1, "fps": 50, "duration": 0.06, "grid": {"dx": 0.03},
    "objects": [{"name": "sand", "type": "particles", "material": "dry_sand", "at": [0, 0.15, 0],
      "shape": {"difference": {"blend": 0.02, "shapes": [{"shape": {"box": [0.3, 0.2, 0.3]}}, {"shape": {"sphere": 0.1}}]}}}],
    "colliders": [{"shape": {"union": {"blend": 0.05, "shapes": [
        {"shape": {"half_space": [0, 1, 0]}}, {"shape": {"torus": {"radius": 0.2, "tube": 0.05}}}]}}, "friction": 0.3},
      {"shape": {"mesh": ")" +
                            (scratch / "wheel.obj") + R"("}, "motion": [{"time": 0, "at": [0, 0.05, 0.2]},
        {"time": 1, "at": [0, 0.05, 0.2], "rotation": {"axis": [0, 1, 0], "degrees": 720}}]}]})";
  std::vector<std::uint64_t> hashes;
  for (const int threads : {1, 2, 3}) {
    SimulationOptions options;
    options.threads = threads;
    Simulation simulation = simulate(scene, options);
    while (simulation.frame() < simulation.frame_count()) simulation.advance_frame();
    hashes.push_back(simulation.state_hash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

}  // namespace
}  // namespace tribo::test
