#pragma once

#include "tribo/math/closest.h"
#include "tribo/matter/strands/contact/pads.h"

/// \file
/// Pairs of segments that may touch within a step, and what contact asks of them (theory E.11; experiments_hair
/// default 3, default 4).

namespace tribo::TRIBO_BACKEND {

/// Points (1-a) x0 + a x1 of `first` and (1-b) x2 + b x3 of `second`; with weights w = (1-a, a, -(1-b), -b), their gap
/// is sum w x, their relative velocity sum w v, and an impulse J of the pair is w J on its vertices.
template <class Real>
struct StrandPair {
  static constexpr Real sticks = Real(-1);  ///< as friction: nothing slides, whatever presses
  Index first, second;
  Real a, b;
  Vec<Real, 3> n;    ///< unit, from the second to the first
  Real target;       ///< least normal velocity allowed [m/s]
  Real friction;     ///< Coulomb coefficient
  Sym<Real, 3> K;    ///< relative velocity per impulse (default 3) [1/kg]
  Real normal_mass;  ///< 1 / (n . K n); 0 where nothing can move [kg]
};

/// That never pushes.
template <class Real>
TRIBO_HD StrandPair<Real> no_pair(Index i, Index j) {
  StrandPair<Real> pair{};
  pair.first = i;
  pair.second = j;
  return pair;
}

/// In double, with what rounding left out: gaps between strands are far smaller than the scene.
template <class Real>
struct VertexPositions {
  FieldView<const Real, 3> x, tail;
  TRIBO_HD Vec<double, 3> operator()(Index i) const {
    Vec<double, 3> r;
    for (int k = 0; k < 3; ++k) r[k] = static_cast<double>(x[k][i]) + static_cast<double>(tail[k][i]);
    return r;
  }
};
template <class Real>
TRIBO_HD Vec<double, 3> vertex_velocity(const FieldView<const Real, 3>& v, Index i) {
  Vec<double, 3> r;
  for (int k = 0; k < 3; ++k) r[k] = static_cast<double>(v[k][i]);
  return r;
}

/// Least normal velocity of centerlines at a distance, dmin the sum of their radii: they may come as near as that
/// within the step. What is nearer parts, a tenth of what is missing in a step but no faster than in some times the
/// time in which weight would move it by as much: that throws nothing. Without it what a step left too near would come
/// nearer and nearer, until rounding alone decides who passes whom.
TRIBO_HD double least_normal_velocity(double distance, double dmin, double dt) {
  constexpr double weight = 10;  // [m/s^2]
  const double missing = dmin - distance;
  return missing > 0 ? min(0.1 * missing / dt, 0.3 * sqrt(weight * dmin)) : missing / dt;
}

struct ProximityRules {
  /// Largest distance of centerlines at which contact is looked for; 0: as far as the strands move within the step [m]
  double delta = 0;
};

/// Pairs with d - dmin <= |v_rel| dt, dmin the sum of the radii: those that could touch within dt. Their target is
/// gap-aware, `least_normal_velocity`. Returns their number. K is left to `prepare_pairs`.
template <class Real>
Index find_proximity(Exec& ex, const ProximityRules& rules, const RodMesh<Real>& mesh, const RodState<Real>& state,
                     double dt, SegmentPads<Real>& pads, Array<StrandPair<Real>>& pairs);

/// Largest speed at which the points of pairs move past or towards each other [m/s].
template <class Real>
double closing_speed(Exec& ex, const Array<StrandPair<Real>>& pairs, Index count, const Field<Real, 3>& v);

}  // namespace tribo::TRIBO_BACKEND
