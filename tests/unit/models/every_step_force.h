#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "every_law_promises.h"
#include "tribo/models/step_force.h"

/// \file
/// What implicit steps ask of every listed law: that the force of a step is the stress it ends with, that the tangent
/// is its derivative, and that the tangent is never indefinite.

namespace tribo {

// The file of a law includes no other.
template <class Real>
struct Grains;
template <class Real>
struct Snow;

namespace {

using namespace test;

template <class C>
class StepForceOf : public ::testing::Test {};
TYPED_TEST_SUITE_P(StepForceOf);
template <class C>
class StepForceInDouble : public ::testing::Test {};
TYPED_TEST_SUITE_P(StepForceInDouble);

constexpr int force_trials = 200;
constexpr double time_step = 0.05;

template <class Law>
Law without_viscosity(Law law) {
  if constexpr (Viscous<Law>) law.viscosity = 0;
  return law;
}

/// A dense symmetric matrix for checks.
using Square = std::vector<std::vector<double>>;

template <class Real, int N>
Square dense(const Sym<Real, N>& a) {
  Square r(N, std::vector<double>(N));
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) r[std::size_t(i)][std::size_t(j)] = double(a(i, j));
  return r;
}
double largest(const Square& a) {
  double r = 0;
  for (const auto& row : a)
    for (const double x : row) r = std::max(r, std::abs(x));
  return r;
}
/// Whether a + margin I has a Cholesky factor.
bool is_positive(Square a, double margin) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) a[i][i] += margin;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    if (!(a[j][j] > 0)) return false;
    a[j][j] = std::sqrt(a[j][j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  return true;
}

/// S is P F^T of the strain before the step, so that S (I + G)^T is the Kirchhoff stress after it; where only the
/// volume counts, (1 + tr G) S.
TYPED_TEST_P(StepForceOf, IsTheStressAfterTheStep) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& any_law, const auto& any_exact, std::mt19937_64& random) {
    const auto law = without_viscosity(any_law);
    const auto exact = without_viscosity(any_exact);
    for (int k = 0; k < force_trials; ++k) {
      Strain<Real, D> strain = cast_strain<Real>(random_strain<D>(exact, random));
      const Mat<Real, D> G = cast_matrix<Real>(random_matrix<D>(random) * (k % 2 ? 0.05 : 0.002));
      const StepForce<Real, D> force = step_force(law, G, strain, Real(time_step));
      const Response<Real, D> after = advance_law(law, G, strain, Real(time_step));
      const Mat<double, D> moved = Mat<double, D>::identity() + cast_matrix<double>(G);
      Mat<double, D> tau = cast_matrix<double>(force.S);
      if constexpr (VolumeLaw<decltype(law), Real>) {
        tau = tau * (1 + trace(cast_matrix<double>(G)));
      } else {
        tau = tau * transpose(moved);
      }
      const double small = tol<Real>(1e-11, 2e-5) * modulus_at(law, strain);
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) ASSERT_NEAR(tau(i, j), after.tau(i, j), small) << "trial " << k;
    }
  });
}

