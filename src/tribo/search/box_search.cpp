#include "tribo/search/box_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;

struct BoxSums {
  Vec3 low, high, largest;  ///< extents along each axis
  double extent, count;     ///< sum of their extents along the axis where they are longest
};
template <class Real>
struct SumsOfBox {
  BoxView<const Real> box;
  BoxSums none;
  TRIBO_HD BoxSums operator()(Index i) const {
    const Box<Real> b = box[i];
    if (b.empty()) return none;
    const Vec3 extent{{b.extent(0), b.extent(1), b.extent(2)}};
    return {cast<double>(b.low), cast<double>(b.high), extent, max(extent[0], max(extent[1], extent[2])), 1};
  }
};
struct JoinBoxSums {
  TRIBO_HD BoxSums operator()(const BoxSums& a, const BoxSums& b) const {
    BoxSums s{a.low, a.high, a.largest, a.extent + b.extent, a.count + b.count};
    for (int k = 0; k < 3; ++k) {
      s.low[k] = min(a.low[k], b.low[k]);
      s.high[k] = max(a.high[k], b.high[k]);
      s.largest[k] = max(a.largest[k], b.largest[k]);
    }
    return s;
  }
};

/// For boxes up to an extent. Pads are no thinner than half of it, so that they have some, and larger where half a
/// million along an axis are not enough.
PadGrid grid_for(const BoxSums& sums, double extent) {
  PadGrid grid{};
  constexpr double most_pads = 1 << 19, rounding = 1e-9;
  for (int k = 0; k < 3; ++k) {
    grid.extent[k] = std::min(extent, sums.largest[k]);
    const double span = sums.high[k] - sums.low[k];
    const double edge = (1 + rounding) * std::max({grid.extent[k], 0.5 * extent, span / most_pads});
    grid.edge[k] = edge > 0 ? edge : 1;
    grid.scale[k] = 1 / grid.edge[k];
    grid.origin[k] = sums.low[k] - grid.edge[k];
    grid.size[k] = static_cast<Index>(std::floor(span / grid.edge[k])) + 4;
    while ((Index{1} << grid.bits[k]) < grid.size[k]) ++grid.bits[k];
  }
  return grid;
}

/// Where a box is a guest: of pads with the middles of boxes that it could meet and that have one place, or of cells of
/// some pads each.
template <class Real>
struct GuestPads {
  Index low[3], high[3];
  TRIBO_HD GuestPads(const Box<Real>& box, const PadGrid& grid) {
    for (int k = 0; k < 3; ++k) {
      low[k] = grid.cell(static_cast<double>(box.low[k]) - 0.5 * grid.extent[k], k) >> grid.shift;
      high[k] = grid.cell(static_cast<double>(box.high[k]) + 0.5 * grid.extent[k], k) >> grid.shift;
    }
  }
  TRIBO_HD double count() const {
    double n = 1;
    for (int k = 0; k < 3; ++k) n *= high[k] - low[k] + 1;
    return n;
  }
};
/// Of the first set, boxes that are longer than pads; of the second, all that reach what the first one fills.
template <class Real>
struct GuestBoxes {
  BoxView<const Real> box;
  PadGrid grid;
  Index first_set;
  Box<double> filled;

  TRIBO_HD bool operator()(Index i, const Box<Real>& own) const {
    if (own.empty()) return false;
    if (i >= first_set) return filled.meets({cast<double>(own.low), cast<double>(own.high)});
    bool longer = false;
    for (int k = 0; k < 3; ++k) longer = longer || own.extent(k) > grid.extent[k];
    return longer;
  }
};
struct GuestSums {
  double boxes;  ///< of the first set
  double pads;
};
template <class Real>
struct SumsOfGuest {
  GuestBoxes<Real> guests;
  TRIBO_HD GuestSums operator()(Index i) const {
    const Box<Real> b = guests.box[i];
    if (!guests(i, b)) return {0, 0};
    return {i < guests.first_set ? 1.0 : 0.0, GuestPads<Real>(b, guests.grid).count()};
  }
};
struct AddGuestSums {
  TRIBO_HD GuestSums operator()(const GuestSums& a, const GuestSums& b) const {
    return {a.boxes + b.boxes, a.pads + b.pads};
  }
};
template <class Real>
struct CountGuestPads {
  GuestBoxes<Real> guests;
  Index* count;
  TRIBO_HD void operator()(Index i) const {
    const Box<Real> b = guests.box[i];
    count[i] = guests(i, b) ? static_cast<Index>(GuestPads<Real>(b, guests.grid).count()) : 0;
  }
};
template <class Real>
struct EnterGuest {
  GuestBoxes<Real> guests;
  const Index* first;
  std::uint64_t* key;
  Index* guest;
  TRIBO_HD void operator()(Index i) const {
    const Box<Real> b = guests.box[i];
    if (!guests(i, b)) return;
    const GuestPads<Real> pads(b, guests.grid);
    Index to = first[i], at[3];
    for (at[0] = pads.low[0]; at[0] <= pads.high[0]; ++at[0])
      for (at[1] = pads.low[1]; at[1] <= pads.high[1]; ++at[1])
        for (at[2] = pads.low[2]; at[2] <= pads.high[2]; ++at[2], ++to) {
          key[to] = guests.grid.key(at);
          guest[to] = i;
        }
  }
};

template <class Real>
struct EnterHome {
  GuestBoxes<Real> guests;
  std::uint64_t* key;
  Index* item;
  TRIBO_HD void operator()(Index i) const {
    const Box<Real> b = guests.box[i];
    Index at[3];
    for (int k = 0; k < 3; ++k)
      at[k] = guests.grid.cell(0.5 * (static_cast<double>(b.low[k]) + static_cast<double>(b.high[k])), k);
    key[i] = b.empty() || guests(i, b) ? guests.grid.no_key() : guests.grid.key(at);
    item[i] = i;
  }
};
template <class Real>
struct PlaceBox {
  BoxView<const Real> box;
  const Index* item;
  BoxView<Real> place;
  TRIBO_HD void operator()(Index e) const { place.put(e, box[item[e]]); }
};

/// 1 for the last place of each pad: the sums of those before are the pads' numbers.
struct EndsPad {
  const std::uint64_t* key;
  Index homes;
  Index* ends;
  TRIBO_HD void operator()(Index e) const { ends[e] = e + 1 < homes && key[e + 1] != key[e] ? 1 : 0; }
};
struct ListPad {
  const std::uint64_t* key;
  const Index* pad_of;
  Index homes;
  std::uint64_t* pad_key;
  Index* pad_start;
  TRIBO_HD void operator()(Index e) const {
    const Index pad = pad_of[e];
    if (e == 0 || pad_of[e - 1] != pad) {
      pad_key[pad] = key[e];
      pad_start[pad] = e;
    }
    if (e + 1 == homes) {
      pad_key[pad + 1] = ~std::uint64_t{0};
      pad_start[pad + 1] = homes;
    }
  }
};

struct CountOf {
  const Index* count;
  TRIBO_HD Size operator()(Index i) const { return count[i]; }
};
struct AddSizes {
  TRIBO_HD Size operator()(Size a, Size b) const { return a + b; }
};

/// Chooses how many pads make a cell for guests: few boxes, of what flies or is long, may be in very many cells, unless
/// all together are; those of a second set may have some each. Returns how many of the first set are guests.
template <class Real>
Index enter_guests(Exec& ex, const char* label, const char* items, double present, Index others,
                   GuestBoxes<Real>& guests, BoxSearch<Real>& search) {
  const double most = present + 8.0 * others + 4096;
  const Index n = guests.first_set + others;
  GuestSums sums;
  while (true) {
    sums = reduce(ex, label, n, GuestSums{0, 0}, SumsOfGuest<Real>{guests}, AddGuestSums{});
    if (sums.pads <= most) break;
    ++guests.grid.shift;
  }
  search.guest_first.resize_discard(n);
  parallel_for(ex, label, n, CountGuestPads<Real>{guests, search.guest_first.data()});
  search.guests = offsets_of(ex, label, search.guest_first, n, "grid places of", items);
  search.guest_key.resize_discard(search.guests);
  search.guest.resize_discard(search.guests);
  parallel_for(ex, label, n,
               EnterGuest<Real>{guests, search.guest_first.data(), search.guest_key.data(), search.guest.data()});
  search.sorter.sort(ex, label, search.guest_key, search.guest, search.guests, guests.grid.key_bits());
  return static_cast<Index>(sums.boxes);
}

}  // namespace

Index offsets_of(Exec& ex, const char* label, Array<Index>& counts, Index n, const char* what, const char* items) {
  const Size total = reduce(ex, label, n, Size{0}, CountOf{counts.data()}, AddSizes{});
  if (total > std::numeric_limits<Index>::max())
    throw DeviceError(std::to_string(total) + " " + what + " " + items +
                      ": more than can be handled; use thinner or fewer ones, or a shorter step");
  exclusive_scan(ex, label, counts, counts, n);
  return static_cast<Index>(total);
}

template <class Real>
bool sort_into_pads(Exec& ex, const char* label, const char* items, Index n, Index others, BoxSearch<Real>& search) {
  constexpr double far = std::numeric_limits<double>::max();
  const auto box = view(std::as_const(search.box));
  const BoxSums none{Vec3::filled(far), Vec3::filled(-far), Vec3::zero(), 0, 0};
  const BoxSums sums = reduce(ex, label, n, none, SumsOfBox<Real>{box, none}, JoinBoxSums{});
  if (sums.count == 0) return false;

  const double mean = sums.extent / sums.count;
  const double largest = std::max({sums.largest[0], sums.largest[1], sums.largest[2]});
  GuestBoxes<Real> guests{box, grid_for(sums, std::min(largest, 1.5 * mean)), n, {sums.low, sums.high}};
  search.homes = static_cast<Index>(sums.count);
  search.guests = 0;
  if (largest > 1.5 * mean || others > 0)
    search.homes -= enter_guests(ex, label, items, sums.count, others, guests, search);
  search.grid = guests.grid;
  search.key.resize_discard(n);
  search.item.resize_discard(n);
  parallel_for(ex, label, n, EnterHome<Real>{guests, search.key.data(), search.item.data()});
  search.sorter.sort(ex, label, search.key, search.item, n, search.grid.key_bits());
  search.home_box.resize_discard(search.homes);
  parallel_for(ex, label, search.homes, PlaceBox<Real>{box, search.item.data(), view(search.home_box)});
  search.pad_of.resize_discard(search.homes);
  parallel_for(ex, label, search.homes, EndsPad{search.key.data(), search.homes, search.pad_of.data()});
  search.pads = search.homes > 0 ? exclusive_scan(ex, label, search.pad_of, search.pad_of, search.homes) + 1 : 0;
  search.pad_key.resize_discard(search.pads + 1);
  search.pad_start.resize_discard(search.pads + 1);
  parallel_for(
      ex, label, search.homes,
      ListPad{search.key.data(), search.pad_of.data(), search.homes, search.pad_key.data(), search.pad_start.data()});
  return true;
}

template bool sort_into_pads(Exec&, const char*, const char*, Index, Index, BoxSearch<float>&);
template bool sort_into_pads(Exec&, const char*, const char*, Index, Index, BoxSearch<double>&);

}  // namespace tribo::TRIBO_BACKEND
