#include "tribo/models/codim/curve.h"

#include <gtest/gtest.h>

#include "strains.h"
#include "tribo/matter/curves/seed.h"

/// \file
/// The law of curves in the grid (Jiang 2017; theory C): its stress is the derivative of its energy, it does not care
/// about rotations, and the return mapping ends on the yield surface.

namespace tribo {
namespace {

using namespace test;
using Mat3 = Mat<double, 3>;

CurveLaw<double> yarn(double friction) { return curve_law(5e5, 1e5, 2e5, 0.3, friction); }

Mat3 random_shape(std::mt19937_64& random, double size) {
  return random_rotation<3>(random) * (Mat3::identity() + random_matrix<3>(random) * size);
}

double energy(const CurveLaw<double>& law, const Mat3& F) { return law.energy(CodimFrame<double>(F).R); }

/// F with its normals mapped back.
Mat3 mapped(const CurveLaw<double>& law, Mat3 F) {
  Vec<double, 3> d2, d3;
  law.project(CodimFrame<double>(F), d2, d3);
  put_column(F, 1, d2);
  put_column(F, 2, d3);
  return F;
}

/// What J17 4.5.2 calls the two yield functions, from the stress itself: across the fiber by the principal stresses of
/// the section, along it by the shear traction. Both must not be positive.
struct Yield {
  double across, along, pressure;
  Yield(const CurveLaw<double>& law, const Mat3& F) {
    const CodimFrame<double> frame(F);
    const Mat3 tau = transpose(frame.Q) * (frame.piola(law.slope(frame.R)) * transpose(F)) * frame.Q;
    pressure = -0.5 * (tau(1, 1) + tau(2, 2));
    const double spread = std::hypot(tau(1, 1) - tau(2, 2), 2 * tau(1, 2));  // of principal stresses
    across = spread - law.across * pressure;
    along = std::hypot(tau(0, 1), tau(0, 2)) - law.along * pressure;
  }
};

TEST(Curve, FactorsGiveTheDirectionsBack) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 200; ++k) {
    const Mat3 F = random_matrix<3>(random);
    const CodimFrame<double> frame(F);
    ASSERT_TRUE(frame.defined);
    EXPECT_LT(norm(frame.Q * frame.R - F), 1e-13);
    EXPECT_NEAR(determinant(frame.Q), 1, 1e-13);
    EXPECT_EQ(frame.R(2, 2) < 0, determinant(F) < 0) << "an inverted section shows in r33 alone";
  }
  Mat3 flat = Mat3::identity();
  put_column(flat, 1, column_of(flat, 0));
  EXPECT_FALSE(CodimFrame<double>(flat).defined);
}

/// P = dpsi/dF by differences, at strains small and large, sections nearly round included (the series).
TEST(Curve, StressIsTheDerivativeOfTheEnergy) {
  std::mt19937_64 random(2);
  const CurveLaw<double> law = yarn(0.5);
  for (int k = 0; k < 400; ++k) {
    const Mat3 F = random_shape(random, k % 2 == 0 ? 0.2 : 0.01);
    if (determinant(F) < 0.1) continue;
    const CodimFrame<double> frame(F);
    const Mat3 P = frame.piola(law.slope(frame.R)), dF = random_matrix<3>(random);
    constexpr double h = 1e-6;
    const double numeric = (energy(law, F + dF * h) - energy(law, F + dF * -h)) / (2 * h);
    double work = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) work += P(i, j) * dF(i, j);
    ASSERT_NEAR(numeric, work, 2e-3) << k;  // of 1e5
    const Mat3 tau = P * transpose(F);
    ASSERT_LT(norm(tau - transpose(tau)), 1e-9 * norm(tau)) << "no torque";
  }
}

TEST(Curve, RestsWithoutStressAndTurnsWithTheBody) {
  std::mt19937_64 random(3);
  const CurveLaw<double> law = yarn(0.5);
  for (int k = 0; k < 100; ++k) {
    const Mat3 Q = random_rotation<3>(random), F = random_shape(random, 0.2);
    const CodimFrame<double> rest(Q);
    EXPECT_LT(norm(rest.piola(law.slope(rest.R))), 1e-9);
    if (determinant(F) < 0.1) continue;
    EXPECT_NEAR(energy(law, Q * F), energy(law, F), 1e-9 * energy(law, F));
  }
}

