#include <gtest/gtest.h>

#include "strains.h"
#include "tribo/models/all.h"

/// \file
/// How much friction the laws of grains have, in the tests that soil mechanics knows, and that it does not depend on
/// the dimension.

namespace tribo {
namespace {

using namespace test;

constexpr double degree = 3.14159265358979323846 / 180;

template <class Law>
Law grains(double friction_angle, double cohesion = 0) {
  return law_from<Law>(R"({"youngs_modulus": 1e6, "poisson_ratio": 0.3, "friction_angle": )" +
                       std::to_string(friction_angle) + R"(, "cohesion": )" + std::to_string(cohesion) + "}");
}

/// Principal stresses in descending order, tension positive, after much flow along `rate` under pressure.
template <class Law, int D>
Vec<double, D> flowing_stress(const Law& law, const Mat<double, D>& rate) {
  Strain<double, D> strain = rest<Law, D, double>(law);
  step(law, Mat<double, D>::identity() * -0.002, strain);
  Response<double, D> r;
  for (int k = 0; k < 400; ++k) {
    r = step(law, rate, strain);
    const double volume = std::pow(determinant(strain.F) / std::pow(0.998, D), 1.0 / D);  // the pressure stays
    r = step(law, Mat<double, D>::identity() * (1 / volume - 1), strain);
  }
  Vec<double, D> principal;
  Mat<double, D> axes;
  symmetric_eigen(r.tau, principal, axes);
  std::sort(principal.c, principal.c + D, std::greater<>());
  return principal;
}
template <int D>
Mat<double, D> shearing() {
  Mat<double, D> rate = Mat<double, D>::zero();
  rate(0, 1) = 4e-4;  // and no more: the volume stays the same exactly
  return rate;
}
/// The sine of the angle of the steepest ratio of shear to pressure on any plane.
template <int D>
double mobilized(const Vec<double, D>& stress) {
  return (stress[0] - stress[D - 1]) / -(stress[0] + stress[D - 1]);
}

/// Compressed along one axis, free to spread along the others: both laws bear what the friction angle says.
TEST(Friction, CompressionAlongOneAxisMeasuresTheAngle) {
  for (const double angle : {10.0, 25.0, 40.0}) {
    Mat<double, 3> rate = Mat<double, 3>::identity() * 1e-4;
    rate(1, 1) = -2e-4;
    EXPECT_NEAR(mobilized(flowing_stress(grains<DruckerPrager<double>>(angle), rate)), std::sin(angle * degree), 1e-6);
    EXPECT_NEAR(mobilized(flowing_stress(grains<MohrCoulomb<double>>(angle), rate)), std::sin(angle * degree), 1e-6);
  }
}

/// Spread along one axis, Mohr-Coulomb grains bear the same, Drucker-Prager's cone more.
TEST(Friction, ExtensionAlongOneAxisTellsTheLawsApart) {
  for (const double angle : {10.0, 25.0, 40.0}) {
    Mat<double, 3> rate = Mat<double, 3>::identity() * -1e-4;
    rate(1, 1) = 2e-4;
    const double sine = std::sin(angle * degree);
    EXPECT_NEAR(mobilized(flowing_stress(grains<MohrCoulomb<double>>(angle), rate)), sine, 1e-6);
    // tau_1 - tau_3 = M p, p = -(tau_1 + 2 tau_3) / 3: sin = 3 M / (6 - M), M = 6 sin(phi) / (3 - sin(phi)).
    const double M = 6 * sine / (3 - sine);
    EXPECT_NEAR(mobilized(flowing_stress(grains<DruckerPrager<double>>(angle), rate)), 3 * M / (6 - M), 1e-6);
  }
}

/// In a sheared layer of three dimensions and in two dimensions the same law bears the same.
TEST(Friction, ShearIsTheSameInTwoAndThreeDimensions) {
  for (const double angle : {10.0, 25.0, 35.0}) {
    const double sine = std::sin(angle * degree);
    const auto cone = grains<DruckerPrager<double>>(angle);
    EXPECT_NEAR(mobilized(flowing_stress(cone, shearing<2>())), 2 * std::sqrt(3.0) * sine / (3 - sine), 1e-6);
    EXPECT_NEAR(mobilized(flowing_stress(cone, shearing<3>())), 2 * std::sqrt(3.0) * sine / (3 - sine), 1e-6);
    const auto planes = grains<MohrCoulomb<double>>(angle);
    EXPECT_NEAR(mobilized(flowing_stress(planes, shearing<2>())), sine, 1e-6);
    EXPECT_NEAR(mobilized(flowing_stress(planes, shearing<3>())), sine, 1e-6);
  }
}

/// Whatever the step, no plane bears more shear than friction and cohesion allow, and one that flows just that;
/// pressure is what the trial strain gives.
template <int D>
void check_mohr_coulomb() {
  std::mt19937_64 random(25);
  int elastic = 0, flowing = 0, loose = 0;
  for (int k = 0; k < 4000; ++k) {
    const double c = k % 2 == 0 ? 0 : uniform(random, 0, 4e4);
    const auto law = grains<MohrCoulomb<double>>(uniform(random, 10, 60), c);
    const double tiny = 1e-10 * law.mu, stiff = D * law.lambda + 2 * law.mu;
    Strain<double, D> strain = random_strain<D>(law, random, 0.02);
    Mat<double, D> G = random_matrix<D>(random) * (k % 3 == 0 ? 0.002 : 0.03);
    for (int i = 0; i < D; ++i) G(i, i) -= 0.01;
    const PrincipalStrain<D> p((Mat<double, D>::identity() + G) * strain.F);
    const double tr = p.trace + strain.history[0];
    const double volume_before = tr;
    Vec<double, D> stress;
    Mat<double, D> axes;
    const Sym<double, D> tau = law.advance(G, strain).tau;
    symmetric_eigen(tau, stress, axes);
    std::sort(stress.c, stress.c + D, std::greater<>());
    const double yield = stress[0] - stress[D - 1] - (2 * c - stress[0] - stress[D - 1]) * law.friction;
    ASSERT_LE(yield, tiny);
    if (stiff * tr >= D * c) {
      ++loose;
      for (int i = 0; i < D; ++i) ASSERT_NEAR(stress[i], c, tiny);
    } else {
      ASSERT_NEAR(trace(tau), stiff * tr, tiny);
      if (deviator_norm(tau) < 2 * law.mu * p.norm - tiny) {
        ++flowing;
        ASSERT_NEAR(yield, 0, tiny);
      } else {
        ++elastic;
      }
    }
    ASSERT_NEAR(std::log(determinant(strain.F)) + strain.history[0], volume_before, 1e-12);
  }
  EXPECT_GT(elastic, 200);
  EXPECT_GT(flowing, 200);
  EXPECT_GT(loose, 200);
}
TEST(MohrCoulomb, ReturnMappingInTwoDimensions) { check_mohr_coulomb<2>(); }
TEST(MohrCoulomb, ReturnMappingInThreeDimensions) { check_mohr_coulomb<3>(); }

}  // namespace
}  // namespace tribo
