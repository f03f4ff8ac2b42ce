#pragma once

#include "tribo/linear/vectors.h"

/// \file
/// Conjugate gradients [Hestenes 1952] for systems that are symmetric and positive, or nearly so.

namespace tribo::TRIBO_BACKEND::linear {

template <class Entry>
struct CgVectors {
  Entry* solution;  ///< where iterations begin
  Entry* residual;  ///< b - A solution, from the beginning
  Entry* direction;
  Entry* product;
};

struct CgReport {
  std::int64_t iterations = 0;  ///< products with A
  double energy = 0;            ///< gained, d . A d of what the solution has changed by; not finite if nothing is
  double last = 0;              ///< of it, by the last iteration
};

/// direction = M^-1 residual + beta direction; the first one, whatever has been there before, where beta is 0.
template <class Space, class Inverse>
struct TurnDirection {
  Space space;
  Inverse inverse;
  typename Space::Scalar beta;
  const typename Space::Entry* residual;
  typename Space::Entry* direction;
  TRIBO_HD void operator()(Index i) const {
    const Index at = space.at(i);
    const typename Space::Entry z = inverse(at, residual[at]);
    direction[at] = beta == typename Space::Scalar(0) ? z : Space::sum(z, beta, direction[at]);
  }
};
template <class Space>
struct AdvanceSolution {
  Space space;
  typename Space::Scalar alpha;
  CgVectors<typename Space::Entry> v;
  TRIBO_HD void operator()(Index i) const {
    const Index at = space.at(i);
    v.solution[at] = Space::sum(v.solution[at], alpha, v.direction[at]);
    v.residual[at] = Space::sum(v.residual[at], -alpha, v.product[at]);
  }
};

/// At most `most` iterations, until rounding has eaten a direction, or until `stop` says so: it is asked
/// `after_step(report)`, also before the first, and `at_residual(report, r . M^-1 r)` once that is known.
template <LinearSystem System, class Stop>
CgReport conjugate_gradients(Exec& ex, const char* label, System& system, const CgVectors<EntryOf<System>>& v,
                             Stop& stop, int most) {
  using Space = SpaceOf<System>;
  using Scalar = typename Space::Scalar;
  const Vectors<Space> on(ex, label, system.space());
  CgReport report;
  double before = 0;
  while (!stop.after_step(report) && report.iterations < most) {
    const auto inverse = system.precondition(v.residual);
    const double rz = on.dot_preconditioned(inverse, v.residual);
    if (report.iterations == 0 && !std::isfinite(rz)) report.energy = rz;
    if (!(rz > 0) || !std::isfinite(report.energy) || stop.at_residual(report, rz)) break;
    const auto beta = static_cast<Scalar>(before > 0 ? rz / before : 0);
    on.each(TurnDirection<Space, std::decay_t<decltype(inverse)>>{on.space(), inverse, beta, v.residual, v.direction});
    system.apply(v.direction, v.product);
    const double curvature = on.dot(v.direction, v.product);
    ++report.iterations;
    if (!(curvature > 0)) break;
    const double alpha = rz / curvature;
    on.each(AdvanceSolution<Space>{on.space(), static_cast<Scalar>(alpha), v});
    report.last = alpha * rz;
    report.energy += report.last;
    before = rz;
  }
  return report;
}

}  // namespace tribo::TRIBO_BACKEND::linear
