#include <gtest/gtest.h>

#include "free_strand.h"
#include "precisions.h"

/// \file
/// What strands keep where nothing touches and nothing damps them: energy does not come from nowhere, and what spins
/// goes on spinning.

namespace tribo::TRIBO_BACKEND::test {
namespace {

template <class Real>
class StrandEnergy : public testing::Test {};
TYPED_TEST_SUITE(StrandEnergy, Precisions, PrecisionName);

/// From coarse to fine, soft to stiff, in short and in long steps.
std::vector<StrandKind> all_kinds() {
  std::vector<StrandKind> kinds;
  for (const int segments : {10, 40, 175})
    for (const double radius : {4e-5, 3e-4})
      for (const double stretch_scale : {1e-3, 1.0})
        for (const StrandShape shape : {StrandShape::line, StrandShape::curl, StrandShape::ring})
          for (const double dt : {2e-4, 2e-3})
            if (segments < 100 || dt > 1e-3)
              kinds.push_back({segments, radius, stretch_scale, shape, segments == 40, dt});
  return kinds;
}
int steps_of(const StrandKind& kind) { return kind.dt > 1e-3 ? 500 : 800; }

/// Nothing that is too fast for a step gains from the slow motion of the rest.
TYPED_TEST(StrandEnergy, OfASwingingStrandNeverRises) {
  for (const StrandKind& kind : all_kinds()) {
    FreeStrand<TypeParam> strand(kind, true);
    strand.swing();
    EXPECT_LT(strand.largest_gain(steps_of(kind)), 1e-4) << kind.name();
  }
}

/// Nor from a blow that no segment saw coming: a quarter of the rod moves, and the rest does not yet. Segments turn by
/// half a right angle in a step then, and real stretching is so stiff that what they lengthen by that, to second order,
/// would be tens of times the energy of the blow.
TYPED_TEST(StrandEnergy, OfAStruckRodNeverRises) {
  for (const StrandKind& kind : all_kinds()) {
    FreeStrand<TypeParam> strand(kind, false);
    strand.strike();
    EXPECT_LT(strand.largest_gain(steps_of(kind)), 1e-4) << kind.name();
  }
}

/// Rayleigh's damping b takes b omega^2 / 2 of a vibration's amplitude in unit time, of curls, too, whose directors
/// turn about their edges as they swing. Of all vibrations together it takes b v K v from the energy and, since
/// M da/dt = -K v, over a time that begins at rest b times the integral of |a|^2, less a . v at its end. Some percent
/// more are the step's.
TYPED_TEST(StrandEnergy, OfASmallSwingOfACurlIsTakenByDamping) {
  constexpr double damping = 1e-3, dt = 5e-4;
  RodWorldOf<TypeParam> world;
  StrandRules rules;
  rules.material.bend_damping = damping;
  add_strands(world.seed, strands_of({helix(0.004, 0.04, 4, 40)}), rules);
  world.load();
  world.set_gravity({{0, -0.1, 0.03}});
  const auto energy = [&] {
    const ObjectSums now = world.sums();
    return now.kinetic + now.elastic + now.gravity;
  };
  const double start = energy();
  std::vector<Vec3> v(std::size_t(world.mesh.vertices), Vec3::zero());
  double squares = 0, last = 0;
  for (int s = 0; s < 2000; ++s) {
    world.step(dt);
    last = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const Vec3 now = world.v(Index(i)), dv = now - v[i];
      squares += world.seed.mass[i] * squared_norm(dv) / dt;
      last += world.seed.mass[i] * dot(now - 0.5 * dv, dv) / dt;
      v[i] = now;
    }
  }
  const double expected = damping * (squares - last);
  EXPECT_NEAR(start - energy(), expected, 0.1 * expected);
}

/// Free rods turn on, whatever the step: to a hundredth in a turn, and no faster than before.
TYPED_TEST(StrandEnergy, SpinIsKept) {
  for (const StrandKind& kind : all_kinds()) {
    FreeStrand<TypeParam> strand(kind, false);
    constexpr double spin = 10, time = 1;
    strand.turn(spin);
    const double gain = strand.largest_gain(int(time / kind.dt)), turns = spin * time / (2 * pi);
    EXPECT_GT(strand.spin_left(), std::pow(0.99, turns)) << kind.name();
    EXPECT_LT(strand.spin_left(), 1 + 1e-4) << kind.name();
    // Velocities at the start are those of a circle, then those of chords: 1 / cos(phi/2), for the same spin.
    EXPECT_LT(gain, 0.25 * spin * spin * kind.dt * kind.dt + 1e-5) << kind.name();
  }
}

/// In steps so short that what they take from spin is less than the last bit of a velocity. What rounding does in a
/// step is random, and so comes to its sqrt(steps / vertices), 1e-6; as it was the same in each, it came to 5e-5.
TYPED_TEST(StrandEnergy, SpinIsKeptInShortSteps) {
  const StrandKind kind{40, 4e-5, 1, StrandShape::line, true, 25e-6};
  FreeStrand<TypeParam> strand(kind, false);
  strand.turn(10);
  EXPECT_LT(strand.largest_gain(8000), 1e-5);
  EXPECT_NEAR(strand.spin_left(), 1, 5e-6);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test
