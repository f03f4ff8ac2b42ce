#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "random_params.h"
#include "tribo/colliders/all.h"

/// \file
/// What every listed shape must do, tested for each of them in float and double, in two and three dimensions. Meshes
/// and combinations, whose distances are not exact, have tests of their own.

namespace tribo {
namespace {

template <class Real>
Real tolerance() {
  return std::is_same_v<Real, double> ? Real(1e-13) : Real(2e-6);
}

template <class Real, int D>
Vec<Real, D> random_point(std::mt19937& random, double extent) {
  Vec<Real, D> p;
  for (int i = 0; i < D; ++i) p[i] = Real(std::uniform_real_distribution<double>(-extent, extent)(random));
  return p;
}

template <class Real, int D>
Real norm(const Vec<Real, D>& v) {
  return std::sqrt(squared_norm(v));
}

template <class Real, int D>
std::string text(const Vec<Real, D>& v) {
  std::string s;
  for (int i = 0; i < D; ++i) s += (i ? ", " : "(") + std::to_string(v[i]);
  return s + ")";
}

/// One shape type in one precision.
template <class AnyShape, class Scalar>
struct Case {
  using Type = AnyShape;
  using Real = Scalar;
};
template <class Real, class List>
struct CasesOf;
template <class Real, class... Shapes>
struct CasesOf<Real, std::variant<Shapes...>> {
  template <class... More>
  using With = ::testing::Types<Case<Shapes, Real>..., More...>;
};
template <class... Floats>
using WithDoubles = CasesOf<double, PlainShape<double>>::With<Floats...>;
template <class List>
struct AllCases;
template <class... Shapes>
struct AllCases<std::variant<Shapes...>> {
  using Types = WithDoubles<Case<Shapes, float>...>;
};

template <class C>
class EveryShape : public ::testing::Test {
 protected:
  /// Calls check.operator()<D>(shape, random) for some random shapes in both dimensions.
  template <class Check>
  static void for_random_shapes(const Check& check) {
    for (unsigned seed = 1; seed <= 5; ++seed) {
      test::RandomParams params(seed);
      const auto shape = C::Type::read(params);
      ASSERT_TRUE(params.complaints.empty());
      std::mt19937 random(seed);
      check.template operator()<2>(shape, random);
      check.template operator()<3>(shape, random);
    }
  }
};

struct CaseName {
  template <class C>
  static std::string GetName(int) {
    return std::string(C::Type::name) + (std::is_same_v<typename C::Real, double> ? "_double" : "_float");
  }
};
TYPED_TEST_SUITE(EveryShape, AllCases<PlainShape<float>>::Types, CaseName);

constexpr int point_count = 2000;
constexpr double extent = 3;

TYPED_TEST(EveryShape, NormalIsUnit) {
  using Real = typename TypeParam::Real;
  this->for_random_shapes([]<int D>(const auto& shape, std::mt19937& random) {
    for (int k = 0; k < point_count; ++k) {
      const auto p = random_point<Real, D>(random, extent);
      ASSERT_NEAR(norm(shape.nearest(p).normal), 1, tolerance<Real>()) << text(p);
    }
  });
}

TYPED_TEST(EveryShape, DistanceIsOneLipschitz) {
  using Real = typename TypeParam::Real;
  this->for_random_shapes([]<int D>(const auto& shape, std::mt19937& random) {
    for (int k = 0; k < point_count; ++k) {
      const auto p = random_point<Real, D>(random, extent), q = p + random_point<Real, D>(random, k % 2 ? 0.1 : 2);
      const Real change = std::abs(shape.nearest(p).distance - shape.nearest(q).distance);
      ASSERT_LE(change, norm(p - q) + Real(10) * tolerance<Real>()) << text(p) << " " << text(q);
    }
  });
}

TYPED_TEST(EveryShape, NearestPointIsOnTheSurface) {
  using Real = typename TypeParam::Real;
  this->for_random_shapes([]<int D>(const auto& shape, std::mt19937& random) {
    for (int k = 0; k < point_count; ++k) {
      const auto p = random_point<Real, D>(random, extent);
      const auto s = shape.nearest(p);
      ASSERT_NEAR(shape.nearest(p - s.normal * s.distance).distance, 0, 10 * tolerance<Real>()) << text(p);
    }
  });
}

TYPED_TEST(EveryShape, NormalIsTheGradient) {
  using Real = typename TypeParam::Real;
  const Real step = std::is_same_v<Real, double> ? Real(1e-5) : Real(4e-3);
  this->for_random_shapes([step]<int D>(const auto& shape, std::mt19937& random) {
    int smooth_count = 0;
    for (int k = 0; k < point_count; ++k) {
      const auto p = random_point<Real, D>(random, extent);
      const auto normal = shape.nearest(p).normal;
      Vec<Real, D> gradient;
      Real bend = 0;  // how much the normal changes over the difference stencil
      for (int i = 0; i < D; ++i) {
        auto high = p, low = p;
        high[i] += step;
        low[i] -= step;
        const auto above_p = shape.nearest(high), below_p = shape.nearest(low);
        gradient[i] = (above_p.distance - below_p.distance) / (high[i] - low[i]);
        bend = std::max({bend, norm(above_p.normal - normal), norm(below_p.normal - normal)});
      }
      if (bend > Real(0.2)) continue;  // across a ridge where two surface points are equally near
      ++smooth_count;
      // Each difference is a mean of the normal's component over the stencil; rounding adds eps / step.
      ASSERT_LE(norm(gradient - normal), Real(D) * bend + tolerance<Real>() * Real(10) / step) << text(p);
    }
    EXPECT_GT(smooth_count, point_count * 9 / 10);
  });
}

TYPED_TEST(EveryShape, DegeneratePointsHaveUnitNormals) {
  using Real = typename TypeParam::Real;
  this->for_random_shapes([]<int D>(const auto& shape, std::mt19937&) {
    // Center, axes, faces, edges and corners of the bounds, and coordinates whose squares vanish or overflow.
    const Bounds bounds = shape.bounds();
    const Real tiny = std::numeric_limits<Real>::min(), huge = Real(1) / (Real(8) * tiny);
    const Real close = std::numeric_limits<Real>::epsilon();
    int total = 1;
    constexpr int choices = 8;
    for (int i = 0; i < D; ++i) total *= choices;
    for (int code = 0; code < total; ++code) {
      Vec<Real, D> p;
      for (int i = 0, rest = code; i < D; ++i, rest /= choices) {
        const Real h = bounds.bounded ? Real(bounds.high[i]) : Real(1);
        const std::array<Real, choices> coordinate = {Real(0), h, -h, h * (1 + close), -h / 2, tiny, -tiny, huge};
        p[i] = coordinate[std::size_t(rest % choices)];
      }
      const auto s = shape.nearest(p);
      ASSERT_FALSE(std::isnan(s.distance)) << text(p);
      ASSERT_NEAR(norm(s.normal), 1, tolerance<Real>()) << text(p);
    }
  });
}

TYPED_TEST(EveryShape, VolumeMatchesMonteCarloOverBounds) {
  using Real = typename TypeParam::Real;
  this->for_random_shapes([]<int D>(const auto& shape, std::mt19937& random) {
    const Bounds bounds = shape.bounds();
    if (!bounds.bounded) {
      EXPECT_EQ(shape.volume(D), std::numeric_limits<double>::infinity());
      return;
    }
    // Bounds widened by a quarter, so that a shape sticking out of them is noticed too.
    double whole = 1;
    for (int i = 0; i < D; ++i) whole *= 1.25 * (bounds.high[i] - bounds.low[i]);
    constexpr int tries = 40000;
    int hits = 0;
    for (int k = 0; k < tries; ++k) {
      Vec<Real, D> p;
      bool within_bounds = true;
      for (int i = 0; i < D; ++i) {
        const double u = std::uniform_real_distribution<double>(-0.125, 1.125)(random);
        within_bounds = within_bounds && u > -1e-6 && u < 1 + 1e-6;
        p[i] = Real(bounds.low[i] + u * (bounds.high[i] - bounds.low[i]));
      }
      const bool hit = shape.nearest(p).distance < 0;
      hits += hit;
      ASSERT_TRUE(within_bounds || !hit) << text(p);
    }
    const double fraction = shape.volume(D) / whole;
    const double deviation = std::sqrt(fraction * (1 - fraction) / tries);
    EXPECT_NEAR(double(hits) / tries, fraction, 5 * deviation);
  });
}

TYPED_TEST(EveryShape, BoundsAreTight) {
  using Real = typename TypeParam::Real;
  this->for_random_shapes([]<int D>(const auto& shape, std::mt19937& random) {
    const Bounds bounds = shape.bounds();
    for (int i = 0; bounds.bounded && i < D; ++i) {
      for (const double side : {bounds.low[i], bounds.high[i]}) {
        // A whole slab just inside the bound must meet the shape, one just outside must not.
        int inside = 0, outside = 0;
        for (int k = 0; k < point_count; ++k) {
          auto p = random_point<Real, D>(random, 1);
          for (int j = 0; j < D; ++j) p[j] *= Real(bounds.high[j]);
          if (k == 0) p = Vec<Real, D>::zero();
          p[i] = Real(0.999 * side);
          inside += shape.nearest(p).distance < 0 ? 1 : 0;
          p[i] = Real(1.001 * side);
          outside += shape.nearest(p).distance < 0 ? 1 : 0;
        }
        EXPECT_GT(inside, 0);
        EXPECT_EQ(outside, 0);
      }
    }
  });
}

TYPED_TEST(EveryShape, ContactsAreTheViolatedSurfaces) {
  using Real = typename TypeParam::Real;
  this->for_random_shapes([]<int D>(const auto& shape, std::mt19937& random) {
    for (int k = 0; k < point_count; ++k) {
      const auto p = random_point<Real, D>(random, extent);
      const Real distance = shape.nearest(p).distance;
      for (const bool inside : {false, true}) {
        int count = 0;
        auto moved = p;
        shape.each_contact(p, inside, Real(0), [&](const SurfacePoint<Real, D>& s) {
          ++count;
          EXPECT_LE(s.distance, 0);
          EXPECT_NEAR(norm(s.normal), 1, tolerance<Real>());
          moved += s.normal * -s.distance;
        });
        ASSERT_EQ(count > 0, inside ? distance >= 0 : distance <= 0) << text(p);
        // Walls meet at right angles, so that leaving each by its own normal leaves them all.
        const Real violation = inside ? shape.nearest(moved).distance : -shape.nearest(moved).distance;
        ASSERT_LE(violation, 10 * tolerance<Real>()) << text(p);
      }
    }
  });
}

/// What an engine in float does with the shapes of a scene, which are read in double.
template <std::size_t I>
void check_conversion_one_by_one() {
  using Double = std::variant_alternative_t<I, PlainShape<double>>;
  using Float = std::variant_alternative_t<I, PlainShape<float>>;
  constexpr std::size_t count = sizeof(Double) / sizeof(double);
  static_assert(count == sizeof(Float) / sizeof(float));
  test::RandomParams params(7);
  const Double shape = Double::read(params);
  const auto numbers = std::bit_cast<std::array<double, count>>(shape);
  std::array<float, count> converted;
  for (std::size_t k = 0; k < count; ++k) converted[k] = float(numbers[k]);
  const auto same = std::bit_cast<Float>(converted);
  const Vec<double, 3> p{{0.3, -0.8, 1.1}};
  EXPECT_NEAR(same.nearest(cast<float>(p)).distance, shape.nearest(p).distance, 1e-6) << Double::name;
}

TEST(Shapes, ParametersConvertOneByOne) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (check_conversion_one_by_one<I>(), ...); }
  (std::make_index_sequence<std::variant_size_v<PlainShape<double>>>());
}

TEST(Shapes, NamesDiffer) {
  std::set<std::string> names;
  const auto add = [&]<class... Shapes>(const std::variant<Shapes...>*) { (names.insert(Shapes::name), ...); };
  add(static_cast<const PlainShape<float>*>(nullptr));
  EXPECT_EQ(names.size(), std::variant_size_v<PlainShape<float>>);
}

template <int D>
std::vector<SurfacePoint<double, D>> contacts(const auto& shape, const Vec<double, D>& p, bool inside,
                                              double slack = 0) {
  std::vector<SurfacePoint<double, D>> found;
  shape.each_contact(p, inside, slack, [&](const SurfacePoint<double, D>& s) { found.push_back(s); });
  return found;
}

TEST(Box, SlackCountsPointsJustBeforeAWall) {
  const Box<double> box{{{2, 2, 2}}};
  EXPECT_EQ(contacts<3>(box, {{1 - 1e-9, 0, 0}}, true).size(), 0u);
  EXPECT_EQ(contacts<3>(box, {{1 - 1e-9, 0, 0}}, true, 1e-6).size(), 1u);
  EXPECT_EQ(contacts<3>(box, {{1, 0, 0}}, true).size(), 1u);  // on the wall
  EXPECT_EQ(contacts<3>(box, {{1 + 1e-9, 0, 0}}, false).size(), 0u);
  EXPECT_EQ(contacts<3>(box, {{1 + 1e-9, 0, 0}}, false, 1e-6).size(), 1u);
}

