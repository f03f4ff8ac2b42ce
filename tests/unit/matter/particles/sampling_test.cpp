#include "tribo/matter/particles/sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

double norm(const Vec3& v) { return std::sqrt(squared_norm(v)); }

const Pose turned_pose{{{0.3, -1.2, 2.5}}, rotation_matrix({{{1, 2, -1}}, 40})};
const Pose turned_in_plane{{{0.3, -1.2, 0}}, rotation_matrix({{{0, 0, 1}}, 40})};

bool same_bytes(const Samples& a, const Samples& b) {
  return a.positions.size() == b.positions.size() &&
         std::memcmp(a.positions.data(), b.positions.data(), a.positions.size() * sizeof(Vec3)) == 0;
}

/// Smallest distance between two points, by cells of edge `cell` >= that distance.
double smallest_distance(const std::vector<Vec3>& points, double cell) {
  std::map<std::array<int, 3>, std::vector<Vec3>> cells;
  const auto place = [&](const Vec3& p) {
    return std::array<int, 3>{int(std::floor(p[0] / cell)), int(std::floor(p[1] / cell)), int(std::floor(p[2] / cell))};
  };
  double smallest = std::numeric_limits<double>::infinity();
  for (const Vec3& p : points) {
    const auto at = place(p);
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k) {
          const auto found = cells.find({at[0] + i, at[1] + j, at[2] + k});
          if (found == cells.end()) continue;
          for (const Vec3& q : found->second) smallest = std::min(smallest, norm(p - q));
        }
    cells[at].push_back(p);
  }
  return smallest;
}

/// Every bounded shape, in both dimensions, sampled both ways.
using Setting = std::tuple<Shape<double>, int, Sampling>;

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  const auto add = [&]<class... Shapes>(const std::variant<Shapes...>*) {
    for (const int dimension : {2, 3}) {
      for (const Sampling sampling : {Sampling::jittered, Sampling::poisson}) {
        const auto add_one = [&](const auto& shape) {
          if (shape.bounds().bounded) settings.emplace_back(shape, dimension, sampling);
        };
        (add_one(Shapes{}), ...);
      }
    }
  };
  add(static_cast<const PlainShape<double>*>(nullptr));
  // A combination: a box with a dent on each side, so that its centroid stays.
  const auto ball = [](double x) {
    Compound::Part part{{}, SimpleShape(Sphere<double>{0.3})};
    part.placement.at[0] = x;
    return part;
  };
  const Compound::Part box{{}, SimpleShape(Box<double>{{{1, 1, 1}}})};
  const Compound dented(Operation::difference, 0.05, {box, ball(0.6), ball(-0.6)});
  for (const int dimension : {2, 3})
    for (const Sampling sampling : {Sampling::jittered, Sampling::poisson})
      settings.emplace_back(dented, dimension, sampling);
  return settings;
}

class EverySampling : public ::testing::TestWithParam<Setting> {
 protected:
  const Shape<double>& shape() const { return std::get<0>(GetParam()); }
  int dimension() const { return std::get<1>(GetParam()); }
  const Pose& pose() const { return dimension() == 2 ? turned_in_plane : turned_pose; }
  double dx() const { return dimension() == 2 ? 0.025 : 0.08; }
  Samples sampled(std::int64_t seed) const {
    return sample_shape(shape(), pose(), dx(), particles_per_cell, std::get<2>(GetParam()), seed, dimension());
  }
  double expected() const { return expected_count(shape(), dx(), particles_per_cell, dimension()); }

  static constexpr double particles_per_cell = 6;
};

TEST_P(EverySampling, CountMatchesTheDensity) {
  EXPECT_NEAR(double(sampled(1).positions.size()) / expected(), 1, 0.05);
}

TEST_P(EverySampling, VolumeIsExact) {
  const Samples samples = sampled(1);
  const double volume = std::visit([&](const auto& s) { return s.volume(dimension()); }, shape());
  EXPECT_NEAR(samples.volume_each * double(samples.positions.size()), volume, 1e-12 * volume);
}

