#pragma once

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

/// \file
/// What every listed law must do, in float and double, in two and three dimensions, for random parameters. Laws are
/// driven the way a simulation does it, by steps with a velocity gradient, so that nothing here knows where a law keeps
/// its strain. Each law's tests are compiled in a file of its own, which cmake/law_files.cmake writes.

namespace tribo {
namespace {

using namespace test;

template <class C>
class EveryLaw : public ::testing::Test {};
TYPED_TEST_SUITE_P(EveryLaw);
template <class C>
class EveryLawInDouble : public ::testing::Test {};
TYPED_TEST_SUITE_P(EveryLawInDouble);

constexpr int trials = 400;

TYPED_TEST_P(EveryLaw, RestIsFreeOfStressAndEnergy) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto&, std::mt19937_64& random) {
    const double small = tol<Real>(1e-14, 4e-6) * modulus(law);
    for (int k = 0; k < 20; ++k) {
      auto strain = rest<decltype(law), D, Real>(law);
      if (k > 0) strain.F = cast_matrix<Real>(random_rotation<D>(random));
      const Response<Real, D> r = law.response(strain);
      for (const Real s : r.tau.s) ASSERT_NEAR(s, 0, small);
      ASSERT_NEAR(law.energy(strain), 0, small);
      ASSERT_NEAR(law.volume_ratio(strain), 1, tol<Real>(1e-14, 1e-6));
      ASSERT_GT(r.stiffness, 0);
    }
  });
}

/// The first-order change of the energy is the work of the stress, d psi = tau : G, in any elastic step G. For a law
/// in F this is P = dpsi/dF, for a law in the volume ratio alone p = -dpsi/dJ.
TYPED_TEST_P(EveryLawInDouble, StressIsTheDerivativeOfTheEnergy) {
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto&, std::mt19937_64& random) {
    constexpr double size = 1e-5;
    int elastic = 0, stressed = 0;
    for (int k = 0; k < trials; ++k) {
      const Strain<double, D> strain = random_strain<D>(law, random);
      Mat<double, D> G = random_matrix<D>(random);
      G = G * (size / norm(G));
      Strain<double, D> ahead = strain, behind = strain;
      if (!elastic_step(law, G, ahead) || !elastic_step(law, G * -1.0, behind)) continue;
      ++elastic;
      const double scale = modulus_at(law, strain);
      const Sym<double, D> tau = law.response(strain).tau;
      double work = 0;
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) work += tau(i, j) * G(i, j);
      stressed += std::abs(work) > 1e-3 * size * scale;
      // Truncation is of the square of the step, rounding 1e-16 over it.
      ASSERT_NEAR((law.energy(ahead) - law.energy(behind)) / (2 * size), work / size, 1e-8 * scale);
    }
    EXPECT_GT(elastic, trials / 20);
    EXPECT_GT(stressed, trials / 40);
  });
}

TYPED_TEST_P(EveryLaw, AgreesWithItselfInDouble) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto& exact, std::mt19937_64& random) {
    for (int k = 0; k < trials; ++k) {
      const Strain<Real, D> strain = cast_strain<Real>(random_strain<D>(exact, random));
      const double small = tol<Real>(0, 1e-5) * modulus_at(law, strain);
      const Strain<double, D> same = cast_strain<double>(strain);
      const Response<Real, D> r = law.response(strain);
      const Response<double, D> expected = exact.response(same);
      for (int i = 0; i < Sym<Real, D>::size; ++i) ASSERT_NEAR(r.tau.s[i], expected.tau.s[i], small);
      ASSERT_NEAR(r.stiffness, expected.stiffness, small);
      ASSERT_NEAR(law.energy(strain), exact.energy(same), small);
      ASSERT_NEAR(law.volume_ratio(strain), exact.volume_ratio(same), tol<Real>(0, 1e-6));
    }
  });
}

/// Turning the body turns the stress with it and changes nothing else.
TYPED_TEST_P(EveryLaw, Objectivity) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto& exact, std::mt19937_64& random) {
    for (int k = 0; k < trials; ++k) {
      const Strain<double, D> strain = random_strain<D>(exact, random);
      const double small = tol<Real>(1e-12, 1e-5) * modulus_at(exact, strain);
      const Mat<double, D> Q = random_rotation<D>(random);
      Strain<double, D> turned = strain;
      turned.F = Q * strain.F;
      const Strain<Real, D> a = cast_strain<Real>(strain), b = cast_strain<Real>(turned);
      const Response<Real, D> at = law.response(a), there = law.response(b);
      const Mat<double, D> expected = Q * cast_matrix<double>(full(at.tau)) * transpose(Q);
      for (int i = 0; i < D; ++i)
        for (int j = 0; j < D; ++j) ASSERT_NEAR(there.tau(i, j), expected(i, j), small);
      ASSERT_NEAR(law.energy(a), law.energy(b), small);
      ASSERT_NEAR(at.stiffness, there.stiffness, small);
    }
  });
}

TYPED_TEST_P(EveryLaw, EnergyIsNotNegative) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto& exact, std::mt19937_64& random) {
    for (int k = 0; k < trials; ++k) {
      const auto strain = cast_strain<Real>(random_strain<D>(exact, random, k % 2 ? 0.08 : 0.01));
      ASSERT_GE(law.energy(strain), -tol<Real>(1e-14, 4e-6) * modulus_at(law, strain));
    }
  });
}

/// The stress that a step returns is the one of the strain it leaves behind, and a step without motion, and without
/// time, changes nothing: the projection to the yield surface is a projection.
TYPED_TEST_P(EveryLaw, StepsAreConsistentAndProjectionIsIdempotent) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto& exact, std::mt19937_64& random) {
    for (int k = 0; k < trials; ++k) {
      Strain<Real, D> strain = cast_strain<Real>(random_strain<D>(exact, random));
      const Response<Real, D> returned = step(law, cast_matrix<Real>(random_matrix<D>(random) * 0.05), strain);
      const double scale = modulus_at(law, strain);
      const Response<Real, D> found = law.response(strain);
      for (int i = 0; i < Sym<Real, D>::size; ++i)
        ASSERT_NEAR(returned.tau.s[i], found.tau.s[i], tol<Real>(1e-12, 1e-5) * scale);
      ASSERT_NEAR(returned.stiffness, found.stiffness, tol<Real>(1e-12, 1e-5) * scale);

      Strain<Real, D> again = strain;
      step(law, Mat<Real, D>::zero(), again, 0);
      ASSERT_LE(difference(cast_strain<double>(strain), cast_strain<double>(again)), tol<Real>(1e-13, 5e-6));
    }
  });
}

