#include "tribo/matter/strands/contact/pads.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "tribo/grid/stencil.h"
#include "tribo/math/lane_bits.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;
constexpr const char* pads_label = "strand contact";

/// Of positions [m] and velocities [m/s] that are taken for finite.
template <class Real>
inline constexpr Real largest_position = Real(1e18);

/// Those that go farther in a step than any should, or are not finite, are left out: one strand that is lost must not
/// hide all others.
struct DriftSums {
  Vec3 velocity;
  double count;
};
template <class Real>
struct VelocityOf {
  FieldView<const Real, 3> v;
  const Real* length;
  double dt;
  TRIBO_HD DriftSums operator()(Index i) const {
    constexpr double segments = 10;
    const Vec3 u{{static_cast<double>(v[0][i]), static_cast<double>(v[1][i]), static_cast<double>(v[2][i])}};
    const double way = segments * static_cast<double>(length[i]);
    if (!(dt * dt * squared_norm(u) < way * way)) return {Vec3::zero(), 0};
    return {u, 1};
  }
};
struct AddDriftSums {
  TRIBO_HD DriftSums operator()(const DriftSums& a, const DriftSums& b) const {
    return {a.velocity + b.velocity, a.count + b.count};
  }
};

/// Segments that follow each other: a pack of them on the CPU, one on the GPU.
template <class Real>
struct SegmentRun {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;
  Index first;
  int count;

  TRIBO_HD static Index runs(Index segments) { return (segments + W - 1) / W; }
  TRIBO_HD SegmentRun(Index run, Index segments) : first(run * W), count(min(W, segments - run * W)) {}
  /// Of their first or second vertices; lanes past the last segment are those of what comes after.
  TRIBO_HD Vec<T, 3> ends(const FieldView<const Real, 3>& field, Index second) const {
    Vec<T, 3> r;
    for (int k = 0; k < 3; ++k) r[k] = load_pack<Real>(field[k] + first + second, W);
    return r;
  }
  TRIBO_HD mask_t<T> present(const Real* length) const { return load_pack<Real>(length + first, count) > T(Real(0)); }
};

template <class Real>
struct BoxOfSegments {
  using T = ParticlePack<Real>;
  FieldView<const Real, 3> x, v;
  const Real *length, *radius;
  Index segments;
  Vec<Real, 3> drift;  ///< which brings no two strands nearer
  Real dt;
  BoxView<Real> box;

  TRIBO_HD void operator()(Index r) const {
    const SegmentRun<Real> run(r, segments);
    const T rounding(position_rounding<Real>), far(largest_position<Real>);
    const Vec<T, 3> p = run.ends(x, 0), q = run.ends(x, 1);
    Vec<T, 3> u = run.ends(v, 0), w = run.ends(v, 1), low, high;
    for (int k = 0; k < 3; ++k) {
      u[k] = u[k] - T(drift[k]);
      w[k] = w[k] - T(drift[k]);
    }
    const T speed = sqrt(max(squared_norm(u), squared_norm(w)));
    const T thickness = max(load_pack<Real>(radius + run.first, pack_width<Real>),
                            load_pack<Real>(radius + run.first + 1, pack_width<Real>));
    const T extra = (T(Real(1)) + rounding) * (thickness + T(dt) * speed);
    auto valid = run.present(length);
    for (int k = 0; k < 3; ++k) {
      low[k] = min(p[k], q[k]);
      high[k] = max(p[k], q[k]);
      const T reach = extra + rounding * max(abs(low[k]), abs(high[k]));
      low[k] = low[k] - reach;
      high[k] = high[k] + reach;
      valid = valid && low[k] > -far && high[k] < far && p[k] == p[k] && q[k] == q[k] && u[k] == u[k] && w[k] == w[k];
    }
    for (int k = 0; k < 3; ++k) {
      store_pack<Real>(box.low[k] + run.first, select(valid, low[k], T(Real(1))), run.count);
      store_pack<Real>(box.high[k] + run.first, select(valid, high[k], T(Real(-1))), run.count);
    }
  }
};

