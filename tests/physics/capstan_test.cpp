#include <gtest/gtest.h>

#include "capstan.h"
#include "precisions.h"

/// \file
/// Taut strands on curved colliders, by Euler's rope: it slips when weights at its ends are as exp(mu angle) to one.

namespace tribo::TRIBO_BACKEND::test {
namespace {

template <class Real>
class CapstanOf : public testing::Test {};
TYPED_TEST_SUITE(CapstanOf, Precisions, PrecisionName);

// At the steps that scenes have by default, whatever the angle, the friction and the segments. All of these in
// validation.
TYPED_TEST(CapstanOf, HoldsBelowEulersRatioAndSlipsAboveIt) {
  for (const Capstan& one : {Capstan{0.5, 0.5, 0.5e-3}, Capstan{0.1, 1, 2e-3}, Capstan{0.3, 1.5, 1e-3},
                             Capstan{0.5, 1.5, 3e-3}})
    expect_euler<TypeParam>(one, 0.04);
}

// A drum that turns takes the rope along, without slip: what is held is held also where the collider moves fast.
TYPED_TEST(CapstanOf, ATurningDrumWindsTheRope) {
  Capstan one{0.3, 0.5, 2e-3};
  one.load = 0.8;
  one.drum_speed = -2;
  CapstanWorld<TypeParam> world(one);
  while (world.time < 0.2) world.step();
  const double start = world.risen(), since = world.time;
  while (world.time < 0.4) world.step();
  const double speed = one.drum_speed * (world.drum + world.thickness);
  EXPECT_NEAR((world.risen() - start) / (world.time - since), speed, -0.02 * speed);
}

// Weights that fall into a slack cord tighten it at a blow, which sweeps do not settle: what they leave takes energy, too.
TYPED_TEST(CapstanOf, StartedSlackItGainsNoEnergy) {
  Capstan one{0.2, 1.5, 1e-3};
  one.load = 0.9;
  one.stretched = false;
  CapstanWorld<TypeParam> world(one);
  const double before = world.energy();
  double most = 0;
  while (world.time < 0.1) {
    world.step();
    most = std::max(most, world.energy() - before);
  }
  EXPECT_LT(most, 1e-5 * world.scale());
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test
