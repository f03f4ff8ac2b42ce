#include <gtest/gtest.h>

#include "strains.h"
#include "tribo/models/all.h"

/// \file
/// What the elastic laws promise beyond what every law does (laws_test.cpp).

namespace tribo {
namespace {

using namespace test;

/// |numerical derivative of the energy - work of the stress| per unit step, over the stiffness.
template <int D, class Law>
double work_error(const Law& law, const Strain<double, D>& strain, std::mt19937_64& random) {
  constexpr double size = 1e-6;
  Mat<double, D> G = random_matrix<D>(random);
  G = G * (size / norm(G));
  Strain<double, D> ahead = strain, behind = strain;
  step(law, G, ahead, 0);
  step(law, G * -1.0, behind, 0);
  const Response<double, D> r = law.response(strain);
  double work = 0;
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) work += r.tau(i, j) * G(i, j);
  return std::abs((law.energy(ahead) - law.energy(behind)) / 2 - work) / (size * r.stiffness);
}

/// Flat and inverted particles: F has no logarithm there, yet the stress is the derivative of an energy that falls on
/// the way back to a proper volume, and both pass the seam without a jump.
template <class Law>
void check_continuation() {
  const auto law = law_from<Law>(R"({"youngs_modulus": 1e5, "poisson_ratio": 0.3})");
  std::mt19937_64 random(7);
  const auto energy = [&](double s) {
    Strain<double, 3> strain = rest<Law, 3, double>(law);
    strain.F(2, 2) = s;
    return law.energy(strain);
  };
  double last = energy(-0.9);  // beyond -1 another stretch is the smallest and carries the sign
  for (double s = -0.89; s < 1; s += 0.01) {
    ASSERT_LT(energy(s), last) << s;
    last = energy(s);
  }
  const double seam = 0.01;
  EXPECT_NEAR(energy(seam * (1 - 1e-9)), energy(seam * (1 + 1e-9)), 1e-7 * energy(seam));
  for (int k = 0; k < 200; ++k) {
    Vec<double, 3> s{{uniform(random, 0.8, 1.2), uniform(random, 0.8, 1.2), uniform(random, -0.7, 0.7)}};
    Strain<double, 3> strain = rest<Law, 3, double>(law);
    strain.F = random_rotation<3>(random) * Mat<double, 3>::diagonal(s) * random_rotation<3>(random);
    // The stiffness of inverted particles is huge, as is the curvature: compare with that.
    ASSERT_LE(work_error(law, strain, random), 1e-6) << s[2];
  }
  Strain<double, 3> inverted = rest<Law, 3, double>(law);
  inverted.F(2, 2) = -0.3;
  EXPECT_GT(law.response(inverted).tau(2, 2), 0) << "it must contract: F(2, 2) goes towards zero";
}

TEST(NeoHookean, FlatAndInvertedParticlesAreDrivenBack) { check_continuation<NeoHookean<double>>(); }
TEST(Hencky, FlatAndInvertedParticlesAreDrivenBack) { check_continuation<Hencky<double>>(); }

TEST(NeoHookean, UniaxialStressIsKnown) {
  const auto law = law_from<NeoHookean<double>>(R"({"youngs_modulus": 1e5, "poisson_ratio": 0.25})");
  const double mu = 4e4, lambda = 4e4, s = 1.7;
  Strain<double, 3> strain = rest<NeoHookean<double>, 3, double>(law);
  strain.F(1, 1) = s;
  const Sym<double, 3> tau = law.response(strain).tau;
  EXPECT_NEAR(tau(1, 1), mu * (s * s - 1) + lambda * std::log(s), 1e-9);
  EXPECT_NEAR(tau(0, 0), lambda * std::log(s), 1e-9);
  EXPECT_NEAR(tau(0, 1), 0, 1e-9);
  EXPECT_NEAR(law.energy(strain), mu / 2 * (s * s - 1) - mu * std::log(s) + lambda / 2 * std::log(s) * std::log(s),
              1e-9);
}

/// Incompressible rubber pulled to three times its length: the Mooney curve tau = mu (s^2 - 1/s) of text books.
TEST(NeoHookean, FollowsTheTextBookCurveOfRubber) {
  const auto law = law_from<NeoHookean<double>>(R"({"youngs_modulus": 3e5, "poisson_ratio": 0.4999})");
  for (const double s : {0.5, 2.0, 3.0}) {
    Strain<double, 3> strain = rest<NeoHookean<double>, 3, double>(law);
    strain.F = Mat<double, 3>::diagonal({{s, 1 / std::sqrt(s), 1 / std::sqrt(s)}});
    const Sym<double, 3> tau = law.response(strain).tau;  // up to a pressure
    EXPECT_NEAR(tau(0, 0) - tau(1, 1), law.mu * (s * s - 1 / s), 1e-9 * law.mu);
  }
}

TEST(Hencky, UniaxialStressIsLinearInTheLogarithm) {
  const auto law = law_from<Hencky<double>>(R"({"youngs_modulus": 1e5, "poisson_ratio": 0.25})");
  for (const double s : {0.3, 0.5, 2.0, 4.0}) {
    Strain<double, 3> strain = rest<Hencky<double>, 3, double>(law);
    strain.F(1, 1) = s;
    const Sym<double, 3> tau = law.response(strain).tau;
    EXPECT_NEAR(tau(1, 1), (2 * law.mu + law.lambda) * std::log(s), 1e-9);
    EXPECT_NEAR(tau(0, 0), law.lambda * std::log(s), 1e-9);
  }
  // Free sideways, E ln(s): pulling to twice and pushing to half the length cost the same.
  const double e = std::log(2.0);
  Strain<double, 3> pulled = rest<Hencky<double>, 3, double>(law), pushed = pulled;
  pulled.F = Mat<double, 3>::diagonal({{2, std::exp(-0.25 * e), std::exp(-0.25 * e)}});
  pushed.F = Mat<double, 3>::diagonal({{0.5, std::exp(0.25 * e), std::exp(0.25 * e)}});
  EXPECT_NEAR(law.response(pulled).tau(0, 0), 1e5 * e, 1e-8);
  EXPECT_NEAR(law.response(pulled).tau(1, 1), 0, 1e-9);
  EXPECT_NEAR(law.energy(pulled), law.energy(pushed), 1e-8);
}

/// The bound of the stiffness holds at any strain: in tension, compression and shear by factors of ten.
template <class Law, int D>
void check_bound_of_large_strains() {
  std::mt19937_64 random(21);
  double closest = 0;
  for (int k = 0; k < 20000; ++k) {
    const auto law =
        law_from<Law>(R"({"youngs_modulus": 1, "poisson_ratio": )" + std::to_string(uniform(random, -0.5, 0.45)) + "}");
    Vec<double, D> s;
    for (int i = 0; i < D; ++i) s[i] = std::exp(uniform(random, -1.5, 1.5));
    Strain<double, D> strain = rest<Law, D, double>(law);
    strain.F = random_rotation<D>(random) * Mat<double, D>::diagonal(s) * random_rotation<D>(random);
    Mat<double, D> G = random_matrix<D>(random);
    if (k % 3 == 0) G = G - transpose(G);
    if (k % 3 == 1) G = G + transpose(G);
    const double size = 1e-4;
    G = G * (size / norm(G));
    Strain<double, D> ahead = strain, behind = strain;
    law.advance(G, ahead);
    law.advance(G * -1.0, behind);
    const double second = (law.energy(ahead) - 2 * law.energy(strain) + law.energy(behind)) / (size * size);
    const double bound = law.response(strain).stiffness;
    closest = std::max(closest, second / bound);
    ASSERT_GE(bound, second - 1e-5 * bound);
  }
  EXPECT_GT(closest, 0.7);
}
TEST(Hencky, StiffnessBoundHoldsForLargeStrains) {
  check_bound_of_large_strains<Hencky<double>, 2>();
  check_bound_of_large_strains<Hencky<double>, 3>();
}
TEST(NeoHookean, StiffnessBoundHoldsForLargeStrains) {
  check_bound_of_large_strains<NeoHookean<double>, 2>();
  check_bound_of_large_strains<NeoHookean<double>, 3>();
}

// ---------------------------------------------------------------------------------------------------------------------
// Viscoelastic foam.

Viscoelastic<double> foam(double lasting, double time, bool volume = true) {
  return law_from<Viscoelastic<double>>(R"({"youngs_modulus": 2e4, "poisson_ratio": 0.2, "lasting_fraction": )" +
                                        std::to_string(lasting) + R"(, "relaxation_time": )" + std::to_string(time) +
                                        R"(, "volume_relaxes": )" + (volume ? "true}" : "false}"));
}

/// The stress of a strain that is held falls as a + (1 - a) exp(-t / t_r), for any number of steps.
TEST(Viscoelastic, HeldStressRelaxes) {
  const double lasting = 0.25, time = 0.5;
  std::mt19937_64 random(2);
  for (const bool volume : {true, false}) {
    const auto law = foam(lasting, time, volume);
    const Hencky<double> quick{law.mu, law.lambda, 0};
    for (const int steps : {1, 7, 1000}) {
      Strain<double, 3> strain = rest<Viscoelastic<double>, 3, double>(law);
      const Mat<double, 3> G = random_matrix<3>(random) * 0.1;
      const Sym<double, 3> first = law.advance(G, strain, 0.0).tau;
      const Sym<double, 3> elastic = quick.response(strain).tau;
      for (int i = 0; i < 6; ++i) EXPECT_NEAR(first.s[i], elastic.s[i], 1e-10 * law.mu) << "no time, no relaxation";
      const double held = 0.8;
      Sym<double, 3> tau = first;
      for (int k = 0; k < steps; ++k) tau = law.advance(Mat<double, 3>::zero(), strain, held / steps).tau;
      const double left = lasting + (1 - lasting) * std::exp(-held / time);
      const double mean = trace(first) / 3;
      for (int i = 0; i < 3; ++i)
        for (int j = i; j < 3; ++j) {
          const double pressure = i == j ? mean : 0;
          EXPECT_NEAR(tau(i, j), (first(i, j) - pressure) * left + pressure * (volume ? left : 1), 1e-9 * law.mu);
        }
    }
  }
}

/// Without work from outside energy is only lost: over any motion the stored energy is at most the work done.
TEST(Viscoelastic, StoresNoMoreThanTheWorkDone) {
  std::mt19937_64 random(4);
  for (int k = 0; k < 50; ++k) {
    const auto law = foam(uniform(random, 0.05, 1), 0.1);
    Strain<double, 3> strain = rest<Viscoelastic<double>, 3, double>(law);
    Sym<double, 3> before = law.response(strain).tau;
    double work = 0;
    for (int n = 0; n < 2000; ++n) {
      Mat<double, 3> G = Mat<double, 3>::zero();  // to and fro
      G(0, 0) = 2e-3 * std::sin(0.005 * n);
      G(0, 1) = 1e-3 * std::cos(0.011 * n);
      const Sym<double, 3> after = law.advance(G, strain, 1e-3).tau;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) work += 0.5 * (before(i, j) + after(i, j)) * G(i, j);
      before = after;
      ASSERT_LE(law.energy(strain), work + 1e-4 * law.mu);
    }
    EXPECT_GT(work, 1e-3 * law.mu);
  }
}