/// 1 where a segment of a run leaves its box, seen from what drifts along.
template <class Real>
struct LeavesBox {
  using T = ParticlePack<Real>;
  FieldView<const Real, 3> x, v;
  const Real* length;
  Index segments;
  Vec<Real, 3> drift;
  Real dt;
  BoxView<const Real> box;

  TRIBO_HD Index operator()(Index r) const {
    const SegmentRun<Real> run(r, segments);
    const T rounding(position_rounding<Real>), far(largest_position<Real>);
    const auto present = run.present(length);
    auto inside = present, finite = present;
    for (int end = 0; end < 2; ++end) {
      const Vec<T, 3> p = run.ends(x, end), u = run.ends(v, end);
      for (int k = 0; k < 3; ++k) {
        const T move = T(dt) * (u[k] - T(drift[k])), q = p[k] + move, slack = rounding * (abs(p[k]) + abs(move));
        const auto stays = min(p[k], q) - slack >= load_pack<Real>(box.low[k] + run.first, pack_width<Real>) &&
                           max(p[k], q) + slack <= load_pack<Real>(box.high[k] + run.first, pack_width<Real>);
        inside = inside && stays;
        finite = finite && abs(q) < far;
      }
    }
    return any(finite && !inside) ? 1 : 0;
  }
};
struct Most {
  TRIBO_HD Index operator()(Index a, Index b) const { return a > b ? a : b; }
};

