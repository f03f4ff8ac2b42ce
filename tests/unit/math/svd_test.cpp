#include "tribo/math/svd.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

/// \file
/// Families of deformation gradients that a simulation meets, and those that break naive algorithms. Each is built from
/// known singular values in double, rounded, and decomposed in scalars and packs.

namespace tribo {
namespace {

constexpr int trials = 20000;

template <int D>
Mat<double, D> random_rotation(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  if constexpr (D == 2) {
    const double angle = std::uniform_real_distribution<double>(-4, 4)(random);
    return {{{std::cos(angle), -std::sin(angle)}, {std::sin(angle), std::cos(angle)}}};
  } else {
    Vec<double, 3> a, b;
    for (int i = 0; i < 3; ++i) {
      a[i] = normal(random);
      b[i] = normal(random);
    }
    a = a * (1 / std::sqrt(squared_norm(a)));
    b = b - a * dot(a, b);
    b = b * (1 / std::sqrt(squared_norm(b)));
    const Vec<double, 3> c = cross(a, b);
    return {{{a[0], b[0], c[0]}, {a[1], b[1], c[1]}, {a[2], b[2], c[2]}}};
  }
}

struct Family {
  const char* name;
  /// Signed singular values, any order; D of them are used.
  std::function<Vec<double, 3>(std::mt19937_64&)> stretches;
  bool axis_aligned = false;  ///< permuted and negated diagonal matrices instead of rotated ones
};

double uniform(std::mt19937_64& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
/// Three numbers, each from the given function of the random engine.
template <class F>
auto each(const F& f) {
  return [f](std::mt19937_64& r) { return Vec<double, 3>{{f(r), f(r), f(r)}}; };
}

std::vector<Family> families() {
  return {
      {"near identity", each([](auto& r) { return uniform(r, 0.999, 1.001); })},
      {"very near identity", each([](auto& r) { return uniform(r, 1 - 1e-6, 1 + 1e-6); })},
      {"stretches 0.1 to 3", each([](auto& r) { return uniform(r, 0.1, 3); })},
      {"ratios to 1e4", each([](auto& r) { return std::pow(10, uniform(r, -4, 0)); })},
      {"ratios to 1e16", each([](auto& r) { return std::pow(10, uniform(r, -16, 0)); })},
      {"two small",
       [](auto& r) {
         return Vec<double, 3>{{1e-4, uniform(r, 0.5, 2), 1e-4}};
       }},
      {"inverted",
       [](auto& r) {
         return Vec<double, 3>{{uniform(r, 0.5, 1.5), -uniform(r, 0.5, 1.5), uniform(r, 0.5, 1.5)}};
       }},
      {"slightly inverted",
       [](auto& r) {
         return Vec<double, 3>{{1, -uniform(r, 0, 1e-3), uniform(r, 0.5, 1.5)}};
       }},
      {"rank two",
       [](auto& r) {
         return Vec<double, 3>{{uniform(r, 0.5, 1.5), 0, uniform(r, 0.5, 1.5)}};
       }},
      {"rank one",
       [](auto& r) {
         return Vec<double, 3>{{0, uniform(r, 0.5, 1.5), 0}};
       }},
      {"zero",
       [](auto&) {
         return Vec<double, 3>{{0, 0, 0}};
       }},
      {"rotations",
       [](auto&) {
         return Vec<double, 3>{{1, 1, 1}};
       }},
      {"two equal",
       [](auto& r) {
         return Vec<double, 3>{{1.25, 1.25, uniform(r, 0.5, 2)}};
       }},
      {"tiny", each([](auto& r) { return 1e-12 * uniform(r, 0.5, 1.5); })},
      {"huge", each([](auto& r) { return 1e12 * uniform(r, 0.5, 1.5); })},
      {"diagonal", each([](auto& r) { return uniform(r, -2, 2); }), true},
      {"diagonal of ones", each([](auto& r) { return uniform(r, -1, 1) < 0 ? -1.0 : 1.0; }), true},
      {"diagonal with zeros", each([](auto& r) { return std::max(0.0, uniform(r, -1, 1)); }), true},
      {"diagonal, graded", each([](auto& r) { return std::pow(10, uniform(r, -30, 0)); }), true},
  };
}

/// A member of the family in double: rotated, or permuted with signs.
template <int D>
Mat<double, D> member(const Family& family, std::mt19937_64& random) {
  const Vec<double, 3> s = family.stretches(random);
  if (family.axis_aligned) {
    int order[3] = {0, 1, 2};
    std::shuffle(order, order + D, random);
    Mat<double, D> F = Mat<double, D>::zero();
    for (int i = 0; i < D; ++i) F(i, order[i]) = s[i];
    return F;
  }
  Vec<double, D> d;
  for (int i = 0; i < D; ++i) d[i] = s[i];
  return random_rotation<D>(random) * Mat<double, D>::diagonal(d) * random_rotation<D>(random);
}

template <class Real>
double tolerance(double for_double, double for_float) {
  return sizeof(Real) == 4 ? for_float : for_double;
}

template <class Real>
bool identical(Real a, Real b) {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class Real, int D>
double largest(const Mat<Real, D>& a) {
  double r = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r = std::max(r, std::abs(double(a(i, j))));
  return r;
}
template <class Real, int D>
Mat<double, D> in_double(const Mat<Real, D>& a) {
  Mat<double, D> r;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) r(i, j) = a(i, j);
  return r;
}
/// Largest entry of Q^T Q - I, or a large number where Q is a reflection.
template <class Real, int D>
double distance_from_rotation(const Mat<Real, D>& Q) {
  const Mat<double, D> q = in_double(Q);
  return largest(transpose(q) * q - Mat<double, D>::identity()) + (determinant(q) > 0 ? 0 : 1);
}

template <class T, int D>
struct Decomposition {
  Mat<T, D> U, V;
  Vec<T, D> sigma;
};
template <class T, int D>
__attribute__((noinline)) Decomposition<T, D> decompose(const Mat<T, D>& F) {
  Decomposition<T, D> r;
  polar_svd(F, r.U, r.sigma, r.V);
  return r;
}
template <class T, int D>
struct Spectrum {
  Vec<T, D> values;
  Mat<T, D> vectors;
};
template <class T, int D>
__attribute__((noinline)) Spectrum<T, D> spectrum(const Sym<T, D>& a) {
  Spectrum<T, D> r;
  symmetric_eigen(a, r.values, r.vectors);
  return r;
}

template <class RealType, int Dimension>
struct Case {
  using Real = RealType;
  static constexpr int D = Dimension;
};
template <class C>
class SvdTest : public testing::Test {};
using Cases = testing::Types<Case<float, 2>, Case<float, 3>, Case<double, 2>, Case<double, 3>>;
TYPED_TEST_SUITE(SvdTest, Cases);

TYPED_TEST(SvdTest, DecomposesEveryFamily) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  for (const Family& family : families()) {
    SCOPED_TRACE(family.name);
    std::mt19937_64 random(5);
    double orthogonality = 0, reconstruction = 0, values = 0;
    int misordered = 0, wrong_sign = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const Mat<double, D> exact = member<D>(family, random);
      Mat<Real, D> F;
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) F(i, j) = Real(exact(i, j));
      const Decomposition<Real, D> r = decompose(F);
      const double size = std::max(largest(F), 1e-300);
      orthogonality = std::max({orthogonality, distance_from_rotation(r.U), distance_from_rotation(r.V)});
      Vec<double, D> sigma;
      for (int i = 0; i < D; ++i) sigma[i] = r.sigma[i];
      const Mat<double, D> product = in_double(r.U) * Mat<double, D>::diagonal(sigma) * transpose(in_double(r.V));
      reconstruction = std::max(reconstruction, largest(product - in_double(F)) / size);
      for (int i = 0; i + 1 < D; ++i) misordered += !(r.sigma[i] >= std::abs(r.sigma[i + 1]));
      // The sign of a determinant that is not just rounding.
      const double J = determinant(in_double(F)) / std::pow(size, D);
      if (std::abs(J) > 100 * std::numeric_limits<Real>::epsilon()) wrong_sign += (J > 0) != (r.sigma[D - 1] > 0);
      double squares = 0;
      for (int i = 0; i < D * D; ++i) squares += std::pow(F(i / D, i % D) / size, 2);
      for (int i = 0; i < D; ++i) squares -= std::pow(sigma[i] / size, 2);
      values = std::max(values, std::abs(squares));
    }
    EXPECT_LT(orthogonality, tolerance<Real>(2e-15, 1e-6));
    EXPECT_LT(reconstruction, tolerance<Real>(2e-15, 1e-6));
    EXPECT_LT(values, tolerance<Real>(1e-14, 5e-6));
    EXPECT_EQ(misordered, 0);
    EXPECT_EQ(wrong_sign, 0);
  }
}

