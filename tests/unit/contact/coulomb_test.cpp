#include "tribo/contact/coulomb.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tribo/math/small.h"

/// \file
/// Promise: nobody leaves Coulomb's cone, whoever is in it is left alone, and friction takes energy, never gives any.

namespace tribo {
namespace {

template <class Real>
class Coulomb : public ::testing::Test {
 protected:
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();
  static constexpr Real rounding = 4 * std::numeric_limits<Real>::epsilon();
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Coulomb, Reals);

TYPED_TEST(Coulomb, LimitIsTheCoefficientTimesWhatPresses) {
  using Real = TypeParam;
  EXPECT_EQ(friction_limit(Real(0.5), Real(3)), Real(1.5));
  EXPECT_EQ(friction_limit(Real(0), Real(3)), Real(0));
  EXPECT_EQ(friction_limit(Real(0.5), Real(0)), Real(0));
  EXPECT_EQ(friction_limit(Real(0.5), Real(-3)), Real(0));  // nothing pulls by friction
  EXPECT_EQ(friction_limit(this->infinity, Real(1)), this->infinity);
  EXPECT_EQ(friction_limit(this->infinity, Real(0)), Real(0));  // and not NaN
}

TYPED_TEST(Coulomb, ImpulseStopsOrIsOnTheCone) {
  using Real = TypeParam;
  EXPECT_EQ(friction_impulse(Real(0.5), Real(4), Real(1)), Real(1));  // inside: stops
  EXPECT_EQ(friction_impulse(Real(0.5), Real(4), Real(2)), Real(2));  // on the cone
  EXPECT_EQ(friction_impulse(Real(0.5), Real(4), Real(3)), Real(2));  // outside: slides on
  EXPECT_EQ(friction_impulse(Real(0), Real(4), Real(3)), Real(0));
  EXPECT_EQ(friction_impulse(Real(0.5), Real(0), Real(3)), Real(0));
  EXPECT_EQ(friction_impulse(this->infinity, Real(4), Real(3)), Real(3));
}

TYPED_TEST(Coulomb, PartInTheCone) {
  using Real = TypeParam;
  EXPECT_EQ(part_in_cone(Real(1), Real(2)), Real(1));
  EXPECT_EQ(part_in_cone(Real(2), Real(2)), Real(1));
  EXPECT_EQ(part_in_cone(Real(4), Real(2)), Real(0.5));
  EXPECT_EQ(part_in_cone(Real(4), Real(0)), Real(0));
  EXPECT_EQ(part_in_cone(Real(0), Real(0)), Real(1));  // nothing stays nothing
  EXPECT_EQ(part_in_cone(Real(4), this->infinity), Real(1));
}

TYPED_TEST(Coulomb, SlipIsLeftOrTaken) {
  using Real = TypeParam;
  EXPECT_EQ(slip_left(Real(4), Real(1)), Real(0.75));
  EXPECT_EQ(slip_left(Real(4), Real(4)), Real(0));
  EXPECT_EQ(slip_left(Real(4), Real(5)), Real(0));
  EXPECT_EQ(slip_left(Real(4), Real(0)), Real(1));
  EXPECT_EQ(slip_left(Real(0), Real(0)), Real(0));
  EXPECT_EQ(slip_left(Real(4), this->infinity), Real(0));
  EXPECT_EQ(slip_taken(Real(4), Real(1)), Real(0.25));
  EXPECT_EQ(slip_taken(Real(4), Real(5)), Real(1));
  EXPECT_EQ(slip_taken(Real(4), Real(0)), Real(0));
  EXPECT_EQ(slip_taken(Real(0), Real(1)), Real(0));
  EXPECT_EQ(slip_taken(Real(4), this->infinity), Real(1));
}

/// Two points of any masses that approach along n: the impulses n J + t min(mu J, stop), and the velocities that one of
/// them has before a wall that does not move.
TYPED_TEST(Coulomb, TakesEnergyAndStaysInTheCone) {
  using Real = TypeParam;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> any(-1, 1), exponent(-4, 4);
  const Vec<Real, 3> n{{Real(0), Real(1), Real(0)}};
  for (int trial = 0; trial < 2000; ++trial) {
    const Real friction = trial % 10 == 0 ? Real(0) : static_cast<Real>(std::pow(10, 0.5 * exponent(random)));
    const Real m1 = static_cast<Real>(std::pow(10, exponent(random)));
    const Real m2 = static_cast<Real>(std::pow(10, exponent(random)));
    Vec<Real, 3> v1, v2;
    for (int k = 0; k < 3; ++k) {
      v1[k] = static_cast<Real>(any(random));
      v2[k] = static_cast<Real>(any(random));
    }
    const Vec<Real, 3> slip = v1 - v2;
    const Real approach = -dot(slip, n);
    if (!(approach > Real(0))) continue;
    const Vec<Real, 3> along = slip + approach * n;
    const Real speed = std::sqrt(squared_norm(along)), mass = Real(1) / (Real(1) / m1 + Real(1) / m2);
    const Real rub = friction_impulse(friction, mass * approach, mass * speed);
    EXPECT_LE(rub, friction * (mass * approach));
    const Vec<Real, 3> P = (mass * approach) * n - (rub / speed) * along;
    const Vec<Real, 3> w1 = v1 + (Real(1) / m1) * P, w2 = v2 - (Real(1) / m2) * P;
    const auto energy = [&](const Vec<Real, 3>& a, const Vec<Real, 3>& b) {
      return m1 * squared_norm(a) + m2 * squared_norm(b);
    };
    EXPECT_LE(energy(w1, w2), energy(v1, v2) * (Real(1) + 10 * this->rounding));

    const Real limit = friction_limit(friction, approach), left = slip_left(speed, limit);
    EXPECT_GE(left, Real(0));
    EXPECT_LE(left, Real(1));
    EXPECT_NEAR(left + slip_taken(speed, limit), 1, this->rounding);
    EXPECT_LE(speed * (Real(1) - left), limit * (Real(1) + this->rounding) + this->rounding * speed);
    const Vec<Real, 3> J = part_in_cone(mass * speed, rub) * (mass * along);
    EXPECT_NEAR(std::sqrt(squared_norm(J)), rub, 10 * this->rounding * rub);
  }
}

}  // namespace
}  // namespace tribo
