#include "tribo/plot/thin.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tribo {
namespace {

TEST(Thin, KeepsShortCurvesWhole) {
  const std::vector<double> values = {3, 1, NAN, 2};
  EXPECT_EQ(thin(values, 10), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(thin(std::vector<double>{}, 10).empty());
}

TEST(Thin, KeepsSpikesGapsAndEnds) {
  std::vector<double> values(100'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(1e-3 * double(i));
  for (const bool with_gap : {false, true}) {
    values[31'234] = 50;
    values[31'235] = -50;
    values[99'998] = 7;
    if (with_gap) values[70'000] = NAN;
    const std::vector<std::size_t> kept = thin(values, 2000);
    EXPECT_LE(kept.size(), 2000u);
    EXPECT_GE(kept.size(), 1000u);
    EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end(), std::less_equal<>()));
    for (const std::size_t i : {0, 31'234, 31'235, 99'998, 99'999})
      EXPECT_TRUE(std::binary_search(kept.begin(), kept.end(), i)) << i;
    EXPECT_EQ(std::binary_search(kept.begin(), kept.end(), std::size_t{70'000}), with_gap);
  }
}

TEST(Thin, TakesCurvesOfNothingFinite) {
  const std::vector<double> values(5000, NAN);
  const std::vector<std::size_t> kept = thin(values, 100);
  EXPECT_LE(kept.size(), 100u);
  EXPECT_EQ(kept.front(), 0u);
  EXPECT_EQ(kept.back(), 4999u);
}

}  // namespace
}  // namespace tribo
