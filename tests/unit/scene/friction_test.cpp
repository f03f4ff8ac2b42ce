#include "tribo/scene/friction.h"

#include <gtest/gtest.h>

#include "tribo/matter/strands/hair.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"

/// \file
/// Promise: `friction` of a scene counts for any two that it names, in either order, and all others have what they had.

namespace tribo {
namespace {

/// Two of every kind, without particles on request, with a list of pairs.
Scene scene_with(const std::string& pairs, bool particles = true) {
  const std::string sand =
      R"({"name": "sand", "type": "particles", "shape": {"box": [1, 1, 1]}, "material": "jelly", "at": [9, 0, 0]},
         {"name": "mud", "type": "solid", "method": "updated_lagrangian", "shape": {"box": [1, 1, 1]}, "material": "jelly",
          "at": [12, 0, 0], "friction": 0.9},)";
  return parse_scene(R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.25}, "friction": [)" + pairs + R"(],
    "materials": {"jelly": {"model": "neo_hookean", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}},
    "objects": [)" + (particles ? sand : std::string()) +
                         R"(
      {"name": "cube", "type": "solid", "shape": {"box": [1, 1, 1]}, "material": "jelly", "friction": 0.5},
      {"name": "slab", "type": "solid", "shape": {"box": [1, 1, 1]}, "material": "jelly", "friction": 0.3, "at": [3, 0, 0]},
      {"name": "fur", "type": "hair", "friction": 0.2, "radius": 0.01, "at": [6, 0, 0],
       "strands": {"tube": {"count": 2, "length": 1, "spacing": 0.1}}},
      {"name": "wig", "type": "hair", "friction": 0.1, "radius": 0.01, "at": [7, 0, 0],
       "strands": {"tube": {"count": 2, "length": 1, "spacing": 0.1}}}],
    "colliders": [{"name": "floor", "shape": {"half_space": [0, 1, 0]}, "friction": 0.7, "at": [0, -5, 0]},
                  {"name": "wall", "shape": {"half_space": [1, 0, 0]}, "friction": 0.6, "at": [-5, 0, 0]}]})",
                     "test.json");
}

Party party(const Scene& scene, const std::string& name) {
  for (std::size_t c = 0; c < scene.colliders.size(); ++c)
    if (scene.colliders[c].name == name) return {.collider = true, .index = static_cast<int>(c)};
  for (std::size_t o = 0; o < scene.objects.size(); ++o)
    if (scene.objects[o].name == name) return {.index = static_cast<int>(o)};
  ADD_FAILURE() << name;
  return {};
}
double between(const Scene& scene, const std::string& one, const std::string& other) {
  const FrictionTable table(scene);
  const double result = table.between(party(scene, one), party(scene, other));
  EXPECT_EQ(table.between(party(scene, other), party(scene, one)), result);
  return result;
}
std::string pair(const char* one, const char* other, double coefficient) {
  return R"({"between": ")" + std::string(one) + R"(", "and": ")" + other + R"(", "coefficient": )" +
         std::to_string(coefficient) + "}";
}

TEST(FrictionTable, WithoutPairsEveryKindHasItsRule) {
  const Scene scene = scene_with("");
  EXPECT_EQ(between(scene, "cube", "slab"), 0.3);
  EXPECT_EQ(between(scene, "cube", "cube"), 0.5);
  EXPECT_EQ(between(scene, "fur", "wig"), 0.1);
  EXPECT_EQ(between(scene, "cube", "fur"), 0.5);
  EXPECT_EQ(between(scene, "cube", "sand"), 0.5);
  EXPECT_EQ(between(scene, "cube", "mud"), 0.5);
  EXPECT_EQ(between(scene, "fur", "sand"), 0.1);
  for (const char* object : {"sand", "mud", "cube", "fur"}) {
    EXPECT_EQ(between(scene, object, "floor"), 0.7);
    EXPECT_EQ(between(scene, object, "wall"), 0.6);
  }
  EXPECT_FALSE(FrictionTable(scene).names_colliders());
  EXPECT_FALSE(FrictionTable(scene).strands_with_particles());
}

TEST(FrictionTable, PairsCountForThoseTheyName) {
  const Scene scene = scene_with(pair("cube", "floor", 0.25) + "," + pair("wall", "fur", 0.125) + "," +
                                 pair("slab", "cube", 1) + "," + pair("wig", "fur", 0.75));
  EXPECT_EQ(between(scene, "cube", "floor"), 0.25);
  EXPECT_EQ(between(scene, "cube", "wall"), 0.6);
  EXPECT_EQ(between(scene, "slab", "floor"), 0.7);
  EXPECT_EQ(between(scene, "fur", "wall"), 0.125);
  EXPECT_EQ(between(scene, "wig", "wall"), 0.6);
  EXPECT_EQ(between(scene, "cube", "slab"), 1);
  EXPECT_EQ(between(scene, "fur", "wig"), 0.75);
  EXPECT_EQ(between(scene, "fur", "fur"), 0.2);
}

