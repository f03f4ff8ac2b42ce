#pragma once

#include <string>
#include <type_traits>

#include "tribo/matter/strands/stages/rod.h"

/// \file
/// Which segments are near each other. Every segment has a box, and a place in the cells ("pads", Han 2019, 5.3) of a
/// uniform grid: one, that of its middle, unless it is longer than most. Boxes lie side by side in the order of the
/// pads, so that one is compared with many at once, and pads are no smaller than these boxes, so that only those next
/// to its own have to be looked at. A segment that is longer is a guest of every pad whose segments it could meet,
/// which loses no pair (theory E.11: endpoints alone would). Pairs whose boxes meet are listed once a step; what is
/// then asked of pairs is asked of those. Nothing depends on the order in which threads run: places are sorted, pairs
/// counted and scanned.

namespace tribo::TRIBO_BACKEND {

/// Empty (high below low) where no segment begins, or where it is not finite.
template <class Real>
struct SegmentBox {
  Vec<Real, 3> low, high;

  TRIBO_HD bool empty() const { return !(low[0] <= high[0]); }
  TRIBO_HD double extent(int k) const { return static_cast<double>(high[k]) - static_cast<double>(low[k]); }
  TRIBO_HD bool meets(const SegmentBox& other) const {
    bool all = true;
    for (int k = 0; k < 3; ++k) all = all && low[k] <= other.high[k] && other.low[k] <= high[k];
    return all;
  }
};
/// Boxes of all segments, or of all places.
template <class Real>
struct BoxColumns {
  Field<Real, 3> low, high;

  void resize_discard(Index n) {
    low.resize_discard(n);
    high.resize_discard(n);
  }
  std::size_t bytes() const { return low.bytes() + high.bytes(); }
};
template <class Real>
struct BoxView {
  FieldView<Real, 3> low, high;

  TRIBO_HD SegmentBox<std::remove_const_t<Real>> operator[](Index i) const {
    return {{{low[0][i], low[1][i], low[2][i]}}, {{high[0][i], high[1][i], high[2][i]}}};
  }
};
template <class Real>
BoxView<Real> view(BoxColumns<Real>& boxes) {
  return {view(boxes.low), view(boxes.high)};
}
template <class Real>
BoxView<const Real> view(const BoxColumns<Real>& boxes) {
  return {view(boxes.low), view(boxes.high)};
}

/// No box has its middle in an outermost pad.
struct PadGrid {
  Vec<double, 3> origin;
  Vec<double, 3> edge;    ///< of a pad, no less than extent [m]
  Vec<double, 3> scale;   ///< 1 / edge
  Vec<double, 3> extent;  ///< boxes up to this have one place [m]
  Index size[3];
  int bits[3];  ///< of an index along each axis
  int shift;    ///< longer boxes are in cells of 2^shift pads along each axis

  TRIBO_HD Index cell(double at, int k) const {
    return static_cast<Index>(min(max((at - origin[k]) * scale[k], 0.0), static_cast<double>(size[k] - 1)));
  }
  TRIBO_HD std::uint64_t key(const Index* at) const {
    const std::uint64_t x = static_cast<std::uint64_t>(at[0]), y = static_cast<std::uint64_t>(at[1]);
    return ((x << bits[1] | y) << bits[2]) | static_cast<std::uint64_t>(at[2]);
  }
  TRIBO_HD int key_bits() const { return bits[0] + bits[1] + bits[2]; }
  /// Above all keys of pads that have the middle of a box.
  TRIBO_HD std::uint64_t no_key() const { return (std::uint64_t{1} << key_bits()) - 1; }
};

/// first < second.
struct NearPair {
  Index first, second;
};

/// Scratch memory.
template <class Real>
struct SegmentPads {
  PadGrid grid{};
  Index homes = 0;   ///< segments with one place
  Index guests = 0;  ///< places of those that are longer
  Index near_count = 0;
  Vec<Real, 3> drift{};          ///< velocity that brings no two nearer: boxes are at rest in what has it [m/s]
  BoxColumns<Real> box;          ///< by segments
  Array<std::uint64_t> key;      ///< pads of homes, in rising order
  Array<Index> segment;          ///< of each home; rising within a pad
  BoxColumns<Real> home_box;     ///< likewise
  Array<Index> pad_of;           ///< its pad, numbered among those that have any
  Array<std::uint64_t> pad_key;  ///< of these pads
  Array<Index> pad_start;        ///< first home of each, and one past the last of all
  Array<Index> guest_first;      ///< of each segment, before sorting
  Array<std::uint64_t> guest_key;
  Array<Index> guest;
  Array<Index> found;    ///< of each place or pair, then the sum of those before
  Array<Index> partner;  ///< the first few that were found at a place
  Array<NearPair> near;
  RadixSorter sorter;

  std::size_t bytes() const {
    return box.bytes() + key.bytes() + segment.bytes() + home_box.bytes() + pad_of.bytes() + pad_key.bytes() +
           pad_start.bytes() + guest_first.bytes() + guest_key.bytes() + guest.bytes() + found.bytes() +
           partner.bytes() + near.bytes() + sorter.bytes();
  }
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

/// Total of counts, which are replaced by the sums of those before. Throws where an Index cannot hold it.
Index offsets_of(Exec& ex, const char* label, Array<Index>& counts, Index n, const char* what);

/// Rounding of positions, with their tails, and of what is computed from a few of them.
template <class Real>
inline constexpr Real position_rounding = Real(sizeof(Real) == 4 ? 1e-6 : 2e-15);

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

template <class Test>
struct CountItems {
  const NearPair* near;
  Test test;
  Index* found;
  TRIBO_HD void operator()(Index k) const {
    typename Test::Item item;
    found[k] = test(near[k].first, near[k].second, item) ? 1 : 0;
  }
};
template <class Test>
struct StoreItems {
  const NearPair* near;
  Test test;
  const Index* found;
  Index pairs, count;
  typename Test::Item* items;
  TRIBO_HD void operator()(Index k) const {
    if (found[k] == (k + 1 < pairs ? found[k + 1] : count)) return;  // most have none
    typename Test::Item& item = items[found[k]];
    // A compiler may round the test otherwise than where it was counted.
    if (!test(near[k].first, near[k].second, item)) item = Test::nothing(near[k].first, near[k].second);
  }
};

/// Items of all listed pairs for which `test(i, j, item)` holds, i < j; returns their number.
template <class Real, class Test>
Index find_pairs(Exec& ex, const char* label, SegmentPads<Real>& pads, const Test& test,
                 Array<typename Test::Item>& items) {
  const Index n = pads.near_count;
  pads.found.resize_discard(n);
  parallel_for(ex, label, n, CountItems<Test>{pads.near.data(), test, pads.found.data()});
  const Index count = exclusive_scan(ex, label, pads.found, pads.found, n);
  items.resize_discard(count);
  if (count > 0)
    parallel_for(ex, label, n, StoreItems<Test>{pads.near.data(), test, pads.found.data(), n, count, items.data()});
  return count;
}

}  // namespace tribo::TRIBO_BACKEND
