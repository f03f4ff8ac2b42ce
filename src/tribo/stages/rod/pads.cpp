#include "tribo/stages/rod/pads.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;

template <class Real>
struct VelocityOf {
  FieldView<const Real, 3> v;
  TRIBO_HD Vec3 operator()(Index i) const {
    Vec3 r;
    for (int k = 0; k < 3; ++k) r[k] = static_cast<double>(v[k][i]);
    return r;
  }
};
struct AddVectors {
  TRIBO_HD Vec3 operator()(const Vec3& a, const Vec3& b) const { return a + b; }
};

template <class Real>
struct BoxOfSegment {
  FieldView<const Real, 3> x, v;
  const Real *length, *radius;
  Vec<Real, 3> mean;  ///< velocity of all, which brings no two strands nearer
  Real dt, limit;
  BoxReach reach;
  SegmentBox<Real>* box;

  TRIBO_HD void operator()(Index i) const {
    SegmentBox<Real> b{Vec<Real, 3>::filled(Real(1)), Vec<Real, 3>::filled(Real(-1))};
    if (length[i] > Real(0)) {
      const Vec<Real, 3> p = at(x, i), q = at(x, i + 1), u = at(v, i), w = at(v, i + 1);
      const bool along = reach == BoxReach::along_motion;
      Real extra = Real(0);
      if (!along) {
        const Real speed = sqrt(max(squared_norm(u - mean), squared_norm(w - mean)));
        extra = max(radius[i], radius[i + 1]) + dt * speed;
        if (limit > Real(0)) extra = min(extra, limit);
      }
      bool finite = true;
      for (int k = 0; k < 3; ++k) {
        const Real p1 = along ? p[k] + dt * u[k] : p[k], q1 = along ? q[k] + dt * w[k] : q[k];
        Real low = min(min(p[k], q[k]), min(p1, q1)), high = max(max(p[k], q[k]), max(p1, q1));
        const Real rounding = Real(8) * epsilon() * max(abs(low), abs(high));  // the tails of positions too
        low = low - extra - rounding;
        high = high + extra + rounding;
        finite = finite && low > -largest() && high < largest() && p1 == p1 && q1 == q1;
        b.low[k] = low;
        b.high[k] = high;
      }
      if (!finite) b = {Vec<Real, 3>::filled(Real(1)), Vec<Real, 3>::filled(Real(-1))};
    }
    box[i] = b;
  }

 private:
  TRIBO_HD static Real epsilon() { return sizeof(Real) == 4 ? Real(1.2e-7) : Real(2.3e-16); }
  TRIBO_HD static Real largest() { return Real(1e18); }
  TRIBO_HD static Vec<Real, 3> at(const FieldView<const Real, 3>& field, Index i) {
    return {{field[0][i], field[1][i], field[2][i]}};
  }
};

struct BoxSums {
  Vec3 low, high;
  double extent, count;
};
template <class Real>
struct SumsOfBox {
  const SegmentBox<Real>* box;
  BoxSums none;
  TRIBO_HD BoxSums operator()(Index i) const {
    if (box[i].empty()) return none;
    BoxSums s{cast<double>(box[i].low), cast<double>(box[i].high), 0, 1};
    for (int k = 0; k < 3; ++k) s.extent = max(s.extent, s.high[k] - s.low[k]);
    return s;
  }
};
struct JoinBoxSums {
  TRIBO_HD BoxSums operator()(const BoxSums& a, const BoxSums& b) const {
    BoxSums s{a.low, a.high, a.extent + b.extent, a.count + b.count};
    for (int k = 0; k < 3; ++k) {
      s.low[k] = min(a.low[k], b.low[k]);
      s.high[k] = max(a.high[k], b.high[k]);
    }
    return s;
  }
};

/// With pads of an edge, or larger where a million of them along an axis are not enough.
PadGrid grid_for(const BoxSums& sums, double edge) {
  PadGrid grid{};
  constexpr double most_pads = 1 << 20;
  for (int k = 0; k < 3; ++k) edge = std::max(edge, (sums.high[k] - sums.low[k]) / most_pads);
  grid.origin = sums.low;
  grid.scale = edge > 0 ? 1 / edge : 1;
  for (int k = 0; k < 3; ++k) {
    const double span = sums.count > 0 ? std::floor((sums.high[k] - sums.low[k]) * grid.scale) : 0;
    grid.size[k] = static_cast<Index>(span) + 1;
    while ((Index{1} << grid.bits[k]) < grid.size[k]) ++grid.bits[k];
  }
  return grid;
}