struct BoxSums {
  Vec3 low, high, largest;  ///< extents along each axis
  double extent, count;     ///< sum of their extents along the axis where they are longest
};
template <class Real>
struct SumsOfBox {
  BoxView<const Real> box;
  BoxSums none;
  TRIBO_HD BoxSums operator()(Index i) const {
    const SegmentBox<Real> b = box[i];
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
  TRIBO_HD GuestPads(const SegmentBox<Real>& box, const PadGrid& grid) {
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
template <class Real>
TRIBO_HD bool is_guest(const SegmentBox<Real>& box, const PadGrid& grid) {
  bool longer = false;
  for (int k = 0; k < 3; ++k) longer = longer || box.extent(k) > grid.extent[k];
  return longer && !box.empty();
}
struct GuestSums {
  double segments, pads;
};
template <class Real>
struct SumsOfGuest {
  BoxView<const Real> box;
  PadGrid grid;
  TRIBO_HD GuestSums operator()(Index i) const {
    const SegmentBox<Real> b = box[i];
    if (!is_guest(b, grid)) return {0, 0};
    return {1, GuestPads<Real>(b, grid).count()};
  }
};
struct AddGuestSums {
  TRIBO_HD GuestSums operator()(const GuestSums& a, const GuestSums& b) const {
    return {a.segments + b.segments, a.pads + b.pads};
  }
};
template <class Real>
struct CountGuestPads {
  BoxView<const Real> box;
  PadGrid grid;
  Index* count;
  TRIBO_HD void operator()(Index i) const {
    const SegmentBox<Real> b = box[i];
    count[i] = is_guest(b, grid) ? static_cast<Index>(GuestPads<Real>(b, grid).count()) : 0;
  }
};
template <class Real>
struct EnterGuest {
  BoxView<const Real> box;
  PadGrid grid;
  const Index* first;
  std::uint64_t* key;
  Index* guest;
  TRIBO_HD void operator()(Index s) const {
    const SegmentBox<Real> b = box[s];
    if (!is_guest(b, grid)) return;
    const GuestPads<Real> pads(b, grid);
    Index to = first[s], at[3];
    for (at[0] = pads.low[0]; at[0] <= pads.high[0]; ++at[0])
      for (at[1] = pads.low[1]; at[1] <= pads.high[1]; ++at[1])
        for (at[2] = pads.low[2]; at[2] <= pads.high[2]; ++at[2], ++to) {
          key[to] = grid.key(at);
          guest[to] = s;
        }
  }
};

template <class Real>
struct EnterHome {
  BoxView<const Real> box;
  PadGrid grid;
  std::uint64_t* key;
  Index* segment;
  TRIBO_HD void operator()(Index i) const {
    const SegmentBox<Real> b = box[i];
    Index at[3];
    for (int k = 0; k < 3; ++k)
      at[k] = grid.cell(0.5 * (static_cast<double>(b.low[k]) + static_cast<double>(b.high[k])), k);
    key[i] = b.empty() || is_guest(b, grid) ? grid.no_key() : grid.key(at);
    segment[i] = i;
  }
};
template <class Real>
struct PlaceBox {
  BoxView<const Real> box;
  const Index* segment;
  BoxView<Real> place;
  TRIBO_HD void operator()(Index e) const {
    const SegmentBox<Real> b = box[segment[e]];
    for (int k = 0; k < 3; ++k) {
      place.low[k][e] = b.low[k];
      place.high[k][e] = b.high[k];
    }
  }
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

template <class Real>
struct NearSegments {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;

  const Index *segment, *pad_of;
  const std::uint64_t* pad_key;
  const Index* pad_start;
  BoxView<const Real> home_box;
  const std::uint64_t* guest_key;
  const Index* guest;
  BoxView<const Real> box;
  const Index* vertex_strand;
  PadGrid grid;
  Index pads, homes, guests;

  TRIBO_HD Index places() const { return homes + guests; }
  TRIBO_HD Index segment_at(Index place) const { return place < homes ? segment[place] : guest[place - homes]; }

  /// Of no pad yet.
  TRIBO_HD PadRows<Real> no_rows() const {
    PadRows<Real> rows{};
    rows.pad = -1;
    return rows;
  }

  /// visit(j) for the segments that the one at a place is near to; each pair at one place. `rows` are those of an
  /// earlier place.
  template <class Visit>
  TRIBO_HD void each(Index place, PadRows<Real>& rows, const Visit& visit) const {
    if (place < homes)
      each_of_home(place, rows, visit);
    else
      each_of_guest(place - homes, visit);
  }

 private:
  /// Segments that follow each other are of one strand: between strands is a vertex where none begins.
  TRIBO_HD bool may_touch(Index i, Index j) const {
    const Index way = i < j ? j - i : i - j;
    return way > 2 || (way == 2 && vertex_strand[i] != vertex_strand[j]);
  }

  TRIBO_HD void go_to(Index pad, PadRows<Real>& rows) const {
    const bool begins = rows.pad < 0;
    const std::uint64_t row = std::uint64_t{1} << grid.bits[2], plane = row << grid.bits[1], own = pad_key[pad];
    rows.pad = pad;
    for (int r = 0; r < PadRows<Real>::rows; ++r) {
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
    const Index i = segment[e];
    const SegmentBox<Real> own = home_box[e];
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
    for (Index g = rows.guest_begin; g < rows.guest_end; ++g)
      if (own.meets(box[guest[g]]) && may_touch(i, guest[g])) visit(guest[g]);
  }

  template <class Visit>
  TRIBO_HD void each_that_meets(const SegmentBox<Real>& own, Index i, Index begin, Index end,
                                const Visit& visit) const {
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
        if (may_touch(i, segment[j])) visit(segment[j]);
      }
    }
  }

  /// A pair of guests belongs to the cell where the common part of their boxes begins: both are in that one.
  template <class Visit>
  TRIBO_HD void each_of_guest(Index g, const Visit& visit) const {
    const Index i = guest[g];
    const SegmentBox<Real> own = box[i];
    for (Index h = g + 1; h < guests && guest_key[h] == guest_key[g]; ++h) {
      const Index j = guest[h];
      const SegmentBox<Real> other = box[j];
      if (!own.meets(other) || !may_touch(i, j)) continue;
      Index cell[3];
      for (int k = 0; k < 3; ++k)
        cell[k] = grid.cell(static_cast<double>(max(own.low[k], other.low[k])), k) >> grid.shift;
      if (grid.key(cell) == guest_key[g]) visit(j);
    }
  }
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

struct CountPartner {
  Index *count, *partner;
  TRIBO_HD void operator()(Index j) const {
    if (*count < kept_partners) partner[*count] = j;
    ++*count;
  }
};
template <class Real>
struct CountNear {
  static constexpr Index chunk = Team::size == 1 ? 256 : 2 * Team::size;
  struct Scratch {};
  NearSegments<Real> segments;
  Index *found, *partner;

  /// Places one after the other: rows of pads begin where the last ones did, or a little later.
  TRIBO_HD void operator()(const Team& team, Index c, Scratch&) const {
    const Index begin = c * chunk, end = min(begin + chunk, segments.places());
    PadRows<Real> rows = segments.no_rows();
    for (Index place = begin + team.rank(); place < end; place += Team::size) {
      Index count = 0;
      segments.each(place, rows, CountPartner{&count, partner + Size{place} * kept_partners});
      found[place] = count;
    }
  }
};
struct StorePartner {
  Index i;
  NearPair** to;
  TRIBO_HD void operator()(Index j) const { *(*to)++ = i < j ? NearPair{i, j} : NearPair{j, i}; }
};
template <class Real>
struct StoreNear {
  NearSegments<Real> segments;
  const Index *found, *partner;
  Index count;  ///< of all
  NearPair* near;
  TRIBO_HD void operator()(Index place) const {
    const Index own = (place + 1 < segments.places() ? found[place + 1] : count) - found[place];
    if (own == 0) return;
    NearPair* to = near + found[place];
    const StorePartner store{segments.segment_at(place), &to};
    if (own <= kept_partners) {
      for (Index k = 0; k < own; ++k) store(partner[Size{place} * kept_partners + k]);
    } else {
      PadRows<Real> rows = segments.no_rows();
      segments.each(place, rows, store);
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

/// Pads as large as most boxes, and places of those that are larger. Of these a few, of strands that fly or have long
/// segments, may be in very many cells, unless all together are. Returns how many they are.
template <class Real>
Index enter_guests(Exec& ex, const BoxSums& sums, Index n, SegmentPads<Real>& pads) {
  const double mean = sums.extent / sums.count;
  const double largest = std::max({sums.largest[0], sums.largest[1], sums.largest[2]});
  const auto box = view(std::as_const(pads.box));
  pads.grid = grid_for(sums, std::min(largest, 1.5 * mean));
  pads.guests = 0;
  if (largest <= 1.5 * mean) return 0;
  const double most = sums.count + 4096;
  GuestSums guests;
  while (true) {
    guests = reduce(ex, pads_label, n, GuestSums{0, 0}, SumsOfGuest<Real>{box, pads.grid}, AddGuestSums{});
    if (guests.pads <= most) break;
    ++pads.grid.shift;
  }
  pads.guest_first.resize_discard(n);
  parallel_for(ex, pads_label, n, CountGuestPads<Real>{box, pads.grid, pads.guest_first.data()});
  pads.guests = offsets_of(ex, pads_label, pads.guest_first, n, "places of segments on the contact grid");
  pads.guest_key.resize_discard(pads.guests);
  pads.guest.resize_discard(pads.guests);
  parallel_for(ex, pads_label, n,
               EnterGuest<Real>{box, pads.grid, pads.guest_first.data(), pads.guest_key.data(), pads.guest.data()});
  pads.sorter.sort(ex, pads_label, pads.guest_key, pads.guest, pads.guests, pads.grid.key_bits());
  return static_cast<Index>(guests.segments);
}

}  // namespace

Index offsets_of(Exec& ex, const char* of, Array<Index>& counts, Index n, const char* what) {
  const Size total = reduce(ex, of, n, Size{0}, CountOf{counts.data()}, AddSizes{});
  if (total > std::numeric_limits<Index>::max())
    throw DeviceError(std::to_string(total) + " " + what +
                      ": more than can be handled; use thinner or fewer strands, or a shorter step");
  exclusive_scan(ex, of, counts, counts, n);
  return static_cast<Index>(total);
}

template <class Real>
void list_near(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt, SegmentPads<Real>& pads) {
  const Index n = mesh.vertices;
  const DriftSums moving = reduce(ex, pads_label, n, DriftSums{Vec3::zero(), 0},
                                  VelocityOf<Real>{view(state.v), mesh.length.data(), dt}, AddDriftSums{});
  pads.drift = cast<Real>((1 / std::max(moving.count, 1.0)) * moving.velocity);
  pads.box.resize_discard(n);
  parallel_for(ex, pads_label, SegmentRun<Real>::runs(n),
               BoxOfSegments<Real>{view(state.x), view(state.v), mesh.length.data(), mesh.radius.data(), n, pads.drift,
                                   static_cast<Real>(dt), view(pads.box)});
  constexpr double far = std::numeric_limits<double>::max();
  const auto box = view(std::as_const(pads.box));
  const BoxSums none{Vec3::filled(far), Vec3::filled(-far), Vec3::zero(), 0, 0};
  const BoxSums sums = reduce(ex, pads_label, n, none, SumsOfBox<Real>{box, none}, JoinBoxSums{});
  pads.near_count = 0;
  if (sums.count == 0) return;

  pads.homes = static_cast<Index>(sums.count) - enter_guests(ex, sums, n, pads);
  pads.key.resize_discard(n);
  pads.segment.resize_discard(n);
  parallel_for(ex, pads_label, n, EnterHome<Real>{box, pads.grid, pads.key.data(), pads.segment.data()});
  pads.sorter.sort(ex, pads_label, pads.key, pads.segment, n, pads.grid.key_bits());
  pads.home_box.resize_discard(pads.homes);
  parallel_for(ex, pads_label, pads.homes, PlaceBox<Real>{box, pads.segment.data(), view(pads.home_box)});
  pads.pad_of.resize_discard(pads.homes);
  parallel_for(ex, pads_label, pads.homes, EndsPad{pads.key.data(), pads.homes, pads.pad_of.data()});
  const Index count = pads.homes > 0 ? exclusive_scan(ex, pads_label, pads.pad_of, pads.pad_of, pads.homes) + 1 : 0;
  pads.pad_key.resize_discard(count + 1);
  pads.pad_start.resize_discard(count + 1);
  parallel_for(ex, pads_label, pads.homes,
               ListPad{pads.key.data(), pads.pad_of.data(), pads.homes, pads.pad_key.data(), pads.pad_start.data()});

  const SegmentPads<Real>& sorted = pads;
  const NearSegments<Real> segments{sorted.segment.data(),
                                    sorted.pad_of.data(),
                                    sorted.pad_key.data(),
                                    sorted.pad_start.data(),
                                    view(sorted.home_box),
                                    sorted.guest_key.data(),
                                    sorted.guest.data(),
                                    box,
                                    mesh.vertex_strand.data(),
                                    sorted.grid,
                                    count,
                                    sorted.homes,
                                    sorted.guests};
  const Index places = pads.homes + pads.guests;
  pads.found.resize_discard(places);
  pads.partner.resize_discard(Size{places} * kept_partners);
  using Count = CountNear<Real>;
  for_each_team<typename Count::Scratch>(ex, pads_label, (places + Count::chunk - 1) / Count::chunk,
                                         Count{segments, pads.found.data(), pads.partner.data()});
  pads.near_count = offsets_of(ex, pads_label, pads.found, places, "pairs of segments near each other");
  pads.near.resize_discard(pads.near_count);
  if (pads.near_count > 0)
    parallel_for(
        ex, pads_label, places,
        StoreNear<Real>{segments, sorted.found.data(), sorted.partner.data(), pads.near_count, pads.near.data()});
}

template <class Real>
bool lists_motion(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                  const SegmentPads<Real>& pads) {
  const Index n = mesh.vertices;
  if (pads.box.low.c[0].size() != n) return false;
  return reduce(ex, pads_label, SegmentRun<Real>::runs(n), Index{0},
                LeavesBox<Real>{view(state.x), view(state.v), mesh.length.data(), n, pads.drift, static_cast<Real>(dt),
                                view(pads.box)},
                Most{}) == 0;
}

#define TRIBO_INSTANTIATE(Real)                                                                            \
  template void list_near(Exec&, const RodMesh<Real>&, const RodState<Real>&, double, SegmentPads<Real>&); \
  template bool lists_motion(Exec&, const RodMesh<Real>&, const RodState<Real>&, double, const SegmentPads<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
