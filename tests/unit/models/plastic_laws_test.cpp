#include <fmt/format.h>
#include <gtest/gtest.h>

#include "strains.h"
#include "tribo/models/all.h"

/// \file
/// What the plastic laws promise beyond what every law does (laws_test.cpp). Dry sand is tested there, wet sand in
/// cohesion_test.cpp.

namespace tribo {
namespace {

using namespace test;

// ---------------------------------------------------------------------------------------------------------------------
// Snow, theory B.6.

Snow<double> snow(const std::string& more = "") {
  return law_from<Snow<double>>(R"({"youngs_modulus": 1.4e5)" + more + "}");
}

TEST(Snow, DefaultsAreThoseOfThePaper) {
  const auto law = snow();
  EXPECT_NEAR(law.least, 0.975, 1e-15);
  EXPECT_NEAR(law.most, 1.0075, 1e-15);
  EXPECT_EQ(law.hardening, 10);
  EXPECT_NEAR(law.mu, 1.4e5 / 2.4, 1e-9);
}

/// The stretches are those of the trial, clamped; J_P takes what they lose: det F J_P is the trial's.
template <int D>
void check_snow() {
  const auto law = snow();
  const FixedCorotated<double> fresh{law.mu, law.lambda, 0};
  std::mt19937_64 random(8);
  int elastic = 0, plastic = 0;
  for (int k = 0; k < 3000; ++k) {
    Strain<double, D> strain = random_strain<D>(law, random, k % 2 ? 0.002 : 0.02);
    const Mat<double, D> G = random_matrix<D>(random) * (k % 2 ? 0.0005 : 0.02);
    const double before = strain.history[0];
    const Mat<double, D> trial = (Mat<double, D>::identity() + G) * strain.F;
    Mat<double, D> U, V;
    Vec<double, D> s, clamped;
    polar_svd(trial, U, s, V);
    for (int i = 0; i < D; ++i) clamped[i] = std::clamp(s[i], 0.975, 1.0075);
    const Response<double, D> r = law.advance(G, strain);
    const Mat<double, D> expected = U * Mat<double, D>::diagonal(clamped) * transpose(V);
    ASSERT_LE(norm(strain.F - expected), 1e-13);
    ASSERT_NEAR(determinant(strain.F) * strain.history[0], determinant(trial) * before, 1e-13);
    ASSERT_NEAR(law.volume_ratio(strain), determinant(trial) * before, 1e-13);
    const double h = std::min(std::exp(10 * (1 - strain.history[0])), 20.0);
    const Response<double, D> unhardened = fresh.response(strain);
    for (int i = 0; i < Sym<double, D>::size; ++i) ASSERT_NEAR(r.tau.s[i], h * unhardened.tau.s[i], 1e-9 * law.mu);
    ASSERT_NEAR(r.stiffness, h * unhardened.stiffness, 1e-9 * law.mu);
    if (norm(strain.F - trial) < 1e-15) {
      ++elastic;
      ASSERT_NEAR(strain.history[0], before, 1e-15);
    } else {
      ++plastic;
    }
  }
  EXPECT_GT(elastic, 100);
  EXPECT_GT(plastic, 1000);
}
TEST(Snow, StretchesAreClampedAndVolumeIsKeptInTwoDimensions) { check_snow<2>(); }
TEST(Snow, StretchesAreClampedAndVolumeIsKeptInThreeDimensions) { check_snow<3>(); }

TEST(Snow, CompressionHardensAndTearingSoftens) {
  const auto law = snow();
  Strain<double, 3> packed = rest<Snow<double>, 3, double>(law), torn = packed;
  double last = law.response(packed).stiffness;
  for (int k = 0; k < 40; ++k) {
    const Response<double, 3> r = law.advance(Mat<double, 3>::identity() * -0.01, packed);
    const bool below_limit = packed.history[0] < 1 && packed.history[0] > 0.71;  // 1 - ln(20)/10
    if (below_limit) {
      EXPECT_GT(r.stiffness, last);
    }
    last = r.stiffness;
  }
  EXPECT_EQ(packed.history[0], 0.6);
  const double fresh = law.response(rest<Snow<double>, 3, double>(law)).stiffness;
  EXPECT_LT(last, 20 * fresh);
  EXPECT_GT(last, 15 * fresh);
  // The pressure it can bear grows with it.
  EXPECT_GT(-trace(law.response(packed).tau), 10e3);
  for (int k = 0; k < 40; ++k) law.advance(Mat<double, 3>::identity() * 0.01, torn);
  EXPECT_GT(torn.history[0], 2);
  EXPECT_LT(law.response(torn).stiffness, 1e-3 * fresh);
  for (int k = 0; k < 200; ++k) law.advance(Mat<double, 3>::identity() * 0.1, torn);
  EXPECT_EQ(torn.history[0], 20);
}

TEST(Snow, WithoutHardeningStiffnessIsThatOfFreshSnow) {
  const auto law = snow(R"(, "hardening": 0)");
  Strain<double, 3> strain = rest<Snow<double>, 3, double>(law);
  const double fresh = law.response(strain).stiffness;
  law.advance(Mat<double, 3>::identity() * -0.2, strain);
  EXPECT_LT(strain.history[0], 0.6 + 1e-12);
  EXPECT_NEAR(law.response(strain).stiffness / fresh, 1, 0.1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Von Mises, theory B.8.

VonMises<double> metal(double yield) {
  return law_from<VonMises<double>>(R"({"youngs_modulus": 1e6, "poisson_ratio": 0.3, "yield_stress": )" +
                                    std::to_string(yield) + "}");
}

template <int D>
void check_von_mises() {
  const double sigma = 3e4;
  const auto law = metal(sigma);
  std::mt19937_64 random(12);
  int elastic = 0, plastic = 0;
  for (int k = 0; k < 3000; ++k) {
    Strain<double, D> strain = random_strain<D>(law, random);
    const Mat<double, D> G = random_matrix<D>(random) * (k % 2 ? 0.002 : 0.05);
    const Mat<double, D> trial = (Mat<double, D>::identity() + G) * strain.F;
    const PrincipalStrain<D> p(trial);
    const Sym<double, D> tau = law.advance(G, strain).tau;
    const double limit = std::sqrt(2.0 / 3) * sigma;
    ASSERT_LE(deviator_norm(tau), limit * (1 + 1e-12));
    // Flow changes the shape only.
    ASSERT_NEAR(determinant(strain.F), determinant(trial), 1e-13);
    ASSERT_NEAR(trace(tau), (D * law.lambda + 2 * law.mu) * p.trace, 1e-9 * law.mu);
    if (2 * law.mu * p.norm > limit) {
      ++plastic;
      ASSERT_NEAR(deviator_norm(tau), limit, 1e-12 * limit + 1e-9 * law.mu);
      Vec<double, D> e;
      for (int i = 0; i < D; ++i) e[i] = 2 * law.mu * p.deviator[i] * limit / (2 * law.mu * p.norm) + trace(tau) / D;
      const Sym<double, D> expected = from_principal(p.U, e);
      for (int i = 0; i < Sym<double, D>::size; ++i) ASSERT_NEAR(tau.s[i], expected.s[i], 1e-9 * law.mu);
    } else {
      ++elastic;
      ASSERT_LE(norm(strain.F - trial), 1e-15) << "elastic steps leave F alone";
    }
  }
  EXPECT_GT(elastic, 200);
  EXPECT_GT(plastic, 1000);
}
TEST(VonMises, ReturnMappingInTwoDimensions) { check_von_mises<2>(); }
TEST(VonMises, ReturnMappingInThreeDimensions) { check_von_mises<3>(); }

/// A bar that is pulled, free sideways, carries its yield stress; sheared, 1/sqrt(3) of it.
TEST(VonMises, YieldStressIsThatOfABar) {
  const double sigma = 2e4;
  const auto law = metal(sigma);
  Strain<double, 3> bar = rest<VonMises<double>, 3, double>(law);
  Response<double, 3> r;
  for (int k = 0; k < 2000; ++k) {
    r = law.advance(Mat<double, 3>::diagonal({{1e-4, -0.5e-4, -0.5e-4}}), bar);
    // Free sideways: take the pressure off.
    const double relax = -r.tau(1, 1) / (3 * law.lambda + 2 * law.mu);
    r = law.advance(Mat<double, 3>::identity() * relax, bar);
  }
  EXPECT_NEAR(r.tau(1, 1), 0, 1e-2 * sigma);
  EXPECT_NEAR(r.tau(0, 0), sigma, 1e-2 * sigma);
  Strain<double, 3> sheared = rest<VonMises<double>, 3, double>(law);
  Mat<double, 3> shear = Mat<double, 3>::zero();
  shear(0, 1) = 1e-4;
  for (int k = 0; k < 2000; ++k) r = law.advance(shear, sheared);
  EXPECT_NEAR(r.tau(0, 1), sigma / std::sqrt(3.0), 2e-2 * sigma);
}

/// In float the volume of a body that flows step after step does not drift.
TEST(VonMises, LongFlowKeepsTheVolumeInFloat) {
  const auto law = law_from<VonMises<float>>(R"({"youngs_modulus": 1e6, "poisson_ratio": 0.3, "yield_stress": 1e4})");
  Strain<float, 3> strain = rest<VonMises<float>, 3, float>(law);
  Mat<float, 3> shear = Mat<float, 3>::zero();
  shear(0, 1) = 1e-3f;
  for (int k = 0; k < 20000; ++k) law.advance(shear, strain);
  EXPECT_NEAR(determinant(strain.F), 1, 2e-4);
}

// ---------------------------------------------------------------------------------------------------------------------
// Herschel-Bulkley, theory B.8.

HerschelBulkley<double> goo(double yield, double consistency, double index, double mu = 1e4, double bulk = 2e5) {
  return law_from<HerschelBulkley<double>>(fmt::format(
      R"({{"shear_modulus": {}, "bulk_modulus": {}, "yield_stress": {}, "consistency": {}, "flow_index": {}}})", mu,
      bulk, yield, consistency, index));
}

/// The stress after a step solves s + 2 mu dt ((s - s_Y)/eta)^(1/n) = s_trial, between s_Y and s_trial, in the
/// direction of the trial; volume is kept.
template <int D>
void check_herschel_bulkley() {
  std::mt19937_64 random(31);
  int elastic = 0, plastic = 0;
  for (int k = 0; k < 6000; ++k) {
    const double index = k % 3 == 0 ? 1 : uniform(random, 0.2, 2), yield = k % 4 == 0 ? 0 : uniform(random, 10, 500);
    const double consistency = std::exp(uniform(random, -3, 8)), dt = std::exp(uniform(random, -14, 0));
    const auto law = goo(yield, consistency, index);
    const double eta = std::pow(2, (1 + index) / 2) * consistency, s_yield = std::sqrt(2.0) * yield;
    Strain<double, D> strain = random_strain<D>(law, random, 0.05);
    const Mat<double, D> G = random_matrix<D>(random) * std::exp(uniform(random, -9, -2));
    const Mat<double, D> trial = (Mat<double, D>::identity() + G) * strain.F;
    const PrincipalStrain<D> p(trial);
    const double before = 2 * law.mu * p.norm;
    const Sym<double, D> tau = law.advance(G, strain, dt).tau;
    const double after = deviator_norm(tau);
    ASSERT_NEAR(determinant(strain.F), determinant(trial), 1e-13);
    ASSERT_NEAR(trace(tau), (D * law.lambda + 2 * law.mu) * p.trace, 1e-9 * law.mu);
    ASSERT_LE(after, before * (1 + 1e-10) + 1e-9);
    if (before <= s_yield) {
      ++elastic;
      ASSERT_NEAR(after, before, 1e-10 * law.mu);
      continue;
    }
    ++plastic;
    ASSERT_GE(after, s_yield * (1 - 1e-10));
    // Solve by bisection for the excess over the yield stress.
    double low = 0, high = before - s_yield;
    for (int n = 0; n < 200; ++n) {
      const double y = 0.5 * (low + high);
      (y + 2 * law.mu * dt * std::pow(y / eta, 1 / index) > before - s_yield ? high : low) = y;
    }
    ASSERT_NEAR(after, s_yield + low, 1e-9 * before + 1e-10 * law.mu) << "n " << index;
  }
  EXPECT_GT(elastic, 200);
  EXPECT_GT(plastic, 1000);
}
TEST(HerschelBulkley, StepSolvesItsEquationInTwoDimensions) { check_herschel_bulkley<2>(); }
TEST(HerschelBulkley, StepSolvesItsEquationInThreeDimensions) { check_herschel_bulkley<3>(); }

/// The iteration converges for any stress and time, in float, too.
TEST(HerschelBulkley, ConvergesInFloat) {
  std::mt19937_64 random(6);
  for (int k = 0; k < 20000; ++k) {
    const double index = uniform(random, 0.2, 2), dt = std::exp(uniform(random, -18, 0));
    const std::string json = R"({"shear_modulus": 1e4, "bulk_modulus": 1e5, "consistency": )" +
                             std::to_string(std::exp(uniform(random, -7, 10))) + R"(, "flow_index": )" +
                             std::to_string(index) + "}";
    const auto law = law_from<HerschelBulkley<float>>(json);
    const auto exact = law_from<HerschelBulkley<double>>(json);
    const float shear = static_cast<float>(std::exp(uniform(random, -12, -0.5)));
    Strain<float, 3> strain = rest<HerschelBulkley<float>, 3, float>(law);
    Strain<double, 3> same = rest<HerschelBulkley<double>, 3, double>(exact);
    Mat<float, 3> G = Mat<float, 3>::zero();
    G(0, 1) = shear;
    const double found = law.advance(G, strain, float(dt)).tau(0, 1);
    const double expected = exact.advance(cast_matrix<double>(G), same, double(float(dt))).tau(0, 1);
    // The strain itself is known to 1e-7 only.
    ASSERT_NEAR(found, expected, 1e-4 * expected + 1e4 * 4e-7) << "n " << index << " shear " << shear << " dt " << dt;
  }
}

/// Sheared at a steady rate it carries tau_Y + k rate^n, as a rheometer would show.
TEST(HerschelBulkley, SteadyShearIsWhatARheometerShows) {
  for (const double index : {0.4, 1.0, 1.6})
    for (const double yield : {0.0, 30.0})
      for (const double rate : {0.5, 5.0}) {
        const double consistency = 10, mu = 1e5;  // stiff: small elastic strain, so that shear is simple
        const auto law = goo(yield, consistency, index, mu, 1e6);
        Strain<double, 3> strain = rest<HerschelBulkley<double>, 3, double>(law);
        Mat<double, 3> G = Mat<double, 3>::zero();
        const double dt = 1e-5;
        G(0, 1) = rate * dt;
        double tau = 0;
        for (int k = 0; k < 4000 || (k < 200000 && k * rate * dt < 0.02); ++k)
          tau = law.advance(G, strain, dt).tau(0, 1);
        const double expected = yield + consistency * std::pow(rate, index);
        EXPECT_NEAR(tau, expected, 0.01 * expected) << "n " << index << ", rate " << rate;
      }
}

/// Without consistency it is a von Mises solid (of sqrt(3) times the yield stress in shear); without time, elastic.
TEST(HerschelBulkley, LimitsAreVonMisesAndElastic) {
  const double yield = 200;
  std::mt19937_64 random(9);
  for (const double index : {0.5, 1.0, 1.5}) {
    const auto thin = goo(yield, 1e-5, index), thick = goo(yield, 1, index);
    VonMises<double> solid{thin.mu, thin.lambda, std::sqrt(2.0) * yield / (2 * thin.mu)};
    const Hencky<double> elastic{thin.mu, thin.lambda, 0};
    for (int k = 0; k < 200; ++k) {
      Strain<double, 3> a = random_strain<3>(solid, random), b = a, c = a, d = a;
      const Mat<double, 3> G = random_matrix<3>(random) * 0.02;
      const Sym<double, 3> flown = thin.advance(G, a, 0.1).tau, expected = solid.advance(G, b).tau;
      const Sym<double, 3> sudden = thick.advance(G, c, 0.0).tau, spring = elastic.advance(G, d).tau;
      for (int i = 0; i < 6; ++i) {
        ASSERT_NEAR(flown.s[i], expected.s[i], 1e-3 * yield);
        ASSERT_NEAR(sudden.s[i], spring.s[i], 1e-10 * thin.mu);
      }
    }
  }
}

/// Slime forgets a shear with the relaxation time k / mu of a Maxwell fluid.
TEST(HerschelBulkley, SlimeRelaxesLikeAMaxwellFluid) {
  const double consistency = 500, mu = 2000;  // 0.25 s
  const auto law = goo(0, consistency, 1, mu);
  Strain<double, 3> strain = rest<HerschelBulkley<double>, 3, double>(law);
  Mat<double, 3> G = Mat<double, 3>::zero();
  G(0, 1) = 0.1;
  const double first = deviator_norm(law.advance(G, strain, 0.0).tau);
  const int steps = 10000;
  const double time = 0.4;
  Response<double, 3> r;
  for (int k = 0; k < steps; ++k) r = law.advance(Mat<double, 3>::zero(), strain, time / steps);
  EXPECT_NEAR(deviator_norm(r.tau) / first, std::exp(-time * mu / consistency), 1e-4);
  // A paste keeps its yield stress for ever.
  const auto paste = goo(50, consistency, 1, mu);
  strain = rest<HerschelBulkley<double>, 3, double>(paste);
  paste.advance(G, strain, 0.0);
  for (int k = 0; k < 100; ++k) r = paste.advance(Mat<double, 3>::zero(), strain, 1.0);
  EXPECT_NEAR(deviator_norm(r.tau), std::sqrt(2.0) * 50, 1e-6);
}

}  // namespace
}  // namespace tribo