TYPED_TEST_P(EveryLaw, ExtremeStrainsStayFinite) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto&, std::mt19937_64& random) {
    const auto expect_finite = [&](const Strain<Real, D>& strain, const Response<Real, D>& r) {
      for (const Real s : r.tau.s) ASSERT_TRUE(std::isfinite(s));
      ASSERT_TRUE(std::isfinite(r.stiffness));
      ASSERT_GE(r.stiffness, 0);
      for (int i = 0; i < D * D; ++i) ASSERT_TRUE(std::isfinite(strain.F(i / D, i % D)));
      for (const Real h : strain.history.c) ASSERT_TRUE(std::isfinite(h));
      ASSERT_TRUE(std::isfinite(law.energy(strain)));
      ASSERT_TRUE(std::isfinite(law.volume_ratio(strain)));
    };
    for (const Mat<double, D>& extreme : extreme_gradients<D>(random)) {
      Strain<Real, D> strain = rest<decltype(law), D, Real>(law);
      strain.F = cast_matrix<Real>(extreme);
      expect_finite(strain, law.response(strain));
      if (::testing::Test::HasFatalFailure()) return;
      const auto still = step(law, Mat<Real, D>::zero(), strain);
      expect_finite(strain, still);
      if (::testing::Test::HasFatalFailure()) return;

      // The same as one violent step from rest, which also reaches what is not kept in F.
      Strain<Real, D> thrown = rest<decltype(law), D, Real>(law);
      const auto after = step(law, cast_matrix<Real>(extreme - Mat<double, D>::identity()), thrown);
      expect_finite(thrown, after);
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

/// Packs mix all kinds of strain, so that a branch one lane needs must leave the others alone.
TYPED_TEST_P(EveryLaw, PacksHaveTheBitsOfScalars) {
  using Real = typename TypeParam::Real;
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto& exact, std::mt19937_64& random) {
    using T = default_lanes<Real>;
    constexpr int W = lane_count<T>;
    const auto extremes = extreme_gradients<D>(random);
    for (int k = 0; k < trials; ++k) {
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
      const auto expect_same = [&](const Response<T, D>& r, auto&& scalar) {
        const T energy = law.energy(pack), ratio = law.volume_ratio(pack);
        for (int l = 0; l < W; ++l) {
          Strain<Real, D>& own = strain[std::size_t(l)];
          const Response<Real, D> expected = scalar(own, G[std::size_t(l)]);
          for (int i = 0; i < Sym<Real, D>::size; ++i) ASSERT_EQ(bits(r.tau.s[i][l]), bits(expected.tau.s[i]));
          ASSERT_EQ(bits(r.stiffness[l]), bits(expected.stiffness));
          for (int i = 0; i < D * D; ++i) ASSERT_EQ(bits(pack.F(i / D, i % D)[l]), bits(own.F(i / D, i % D)));
          for (int i = 0; i < 2; ++i) ASSERT_EQ(bits(pack.history[i][l]), bits(own.history[i]));
          ASSERT_EQ(bits(energy[l]), bits(law.energy(own)));
          ASSERT_EQ(bits(ratio[l]), bits(law.volume_ratio(own)));
        }
      };
      expect_same(law.response(pack), [&](auto& own, const auto&) { return law.response(own); });
      if (::testing::Test::HasFatalFailure()) return;
      const Response<T, D> after = step(law, pack_G, pack);
      expect_same(after, [&](auto& own, const auto& move) { return step(law, move, own); });
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

/// The stiffness sets the elastic time step, so it must not be below the second derivative of the energy along any
/// step G of unit length.
TYPED_TEST_P(EveryLawInDouble, StiffnessBoundsTheSecondDerivative) {
  for_random_laws<TypeParam>([]<int D>(const auto& law, const auto&, std::mt19937_64& random) {
    constexpr double size = 1e-4;
    int elastic = 0;
    double closest = 0;
    for (int k = 0; k < trials; ++k) {
      const Strain<double, D> strain = random_strain<D>(law, random, 0.15);
      const double bound = law.response(strain).stiffness;
      for (int kind = 0; kind < 5; ++kind) {
        Mat<double, D> G = random_matrix<D>(random);
        const Mat<double, D> transposed = transpose(G);
        if (kind == 1) G = Mat<double, D>::identity();
        if (kind == 2) G = G + transposed;
        if (kind == 3) G = G - transposed;
        if (kind == 4)  // stretch along one direction
          for (int i = 0; i < D; ++i)
            for (int j = 0; j < D; ++j) G(i, j) = transposed(0, i) * transposed(0, j);
        G = G * (size / norm(G));
        Strain<double, D> ahead = strain, behind = strain;
        if (!elastic_step(law, G, ahead) || !elastic_step(law, G * -1.0, behind)) continue;
        ++elastic;
        const double second = (law.energy(ahead) - 2 * law.energy(strain) + law.energy(behind)) / (size * size);
        closest = std::max(closest, second / bound);
        // Rounding of the energies over step^2 is 1e-8 of the modulus.
        ASSERT_GE(bound, 0.999 * second) << "kind " << kind << ", J " << law.volume_ratio(strain);
      }
    }
    EXPECT_GT(elastic, trials / 10);
    // A bound far above the truth would only waste steps.
    EXPECT_GT(closest, 0.4);
  });
}

/// Viscous stress takes energy out of any motion, also of an inverted body, and none out of a rotation.
TYPED_TEST_P(EveryLaw, ViscosityOnlyDissipates) {
  using Real = typename TypeParam::Real;
  if constexpr (Viscous<typename TypeParam::Law>) {
    for_random_laws<TypeParam>([]<int D>(const auto& law, const auto& exact, std::mt19937_64& random) {
      for (int k = 0; k < trials; ++k) {
        Strain<double, D> strain = random_strain<D>(exact, random);
        const Mat<double, D> G = random_matrix<D>(random);
        const auto power = [&](const Mat<double, D>& velocity_gradient) {
          const Sym<Real, D> tau = law.viscous_stress(cast_matrix<Real>(velocity_gradient), cast_strain<Real>(strain));
          double sum = 0;
          for (int i = 0; i < D; ++i)
            for (int j = 0; j < D; ++j) sum += double(tau(i, j)) * velocity_gradient(i, j);
          return sum;
        };
        EXPECT_GT(power(G), 0);
        EXPECT_NEAR(power(G - transpose(G)), 0, tol<Real>(1e-13, 1e-5));
        EXPECT_NEAR(power(G * 2.0), 4 * power(G), tol<Real>(1e-12, 1e-4) * std::abs(power(G)));
        for (int i = 0; i < D; ++i) strain.F(i, 0) = -strain.F(i, 0);
        EXPECT_GT(power(G), 0);
      }
    });
  }
}

REGISTER_TYPED_TEST_SUITE_P(EveryLaw, RestIsFreeOfStressAndEnergy, AgreesWithItselfInDouble, Objectivity,
                            EnergyIsNotNegative, StepsAreConsistentAndProjectionIsIdempotent, ExtremeStrainsStayFinite,
                            PacksHaveTheBitsOfScalars, ViscosityOnlyDissipates);
REGISTER_TYPED_TEST_SUITE_P(EveryLawInDouble, StressIsTheDerivativeOfTheEnergy, StiffnessBoundsTheSecondDerivative);

}  // namespace
}  // namespace tribo
