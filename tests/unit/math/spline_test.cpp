#include "tribo/math/spline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace tribo {
namespace {

/// A scalar type and a kernel.
template <class Scalar, int Nodes>
struct Case {
  using T = Scalar;
  static constexpr int nodes = Nodes;
};
template <class C>
class SplineTest : public testing::Test {};
using SplineCases = testing::Types<Case<float, 2>, Case<float, 3>, Case<float, 4>, Case<double, 2>, Case<double, 3>,
                                   Case<double, 4>, Case<default_lanes<float>, 3>, Case<default_lanes<double>, 4>>;
TYPED_TEST_SUITE(SplineTest, SplineCases);

double largest_error(float x) { return std::abs(x); }
double largest_error(double x) { return std::abs(x); }
template <class Real, int W>
double largest_error(Lanes<Real, W> x) {
  return horizontal_max(abs(x));
}

/// Sum of w, of w x_i and of the gradients, over positions of both signs; the second moment where it is constant.
TYPED_TEST(SplineTest, ReproducesConstantAndLinearFields) {
  using T = typename TypeParam::T;
  using Real = scalar_of<T>;
  constexpr int n = TypeParam::nodes;
  const double tolerance = 8 * std::numeric_limits<Real>::epsilon();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> position(-20, 20);
  for (int trial = 0; trial < 2000; ++trial) {
    const T x(static_cast<Real>(position(random)));
    const T base = base_node<n>(x);
    const T offset = x - base;
    EXPECT_TRUE(all(offset >= T(kernel_shift(n))));
    EXPECT_TRUE(all(offset < T(kernel_shift(n) + 1)));
    const SplineWeights<T, n> w(offset);
    const SplineDerivatives<T, n> d(offset);
    T sum(0), place(0), inertia(0), slope(0), slope_place(0);
    for (int i = 0; i < n; ++i) {
      const T z = T(Real(i)) - offset;
      EXPECT_TRUE(all(w.w[i] >= T(0)));
      sum = sum + w.w[i];
      place = place + w.w[i] * z;
      inertia = inertia + w.w[i] * z * z;
      slope = slope + d.d[i];
      slope_place = slope_place + d.d[i] * T(Real(i));
    }
    EXPECT_LT(largest_error(sum - T(1)), tolerance);
    EXPECT_LT(largest_error(place), tolerance);
    EXPECT_LT(largest_error(slope), tolerance);
    EXPECT_LT(largest_error(slope_place - T(1)), tolerance);  // sum x_i (grad w)^T = I
    if constexpr (n > 2) {
      EXPECT_LT(largest_error(inertia - T(kernel_inertia(n))), tolerance);
    }
    if constexpr (n == 2 && std::is_same_v<T, double>) {
      EXPECT_NEAR(inertia, linear_kernel_inertia(offset), tolerance);
    }
  }
}

TEST(Spline, BaseNodeIsTheLowestNodeTouchedOnBothSidesOfZero) {
  EXPECT_EQ(base_node<3>(0.5), 0);
  EXPECT_EQ(base_node<3>(1.49), 0);
  EXPECT_EQ(base_node<3>(1.5), 1);
  EXPECT_EQ(base_node<3>(0.49), -1);
  EXPECT_EQ(base_node<3>(-0.51), -2);
  EXPECT_EQ(base_node<2>(-0.01), -1);
  EXPECT_EQ(base_node<4>(0.99), -1);
}

TYPED_TEST(SplineTest, DerivativesAreThoseOfTheWeights) {
  constexpr int n = TypeParam::nodes;
  const double h = 1e-6;
  for (double offset = kernel_shift(n) + h; offset < kernel_shift(n) + 1 - h; offset += 0.01) {
    const SplineWeights<double, n> a(offset - h), b(offset + h);
    const SplineDerivatives<double, n> d(offset);
    for (int i = 0; i < n; ++i) EXPECT_NEAR((b.w[i] - a.w[i]) / (2 * h), d.d[i], 1e-9);
  }
}

/// The pieces meet where a particle changes its base node; slopes too, but for the linear kernel.
TYPED_TEST(SplineTest, IsContinuousAcrossCells) {
  constexpr int n = TypeParam::nodes;
  const double low = kernel_shift(n);
  const SplineWeights<double, n> before(low + 1), after(low);
  const SplineDerivatives<double, n> slope_before(low + 1), slope_after(low);
  EXPECT_EQ(before.w[0], 0);
  EXPECT_EQ(after.w[n - 1], 0);
  for (int i = 1; i < n; ++i) {
    EXPECT_NEAR(before.w[i], after.w[i - 1], 1e-15);
    if constexpr (n > 2) {
      EXPECT_NEAR(slope_before.d[i], slope_after.d[i - 1], 1e-15);
    }
  }
}

}  // namespace
}  // namespace tribo