TEST(FrictionTable, ReachesWhatIsSimulated) {
  const Scene scene =
      scene_with(pair("cube", "floor", 0.25) + "," + pair("wig", "wall", 0.125) + "," + pair("sand", "slab", 0.5) +
                 "," + pair("mud", "slab", 0.5) + "," + pair("wig", "cube", 0.875) + "," + pair("cube", "fur", 0.875) +
                 "," + pair("sand", "wall", 1) + "," + pair("wall", "mud", 1) + "," + pair("sand", "fur", 2) + "," +
                 pair("sand", "wig", 2) + "," + pair("mud", "fur", 2) + "," + pair("mud", "wig", 2));
  const SolidSeed solids = sample_solids(scene);
  EXPECT_EQ(solids.collider_friction, (std::vector<double>{0.25, 0.6, 0.7, 0.6}));
  EXPECT_EQ(solids.pair_friction, (std::vector<double>{0.5, 0.3, 0.3, 0.3}));
  EXPECT_EQ(solids.bodies[0].friction, 0.5);
  EXPECT_EQ(solids.bodies[1].friction, 0.5);
  EXPECT_EQ(solids.bodies[0].strand_friction, 0.875);
  EXPECT_EQ(solids.bodies[1].strand_friction, 0.3);
  std::vector<std::string> warnings;
  const RodSeed rods = sample_hair(scene, solids, {}, warnings);
  EXPECT_EQ(rods.collider_friction, (std::vector<double>{0.7, 0.6, 0.7, 0.125}));
  EXPECT_EQ(rods.pair_friction, (std::vector<double>{0.2, 0.1, 0.1, 0.1}));
  EXPECT_EQ(rods.particle_friction, 2);
  const Model model = build_model(scene);
  EXPECT_EQ(model.colliders[0].friction, 0.7);
  EXPECT_EQ(model.colliders[1].friction, 1);
}

TEST(FrictionTable, NoPairTakesNoMemory) {
  const Scene scene = scene_with("", false);
  const SolidSeed solids = sample_solids(scene);
  EXPECT_TRUE(solids.collider_friction.empty());
  std::vector<std::string> warnings;
  const RodSeed rods = sample_hair(scene, solids, {}, warnings);
  EXPECT_TRUE(rods.pair_friction.empty());
  EXPECT_TRUE(rods.collider_friction.empty());
  EXPECT_EQ(build_model(scene).colliders[0].friction, 0.7);
}

/// Rigid bodies: the smaller one counts between two, a collider's own against that, their own against all else; hair of
/// any kind has the one that its pairs give.
TEST(FrictionTable, OfRigidBodies) {
  const auto scene_of = [](const std::string& pairs) {
    return parse_scene(R"({"tribo": 1, "duration": 1, "grid": {"dx": 0.25}, "friction": [)" + pairs + R"(],
      "materials": {"jelly": {"model": "neo_hookean", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3}},
      "objects": [
        {"name": "ball", "type": "rigid", "shape": {"sphere": 1}, "density": 1, "friction": 0.5},
        {"name": "brick", "type": "rigid", "shape": {"sphere": 1}, "density": 1, "friction": 0.3, "at": [3, 0, 0]},
        {"name": "cube", "type": "solid", "shape": {"box": [1, 1, 1]}, "material": "jelly", "friction": 0.9, "at": [6, 0, 0]},
        {"name": "sand", "type": "particles", "shape": {"box": [1, 1, 1]}, "material": "jelly", "at": [9, 0, 0]},
        {"name": "fur", "type": "hair", "friction": 0.2, "radius": 0.01, "at": [15, 0, 0],
         "strands": {"tube": {"count": 2, "length": 1, "spacing": 0.1}}}],
      "colliders": [{"name": "floor", "shape": {"half_space": [0, 1, 0]}, "friction": 0.7, "at": [0, -5, 0]}]})",
                       "test.json");
  };
  const Scene plain = scene_of("");
  EXPECT_EQ(between(plain, "ball", "brick"), 0.3);
  EXPECT_EQ(between(plain, "ball", "floor"), 0.7);
  for (const char* other : {"cube", "sand", "fur"}) EXPECT_EQ(between(plain, "ball", other), 0.5) << other;
  const Scene paired = scene_of(pair("ball", "brick", 0.125) + "," + pair("floor", "ball", 0.25) + "," +
                                pair("fur", "ball", 0.375) + "," + pair("ball", "sand", 0.625));
  EXPECT_EQ(between(paired, "ball", "brick"), 0.125);
  EXPECT_EQ(between(paired, "ball", "floor"), 0.25);
  EXPECT_EQ(between(paired, "brick", "floor"), 0.7);
  const FrictionTable table(paired);
  EXPECT_EQ(table.with_strands(party(paired, "ball")), 0.375);
  EXPECT_EQ(table.with_particles(party(paired, "ball")), 0.625);
  EXPECT_EQ(table.with_strands(party(paired, "brick")), 0.3);
}

}  // namespace
}  // namespace tribo
