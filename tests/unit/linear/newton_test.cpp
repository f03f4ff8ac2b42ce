#include "tribo/linear/newton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tribo/linear/slope_search.h"

/// \file
/// Newton's method and its line search, on functions of few numbers.

namespace tribo::TRIBO_BACKEND {
namespace {

/// sum a sqrt(1 + x^2): convex, least at 0. Whole steps go from x to -x^3, away from it beyond 1.
struct Hyperbolas : linear::Unconstrained {
  std::vector<double> x, a, gradient, curvature, step;
  double tolerance = 1e-9;

  explicit Hyperbolas(std::vector<double> begin) : x(begin), a(begin.size()), gradient(x), curvature(x), step(x) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = std::exp2(static_cast<double>(i));
  }
  void evaluate() {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double root = std::sqrt(1 + x[i] * x[i]);
      gradient[i] = a[i] * x[i] / root;
      curvature[i] = a[i] / (root * root * root);
    }
  }
  double solve(double, std::int64_t& iterations) {
    ++iterations;
    for (std::size_t i = 0; i < x.size(); ++i) step[i] = -gradient[i] / curvature[i];
    return slope();
  }
  double slope() const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += gradient[i] * step[i];
    return sum;
  }
  double energy() const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += a[i] * std::sqrt(1 + x[i] * x[i]);
    return sum;
  }
  double target() const { return tolerance; }
  double error() const {
    double sum = 0;
    for (const double s : step) sum += s * s;
    return std::sqrt(sum);
  }
  void move(double share) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += share * step[i];
  }
};
struct BySlope : Hyperbolas {
  using Hyperbolas::Hyperbolas;
  bool search(double before) { return linear::search_slope(*this, before); }
};
struct WholeSteps : Hyperbolas {
  using Hyperbolas::Hyperbolas;
  bool search(double) { return true; }
};
/// Halves the step until the energy has fallen by some of what the slope promised.
struct ByEnergy : Hyperbolas {
  using Hyperbolas::Hyperbolas;
  bool search(double before) {
    move(-1);
    const double start = energy();
    for (double share = 1; share > 1e-6; share /= 2) {
      move(share);
      evaluate();
      if (energy() <= start + 1e-4 * share * before) return true;
      move(-share);
    }
    return false;
  }
};

/// Where all is convex the last step was shorter than the target, and leaves a third power of it.
template <class Problem>
void expect_solved(Problem problem) {
  const linear::NewtonReport report = linear::newton(problem, 50);
  EXPECT_TRUE(report.converged);
  EXPECT_TRUE(report.near);
  EXPECT_LE(report.error, problem.tolerance);
  EXPECT_EQ(report.linear, report.newton);
  for (const double x : problem.x) EXPECT_LT(std::abs(x), 1e-15);
}
TEST(Newton, LineSearchesFindWhatWholeStepsLose) {
  for (const double far : {0.5, 3.0, 20.0}) {
    expect_solved(BySlope({far}));
    expect_solved(ByEnergy({far}));
    expect_solved(BySlope({far, -far / 2, 0.1}));
    expect_solved(ByEnergy({far, -far / 2, 0.1}));
  }
  WholeSteps lost({1.5});
  EXPECT_FALSE(linear::newton(lost, 50).converged);
}

/// x -> -x^3: the first step below the target is found by hand.
TEST(Newton, TakesNoMoreIteratesThanItMust) {
  BySlope problem({0.5});
  int steps = 1;
  for (double x = 0.5; std::abs(x + x * x * x) > problem.tolerance; x = -x * x * x) ++steps;
  EXPECT_EQ(linear::newton(problem, 50).newton, steps);
}

TEST(Newton, SaysHowNearItIsWhenIteratesRunOut) {
  BySlope problem({0.5});
  problem.tolerance = 0.2;  // the first step is 0.625: within five times as much, not within
  const linear::NewtonReport one = linear::newton(problem, 1);
  EXPECT_FALSE(one.converged);
  EXPECT_TRUE(one.near);
  EXPECT_DOUBLE_EQ(one.error, 0.625);
  BySlope far({0.5});
  far.tolerance = 0.1;
  EXPECT_FALSE(linear::newton(far, 1).near);
}

struct NoNumbers : BySlope {
  using BySlope::BySlope;
  double solve(double, std::int64_t&) { return std::numeric_limits<double>::quiet_NaN(); }
};
TEST(Newton, TakesNoStepThatIsNoNumber) {
  NoNumbers problem({0.5});
  const linear::NewtonReport report = linear::newton(problem, 10);
  EXPECT_FALSE(report.converged || report.near);
  EXPECT_EQ(report.newton, 1);
  EXPECT_EQ(problem.x[0], 0.5);
}

/// (x - wish)^2 / 2 where x >= 0: held there while the gradient pushes against it.
struct Wall {
  double x, wish, step = 0, gradient = 0;
  bool held = false;

  void evaluate() { gradient = x - wish; }
  double target() const { return 1e-12; }
  double solve(double, std::int64_t&) {
    step = held ? 0 : -gradient;
    return gradient * step;
  }
  double error() const { return std::abs(step); }
  void move(double share) { x += share * step; }
  double slope() const { return gradient * step; }
  bool search(double before) { return linear::search_slope(*this, before); }
  bool constrained() const { return true; }
  bool settle(int) {
    const bool holds = x < 0 || (held && gradient > 0), changed = holds != held;
    held = holds;
    if (x < 0) {
      x = 0;
      evaluate();
    }
    return !changed;
  }
};
TEST(Newton, ConstraintsSettleBeforeItEnds) {
  Wall pushed{1, -2};
  EXPECT_TRUE(linear::newton(pushed, 10).converged);
  EXPECT_EQ(pushed.x, 0);
  EXPECT_TRUE(pushed.held);
  Wall pulled{0, 2};
  pulled.held = true;
  EXPECT_TRUE(linear::newton(pulled, 10).converged);
  EXPECT_EQ(pulled.x, 2);
  EXPECT_FALSE(pulled.held);
}

/// Uphill everywhere.
struct Uphill {
  double taken = 1;
  int evaluations = 0;
  double slope() const { return 1; }
  void move(double share) { taken += share; }
  void evaluate() { ++evaluations; }
};
TEST(SlopeSearch, GivesUpWhereNoLengthWillDo) {
  Uphill line;
  EXPECT_FALSE(linear::search_slope(line, -1));
  EXPECT_EQ(line.evaluations, 12);
  EXPECT_GT(line.taken, 0);
  EXPECT_LT(line.taken, std::pow(0.7, 12) + 1e-15);
}

/// Of a parabola whose least point is at `best` of the step, slope and length are known.
struct Parabola {
  double best, taken = 1;
  double slope() const { return taken / best - 1; }
  void move(double share) { taken += share; }
  void evaluate() {}
};
TEST(SlopeSearch, ShortensOnlyWhatOvershoots) {
  for (const double best : {0.01, 0.2, 0.5, 0.56, 1.0, 3.0}) {
    Parabola line{best};
    EXPECT_TRUE(linear::search_slope(line, -1));
    EXPECT_LE(line.slope(), 0.8);
    EXPECT_EQ(line.taken == 1, 1 / best - 1 <= 0.8);
  }
}

}  // namespace
}  // namespace tribo::TRIBO_BACKEND
