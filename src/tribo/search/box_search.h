#pragma once

#include <bit>

#include "tribo/math/lane_bits.h"
#include "tribo/search/box.h"

/// \file
/// Which boxes meet each other. Every box has a place in the cells ("pads", Han 2019, 5.3) of a uniform grid: one, that
/// of its middle, unless it is longer than most. Boxes lie side by side in the order of the pads, so that one is
/// compared with many at once, and pads are no smaller than these boxes, so that only those next to its own have to be
/// looked at. A box that is longer is a guest of every pad whose boxes it could meet, which loses no pair (theory E.11:
/// endpoints alone would); and so are all boxes of a second set that a first one is searched for. Pairs are listed
/// once; what is then asked of pairs is asked of those. Nothing depends on the order in which threads run: places are
/// sorted, pairs counted and scanned.

namespace tribo::TRIBO_BACKEND {

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

/// Of one set, first < second; of two, each counted in its own.
struct NearPair {
  Index first, second;
};

/// Takes boxes and gives pairs; the rest is scratch memory.
template <class Real>
struct BoxSearch {
  BoxColumns<Real> box;  ///< of the first set, then of the second
  Array<NearPair> near;
  Index near_count = 0;

  PadGrid grid{};
  Index homes = 0;               ///< boxes with one place
  Index guests = 0;              ///< places of the others
  Index pads = 0;                ///< that have a home
  Array<std::uint64_t> key;      ///< pads of homes, in rising order
  Array<Index> item;             ///< of each home; rising within a pad
  BoxColumns<Real> home_box;     ///< likewise
  Array<Index> pad_of;           ///< its pad, numbered among those that have any
  Array<std::uint64_t> pad_key;  ///< of these pads
  Array<Index> pad_start;        ///< first home of each, and one past the last of all
  Array<Index> guest_first;      ///< of each box, before sorting
  Array<std::uint64_t> guest_key;
  Array<Index> guest;
  Array<Index> found;    ///< of each place or pair, then the sum of those before
  Array<Index> partner;  ///< the first few that were found at a place
  RadixSorter sorter;

