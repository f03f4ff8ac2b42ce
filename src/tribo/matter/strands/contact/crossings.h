#pragma once

#include "tribo/math/ccd.h"
#include "tribo/matter/strands/contact/pressed.h"

/// \file
/// Segments that pass through each other within a step, found by the cubic of coplanarity (theory E.12), counted, and
/// fed back as pairs until there are none (experiments_hair default 5).

namespace tribo::TRIBO_BACKEND {

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
