#include <gtest/gtest.h>

#include "scene_text.h"

/// \file
/// Longitudinal oscillation of a bar held at one end. With one end fixed and the other free the bar rings with the
/// period 4 L / c, c = sqrt(M / rho). The modulus M is E in three dimensions, where the sides are free to contract, and
/// E / (1 - nu^2) in two, which is plane strain: nothing moves along z.

namespace tribo::test {
namespace {

struct HeldBar {
  int dimension;
  double youngs_modulus;  ///< [Pa]
  double poisson_ratio;
  double dx;             ///< [m]
  const char* boundary;  ///< of the held end: `sticky` clamps it, `slip` lets it contract sideways
};
void PrintTo(const HeldBar& bar, std::ostream* out) {
  *out << fmt::format("{}D, E {} Pa, nu {}, dx {} m, {}", bar.dimension, bar.youngs_modulus, bar.poisson_ratio, bar.dx,
                      bar.boundary);
}

class HeldBarTest : public ::testing::TestWithParam<HeldBar> {};

TEST_P(HeldBarTest, RingsAtItsNaturalFrequency) {
  const HeldBar& bar = GetParam();
  const double L = 1, width = 0.08, rho = 1000, speed = 0.02;
  const double plane = bar.dimension == 2 ? 1 - bar.poisson_ratio * bar.poisson_ratio : 1;
  const double expected = 4 * L / std::sqrt(bar.youngs_modulus / plane / rho);
  const double fps = 200 / expected;
  Simulation simulation = simulate(fmt::format(
      R"({{"tribo": 1, "dimension": {}, "fps": {}, "duration": {}, "precision": "double", "gravity": [0, 0, 0],
           "grid": {{"dx": {}}},
           "materials": {{"m": {{"model": "fixed_corotated", "density": {}, "youngs_modulus": {}, "poisson_ratio": {}}}}},
           "objects": [{{"type": "particles", "shape": {{"box": [{}, {}, {}]}}, "at": [{}, 0, 0], "material": "m",
                         "velocity": [{}, 0, 0]}}],
           "colliders": [{{"shape": {{"half_space": [1, 0, 0]}}, "boundary": "{}"}}]}})",
      bar.dimension, fps, 3 * expected, bar.dx, rho, bar.youngs_modulus, bar.poisson_ratio, L, width, width, L / 2,
      speed, bar.boundary));
  // Thrown away from the wall all at once, the bar swings in its odd modes: their periods divide that of the first, so
  // that the center passes its rest position at multiples of half a period however many of them ring.
  const auto place = [&] { return center(simulation.measure()[0])[0]; };
  const double rest = place();
  std::vector<double> crossings;
  double before = rest;
  while (crossings.size() < 4 && simulation.frame() < simulation.frame_count()) {
    simulation.advance_frame();
    const double now = place();
    if ((before - rest) * (now - rest) < 0)
      crossings.push_back(simulation.time() - (now - rest) / (now - before) / fps);
    before = now;
  }
  ASSERT_EQ(crossings.size(), 4u);
  const double period = crossings[3] - crossings[1];
  RecordProperty("period",
                 fmt::format("{} s (analytic {} s, {:+.2f} %)", period, expected, 100 * (period / expected - 1)));
  EXPECT_NEAR(period, expected, 0.02 * expected);
}

INSTANTIATE_TEST_SUITE_P(Cases, HeldBarTest,
                         ::testing::Values(HeldBar{3, 1e5, 0, 0.04, "sticky"}, HeldBar{3, 1e5, 0, 0.02, "sticky"},
                                           HeldBar{3, 4e6, 0, 0.02, "sticky"}, HeldBar{3, 1e5, 0.3, 0.02, "slip"},
                                           HeldBar{2, 1e5, 0, 0.04, "sticky"}, HeldBar{2, 1e5, 0, 0.02, "sticky"},
                                           HeldBar{2, 4e6, 0, 0.02, "sticky"}, HeldBar{2, 1e5, 0.3, 0.02, "slip"}));

}  // namespace
}  // namespace tribo::test
