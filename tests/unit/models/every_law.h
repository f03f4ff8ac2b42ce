#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../colliders/random_params.h"
#include "strains.h"

/// \file
/// Any law in float and double with random parameters: the cases of tests that hold for all of them.

namespace tribo::test {

/// Random parameters away from the ends of their ranges, where moduli become infinite, and random flags.
class LawParams : public RandomParams {
 public:
  explicit LawParams(unsigned seed) : RandomParams(seed), random_(seed) {}

  double number(const char* key, const char* unit, const Range& range, const char* doc,
                std::optional<double> fallback) override {
    Range inner = range;
    if (std::isfinite(range.low) && std::isfinite(range.high)) inner.high -= 0.1 * (range.high - range.low);
    const double value = RandomParams::number(key, unit, inner, doc, fallback);
    // Strengths far below the moduli, so that laws flow at the strains of these tests.
    const std::string name = key;
    return name == "yield_stress" || name == "cohesion" ? 0.2 * value : value;
  }
  bool flag(const char*, const char*, bool) override { return random_() % 2 == 0; }

 private:
  std::mt19937 random_;
};

/// One law in one precision.
template <template <class> class LawOf, class Scalar>
struct Case {
  using Real = Scalar;
  using Law = LawOf<Scalar>;
  using DoubleLaw = LawOf<double>;
};
template <template <class> class LawOf>
using BothPrecisions = ::testing::Types<Case<LawOf, double>, Case<LawOf, float>>;
template <template <class> class LawOf>
using InDouble = ::testing::Types<Case<LawOf, double>>;
struct CaseName {
  template <class C>
  static std::string GetName(int) {
    return std::string(C::Law::name) + (std::is_same_v<typename C::Real, double> ? "_double" : "_float");
  }
};

/// check.operator()<D>(law, law in double, random) for random parameters in both dimensions.
template <class C, class Check>
void for_random_laws(const Check& check) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    LawParams params(seed), same(seed);
    const auto law = C::Law::read(params);
    const auto exact = C::DoubleLaw::read(same);
    ASSERT_TRUE(params.complaints.empty());
    std::mt19937_64 random(seed);
    check.template operator()<2>(law, exact, random);
    check.template operator()<3>(law, exact, random);
  }
}

/// Strains no simulation should reach but some do: inverted, flattened to a plane, a line or a point, and stretched or
/// squeezed by large factors.
template <int D>
inline std::vector<Mat<double, D>> extreme_gradients(std::mt19937_64& random) {
  const double factors[] = {1, -1, 0, 1e-6, -1e-6, 1e3, -1e3, 0.02};
  constexpr int count = 8;
  std::vector<Mat<double, D>> all;
  for (int code = 0; code < (D == 2 ? count * count : count * count * count); ++code) {
    Vec<double, D> s;
    for (int i = 0, rest_of = code; i < D; ++i, rest_of /= count) s[i] = factors[rest_of % count];
    const Mat<double, D> stretch = Mat<double, D>::diagonal(s);
    all.push_back(stretch);
    all.push_back(random_rotation<D>(random) * stretch * random_rotation<D>(random));
  }
  return all;
}

/// Bits of a number; the sign of a zero counts.
template <class Real>
auto bits(Real x) {
  return std::bit_cast<std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>>(x);
}

}  // namespace tribo::test
