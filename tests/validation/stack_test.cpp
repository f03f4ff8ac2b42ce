#include <gtest/gtest.h>

#include "../physics/solid_scenes.h"

namespace tribo::test {
namespace {

/// Three blocks on each other, not quite flush, are where they were after 2000 frames. A creep of half a millimeter a
/// second would take them apart by a tenth of their size in that time.
TEST(Stack, ThreeBlocksStandForTwoThousandFrames) {
  std::string blocks;
  for (int k = 0; k < 3; ++k)
    blocks += fmt::format(R"(, {{"name": "block{}", "type": "solid", "shape": {{"box": [0.2, 0.2, 0.2]}}, "element_size": 0.1,
                               "material": "m", "at": [{}, {}, {}], "friction": 0.5, "self_contact": false}})",
                          k, 0.01 * k, 0.126 + 0.226 * k, 0.007 * k);
  Simulation simulation = simulate(
      R"({"tribo": 1, "fps": 50, "duration": 100, "grid": {"dx": 0.05},
          "materials": {"m": {"model": "fixed_corotated", "density": 1000, "youngs_modulus": 1e6, "poisson_ratio": 0.3}},
          "objects": [{"name": "floor", "type": "solid", "kinematic": true, "shape": {"box": [0.6, 0.2, 0.6]},
                       "element_size": 0.2, "material": "m", "at": [0, -0.1, 0], "friction": 0.5})" +
      blocks + "]}");
  while (simulation.frame() < 200) simulation.advance_frame();
  const std::vector<ObjectSums> before = simulation.measure();
  while (simulation.frame() < 2000) simulation.advance_frame();
  const std::vector<ObjectSums> after = simulation.measure();
  double drift = 0;
  for (std::size_t k = 1; k < after.size(); ++k) {
    drift = std::max(drift, norm(center(after[k]) - center(before[k])));
    EXPECT_GT(after[k].low[1] - after[k - 1].high[1], 0.35 * 0.05) << "gap below block " << k;
  }
  RecordProperty("drift_mm", fmt::format("{:.3f} in {:.0f} s", 1000 * drift, simulation.time()));
  EXPECT_LT(drift, 1e-3);
}

}  // namespace
}  // namespace tribo::test
