#include "tribo/matter/solids/seed.h"

#include <gtest/gtest.h>

#include "tribo/core/errors.h"
#include "tribo/matter/solids/amounts.h"
#include "tribo/matter/solids/contact_samples.h"
#include "tribo/matter/solids/overlaps.h"
#include "tribo/scene/reader.h"

namespace tribo {
namespace {

Scene scene_of(const std::vector<std::string>& overrides) {
  std::vector<Override> parsed;
  for (const std::string& text : overrides) parsed.push_back(parse_override(text));
  return parse_scene(R"({ "tribo": 1, "duration": 1, "grid": { "dx": 0.1 },
    "materials": { "rubber": { "model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e5, "poisson_ratio": 0.3 } },
    "objects": [
      { "name": "block", "type": "solid", "material": "rubber", "element_size": 0.1, "shape": { "box": [0.4, 0.4, 0.4] } },
      { "name": "ball", "type": "solid", "material": "rubber", "element_size": 0.1, "shape": { "sphere": 0.2 },
        "at": [0, 0.6, 0] } ],
    "colliders": [ { "name": "floor", "shape": { "half_space": [0, 1, 0] }, "at": [0, -0.2, 0] } ] })",
                     "x.json", parsed);
}

/// More collision particles than integers are refused by name; they used to wrap around to one for each triangle.
TEST(Solids, RefuseMoreCollisionParticlesThanHaveNumbers) {
  for (const char* overrides : {"/contact/samples_per_cell=1e12", "/contact/samples_per_cell=1e300"}) {
    try {
      sample_solids(scene_of({std::string(overrides)}));
      FAIL() << overrides;
    } catch (const SceneError& error) {
      ASSERT_EQ(error.findings().size(), 1u);
      const std::string text = error.findings()[0].text();
      EXPECT_NE(text.find("x.json"), std::string::npos) << text;
      EXPECT_NE(text.find("/contact/samples_per_cell: "), std::string::npos) << text;
      EXPECT_NE(text.find("collision particles on object 'block'"), std::string::npos) << text;
      EXPECT_NE(text.find("raise grid.dx"), std::string::npos) << text;
    }
  }
}

/// What is asked for before there are tets, to refuse a scene that does not fit the memory, is near what comes of it.
TEST(Solids, CollisionParticlesAreForeseen) {
  for (const double per_cell : {0.1, 1.0, 20.0}) {
    const Scene scene = scene_of({"/contact/samples_per_cell=" + std::to_string(per_cell)});
    const double ratio = static_cast<double>(sample_solids(scene).samples.size()) / expected_solids(scene).samples;
    EXPECT_GT(ratio, 0.6) << per_cell;
    EXPECT_LT(ratio, 1.6) << per_cell;
    const double area =
        expected_solids(scene).surface_cells / amounts_of(sample_solids(scene), scene.grid.dx).surface_cells;
    EXPECT_NEAR(area, 1, 0.2);
  }
}

std::vector<std::string> overlaps(const std::vector<std::string>& overrides) {
  const Scene scene = scene_of(overrides);
  return overlaps_of_meshes(scene, sample_solids(scene));
}

/// Bodies that begin inside each other or inside a collider fly apart; whoever wrote the scene is to know why.
TEST(Solids, TellOfMeshesInsideCollidersAndEachOther) {
  EXPECT_TRUE(overlaps({}).empty());                             // the block stands on the floor
  EXPECT_TRUE(overlaps({"/objects/1/at=[0, 0.4, 0]"}).empty());  // and the ball on the block
  const std::vector<std::string> sunk = overlaps({"/objects/0/at=[0, -0.1, 0]"});
  ASSERT_EQ(sunk.size(), 1u);
  EXPECT_EQ(sunk[0], "25 vertices of object 'block' begin inside collider 'floor'; move one of the two");
  const std::vector<std::string> tangled = overlaps({"/objects/1/at=[0, 0.2, 0]"});
  ASSERT_EQ(tangled.size(), 1u);
  EXPECT_NE(tangled[0].find("objects 'block' and 'ball' begin inside each other"), std::string::npos) << tangled[0];
  EXPECT_EQ(overlaps({"/objects/1/at=[0, 0.2, 0]", "/objects/0/kinematic=true"}).size(), 1u);
  EXPECT_TRUE(
      overlaps({"/objects/1/at=[0, 0.2, 0]", "/objects/0/kinematic=true", "/objects/1/kinematic=true"}).empty());
  // A container keeps them inside, and what is driven may be in the ground.
  EXPECT_EQ(overlaps({"/colliders/0={\"name\": \"room\", \"shape\": {\"box\": [3, 3, 3]}, \"inside\": true}"}).size(),
            0u);
  EXPECT_EQ(overlaps({"/colliders/0={\"name\": \"room\", \"shape\": {\"box\": [3, 1, 3]}, \"inside\": true}"}).size(),
            1u);
  EXPECT_TRUE(overlaps({"/objects/0/at=[0, -0.1, 0]", "/objects/0/kinematic=true"}).empty());
}

}  // namespace
}  // namespace tribo