/// Central differences of S where they exist on both sides alike. Laws whose flow is not associated (sand in the cone,
/// snow beyond its limits) leave out a part that is not symmetric: those are compared while they are elastic.
TYPED_TEST_P(StepForceInDouble, TangentIsTheDerivative) {
  for_random_laws<TypeParam>([]<int D>(const auto& any_law, const auto&, std::mt19937_64& random) {
    const auto law = without_viscosity(any_law);  // it would hide what is taken as 0
    using Law = std::decay_t<decltype(law)>;
    constexpr bool associated = !std::is_base_of_v<Grains<double>, Law> && !std::is_same_v<Law, Snow<double>>;
    constexpr int N = D * D;
    constexpr double size = 1e-6;
    int compared = 0, exact = 0;  // the latter where nothing had to be taken as 0
    for (int k = 0; k < force_trials; ++k) {
      // Only in tension does nothing have to be taken as 0: pressure makes turning unstable.
      const bool pulled = k % 4 == 0;
      const Strain<double, D> strain = pulled ? rest<Law, D, double>(law) : random_strain<D>(law, random);
      Mat<double, D> G = random_matrix<D>(random) * (pulled ? 0.0005 : k % 2 ? 0.03 : 0.002);
      if (pulled) G = G + Mat<double, D>::identity() * 0.004;
      if constexpr (!associated) {
        Strain<double, D> moved = strain;
        advance_law(law, G, moved, time_step);
        if (norm(moved.F - advanced(G, strain.F)) > 1e-12) continue;
      }
      const StepForce<double, D> here = step_force(law, G, strain, time_step);
      const double scale = std::max(modulus_at(law, strain), largest(dense(here.K)));
      Square difference(N, std::vector<double>(N));
      bool smooth = true;
      for (int c = 0; c < N; ++c) {
        Mat<double, D> ahead = G, behind = G;
        ahead(c / D, c % D) += size;
        behind(c / D, c % D) -= size;
        const Mat<double, D> up = step_force(law, ahead, strain, time_step).S;
        const Mat<double, D> down = step_force(law, behind, strain, time_step).S;
        for (int r = 0; r < N; ++r) {
          const double forward = up(r / D, r % D) - here.S(r / D, r % D);
          const double backward = here.S(r / D, r % D) - down(r / D, r % D);
          smooth = smooth && std::abs(forward - backward) < 1e-3 * size * scale;
          difference[std::size_t(r)][std::size_t(c)] = (forward + backward) / (2 * size);
        }
      }
      if (!smooth) continue;
      ++compared;
      const double small = 1e-6 * scale;
      Square gap = dense(here.K);
      for (std::size_t r = 0; r < N; ++r)
        for (std::size_t c = 0; c < N; ++c) {
          ASSERT_NEAR(difference[r][c], difference[c][r], small) << "the force has no potential";
          gap[r][c] -= difference[r][c];
        }
      ASSERT_TRUE(is_positive(gap, N * small)) << "the tangent is below the derivative";
      // What is taken as 0 comes of turning the stress there is. Elastic grains and water have nothing else to hide.
      if constexpr (VolumeLaw<Law, double> || std::is_base_of_v<Grains<double>, Law>) {
        double stress = 0;
        for (int r = 0; r < N; ++r) stress = std::max(stress, std::abs(here.S(r / D, r % D)));
        ASSERT_LE(largest(gap), 2 * stress + small) << "trial " << k;
      }
      if (!is_positive(difference, -small)) continue;  // something was taken as 0
      ++exact;
      ASSERT_LE(largest(gap), small) << "trial " << k;
    }
    EXPECT_GT(compared, force_trials / 40);
    if constexpr (!VolumeLaw<Law, double> && !std::is_base_of_v<Grains<double>, Law>) {
      EXPECT_GT(exact, 0);
    }
  });
}

/// Viscosity adds its own stress and derivative, linear in G and stronger in shorter steps.
TYPED_TEST_P(StepForceInDouble, ViscosityIsImplicit) {
  if constexpr (Viscous<typename TypeParam::Law>) {
    for_random_laws<TypeParam>([]<int D>(const auto& law, const auto&, std::mt19937_64& random) {
      const auto elastic = without_viscosity(law);
      for (int k = 0; k < force_trials; ++k) {
        const Strain<double, D> strain = random_strain<D>(law, random);
        const Mat<double, D> G = random_matrix<D>(random) * 0.03;
        const StepForce<double, D> all = step_force(law, G, strain, time_step);
        const StepForce<double, D> part = step_force(elastic, G, strain, time_step);
        const Sym<double, D> viscous = law.viscous_stress(G * (1 / time_step), strain);
        const double small = 1e-12 * std::max(largest(dense(all.K)), modulus_at(law, strain));
        for (int r = 0; r < D * D; ++r) {
          const double added = all.S(r / D, r % D) - part.S(r / D, r % D);
          ASSERT_NEAR(added, viscous(r / D, r % D), small);
          double by_tangent = 0;
          for (int c = 0; c < D * D; ++c) by_tangent += (all.K(r, c) - part.K(r, c)) * G(c / D, c % D);
          ASSERT_NEAR(added, by_tangent, small);
        }
      }
    });
  }
}

