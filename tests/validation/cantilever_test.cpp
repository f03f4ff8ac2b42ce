#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../physics/cantilever.h"

/// \file
/// A cantilever of tets under its own weight. Linear tets are too stiff in bending, by an error that falls with the
/// square of their size; what it falls towards is the beam of Timoshenko.

namespace tribo::test {
namespace {

TEST(Cantilever, SagsAsBeamsDo) {
  const Cantilever beam;
  const double coarse = beam.measured_sag(4), fine = beam.measured_sag(8);
  const double limit = extrapolated(coarse, fine), expected = beam.mean_sag();
  RecordProperty("sag", fmt::format("{:.4f}, {:.4f} of theory with 4 and 8 tets through the thickness; limit {:.4f}",
                                    coarse / expected, fine / expected, limit / expected));
  EXPECT_LT(coarse, fine);
  EXPECT_NEAR(limit, expected, 0.02 * expected);
}

TEST(Cantilever, SwingsAsBeamsDo) {
  const Cantilever beam;
  const double coarse = beam.measured_period(4, 2), fine = beam.measured_period(8, 2);
  const double limit = extrapolated(coarse, fine), expected = beam.period();
  RecordProperty("period", fmt::format("{:.4f}, {:.4f} of theory with 4 and 8 tets through the thickness; limit {:.4f}",
                                       coarse / expected, fine / expected, limit / expected));
  EXPECT_LT(coarse, fine);
  EXPECT_NEAR(limit, expected, 0.02 * expected);
}

}  // namespace
}  // namespace tribo::test