/// Every case of the mapping ends on or inside both yield surfaces, on them where it flows; flow keeps the area of the
/// section, and what is on the surface stays.
TEST(Curve, ReturnMappingEndsOnTheYieldSurface) {
  std::mt19937_64 random(4);
  int loose = 0, elastic = 0, flows = 0, slips = 0, inverted = 0;
  for (int k = 0; k < 4000; ++k) {
    const CurveLaw<double> law = yarn(uniform(random, 0, 1.5));
    const double size = k % 3 == 0 ? 0.3 : 0.02;
    Mat3 shape = Mat3::identity() + random_matrix<3>(random) * size;
    if (k % 4 != 0)  // press the section together, or hardly any would bear load
      for (int i = 0; i < 3; ++i) {
        shape(i, 1) *= 1 - 2 * size;
        shape(i, 2) *= 1 - 2 * size;
      }
    const Mat3 trial = random_rotation<3>(random) * shape, F = mapped(law, trial);
    const double tiny = 1e-10 * law.fiber;
    const CodimFrame<double> before(trial), after(F);
    ASSERT_GT(after.R(2, 2), 0);
    EXPECT_NEAR(after.R(0, 0), before.R(0, 0), 1e-12) << "the tangent is the vertices'";
    const Yield yield(law, F);
    EXPECT_LE(yield.across, tiny);
    EXPECT_LE(yield.along, tiny);
    EXPECT_LT(norm(mapped(law, F) - F), 1e-9) << "mapped twice";
    if (before.R(2, 2) <= 1e-4) {
      ++inverted;
      EXPECT_NEAR(yield.pressure, 0, tiny);
      continue;
    }
    const double area = before.R(1, 1) * before.R(2, 2);
    if (area >= 1) {
      ++loose;
      EXPECT_NEAR(yield.pressure, 0, tiny) << "no tension across";
      EXPECT_LT(std::hypot(after.R(0, 1), after.R(0, 2)), 1e-12) << "and no shear without pressure";
      continue;
    }
    EXPECT_NEAR(after.R(1, 1) * after.R(2, 2), area, 1e-9 * area);
    const Yield was(law, trial);
    if (was.across > 0) {
      ++flows;
      EXPECT_NEAR(yield.across, 0, tiny);
    } else if (was.along <= 0) {
      ++elastic;
      EXPECT_LT(norm(F - trial), 1e-12);
    }
    if (was.across <= 0 && was.along > 0) {
      ++slips;
      EXPECT_NEAR(yield.along, 0, tiny);
    }
  }
  EXPECT_GT(loose, 100);
  EXPECT_GT(elastic, 20);
  EXPECT_GT(flows, 100);
  EXPECT_GT(slips, 20);
  EXPECT_GT(inverted, 5);
}

/// Pressed and sheared along, it bears tan(phi) times the pressure; pulled apart and pressed again, it is as at first.
TEST(Curve, SlipsAtCoulombsBound) {
  for (const double friction : {0.0, 0.2, 0.6}) {
    const CurveLaw<double> law = yarn(friction);
    Mat3 F = Mat3::identity();
    F(1, 1) = F(2, 2) = 0.95;
    for (int k = 0; k < 100; ++k) {  // material beside it moves along the fiber
      F(0, 1) += 0.01;
      F = mapped(law, F);
    }
    const Yield yield(law, F);
    EXPECT_GT(yield.pressure, 1e3);
    EXPECT_NEAR(yield.along, 0, 1e-6 * yield.pressure);
    F(1, 1) *= 1.2;
    F = mapped(law, F);
    EXPECT_LT(norm(F - Mat3::identity()), 1e-12);
  }
}

/// Engines run it in float, too.
TEST(Curve, FloatAgrees) {
  std::mt19937_64 random(5);
  const CurveLaw<double> law = yarn(0.4);
  const CurveLaw<float> narrow{float(law.fiber),  float(law.shear),  float(law.mu),
                               float(law.lambda), float(law.across), float(law.along)};
  for (int k = 0; k < 200; ++k) {
    const Mat3 F = mapped(law, random_shape(random, 0.05));
    const CodimFrame<double> frame(F);
    const CodimFrame<float> narrow_frame(cast_matrix<float>(F));
    const Mat3 P = frame.piola(law.slope(frame.R));
    const Mat3 other = cast_matrix<double>(narrow_frame.piola(narrow.slope(narrow_frame.R)));
    EXPECT_LT(norm(P - other), 3e-6 * law.fiber);
  }
}

}  // namespace
}  // namespace tribo