template <class Real>
struct PadsOf {
  const SegmentBox<Real>* box;
  PadGrid grid;
  TRIBO_HD double operator()(Index i) const {
    if (box[i].empty()) return 0;
    double n = 1;
    for (int k = 0; k < 3; ++k) n *= grid.cell(box[i].high, k) - grid.cell(box[i].low, k) + 1;
    return n;
  }
};
struct AddNumbers {
  TRIBO_HD double operator()(double a, double b) const { return a + b; }
};
template <class Real>
struct CountPads {
  const SegmentBox<Real>* box;
  PadGrid grid;
  Index* count;
  TRIBO_HD void operator()(Index i) const {
    Index n = box[i].empty() ? 0 : 1;
    for (int k = 0; k < 3 && n > 0; ++k) n *= grid.cell(box[i].high, k) - grid.cell(box[i].low, k) + 1;
    count[i] = n;
  }
};
template <class Real>
struct EnterPads {
  const SegmentBox<Real>* box;
  const Index* first;
  PadGrid grid;
  std::uint64_t* key;
  Index* segment;
  TRIBO_HD void operator()(Index s) const {
    if (box[s].empty()) return;
    Index low[3], high[3];
    for (int k = 0; k < 3; ++k) {
      low[k] = grid.cell(box[s].low, k);
      high[k] = grid.cell(box[s].high, k);
    }
    Index to = first[s];
    for (Index i = low[0]; i <= high[0]; ++i)
      for (Index j = low[1]; j <= high[1]; ++j)
        for (Index k = low[2]; k <= high[2]; ++k, ++to) {
          key[to] = grid.key(i, j, k);
          segment[to] = s;
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

}  // namespace

Index offsets_of(Exec& ex, const char* label, Array<Index>& counts, Index n, const char* what) {
  const Size total = reduce(ex, label, n, Size{0}, CountOf{counts.data()}, AddSizes{});
  if (total > std::numeric_limits<Index>::max())
    throw DeviceError(std::to_string(total) + " " + what +
                      ": more than can be handled; use thinner or fewer strands, or a shorter step");
  exclusive_scan(ex, label, counts, counts, n);
  return static_cast<Index>(total);
}

template <class Real>
void sort_into_pads(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt, BoxReach reach,
                    double limit, SegmentPads<Real>& pads) {
  const char* const label = "strand contact";
  const Index n = mesh.vertices;
  const Vec3 sum = reduce(ex, label, n, Vec3::zero(), VelocityOf<Real>{view(state.v)}, AddVectors{});
  pads.box.resize_discard(n);
  parallel_for(ex, label, n,
               BoxOfSegment<Real>{view(state.x), view(state.v), mesh.length.data(), mesh.radius.data(),
                                  cast<Real>((1.0 / std::max(n, 1)) * sum), static_cast<Real>(dt),
                                  static_cast<Real>(limit), reach, pads.box.data()});
  constexpr double far = std::numeric_limits<double>::max();
  const BoxSums none{Vec3::filled(far), Vec3::filled(-far), 0, 0};
  const BoxSums sums = reduce(ex, label, n, none, SumsOfBox<Real>{pads.box.data(), none}, JoinBoxSums{});
  // Pads a little smaller than most boxes: these touch a few of them, and not too many share one. A few that are far
  // larger, of strands that fly or have long segments, may touch very many, unless all together do.
  constexpr double most_each = 16;
  double edge = 0.75 * sums.extent / std::max(sums.count, 1.0);
  for (pads.grid = grid_for(sums, edge);
       reduce(ex, label, n, 0.0, PadsOf<Real>{pads.box.data(), pads.grid}, AddNumbers{}) > most_each * sums.count + 4096;
       pads.grid = grid_for(sums, edge))
    edge *= 2;
  pads.first.resize_discard(n);
  parallel_for(ex, label, n, CountPads<Real>{pads.box.data(), pads.grid, pads.first.data()});
  pads.entries = offsets_of(ex, label, pads.first, n, "places of segments on the contact grid");
  pads.key.resize_discard(pads.entries);
  pads.segment.resize_discard(pads.entries);
  parallel_for(ex, label, n,
               EnterPads<Real>{pads.box.data(), pads.first.data(), pads.grid, pads.key.data(), pads.segment.data()});
  pads.sorter.sort(ex, label, pads.key, pads.segment, pads.entries, std::max(pads.grid.key_bits(), 1));
}

#define TRIBO_INSTANTIATE(Real)                                                                              \
  template void sort_into_pads(Exec&, const RodMesh<Real>&, const RodState<Real>&, double, BoxReach, double, \
                               SegmentPads<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
