#include "tribo/stages/rod/crossings.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;
constexpr const char* crossings_label = "strand crossings";

template <class Real>
struct Cross {
  using Item = Crossing<Real>;
  VertexPositions<Real> x;
  FieldView<const Real, 3> v;
  PairMotion<Real> motion;
  const Real *radius, *inverse_mass;
  const Index *vertex_strand, *among;  ///< strands with a 1; null: all
  double dt;

  TRIBO_HD static Item nothing(Index i, Index j) { return {no_pair<Real>(i, j), 0}; }
  TRIBO_HD bool operator()(Index i, Index j, Item& item) const {
    if (among != nullptr && among[vertex_strand[i]] == 0 && among[vertex_strand[j]] == 0) return false;
    if (motion.apart(i, j, motion.way(i, j))) return false;
    const bool moves = inverse_mass[i] > Real(0) || inverse_mass[i + 1] > Real(0) || inverse_mass[j] > Real(0) ||
                       inverse_mass[j + 1] > Real(0);
    if (!moves) return false;
    MovingSegments s;
    const Vec3 origin = x(i);
    const Index vertex[4] = {i, i + 1, j, j + 1};
    for (int k = 0; k < 4; ++k) {
      s.x[k] = x(vertex[k]) - origin;
      s.move[k] = dt * vertex_velocity(v, vertex[k]);
    }
    const MovingSegments::Hit hit = s.hits();
    if (hit.count == 0) return false;

    const double a = hit.a, b = hit.b, t = hit.t;
    const Vec3 gap = (s.x[0] - s.x[2]) + a * (s.x[1] - s.x[0]) - b * (s.x[3] - s.x[2]);
    Vec3 n = cross((s.x[1] - s.x[0]) + t * (s.move[1] - s.move[0]), (s.x[3] - s.x[2]) + t * (s.move[3] - s.move[2]));
    double l = sqrt(squared_norm(n)), height = dot(gap, n);
    if (!(l * l > 1e-18 * squared_norm(s.x[1] - s.x[0]) * squared_norm(s.x[3] - s.x[2]))) {  // parallel when they meet
      n = gap;
      l = max(sqrt(squared_norm(n)), 1e-300);
      height = l * l;
    }
    n = ((height < 0 ? -1 : 1) / l) * n;
    height = abs(height) / l;
    const double dmin = (1 - a) * radius_of(i) + a * radius_of(i + 1) + (1 - b) * radius_of(j) + b * radius_of(j + 1);
    item.pair.first = i;
    item.pair.second = j;
    item.pair.a = static_cast<Real>(a);
    item.pair.b = static_cast<Real>(b);
    item.pair.n = cast<Real>(n);
    item.pair.target = static_cast<Real>(least_normal_velocity(height, dmin, dt));
    item.pair.friction = Real(0);
    item.odd = hit.count % 2;
    return true;
  }

 private:
  TRIBO_HD double radius_of(Index i) const { return static_cast<double>(radius[i]); }
};

template <class Real>
struct OddOf {
  const Crossing<Real>* crossings;
  TRIBO_HD Index operator()(Index k) const { return crossings[k].odd; }
};
template <class Real>
struct AppendPair {
  const Crossing<Real>* crossings;
  StrandPair<Real>* to;
  TRIBO_HD void operator()(Index k) const { to[k] = crossings[k].pair; }
};

}  // namespace

template <class Real>
CrossingCount find_crossings(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                             SegmentPads<Real>& pads, Array<Crossing<Real>>& crossings, const Array<Index>* among) {
  if (!lists_motion(ex, mesh, state, dt, pads)) list_near(ex, mesh, state, dt, pads);
  CrossingCount count;
  count.pairs = find_pairs<Real>(ex, crossings_label, pads,
                                 Cross<Real>{{view(state.x), view(state.x_tail)},
                                             view(state.v),
                                             {view(state.x), view(state.v), static_cast<Real>(dt)},
                                             mesh.radius.data(),
                                             mesh.inverse_mass.data(),
                                             mesh.vertex_strand.data(),
                                             among != nullptr ? among->data() : nullptr,
                                             dt},
                                 crossings);
  if (count.pairs == 0) return count;
  count.odd = reduce(ex, crossings_label, count.pairs, Index{0}, OddOf<Real>{crossings.data()}, Plus<Index>{});
  return count;
}

template <class Real>
FailSafeReport prevent_crossings(Exec& ex, const FailSafeRules& rules, const RodMesh<Real>& mesh, double dt,
                                 RodState<Real>& state, RodWorkspace<Real>& rods, StrandContactWork<Real>& work,
                                 Array<Crossing<Real>>& crossings, StrandHolder<Real>* holder) {
  FailSafeReport report;
  report.before = report.after = find_crossings(ex, mesh, state, dt, work.pads, crossings);
  while (!report.clean() && report.rounds < rules.rounds) {
    const Index kept = work.pair_count;
    if (kept == 0) prepare_pairs(ex, mesh, rods, work);  // none were near enough to touch
    resize_keep(ex, work.pairs, kept + report.after.pairs);
    parallel_for(ex, crossings_label, report.after.pairs, AppendPair<Real>{crossings.data(), work.pairs.data() + kept});
    work.pair_count = kept + report.after.pairs;
    prepare_added_pairs(ex, mesh, rods, kept, work);
    const bool pushed = settle_impulses(ex, rules.iterations, mesh, state, rods, work, holder) > 0;
    // Others have not changed and did not cross before.
    report.after = find_crossings(ex, mesh, state, dt, work.pads, crossings, &work.involved);
    ++report.rounds;
    if (!pushed) break;
  }
  return report;
}

#define TRIBO_INSTANTIATE(Real)                                                                             \
  template CrossingCount find_crossings(Exec&, const RodMesh<Real>&, const RodState<Real>&, double,         \
                                        SegmentPads<Real>&, Array<Crossing<Real>>&, const Array<Index>*);   \
  template FailSafeReport prevent_crossings(Exec&, const FailSafeRules&, const RodMesh<Real>&, double,      \
                                            RodState<Real>&, RodWorkspace<Real>&, StrandContactWork<Real>&, \
                                            Array<Crossing<Real>>&, StrandHolder<Real>*);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
