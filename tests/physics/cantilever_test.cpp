#include "cantilever.h"

#include <gtest/gtest.h>

namespace tribo::test {
namespace {

/// A beam of few tets is too stiff, and swings too fast; halving them brings it nearer to Timoshenko's, and what is
/// left of the error falls with the square of the size. Two and four through the thickness are hardly enough for that:
/// validation.Cantilever has finer ones.
TEST(Cantilever, SwingsSlowerWithSmallerTets) {
  const Cantilever beam;
  const double coarse = beam.measured_period(2, 1), fine = beam.measured_period(4, 1), expected = beam.period();
  RecordProperty("period", fmt::format("{:.3f}, {:.3f} of theory; limit {:.3f}", coarse / expected, fine / expected,
                                       extrapolated(coarse, fine) / expected));
  EXPECT_LT(coarse, 0.9 * fine);
  EXPECT_LT(fine, expected);
  EXPECT_NEAR(extrapolated(coarse, fine), expected, 0.05 * expected);
}

/// The theory itself: slender beams follow Euler and Bernoulli, 1.8751^2 sqrt(E I / (rho A L^4)).
TEST(Cantilever, TheoryOfSlenderBeams) {
  Cantilever beam;
  beam.length = 100 * beam.thickness;
  const double w = 1.8751 * 1.8751 * beam.thickness / std::sqrt(12.0) / (beam.length * beam.length) *
                   std::sqrt(beam.youngs_modulus / beam.density);
  EXPECT_NEAR(beam.period(), 2 * M_PI / w, 1e-3 * beam.period());
  beam.length = 4 * beam.thickness;
  const double stubby = 2 * M_PI / (w * 625);
  EXPECT_GT(beam.period(), 1.01 * stubby);  // shear and rotary inertia slow it
}

}  // namespace
}  // namespace tribo::test