TEST(Box, ContainerCornerIsThreeWalls) {
  const Box<double> box{{{2, 4, 6}}};
  const auto found = contacts<3>(box, {{1.1, -2.2, 3.3}}, true);
  ASSERT_EQ(found.size(), 3u);
  const double sign[3] = {-1, 1, -1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(found[std::size_t(i)].distance, -0.1 * (i + 1), 1e-15);
    for (int j = 0; j < 3; ++j) EXPECT_EQ(found[std::size_t(i)].normal[j], i == j ? sign[i] : 0);
  }
  EXPECT_EQ(contacts<3>(box, {{1.1, 0, 0}}, true).size(), 1u);
  EXPECT_EQ((contacts<2>(box, {{1.1, 2.1}}, true).size()), 2u);
  EXPECT_TRUE(contacts<3>(box, {{0.9, 1.9, 2.9}}, true).empty());
}

TEST(Box, OutsideOfCornerPointsDiagonally) {
  const auto s = Box<double>{{{2, 2, 2}}}.nearest(Vec<double, 3>{{2, -2, 2}});
  EXPECT_NEAR(s.distance, std::sqrt(3.0), 1e-15);
  EXPECT_NEAR(s.normal[1], -1 / std::sqrt(3.0), 1e-15);
}

TEST(Cylinder, ContainerRimIsSideAndCap) {
  const Cylinder<double> cylinder{1, 2};
  const auto found = contacts<3>(cylinder, {{0.9, 1.5, 1.2}}, true);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0].distance, -0.5, 1e-15);
  EXPECT_NEAR(found[0].normal[0], -0.6, 1e-15);
  EXPECT_NEAR(found[0].normal[2], -0.8, 1e-15);
  EXPECT_NEAR(found[1].distance, -0.5, 1e-15);
  EXPECT_EQ(found[1].normal[1], -1);
  EXPECT_EQ((contacts<2>(cylinder, {{-1.5, -1.5}}, true).size()), 2u);
}

TEST(Cylinder, KnownDistances) {
  const Cylinder<double> cylinder{1, 2};
  EXPECT_NEAR(cylinder.nearest(Vec<double, 3>{{2.4, 3, 3.2}}).distance, std::hypot(3, 2), 1e-14);
  EXPECT_NEAR(cylinder.nearest(Vec<double, 3>{{0, 0.9, 0}}).distance, -0.1, 1e-15);
  EXPECT_NEAR(cylinder.nearest(Vec<double, 2>{{-3, 0}}).distance, 2, 1e-15);
}

TEST(Capsule, KnownDistances) {
  const Capsule<double> capsule{0.5, 2};
  EXPECT_NEAR(capsule.nearest(Vec<double, 3>{{3, 5, 0}}).distance, 4.5, 1e-15);
  EXPECT_NEAR(capsule.nearest(Vec<double, 3>{{0, 0.5, 2}}).distance, 1.5, 1e-15);
  EXPECT_EQ(capsule.nearest(Vec<double, 2>{{0, 1}}).distance, -0.5);
}

TEST(Torus, DistanceIsThatToTheNearestPointOfTheTube) {
  const Torus<double> torus{0.7, 0.2};
  std::mt19937 random(3);
  for (int k = 0; k < 200; ++k) {
    const auto p = random_point<double, 3>(random, 1.5);
    double nearest = 1e300;  // of points all over the surface
    for (int i = 0; i < 400; ++i)
      for (int j = 0; j < 100; ++j) {
        const double a = 2 * 3.14159265358979 * i / 400, b = 2 * 3.14159265358979 * j / 100;
        const double r = 0.7 + 0.2 * std::cos(b);
        nearest = std::min(nearest, norm(p - Vec<double, 3>{{r * std::cos(a), 0.2 * std::sin(b), r * std::sin(a)}}));
      }
    const double distance = torus.nearest(p).distance;
    ASSERT_NEAR(std::abs(distance), nearest, 0.01);  // points are up to 0.014 apart
    ASSERT_LE(std::abs(distance), nearest + 1e-12);
  }
  EXPECT_NEAR(torus.nearest(Vec<double, 3>{{0, 0.3, 0}}).distance, std::hypot(0.7, 0.3) - 0.2, 1e-15);
  EXPECT_NEAR((torus.nearest(Vec<double, 2>{{-0.7, 0.5}}).distance), 0.3, 1e-15);
  EXPECT_LT(torus.nearest(Vec<double, 3>{{0, 0, -0.7}}).distance, 0);
}

