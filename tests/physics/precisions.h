#pragma once

#include <gtest/gtest.h>

#include <string>

/// \file
/// For suites of tests that hold in both precisions: TYPED_TEST_SUITE(Suite, Precisions, PrecisionName).

namespace tribo::TRIBO_BACKEND::test {

using Precisions = testing::Types<float, double>;
class PrecisionName {
 public:
  template <class Real>
  static std::string GetName(int) {
    return sizeof(Real) == 4 ? "float" : "double";
  }
};

}  // namespace tribo::TRIBO_BACKEND::test
