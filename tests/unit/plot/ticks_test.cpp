#include "tribo/plot/ticks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tribo {
namespace {

std::vector<std::string> labels(const Ticks& axis) {
  std::vector<std::string> all;
  for (const Tick& tick : axis.ticks)
    if (!tick.label.empty()) all.push_back(tick.label);
  return all;
}

using Labels = std::vector<std::string>;

TEST(Ticks, StepsAreOneTwoOrFive) {
  EXPECT_DOUBLE_EQ(nice_step(1), 1);
  EXPECT_DOUBLE_EQ(nice_step(1.01), 2);
  EXPECT_DOUBLE_EQ(nice_step(0.03), 0.05);
  EXPECT_DOUBLE_EQ(nice_step(700), 1000);
  EXPECT_DOUBLE_EQ(nice_step(6e-120), 1e-119);
  for (int e = -100; e <= 100; ++e) EXPECT_NEAR(nice_step(std::pow(10.0, e)) / std::pow(10.0, e), 1, 1e-12) << e;
}

TEST(Ticks, LinearAxisCoversTheDataInRoundNumbers) {
  EXPECT_EQ(labels(linear_ticks(0, 243, 5, TickRange::to_ticks)), (Labels{"0", "50", "100", "150", "200", "250"}));
  EXPECT_EQ(labels(linear_ticks(-0.13, 0.29, 4, TickRange::to_ticks)), (Labels{"−0.2", "0.0", "0.2", "0.4"}));
  const Ticks exact = linear_ticks(0.3, 1.7, 4, TickRange::exact);
  EXPECT_EQ(labels(exact), (Labels{"0.5", "1.0", "1.5"}));
  EXPECT_EQ(exact.low, 0.3);
  EXPECT_EQ(exact.high, 1.7);
}

TEST(Ticks, DataStaysOffTheEndsUnlessTheyAreZero) {
  const Ticks axis = linear_ticks(0, 30, 3, TickRange::to_ticks);
  EXPECT_EQ(axis.low, 0);
  EXPECT_EQ(axis.high, 40);
}

TEST(Ticks, AnyRangeGivesAnAxis) {
  for (const double scale : {1e-140, 1e-9, 1.0, 3.7e5, 1e140}) {
    for (const auto& [low, high] : {std::pair{0.0, 0.0}, {1.0, 1.0}, {-1.0, 1.0}, {-2.0, -2.0}, {1.0, 1 + 1e-15}}) {
      for (const TickRange range : {TickRange::exact, TickRange::to_ticks}) {
        const Ticks axis = linear_ticks(scale * low, scale * high, 6, range);
        EXPECT_LE(axis.low, scale * low);
        EXPECT_GE(axis.high, scale * high);
        EXPECT_LT(axis.low, axis.high);
        EXPECT_GE(axis.ticks.size(), 2u);
        EXPECT_LE(axis.ticks.size(), 12u);
        for (const Tick& tick : axis.ticks) EXPECT_TRUE(std::isfinite(tick.value));
      }
    }
  }
}

TEST(Ticks, LogAxisLabelsWhatThereIsRoomFor) {
  EXPECT_EQ(labels(log_ticks(1.5, 65, 6, false)), (Labels{"1", "2", "5", "10", "20", "50"}));
  EXPECT_EQ(labels(log_ticks(110, 290, 5, false)), (Labels{"100", "150", "200", "250", "300"}));
  EXPECT_EQ(labels(log_ticks(2e-7, 3e-4, 5, true)), (Labels{"10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴"}));
  EXPECT_EQ(labels(log_ticks(0.03, 0.11, 4, false)), (Labels{"0.02", "0.05", "0.1", "0.2"}));
}

TEST(Ticks, AnyLogRangeGivesAnAxis) {
  for (const double low : {1e-140, 0.99, 1.0, 7.3, 1e10}) {
    for (const double ratio : {1.0, 1.0001, 2.0, 10.0, 1e3, 1e9, 1e120}) {
      for (const bool scientific : {false, true}) {
        const Ticks axis = log_ticks(low, low * ratio, 6, scientific);
        EXPECT_GT(axis.low, 0);
        EXPECT_LE(axis.low, low * (1 + 1e-8));
        EXPECT_GE(axis.high, low * ratio * (1 - 1e-8));
        EXPECT_LT(axis.low, axis.high);
        EXPECT_GE(labels(axis).size(), 1u) << low << " " << ratio;
        EXPECT_LE(labels(axis).size(), 9u) << low << " " << ratio;
        EXPECT_LE(axis.ticks.size(), 60u);
      }
    }
  }
}

TEST(Ticks, UnitsTakePrefixesOrPowers) {
  EXPECT_EQ(unit_scale(3, "J").unit, "J");
  EXPECT_EQ(unit_scale(0.5, "J").unit, "J");
  EXPECT_EQ(unit_scale(9999, "J").unit, "J");
  EXPECT_EQ(unit_scale(0, "J").unit, "J");
  EXPECT_EQ(unit_scale(-2e5, "J").unit, "kJ");
  EXPECT_EQ(unit_scale(-2e5, "J").factor, 1e3);
  EXPECT_EQ(unit_scale(2e-5, "s").unit, "µs");
  EXPECT_DOUBLE_EQ(unit_scale(2e-5, "s").factor, 1e-6);
  EXPECT_EQ(unit_scale(3e4, "s").unit, "s") << "no kiloseconds";
  EXPECT_EQ(unit_scale(3e7, "s").unit, "10⁶ s");
  EXPECT_EQ(unit_scale(1e-3, "kg m/s").unit, "10⁻³ kg m/s");
  EXPECT_EQ(unit_scale(1e22, "J").unit, "10²¹ J");
  EXPECT_EQ(unit_scale(1e-3, "J").unit, "mJ") << "not 1000 µJ";
}

}  // namespace
}  // namespace tribo