/// Only rounding errors of F itself, a few times |F| epsilon, may show in the singular values, also in the small ones.
TYPED_TEST(SvdTest, FindsTheSingularValuesItWasGiven) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(6);
  for (int trial = 0; trial < trials; ++trial) {
    Vec<double, D> s;
    for (int i = 0; i < D; ++i) s[i] = std::pow(10, uniform(random, -4, 0));
    std::sort(s.c, s.c + D, std::greater<>());
    if (trial % 2) s[D - 1] = -s[D - 1];
    const Mat<double, D> exact = random_rotation<D>(random) * Mat<double, D>::diagonal(s) * random_rotation<D>(random);
    Mat<Real, D> F;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) F(i, j) = Real(exact(i, j));
    const Decomposition<Real, D> r = decompose(F);
    for (int i = 0; i < D; ++i) ASSERT_NEAR(r.sigma[i], s[i], s[0] * tolerance<Real>(5e-15, 1e-6));
  }
}

/// Columns of different lengths but exactly orthogonal need no rotation: every singular value has full accuracy.
TYPED_TEST(SvdTest, DiagonalMatricesAreExact) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  Mat<Real, D> F = Mat<Real, D>::identity();
  F(0, 0) = Real(1e-6);
  F(D - 1, D - 1) = Real(-3);
  const Decomposition<Real, D> r = decompose(F);
  EXPECT_EQ(r.sigma[0], Real(3));
  EXPECT_EQ(r.sigma[D - 1], -Real(1e-6));
}

