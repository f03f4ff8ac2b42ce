#include <gtest/gtest.h>

#include "solid_scenes.h"
#include "tribo/matter/solids/seed.h"
#include "tribo/mesh/triangle_tree.h"

/// \file
/// Strands against the boundary of solids, without any grid between them.

namespace tribo::test {
namespace {

ObjectSums sum_of(const std::vector<ObjectSums>& all) {
  ObjectSums sum;
  for (const ObjectSums& one : all) sum.add(one);
  return sum;
}

/// Of vertices of strands: how deep the deepest is in one of the bodies, negative where all are outside [m].
double deepest(Simulation& simulation, const SolidSeed& seed) {
  const Points x = vertices(simulation), strand = state_column(simulation, "rod.x");
  double most = -1e300;
  for (const SolidBody& body : seed.bodies) {
    SurfaceMesh skin;
    skin.vertices = x;
    skin.triangles.assign(seed.triangles.begin() + body.triangles.begin, seed.triangles.begin() + body.triangles.end);
    const TriangleTree tree(skin);
    for (const Vec<double, 3>& at : strand) {
      const double distance = tree.distance(at, 1);
      most = std::max(most, tree.winding(at) > 0.5 ? distance : -distance);
    }
  }
  return most;
}

constexpr double radius = 0.004;

/// A rope across a block of jelly on a floor, and another one that falls on it. The blocks rest half a cell apart, and
/// the rope is thicker than that.
std::string pressed_rope(const std::string& precision, const std::string& more = "") {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 50, "duration": 10, "grid": {{"dx": 0.01}}, "time": {{"dt_max": 0.0005}}, {}
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}}}},
           "objects": [
             {{"name": "below", "type": "solid", "method": "hybrid", "shape": {{"box": [0.12, 0.06, 0.12]}}, "material": "jelly",
               "element_size": 0.03, "at": [0, 0.03, 0], "friction": 0.3, "damping": 5}},
             {{"name": "above", "type": "solid", "method": "hybrid", "shape": {{"box": [0.12, 0.06, 0.12]}}, "material": "jelly",
               "element_size": 0.03, "at": [0, 0.1, 0], "friction": 0.3, "damping": 5}},
             {{"name": "rope", "type": "hair", "radius": {}, "segments": 20, "roots": "free", "youngs_modulus": 1e7,
               "density": 500, "friction": 0.3, "at": [0.003, 0.065, 0.002], "rotation": {{"axis": [0, 0, 1], "degrees": 90}},
               "strands": {{"tube": {{"count": 1, "length": 0.16, "spacing": 0.02}}}}}}],
           "colliders": [{{"shape": {{"half_space": [0, 1, 0]}}, "friction": 0.5}}]}})",
      precision, more, radius);
}

/// Promise: a strand that is pressed between two solids stays outside of both, by positions, over 1000 steps; and
/// carries what lies on it.
TEST(StrandBodies, PressedStrandStaysOutside) {
  for (const char* precision : {"float", "double"})
    for (const char* grid : {"", R"("strand_contact": {"grid": {"on": false}},)"}) {
      const std::string text = pressed_rope(precision, grid);
      Simulation simulation = simulate(text);
      const SolidSeed seed = sample_solids(parse_scene(text, "test.json", {}));
      double most = -1;
      std::int64_t steps = 0;
      while (steps < 1000) {
        simulation.advance_frame();
        steps += simulation.progress().substeps;
        most = std::max(most, deepest(simulation, seed));
      }
      EXPECT_LT(most, -0.8 * radius) << precision << grid;
      const std::vector<ObjectSums> after = simulation.measure();
      EXPECT_GT(center(after[1])[1], center(after[0])[1] + 0.06) << "the rope should be between the two";
      EXPECT_LT(norm(velocity(after[1])), 0.05) << precision << grid;
    }
}

/// A bundle of strands that lies ahead of a block, which flies into it.
std::string struck_strands(const std::string& precision, double density, const std::string& block) {
  return fmt::format(
      R"({{"tribo": 1, "precision": "{}", "fps": 100, "duration": 10, "gravity": [0, 0, 0], "grid": {{"dx": 0.02}},
           "time": {{"dt_max": 0.001}}, "strand_contact": {{"grid": {{"on": false}}}},
           "materials": {{"jelly": {{"model": "fixed_corotated", "density": 300, "youngs_modulus": 2e4, "poisson_ratio": 0.3}}}},
           "objects": [
             {{"name": "block", "type": "solid", "method": "hybrid", "shape": {{"box": [0.08, 0.08, 0.08]}}, "material": "jelly",
               "element_size": 0.02, "at": [-0.09, 0, 0], "velocity": [1, 0, 0], "friction": 0.3, {}}},
             {{"name": "hair", "type": "hair", "radius": 0.002, "segments": 16, "roots": "free", "youngs_modulus": 1e7,
               "density": {}, "friction": 0.3,
               "strands": {{"tube": {{"count": 19, "length": 0.16, "spacing": 0.01}}}}}}]}})",
      precision, block, density);
}

/// Promise: what keeps strands out of a body acts on the body: momentum is kept to rounding, energy does not rise, and
/// both go on together, whoever is heavier.
TEST(StrandBodies, BodiesBearWhatTheyHold) {
  for (const char* precision : {"float", "double"})
    for (const double density : {50.0, 1000.0, 50000.0}) {
      Simulation simulation = simulate(struck_strands(precision, density, R"("damping": 2)"));
      const std::vector<ObjectSums> before = simulation.measure();
      while (simulation.time() < 0.1) {
        simulation.advance_frame();
        const ObjectSums now = sum_of(simulation.measure());
        EXPECT_LT(now.kinetic + now.elastic, 1.001 * sum_of(before).kinetic) << precision << density;
      }
      const std::vector<ObjectSums> after = simulation.measure();
      const double exchanged = norm(after[1].momentum - before[1].momentum);
      EXPECT_GT(exchanged, 0.2 * std::min(before[0].mass, before[1].mass)) << "they should have met";
      EXPECT_LT(norm(sum_of(after).momentum - sum_of(before).momentum),
                (precision == std::string("float") ? 1e-3 : 1e-10) * exchanged)
          << precision << density;
      EXPECT_GT(velocity(after[1])[0], velocity(after[0])[0] - 0.3) << precision << density;
    }
}

/// Promise: the printed form of contact, and hair as a volume, are no reasons to pass through solids.
TEST(StrandBodies, MeetInEveryForm) {
  for (const char* form : {R"("contact": {"form": "paper"},)", ""}) {
    std::string text = struck_strands("double", 1000, R"("damping": 2)");
    text.insert(1, form);
    if (std::string(form).empty()) text.insert(text.find(R"("roots": "free")"), R"("method": "mcadams", )");
    Simulation simulation = simulate(text);
    while (simulation.time() < 0.1) simulation.advance_frame();
    EXPECT_GT(velocity(simulation.measure()[1])[0], 0.1) << form;
  }
}

}  // namespace
}  // namespace tribo::test
