#include "../physics/capstan.h"

#include <gtest/gtest.h>

#include "../physics/precisions.h"

/// \file
/// Euler's rope over its whole range; see physics/capstan_test.cpp.

namespace tribo::TRIBO_BACKEND::test {
namespace {

template <class Real>
class CapstanValidation : public testing::Test {};
TYPED_TEST_SUITE(CapstanValidation, Precisions, PrecisionName);

TYPED_TEST(CapstanValidation, HoldsBelowEulersRatioAndSlipsAboveIt) {
  for (const double turns : {0.5, 1.0, 1.5})
    for (const double friction : {0.1, 0.3, 0.5})
      for (const double segment : {0.5e-3, 0.8e-3, 1e-3, 3e-3})
        expect_euler<TypeParam>(Capstan{friction, turns, segment}, 0.1);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND::test
