#pragma once

#include <cmath>
#include <cstdint>

/// \file
/// Newton's method for what is the gradient of something to make least, with constraints as an active set.

namespace tribo::TRIBO_BACKEND::linear {

struct NewtonReport {
  bool converged = false;
  bool near = false;  ///< the last change was within five times the target: good enough when iterates run out
  std::int64_t newton = 0;
  std::int64_t linear = 0;
  double error = 0;  ///< norm of the last change
};

/// For problems whose constraints are none, or part of the gradient.
struct Unconstrained {
  bool constrained() const { return false; }
  bool settle(int) const { return true; }
};

/// At most `most` iterates of `problem`, which has
///   evaluate()             gradient and its derivative at the present iterate
///   target()               norm that a last change may have, as the present iterate shows it
///   solve(target, linear)  the step, and gradient . step; adds to the count of linear iterations
///   error()                norm of the step
///   move(share)            iterate += share step
///   search(slope)          after a whole step: shortens it where it must be, and evaluates; false if no length will do
///   constrained()          whether there are constraints to settle
///   settle(k)              iterate k has been evaluated: constraints take hold and let go; true if none need follow
template <class Problem>
NewtonReport newton(Problem& problem, int most) {
  constexpr double kept_within = 5;
  NewtonReport report;
  problem.evaluate();
  for (int k = 0; k < most && !report.converged; ++k) {
    ++report.newton;
    double target = problem.target();
    const double slope = problem.solve(target, report.linear);
    if (!std::isfinite(slope)) break;
    report.error = problem.error();
    problem.move(1);
    if (k == 0) target = problem.target();  // where it began says nothing of how much there is to change
    const bool close = report.error <= target;
    report.near = report.error <= kept_within * target;
    report.converged = close && !problem.constrained();
    if (report.converged) break;
    problem.evaluate();
    if (!close && !problem.search(slope)) break;
    report.converged = problem.settle(k) && close;
  }
  return report;
}

}  // namespace tribo::TRIBO_BACKEND::linear
