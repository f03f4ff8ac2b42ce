#include "tribo/math/spline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tribo {
namespace {

template <class T>
class SplineTest : public testing::Test {};
using SplineTypes = testing::Types<float, double, default_lanes<float>, default_lanes<double>>;
TYPED_TEST_SUITE(SplineTest, SplineTypes);

double largest_error(float x) { return std::abs(x); }
double largest_error(double x) { return std::abs(x); }
template <class Real, int W>
double largest_error(Lanes<Real, W> x) {
  return horizontal_max(abs(x));
}

/// Sum of w, of w x_i and of the gradients, over positions of both signs.
TYPED_TEST(SplineTest, ReproducesConstantAndLinearFields) {
  using T = TypeParam;
  using Real = scalar_of<T>;
  const double tolerance = 4 * std::numeric_limits<Real>::epsilon();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> position(-20, 20);
  for (int trial = 0; trial < 2000; ++trial) {
    const T x(static_cast<Real>(position(random)));
    const T base = base_node(x);
    const T offset = x - base;
    EXPECT_TRUE(all(offset >= T(0.5)));
    EXPECT_TRUE(all(offset < T(1.5)));
    const QuadraticWeights<T> w(offset);
    const QuadraticDerivatives<T> d(offset);
    EXPECT_LT(largest_error(w.w[0] + w.w[1] + w.w[2] - T(1)), tolerance);
    EXPECT_LT(largest_error(w.w[1] + T(2) * w.w[2] - offset), tolerance);
    EXPECT_LT(largest_error(d.d[0] + d.d[1] + d.d[2]), tolerance);
    EXPECT_LT(largest_error(d.d[1] + T(2) * d.d[2] - T(1)), tolerance);  // sum x_i (grad w)^T = I
    for (const T& weight : w.w) EXPECT_TRUE(all(weight >= T(0)));
  }
}

TEST(Spline, BaseNodeIsBelowTheCellCenterOnBothSidesOfZero) {
  EXPECT_EQ(base_node(0.5), 0);
  EXPECT_EQ(base_node(1.49), 0);
  EXPECT_EQ(base_node(1.5), 1);
  EXPECT_EQ(base_node(0.49), -1);
  EXPECT_EQ(base_node(-0.51), -2);
}

TEST(Spline, DerivativesAreThoseOfTheWeights) {
  const double h = 1e-6;
  for (double offset = 0.5; offset < 1.5; offset += 0.01) {
    const QuadraticWeights<double> a(offset - h), b(offset + h);
    const QuadraticDerivatives<double> d(offset);
    for (int i = 0; i < 3; ++i) EXPECT_NEAR((b.w[i] - a.w[i]) / (2 * h), d.d[i], 1e-9);
  }
}

/// The three pieces meet where a particle changes its base node.
TEST(Spline, IsContinuousAcrossCells) {
  const QuadraticWeights<double> before(1.5), after(0.5);
  const QuadraticDerivatives<double> slope_before(1.5), slope_after(0.5);
  EXPECT_EQ(before.w[0], 0);
  EXPECT_EQ(after.w[2], 0);
  for (int i = 1; i < 3; ++i) {
    EXPECT_EQ(before.w[i], after.w[i - 1]);
    EXPECT_EQ(slope_before.d[i], slope_after.d[i - 1]);
  }
}

}  // namespace
}  // namespace tribo
