#include <gtest/gtest.h>

#include "../physics/sand_scenes.h"

/// \file
/// Sand against experiments (docs/validation.md).

namespace tribo::test {
namespace {

/// The same for every column: low ones need finer grids than high ones.
constexpr double particles = 200e3;

class SandColumn : public ::testing::TestWithParam<double> {};

TEST_P(SandColumn, RunsOutAsLubeMeasured) {
  const double a = GetParam();
  const Deposit deposit = collapse(a, std::cbrt(particles / (8 * pi * a)));
  const double expected = lube_run_out(a);
  fmt::print("a = {}: run-out {:.3f} (Lube {:.3f}, {:+.1f} %), height {:.3f} (Lube {:.3f})\n", a, deposit.run_out,
             expected, 100 * (deposit.run_out / expected - 1), deposit.height, lube_height(a));
  EXPECT_NEAR(deposit.run_out, expected, 0.15 * expected);
  EXPECT_LT(deposit.kinetic_per_mass, 1e-3);
}
INSTANTIATE_TEST_SUITE_P(AspectRatio, SandColumn, ::testing::Values(0.5, 1.0, 2.0, 4.0),
                         [](const auto& test) { return fmt::format("{}_halves", std::lround(2 * test.param)); });

/// The heap is the steeper the larger the friction angle, and lies between sin(phi), what a layer that flows at
/// constant volume bears, and a fifth less.
TEST(SandRepose, FollowsTheFrictionAngle) {
  double last = 0;
  for (const double angle : {25.0, 30.0, 35.0, 40.0}) {
    const double degrees = angle_of_repose(angle, 0.005);
    const double bound = std::atan(std::sin(angle * pi / 180)) * 180 / pi;
    fmt::print("friction angle {}: heap {:.1f}, atan(sin) {:.1f} degrees\n", angle, degrees, bound);
    EXPECT_GT(degrees, last + 1);
    EXPECT_LT(degrees, bound + 1);
    EXPECT_GT(degrees, 0.8 * bound);
    last = degrees;
  }
}

}  // namespace
}  // namespace tribo::test