TEST_P(EverySampling, AllPointsAreInside) {
  for (const Vec3& p : sampled(1).positions) {
    const Vec3 local = transpose(pose().rotation) * (p - pose().at);
    const double distance = std::visit(
        [&](const auto& s) {
          return dimension() == 2 ? s.nearest(Vec<double, 2>{{local[0], local[1]}}).distance
                                  : s.nearest(local).distance;
        },
        shape());
    ASSERT_LT(distance, 1e-14);
    ASSERT_TRUE(dimension() == 3 || std::abs(local[2]) < 1e-14);
  }
}

TEST_P(EverySampling, CenterOfMassIsTheCentroid) {
  const Samples samples = sampled(1);
  Vec3 center = Vec3::zero();
  for (const Vec3& p : samples.positions) center += p * (1 / double(samples.positions.size()));
  // Independent points would deviate by about 0.3 extent / sqrt(count); both samplings are more even than that.
  EXPECT_LT(norm(center - pose().at), 0.5 / std::sqrt(double(samples.positions.size())));
}

TEST_P(EverySampling, SeedDecidesEveryByte) {
  EXPECT_TRUE(same_bytes(sampled(1), sampled(1)));
  EXPECT_FALSE(same_bytes(sampled(1), sampled(2)));
  EXPECT_FALSE(same_bytes(sampled(0), sampled(-1)));
}

TEST_P(EverySampling, PointsKeepApart) {
  const double spacing = dx() / std::pow(particles_per_cell, 1.0 / dimension());
  const bool poisson = std::get<2>(GetParam()) == Sampling::poisson;
  // Jittered points may come as near as half a spacing; a Poisson-disk set of this density keeps 0.78 in two
  // dimensions and 0.83 in three.
  const double apart = poisson ? (dimension() == 2 ? 0.78 : 0.83) * spacing : 0.48 * spacing;
  EXPECT_GT(smallest_distance(sampled(1).positions, spacing), apart);
}

std::string setting_name(const ::testing::TestParamInfo<Setting>& info) {
  const auto& [shape, dimension, sampling] = info.param;
  const std::string name = std::visit([](const auto& s) { return std::string(s.name); }, shape);
  return name + "_" + std::to_string(dimension) + "d" + (sampling == Sampling::jittered ? "_jittered" : "_poisson");
}
INSTANTIATE_TEST_SUITE_P(Shapes, EverySampling, ::testing::ValuesIn(all_settings()), setting_name);

TEST(JitteredSampling, BoxOfWholeCellsIsExact) {
  const Box<double> box{{{0.4, 0.3, 0.2}}};
  EXPECT_EQ(sample_shape(box, {}, 0.02, 8, Sampling::jittered, 0, 3).positions.size(), 40u * 30u * 20u);
  EXPECT_EQ(sample_shape(box, {}, 0.02, 4, Sampling::jittered, 0, 2).positions.size(), 40u * 30u);
  EXPECT_EQ(sample_shape(box, {}, 0.1, 27, Sampling::jittered, 0, 3).positions.size(), 12u * 9u * 6u);
}

TEST(JitteredSampling, EveryLatticeCellHasOnePoint) {
  const Box<double> box{{{0.4, 0.3, 0.2}}};
  const Samples samples = sample_shape(box, {}, 0.02, 8, Sampling::jittered, 3, 3);
  std::vector<int> count(40 * 30 * 20);
  for (const Vec3& p : samples.positions) {
    const int i = int((p[0] + 0.2) / 0.01), j = int((p[1] + 0.15) / 0.01), k = int((p[2] + 0.1) / 0.01);
    ++count[std::size_t((i * 30 + j) * 20 + k)];
  }
  EXPECT_TRUE(std::all_of(count.begin(), count.end(), [](int n) { return n == 1; }));
}

/// The numbers themselves are part of the contract: a change here changes every scene's first frame.
TEST(JitteredSampling, NumbersAreTheSameOnEveryPlatform) {
  const Box<double> box{{{4, 4, 4}}};
  const Samples samples = sample_shape(box, {}, 2, 1, Sampling::jittered, 42, 3);
  ASSERT_EQ(samples.positions.size(), 8u);
  EXPECT_EQ(samples.positions[0][0], -0x1.9ac24d5f0f214p-1);
  EXPECT_EQ(samples.positions[7][2], 0x1.45b5d5a05379cp+0);
}

TEST(PoissonSampling, DensityHoldsForSmallShapes) {
  // A cube of 27 particles has most of them at its surface. Averaged over seeds, because single counts scatter.
  const Box<double> box{{{0.3, 0.3, 0.3}}};
  double mean = 0;
  for (int seed = 0; seed < 100; ++seed) {
    mean += double(sample_shape(box, {}, 0.1, 1, Sampling::poisson, seed, 3).positions.size()) / 100;
  }
  EXPECT_NEAR(mean / 27, 1, 0.05);
}

TEST(PoissonSampling, TimeIsLinear) {
  const auto seconds = [](double edge) {
    const Box<double> box{{{edge, edge, edge}}};
    const auto start = std::chrono::steady_clock::now();
    const auto count = sample_shape(box, {}, 1, 1, Sampling::poisson, 0, 3).positions.size();
    EXPECT_GT(count, 0u);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(10);
  // 27 times the points: linear is 27 times the time, quadratic 729.
  EXPECT_LT(seconds(36), 150 * seconds(12));
}

TEST(PoissonSampling, SparseShapesAreFilled) {
  // Four balls in so wide bounds that no random point of these hits one.
  const SimpleShape ball = Sphere<double>{0.1};
  std::vector<Compound::Part> parts;
  for (const Vec<double, 3>& at :
       {Vec<double, 3>{{0, 0, 0}}, Vec<double, 3>{{4, 0, 0}}, Vec<double, 3>{{0, 4, 0}}, Vec<double, 3>{{0, 0, 4}}})
    parts.push_back({{at}, ball});
  const Compound balls(Operation::unite, 0, parts);
  const Samples samples = sample_shape(balls, {}, 0.1, 8, Sampling::poisson, 0, 3);
  const double expected = 4 * Sphere<double>{0.1}.volume(3) / 1e-3 * 8;
  EXPECT_NEAR(static_cast<double>(samples.positions.size()), expected, 0.2 * expected);
}

TEST(Sampling, ThinShapesGetNoParticles) {
  const Box<double> sheet{{{1, 0.004, 1}}};
  for (const Sampling sampling : {Sampling::jittered, Sampling::poisson}) {
    const Samples none = sample_shape(sheet, {}, 0.02, 8, sampling, 0, 3);
    EXPECT_TRUE(none.positions.empty());
    EXPECT_EQ(none.volume_each, 0);
    // A sheet of one layer still gets its layer.
    const Box<double> layer{{{1, 0.0101, 1}}};
    EXPECT_FALSE(sample_shape(layer, {}, 0.02, 8, sampling, 0, 3).positions.empty());
  }
}

TEST(Sampling, HalfSpaceCannotBeFilled) {
  EXPECT_THROW(sample_shape(HalfSpace<double>{}, {}, 0.1, 8, Sampling::jittered, 0, 3), Error);
}

TEST(Sampling, ExpectedCountOfAbsurdSizesIsOnlyANumber) {
  const Box<double> box{{{1e12, 1e12, 1e12}}};
  EXPECT_NEAR(expected_count(box, 1e-3, 8, 3) / 8e45, 1, 1e-12);
  EXPECT_NEAR(expected_count(box, 1e-3, 8, 2) / 8e30, 1, 1e-12);
  EXPECT_EQ(expected_count(HalfSpace<double>{}, 1, 8, 3), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace tribo
