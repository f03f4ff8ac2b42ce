#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../physics/strand_world.h"

/// \file
/// Strands in contact over longer times: a rope around a drum, and bundles thrown onto each other
/// (experiments_hair 3, 4 and 6).

namespace tribo::TRIBO_BACKEND::test {
namespace {

/// A strand over half of a drum of straight bars, with weights at its ends, the heavier of which is `ratio` times the
/// other. Returns the ratio of the forces in the strand's ends, from the speed after `duration`.
double capstan_ratio(double mu, double ratio, ImpulseForm form, int iterations, double dt, double duration,
                     double* speed = nullptr) {
  ContactWorld world;
  constexpr int bars = 48;
  constexpr double R = 1, weight = 0.05, hang = 1;
  world.rules.form = form;
  world.rules.iterations = iterations;
  std::vector<std::vector<Vec3>> drum;
  for (int k = 0; k < bars; ++k) {
    const double a = pi * (k + 0.5) / bars;
    drum.push_back(
        straight_line({{R * std::cos(a), -0.2, R * std::sin(a)}}, {{R * std::cos(a), 0.2, R * std::sin(a)}}, 4));
  }
  world.add(drum, Held::everywhere, 1);
  const double r = R + dmin, l = 0.05;
  std::vector<Vec3> line;
  const int down = int(std::lround(hang / l)), around = int(std::lround(pi * r / l));
  for (int k = down; k > 0; --k) line.push_back({{r, 0.003, -l * k}});
  for (int k = 0; k <= around; ++k)
    line.push_back({{r * std::cos(pi * k / around), 0.003, r * std::sin(pi * k / around)}});
  for (int k = 1; k <= down; ++k) line.push_back({{-r, 0.003, -l * k}});
  world.material.youngs_modulus *= 0.1;  // nearly a string
  world.material.stretch_scale *= 100;
  world.material.stretch_damping = 2e-3;  // weights must not bounce
  const std::size_t first = world.seed.x.size();
  world.add({line}, Held::nowhere, mu);
  for (std::size_t i = first; i < world.seed.x.size(); ++i) world.seed.rest_curvature[i] = Vec<double, 4>::zero();
  world.seed.mass[first] = weight;
  world.seed.mass.back() = ratio * weight;
  world.load();
  world.set_gravity({{0, 0, -gravity}});
  const auto run = [&](double until) {
    while (world.time < until) world.step(dt);
    return 0.5 * (world.v(Index(first))[2] - world.v(world.mesh.vertices - 1)[2]);
  };
  const double start = run(0.4 * duration), t = world.time, end = run(duration), a = (end - start) / (world.time - t);
  if (speed != nullptr) *speed = end;
  return ratio * (gravity - a) / (gravity + a);
}

// Euler's rope: a strand around half of a drum slips when its ends pull with forces of ratio exp(mu pi), no sooner, and
// keeps that ratio while it slips. Each of 48 bars turns it by d = pi / 48 and makes a ratio of (1 + mu tan(d/2)) /
// (1 - mu tan(d/2)), which is exp(mu d) to 1e-4; what is left of 5 % is for weights that still swing.
TEST(StrandContactValidation, RopeAroundADrumSlipsAsEulerSays) {
  const double expected = std::exp(0.2 * pi);
  for (const double ratio : {2.2, 3.0}) {
    EXPECT_NEAR(capstan_ratio(0.2, ratio, ImpulseForm::accumulated, 20, 1e-4, 0.06), expected, 0.05 * expected);
    EXPECT_NEAR(capstan_ratio(0.2, ratio, ImpulseForm::plain, 5, 1e-4, 0.06), expected, 0.05 * expected);
  }
}
TEST(StrandContactValidation, RopeAroundADrumHoldsAsEulerSays) {
  double speed;
  capstan_ratio(0.2, 1.5, ImpulseForm::accumulated, 20, 1e-4, 0.04, &speed);
  EXPECT_LT(std::abs(speed), 0.1 * 0.2 * gravity * 0.04) << "without friction, weights would fall at 0.2 g";
}

// Bundles of 100 strands thrown onto each other: none passes another, they bounce, and never have more energy than
// before.
TEST(StrandContactValidation, BundlesBounceAndMissNothing) {
  Bundles<double> world(10, 40, Held::at_ends, 0.3, 0);
  const double before = world.energy();
  double most = 0, rebound = 0;
  while (world.time < 0.06) {
    world.step(5e-4);
    most = std::max(most, world.energy() / before);
    const ObjectSums upper = world.sums(1);
    rebound = std::max(rebound, upper.momentum[2] / upper.mass);
  }
  EXPECT_LT(most, 1.005);
  EXPECT_EQ(world.missed, 0);
  EXPECT_GT(rebound, 50);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test
