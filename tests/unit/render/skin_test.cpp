#include "tribo/render/skin.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <set>

/// \file
/// Promise: the skin of any cloud of points is closed, faces outward, holds the volume the points stand for, and is the
/// same to the byte on any number of threads.

namespace tribo {
namespace {

using V = Vec<float, 3>;
constexpr float spacing = 0.1F;

/// One jittered point a cell of a lattice, where `inside` says so.
template <class Inside>
std::vector<V> cloud(int reach, const Inside& inside, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> jitter(0.0F, 1.0F);
  std::vector<V> points;
  for (int i = -reach; i < reach; ++i)
    for (int j = -reach; j < reach; ++j)
      for (int k = -reach; k < reach; ++k) {
        const float x = jitter(random), y = jitter(random), z = jitter(random);
        const V p{{spacing * (static_cast<float>(i) + x), spacing * (static_cast<float>(j) + y),
                   spacing * (static_cast<float>(k) + z)}};
        if (inside(p)) points.push_back(p);
      }
  return points;
}
std::vector<V> ball(float radius, const V& center, unsigned seed = 1) {
  std::vector<V> points = cloud(
      static_cast<int>(radius / spacing) + 2, [&](const V& p) { return squared_norm(p) < radius * radius; }, seed);
  for (V& p : points) p += center;
  return points;
}

double volume(const Skin& skin) {
  double sum = 0;
  for (const auto& t : skin.triangles)
    sum += dot(cast<double>(skin.vertices[t[0]]),
               cross(cast<double>(skin.vertices[t[1]]), cast<double>(skin.vertices[t[2]]))) /
           6;
  return sum;
}

/// Each edge is walked once in each direction: the surface has no border and no place where it turns inside out.
void expect_closed(const Skin& skin) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> walked;
  for (const auto& t : skin.triangles)
    for (int k = 0; k < 3; ++k) {
      ASSERT_LT(t[k], skin.vertices.size());
      ASSERT_NE(t[k], t[(k + 1) % 3]);
      ++walked[{t[k], t[(k + 1) % 3]}];
    }
  for (const auto& [edge, count] : walked) {
    ASSERT_EQ(count, 1);
    ASSERT_EQ(walked.count({edge.second, edge.first}), 1U);
  }
  for (const V& v : skin.vertices)
    for (int k = 0; k < 3; ++k) ASSERT_TRUE(std::isfinite(v[k]));
}

int components(const Skin& skin) {
  std::vector<std::uint32_t> parent(skin.vertices.size());
  std::iota(parent.begin(), parent.end(), 0U);
  const auto root = [&](std::uint32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const auto& t : skin.triangles)
    for (int k = 0; k < 3; ++k) parent[root(t[k])] = root(t[(k + 1) % 3]);
  std::set<std::uint32_t> roots;
  for (const auto& t : skin.triangles) roots.insert(root(t[0]));
  return static_cast<int>(roots.size());
}

TEST(Skin, OfABallIsClosedAndHoldsItsVolume) {
  for (const float radius : {0.6F, 1.0F}) {
    const Skin skin = skin_around(ball(radius, {{0.3F, -7.1F, 2.0F}}), spacing);
    expect_closed(skin);
    EXPECT_EQ(components(skin), 1);
    const double expected = 4.0 / 3 * std::numbers::pi * std::pow(radius, 3);
    EXPECT_NEAR(volume(skin) / expected, 1, 0.15) << radius;
    for (const V& v : skin.vertices)
      EXPECT_NEAR(std::sqrt(squared_norm(v - V{{0.3F, -7.1F, 2.0F}})), radius, 0.8F * spacing);
  }
}

/// Edges may belong to four triangles where sheets meet, but each is walked as often in one direction as in the other.
void expect_no_border(const Skin& skin) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> balance;
  for (const auto& t : skin.triangles)
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      balance[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  for (const auto& [edge, sum] : balance) ASSERT_EQ(sum, 0);
}

TEST(Skin, OfABoxHoldsItsVolumeAndNoHollow) {
  const auto points =
      cloud(8, [](const V& p) { return std::abs(p[0]) < 0.7F && std::abs(p[1]) < 0.3F && std::abs(p[2]) < 0.4F; });
  const Skin skin = skin_around(points, spacing);
  expect_no_border(skin);
  EXPECT_EQ(components(skin), 1);
  EXPECT_NEAR(volume(skin) / (1.4 * 0.6 * 0.8), 1, 0.15);
}

TEST(Skin, OfALonePointIsASmallBall) {
  for (const V& at : {V{{0, 0, 0}}, V{{12.3F, -4.56F, 0.789F}}}) {
    const Skin skin = skin_around(std::vector<V>{at}, spacing);
    expect_closed(skin);
    EXPECT_EQ(components(skin), 1);
    EXPECT_GT(volume(skin), 0.2 * std::pow(spacing, 3));
    EXPECT_LT(volume(skin), 2.0 * std::pow(spacing, 3));
    for (const V& v : skin.vertices) {
      EXPECT_LT(squared_norm(v - at), spacing * spacing);
      EXPECT_GT(squared_norm(v - at), 0.1F * spacing * spacing);
    }
  }
}

TEST(Skin, OfAThreadIsAThreadAllAlong) {
  std::vector<V> points;
  for (int i = 0; i < 40; ++i) points.push_back({{spacing * static_cast<float>(i), 0.013F, 0}});
  const Skin skin = skin_around(points, spacing);
  expect_closed(skin);
  EXPECT_EQ(components(skin), 1);
  EXPECT_GT(volume(skin), 0.3 * 40 * std::pow(spacing, 3));
  EXPECT_LT(volume(skin), 1.5 * 40 * std::pow(spacing, 3));
}

TEST(Skin, OfTwoClustersIsInTwoPieces) {
  std::vector<V> points = ball(0.4F, {{0, 0, 0}});
  for (const V& p : ball(0.3F, {{2, 0, 0}}, 2)) points.push_back(p);
  const Skin skin = skin_around(points, spacing);
  expect_closed(skin);
  EXPECT_EQ(components(skin), 2);
}

// Splashes: crests, threads and drops, where one vertex a cube is too few for every sheet to have its own.
TEST(Skin, OfASplashHasNoBorder) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> scatter(0, 0.4F);
    std::vector<V> points;
    for (int i = 0; i < 600; ++i) points.push_back({{scatter(random), scatter(random), scatter(random)}});
    const Skin skin = skin_around(points, spacing);
    expect_no_border(skin);
    EXPECT_GT(volume(skin), 0);
  }
}

