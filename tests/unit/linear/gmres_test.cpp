#include "tribo/linear/gmres.h"

#include <gtest/gtest.h>

#include "dense.h"

/// \file
/// Generalized minimal residuals on systems that are not symmetric, against elimination and theory.

namespace tribo::TRIBO_BACKEND {
namespace {

using namespace test;

template <class Layout>
class Gmres : public ::testing::Test {
 public:
  using System = DenseSystem<Layout>;
  static constexpr double eps = System::eps;

  struct Solved {
    linear::GmresReport report;
    Column x;
  };
  static Solved solve(System& system, const Column& b, int restart, double target, int most, Column x0 = {}) {
    linear::GmresWorkspace<typename System::Entry> work;
    work.resize(system.entries(), restart);
    for (int k = 0; k <= restart; ++k) {
      Array<typename System::Entry> empty;
      system.upload(Column(b.size(), std::nan("")), empty);
      std::copy_n(empty.data(), system.entries(), work.vector(k));
    }
    system.upload(Column(b.size(), std::nan("")), work.z);
    Array<typename System::Entry> right, x;
    system.upload(b, right);
    system.upload(x0.empty() ? Column(b.size(), 0.0) : x0, x);
    Solved s;
    s.report = linear::Gmres<System>(system.exec(), "test", system, work).solve(right.data(), x.data(), target, most);
    s.x = system.get(x.data());
    return s;
  }
};
using Layouts = ::testing::Types<Listed<float>, Listed<double>, Packed<float>, Packed<double>>;
TYPED_TEST_SUITE(Gmres, Layouts);

/// 1 and a random matrix of norm below a half: not symmetric, singular values from 1/2 to 3/2.
Matrix near_one(int n, unsigned seed) {
  Matrix A = zero(n);
  for (int i = 0; i < n; ++i) A[at(i)] = random_column(n, 1000 * seed + static_cast<unsigned>(i));
  double squares = 0;
  for (const Column& row : A) squares += dot(row, row);
  for (Column& row : A)
    for (double& x : row) x *= 0.5 / std::sqrt(squares);
  for (int i = 0; i < n; ++i) A[at(i)][at(i)] += 1;
  return A;
}
constexpr double condition = 3;

/// Each unknown is the one before: iterations learn nothing of the solution until they have gone all the way round.
Matrix shift(int n) {
  Matrix A = zero(n);
  for (int i = 0; i < n; ++i) A[at(i)][at((i + n - 1) % n)] = 1;
  return A;
}

TYPED_TEST(Gmres, SolvesWhatEliminationSolves) {
  const int n = 24;
  const Matrix A = near_one(n, 1);
  typename TestFixture::System system(A);
  const Column b = random_column(n, 2), x = solve_dense(A, b);
  for (const int restart : {n, 3})
    for (const Column& begin : {Column(), random_column(n, 3)}) {
      const double target = n * this->eps * norm(b);
      const auto solved = this->solve(system, b, restart, target, 100, begin);
      EXPECT_TRUE(solved.report.converged);
      EXPECT_LT(norm(minus(solved.x, x)), condition * target) << restart;
    }
}

/// |r_k| <= |1 - A|^k |b| by the polynomial (1 - z)^k, of each cycle.
TYPED_TEST(Gmres, TheResidualNeverGrowsAndKeepsTheBound) {
  const int n = 24;
  const Matrix A = near_one(n, 4);
  typename TestFixture::System system(A);
  const Column b = system.rounded(random_column(n, 5));
  const double rounding = n * this->eps * norm(b);
  for (const int restart : {n, 4}) {
    double before = norm(b);
    for (int k = 1; k <= n; ++k) {
      const auto solved = this->solve(system, b, restart, 0, k);
      const double now = norm(residual(A, b, solved.x));
      EXPECT_LE(now, std::pow(0.5, k) * norm(b) + rounding) << k;
      EXPECT_LE(now, before + rounding) << k;
      EXPECT_NEAR(solved.report.residual, now, rounding) << k;
      before = now;
    }
  }
}

TYPED_TEST(Gmres, IsExactOnceItHasSeenEverything) {
  const int n = 9;
  typename TestFixture::System system(shift(n));
  Column b(at(n), 0.0);
  b[0] = 1;
  for (int k = 1; k < n; ++k) EXPECT_EQ(this->solve(system, b, n, 0, k).report.residual, 1) << k;
  const auto solved = this->solve(system, b, n, n * this->eps, 10 * n);
  EXPECT_TRUE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, n);
  EXPECT_NEAR(solved.x[at(n - 1)], 1, n * this->eps);
}

/// A cycle that is too short to see anything would be followed by others like it.
TYPED_TEST(Gmres, EndsWhereACycleGainsNothing) {
  const int n = 9;
  typename TestFixture::System system(shift(n));
  Column b(at(n), 0.0);
  b[0] = 1;
  const auto solved = this->solve(system, b, n - 1, 1e-3, 1000);
  EXPECT_FALSE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, n - 1);
  EXPECT_EQ(solved.report.residual, 1);
}

