#include "tribo/linear/cg.h"

#include <gtest/gtest.h>

#include "dense.h"
#include "tribo/linear/error_window.h"

/// \file
/// Conjugate gradients against elimination, and against what theory says of every iteration.

namespace tribo::TRIBO_BACKEND {
namespace {

using namespace test;

struct Never {
  bool after_step(const linear::CgReport&) const { return false; }
  bool at_residual(const linear::CgReport&, double) const { return false; }
};

template <class Layout>
class Cg : public ::testing::Test {
 public:
  using System = DenseSystem<Layout>;
  static constexpr double eps = System::eps;

  struct Solved {
    linear::CgReport report;
    Column x;
  };
  template <class Stop = Never>
  static Solved solve(System& system, const Column& b, int most, Stop stop = {}) {
    Array<typename System::Entry> x, r, p, Ap;
    system.upload(Column(b.size(), 0.0), x);
    system.upload(b, r);
    for (auto* a : {&p, &Ap}) system.upload(Column(b.size(), std::nan("")), *a);
    Solved s;
    s.report = linear::conjugate_gradients(system.exec(), "test", system, {x.data(), r.data(), p.data(), Ap.data()},
                                           stop, most);
    s.x = system.get(x.data());
    return s;
  }
};
using Layouts = ::testing::Types<Listed<float>, Listed<double>, Packed<float>, Packed<double>>;
TYPED_TEST_SUITE(Cg, Layouts);

TYPED_TEST(Cg, SolvesWhatEliminationSolves) {
  const int n = 24;
  const double condition = 50;
  const Matrix A = with_eigenvalues(spread(n, 1, condition), 1);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 2), x = solve_dense(A, b);
  const auto solved = this->solve(system, b, 2 * n);
  EXPECT_LT(norm(minus(solved.x, x)), n * condition * this->eps * norm(x));
}

/// The error, measured by the system, shrinks at least as Chebyshev's polynomials allow; what iterations have gained
/// and what is left add up.
TYPED_TEST(Cg, EveryIterationKeepsTheBound) {
  const int n = 24;
  const double condition = 50;
  const Matrix A = with_eigenvalues(spread(n, 1, condition), 3);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 4), x = solve_dense(A, b);
  const auto energy = [&](const Column& w) { return dot(w, times(A, w)); };
  const double rate = (std::sqrt(condition) - 1) / (std::sqrt(condition) + 1), whole = energy(x);
  const double rounding = n * condition * this->eps * whole;
  double before = whole;
  for (int k = 1; k <= n; ++k) {
    const auto solved = this->solve(system, b, k);
    const double left = energy(minus(solved.x, x));
    EXPECT_LE(std::sqrt(left), 2 * std::pow(rate, k) * std::sqrt(whole) + n * condition * this->eps * std::sqrt(whole))
        << k;
    EXPECT_LE(left, before + rounding) << k;
    EXPECT_NEAR(solved.report.energy + left, whole, rounding) << k;
    before = left;
  }
}

TYPED_TEST(Cg, EndsWithAsManyIterationsAsEigenvalues) {
  const int n = 21;
  Column values(at(n));
  for (int i = 0; i < n; ++i) values[at(i)] = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 10;
  const Matrix A = with_eigenvalues(values, 5);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 6);
  EXPECT_GT(norm(residual(A, b, this->solve(system, b, 2).x)), 1e-3 * norm(b));
  EXPECT_LT(norm(residual(A, b, this->solve(system, b, 3).x)), n * 10 * this->eps * norm(b));
}

/// With the system itself as the preconditioner there is one eigenvalue, 1.
TYPED_TEST(Cg, ExactPreconditionersNeedOneIteration) {
  const int n = 12;
  Column d;
  for (int i = 0; i < n; ++i) d.push_back(std::exp2(i - 6));
  typename TestFixture::System system(diagonal(d), d);
  const Column b = system.rounded(random_column(n, 7));
  const auto solved = this->solve(system, b, 1);
  for (int i = 0; i < n; ++i)
    EXPECT_NEAR(solved.x[at(i)], b[at(i)] / d[at(i)], n * this->eps * std::abs(b[at(i)] / d[at(i)]));
}

