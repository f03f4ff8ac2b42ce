#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "every_law.h"
#include "tribo/models/all.h"

/// \file
/// What single laws promise on their own.

namespace tribo {
namespace {

using namespace test;

TEST(Laws, NamesDiffer) {
  std::set<std::string> names;
  const auto add = [&]<class... Law>(const std::variant<Law...>*) { (names.insert(Law::name), ...); };
  add(static_cast<const ParticleLaw<double>*>(nullptr));
  EXPECT_EQ(names.size(), std::variant_size_v<ParticleLaw<double>>);
}

// ---------------------------------------------------------------------------------------------------------------------
// Fixed corotated: the stress by invariants against theory B.1 and B.2 written with singular values.

/// tau = U diag(2 mu (s - 1) s + lambda (J - 1) J) U^T from a decomposition in double of the F the law saw.
template <int D>
Sym<double, D> reference_stress(double mu, double lambda, const Mat<double, D>& F) {
  Mat<double, D> U, V;
  Vec<double, D> s, principal;
  polar_svd(F, U, s, V);
  double J = 1;
  for (int i = 0; i < D; ++i) J *= s[i];
  for (int i = 0; i < D; ++i) principal[i] = 2 * mu * (s[i] - 1) * s[i] + lambda * (J - 1) * J;
  return from_principal(U, principal);
}

struct StretchRange {
  double low, high;
  bool inverted;
  double float_budget;  ///< largest error over mu max(1, s^2)
};

template <class Real, int D>
void check_against_reference(const StretchRange& range) {
  // Poisson ratio 0: the shear part alone, which is the one that needs the polar decomposition.
  const auto law = law_from<FixedCorotated<Real>>(R"({"youngs_modulus": 2e3, "poisson_ratio": 0})");
  const double mu = 1e3;
  std::mt19937_64 random(11);
  double worst = 0;
  for (int k = 0; k < 5000; ++k) {
    Vec<double, D> s;
    for (int i = 0; i < D; ++i) s[i] = uniform(random, range.low, range.high);
    if (range.inverted) {
      // The rotation jumps where the two smallest stretches are opposite, so keep them apart.
      std::sort(s.c, s.c + D, std::greater<>());
      s[D - 1] = -0.8 * s[D - 1];
      if (s[D - 2] + s[D - 1] < 0.1 * s[0]) continue;
    }
    const Mat<double, D> built = random_rotation<D>(random) * Mat<double, D>::diagonal(s) * random_rotation<D>(random);
    Strain<Real, D> strain = rest<FixedCorotated<Real>, D, Real>(law);
    strain.F = cast_matrix<Real>(built);
    const Sym<Real, D> tau = law.response(strain).tau;
    const Sym<double, D> expected = reference_stress(mu, 0, cast_matrix<double>(strain.F));
    const double largest = *std::max_element(s.c, s.c + D);
    for (int i = 0; i < Sym<Real, D>::size; ++i)
      worst = std::max(worst, std::abs(tau.s[i] - expected.s[i]) / (mu * std::max(1.0, largest * largest)));
  }
  EXPECT_LE(worst, tol<Real>(range.float_budget * 1e-8, range.float_budget))
      << D << "D, stretches " << range.low << " to " << range.high;
}

TEST(FixedCorotated, StressMatchesSingularValues) {
  // Budgets are those measured for the invariants when they were chosen, times two for other random numbers.
  for (const StretchRange& range :
       {StretchRange{0.999, 1.001, false, 9e-7}, StretchRange{0.9, 1.1, false, 1.1e-6},
        StretchRange{0.5, 1.5, false, 1.3e-6}, StretchRange{0.1, 3, false, 2.6e-6}, StretchRange{0.02, 10, false, 1e-5},
        StretchRange{0.5, 1.5, true, 1e-5}, StretchRange{0.02, 10, true, 1e-5}}) {
    check_against_reference<float, 2>(range);
    check_against_reference<float, 3>(range);
    check_against_reference<double, 2>(range);
    check_against_reference<double, 3>(range);
  }
}

TEST(FixedCorotated, UniaxialStressIsKnown) {
  const auto law = law_from<FixedCorotated<double>>(R"({"youngs_modulus": 1e5, "poisson_ratio": 0.25})");
  const double mu = 1e5 / 2.5, lambda = 1e5 * 0.25 / (1.25 * 0.5), s = 1.2;
  Strain<double, 3> strain = rest<FixedCorotated<double>, 3, double>(law);
  strain.F(1, 1) = s;
  const Sym<double, 3> tau = law.response(strain).tau;
  EXPECT_NEAR(tau(1, 1), 2 * mu * (s - 1) * s + lambda * (s - 1) * s, 1e-9);
  EXPECT_NEAR(tau(0, 0), lambda * (s - 1) * s, 1e-9);
  EXPECT_NEAR(tau(0, 1), 0, 1e-9);
  EXPECT_NEAR(law.energy(strain), (mu + lambda / 2) * (s - 1) * (s - 1), 1e-9);
}

/// Also far from rest, as long as the Poisson ratio is not negative: with a negative lambda, lambda/2 (J - 1)^2 has no
/// lower bound.
TEST(FixedCorotated, EnergyOfLargeStrainsIsNotNegative) {
  const auto law = law_from<FixedCorotated<double>>(R"({"youngs_modulus": 1, "poisson_ratio": 0.3})");
  std::mt19937_64 random(3);
  for (int k = 0; k < 2000; ++k) {
    Strain<double, 3> strain = rest<FixedCorotated<double>, 3, double>(law);
    strain.F = random_matrix<3>(random);
    ASSERT_GT(law.energy(strain), 0);
  }
}

/// An inverted particle is pushed back through the flat state, not further away from it.
TEST(FixedCorotated, InversionIsUndone) {
  const auto law = law_from<FixedCorotated<double>>(R"({"youngs_modulus": 1e5, "poisson_ratio": 0.3})");
  Strain<double, 3> strain = rest<FixedCorotated<double>, 3, double>(law);
  strain.F(2, 2) = -0.3;
  // P = tau F^-T pulls F(2, 2) up: the energy falls in that direction.
  EXPECT_LT(law.response(strain).tau(2, 2) / strain.F(2, 2), 0);
  Strain<double, 3> higher = strain;
  higher.F(2, 2) += 1e-3;
  EXPECT_LT(law.energy(higher), law.energy(strain));
}

// ---------------------------------------------------------------------------------------------------------------------
// Drucker-Prager, theory B.5.

DruckerPrager<double> sand(double friction_angle, bool volume_correction, double poisson_ratio = 0.3) {
  return law_from<DruckerPrager<double>>(
      R"({"youngs_modulus": 1e6, "poisson_ratio": )" + std::to_string(poisson_ratio) + R"(, "friction_angle": )" +
      std::to_string(friction_angle) + R"(, "volume_correction": )" + (volume_correction ? "true}" : "false}"));
}
/// Klar 2016 gives the slope against the trace of a stress in three dimensions.
double alpha(const DruckerPrager<double>& law) { return std::sqrt(2.0 / 3) * 2 * law.friction / (3 - law.friction); }
template <int D>
double yield(const DruckerPrager<double>& law, const Sym<double, D>& tau) {
  return 3 * alpha(law) * trace(tau) / D + deviator_norm(tau);
}

TEST(DruckerPrager, FrictionIsTheSineOfItsAngle) { EXPECT_NEAR(sand(30, true).friction, 0.5, 1e-15); }

template <int D>
void check_return_mapping(bool volume_correction) {
  std::mt19937_64 random(5);
  int elastic = 0, cone = 0, tip = 0;
  for (int k = 0; k < 4000; ++k) {
    const auto law = sand(uniform(random, 10, 60), volume_correction, uniform(random, -0.2, 0.45));
    const double tiny = 1e-10 * law.mu;
    Strain<double, D> strain = random_strain<D>(law, random);
    Mat<double, D> G = random_matrix<D>(random) * (k % 3 == 0 ? 0.002 : 0.03);
    if (k % 2 == 0)
      for (int i = 0; i < D; ++i) G(i, i) -= 0.02;

    // Which case it must be, by theory B.5 and the standard library.
    const Mat<double, D> trial = (Mat<double, D>::identity() + G) * strain.F;
    Mat<double, D> U, V;
    Vec<double, D> s, e;
    polar_svd(trial, U, s, V);
    double tr = 0, deviator = 0;
    for (int i = 0; i < D; ++i) e[i] = std::log(s[i]) + strain.history[0] / D;
    for (int i = 0; i < D; ++i) tr += e[i];
    for (int i = 0; i < D; ++i) deviator += (e[i] - tr / D) * (e[i] - tr / D);
    deviator = std::sqrt(deviator);
    const double excess = deviator + (D * law.lambda + 2 * law.mu) / (2 * law.mu) * tr * 3 * alpha(law) / D;
    const double volume_before = std::log(determinant(trial)) + strain.history[0];

    const Sym<double, D> tau = law.advance(G, strain).tau;
    ASSERT_LE(yield(law, tau), tiny);
    if (tr >= 0) {
      ++tip;
      for (const double t : tau.s) ASSERT_NEAR(t, 0, tiny);
      ASSERT_NEAR(norm(strain.F * transpose(strain.F) - Mat<double, D>::identity()), 0, 1e-13);
    } else if (excess > 0) {
      ++cone;
      ASSERT_NEAR(yield(law, tau), 0, tiny);
      // Flow changes the shape only: the pressure is that of the trial.
      ASSERT_NEAR(trace(tau), (2 * law.mu + D * law.lambda) * tr, tiny);
    } else {
      ++elastic;
      Vec<double, D> principal;
      for (int i = 0; i < D; ++i) principal[i] = 2 * law.mu * e[i] + law.lambda * tr;
      const Sym<double, D> expected = from_principal(U, principal);
      for (int i = 0; i < Sym<double, D>::size; ++i) ASSERT_NEAR(tau.s[i], expected.s[i], tiny);
    }
    ASSERT_GE(strain.history[0], 0);
    if (volume_correction) {
      ASSERT_NEAR(std::log(determinant(strain.F)) + strain.history[0], volume_before, 1e-12);
    } else {
      ASSERT_EQ(strain.history[0], 0);
    }
  }
  EXPECT_GT(elastic, 200);
  EXPECT_GT(cone, 200);
  EXPECT_GT(tip, 200);
}

TEST(DruckerPrager, ReturnMappingInTwoDimensions) {
  check_return_mapping<2>(true);
  check_return_mapping<2>(false);
}
TEST(DruckerPrager, ReturnMappingInThreeDimensions) {
  check_return_mapping<3>(true);
  check_return_mapping<3>(false);
}

/// Grains that were spread apart and come together again do not push before they have closed up.
TEST(DruckerPrager, ExpandThenContract) {
  for (const bool corrected : {true, false}) {
    const auto law = sand(35, corrected);
    Strain<double, 3> strain = rest<DruckerPrager<double>, 3, double>(law);
    const auto pressure = [&](double factor) {
      return -trace(law.advance(Mat<double, 3>::identity() * (factor - 1), strain).tau) / 3;
    };
    EXPECT_NEAR(pressure(1.05), 0, 1e-9);
    const double bulk = law.lambda + 2 * law.mu / 3, gap = 3 * std::log(1.05);
    if (corrected) {
      EXPECT_NEAR(law.volume_ratio(strain), 1.05 * 1.05 * 1.05, 1e-12);
      EXPECT_NEAR(pressure(1 / 1.02), 0, 1e-9);
      EXPECT_NEAR(pressure(1.02 / 1.05), 0, 1e-7 * bulk);
      EXPECT_NEAR(pressure(0.99), -3 * bulk * std::log(0.99), 1e-7 * bulk);
    } else {
      EXPECT_NEAR(pressure(1 / 1.05), bulk * gap, 1e-9 * bulk);
    }
  }
}

/// Under the same pressure and the same shearing, more friction carries more shear stress, in the ratio of the cones.
TEST(DruckerPrager, MoreFrictionCarriesMoreShear) {
  double last = 0;
  for (const double angle : {10, 20, 30, 40, 50}) {
    const auto law = sand(angle, true);
    Strain<double, 3> strain = rest<DruckerPrager<double>, 3, double>(law);
    law.advance(Mat<double, 3>::identity() * -0.001, strain);
    Mat<double, 3> shear = Mat<double, 3>::zero();
    shear(0, 1) = 1e-3;
    Response<double, 3> r;
    for (int k = 0; k < 50; ++k) r = law.advance(shear, strain);
    const double ratio = deviator_norm(r.tau) / -trace(r.tau);
    EXPECT_NEAR(ratio, alpha(law), 1e-9);
    EXPECT_GT(ratio, last);
    last = ratio;
  }
}

TEST(DruckerPrager, InvertedParticlesBecomeLoose) {
  const auto law = sand(30, true);
  Strain<double, 3> strain = rest<DruckerPrager<double>, 3, double>(law);
  strain.F(0, 0) = -0.5;
  const Response<double, 3> r = law.advance(Mat<double, 3>::zero(), strain);
  for (const double t : r.tau.s) EXPECT_EQ(t, 0);
  EXPECT_EQ(norm(strain.F - Mat<double, 3>::identity()), 0);
}

// ---------------------------------------------------------------------------------------------------------------------
// Weakly compressible fluid, theory B.7.

TEST(WeaklyCompressible, PressureFollowsTheEquationOfState) {
  for (const double gamma : {2.0, 7.0}) {
    const auto law = law_from<WeaklyCompressible<double>>(R"({"bulk_modulus": 2e5, "tension": true, "gamma": )" +
                                                          std::to_string(gamma) + "}");
    for (const double J : {0.5, 0.9, 0.99, 1.0, 1.1}) {
      Strain<double, 3> strain = rest<WeaklyCompressible<double>, 3, double>(law);
      const Response<double, 3> r = law.advance(Mat<double, 3>::identity() * ((J - 1) / 3), strain);
      EXPECT_NEAR(law.volume_ratio(strain), J, 1e-14);
      const double p = 2e5 / gamma * (std::pow(J, -gamma) - 1);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) EXPECT_NEAR(r.tau(i, j), i == j ? -p * J : 0, 1e-12 * (2e5 + p));
    }
  }
}

TEST(WeaklyCompressible, ShearCostsNothing) {
  const auto law = law_from<WeaklyCompressible<double>>(R"({"bulk_modulus": 2e5})");
  Strain<double, 2> strain = rest<WeaklyCompressible<double>, 2, double>(law);
  Mat<double, 2> shear = Mat<double, 2>::zero();
  shear(0, 1) = 0.7;
  for (const double t : law.advance(shear, strain).tau.s) EXPECT_EQ(t, 0);
}

TEST(WeaklyCompressible, TensionIsAChoice) {
  const Mat<double, 3> spread = Mat<double, 3>::identity() * 0.02, gather = Mat<double, 3>::identity() * -0.01;
  const auto open = law_from<WeaklyCompressible<double>>(R"({"bulk_modulus": 2e5})");
  Strain<double, 3> strain = rest<WeaklyCompressible<double>, 3, double>(open);
  EXPECT_EQ(open.advance(spread, strain).tau(0, 0), 0);
  EXPECT_NEAR(open.volume_ratio(strain), 1.06, 1e-14);
  // What has spread must close up before it pushes back, or a splash would leave more water than there was.
  EXPECT_EQ(open.advance(gather, strain).tau(0, 0), 0);
  EXPECT_LT(open.advance(gather * 4.0, strain).tau(0, 0), 0);

  const auto tense = law_from<WeaklyCompressible<double>>(R"({"bulk_modulus": 2e5, "tension": true})");
  strain = rest<WeaklyCompressible<double>, 3, double>(tense);
  EXPECT_GT(tense.advance(spread, strain).tau(0, 0), 0);
  EXPECT_NEAR(tense.volume_ratio(strain), 1.06, 1e-14);
  EXPECT_GT(tense.advance(gather, strain).tau(0, 0), 0);
}

}  // namespace
}  // namespace tribo
