#include <gtest/gtest.h>

#include "strains.h"
#include "tribo/models/all.h"

/// \file
/// What cohesion adds to Drucker-Prager sand (laws_test.cpp tests it dry).

namespace tribo {
namespace {

using namespace test;

DruckerPrager<double> wet_sand(double cohesion, double angle = 35, bool volume_correction = true) {
  return law_from<DruckerPrager<double>>(R"({"youngs_modulus": 1e6, "poisson_ratio": 0.3, "friction_angle": )" +
                                         std::to_string(angle) + R"(, "volume_correction": )" +
                                         (volume_correction ? "true" : "false") + R"(, "cohesion": )" +
                                         std::to_string(cohesion) + "}");
}

/// 3 alpha of the cone [Klar 2016].
double slope(const DruckerPrager<double>& law) { return std::sqrt(6.0) * 2 * law.friction / (3 - law.friction); }

/// 3 alpha (tr tau / D - c) + |dev tau| <= 0, with equality when it flows; all three cases of the mapping occur.
template <int D>
void check_cohesive_mapping() {
  std::mt19937_64 random(15);
  int elastic = 0, tense = 0, cone = 0, tip = 0;
  for (int k = 0; k < 4000; ++k) {
    const double c = uniform(random, 0, 4e4);
    const auto law = wet_sand(c, uniform(random, 10, 60), k % 2 == 0);
    const double tiny = 1e-10 * law.mu, stiff = D * law.lambda + 2 * law.mu;
    Strain<double, D> strain = random_strain<D>(law, random, 0.02);
    Mat<double, D> G = random_matrix<D>(random) * (k % 3 == 0 ? 0.002 : 0.03);
    const Mat<double, D> trial = (Mat<double, D>::identity() + G) * strain.F;
    const PrincipalStrain<D> p(trial);
    const double tr = p.trace + strain.history[0];
    const double volume_before = p.trace + strain.history[0];
    const double trial_yield = slope(law) * (stiff * tr / D - c) + 2 * law.mu * p.norm;
    const Sym<double, D> tau = law.advance(G, strain).tau;
    const double yield = slope(law) * (trace(tau) / D - c) + deviator_norm(tau);
    ASSERT_LE(yield, tiny);
    if (stiff * tr >= D * c) {
      ++tip;
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) ASSERT_NEAR(tau(i, j), i == j ? c : 0, tiny);
    } else if (trial_yield > 0) {
      ++cone;
      ASSERT_NEAR(yield, 0, tiny);
      ASSERT_NEAR(trace(tau), stiff * tr, tiny);
    } else {
      ++elastic;
      tense += tr > 0;
      ASSERT_NEAR(trace(tau), stiff * tr, tiny);
      ASSERT_NEAR(deviator_norm(tau), 2 * law.mu * p.norm, tiny);
    }
    if (law.volume_correction > 0 && strain.history[0] > 0) {
      ASSERT_NEAR(std::log(determinant(strain.F)) + strain.history[0], volume_before, 1e-12);
    }
  }
  EXPECT_GT(elastic, 200);
  EXPECT_GT(tense, 20);
  EXPECT_GT(cone, 200);
  EXPECT_GT(tip, 200);
}
TEST(Cohesion, ReturnMappingInTwoDimensions) { check_cohesive_mapping<2>(); }
TEST(Cohesion, ReturnMappingInThreeDimensions) { check_cohesive_mapping<3>(); }

/// Pulled from all sides, moist sand bears a tension that grows to the cohesion and no further.
TEST(Cohesion, HoldsTensionUpToItsStrength) {
  const double c = 2000;
  const auto law = wet_sand(c);
  Strain<double, 3> strain = rest<DruckerPrager<double>, 3, double>(law);
  double last = 0;
  for (int k = 0; k < 100; ++k) {
    const Sym<double, 3> tau = law.advance(Mat<double, 3>::identity() * 5e-5, strain).tau;
    EXPECT_GE(tau(0, 0), last);
    EXPECT_LE(tau(0, 0), c * (1 + 1e-12));
    last = tau(0, 0);
  }
  EXPECT_NEAR(last, c, 1e-9 * c);
  const auto dry = wet_sand(0);
  strain = rest<DruckerPrager<double>, 3, double>(dry);
  EXPECT_NEAR(dry.advance(Mat<double, 3>::identity() * 1e-4, strain).tau(0, 0), 0, 1e-12);
}

/// Without pressure it bears the shear stress 3 alpha c / sqrt(2), dry sand none.
TEST(Cohesion, BearsShearWithoutPressure) {
  for (const double c : {0.0, 500.0, 2000.0}) {
    const auto law = wet_sand(c);
    Strain<double, 3> strain = rest<DruckerPrager<double>, 3, double>(law);
    Mat<double, 3> shear = Mat<double, 3>::zero();
    shear(0, 1) = shear(1, 0) = 1e-4;
    Response<double, 3> r;
    for (int k = 0; k < 200; ++k) {
      r = law.advance(shear, strain);
      const double volume = std::cbrt(determinant(strain.F));  // keep it at its rest volume
      law.advance(Mat<double, 3>::identity() * (1 / volume - 1), strain);
    }
    EXPECT_NEAR(r.tau(0, 1), slope(law) * c / std::sqrt(2.0), 1e-2 * c + 0.05);
  }
}

}  // namespace
}  // namespace tribo