/// A M^-1 = 1 + N with N^2 = 0 needs two iterations, however M is scaled; and its residual is that of A itself.
TYPED_TEST(Gmres, IsPreconditionedFromTheRight) {
  const int n = 12;
  Column m;
  for (int i = 0; i < n; ++i) m.push_back(std::exp2(i - 6));
  Matrix A = diagonal(m);
  for (int i = 0; i < n / 2; ++i) A[at(i)][at(i + n / 2)] = 0.5 * m[at(i + n / 2)];
  typename TestFixture::System system(A, m);
  const Column b = random_column(n, 6), x = solve_dense(A, b);
  const auto one = this->solve(system, b, n, 0, 1);
  EXPECT_NEAR(one.report.residual, norm(residual(A, b, one.x)), n * this->eps * norm(b));
  const auto solved = this->solve(system, b, n, n * this->eps * norm(b), n);
  EXPECT_TRUE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 2);
  for (int i = 0; i < n; ++i) EXPECT_NEAR(solved.x[at(i)], x[at(i)], 2 * n * this->eps * norm(b) / m[at(i)]);
}

TYPED_TEST(Gmres, HasNothingToDoForZero) {
  const int n = 6;
  typename TestFixture::System system(near_one(n, 7));
  const auto solved = this->solve(system, Column(at(n), 0.0), 4, 0, 10);
  EXPECT_TRUE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 0);
  EXPECT_EQ(solved.x, Column(at(n), 0.0));
}

TYPED_TEST(Gmres, LeavesOfSingularSystemsWhatHasNoSolution) {
  const int n = 12;
  const double ring_condition = 4 / (2 - 2 * std::cos(2 * M_PI / n));
  const Matrix A = ring(n);
  typename TestFixture::System system(A);
  const Column free = system.rounded(without_mean(random_column(n, 8)));
  const double rounding = n * ring_condition * this->eps * norm(free);
  EXPECT_TRUE(this->solve(system, free, n, rounding, 10 * n).report.converged);

  Column b = free;
  for (double& x : b) x += 0.5;
  const auto least = this->solve(system, b, n, rounding, n / 2);
  EXPECT_FALSE(least.report.converged);
  EXPECT_NEAR(norm(residual(A, b, least.x)), 0.5 * std::sqrt(n), rounding);
}

/// A b = 0, though A has b in its range: the one vector of the basis is of no use.
TYPED_TEST(Gmres, EndsWhereItsBasisIsOfNoUse) {
  typename TestFixture::System system({{0, 1, 0}, {0, 0, 0}, {0, 0, 1}});
  const auto solved = this->solve(system, {1, 0, 0}, 3, 0, 10);
  EXPECT_FALSE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 1);
  EXPECT_EQ(solved.x, Column(3, 0.0));
}

TYPED_TEST(Gmres, DoesNotConvergeOnWhatIsNoNumber) {
  typename TestFixture::System system(near_one(3, 9));
  const auto solved = this->solve(system, {1, std::nan(""), 0}, 3, 1e-3, 10);
  EXPECT_FALSE(solved.report.converged);
  EXPECT_EQ(solved.report.iterations, 0);
  EXPECT_EQ(solved.x, Column(3, 0.0));
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND
