#include <gtest/gtest.h>

#include "../physics/free_strand.h"
#include "../physics/precisions.h"

/// \file
/// 100 s of strands that nothing damps or touches: whatever gains a little in a step has 50 000 of them.

namespace tribo::TRIBO_BACKEND::test {
namespace {

template <class Real>
class StrandEnergyValidation : public testing::Test {};
TYPED_TEST_SUITE(StrandEnergyValidation, Precisions, PrecisionName);

constexpr double time_of_runs = 100;

std::vector<StrandKind> long_kinds() {
  std::vector<StrandKind> kinds;
  for (const double stretch_scale : {1e-3, 1.0})
    for (const StrandShape shape : {StrandShape::line, StrandShape::curl, StrandShape::ring})
      kinds.push_back({20, 4e-5, stretch_scale, shape, true, 2e-3});
  kinds.push_back({20, 4e-5, 1, StrandShape::line, true, 2e-4});
  kinds.push_back({20, 3e-4, 1, StrandShape::curl, true, 2e-3});
  kinds.push_back({120, 4e-5, 1, StrandShape::curl, true, 2e-3});
  return kinds;
}
int steps_of(const StrandKind& kind) { return int(time_of_runs / kind.dt); }

TYPED_TEST(StrandEnergyValidation, SwingsNeverRise) {
  for (const StrandKind& kind : long_kinds()) {
    FreeStrand<TypeParam> strand(kind, true);
    strand.swing();
    EXPECT_LT(strand.largest_gain(steps_of(kind)), 1e-4) << kind.name();
  }
}

TYPED_TEST(StrandEnergyValidation, BlowsNeverGain) {
  for (const StrandKind& kind : long_kinds()) {
    FreeStrand<TypeParam> strand(kind, false);
    strand.strike();
    EXPECT_LT(strand.largest_gain(steps_of(kind)), 1e-4) << kind.name();
  }
}

/// 10 rad/s are 159 turns.
TYPED_TEST(StrandEnergyValidation, SpinLastsForTurns) {
  for (const StrandKind& kind : long_kinds()) {
    FreeStrand<TypeParam> strand(kind, false);
    constexpr double spin = 10;
    strand.turn(spin);
    const double gain = strand.largest_gain(steps_of(kind));
    EXPECT_LT(gain, 0.25 * spin * spin * kind.dt * kind.dt + 1e-5) << kind.name();  // of chords
    EXPECT_GT(strand.spin_left(), std::pow(0.99, spin * time_of_runs / (2 * pi))) << kind.name();
    EXPECT_LT(strand.spin_left(), 1 + 1e-4) << kind.name();
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test