/// Also where no simulation should go.
TYPED_TEST_P(StepForceOf, TangentIsNeverIndefinite) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto&, std::mt19937_64& random) {
    for (const Mat<double, D>& extreme : extreme_gradients<D>(random)) {
      if (norm(extreme) > 100) continue;
      const Strain<Real, D> strain = rest<decltype(law), D, Real>(law);
      const Mat<Real, D> G = cast_matrix<Real>(extreme - Mat<double, D>::identity());
      const StepForce<Real, D> force = step_force(law, G, strain, Real(time_step));
      for (int i = 0; i < D * D; ++i) ASSERT_TRUE(std::isfinite(force.S(i / D, i % D)));
      const Square K = dense(force.K);
      ASSERT_TRUE(std::isfinite(largest(K)));
      ASSERT_TRUE(is_positive(K, tol<Real>(1e-12, 1e-5) * std::max(largest(K), 1e-30)));
    }
  });
}

TYPED_TEST_P(StepForceOf, PacksHaveTheBitsOfScalars) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto& exact, std::mt19937_64& random) {
    using T = default_lanes<Real>;
    constexpr int W = lane_count<T>;
    const auto extremes = extreme_gradients<D>(random);
    for (int k = 0; k < force_trials / 4; ++k) {
      std::array<Strain<Real, D>, W> strain;
      std::array<Mat<Real, D>, W> G;
      Strain<T, D> pack;
      Mat<T, D> pack_G;
      for (int l = 0; l < W; ++l) {
        strain[std::size_t(l)] = cast_strain<Real>(random_strain<D>(exact, random));
        if (random() % 4 == 0) strain[std::size_t(l)].F = cast_matrix<Real>(extremes[random() % extremes.size()]);
        G[std::size_t(l)] = cast_matrix<Real>(random_matrix<D>(random) * (random() % 4 == 0 ? 0.0 : 0.1));
        for (int i = 0; i < D; ++i)
          for (int j = 0; j < D; ++j) {
            pack.F(i, j).set(l, strain[std::size_t(l)].F(i, j));
            pack_G(i, j).set(l, G[std::size_t(l)](i, j));
          }
        for (int i = 0; i < 2; ++i) pack.history[i].set(l, strain[std::size_t(l)].history[i]);
      }
      const StepForce<T, D> together = step_force(law, pack_G, pack, T(Real(time_step)));
      for (int l = 0; l < W; ++l) {
        const StepForce<Real, D> alone = step_force(law, G[std::size_t(l)], strain[std::size_t(l)], Real(time_step));
        for (int i = 0; i < D * D; ++i) ASSERT_EQ(bits(together.S(i / D, i % D)[l]), bits(alone.S(i / D, i % D)));
        for (int i = 0; i < Sym<Real, D * D>::size; ++i) ASSERT_EQ(bits(together.K.s[i][l]), bits(alone.K.s[i]));
      }
    }
  });
}

REGISTER_TYPED_TEST_SUITE_P(StepForceOf, IsTheStressAfterTheStep, TangentIsNeverIndefinite, PacksHaveTheBitsOfScalars);
REGISTER_TYPED_TEST_SUITE_P(StepForceInDouble, TangentIsTheDerivative, ViscosityIsImplicit);

}  // namespace
}  // namespace tribo

/// What the file of a law holds.
#define TRIBO_TEST_LAW(Law)                                                                    \
  INSTANTIATE_TYPED_TEST_SUITE_P(Law, EveryLaw, test::BothPrecisions<Law>, test::CaseName);    \
  INSTANTIATE_TYPED_TEST_SUITE_P(Law, EveryLawInDouble, test::InDouble<Law>, test::CaseName);  \
  INSTANTIATE_TYPED_TEST_SUITE_P(Law, StepForceOf, test::BothPrecisions<Law>, test::CaseName); \
  INSTANTIATE_TYPED_TEST_SUITE_P(Law, StepForceInDouble, test::InDouble<Law>, test::CaseName);
