#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "device.h"
#include "tribo/io/container.h"

namespace tribo::test {

using Columns = std::map<std::string, std::vector<double>>;

/// Columns of the state in double whose names begin with `prefix`.
inline Columns columns_of(Engine& engine, const std::string& prefix) {
  Columns columns;
  engine.visit_state([&](const char* name, DType type, std::int64_t count, const void* data) {
    if (std::string(name).starts_with(prefix) && type == DType::f64) {
      const auto* const numbers = static_cast<const double*>(data);
      columns[name].assign(numbers, numbers + count);
    }
  });
  return columns;
}

/// Places within `tolerance` cells, and all other numbers within that part of the largest, or of 1.
inline void expect_agreement(const Columns& a, const Columns& b, double tolerance, double dx) {
  ASSERT_FALSE(a.empty());
  for (const auto& [name, values] : a) {
    ASSERT_EQ(values.size(), b.at(name).size());
    const bool place = name.find(".x") != std::string::npos;
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      worst = std::max(worst, std::abs(values[i] - b.at(name)[i]));
      largest = std::max(largest, std::abs(values[i]));
    }
    EXPECT_LE(worst, tolerance * (place ? dx : std::max(largest, 1.0))) << name;
  }
}

/// Two simulations have the same bytes after 20 steps, and one that goes on from a checkpoint after 20 more.
template <class Open>
void expect_one_result(const Open& open) {
  Simulation first = open(), second = open();
  for (int step = 0; step < 20; ++step) {
    first.step();
    second.step();
  }
  EXPECT_EQ(first.state_hash(), second.state_hash());
  Simulation resumed = open();
  resumed.restore(first.checkpoint());
  EXPECT_EQ(resumed.state_hash(), first.state_hash());
  for (int step = 0; step < 20; ++step) {
    first.step();
    resumed.step();
  }
  EXPECT_EQ(resumed.state_hash(), first.state_hash());
}

}  // namespace tribo::test
