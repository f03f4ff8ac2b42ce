#include "tribo/render/sampler.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

/// \file
/// Promise: the samples of a pixel are spread evenly, from the first on, and pixels are independent.

namespace tribo {
namespace {

/// Set number `purpose` of sample `sample`.
std::array<float, 4> numbers(std::uint32_t pixel, std::uint32_t sample, int purpose) {
  Sampler sampler(pixel, sample);
  std::array<float, 4> values{};
  for (int i = 0; i <= purpose; ++i) values = sampler.next();
  return values;
}

constexpr std::array<std::uint32_t, 5> pixels{0, 1, 2, 921599, 268435455};

TEST(Sampler, EachNumberFallsOnceInEachStratum) {
  for (const std::uint32_t pixel : pixels)
    for (const std::uint32_t count : {1U, 2U, 4U, 16U, 64U, 256U, 1024U})
      for (int purpose = 0; purpose < 6; ++purpose) {
        std::array<std::vector<int>, 4> hits;
        for (auto& of_one : hits) of_one.assign(count, 0);
        for (std::uint32_t s = 0; s < count; ++s) {
          const std::array<float, 4> u = numbers(pixel, s, purpose);
          for (std::size_t d = 0; d < 4; ++d) {
            ASSERT_GE(u[d], 0.0F);
            ASSERT_LT(u[d], 1.0F);
            ++hits[d][static_cast<std::size_t>(u[d] * static_cast<float>(count))];
          }
        }
        for (std::size_t d = 0; d < 4; ++d)
          ASSERT_EQ(hits[d], std::vector<int>(count, 1)) << pixel << " " << count << " " << purpose << " " << d;
      }
}

// Of Sobol's first two dimensions, every division of the square in 2^i times 2^j equal rectangles is hit evenly.
TEST(Sampler, TheFirstPairIsEvenInTheSquare) {
  for (const std::uint32_t pixel : pixels)
    for (const int columns : {1, 2, 4, 8, 16, 32, 64}) {
      const int rows = 64 / columns;
      std::vector<int> hits(64, 0);
      for (std::uint32_t s = 0; s < 64; ++s) {
        const auto u = numbers(pixel, s, 1);
        ++hits[static_cast<std::size_t>(static_cast<int>(u[0] * static_cast<float>(columns)) * rows +
                                        static_cast<int>(u[1] * static_cast<float>(rows)))];
      }
      EXPECT_EQ(hits, std::vector<int>(64, 1)) << pixel << " " << columns;
    }
}

TEST(Sampler, PixelsAndPurposesDiffer) {
  std::set<std::array<float, 4>> seen;
  for (std::uint32_t pixel = 0; pixel < 200; ++pixel)
    for (int purpose = 0; purpose < 5; ++purpose) seen.insert(numbers(pixel, 0, purpose));
  EXPECT_EQ(seen.size(), 1000U);
}

// Were neighbors alike in their order, noise would show as a pattern.
TEST(Sampler, NeighborsAreUncorrelated) {
  double sum = 0;
  constexpr int count = 20000;
  for (std::uint32_t pixel = 0; pixel < count; ++pixel)
    sum += (numbers(pixel, 0, 0)[0] - 0.5) * (numbers(pixel + 1, 0, 0)[0] - 0.5);
  EXPECT_NEAR(12 * sum / count, 0, 5 / std::sqrt(count));  // five standard deviations
}

TEST(Directions, AreUnitVectorsOnTheirSide) {
  for (const Vec<float, 3>& n : {Vec<float, 3>{{0, 0, 1}}, Vec<float, 3>{{0, 0, -1}}, Vec<float, 3>{{1, 0, 0}},
                                 Vec<float, 3>{{0.6F, -0.8F, 0}}, Vec<float, 3>{{0.48F, 0.6F, -0.64F}}}) {
    double mean = 0;
    for (std::uint32_t s = 0; s < 1024; ++s) {
      const auto u = numbers(3, s, 0);
      const Vec<float, 3> d = cosine_direction(n, u[0], u[1]), c = cone_direction(n, 0.9F, u[2], u[3]);
      EXPECT_NEAR(squared_norm(d), 1, 1e-5);
      EXPECT_NEAR(squared_norm(c), 1, 1e-5);
      EXPECT_GE(dot(d, n), -1e-6F);
      EXPECT_GE(dot(c, n), 0.9F - 1e-6F);
      mean += dot(d, n) / 1024;
    }
    EXPECT_NEAR(mean, 2.0 / 3, 1e-3);  // of a cosine with density cos / pi
  }
}

}  // namespace
}  // namespace tribo