TEST(Skin, OfNothingIsNothing) {
  const Skin skin = skin_around({}, spacing);
  EXPECT_TRUE(skin.vertices.empty());
  EXPECT_TRUE(skin.triangles.empty());
}

TEST(Skin, PassesOverPointsThatFlewOff) {
  constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<V> good = ball(0.3F, {{0, 0, 0}});
  const Skin expected = skin_around(good, spacing);
  std::vector<V> points = good;
  for (const V& bad :
       {V{{inf, 0, 0}}, V{{0, -inf, 0}}, V{{nan, nan, nan}}, V{{0, 0, nan}}, V{{3e38F, 0, 0}}, V{{0, 1e30F, -1e30F}}})
    points.push_back(bad);
  const Skin skin = skin_around(points, spacing);
  EXPECT_EQ(skin.triangles.size(), expected.triangles.size());
  EXPECT_EQ(skin.vertices.size(), expected.vertices.size());
  EXPECT_TRUE(skin_around(std::vector<V>{{{nan, 0, 0}}}, spacing).triangles.empty());
  // Far apart but countable: cost goes with the points, not with the space between.
  const Skin apart = skin_around(std::vector<V>{{{0, 0, 0}}, {{2e4F, 0, 0}}, {{0, -2e4F, 2e4F}}}, spacing);
  EXPECT_EQ(components(apart), 3);
}

TEST(Skin, ManyPointsInOnePlaceAreOne) {
  const Skin skin = skin_around(std::vector<V>(1000, {{1, 2, 3}}), spacing);
  expect_closed(skin);
  EXPECT_EQ(components(skin), 1);
}

TEST(Skin, IsTheSameOnAnyNumberOfThreads) {
  std::vector<V> points = ball(0.9F, {{0, 0, 0}});
  for (const V& p : ball(0.5F, {{1.2F, 0.3F, 0}}, 2)) points.push_back(p);
  const auto made_on = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return skin_around(points, spacing);
  };
  const Skin one = made_on(1);
  ASSERT_FALSE(one.vertices.empty());
  for (const std::size_t threads : {2U, 3U}) {
    const Skin many = made_on(threads);
    ASSERT_EQ(many.vertices.size(), one.vertices.size());
    ASSERT_EQ(many.triangles.size(), one.triangles.size());
    EXPECT_EQ(std::memcmp(many.vertices.data(), one.vertices.data(), one.vertices.size() * sizeof(V)), 0);
    EXPECT_EQ(std::memcmp(many.triangles.data(), one.triangles.data(), one.triangles.size() * sizeof(one.triangles[0])),
              0);
  }
}

}  // namespace
}  // namespace tribo
