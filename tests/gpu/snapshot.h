#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tribo/engine/engine.h"

namespace tribo::test {

/// The columns of all particles in order of id, as numbers.
struct Snapshot {
  std::map<std::string, std::vector<double>> columns;  ///< "x.0", "tau.3", "object.0", ...
  double time = 0;

  std::size_t size() const { return columns.at("id.0").size(); }
  double at(const std::string& column, std::size_t i) const { return columns.at(column)[i]; }
};

inline Snapshot snapshot(Engine& engine) {
  Snapshot shot;
  shot.time = engine.time();
  engine.visit_state([&](const char* name, DType type, std::int64_t count, const void* data) {
    const std::string column = name;
    if (column.find('.') == std::string::npos) return;  // not of particles
    NamedArray array{column, type, 1, static_cast<std::uint64_t>(count), {}};
    array.data.resize(static_cast<std::size_t>(count) * size_of(type));
    if (count > 0) std::memcpy(array.data.data(), data, array.data.size());
    std::vector<double>& values = shot.columns[column];
    values.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] =
          type == DType::f32 || type == DType::f64 ? number_at(array, i) : static_cast<double>(integer_at(array, i));
  });
  std::vector<std::size_t> order(shot.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::vector<double> id = shot.columns["id.0"];
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return id[a] < id[b]; });
  for (auto& [name, values] : shot.columns) {
    const std::vector<double> unsorted = values;
    for (std::size_t i = 0; i < order.size(); ++i) values[i] = unsorted[order[i]];
  }
  return shot;
}

/// What an error of a column is measured by: cells for positions, the largest number of any component for the rest. C
/// is a difference of velocities over a cell, of which nothing but rounding is left where all moves alike.
inline double scale_of(const Snapshot& shot, const std::string& quantity, double dx) {
  if (quantity == "x") return dx;
  double largest = quantity == "F" || quantity == "history" ? 1 : 0;
  if (quantity == "C") largest = scale_of(shot, "v", dx) / dx;
  for (const auto& [name, values] : shot.columns)
    if (name.starts_with(quantity + "."))
      for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Every number of every particle agrees; what is not computed (id, object, mass) is the same to the bit.
inline void expect_agreement(const Snapshot& expected, const Snapshot& found, double dx, double tolerance) {
  ASSERT_EQ(expected.columns.size(), found.columns.size());
  EXPECT_NEAR(expected.time, found.time, tolerance * expected.time);
  for (const auto& [name, values] : expected.columns) {
    ASSERT_EQ(values.size(), found.columns.at(name).size()) << name;
    const std::string quantity = name.substr(0, name.find('.'));
    const bool exact = quantity == "id" || quantity == "object" || quantity == "m";
    const double allowed = exact ? 0 : tolerance * scale_of(expected, quantity, dx);
    double worst = -1;
    std::size_t where = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double error = std::abs(values[i] - found.at(name, i));
      if (!(error <= worst)) {
        worst = error;
        where = i;
      }
      if (std::isnan(error)) break;
    }
    if (!values.empty()) {
      EXPECT_LE(worst, allowed) << name << " of particle " << expected.at("id.0", where) << ": expected "
                                << values[where] << ", got " << found.at(name, where);
    }
  }
}

}  // namespace tribo::test
