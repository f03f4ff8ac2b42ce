#include "tribo/setup/model.h"

#include <gtest/gtest.h>

#include "tribo/scene/reader.h"

namespace tribo {
namespace {

TEST(Model, TellsOfParticlesInsideColliders) {
  for (const int dimension : {2, 3}) {
    const std::string size = dimension == 2 ? "[0.6, 0.6]" : "[0.6, 0.6, 0.6]";
    const auto overlaps = [&](const std::string& at) {
      const Scene scene = parse_scene(
          R"({"tribo": 1, "duration": 1, "dimension": )" + std::to_string(dimension) +
              R"(, "grid": {"dx": 0.05}, "objects": [{"name": "block", "type": "particles", "material": "jelly",
              "shape": {"box": [0.2, 0.2, 0.2]}}], "colliders": [{"name": "stone", "shape": {"box": )" +
              size + R"(}, "at": )" + at + "}]}",
          "test.json");
      std::vector<std::string> warnings;
      make_seeds(scene, warnings);
      return warnings;
    };
    ASSERT_EQ(overlaps("[0, 0, 0]").size(), 1u) << dimension;
    EXPECT_NE(overlaps("[0, 0, 0]")[0].find("of object 'block' begin inside collider 'stone'"), std::string::npos);
    EXPECT_TRUE(overlaps("[0.5, 0, 0]").empty()) << dimension;
  }
}

}  // namespace
}  // namespace tribo