template <class L, int D>
void expect_lanes_match_scalars() {
  using Real = scalar_of<L>;
  constexpr int W = lane_count<L>;
  // Lanes of one pack come from different families, so that some converge long before others.
  const std::vector<Family> all = families();
  std::mt19937_64 random(7);
  for (int trial = 0; trial < trials / W; ++trial) {
    Mat<L, D> F;
    Mat<Real, D> lane[W];
    for (int l = 0; l < W; ++l) {
      const Mat<double, D> exact = member<D>(all[random() % all.size()], random);
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) {
          lane[l](i, j) = Real(exact(i, j));
          F(i, j).set(l, lane[l](i, j));
        }
    }
    const Decomposition<L, D> pack = decompose(F);
    const Spectrum<L, D> pack_spectrum = spectrum(times_own_transpose(F));
    for (int l = 0; l < W; ++l) {
      const Decomposition<Real, D> one = decompose(lane[l]);
      const Spectrum<Real, D> one_spectrum = spectrum(times_own_transpose(lane[l]));
      for (int i = 0; i < D; ++i) {
        ASSERT_TRUE(identical(pack.sigma[i][l], one.sigma[i]));
        ASSERT_TRUE(identical(pack_spectrum.values[i][l], one_spectrum.values[i]));
        for (int j = 0; j < D; ++j) {
          ASSERT_TRUE(identical(pack.U(i, j)[l], one.U(i, j)));
          ASSERT_TRUE(identical(pack.V(i, j)[l], one.V(i, j)));
          ASSERT_TRUE(identical(pack_spectrum.vectors(i, j)[l], one_spectrum.vectors(i, j)));
        }
      }
    }
  }
}

TYPED_TEST(SvdTest, LanesHaveTheBitsOfScalars) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  using L = default_lanes<Real>;
  expect_lanes_match_scalars<L, D>();
  expect_lanes_match_scalars<Lanes<Real, 2 * lane_count<L>>, D>();
}

