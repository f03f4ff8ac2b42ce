#include "tribo/matter/strands/contact/impulses.h"

#include <cmath>
#include <limits>
#include <utility>

#include "tribo/contact/coulomb.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real>
TRIBO_HD Vec<Real, 3> at(const FieldView<const Real, 3>& field, Index i) {
  return {{field[0][i], field[1][i], field[2][i]}};
}
template <class Real>
TRIBO_HD Vec<Real, 3> relative_velocity(const StrandPair<Real>& p, const FieldView<const Real, 3>& v) {
  return (at(v, p.first) - at(v, p.second)) + p.a * (at(v, p.first + 1) - at(v, p.first)) -
         p.b * (at(v, p.second + 1) - at(v, p.second));
}
template <class Real>
TRIBO_HD Real along(const Sym<Real, 3>& K, const Vec<Real, 3>& u) {
  return u[0] * u[0] * K(0, 0) + u[1] * u[1] * K(1, 1) + u[2] * u[2] * K(2, 2) +
         Real(2) * (u[0] * u[1] * K(0, 1) + u[0] * u[2] * K(0, 2) + u[1] * u[2] * K(1, 2));
}

/// Kp = S1 + S2 (default 3).
template <class Real>
struct PreparePair {
  const SegmentCompliance<Real>* compliance;
  Index first_new;
  StrandPair<Real>* pairs;
  PairImpulse<Real>* impulse;
  TRIBO_HD void operator()(Index k) const {
    StrandPair<Real>& p = pairs[first_new + k];
    const Mat<Real, 3> S1 = compliance_at(compliance, p.first, p.a), S2 = compliance_at(compliance, p.second, p.b);
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) p.K(i, j) = S1(i, j) + S2(i, j);
    const Real nKn = along(p.K, p.n);
    p.normal_mass = nKn > Real(0) ? Real(1) / nKn : Real(0);
    impulse[first_new + k] = {};
  }
};

/// Those that are iterated.
struct PairChoice {
  const Index* chosen;  ///< null: all
  Index count;
  TRIBO_HD Index operator()(Index c) const { return chosen != nullptr ? chosen[c] : c; }
};

template <class Real>
struct ListIncident {
  const StrandPair<Real>* pairs;
  PairChoice choice;
  std::uint64_t* owner;
  Index* incident;
  TRIBO_HD void operator()(Index e) const {
    const Index k = choice(e / 2), side = e % 2;
    owner[e] = static_cast<std::uint64_t>(side == 0 ? pairs[k].first : pairs[k].second);
    incident[e] = 2 * k + side;
  }
};
/// First entry that is no less than a key, in rising order.
TRIBO_HD Index first_not_below(const std::uint64_t* keys, Index entries, Index key) {
  Index low = 0, high = entries;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (keys[middle] < static_cast<std::uint64_t>(key))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
struct FindIncident {
  const std::uint64_t* owner;
  Index entries;
  Index* start;
  TRIBO_HD void operator()(Index segment) const { start[segment] = first_not_below(owner, entries, segment); }
};

/// Of the pinched, then of those that were added.
template <class Real>
struct ListStrands {
  const StrandPair<Real>* pairs;
  const Index* pinched;
  Index pinched_count, first_new;
  const Index* vertex_strand;
  std::uint64_t* strand;
  Index* entry;
  TRIBO_HD void operator()(Index e) const {
    const Index k = e / 2;
    const StrandPair<Real>& p = pairs[k < pinched_count ? pinched[k] : first_new + (k - pinched_count)];
    strand[e] = static_cast<std::uint64_t>(vertex_strand[e % 2 == 0 ? p.first : p.second]);
    entry[e] = e;
  }
};
struct OpenStrand {
  const std::uint64_t* strand;
  Index entries;
  Index* open;
  TRIBO_HD void operator()(Index s) const {
    const Index at = first_not_below(strand, entries, s);
    if (at < entries && strand[at] == static_cast<std::uint64_t>(s)) open[s] = 1;
  }
};
template <class Real>
struct MarkChosen {
  const StrandPair<Real>* pairs;
  const Index *vertex_strand, *open;
  Index* mark;
  TRIBO_HD void operator()(Index k) const {
    mark[k] = open[vertex_strand[pairs[k].first]] | open[vertex_strand[pairs[k].second]];
  }
};
struct Clear {
  Index* value;
  TRIBO_HD void operator()(Index i) const { value[i] = 0; }
};
struct MarkInvolved {
  const Index *start, *incident_start;
  Index* involved;
  TRIBO_HD void operator()(Index s) const {
    involved[s] = incident_start[start[s]] < incident_start[start[s + 1]] ? 1 : 0;
  }
};

/// Pairs that push, and what each would take on its own.
template <class Real>
struct MarkActive {
  const StrandPair<Real>* pairs;
  PairChoice choice;
  FieldView<const Real, 3> v;
  Real parting;  ///< no pair has to be faster [m/s]
  PairImpulse<Real>* impulse;
  Index* active;
  TRIBO_HD void operator()(Index c) const {
    const Index k = choice(c);
    const StrandPair<Real>& p = pairs[k];
    const Real need = min(p.target, parting) - dot(relative_velocity(p, v), p.n);
    const bool pushes =
        p.normal_mass > Real(0) && (need > Real(0) || impulse[k].normal != Real(0) || p.friction == p.sticks);
    active[k] = pushes ? 1 : 0;
    if (pushes) impulse[k].J = (need * p.normal_mass) * p.n;
  }
};
template <class Real>
struct MarkGiven {
  PairChoice choice;
  const PairImpulse<Real>* impulse;
  Index* active;
  TRIBO_HD void operator()(Index c) const { active[choice(c)] = impulse[choice(c)].normal > Real(0) ? 1 : 0; }
};
template <class Real>
struct CountActive {
  const Index *start, *incident, *active;
  const PairImpulse<Real>* impulse;
  Index* count;
  FieldView<Real, 3> push;
  TRIBO_HD void operator()(Index segment) const {
    Index n = 0;
    Vec<Real, 3> sum = Vec<Real, 3>::zero();
    for (Index e = start[segment]; e < start[segment + 1]; ++e) {
      const Index k = incident[e] / 2;
      if (active[k] == 0) continue;
      ++n;
      sum = incident[e] % 2 == 0 ? sum + impulse[k].J : sum - impulse[k].J;
    }
    count[segment] = n;
    for (int k = 0; k < 3; ++k) push[k][segment] = sum[k];
  }
};
/// How much of a push on one segment the next one feels: of Z, that along the strand aside, which is small.
template <class Real>
struct CoupleSegments {
  const SegmentCompliance<Real>* compliance;
  const Real* length;
  Real* coupling;
  TRIBO_HD void operator()(Index i) const {
    if (!(length[i] > Real(0))) {
      coupling[i] = Real(0);
      return;
    }
    const SegmentCompliance<Real>&k = compliance[i], &l = compliance[i + 1];
    const Real own = max(k.own[0] + k.own[3] + k.own[5], l.own[0] + l.own[3] + l.own[5]);
    const Real next = abs(k.next[0] + k.next[4] + k.next[8]);
    coupling[i] = own > Real(0) ? min(next / own, Real(1)) : Real(0);
  }
};
/// Pushes on a segment, with those on others of its strand by as much as they are felt there: sums along the strand,
/// b <- c b + p, there and back. A team's threads take a piece of the strand each, as maps b -> scale b + push, and
/// join those of the pieces before theirs.
template <class Real>
struct PushOfStrand {
  struct Scratch {
    Real scale[2][Team::size];  ///< there, back
    Vec<Real, 3> push[2][Team::size];
    Index active[Team::size];
  };
  const Index *start, *segment_active;
  const Real* coupling;
  FieldView<const Real, 3> push;
  Index* strand_active;
  FieldView<Real, 3> felt;

  TRIBO_HD void operator()(const Team& team, Index s, Scratch& scratch) const {
    const Index end = start[s + 1] - 1, each = (end - start[s] + Team::size - 1) / Team::size;
    const Index first = lesser(start[s] + team.rank() * each, end), last = lesser(first + each, end);
    summarize(first, last, team.rank(), scratch);
    team.barrier();
    Index active = 0;
    for (int r = 0; r < Team::size; ++r) active += scratch.active[r];
    if (team.rank() == 0) strand_active[s] = active;
    if (active == 0) return;
    Vec<Real, 3> before = Vec<Real, 3>::zero(), after = Vec<Real, 3>::zero();
    for (int r = 0; r < team.rank(); ++r) before = scratch.scale[0][r] * before + scratch.push[0][r];
    for (int r = Team::size - 1; r > team.rank(); --r) after = scratch.scale[1][r] * after + scratch.push[1][r];
    for (Index i = first; i < last; ++i) {
      before = coupling[i] * before + at(push, i);
      for (int k = 0; k < 3; ++k) felt[k][i] = before[k];
    }
    for (Index i = last - 1; i >= first; --i) {
      for (int k = 0; k < 3; ++k) felt[k][i] += after[k];
      after = coupling[i] * (after + at(push, i));
    }
  }

 private:
  TRIBO_HD static Index lesser(Index a, Index b) { return a < b ? a : b; }
  TRIBO_HD void summarize(Index first, Index last, int piece, Scratch& scratch) const {
    Index active = 0;
    Real scale = Real(1);
    Vec<Real, 3> there = Vec<Real, 3>::zero(), back = Vec<Real, 3>::zero();
    for (Index i = first; i < last; ++i) {
      active += segment_active[i];
      if constexpr (Team::size == 1) continue;  // no piece but its own
      there = coupling[i] * there + at(push, i);
      back += (scale * coupling[i]) * at(push, i);
      scale *= coupling[i];
    }
    scratch.active[piece] = active;
    scratch.scale[0][piece] = scratch.scale[1][piece] = scale;
    scratch.push[0][piece] = there;
    scratch.push[1][piece] = back;
  }
};

/// What impulses of a pair are divided by, so that all together do not overshoot. What is held does not move for any
/// number of pairs, hence does not count.
template <class Real>
struct PairCounts {
  const Index *segment_active, *strand_active, *vertex_strand;
  FieldView<const Real, 3> felt;
  const Index* yields;
  /// How far to trust what segments feel of each other, 1: wholly. Pairs that each add a part of what is missing may
  /// still overshoot by a third together, which makes them nearly twice as fast; sums that are taken back may not.
  Real caution;

  /// The most pairs at one of its vertices (default 4); or how much more than its own push its segments feel along it,
  /// where that is more: pairs in a row that push a taut strand the same way.
  TRIBO_HD Real of_normal(const StrandPair<Real>& p, const Vec<Real, 3>& own_push) const {
    Index most = at_vertex(p.first, 1);
    most = at_vertex(p.first + 1, most);
    most = at_vertex(p.second, most);
    most = at_vertex(p.second + 1, most);
    const Real count = static_cast<Real>(most), own = squared_norm(own_push);
    if (!(own > Real(0))) return count;
    Real all = own;
    if (free(p.first)) all = max(all, dot(own_push, at(felt, p.first)));
    if (free(p.second)) all = max(all, -dot(own_push, at(felt, p.second)));
    return max(count, Real(1) + caution * (all / own - Real(1)));
  }
  TRIBO_HD Real of_strand(const StrandPair<Real>& p) const {
    const Index a = on_strand(p.first), b = on_strand(p.second);
    return static_cast<Real>(a > b ? (a > 1 ? a : 1) : (b > 1 ? b : 1));
  }

 private:
  TRIBO_HD bool free(Index segment) const { return yields[segment] != 0 || yields[segment + 1] != 0; }
  TRIBO_HD Index on_strand(Index segment) const { return free(segment) ? strand_active[vertex_strand[segment]] : 0; }
  /// The last vertex of a strand has no segment, so the strand before adds none.
  TRIBO_HD Index at_vertex(Index i, Index most) const {
    if (yields[i] == 0) return most;
    const Index n = segment_active[i] + (i > 0 ? segment_active[i - 1] : 0);
    return n > most ? n : most;
  }
};

/// jn = need / (n.K n), |jt| = min(mu jn, |vt| / (t.K t)), both over the count.
template <class Real>
struct PlainImpulse {
  const StrandPair<Real>* pairs;
  PairChoice choice;
  const Index* active;
  PairCounts<Real> counts;
  FieldView<const Real, 3> v;
  PairImpulse<Real>* impulse;
  TRIBO_HD void operator()(Index c) const {
    const Index k = choice(c);
    if (active[k] == 0) return;
    const StrandPair<Real>& p = pairs[k];
    const Real share = Real(1) / counts.of_normal(p, impulse[k].J);
    const Vec<Real, 3> vr = relative_velocity(p, v);
    const Real vn = dot(vr, p.n), jn = (p.target - vn) * p.normal_mass * share;
    Vec<Real, 3> J = jn * p.n;
    const Vec<Real, 3> vt = vr - vn * p.n;
    const Real speed = sqrt(squared_norm(vt));
    if (p.friction > Real(0) && speed > Real(0)) {
      const Vec<Real, 3> t = (Real(1) / speed) * vt;
      const Real tKt = along(p.K, t);
      const Real stop = tKt > Real(0) ? share * speed / tKt : Real(0);
      J = J - friction_impulse(p.friction, jn, stop) * t;
    }
    impulse[k].J = J;
  }
};
/// jn <- max(0, jn + need / (n.K n) / count), Jt <- what is left of Jt - vt / (t.K t) / (pairs on the strand) within
/// mu jn; the change is applied (experiments_hair 6).
template <class Real>
struct AccumulatedImpulse {
  const StrandPair<Real>* pairs;
  PairChoice choice;
  const Index* active;
  PairCounts<Real> counts;
  FieldView<const Real, 3> v;
  Real parting;  ///< no pair has to be faster [m/s]
  PairImpulse<Real>* impulse;
  TRIBO_HD void operator()(Index c) const {
    const Index k = choice(c);
    if (active[k] == 0) return;
    const StrandPair<Real>& p = pairs[k];
    PairImpulse<Real>& sum = impulse[k];
    const Vec<Real, 3> vr = relative_velocity(p, v);
    const Real vn = dot(vr, p.n);
    const Real jn =
        max(Real(0), sum.normal + (min(p.target, parting) - vn) * p.normal_mass / counts.of_normal(p, impulse[k].J));
    Vec<Real, 3> Jt = sum.tangential;
    const Vec<Real, 3> vt = vr - vn * p.n;
    const Real speed = sqrt(squared_norm(vt));
    if (speed > Real(0)) {
      const Real tKt = along(p.K, (Real(1) / speed) * vt);
      if (tKt > Real(0)) Jt = Jt - (Real(1) / (tKt * counts.of_strand(p))) * vt;
    }
    if (p.friction != p.sticks) Jt = part_in_cone(sqrt(squared_norm(Jt)), friction_limit(p.friction, jn)) * Jt;
    sum.J = (jn - sum.normal) * p.n + (Jt - sum.tangential);
    sum.normal = jn;
    sum.tangential = Jt;
  }
};

/// y = x + beta (x - x of the iteration before), of velocities and of the sums they follow from; with 0, x is only
/// kept.
template <class Real>
struct LeadVelocity {
  Real beta;
  FieldView<Real, 3> v, before;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) {
      const Real now = v[k][i];
      if (beta > Real(0)) v[k][i] = now + beta * (now - before[k][i]);
      before[k][i] = now;
    }
  }
};
template <class Real>
struct LeadImpulse {
  Real beta;
  PairChoice choice;
  PairImpulse<Real>* impulse;
  TRIBO_HD void operator()(Index c) const {
    PairImpulse<Real>& sum = impulse[choice(c)];
    const Real normal = sum.normal;
    const Vec<Real, 3> tangential = sum.tangential;
    if (beta > Real(0)) {
      sum.normal = normal + beta * (normal - sum.normal_before);
      sum.tangential = tangential + beta * (tangential - sum.tangential_before);
    }
    sum.normal_before = normal;
    sum.tangential_before = tangential;
  }
};

/// Of what roots pass on, by strands.
struct LeadPassed {
  double beta;
  RootPush *passed, *before;
  TRIBO_HD void operator()(Index s) const {
    const RootPush now = passed[s];
    if (beta > 0) {
      passed[s].all += beta * (now.all - before[s].all);
      passed[s].first += beta * (now.first - before[s].first);
    }
    before[s] = now;
  }
};

/// Whether an iteration goes on from where its impulses were led to, or back: then it is negative.
template <class Real>
struct FollowsLead {
  PairChoice choice;
  const StrandPair<Real>* pairs;
  const PairImpulse<Real>* impulse;
  const Index* active;
  TRIBO_HD double operator()(Index c) const {
    const Index k = choice(c);
    if (active[k] == 0) return 0;
    const PairImpulse<Real>& sum = impulse[k];
    const Vec<Real, 3> way = (sum.normal - sum.normal_before) * pairs[k].n + (sum.tangential - sum.tangential_before);
    return static_cast<double>(dot(sum.J, way - sum.J));  // way - J is by how much they were led
  }
};

/// Impulses of pairs on one vertex, in the order of the list.
template <class Real>
struct GatherImpulse {
  const StrandPair<Real>* pairs;
  const PairImpulse<Real>* impulse;
  const Index *active, *start, *incident, *segment_active;
  FieldView<Real, 3> out;
  TRIBO_HD void operator()(Index i) const {
    Vec<Real, 3> sum = Vec<Real, 3>::zero();
    if (i > 0) add(i - 1, true, sum);
    add(i, false, sum);
    for (int k = 0; k < 3; ++k) out[k][i] = sum[k];
  }

 private:
  TRIBO_HD void add(Index segment, bool second_vertex, Vec<Real, 3>& sum) const {
    if (segment_active[segment] == 0) return;
    for (Index e = start[segment]; e < start[segment + 1]; ++e) {
      const Index k = incident[e] / 2;
      if (active[k] == 0) continue;
      const bool first = incident[e] % 2 == 0;
      const Real a = first ? pairs[k].a : pairs[k].b, w = second_vertex ? a : Real(1) - a;
      sum += (first ? w : -w) * impulse[k].J;
    }
  }
};

struct ActiveOf {
  PairChoice choice;
  const Index* active;
  TRIBO_HD Index operator()(Index c) const { return active[choice(c)]; }
};
constexpr const char* impulses_label = "strand impulses";

template <class Real>
PairChoice choice_of(const StrandContactWork<Real>& work) {
  if (work.all_chosen) return {nullptr, work.pair_count};
  return {work.chosen.data(), work.chosen_count};
}

template <class Real>
void prepare_from(Exec& ex, const RodWorkspace<Real>& rods, Index first_new, StrandContactWork<Real>& work) {
  const Index n = work.pair_count;
  if (n > std::numeric_limits<Index>::max() / 2)
    throw DeviceError(std::to_string(n) +
                      " pairs of segments in contact: more than can be handled; use thinner or fewer strands, or a "
                      "shorter step");
  resize_keep(ex, work.impulse, n);
  parallel_for(ex, impulses_label, n - first_new,
               PreparePair<Real>{rods.compliance.data(), first_new, work.pairs.data(), work.impulse.data()});
}

template <class Real>
void list_incident(Exec& ex, const RodMesh<Real>& mesh, StrandContactWork<Real>& work) {
  const PairChoice choice = choice_of(work);
  const Index entries = 2 * choice.count;
  work.owner.resize_discard(entries);
  work.incident.resize_discard(entries);
  parallel_for(ex, impulses_label, entries,
               ListIncident<Real>{work.pairs.data(), choice, work.owner.data(), work.incident.data()});
  work.sorter.sort(ex, impulses_label, work.owner, work.incident, entries, bits_of(mesh.vertices));
  work.incident_start.resize_discard(mesh.vertices + 1);
  parallel_for(ex, impulses_label, mesh.vertices + 1,
               FindIncident{work.owner.data(), entries, work.incident_start.data()});
  work.involved.resize_discard(mesh.strands);
  parallel_for(ex, impulses_label, mesh.strands,
               MarkInvolved{mesh.start.data(), work.incident_start.data(), work.involved.data()});
}

template <class Real>
void make_room(const RodMesh<Real>& mesh, StrandContactWork<Real>& work) {
  work.active.resize_discard(work.pair_count);
  work.segment_active.resize_discard(mesh.vertices);
  work.strand_active.resize_discard(mesh.strands);
  work.push.resize_discard(mesh.vertices);
  work.felt.resize_discard(mesh.vertices);
  work.vertex_impulse.resize_discard(mesh.vertices);
}
/// How many pairs push each segment and strand, and how much, of those that are active.
template <class Real>
void count_active(Exec& ex, const RodMesh<Real>& mesh, StrandContactWork<Real>& work) {
  parallel_for(ex, impulses_label, mesh.vertices,
               CountActive<Real>{work.incident_start.data(), work.incident.data(), work.active.data(),
                                 work.impulse.data(), work.segment_active.data(), view(work.push)});
  for_each_team<typename PushOfStrand<Real>::Scratch>(
      ex, impulses_label, mesh.strands,
      PushOfStrand<Real>{mesh.start.data(), work.segment_active.data(), work.coupling.data(),
                         view(std::as_const(work.push)), work.strand_active.data(), view(work.felt)});
}
/// Their J on velocities.
template <class Real>
void push_strands(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& rods,
                  StrandContactWork<Real>& work) {
  parallel_for(
      ex, impulses_label, mesh.vertices,
      GatherImpulse<Real>{work.pairs.data(), work.impulse.data(), work.active.data(), work.incident_start.data(),
                          work.incident.data(), work.segment_active.data(), view(work.vertex_impulse)});
  solve_strands(ex, mesh, work.vertex_impulse, &work.strand_active, state, rods);
}

/// Each iteration is begun by `lead` and ended by `hold`.
template <class Real, class Lead, class Hold>
int iterate(Exec& ex, ImpulseForm form, int iterations, Real parting, const RodMesh<Real>& mesh, RodState<Real>& state,
            RodWorkspace<Real>& rods, StrandContactWork<Real>& work, const Lead& lead, const Hold& hold) {
  const RodState<Real>& now = state;
  const PairChoice choice = choice_of(work);
  make_room(mesh, work);
  const PairCounts<Real> counts{work.segment_active.data(), work.strand_active.data(),
                                mesh.vertex_strand.data(),  view(std::as_const(work.felt)),
                                mesh.yields.data(),         form == ImpulseForm::plain ? Real(0.75) : Real(1)};
  const auto v = view(now.v);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    lead();
    parallel_for(ex, impulses_label, choice.count,
                 MarkActive<Real>{work.pairs.data(), choice, v, parting, work.impulse.data(), work.active.data()});
    if (reduce(ex, impulses_label, choice.count, Index{0}, ActiveOf{choice, work.active.data()}, Plus<Index>{}) == 0) {
      if (iteration > 0) hold();
      return iteration;
    }
    count_active(ex, mesh, work);
    if (form == ImpulseForm::plain)
      parallel_for(ex, impulses_label, choice.count,
                   PlainImpulse<Real>{work.pairs.data(), choice, work.active.data(), counts, v, work.impulse.data()});
    else
      parallel_for(ex, impulses_label, choice.count,
                   AccumulatedImpulse<Real>{work.pairs.data(), choice, work.active.data(), counts, v, parting,
                                            work.impulse.data()});
    push_strands(ex, mesh, state, rods, work);
    hold();
  }
  return iterations;
}

}  // namespace

template <class Real>
void prepare_pairs(Exec& ex, const RodMesh<Real>& mesh, const RodWorkspace<Real>& rods, StrandContactWork<Real>& work) {
  prepare_from(ex, rods, 0, work);
  work.coupling.resize_discard(mesh.vertices);
  parallel_for(ex, impulses_label, mesh.vertices,
               CoupleSegments<Real>{rods.compliance.data(), mesh.length.data(), work.coupling.data()});
  work.open.resize_discard(mesh.strands);
  parallel_for(ex, impulses_label, mesh.strands, Clear{work.open.data()});
  work.all_chosen = true;
  work.goes_on = false;
  work.momentum = 0;
  work.v_before.resize_discard(mesh.vertices);
  list_incident(ex, mesh, work);
}

template <class Real>
void prepare_added_pairs(Exec& ex, const RodMesh<Real>& mesh, const RodWorkspace<Real>& rods, Index first_new,
                         StrandContactWork<Real>& work) {
  prepare_from(ex, rods, first_new, work);
  const Index n = work.pair_count, entries = 2 * (n - first_new + work.pinched_count);
  work.owner.resize_discard(entries);
  work.incident.resize_discard(entries);
  parallel_for(ex, impulses_label, entries,
               ListStrands<Real>{work.pairs.data(), work.pinched.data(), work.pinched_count, first_new,
                                 mesh.vertex_strand.data(), work.owner.data(), work.incident.data()});
  work.sorter.sort(ex, impulses_label, work.owner, work.incident, entries, bits_of(mesh.strands));
  parallel_for(ex, impulses_label, mesh.strands, OpenStrand{work.owner.data(), entries, work.open.data()});
  work.active.resize_discard(n);
  parallel_for(ex, impulses_label, n,
               MarkChosen<Real>{work.pairs.data(), mesh.vertex_strand.data(), work.open.data(), work.active.data()});
  const Index before = work.all_chosen ? -1 : work.chosen_count;
  work.chosen_count = list_marked(ex, impulses_label, work.active, n, work.chosen);
  work.all_chosen = false;
  work.goes_on = first_new == n && work.chosen_count == before;  // strands stay open
  list_incident(ex, mesh, work);
}

template <class Real>
void give_impulses(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& rods,
                   StrandContactWork<Real>& work) {
  make_room(mesh, work);
  const PairChoice choice = choice_of(work);
  parallel_for(ex, impulses_label, choice.count, MarkGiven<Real>{choice, work.impulse.data(), work.active.data()});
  count_active(ex, mesh, work);
  push_strands(ex, mesh, state, rods, work);
}

template <class Real>
int apply_impulses(Exec& ex, ImpulseForm form, int iterations, const RodMesh<Real>& mesh, RodState<Real>& state,
                   RodWorkspace<Real>& rods, StrandContactWork<Real>& work) {
  return iterate(
      ex, form, iterations, std::numeric_limits<Real>::max(), mesh, state, rods, work, [] {}, [] {});
}

template <class Real>
int settle_impulses(Exec& ex, int iterations, bool part, const RodMesh<Real>& mesh, RodState<Real>& state,
                    RodWorkspace<Real>& rods, StrandContactWork<Real>& work, StrandHolder<Real>* holder) {
  const bool held = holder != nullptr && holder->begin(work.involved, part);
  // What pairs that are chosen anew have given so far is not known here: the first iteration with them only keeps what
  // the next are led by.
  bool first = !work.goes_on;
  const auto lead = [&] {
    const double t = work.momentum, next = 0.5 * (1 + std::sqrt(1 + 4 * t * t)), beta = first ? 0 : (t - 1) / next;
    work.momentum = next;
    first = false;
    const PairChoice choice = choice_of(work);
    parallel_for(ex, impulses_label, mesh.vertices,
                 LeadVelocity<Real>{static_cast<Real>(beta), view(state.v), view(work.v_before)});
    parallel_for(ex, impulses_label, choice.count,
                 LeadImpulse<Real>{static_cast<Real>(beta), choice, work.impulse.data()});
    if (mesh.skin_vertices > 0) {
      rods.passed_before.resize_discard(mesh.strands);
      parallel_for(ex, impulses_label, mesh.strands, LeadPassed{beta, rods.passed.data(), rods.passed_before.data()});
    }
    if (held) holder->lead(beta);
  };
  const auto hold = [&] {
    const PairChoice choice = choice_of(work);
    // Where pairs feel more of each other than they are divided by, accelerated iterations fly apart while plain ones
    // still do not: those of a taut rope did, tenfold in five. So they begin anew when they were led too far.
    const FollowsLead<Real> follows{choice, work.pairs.data(), work.impulse.data(), work.active.data()};
    if (reduce(ex, impulses_label, choice.count, 0.0, follows, Plus<double>{}) < 0) work.momentum = 1;
    if (held) holder->push();
  };
  const int done = iterate(ex, ImpulseForm::accumulated, iterations, part ? std::numeric_limits<Real>::max() : Real(0),
                           mesh, state, rods, work, lead, hold);
  if (held) holder->end();
  return done;
}

#define TRIBO_INSTANTIATE(Real)                                                                                    \
  template void prepare_pairs(Exec&, const RodMesh<Real>&, const RodWorkspace<Real>&, StrandContactWork<Real>&);   \
  template void prepare_added_pairs(Exec&, const RodMesh<Real>&, const RodWorkspace<Real>&, Index,                 \
                                    StrandContactWork<Real>&);                                                     \
  template void give_impulses(Exec&, const RodMesh<Real>&, RodState<Real>&, RodWorkspace<Real>&,                   \
                              StrandContactWork<Real>&);                                                           \
  template int apply_impulses(Exec&, ImpulseForm, int, const RodMesh<Real>&, RodState<Real>&, RodWorkspace<Real>&, \
                              StrandContactWork<Real>&);                                                           \
  template int settle_impulses(Exec&, int, bool, const RodMesh<Real>&, RodState<Real>&, RodWorkspace<Real>&,       \
                               StrandContactWork<Real>&, StrandHolder<Real>*);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