/// Gives one vector, and remembers complaints.
class OneVector : public test::RandomParams {
 public:
  explicit OneVector(const Vec<double, 3>& value) : RandomParams(0), value_(value) {}
  Vec<double, 3> vector(const char*, const char*, const Range&, const char*, std::optional<Vec<double, 3>>) override {
    return value_;
  }

 private:
  Vec<double, 3> value_;
};

TEST(HalfSpace, NormalIsNormalized) {
  OneVector params(Vec<double, 3>{{0, 0, -1e-200}});
  EXPECT_EQ(HalfSpace<double>::read(params).normal[2], -1);
  EXPECT_TRUE(params.complaints.empty());
}

TEST(HalfSpace, NormalOfLengthZeroIsAMistake) {
  OneVector params(Vec<double, 3>::zero());
  EXPECT_EQ(HalfSpace<double>::read(params).normal[1], 1);
  ASSERT_EQ(params.complaints.size(), 1u);
  EXPECT_EQ(params.complaints[0], "normal: expected a direction, got a vector of length 0");
}

TEST(HalfSpace, DistanceInThePlaneOfATiltedOne) {
  const HalfSpace<double> tilted{{{0, 0.6, 0.8}}};
  EXPECT_NEAR(tilted.nearest(Vec<double, 3>{{1, 2, 0}}).distance, 1.2, 1e-15);
  EXPECT_NEAR((tilted.nearest(Vec<double, 2>{{1, 2}}).distance), 2, 1e-15);
}

}  // namespace
}  // namespace tribo
