#include "tribo/matter/particles/emission.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;
constexpr double pi = std::numbers::pi;

Silhouette<3> seen(const Shape<double>& shape, const Vec3& along) {
  return Silhouette<3>(shape, length_and_direction(along).normal);
}

TEST(Silhouette, HasTheAreaOfTheShapesShadow) {
  const Shape<double> box = Box<double>{{{0.4, 0.2, 0.3}}}, sphere = Sphere<double>{0.7},
                      cylinder = Cylinder<double>{0.2, 0.5};
  EXPECT_DOUBLE_EQ(seen(box, {{0, -1, 0}}).area(), 0.4 * 0.3);
  EXPECT_DOUBLE_EQ(seen(box, {{1, 0, 0}}).area(), 0.2 * 0.3);
  // Each face by the cosine of its angle.
  EXPECT_NEAR(seen(box, {{1, 2, 2}}).area(), (0.06 + 2 * 0.12 + 2 * 0.08) / 3, 1e-3 * 0.15);
  for (const Vec3& along : {Vec3{{1, 0, 0}}, Vec3{{1, -2, 3}}})
    EXPECT_NEAR(seen(sphere, along).area(), pi * 0.49, 1e-3 * pi * 0.49);
  EXPECT_NEAR(seen(cylinder, {{0, 1, 0}}).area(), pi * 0.04, 1e-3 * pi * 0.04);
  EXPECT_NEAR(seen(cylinder, {{0, 0, 1}}).area(), 0.4 * 0.5, 1e-3 * 0.2);
  EXPECT_NEAR(Silhouette<2>(box, {{0.6, 0.8}}).area(), 0.4 * 0.8 + 0.2 * 0.6, 1e-3);
  EXPECT_NEAR(Silhouette<2>(sphere, {{0.6, 0.8}}).area(), 1.4, 1e-3);
}

TEST(Silhouette, KnowsWhereLinesEnter) {
  const Silhouette<3> sphere = seen(Sphere<double>{0.5}, {{0, 0, 1}});
  for (const double q : {0.0, 0.1, 0.3, 0.49}) {
    const auto line = sphere.meet({{q, 0, 0}});
    EXPECT_TRUE(line.meets);
    EXPECT_NEAR(line.entry, -std::sqrt(0.25 - q * q), 1e-6) << q;
    EXPECT_NEAR(sphere.in_shape_frame({{q, 0, line.entry}})[2], line.entry, 1e-15);
  }
  EXPECT_FALSE(sphere.meet({{0.4, 0.4, 0}}).meets);
  EXPECT_FALSE(sphere.meet({{0.51, 0, 0}}).meets);
}

EmitterModel emitter(Sampling sampling, double share) {
  EmitterModel e;
  e.shape = Box<double>{{{0.3, 0.1, 0.2}}};
  e.pose = {{{1, 2, 3}}, rotation_matrix({{{1, 1, 0}}, 50})};
  e.velocity = e.pose.rotation * Vec3{{0, 2, 0}};
  e.dx = 0.04;
  e.sampling = sampling;
  e.seed = 7;
  e.when.from = 0.5;
  if (share < 1) e.when.volume_rate = share * 0.3 * 0.2 * 2;
  return e;
}

std::vector<Vec3> places(Jet<3>& jet, std::int64_t k, double time) {
  std::vector<Vec3> r;
  const auto layer = jet.layer(k);
  for (const auto* p = layer.begin; p != layer.end; ++p) r.push_back(jet.position(*p, time));
  return r;
}

TEST(Jet, LayersDependOnTheirNumberAlone) {
  for (const Sampling sampling : {Sampling::jittered, Sampling::poisson}) {
    Jet<3> one(emitter(sampling, 1)), other(emitter(sampling, 1));
    for (std::int64_t k = 0; k < 40; ++k) one.layer(k);
    for (const std::int64_t k : {37, 2, 20, 37}) {
      const std::vector<Vec3> a = places(one, k, 3), b = places(other, k, 3);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(squared_norm(a[i] - b[i]), 0);
    }
  }
}

TEST(Jet, ALayerIsDueWhenAllOfItHasEntered) {
  const EmitterModel e = emitter(Sampling::jittered, 1);
  Jet<3> jet(e);
  const double spacing = 0.02;  // dx / 8^(1/3)
  EXPECT_EQ(jet.layers_due(0), 0);
  EXPECT_EQ(jet.layers_due(0.5), 0);
  for (const std::int64_t k : {1, 2, 17, 400}) {
    const double due = 0.5 + static_cast<double>(k) * spacing / 2;
    EXPECT_EQ(jet.layers_due(due + 1e-6), k);
    EXPECT_EQ(jet.layers_due(due - 1e-6), k - 1);
    for (const Vec3& x : places(jet, k - 1, due)) {
      const Vec3 local = transpose(e.pose.rotation) * (x - e.pose.at);
      EXPECT_GE(local[1], -0.05 - 1e-9);
      EXPECT_LE(local[1], -0.05 + spacing + 1e-9);
      EXPECT_LT(std::abs(local[0]), 0.15);
      EXPECT_LT(std::abs(local[2]), 0.1);
    }
  }
}

TEST(Jet, HasNoClumpsAndNoGaps) {
  Jet<3> jet(emitter(Sampling::jittered, 1));
  std::vector<Vec3> all;
  double volume = 0;
  for (std::int64_t k = 0; k < 36; ++k) {  // across the seams of blocks
    for (const Vec3& x : places(jet, k, 2)) all.push_back(x);
    const auto layer = jet.layer(k);
    EXPECT_EQ(layer.end - layer.begin, 15 * 10);
    volume += static_cast<double>(layer.end - layer.begin) * layer.volume_each;
  }
  EXPECT_NEAR(volume, 36 * 0.02 * 0.3 * 0.2, 1e-12);
  double closest = 1;
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = std::max<std::size_t>(i, 450) - 450; j < i; ++j)
      closest = std::min(closest, squared_norm(all[i] - all[j]));
  EXPECT_GE(std::sqrt(closest), 0.01 - 1e-9);
}

TEST(Jet, ThinsEvenly) {
  Jet<3> jet(emitter(Sampling::jittered, 0.25));
  EXPECT_NEAR(jet.share(), 0.25, 1e-12);
  std::vector<std::int32_t> which, same, another;
  jet.thin(5, 1000, 250, which);
  jet.thin(5, 1000, 250, same);
  jet.thin(6, 1000, 250, another);
  EXPECT_EQ(which, same);
  EXPECT_NE(which, another);
  ASSERT_EQ(which.size(), 250u);
  EXPECT_TRUE(std::is_sorted(which.begin(), which.end()));
  EXPECT_EQ(std::adjacent_find(which.begin(), which.end()), which.end());
  // A quarter of every hundred, give or take four standard deviations of the hypergeometric distribution.
  for (int part = 0; part < 10; ++part) {
    const auto in_part = [&](std::int32_t i) { return i / 100 == part; };
    EXPECT_NEAR(static_cast<double>(std::count_if(which.begin(), which.end(), in_part)), 25, 17);
  }
  jet.thin(5, 10, 10, which);
  EXPECT_EQ(which.size(), 10u);
}

}  // namespace
}  // namespace tribo