TYPED_TEST(SvdTest, ScalingByPowersOfTwoScalesTheResult) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(8);
  const Family stretches = families()[2];
  for (int exponent = -110; exponent <= 110; exponent += 10) {
    const Real scale = std::ldexp(Real(1), exponent);
    Mat<Real, D> F;
    const Mat<double, D> exact = member<D>(stretches, random);
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) F(i, j) = Real(exact(i, j));
    const Decomposition<Real, D> a = decompose(F), b = decompose(F * scale);
    for (int i = 0; i < D; ++i) {
      EXPECT_TRUE(identical(Real(a.sigma[i] * scale), b.sigma[i]));
      for (int j = 0; j < D; ++j) EXPECT_TRUE(identical(a.U(i, j), b.U(i, j)) && identical(a.V(i, j), b.V(i, j)));
    }
  }
}

/// Bad numbers must end the iteration and show up in the result.
TYPED_TEST(SvdTest, NotFiniteGivesNotFinite) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()})
    for (int k = 0; k < D * D; ++k) {
      Mat<Real, D> F = Mat<Real, D>::identity();
      F(k / D, k % D) = bad;
      const Decomposition<Real, D> r = decompose(F);
      Real sum = 0;
      for (int i = 0; i < D; ++i) sum += std::abs(r.sigma[i]);
      EXPECT_FALSE(std::isfinite(sum)) << bad << " in entry " << k;
    }
}

TYPED_TEST(SvdTest, PolarRotationIsTheNearestRotation) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  std::mt19937_64 random(9);
  for (int trial = 0; trial < trials; ++trial) {
    // F = R S with S symmetric and positive definite has the polar rotation R. An error of F shows in R divided by the
    // smallest sum of two singular values.
    const Mat<double, D> R = random_rotation<D>(random), Q = random_rotation<D>(random);
    Vec<double, D> s;
    for (int i = 0; i < D; ++i) s[i] = uniform(random, 0.5, 2);
    const Mat<double, D> exact = R * Q * Mat<double, D>::diagonal(s) * transpose(Q);
    Mat<Real, D> F;
    for (int i = 0; i < D; ++i)
      for (int j = 0; j < D; ++j) F(i, j) = Real(exact(i, j));
    ASSERT_LT(largest(in_double(polar_rotation(F)) - R), tolerance<Real>(1e-14, 4e-6));
  }
}

TYPED_TEST(SvdTest, EigenvectorsOfSymmetricMatrices) {
  using Real = typename TypeParam::Real;
  constexpr int D = TypeParam::D;
  for (const Family& family : families()) {
    SCOPED_TRACE(family.name);
    std::mt19937_64 random(10);
    double orthogonality = 0, residual = 0;
    int misordered = 0;
    for (int trial = 0; trial < trials; ++trial) {
      // Signed values here: the matrix may be indefinite.
      const Vec<double, 3> s = family.stretches(random);
      const Mat<double, D> Q = family.axis_aligned ? Mat<double, D>::identity() : random_rotation<D>(random);
      Vec<double, D> d;
      for (int i = 0; i < D; ++i) d[i] = s[i];
      const Sym<double, D> exact = from_principal(Q, d);
      Sym<Real, D> A;
      for (int k = 0; k < Sym<Real, D>::size; ++k) A.s[k] = Real(exact.s[k]);
      const Spectrum<Real, D> r = spectrum(A);
      const double size = std::max(largest(full(A)), 1e-300);
      orthogonality = std::max(orthogonality, distance_from_rotation(r.vectors));
      Vec<double, D> values;
      for (int i = 0; i < D; ++i) values[i] = r.values[i];
      const Mat<double, D> product = full(from_principal(in_double(r.vectors), values));
      residual = std::max(residual, largest(product - in_double(full(A))) / size);
      for (int i = 0; i + 1 < D; ++i) misordered += !(r.values[i] >= r.values[i + 1]);
    }
    EXPECT_LT(orthogonality, tolerance<Real>(2e-15, 1e-6));
    EXPECT_LT(residual, tolerance<Real>(4e-15, 2e-6));
    EXPECT_EQ(misordered, 0);
  }
}

}  // namespace
}  // namespace tribo