  std::size_t bytes() const {
    return box.bytes() + key.bytes() + item.bytes() + home_box.bytes() + pad_of.bytes() + pad_key.bytes() +
           pad_start.bytes() + guest_first.bytes() + guest_key.bytes() + guest.bytes() + found.bytes() +
           partner.bytes() + near.bytes() + sorter.bytes();
  }
};

/// Sorts the first n boxes into pads as large as most, and enters the `others` after them as guests. False where none
/// of the n is there.
template <class Real>
bool sort_into_pads(Exec& ex, const char* label, const char* items, Index n, Index others, BoxSearch<Real>& search);

/// Total of counts, which are replaced by the sums of those before. Throws where an Index cannot hold it.
Index offsets_of(Exec& ex, const char* label, Array<Index>& counts, Index n, const char* what, const char* items);

/// Every pair whose boxes meet.
struct AllPairs {
  TRIBO_HD bool operator()(Index, Index) const { return true; }
};

/// First of n rising keys, at or after a place, that is not below one.
TRIBO_HD Index first_from(const std::uint64_t* key, Index n, Index from, std::uint64_t wanted) {
  Index step = 1;  // most are near
  while (from + step <= n && key[from + step - 1] < wanted) {
    from += step;
    step = step < n - from ? 2 * step : 1;
  }
  Index end = from + step - 1 < n ? from + step - 1 : n;
  while (from < end) {
    const Index middle = from + (end - from) / 2;
    if (key[middle] < wanted)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

/// Half of the pads around one, itself included: the later ones, in rows along the last axis.
template <class Real>
struct PadRows {
  static constexpr int rows = 5;
  Index pad;
  Index first[rows];       ///< pad of a row that is not before the one beside
  Index at[rows][4];       ///< places where the pads one before, beside, one after and the next begin
  Vec<Real, 3> low, high;  ///< boxes that begin before or end after reach those with their middle in the pads around
  Index guest_begin, guest_end;

  TRIBO_HD static int x(int r) { return r < 2 ? 0 : 1; }
  TRIBO_HD static int y(int r) { return r < 2 ? r : r - 3; }
};

/// How many partners of a place are kept from counting to storing; for more it is searched again.
constexpr int kept_partners = 8;

/// `Filter`: filter(i, j) tells whether a pair whose boxes meet counts.
template <class Real, class Filter, bool two_sets>
struct NearBoxes {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  const Index *item, *pad_of;
  const std::uint64_t* pad_key;
  const Index* pad_start;
  BoxView<const Real> home_box;
  const std::uint64_t* guest_key;
  const Index* guest;
  BoxView<const Real> box;
  PadGrid grid;
  Index pads, homes, guests;
  Index first_set;  ///< boxes of it
  Filter filter;

  TRIBO_HD Index places() const { return homes + guests; }
  TRIBO_HD Index item_at(Index place) const { return place < homes ? item[place] : guest[place - homes]; }
  TRIBO_HD NearPair pair_of(Index i, Index j) const {
    if constexpr (two_sets) return {i, j - first_set};
    return i < j ? NearPair{i, j} : NearPair{j, i};
  }

  /// Of no pad yet.
  TRIBO_HD PadRows<Real> no_rows() const {
    PadRows<Real> rows{};
    rows.pad = -1;
    return rows;
  }

  /// visit(j) for the boxes that the one at a place meets; each pair at one place. `rows` are those of an earlier
  /// place.
  template <class Visit>
  TRIBO_HD void each(Index place, PadRows<Real>& rows, const Visit& visit) const {
    if (place < homes)
      each_of_home(place, rows, visit);
    else
      each_of_guest(place - homes, visit);
  }

 private:
  TRIBO_HD bool counts(Index i, Index j) const {
    const NearPair pair = pair_of(i, j);
    return filter(pair.first, pair.second);
  }
  /// Whether a home, or a guest of the first set, is asked for its pairs with a guest.
  TRIBO_HD bool is_wanted(Index j) const { return !two_sets || j >= first_set; }

  TRIBO_HD void go_to(Index pad, PadRows<Real>& rows) const {
    const bool begins = rows.pad < 0;
    const std::uint64_t row = std::uint64_t{1} << grid.bits[2], plane = row << grid.bits[1], own = pad_key[pad];
    rows.pad = pad;
    for (int r = 0; r < PadRows<Real>::rows && !two_sets; ++r) {
      const std::uint64_t beside = own + PadRows<Real>::x(r) * plane + PadRows<Real>::y(r) * row;
      Index p = r == 0 ? pad : first_from(pad_key, pads, begins ? pad + 1 : rows.first[r], beside - 1);
      rows.first[r] = p;
      for (int k = 0; k < 4; ++k) {  // the last of all pads have keys above all others
        if (k > 0) p += pad_key[p] < beside + k - 1 ? 1 : 0;
        rows.at[r][k] = pad_start[p];
      }
    }
    const Index cell[3] = {static_cast<Index>(own >> (grid.bits[1] + grid.bits[2])),
                           static_cast<Index>(own >> grid.bits[2] & ((std::uint64_t{1} << grid.bits[1]) - 1)),
                           static_cast<Index>(own & (row - 1))};
    for (int k = 0; k < 3; ++k) {
      const double begin = grid.origin[k] + static_cast<double>(cell[k]) * grid.edge[k], end = begin + grid.edge[k];
      const double slack = static_cast<double>(position_rounding<Real>) * (abs(begin) + abs(end));
      rows.low[k] = static_cast<Real>(begin + 0.5 * grid.extent[k] + slack);
      rows.high[k] = static_cast<Real>(end - 0.5 * grid.extent[k] - slack);
    }
    if (guests > 0) {
      const Index at[3] = {cell[0] >> grid.shift, cell[1] >> grid.shift, cell[2] >> grid.shift};
      rows.guest_begin = first_from(guest_key, guests, 0, grid.key(at));
      rows.guest_end = first_from(guest_key, guests, rows.guest_begin, grid.key(at) + 1);
    }
  }

  template <class Visit>
  TRIBO_HD void each_of_home(Index e, PadRows<Real>& rows, const Visit& visit) const {
    if (pad_of[e] != rows.pad) go_to(pad_of[e], rows);
    const Index i = item[e];
    const Box<Real> own = home_box[e];
    if (!two_sets) each_home_beside(own, i, e, rows, visit);
    for (Index g = rows.guest_begin; g < rows.guest_end; ++g)
      if (is_wanted(guest[g]) && own.meets(box[guest[g]]) && counts(i, guest[g])) visit(guest[g]);
  }
  template <class Visit>
  TRIBO_HD void each_home_beside(const Box<Real>& own, Index i, Index e, const PadRows<Real>& rows,
                                 const Visit& visit) const {
    bool before[3], after[3];  // whether it may meet something of the pads there
    for (int k = 0; k < 3; ++k) {
      before[k] = own.low[k] < rows.low[k];
      after[k] = own.high[k] > rows.high[k];
    }
    for (int r = 0; r < PadRows<Real>::rows; ++r) {
      const int x = PadRows<Real>::x(r), y = PadRows<Real>::y(r);
      if ((x > 0 && !after[0]) || (y > 0 && !after[1]) || (y < 0 && !before[1])) continue;
      const Index begin = r == 0 ? e + 1 : rows.at[r][before[2] ? 0 : 1], end = rows.at[r][after[2] ? 3 : 2];
      each_that_meets(own, i, begin, end, visit);
    }
  }

  template <class Visit>
  TRIBO_HD void each_that_meets(const Box<Real>& own, Index i, Index begin, Index end, const Visit& visit) const {
    for (Index f = begin; f < end; f += W) {
      T apart = T(own.low[0]) - load_pack<Real>(home_box.high[0] + f, W);
      apart = max(apart, load_pack<Real>(home_box.low[0] + f, W) - T(own.high[0]));
      for (int k = 1; k < 3; ++k) {
        apart = max(apart, T(own.low[k]) - load_pack<Real>(home_box.high[k] + f, W));
        apart = max(apart, load_pack<Real>(home_box.low[k] + f, W) - T(own.high[k]));
      }
      unsigned hits = lane_bits(apart <= T(Real(0)));
      if (hits == 0) continue;
      if (end - f < W) hits &= (1u << (end - f)) - 1;
      for (Index j = f; hits != 0; ++j, hits >>= 1) {
        if constexpr (W > 1) {
          const int skipped = std::countr_zero(hits);
          j += skipped;
          hits >>= skipped;
        }
        if (counts(i, item[j])) visit(item[j]);
      }
    }
  }

  /// A pair of guests belongs to the cell where the common part of their boxes begins: both are in that one. Those of
  /// the first set come before those of the second in every cell.
  template <class Visit>
  TRIBO_HD void each_of_guest(Index g, const Visit& visit) const {
    const Index i = guest[g];
    if (two_sets && i >= first_set) return;
    const Box<Real> own = box[i];
    for (Index h = g + 1; h < guests && guest_key[h] == guest_key[g]; ++h) {
      const Index j = guest[h];
      if (!is_wanted(j)) continue;
      const Box<Real> other = box[j];
      if (!own.meets(other) || !counts(i, j)) continue;
      Index cell[3];
      for (int k = 0; k < 3; ++k)
        cell[k] = grid.cell(static_cast<double>(max(own.low[k], other.low[k])), k) >> grid.shift;
      if (grid.key(cell) == guest_key[g]) visit(j);
    }
  }
};

struct CountPartner {
  Index *count, *partner;
  TRIBO_HD void operator()(Index j) const {
    if (*count < kept_partners) partner[*count] = j;
    ++*count;
  }
};
template <class Boxes>
struct CountNear {
  static constexpr Index chunk = Team::size == 1 ? 256 : 2 * Team::size;
  struct Scratch {};
  Boxes boxes;
  Index *found, *partner;

  /// Places one after the other: rows of pads begin where the last ones did, or a little later.
  TRIBO_HD void operator()(const Team& team, Index c, Scratch&) const {
    const Index begin = c * chunk, end = min(begin + chunk, boxes.places());
    auto rows = boxes.no_rows();
    for (Index place = begin + team.rank(); place < end; place += Team::size) {
      Index count = 0;
      boxes.each(place, rows, CountPartner{&count, partner + Size{place} * kept_partners});
      found[place] = count;
    }
  }
};
template <class Boxes>
struct StorePartner {
  const Boxes& boxes;
  Index i;
  NearPair** to;
  TRIBO_HD void operator()(Index j) const { *(*to)++ = boxes.pair_of(i, j); }
};
template <class Boxes>
struct StoreNear {
  Boxes boxes;
  const Index *found, *partner;
  Index count;  ///< of all
  NearPair* near;
  TRIBO_HD void operator()(Index place) const {
    const Index own = (place + 1 < boxes.places() ? found[place + 1] : count) - found[place];
    if (own == 0) return;
    NearPair* to = near + found[place];
    const StorePartner<Boxes> store{boxes, boxes.item_at(place), &to};
    if (own <= kept_partners) {
      for (Index k = 0; k < own; ++k) store(partner[Size{place} * kept_partners + k]);
    } else {
      auto rows = boxes.no_rows();
      boxes.each(place, rows, store);
    }
  }
};

template <bool two_sets, class Real, class Filter>
void list_near_of_sets(Exec& ex, const char* label, const char* items, Index n, Index others, const Filter& filter,
                       BoxSearch<Real>& search) {
  search.near_count = 0;
  if (!sort_into_pads(ex, label, items, n, others, search)) return;
  const BoxSearch<Real>& sorted = search;
  using Boxes = NearBoxes<Real, Filter, two_sets>;
  const Boxes boxes{sorted.item.data(),
                    sorted.pad_of.data(),
                    sorted.pad_key.data(),
                    sorted.pad_start.data(),
                    view(sorted.home_box),
                    sorted.guest_key.data(),
                    sorted.guest.data(),
                    view(sorted.box),
                    sorted.grid,
                    sorted.pads,
                    sorted.homes,
                    sorted.guests,
                    n,
                    filter};
  const Index places = boxes.places();
  search.found.resize_discard(places);
  search.partner.resize_discard(Size{places} * kept_partners);
  using Count = CountNear<Boxes>;
  for_each_team<typename Count::Scratch>(ex, label, (places + Count::chunk - 1) / Count::chunk,
                                         Count{boxes, search.found.data(), search.partner.data()});
  search.near_count = offsets_of(ex, label, search.found, places, "pairs of near", items);
  search.near.resize_discard(search.near_count);
  if (search.near_count > 0)
    parallel_for(
        ex, label, places,
        StoreNear<Boxes>{boxes, sorted.found.data(), sorted.partner.data(), search.near_count, search.near.data()});
}
/// Lists in `search.near` the pairs i < j of the first n of its boxes that meet and for which filter(i, j) holds.
/// `items` is what messages call them.
template <class Real, class Filter>
void list_near(Exec& ex, const char* label, const char* items, Index n, const Filter& filter, BoxSearch<Real>& search) {
  list_near_of_sets<false>(ex, label, items, n, 0, filter, search);
}
/// The pairs of one of the first n boxes and one of the `others` that come after these, each numbered by itself. Pads
/// are as large as most of the n, which should be the more and the smaller ones.
template <class Real, class Filter>
void list_near_between(Exec& ex, const char* label, const char* items, Index n, Index others, const Filter& filter,
                       BoxSearch<Real>& search) {
  list_near_of_sets<true>(ex, label, items, n, others, filter, search);
}

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

/// Items of all listed pairs for which `test(i, j, item)` holds; returns their number.
template <class Real, class Test>
Index find_pairs(Exec& ex, const char* label, BoxSearch<Real>& search, const Test& test,
                 Array<typename Test::Item>& items) {
  const Index n = search.near_count;
  search.found.resize_discard(n);
  parallel_for(ex, label, n, CountItems<Test>{search.near.data(), test, search.found.data()});
  const Index count = exclusive_scan(ex, label, search.found, search.found, n);
  items.resize_discard(count);
  if (count > 0)
    parallel_for(ex, label, n, StoreItems<Test>{search.near.data(), test, search.found.data(), n, count, items.data()});
  return count;
}

}  // namespace tribo::TRIBO_BACKEND