/// A block squeezed for long and let go rests at first below its old height, and then comes back to it: with a free to
/// move rate of t_r / a.
TEST(Viscoelastic, SpringsBackSlowly) {
  const double lasting = 0.25, time = 0.2;
  const auto law = foam(lasting, time);
  Strain<double, 3> strain = rest<Viscoelastic<double>, 3, double>(law);
  law.advance(Mat<double, 3>::identity() * -0.2, strain, 0.0);
  law.advance(Mat<double, 3>::zero(), strain, 100.0);
  const double squeezed = strain.history[1];
  EXPECT_NEAR(squeezed, 3 * std::log(0.8), 1e-12);
  // Free of stress: tr e = (1 - a) w.
  const auto settle = [&] {
    double tr = std::log(determinant(strain.F));
    law.advance(Mat<double, 3>::identity() * (std::exp(((1 - lasting) * strain.history[1] - tr) / 3) - 1), strain, 0.0);
  };
  settle();
  for (const double t : law.response(strain).tau.s) EXPECT_NEAR(t, 0, 1e-9 * law.mu);
  EXPECT_NEAR(std::log(law.volume_ratio(strain)), (1 - lasting) * squeezed, 1e-12);
  const double dt = 1e-4, wait = 0.5;
  for (int k = 0; k < int(wait / dt); ++k) {
    law.advance(Mat<double, 3>::zero(), strain, dt);
    settle();
  }
  EXPECT_NEAR(std::log(law.volume_ratio(strain)), (1 - lasting) * squeezed * std::exp(-lasting * wait / time),
              1e-3 * std::abs(squeezed));
}

TEST(Viscoelastic, WithoutARelaxingShareItIsHencky) {
  const auto law = foam(1, 0.1);
  const Hencky<double> elastic{law.mu, law.lambda, 0};
  std::mt19937_64 random(3);
  Strain<double, 3> a = rest<Viscoelastic<double>, 3, double>(law), b = a;
  for (int k = 0; k < 100; ++k) {
    const Mat<double, 3> G = random_matrix<3>(random) * 0.01;
    const Sym<double, 3> tau = law.advance(G, a, 0.01).tau, expected = elastic.advance(G, b).tau;
    for (int i = 0; i < 6; ++i) ASSERT_NEAR(tau.s[i], expected.s[i], 1e-10 * law.mu);
  }
}

}  // namespace
}  // namespace tribo
