#include "tribo/math/closest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

/// \file
/// Closest points against other formulas in long double: the least of what ends, edges and insides are away.

namespace tribo {
namespace {

using Exact = long double;
using E3 = Vec<Exact, 3>;

template <class T>
E3 exact(const Vec<T, 3>& v) {
  return {{Exact(v[0]), Exact(v[1]), Exact(v[2])}};
}
Exact squared_to_segment(const E3& p, const E3& q, const E3& e) {
  const Exact ee = squared_norm(e);
  const Exact t = ee > 0 ? std::clamp<Exact>(dot(p - q, e) / ee, 0, 1) : 0;
  return squared_norm(p - q - t * e);
}
/// Either both points are within, or one is an end.
Exact squared_between_segments(const E3& p, const E3& d, const E3& q, const E3& e) {
  Exact least = std::min({squared_to_segment(p, q, e), squared_to_segment(p + d, q, e), squared_to_segment(q, p, d),
                          squared_to_segment(q + e, p, d)});
  const E3 n = cross(d, e), r = q - p;
  const Exact nn = squared_norm(n);
  if (nn == 0) return least;
  const Exact a = dot(cross(r, e), n) / nn, b = dot(cross(r, d), n) / nn;
  if (a >= 0 && a <= 1 && b >= 0 && b <= 1) least = std::min(least, squared_norm(r + b * e - a * d));
  return least;
}
/// By the normal equations of the plane.
Exact squared_to_triangle(const E3& p, const E3& x0, const E3& x1, const E3& x2) {
  Exact least = std::min(
      {squared_to_segment(p, x0, x1 - x0), squared_to_segment(p, x1, x2 - x1), squared_to_segment(p, x2, x0 - x2)});
  const E3 d = x1 - x0, e = x2 - x0, r = p - x0;
  const Exact dd = squared_norm(d), ee = squared_norm(e), de = dot(d, e), dr = dot(d, r), er = dot(e, r);
  const Exact det = dd * ee - de * de;
  if (!(det > 0)) return least;
  const Exact b = (ee * dr - de * er) / det, c = (dd * er - de * dr) / det;
  if (b >= 0 && c >= 0 && b + c <= 1) least = std::min(least, squared_norm(r - b * d - c * e));
  return least;
}

template <class T>
class Closest : public testing::Test {
 public:
  using V = Vec<T, 3>;
  static constexpr T eps = std::numeric_limits<T>::epsilon();

