#include "tribo/linear/minres.h"

#include <gtest/gtest.h>

#include "dense.h"

/// \file
/// Minimal residuals on systems of either sign, against elimination and theory.

namespace tribo::TRIBO_BACKEND {
namespace {

using namespace test;

template <class Layout>
class Minres : public ::testing::Test {
 public:
  using System = DenseSystem<Layout>;
  static constexpr double eps = System::eps;

  struct Solved {
    linear::MinresReport report;
    Column x;
  };
  static Solved solve(System& system, const Column& b, double target, int most, Column x0 = {}) {
    linear::MinresWorkspace<typename System::Entry> work;
    work.resize(system.entries());
    for (auto* a : {&work.lanczos[0], &work.lanczos[1], &work.lanczos[2], &work.z[0], &work.z[1], &work.search[0],
                    &work.search[1]})
      system.upload(Column(b.size(), std::nan("")), *a);
    Array<typename System::Entry> right, x;
    system.upload(b, right);
    system.upload(x0.empty() ? Column(b.size(), 0.0) : x0, x);
    Solved s;
    s.report = linear::Minres<System>(system.exec(), "test", system, work).solve(right.data(), x.data(), target, most);
    s.x = system.get(x.data());
    return s;
  }
};
using Layouts = ::testing::Types<Listed<float>, Listed<double>, Packed<float>, Packed<double>>;
TYPED_TEST_SUITE(Minres, Layouts);

/// Half of the eigenvalues below zero, none nearer to it than 1.
Column of_either_sign(int n, double largest) {
  Column values = spread(n, 1, largest);
  for (int i = 0; i < n; i += 2) values[at(i)] *= -1;
  return values;
}

TYPED_TEST(Minres, SolvesWhatEliminationSolves) {
  const int n = 24;
  const double condition = 10;
  const Matrix A = with_eigenvalues(of_either_sign(n, condition), 1);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 2), x = solve_dense(A, b);
  for (const Column& begin : {Column(), random_column(n, 3)}) {
    const auto solved = this->solve(system, b, n * condition * this->eps * norm(b), 3 * n, begin);
    EXPECT_TRUE(solved.report.converged);
    // The residual over the least eigenvalue, and as much by rounding.
    EXPECT_LT(norm(minus(solved.x, x)), 2 * n * condition * this->eps * norm(b));
  }
}

TYPED_TEST(Minres, TheResidualNeverGrowsAndIsTheOneReported) {
  const int n = 24;
  const double condition = 10;
  const Matrix A = with_eigenvalues(of_either_sign(n, condition), 4);
  typename TestFixture::System system(A);
  const Column b = system.rounded(random_column(n, 5));
  const double rounding = n * condition * this->eps * norm(b);
  double before = norm(b), reported = norm(b);
  for (int k = 1; k <= n; ++k) {
    const auto solved = this->solve(system, b, 0, k);
    const double now = norm(residual(A, b, solved.x));
    EXPECT_LE(solved.report.residual, reported) << k;
    EXPECT_LE(now, before + rounding) << k;
    EXPECT_NEAR(solved.report.residual, now, rounding) << k;
    before = now;
    reported = solved.report.residual;
  }
}

TYPED_TEST(Minres, EndsWithAsManyIterationsAsEigenvalues) {
  const int n = 21;
  Column values(at(n));
  for (int i = 0; i < n; ++i) values[at(i)] = i % 3 == 0 ? -2 : i % 3 == 1 ? 1 : 5;
  const Matrix A = with_eigenvalues(values, 6);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 7);
  EXPECT_GT(norm(residual(A, b, this->solve(system, b, 0, 2).x)), 1e-3 * norm(b));
  EXPECT_LT(norm(residual(A, b, this->solve(system, b, 0, 3).x)), n * 5 * this->eps * norm(b));
}

/// With its magnitude as the preconditioner a diagonal has eigenvalues 1 and -1 alone.
TYPED_TEST(Minres, PreconditionersMayBeOfOneSignOnly) {
  const int n = 12;
  Column d, magnitude;
  for (int i = 0; i < n; ++i) {
    magnitude.push_back(std::exp2(i - 6));
    d.push_back(i % 3 == 0 ? -magnitude.back() : magnitude.back());
  }
  typename TestFixture::System system(diagonal(d), magnitude);
  const Column b = system.rounded(random_column(n, 8));
  const auto solved = this->solve(system, b, 0, 2);
  double scale = 0;  // |b| in the norm that is made least
  for (int i = 0; i < n; ++i) scale += b[at(i)] * b[at(i)] / magnitude[at(i)];
  for (int i = 0; i < n; ++i)
    EXPECT_NEAR(solved.x[at(i)], b[at(i)] / d[at(i)], n * this->eps * std::sqrt(scale / magnitude[at(i)]));
}

TYPED_TEST(Minres, HasNothingToDoForZero) {
  const int n = 6;
  typename TestFixture::System system(with_eigenvalues(of_either_sign(n, 2), 9));
  const auto solved = this->solve(system, Column(at(n), 0.0), 0, 10);
  EXPECT_TRUE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 0);
  EXPECT_EQ(solved.x, Column(at(n), 0.0));
}

/// Iterations end by themselves, however many are allowed, and leave of b what has no solution.
TYPED_TEST(Minres, LeavesOfSingularSystemsWhatHasNoSolution) {
  const int n = 12;
  const double condition = 4 / (2 - 2 * std::cos(2 * M_PI / n));
  const Matrix A = ring(n);
  typename TestFixture::System system(A);
  const Column free = system.rounded(without_mean(random_column(n, 10)));
  const double rounding = n * condition * this->eps * norm(free);
  const auto solved = this->solve(system, free, rounding, 10 * n);
  EXPECT_TRUE(solved.report.converged);
  EXPECT_LT(norm(residual(A, free, solved.x)), 2 * rounding);

  Column b = free;
  for (double& x : b) x += 0.5;
  const auto least = this->solve(system, b, rounding, n / 2);
  EXPECT_FALSE(least.report.converged);
  EXPECT_NEAR(norm(residual(A, b, least.x)), 0.5 * std::sqrt(n), rounding);
}

/// A b = 0: nothing can be gained.
TYPED_TEST(Minres, EndsWhereNothingCanBeGained) {
  typename TestFixture::System system(diagonal({0, 1, -1}));
  const auto solved = this->solve(system, {1, 0, 0}, 0, 10);
  EXPECT_FALSE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 1);
  EXPECT_EQ(solved.report.residual, 1);
  EXPECT_EQ(solved.x, Column(3, 0.0));
}

TYPED_TEST(Minres, DoesNotConvergeOnWhatIsNoNumber) {
  typename TestFixture::System system(diagonal({1, 2, -1}));
  const auto solved = this->solve(system, {1, std::nan(""), 0}, 1e-3, 10);
  EXPECT_FALSE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 0);
  EXPECT_EQ(solved.x, Column(3, 0.0));
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND
