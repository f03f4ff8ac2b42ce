#include "tribo/contact/sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace tribo::TRIBO_BACKEND {
namespace {

std::vector<double> numbers(int count) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(-1, 1), exponent(-90, 40);
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(std::ldexp(mantissa(random), static_cast<int>(exponent(random))));
  return all;
}
bool same(const ExactSum& a, const ExactSum& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Promise: the sum has the same bits in any order, and is right to the last digit of a double where terms cancel.
TEST(ContactSums, DoNotDependOnOrder) {
  std::vector<double> values = numbers(5000);
  const std::size_t half = values.size();
  for (std::size_t i = 0; i < half; ++i) values.push_back(-values[i]);
  values.push_back(0.1);
  values.push_back(-3e-7);
  std::mt19937 random(1);
  ExactSum first{};
  for (int round = 0; round < 3; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    ExactSum sum{}, frame{};
    for (const double value : values) sum.add(value);
    frame.take(sum);
    if (round == 0) first = frame;
    EXPECT_TRUE(same(frame, first));
    EXPECT_NEAR(frame.value(), 0.1 - 3e-7, 2e-17);  // an ulp of 0.1 is 1.4e-17
  }
}

/// Promise: what has been taken over in parts is what would have come at once, whatever the sign.
TEST(ContactSums, JoinWithoutLoss) {
  const std::vector<double> values = numbers(999);
  ExactSum all{}, at_once{}, frame{};
  for (std::size_t i = 0; i < values.size();) {
    ExactSum tried{};
    for (int k = 0; k < 37 && i < values.size(); ++k, ++i) {
      tried.add(values[i]);
      all.add(values[i]);
    }
    frame.take(tried);
    for (const std::int64_t part : tried.part) EXPECT_EQ(part, 0);
  }
  at_once.take(all);
  EXPECT_TRUE(same(frame, at_once));
}

TEST(ContactSums, GiveBackEveryNumber) {
  for (const double value : {1.0, -1.0, 1e-20, -1e-20, 0.1, -0.1, 3e9, -1.7e30, 0.0}) {
    ExactSum sum{}, frame{};
    sum.add(value);
    frame.take(sum);
    EXPECT_EQ(frame.value(), value);
  }
  ExactSum nothing{};
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e39}) nothing.add(value);
  EXPECT_EQ(nothing.value(), 0);
}

/// Promise: a run of impulses tells the same as one call for each would, also when they are on more than it holds.
TEST(ContactSums, RunsForgetNobody) {
  constexpr int entries = 9;
  std::vector<ContactSum> sums(entries);
  std::memset(sums.data(), 0, sums.size() * sizeof(ContactSum));
  std::vector<int> times(entries, 0);
  TallyRun run({sums.data(), 4});
  for (int k = 0; k < 200; ++k) {
    const int to = k * k % entries;
    run.add(to, {{0, 2, 0}}, {{1, 0, 0.5}});
    ++times[static_cast<std::size_t>(to)];
  }
  run.add(-1, {{0, 2, 0}}, {{1, 0, 0}});
  run.end();
  for (std::size_t e = 0; e < entries; ++e) {
    const double expected[] = {1, 0, 0.5, 1, 0, -2};  // (0, 2, 0) x (1, 0, 0.5) = (1, 0, -2)
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(sums[e].of[k].value(), times[e] * expected[k]) << e << " " << k;
  }
}

/// Promise: a try that is not taken leaves nothing.
TEST(ContactSums, TriesAreTakenOrForgotten) {
  Exec ex(2);
  ContactSums sums;
  EXPECT_EQ(sums.begin_try(ex).entry, nullptr);
  sums.resize(ex, 1, 1);
  for (const bool taken : {false, true, false, true}) {
    TallyRun run(sums.begin_try(ex));
    run.add(1, {{0, 0, 0}}, {{1, 0, 0}});
    run.end();
    if (taken) sums.take();
  }
  EXPECT_EQ(sums.read(ex)[1].linear[0], 2);
  EXPECT_EQ(sums.read(ex)[1].linear[0], 2);
  EXPECT_EQ(sums.read(ex)[0].linear[0], 0);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND
