#include "tribo/math/lanes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tribo/math/lane_bits.h"

/// \file
/// Every pack function must give, lane by lane, the bits of the scalar function, which is tested against the standard
/// library. Widths go from half a register to several.

namespace tribo {
namespace {

template <class Real>
using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

/// Same number: same bits, or both NaN.
template <class Real>
bool identical(Real a, Real b) {
  return std::bit_cast<Bits<Real>>(a) == std::bit_cast<Bits<Real>>(b) || (std::isnan(a) && std::isnan(b));
}

/// Ordinary numbers of every magnitude and sign, and all the special ones.
template <class Real>
std::vector<Real> samples(std::size_t count, int largest_exponent) {
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> v = {Real(0),
                         -Real(0),
                         Real(1),
                         Real(-1),
                         Real(0.5),
                         Real(-0.5),
                         Real(1.5),
                         Real(-1.5),
                         Limits::max(),
                         Limits::lowest(),
                         Limits::min(),
                         -Limits::min(),
                         Limits::epsilon(),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::quiet_NaN()};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(-2, 2);
  std::uniform_int_distribution<int> exponent(-largest_exponent, largest_exponent);
  while (v.size() < count) v.push_back(Real(std::ldexp(mantissa(random), exponent(random))));
  return v;
}

template <class L>
class LanesTest : public testing::Test {
 public:
  /// f(pack) == f(scalar) for every sample.
  template <class F>
  static void expect_lanewise(const F& f) {
    using Real = scalar_of<L>;
    constexpr int W = lane_count<L>;
    const std::vector<Real> x = samples<Real>(64 * W, 30);
    for (std::size_t i = 0; i + W <= x.size(); i += W) {
      const L result = f(L::load(&x[i]));
      for (int l = 0; l < W; ++l)
        ASSERT_TRUE(identical(result[l], f(x[i + l])))
            << "x = " << x[i + l] << ": " << result[l] << ", " << f(x[i + l]);
    }
  }
  /// f(pack, pack) == f(scalar, scalar) for pairs of samples.
  template <class F>
  static void expect_lanewise_pairs(const F& f) {
    using Real = scalar_of<L>;
    constexpr int W = lane_count<L>;
    const std::vector<Real> x = samples<Real>(64 * W, 30);
    for (std::size_t shift = 0; shift < 40; ++shift)
      for (std::size_t i = 0; i + W + shift <= x.size(); i += W) {
        const L result = f(L::load(&x[i]), L::load(&x[i + shift]));
        for (int l = 0; l < W; ++l) ASSERT_TRUE(identical(result[l], f(x[i + l], x[i + l + shift])));
      }
  }
};

using LaneTypes =
    testing::Types<Lanes<float, 1>, Lanes<float, 2>, Lanes<float, 4>, Lanes<float, 8>, Lanes<float, 16>,
                   Lanes<float, 32>, Lanes<double, 2>, Lanes<double, 4>, Lanes<double, 8>, Lanes<double, 16>>;
TYPED_TEST_SUITE(LanesTest, LaneTypes);

TYPED_TEST(LanesTest, BroadcastsKeepTheSignOfZero) {
  using L = TypeParam;
  using Real = scalar_of<L>;
  const L a(Real(-0.0)), b = 3, c = L(0);
  for (int l = 0; l < lane_count<L>; ++l) {
    EXPECT_TRUE(identical(a[l], Real(-0.0)));
    EXPECT_EQ(b[l], Real(3));
    EXPECT_TRUE(identical(c[l], Real(0)));
  }
}

TYPED_TEST(LanesTest, LanesAreReadAndSet) {
  using L = TypeParam;
  L a(1);
  for (int l = 0; l < lane_count<L>; ++l) a.set(l, scalar_of<L>(10 + l));
  for (int l = 0; l < lane_count<L>; ++l) EXPECT_EQ(a[l], 10 + l);
}

TYPED_TEST(LanesTest, PartialLoadRepeatsTheLastLaneAndReadsNoFurther) {
  using L = TypeParam;
  using Real = scalar_of<L>;
  constexpr int W = lane_count<L>;
  for (int n = 1; n <= W; ++n) {
    const std::vector<Real> exact(n, Real(7));  // an address sanitizer sees a read past its end
    EXPECT_EQ(L::load_partial(exact.data(), n)[W - 1], Real(7));
    Real x[W];
    for (int i = 0; i < W; ++i) x[i] = i < n ? Real(i + 1) : std::numeric_limits<Real>::quiet_NaN();
    const L a = L::load_partial(x, n);
    for (int l = 0; l < W; ++l) EXPECT_EQ(a[l], Real(std::min(l + 1, n)));
  }
}

TYPED_TEST(LanesTest, PartialStoreWritesOnlyItsLanes) {
  using L = TypeParam;
  using Real = scalar_of<L>;
  constexpr int W = lane_count<L>;
  L a;
  for (int l = 0; l < W; ++l) a.set(l, Real(l + 1));
  for (int n = 0; n <= W; ++n) {
    std::vector<Real> x(W + 2, Real(-1));
    a.store_partial(x.data() + 1, n);
    for (int i = 0; i < W + 2; ++i) EXPECT_EQ(x[i], i >= 1 && i <= n ? Real(i) : Real(-1));
  }
}

TYPED_TEST(LanesTest, ArithmeticIsThatOfScalars) {
  using F = TestFixture;
  F::expect_lanewise_pairs([](auto a, auto b) { return a + b; });
  F::expect_lanewise_pairs([](auto a, auto b) { return a - b; });
  F::expect_lanewise_pairs([](auto a, auto b) { return a * b; });
  F::expect_lanewise_pairs([](auto a, auto b) { return a / b; });
  F::expect_lanewise_pairs([](auto a, auto b) { return a += b, a -= 2, a *= b, a /= 3, a; });
  F::expect_lanewise_pairs([](auto a, auto b) { return 2 * a - b * 3 + 1 / b; });
  F::expect_lanewise_pairs([](auto a, auto b) { return fma(a, b, b); });
  F::expect_lanewise([](auto a) { return fma(2, a, 1); });
  F::expect_lanewise([](auto a) { return -a; });
}

TYPED_TEST(LanesTest, FunctionsAreThoseOfScalars) {
  using F = TestFixture;
  F::expect_lanewise([](auto a) { return sqrt(a); });
  F::expect_lanewise([](auto a) { return rsqrt(a); });
  F::expect_lanewise([](auto a) { return abs(a); });
  F::expect_lanewise([](auto a) { return floor(a); });
  F::expect_lanewise([](auto a) { return log(a); });
  F::expect_lanewise([](auto a) { return exp(a); });
  F::expect_lanewise([](auto a) { return power_of_two_below(a); });
  F::expect_lanewise([](auto a) { return min(max(a, -2), 3); });
  F::expect_lanewise([](auto a) { return max(-2, min(3, a)); });
  F::expect_lanewise_pairs([](auto a, auto b) { return min(a, b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return max(a, b); });
}

TYPED_TEST(LanesTest, ComparisonsAndLogicAreThoseOfScalars) {
  using F = TestFixture;
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a < b, a, b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a <= b, a, b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a > b, a, b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a >= b, a, b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a == b, a, -b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a != b, a, -b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a < b && !(a < 0), a, b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select(a > b || b > 1, a, b); });
  F::expect_lanewise_pairs([](auto a, auto b) { return select((a > b) | ((b > 1) & (a < 3)), a, b); });
}

TYPED_TEST(LanesTest, AnyAndAllSeeEveryLane) {
  using L = TypeParam;
  constexpr int W = lane_count<L>;
  EXPECT_FALSE(any(L(1) < 0));
  EXPECT_TRUE(all(L(0) < 1));
  EXPECT_TRUE(all(mask_t<L>(true)));
  EXPECT_FALSE(any(mask_t<L>(false)));
  EXPECT_EQ(lane_bits(mask_t<L>(false)), 0u);
  for (int l = 0; l < W; ++l) {
    L a(1);
    a.set(l, -1);
    EXPECT_TRUE(any(a < 0));
    EXPECT_EQ(all(a < 0), W == 1);
    EXPECT_FALSE(all(a > 0));
    EXPECT_EQ(lane_bits(a < 0), 1u << l);
    for (int k = 0; k < W; ++k) EXPECT_EQ((a < 0)[k], k == l);
  }
}

TYPED_TEST(LanesTest, HorizontalMaxSeesEveryLane) {
  using L = TypeParam;
  for (int l = 0; l < lane_count<L>; ++l) {
    L a(-5);
    a.set(l, -2);
    EXPECT_EQ(horizontal_max(a), -2);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Scalars against the standard library

template <class Real>
class ScalarTest : public testing::Test {};
using ScalarTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ScalarTest, ScalarTypes);

/// Distance from the exact result in units of its last place.
template <class Real>
double ulp_error(Real value, long double exact) {
  const int exponent = std::max(std::ilogb(exact), std::numeric_limits<Real>::min_exponent - 1);
  return double(std::abs(value - exact) / std::ldexp(1.0L, exponent - std::numeric_limits<Real>::digits + 1));
}

TYPED_TEST(ScalarTest, ExactFunctionsAreThoseOfTheStandardLibrary) {
  using Real = TypeParam;
  for (const Real x : samples<Real>(20000, 40)) {
    EXPECT_TRUE(identical(tribo::sqrt(x), std::sqrt(x)));
    EXPECT_TRUE(identical(tribo::abs(x), std::abs(x)));
    EXPECT_TRUE(identical(tribo::floor(x), std::floor(x))) << x;
  }
  for (int i = -40; i <= 40; ++i) EXPECT_TRUE(identical(tribo::floor(Real(i) / 8), std::floor(Real(i) / 8))) << i / 8.0;
  EXPECT_EQ(tribo::fma(Real(3), Real(4), Real(5)), Real(17));
  EXPECT_EQ(tribo::min(3, 4) + tribo::max(3, 4) + tribo::abs(-2), 9);
  EXPECT_EQ(power_of_two_below(Real(-12)), Real(8));
  EXPECT_EQ(power_of_two_below(Real(0.25)), Real(0.25));
  EXPECT_EQ(power_of_two_below(Real(0)), Real(0));
}

TYPED_TEST(ScalarTest, LogIsWithinOneUlp) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  double worst = 0;
  const auto check = [&](Real x) { worst = std::max(worst, ulp_error(tribo::log(x), std::log((long double)x))); };
  for (const Real x : samples<Real>(200000, Limits::max_exponent - 3))
    if (x >= Limits::min() && x <= Limits::max() && x != Real(1)) check(x);
  for (int i = 1; i < 100000; ++i) {
    check(Real(1 + i * 1e-5));  // near one, where the logarithm is small
    check(Real(1 - i * 1e-6));
    check(1 + i * Limits::epsilon());
  }
  EXPECT_LT(worst, 1.0);
  this->RecordProperty("worst_ulp", std::to_string(worst));
}

TYPED_TEST(ScalarTest, LogOfSpecialNumbers) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  EXPECT_TRUE(identical(tribo::log(Real(1)), Real(0)));
  EXPECT_EQ(tribo::log(Real(0)), -Limits::infinity());
  EXPECT_EQ(tribo::log(-Real(0)), -Limits::infinity());
  EXPECT_EQ(tribo::log(Limits::denorm_min()), -Limits::infinity());  // as if flushed to zero
  EXPECT_EQ(tribo::log(Limits::infinity()), Limits::infinity());
  EXPECT_TRUE(std::isnan(tribo::log(Real(-1))));
  EXPECT_TRUE(std::isnan(tribo::log(-Limits::infinity())));
  EXPECT_TRUE(std::isnan(tribo::log(Limits::quiet_NaN())));
}