TYPED_TEST(Cg, HasNothingToDoForZero) {
  const int n = 6;
  typename TestFixture::System system(with_eigenvalues(spread(n, 1, 2), 8));
  const auto solved = this->solve(system, Column(at(n), 0.0), 10);
  EXPECT_EQ(solved.report.iterations, 0);
  EXPECT_EQ(solved.report.energy, 0);
  EXPECT_EQ(solved.x, Column(at(n), 0.0));
}

/// What the ring cannot resist never comes into a solution begun at zero.
TYPED_TEST(Cg, SolvesSingularSystemsThatHaveSolutions) {
  const int n = 12;
  const double condition = 4 / (2 - 2 * std::cos(2 * M_PI / n));
  const Matrix A = ring(n);
  typename TestFixture::System system(A);
  const Column b = system.rounded(without_mean(random_column(n, 9)));
  const auto solved = this->solve(system, b, n / 2);  // eigenvalues come in pairs, but for those of 0 and 4
  EXPECT_LT(norm(residual(A, b, solved.x)), n * condition * this->eps * norm(b));
  double mean = 0;
  for (const double x : solved.x) mean += x / n;
  EXPECT_LT(std::abs(mean), n * condition * this->eps * norm(solved.x));
}

TYPED_TEST(Cg, SaysThatItBeganWithoutNumbers) {
  const int n = 6;
  typename TestFixture::System system(with_eigenvalues(spread(n, 1, 2), 10));
  Column b(at(n), 1.0);
  b[2] = std::numeric_limits<double>::infinity();
  const auto solved = this->solve(system, b, 10);
  EXPECT_FALSE(std::isfinite(solved.report.energy));
  EXPECT_EQ(solved.report.iterations, 0);
  EXPECT_EQ(solved.x, Column(at(n), 0.0));
}

TYPED_TEST(Cg, EndsWhereASystemIsNotPositive) {
  typename TestFixture::System system(diagonal({-1, -2, -3}));
  const auto solved = this->solve(system, {1, 1, 1}, 10);
  EXPECT_EQ(solved.report.iterations, 1);
  EXPECT_EQ(solved.x, Column(3, 0.0));
}

/// Every iteration takes at least the part of the error that steepest descent would, q of it left with this condition
/// number: six of them are nearly all of it.
TYPED_TEST(Cg, WindowsSeeWhatIsLeft) {
  const int n = 30;
  const double condition = 4, q = std::pow((condition - 1) / (condition + 1), 2), left_of = std::pow(q, 6);
  const Matrix A = with_eigenvalues(spread(n, 1, condition), 11);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 12), x = solve_dense(A, b);
  for (const double target : {0.0, 1e-2 * dot(x, b), 1e3 * dot(x, b)}) {
    const auto solved = this->solve(system, b, n, linear::ErrorWindow(target));
    const Column error = minus(solved.x, x);
    const double allowed = std::max(0.0025 * solved.report.energy, 0.04 * target);
    EXPECT_GE(solved.report.iterations, 6);
    EXPECT_LT(solved.report.iterations, n);
    EXPECT_LE(dot(error, times(A, error)), left_of / (1 - left_of) * allowed);
  }
}

/// Where M = 1 is less than A, r . r is more than the error: it may end before a window is full.
TYPED_TEST(Cg, BoundsEndItEarlier) {
  const int n = 30;
  const Matrix A = with_eigenvalues(spread(n, 1, 4), 13);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 14), x = solve_dense(A, b);
  const auto solved = this->solve(system, b, n, linear::BoundedErrorWindow(0));
  const Column error = minus(solved.x, x);
  EXPECT_LT(solved.report.iterations, 6);
  EXPECT_LE(dot(error, times(A, error)), 0.0025 * solved.report.energy);
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND
