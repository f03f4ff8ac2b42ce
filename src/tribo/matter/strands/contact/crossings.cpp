#include "tribo/matter/strands/contact/crossings.h"

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
struct Stick {
  const Index* which;
  StrandPair<Real>* pairs;
  TRIBO_HD void operator()(Index k) const { pairs[which[k]].friction = StrandPair<Real>::sticks; }
};
template <class Real>
struct AppendPair {
  const Crossing<Real>* crossings;
  bool sticks;
  StrandPair<Real>* to;
  TRIBO_HD void operator()(Index k) const {
    to[k] = crossings[k].pair;
    if (sticks) to[k].friction = StrandPair<Real>::sticks;
  }
};

/// Pairs that end the step nearer than half of what they should be, and nearer than they are. Iterations that only have
/// to prevent crossings stop when these are prevented, and leave a little less of the gap in every step. Once the
/// thickness is gone, normals no longer tell where a strand that is hooked into another is pulled to, and a joint slips
/// through between two normals that are opposite. So half of the thickness is kept while there is any.
template <class Real>
struct MarkPinched {
  const StrandPair<Real>* pairs;
  VertexPositions<Real> x;
  FieldView<const Real, 3> v;
  const Real *radius, *length;
  const Index* vertex_strand;
  double dt;
  Index* mark;

  TRIBO_HD void operator()(Index k) const {
    const StrandPair<Real>& p = pairs[k];
    const double a = static_cast<double>(p.a), b = static_cast<double>(p.b);
    const double thick = 0.5 * ((1 - a) * radius_of(p.first) + a * radius_of(p.first + 1) +
                                (1 - b) * radius_of(p.second) + b * radius_of(p.second + 1));
    const Vec3 origin = x(p.first);
    const double then = distance(p.first, p.second, origin, dt);
    mark[k] = then < 0.98 * thick && then < 0.98 * distance(p.first, p.second, origin, 0) ? 1 : 0;
  }

 private:
  TRIBO_HD double radius_of(Index i) const { return static_cast<double>(radius[i]); }
  /// Of strands, here. Where one slides over a joint of the other, it comes nearer to the segment it slides to; to the
  /// strand it does not.
  TRIBO_HD double distance(Index i, Index j, const Vec3& origin, double after) const {
    const ClosestPoints<double> own = closest(i, j, origin, after);
    double least = squared_norm(own.gap);
    const bool same = vertex_strand[i] == vertex_strand[j] && abs(j - i) <= 3;  // too near to be looked at
    const Index i2 = same ? i : next_to(i, own.a), j2 = same ? j : next_to(j, own.b);
    if (i2 != i) least = min(least, squared_norm(closest(i2, j, origin, after).gap));
    if (j2 != j) least = min(least, squared_norm(closest(i, j2, origin, after).gap));
    if (i2 != i && j2 != j) least = min(least, squared_norm(closest(i2, j2, origin, after).gap));
    return sqrt(least);
  }
  TRIBO_HD ClosestPoints<double> closest(Index i, Index j, const Vec3& origin, double after) const {
    const Vec3 p = at(i, origin, after), q = at(j, origin, after);
    return closest_points(p, at(i + 1, origin, after) - p, q, at(j + 1, origin, after) - q);
  }
  TRIBO_HD Vec3 at(Index i, const Vec3& origin, double after) const {
    return (x(i) - origin) + after * vertex_velocity(v, i);
  }
  /// The segment beyond the end that a point is at.
  TRIBO_HD Index next_to(Index i, double a) const {
    if (a >= 1 && length[i + 1] > Real(0)) return i + 1;
    if (a <= 0 && i > 0 && length[i - 1] > Real(0)) return i - 1;
    return i;
  }
};

template <class Real>
void find_pinched(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt, Index pairs,
                  StrandContactWork<Real>& work) {
  work.active.resize_discard(pairs);
  parallel_for(ex, crossings_label, pairs,
               MarkPinched<Real>{work.pairs.data(),
                                 {view(state.x), view(state.x_tail)},
                                 view(state.v),
                                 mesh.radius.data(),
                                 mesh.length.data(),
                                 mesh.vertex_strand.data(),
                                 dt,
                                 work.active.data()});
  work.pinched_count = pairs > 0 ? list_marked(ex, crossings_label, work.active, pairs, work.pinched) : 0;
}

}  // namespace

template <class Real>
CrossingCount find_crossings(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                             SegmentPads<Real>& pads, Array<Crossing<Real>>& crossings, const Array<Index>* among) {
  if (!lists_motion(ex, mesh, state, dt, pads)) list_near(ex, mesh, state, dt, pads);
  CrossingCount count;
  count.pairs = find_pairs(ex, crossings_label, pads,
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
  const bool pressed = rules.rounds > 0 && rules.recalls && recall_pressed(ex, mesh, dt, state, rods, work) > 0;
  if (pressed) settle_impulses(ex, rules.iterations, true, mesh, state, rods, work, holder);
  report.before = report.after = find_crossings(ex, mesh, state, dt, work.pads, crossings);
  if (rules.rounds == 0) return report;
  const Index near = work.pair_count;
  const int pinched_rounds = rules.recalls ? rules.recalled_rounds : rules.pinched_rounds;
  find_pinched(ex, mesh, state, dt, near, work);
  while ((!report.clean() && report.rounds < rules.rounds) ||
         (work.pinched_count > 0 && report.rounds < pinched_rounds)) {
    const bool sticks = report.rounds >= rules.sliding_rounds && !report.clean();
    const Index kept = work.pair_count;
    if (kept == 0) prepare_pairs(ex, mesh, rods, work);  // none were near enough to touch
    resize_keep(ex, work.pairs, kept + report.after.pairs);
    parallel_for(ex, crossings_label, report.after.pairs,
                 AppendPair<Real>{crossings.data(), sticks, work.pairs.data() + kept});
    work.pair_count = kept + report.after.pairs;
    if (sticks)
      parallel_for(ex, crossings_label, work.pinched_count, Stick<Real>{work.pinched.data(), work.pairs.data()});
    prepare_added_pairs(ex, mesh, rods, kept, work);
    const bool pushed = settle_impulses(ex, rules.iterations, !sticks, mesh, state, rods, work, holder) > 0;
    // Others have not changed and did not cross before.
    report.after = find_crossings(ex, mesh, state, dt, work.pads, crossings, &work.involved);
    ++report.rounds;
    if (!pushed) break;
    find_pinched(ex, mesh, state, dt, near, work);
  }
  if (pressed) ++report.rounds;
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