TYPED_TEST(ScalarTest, ExpIsWithinAnUlpOrSo) {
  using Real = TypeParam;
  double worst = 0;
  const auto check = [&](Real x) { worst = std::max(worst, ulp_error(tribo::exp(x), std::exp((long double)x))); };
  std::mt19937_64 random(2);
  const double range = sizeof(Real) == 4 ? 87.3 : 708.3;
  std::uniform_real_distribution<double> wide(-range, range), narrow(-1, 1);
  for (int i = 0; i < 200000; ++i) {
    check(Real(wide(random)));
    check(Real(narrow(random)));
    check(Real(narrow(random) * 1e-4));
  }
  EXPECT_LT(worst, 1.1);
  this->RecordProperty("worst_ulp", std::to_string(worst));
}

TYPED_TEST(ScalarTest, ExpOfSpecialNumbers) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  EXPECT_EQ(tribo::exp(Real(0)), Real(1));
  EXPECT_EQ(tribo::exp(-Real(0)), Real(1));
  EXPECT_EQ(tribo::exp(Limits::infinity()), Limits::infinity());
  EXPECT_EQ(tribo::exp(-Limits::infinity()), Real(0));
  EXPECT_EQ(tribo::exp(Real(800)), Limits::infinity());
  EXPECT_EQ(tribo::exp(Real(-800)), Real(0));
  EXPECT_EQ(tribo::exp(Limits::max()), Limits::infinity());
  EXPECT_EQ(tribo::exp(Limits::lowest()), Real(0));
  EXPECT_TRUE(std::isnan(tribo::exp(Limits::quiet_NaN())));
  // Both ends of the range of normal results.
  const Real last = sizeof(Real) == 4 ? Real(88.72283f) : Real(709.7827128933839);
  EXPECT_LT(tribo::exp(last), Limits::infinity());
  EXPECT_GT(tribo::exp(last), Limits::max() * Real(0.999));
  const Real first = sizeof(Real) == 4 ? Real(-87.33654f) : Real(-708.3964185322640);
  EXPECT_GE(tribo::exp(first), Limits::min());
  EXPECT_LT(tribo::exp(first), Limits::min() * Real(1.001));
}

}  // namespace
}  // namespace tribo