  T any() { return T(std::uniform_real_distribution<double>(-1, 1)(random_)); }
  V point() { return {{any(), any(), any()}}; }
  /// In all degrees, down to what makes nearly parallel and nearly flat things, or such as small as fourth powers of
  /// their lengths allow.
  T little() { return T(std::pow(10.0, std::uniform_real_distribution<double>(sizeof(T) == 4 ? -6 : -9, 0)(random_))); }
  int choice(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

  /// Segments p + a d, q + b e: of any lengths; nearly parallel; on one line; of no length.
  void any_segments(V& p, V& d, V& q, V& e) {
    p = point();
    q = point();
    d = little() * point();
    switch (choice(5)) {
      case 0:
        e = little() * point();
        break;
      case 1:
        e = any() * d + little() * d[0] * point();
        break;
      case 2:
        e = any() * d, q = p + T(2) * any() * d;
        break;
      case 3:
        e = V::zero();
        break;
      default:
        d = V::zero(), e = choice(2) == 0 ? V::zero() : little() * point();
    }
    if (choice(3) == 0) q = p + little() * point();
  }
  void any_triangle(V& p, V* x) {
    for (int k = 0; k < 3; ++k) x[k] = point();
    switch (choice(5)) {
      case 0:
        x[2] = x[0] + any() * (x[1] - x[0]) + little() * point();
        break;  // a needle
      case 1:
        x[2] = x[0] + T(2) * any() * (x[1] - x[0]);
        break;  // on one line
      case 2:
        x[1] = x[2] = choice(2) == 0 ? x[0] : point();
        break;  // an edge, or a point
      case 3:
        x[1] = x[0] + little() * point(), x[2] = x[0] + little() * point();  // small
      default:
        break;
    }
    p = point();
    if (choice(2) == 0) {  // over its inside, or in its plane
      const T b = T(0.5) * (T(1) + any()), c = (T(1) - b) * T(0.5) * (T(1) + any());
      p = x[0] + b * (x[1] - x[0]) + c * (x[2] - x[0]) + (choice(2) == 0 ? T(0) : little()) * point();
    }
    if (choice(5) == 0) p = x[choice(3)];
  }

 private:
  std::mt19937_64 random_{5};
};
using Scalars = testing::Types<float, double>;
TYPED_TEST_SUITE(Closest, Scalars);

constexpr int trials = 200000;

TYPED_TEST(Closest, OnSegment) {
  using T = TypeParam;
  using P = Vec<T, 3>;
  for (int trial = 0; trial < trials; ++trial) {
    P p, d, q, e;
    this->any_segments(p, d, q, e);
    const PointOnSegment<T> c = closest_on_segment(p, q, e);
    ASSERT_TRUE(c.b >= 0 && c.b <= 1);
    const Exact size = squared_norm(exact(p) - exact(q)) + squared_norm(exact(e));
    ASSERT_LE(std::abs(squared_norm(exact(c.gap)) - squared_to_segment(exact(p), exact(q), exact(e))),
              8 * Exact(this->eps) * size);
    ASSERT_LE(squared_norm(exact(c.gap) - (exact(p) - exact(q) - Exact(c.b) * exact(e))),
              4 * Exact(this->eps) * Exact(this->eps) * size);
  }
}

// The least squared distance but for rounding of the squared lengths; and where directions differ by little more than
// what counts as parallel, but for the sine of that.
TYPED_TEST(Closest, OfSegments) {
  using T = TypeParam;
  using P = Vec<T, 3>;
  for (int trial = 0; trial < trials; ++trial) {
    P p, d, q, e;
    this->any_segments(p, d, q, e);
    const ClosestPoints<T> c = closest_points(p, d, q, e);
    ASSERT_TRUE(c.a >= 0 && c.a <= 1 && c.b >= 0 && c.b <= 1);
    const Exact size = squared_norm(exact(p) - exact(q)) + squared_norm(exact(d)) + squared_norm(exact(e));
    const Exact least = squared_between_segments(E3::zero(), exact(d), exact(q) - exact(p), exact(e));
    const Exact got = squared_norm(exact(c.gap));
    const Exact aside = std::sqrt(closest_detail::parallel<T> * squared_norm(exact(d)));
    ASSERT_LE(std::abs(got - least), 32 * Exact(this->eps) * size + aside * (4 * std::sqrt(got) + aside)) << trial;
    ASSERT_LE(squared_norm(exact(c.gap) - (exact(p) - exact(q) + Exact(c.a) * exact(d) - Exact(c.b) * exact(e))),
              16 * Exact(this->eps) * Exact(this->eps) * size);
  }
}

// A needle of thickness h puts the point within by some roundings of its length squared over h, and its edges are no
// more than h off; so the worse of both is off by some tens of roundings of squared lengths.
TYPED_TEST(Closest, OnTriangle) {
  using T = TypeParam;
  using P = Vec<T, 3>;
  int within = 0;
  for (int trial = 0; trial < trials; ++trial) {
    P p, x[3];
    this->any_triangle(p, x);
    const PointOnTriangle<T> c = closest_on_triangle(p, x[0], x[1], x[2]);
    Exact size = 0, sum = 0;
    E3 gap = exact(p);
    for (int k = 0; k < 3; ++k) {
      ASSERT_TRUE(c.weight[k] >= 0 && c.weight[k] <= 1);
      size = std::max(size, squared_norm(exact(p) - exact(x[k])));
      size = std::max(size, squared_norm(exact(x[(k + 1) % 3]) - exact(x[k])));
      sum += c.weight[k];
      gap = gap - Exact(c.weight[k]) * exact(x[k]);
    }
    ASSERT_LE(std::abs(sum - 1), 4 * Exact(this->eps));
    const Exact least = squared_to_triangle(exact(p), exact(x[0]), exact(x[1]), exact(x[2]));
    ASSERT_LE(std::abs(squared_norm(exact(c.gap)) - least), 256 * Exact(this->eps) * size) << trial;
    // Positions are of order 1, and so is what rounding of weights moves them by.
    ASSERT_LE(std::sqrt(squared_norm(exact(c.gap) - gap)), 16 * Exact(this->eps)) << trial;
    within += c.weight[0] > 0 && c.weight[1] > 0 && c.weight[2] > 0 ? 1 : 0;
  }
  EXPECT_GT(within, trials / 20);
}

TYPED_TEST(Closest, OfPlainCases) {
  using T = TypeParam;
  using P = Vec<T, 3>;
  const P o = P::zero(), x{{1, 0, 0}}, y{{0, 1, 0}}, z{{0, 0, 1}};
  // Crossed, the first above the second.
  ClosestPoints<T> c = closest_points(T(-0.25) * x + T(2) * z, x, T(-0.75) * y, y);
  EXPECT_EQ(c.a, T(0.25));
  EXPECT_EQ(c.b, T(0.75));
  EXPECT_EQ(c.gap[2], T(2));
  // Parallel, side by side: from the middle of the first. One after the other: from end to end.
  c = closest_points(o, x, z, x);
  EXPECT_EQ(c.a, T(0.5));
  EXPECT_EQ(c.b, T(0.5));
  EXPECT_EQ(c.gap[2], T(-1));
  c = closest_points(o, x, T(3) * x, x);
  EXPECT_EQ(c.a, T(1));
  EXPECT_EQ(c.b, T(0));
  EXPECT_EQ(c.gap[0], T(-2));
  // Points.
  c = closest_points(x, o, y, o);
  EXPECT_EQ(squared_norm(c.gap), T(2));
  EXPECT_EQ(closest_on_segment(z, x, o).gap[2], T(1));
  // Above the inside, beyond an edge, beyond a corner.
  PointOnTriangle<T> t = closest_on_triangle(T(0.25) * x + T(0.5) * y + z, o, x, y);
  EXPECT_EQ(t.weight[0], T(0.25));
  EXPECT_EQ(t.weight[1], T(0.25));
  EXPECT_EQ(t.weight[2], T(0.5));
  EXPECT_EQ(t.gap[2], T(1));
  t = closest_on_triangle(T(0.5) * x - y, o, x, y);
  EXPECT_EQ(t.weight[0], T(0.5));
  EXPECT_EQ(t.weight[1], T(0.5));
  EXPECT_EQ(t.gap[1], T(-1));
  t = closest_on_triangle(T(3) * x - y, o, x, y);
  EXPECT_EQ(t.weight[1], T(1));
  EXPECT_EQ(squared_norm(t.gap), T(5));
}

}  // namespace
}  // namespace tribo
