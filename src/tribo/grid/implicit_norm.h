#pragma once

#include <cmath>

#include "tribo/grid/stages.h"
#include "tribo/linear/newton.h"
#include "tribo/linear/space.h"

/// \file
/// How large velocities are in an implicit step, how well they must be known, and how well they are.

namespace tribo::TRIBO_BACKEND::implicit {

/// m |a - b|^2, or of a alone
template <class Real, int D>
struct TimesMass {
  const NodePack<Real>* star;
  const NodePack<Real>* a;
  const NodePack<Real>* b;
  TRIBO_HD double operator()(Index i) const {
    NodePack<Real> w = a[i];
    if (b != nullptr) w = w - b[i];
    return static_cast<double>(star[i][3]) * linear::PackSpace<Real, D>::dot(w, w);
  }
};
template <class Real>
struct MassOf {
  const NodePack<Real>* star;
  TRIBO_HD double operator()(Index i) const { return static_cast<double>(star[i][3]); }
};

/// Root mean squares over all mass: |w|^2 = sum m w^2 / sum m, [m^2/s^2].
template <class Real, int D>
class VelocityNorm {
 public:
  /// `star`: v* of `count` points, and their masses. `gravity`: what it adds to velocities in the step.
  VelocityNorm(Exec& ex, const char* label, Index count, const NodePack<Real>* star, double gravity)
      : ex_(ex), label_(label), count_(count), star_(star), gravity_(gravity), mass_(sum(MassOf<Real>{star})) {
    if (mass_ > 0) speed_ = of(star);
  }

  double mass() const { return mass_; }
  /// How fast things are, or will be after a step of falling.
  double scale() const { return gravity_ + speed_; }
  double of(const NodePack<Real>* w) const { return std::sqrt(sum(TimesMass<Real, D>{star_, w, nullptr}) / mass_); }
  /// Error that velocities v may have: a share of what the step changes.
  double target(double tolerance, const NodePack<Real>* v) const {
    const double change = std::sqrt(sum(TimesMass<Real, D>{star_, v, star_}) / mass_);
    return tolerance * (gravity_ + change + 0.01 * speed_);
  }

 private:
  template <class Map>
  double sum(const Map& map) const {
    return reduce(ex_, label_, count_, 0.0, map, Plus<double>{});
  }

  Exec& ex_;
  const char* label_;
  Index count_;
  const NodePack<Real>* star_;
  double gravity_, mass_, speed_ = 0;
};

/// `speed`: largest velocity component that came out.
inline ImplicitReport report_of(const linear::NewtonReport& solve, double speed) {
  return {(solve.converged || solve.near) && std::isfinite(speed),
          solve.near,
          speed,
          solve.newton,
          solve.linear,
          solve.error};
}

}  // namespace tribo::TRIBO_BACKEND::implicit
