#pragma once

#include <string>

#include "tribo/stages/rod/rod.h"

/// \file
/// Which segments are near each other: their boxes, sorted into the cells ("pads", Han 2019, 5.3) of a uniform grid.
/// A segment goes into every pad that its box touches, which loses no pair (formulas E.11: endpoints alone would).
/// Nothing depends on the order in which threads run: cells are counted, scanned and sorted.

namespace tribo::TRIBO_BACKEND {

/// Empty (high below low) where no segment begins, or where it is not finite.
template <class Real>
struct SegmentBox {
  Vec<Real, 3> low, high;

  TRIBO_HD bool empty() const { return !(low[0] <= high[0]); }
};

struct PadGrid {
  Vec<double, 3> origin;
  double scale;  ///< pads per meter
  Index size[3];
  int bits[3];  ///< of an index along each axis

  template <class Real>
  TRIBO_HD Index cell(const Vec<Real, 3>& at, int k) const {
    const double c = floor((static_cast<double>(at[k]) - origin[k]) * scale);
    return static_cast<Index>(min(max(c, 0.0), static_cast<double>(size[k] - 1)));
  }
  TRIBO_HD std::uint64_t key(Index i, Index j, Index k) const {
    const std::uint64_t x = static_cast<std::uint64_t>(i), y = static_cast<std::uint64_t>(j);
    return ((x << bits[1] | y) << bits[2]) | static_cast<std::uint64_t>(k);
  }
  int key_bits() const { return bits[0] + bits[1] + bits[2]; }
};

/// Scratch memory.
template <class Real>
struct SegmentPads {
  PadGrid grid{};
  Index entries = 0;
  Array<SegmentBox<Real>> box;  ///< by segments
  Array<Index> first;           ///< entry of each segment before sorting
  Array<std::uint64_t> key;     ///< pads, in rising order
  Array<Index> segment;         ///< of each entry; rising within a pad
  Array<Index> found;           ///< pairs of each entry, then the first of them
  RadixSorter sorter;

  std::size_t bytes() const {
    return box.bytes() + first.bytes() + key.bytes() + segment.bytes() + found.bytes() + sorter.bytes();
  }
};

/// How far a box reaches beyond its segment.
enum class BoxReach {
  /// Radius and own motion in any direction, so that boxes of segments meet that could touch within dt.
  any_direction,
  /// The motion from x to x + dt v and no more.
  along_motion
};
/// Boxes of all segments, sorted into pads. `limit` caps how far boxes reach in any direction, where it is positive.
template <class Real>
void sort_into_pads(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt, BoxReach reach,
                    double limit, SegmentPads<Real>& pads);

/// Total of counts, which are replaced by the sums of those before. Throws where an Index cannot hold it.
Index offsets_of(Exec& ex, const char* label, Array<Index>& counts, Index n, const char* what);

/// Whether contact between two segments is looked for: not with the two next to them on a strand, which touch or nearly
/// do (formulas E.11).
struct SegmentsMayTouch {
  const Index* vertex_strand;
  TRIBO_HD bool operator()(Index i, Index j) const { return vertex_strand[i] != vertex_strand[j] || j - i > 2; }
};

template <class Real, class Test>
struct NearSegments {
  const std::uint64_t* key;
  const Index* segment;
  const SegmentBox<Real>* box;
  SegmentsMayTouch may_touch;
  PadGrid grid;
  Index entries;
  Test test;

  /// visit(item) for the pairs of entry e with later ones of its pad. A pair belongs to the pad where the common part
  /// of its boxes begins: both boxes touch that one, and no pair is seen twice.
  template <class Visit>
  TRIBO_HD void each(Index e, const Visit& visit) const {
    const Index i = segment[e];
    const SegmentBox<Real> own = box[i];
    for (Index f = e + 1; f < entries && key[f] == key[e]; ++f) {
      const Index j = segment[f];
      const SegmentBox<Real> other = box[j];
      bool meet = true;
      Vec<Real, 3> begin;
      for (int k = 0; k < 3; ++k) {
        begin[k] = max(own.low[k], other.low[k]);
        meet = meet && begin[k] <= min(own.high[k], other.high[k]);
      }
      if (!meet || !may_touch(i, j)) continue;
      if (grid.key(grid.cell(begin, 0), grid.cell(begin, 1), grid.cell(begin, 2)) != key[e]) continue;
      typename Test::Item item;
      if (test(i, j, item)) visit(item);
    }
  }
};
template <class Item>
struct CountItems {
  Index* count;
  TRIBO_HD void operator()(const Item&) const { ++*count; }
};
template <class Item>
struct StoreItems {
  Item** to;
  TRIBO_HD void operator()(const Item& item) const { *(*to)++ = item; }
};
template <class Real, class Test>
struct CountNear {
  NearSegments<Real, Test> near;
  Index* found;
  TRIBO_HD void operator()(Index e) const {
    Index count = 0;
    near.each(e, CountItems<typename Test::Item>{&count});
    found[e] = count;
  }
};
template <class Real, class Test>
struct StoreNear {
  NearSegments<Real, Test> near;
  const Index* found;
  Index count;  ///< of all
  typename Test::Item* items;
  TRIBO_HD void operator()(Index e) const {
    if (found[e] == (e + 1 < near.entries ? found[e + 1] : count)) return;  // most have none
    typename Test::Item* to = items + found[e];
    near.each(e, StoreItems<typename Test::Item>{&to});
  }
};

/// Items of all pairs of segments whose boxes meet and for which `test(i, j, item)` holds, i < j; returns their number.
template <class Real, class Test>
Index find_pairs(Exec& ex, const char* label, const RodMesh<Real>& mesh, SegmentPads<Real>& pads, const Test& test,
                 Array<typename Test::Item>& items) {
  const SegmentPads<Real>& sorted = pads;
  const NearSegments<Real, Test> near{sorted.key.data(),
                                      sorted.segment.data(),
                                      sorted.box.data(),
                                      SegmentsMayTouch{mesh.vertex_strand.data()},
                                      sorted.grid,
                                      sorted.entries,
                                      test};
  pads.found.resize_discard(pads.entries);
  parallel_for(ex, label, pads.entries, CountNear<Real, Test>{near, pads.found.data()});
  const Index count = offsets_of(ex, label, pads.found, pads.entries, "pairs of segments in contact");
  items.resize_discard(count);
  if (count > 0) parallel_for(ex, label, pads.entries, StoreNear<Real, Test>{near, sorted.found.data(), count, items.data()});
  return count;
}

}  // namespace tribo::TRIBO_BACKEND
