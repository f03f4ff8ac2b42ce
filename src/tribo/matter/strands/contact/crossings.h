#pragma once

#include "tribo/matter/strands/contact/pressed.h"

/// \file
/// Segments that pass through each other within a step, found by the cubic of coplanarity (theory E.12), counted, and
/// fed back as pairs until there are none (experiments_hair default 5).

namespace tribo::TRIBO_BACKEND {

/// Times t in (0, 1] at which f(t) = c0 + c1 t + c2 t^2 + c3 t^3 changes its sign, rising.
struct SignChanges {
  double t[3];
  int count;
};
TRIBO_HD double cubic_at(const double* c, double t) { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }
/// f is monotonic between the roots of f', where bisection cannot fail.
TRIBO_HD SignChanges sign_changes(const double* c) {
  SignChanges found{{0, 0, 0}, 0};
  // Bernstein coefficients of one sign leave no root.
  const double b1 = c[0] + c[1] / 3, b2 = c[0] + (2 * c[1] + c[2]) / 3, b3 = c[0] + c[1] + c[2] + c[3];
  if ((c[0] > 0 && b1 > 0 && b2 > 0 && b3 > 0) || (c[0] < 0 && b1 < 0 && b2 < 0 && b3 < 0)) return found;
  double at[4] = {0, 1, 1, 1};
  int last = 1;
  const double half = c[2], discriminant = c[2] * c[2] - 3 * c[1] * c[3];  // of f' = c1 + 2 c2 t + 3 c3 t^2
  if (discriminant > 0) {
    const double q = -(half + (half >= 0 ? sqrt(discriminant) : -sqrt(discriminant)));  // no cancellation
    const double r0 = c[3] != 0 ? q / (3 * c[3]) : 2, r1 = q != 0 ? c[1] / q : 2;
    const double low = min(r0, r1), high = max(r0, r1);
    if (low > 0 && low < 1) at[last++] = low;
    if (high > 0 && high < 1 && high > low) at[last++] = high;
    at[last] = 1;
  }
  double before = c[0];
  for (int k = 0; k < last; ++k) {
    double low = at[k], high = at[k + 1];
    const double end = cubic_at(c, high);
    if ((before < 0 && end >= 0) || (before > 0 && end <= 0)) {
      while (true) {
        const double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) break;
        const double f = cubic_at(c, middle);
        if ((before < 0) == (f < 0))
          low = middle;
        else
          high = middle;
      }
      found.t[found.count++] = high;
    }
    if (end != 0) before = end;
  }
  return found;
}

/// Segments x0 x1 and x2 x3 whose vertices move by `move`.
struct MovingSegments {
  Vec<double, 3> x[4], move[4];

  struct Hit {
    double t, a, b;
    int count;  ///< in the step; the first of them is the one here
  };
  TRIBO_HD Hit hits() const {
    using V = Vec<double, 3>;
    const V a = x[1] - x[0], b = x[3] - x[2], c = x[2] - x[0];
    const V A = move[1] - move[0], B = move[3] - move[2], C = move[2] - move[0];
    const V ab = cross(a, b), Ab_aB = cross(A, b) + cross(a, B), AB = cross(A, B);
    const double f[4] = {dot(ab, c), dot(Ab_aB, c) + dot(ab, C), dot(AB, c) + dot(Ab_aB, C), dot(AB, C)};
    const SignChanges roots = sign_changes(f);
    Hit hit{0, 0, 0, 0};
    for (int k = 0; k < roots.count; ++k) {
      const double t = roots.t[k];
      const V d = a + t * A, e = b + t * B, q = c + t * C;
      const ClosestPoints near = closest_points(V::zero(), d, q, e);
      const double l2 = max(squared_norm(d), squared_norm(e));
      if (!(squared_norm(near.gap) < 1e-18 * l2)) continue;
      if (hit.count++ == 0) {
        hit.t = t;
        hit.a = near.a;
        hit.b = near.b;
      }
    }
    return hit;
  }
};

template <class Real>
struct Crossing {
  StrandPair<Real> pair;  ///< that would have prevented it
  Index odd;              ///< 1 where the segments end on the other side of each other
};

struct CrossingCount {
  Index pairs = 0;  ///< of segments that meet at least once
  Index odd = 0;    ///< and end on the other side
};

/// Pairs of segments that meet while vertices go from x to x + dt v, centerlines without thickness; each at most once.
/// Pairs whose vertices are all driven are left out: no impulse keeps those apart. Motion within one plane has no
/// crossings in this sense. Where `among` is given, pairs of strands for which it has no 1 on either side are left out.
template <class Real>
CrossingCount find_crossings(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                             SegmentPads<Real>& pads, Array<Crossing<Real>>& crossings,
                             const Array<Index>* among = nullptr);

struct FailSafeRules {
  int rounds = 40;
  /// If anything still crosses after as many, that sticks, as does what is pinched, and nothing is asked to part any
  /// more. A strand that passes over another and under it beside that pulls itself tight by sliding: what would part
  /// one place closes the other, and iterations hardly come nearer to an answer. That they stay as they are is one,
  /// which all can agree on. What is only pinched goes on sliding: a rope that is pressed onto a drum has no more than
  /// its friction.
  int sliding_rounds = 4;
  int pinched_rounds = 8;   ///< for pairs that only come nearer
  int recalled_rounds = 2;  ///< the same where the next step goes on from there
  int iterations = 5;       ///< in each round: fewer cost less where one pair is in trouble, more where many are
  bool recalls = true;      ///< begins with what kept pairs apart in the step before
};
struct FailSafeReport {
  CrossingCount before, after;
  int rounds = 0;
  bool clean() const { return after.pairs == 0; }
};

/// Crossings become pairs, without friction, that ask for `least_normal_velocity`, too; then all pairs of the strands
/// that crossed, or have lost half of their thickness to each other and go on, are iterated again, until none do;
/// strands that these push into others are the next round's. Crossings that are left are for `tie_knots`. After
/// `apply_impulses`; 0 rounds only count.
/// `holder`, unless null, has the last word in each iteration.
template <class Real>
FailSafeReport prevent_crossings(Exec& ex, const FailSafeRules& rules, const RodMesh<Real>& mesh, double dt,
                                 RodState<Real>& state, RodWorkspace<Real>& rods, StrandContactWork<Real>& work,
                                 Array<Crossing<Real>>& crossings, StrandHolder<Real>* holder);

}  // namespace tribo::TRIBO_BACKEND
