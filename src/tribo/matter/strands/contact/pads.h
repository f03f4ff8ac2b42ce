#pragma once

#include "tribo/matter/strands/stages/rod.h"
#include "tribo/search/box_search.h"

/// \file
/// Which segments of strands are near each other. Pairs whose boxes meet are listed once a step; what is then asked of
/// pairs is asked of those.

namespace tribo::TRIBO_BACKEND {

template <class Real>
struct SegmentPads : BoxSearch<Real> {
  Vec<Real, 3> drift{};  ///< velocity that brings no two nearer: boxes are at rest in what has it [m/s]
};

/// Lists in `pads.near` all pairs of segments that could touch within dt, and more: those whose boxes meet, which reach
/// as far as the radius and the motion within dt in any direction, relative to the mean of all. Two segments next to
/// one on its strand are left out, which touch it or nearly do (theory E.11).
template <class Real>
void list_near(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt, SegmentPads<Real>& pads);

/// Whether all that could meet while vertices go from x to x + dt v is listed already: segments stay within their
/// boxes.
template <class Real>
bool lists_motion(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                  const SegmentPads<Real>& pads);

/// Listed pairs are mostly neighbors that move alike: these stay apart.
template <class Real>
struct PairMotion {
  FieldView<const Real, 3> x, v;
  Real dt;

  /// By which two points of the segments can come nearer within dt: impulses elsewhere on the strands can turn them.
  TRIBO_HD Real way(Index i, Index j) const {
    Real most = Real(0);
    for (int s = 0; s < 2; ++s)
      for (int t = 0; t < 2; ++t) {
        Real square = Real(0);
        for (int k = 0; k < 3; ++k) square = square + (v[k][i + s] - v[k][j + t]) * (v[k][i + s] - v[k][j + t]);
        most = max(most, square);
      }
    return dt * sqrt(most);
  }
  /// True only where segments are farther from each other than a distance, as boxes tell.
  TRIBO_HD bool apart(Index i, Index j, Real distance) const {
    bool any_axis = false;
    for (int k = 0; k < 3; ++k) {
      const Real p = x[k][i], p1 = x[k][i + 1], q = x[k][j], q1 = x[k][j + 1];
      const Real gap = max(min(p, p1) - max(q, q1), min(q, q1) - max(p, p1));
      const Real rounding = position_rounding<Real> * (distance + abs(p) + abs(p1) + abs(q) + abs(q1));
      any_axis = any_axis || gap > distance + rounding;
    }
    return any_axis;
  }
};

}  // namespace tribo::TRIBO_BACKEND
