#include "tribo/matter/rigid/contact/solve.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "tribo/exec/joins.h"
#include "tribo/exec/mark.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char *impulses_label = "rigid impulses", *sweeps_label = "rigid sweeps";
constexpr Index ties_grain = 8, packs_grain = 2, lanes_grain = 64;
/// So few ties are done by one team: their work is less than what starting threads costs, for each color anew. On two
/// cores a pile with 1000 rows took 2.5 times as long by both as by one, with 5000 as long, with 9000 three quarters.
constexpr Index few_ties = Team::size == 1 ? 4096 : 256;
constexpr int asked_each = 10;
constexpr int most_colors = 63;
/// Solves of joints in a step, where nothing touches: each finds the end of the step by the velocities of the one
/// before, to a power of w dt more.
constexpr int joint_solves = 3;

/// What is done once in a step, tie by tie.
struct EachTie {
  const RigidTie* tie;
  RigidRow* row;
  PlacedBody* body;
  double dt;   ///< of turns
  bool turns;  ///< else bodies get the impulses that rows begin with

  TRIBO_HD void one(Index t) const {
    const RigidTie& own = tie[t];
    PlacedBody* const a = own.a >= 0 ? body + own.a : nullptr;
    PlacedBody* const b = own.b >= 0 ? body + own.b : nullptr;
    for (Index k = 0; k < own.count; ++k) {
      const RigidRow& r = row[own.first + k];
      if (turns) {
        if (b != nullptr && r.shift > 0) turn(a, b, r);
        continue;
      }
      const Vec3d impulse = r.normal * r.n + r.tangential;
      if (a->inverse_mass > 0) a->push(r.ra, impulse);
      if (b != nullptr && b->inverse_mass > 0) b->push(r.rb, -impulse);
    }
  }

 private:
  /// By what places have been moved, P/m dt of each, dt P x (v_a - v_b).
  TRIBO_HD void turn(PlacedBody* a, PlacedBody* b, const RigidRow& r) const {
    if (!(a->inverse_mass > 0) || !(b->inverse_mass > 0)) return;
    const Vec3d back = (-dt * r.shift) * cross(r.n, a->v - b->v);
    const double of_a = trace(a->inverse_inertia), of_b = trace(b->inverse_inertia);
    a->w += a->inverse_inertia * ((of_b / (of_a + of_b)) * back);
    b->w += b->inverse_inertia * ((of_a / (of_a + of_b)) * back);
  }
};
/// Ties of a color.
struct TiesOfColor {
  EachTie ties;
  Index first;
  TRIBO_HD void operator()(Index i) const { ties.one(first + i); }
};
/// One after the other.
struct TiesInTurn {
  EachTie ties;
  Index first, count;
  TRIBO_HD void operator()(Index) const {
    for (Index i = 0; i < count; ++i) ties.one(first + i);
  }
};

/// Rows as sweeps read them, with no impulses of sweeps before.
struct PackRows {
  RowPackView packs;
  const RigidRow* row;
  const PlacedBody* body;

  TRIBO_HD void operator()(Index i) const {
    const Index p = i / tie_lanes, lane = i % tie_lanes;
    const TiePack& pack = packs.pack[p];
    const RigidTie& own = packs.tie[i];
    hold(own.a, packs.held_at(p, lane));
    hold(own.b, packs.held_at(p, lane) + packed_body * tie_lanes);
    for (Index k = 0; k < pack.rows; ++k) {
      double* const to = packs.row_at(pack.first + k, lane);
      for (int j = 0; j < packed_row; ++j) to[j * tie_lanes] = 0;
      if (k < own.count) put(row[own.first + k], to);
    }
  }

 private:
  TRIBO_HD void hold(Index b, double* to) const {
    to[0] = b >= 0 ? body[b].inverse_mass : 0;
    for (int k = 0; k < 6; ++k) to[(k + 1) * tie_lanes] = b >= 0 ? body[b].inverse_inertia.s[k] : 0;
  }
  TRIBO_HD void put(const RigidRow& r, double* to) const {
    Vec3d yields = body[r.a].yields(r.ra, r.n);
    if (r.b >= 0) yields += body[r.b].yields(r.rb, r.n);
    const Vec3d vectors[] = {r.n, r.ra, r.b >= 0 ? r.rb : r.carried, yields};
    for (int j = 0; j < 12; ++j) to[j * tie_lanes] = vectors[j / 3][j % 3];
    to[packed_allowed * tie_lanes] = r.allowed;
    to[packed_normal_mass * tie_lanes] = 1 / r.gives;
    to[packed_slip_mass * tie_lanes] = 1 / r.slips;
    to[packed_friction * tie_lanes] = r.friction;
    to[packed_push * tie_lanes] = r.push;
    to[packed_normal * tie_lanes] = r.normal;
    for (int k = 0; k < 3; ++k) to[(packed_tangential + k) * tie_lanes] = r.tangential[k];
  }
};
struct BringRowsBack {
  RowPackView packs;
  RigidRow* row;
  TRIBO_HD void operator()(Index i) const {
    const RigidTie& own = packs.tie[i];
    for (Index k = 0; k < own.count; ++k) {
      RigidRow& r = row[own.first + k];
      const double* const from = packs.row_at(packs.pack[i / tie_lanes].first + k, i % tie_lanes);
      r.normal = from[packed_normal * tie_lanes];
      for (int j = 0; j < 3; ++j) r.tangential[j] = from[(packed_tangential + j) * tie_lanes];
      r.shift = from[packed_shift * tie_lanes];
    }
  }
};

/// Sweeps over rows. What is beside the last one is known to all kernels without the host, which need not wait.
struct RowSweeps {
  RowPackView packs;
  SweptBody* body;
  const SweepPace* pace;
  bool shifts;

  /// `begins`: the first half of a sweep, `first`: of all sweeps. There rows go on along their way, too, which is
  /// nobody else's business.
  TRIBO_HD void one(Index unit, bool begins, bool first) const {
    if (pace->done != 0) return;
    const Index p = unit / units_each, lane = unit % units_each * lanes_at_once;
    const TiePack& pack = packs.pack[p];
    const RigidTie* const own = packs.tie + p * tie_lanes + lane;
    const Index rows = lanes_at_once == 1 ? own->count : pack.rows;
    if (rows == 0) return;
    PackedBody a, b;
    double has_b[lanes_at_once];
    for (Index l = 0; l < lanes_at_once; ++l) has_b[l] = own[l].b >= 0 ? 1 : 0;
    const double* const held = packs.held_at(p, lane);
    load(own, false, held, a);
    load(own, true, held + packed_body * tie_lanes, b);
    const mask_t<RowNumber> pair = load_pack<double>(has_b, lanes_at_once) > RowNumber(0.0);
    for (Index k = 0; k < rows; ++k) {
      double* const at = packs.row_at(pack.first + (begins ? k : rows - 1 - k), lane);
      if (shifts)
        move(at, a, b, pair, begins, first);
      else
        solve(at, a, b, pair, begins, first);
    }
    store(own, false, held, a);
    store(own, true, held + packed_body * tie_lanes, b);
  }

 private:
  TRIBO_HD void load(const RigidTie* own, bool second, const double* held, PackedBody& to) const {
    const double nobody[6] = {};
    const double* from[lanes_at_once];
    for (Index l = 0; l < lanes_at_once; ++l) {
      const Index i = second ? own[l].b : own[l].a;
      from[l] = i >= 0 ? body[i].velocity : nobody;
    }
    for (int k = 0; k < 3; ++k) {
      to.v[k] = number_of_each<RowNumber>(from, k);
      to.w[k] = number_of_each<RowNumber>(from, k + 3);
    }
    to.inverse_mass = packed(held, 0);
    for (int k = 0; k < 6; ++k) to.inverse_inertia.s[k] = packed(held, k + 1);
  }
  /// What does not move may be in many ties at once.
  TRIBO_HD void store(const RigidTie* own, bool second, const double* held, const PackedBody& from) const {
    alignas(64) double v[6 * lanes_at_once];
    for (int k = 0; k < 3; ++k) {
      store_pack<double>(v + k * lanes_at_once, from.v[k], lanes_at_once);
      store_pack<double>(v + (k + 3) * lanes_at_once, from.w[k], lanes_at_once);
    }
    for (Index l = 0; l < lanes_at_once; ++l) {
      if (!(held[l] > 0)) continue;
      SweptBody& to = body[second ? own[l].b : own[l].a];
      for (int k = 0; k < 6; ++k) to.velocity[k] = v[k * lanes_at_once + l];
    }
  }

  /// An impulse where a sweep begins: on along its way by `more`, as bodies have gone.
  TRIBO_HD RowNumber begun(double* at, int impulse, int slot, bool first) const {
    RowNumber now = packed(at, impulse), way(0.0);
    if (!first) {
      const RowNumber more(pace->more), old = packed(at, packed_way + slot);
      const RowNumber step = now - packed(at, packed_before + slot);
      now = fma(more, old, now);
      way = fma(more, old, step);
    }
    put_packed(at, packed_before + slot, now);
    put_packed(at, packed_way + slot, way);
    return now;
  }
  TRIBO_HD static RowVector between(const PackedBody& a, const PackedBody& b, const RowVector& ra, const RowVector& rb,
                                    const mask_t<RowNumber>& pair, bool carried) {
    const RowVector of_a = a.velocity(ra), of_b = b.velocity(rb);
    RowVector v;
    for (int k = 0; k < 3; ++k) v[k] = of_a[k] - select(pair, of_b[k], carried ? rb[k] : RowNumber(0.0));
    return v;
  }

  TRIBO_HD void solve(double* at, PackedBody& a, PackedBody& b, const mask_t<RowNumber>& pair, bool begins,
                      bool first) const {
    const RowVector n = packed_vector(at, packed_n), ra = packed_vector(at, packed_ra),
                    rb = packed_vector(at, packed_rb);
    RowNumber before;
    RowVector across;
    if (begins) {
      before = begun(at, packed_normal, 0, first);
      for (int k = 0; k < 3; ++k) across[k] = begun(at, packed_tangential + k, k + 1, first);
    } else {
      before = packed(at, packed_normal);
      across = packed_vector(at, packed_tangential);
    }
    RowVector v = between(a, b, ra, rb, pair, true);
    const RowNumber off = packed(at, packed_allowed) + fused_dot(v, n);
    const RowNumber normal = max(before - off * packed(at, packed_normal_mass), RowNumber(0.0));
    v = plus(v, normal - before, packed_vector(at, packed_yields));
    const RowVector slip = plus(v, -fused_dot(v, n), n);
    RowVector tangential = plus(across, -packed(at, packed_slip_mass), slip);
    const RowNumber size = sqrt(fused_dot(tangential, tangential));
    const RowNumber limit = select(normal > RowNumber(0.0), packed(at, packed_friction) * normal, RowNumber(0.0));
    const RowNumber part = select(size > limit, limit / size, RowNumber(1.0));
    tangential = part * tangential;
    const RowVector impulse = plus(tangential - across, normal - before, n);
    a.push(ra, impulse);
    b.push(rb, -impulse);
    put_packed(at, packed_normal, normal);
    put_packed(at, packed_tangential, tangential);
  }
  TRIBO_HD void move(double* at, PackedBody& a, PackedBody& b, const mask_t<RowNumber>& pair, bool begins,
                     bool first) const {
    // What has not been too near has nothing to push, but must not be run into.
    const RowVector n = packed_vector(at, packed_n), ra = packed_vector(at, packed_ra),
                    rb = packed_vector(at, packed_rb);
    const RowNumber before = begins ? begun(at, packed_shift, 0, first) : packed(at, packed_shift);
    const RowVector v = between(a, b, ra, rb, pair, false);
    const RowNumber off = packed(at, packed_push) - fused_dot(v, n);
    const RowNumber shift = max(fma(off, packed(at, packed_normal_mass), before), RowNumber(0.0));
    const RowVector impulse = (shift - before) * n;
    a.push(ra, impulse);
    b.push(rb, -impulse);
    put_packed(at, packed_shift, shift);
  }
};

/// Packs of a color.
struct SweepColor {
  RowSweeps sweeps;
  Index first;
  bool begins, is_first;
  TRIBO_HD void operator()(Index i) const { sweeps.one(first + i, begins, is_first); }
};
/// One after the other: of ties that may share bodies each is a pack by itself.
struct SweepInTurn {
  RowSweeps sweeps;
  Index first, packs;
  bool begins, is_first;
  TRIBO_HD void operator()(Index) const {
    for (Index i = 0; i < packs; ++i) sweeps.one((first + (begins ? i : packs - 1 - i)) * units_each, begins, is_first);
  }
};

/// What sweeps change, and where that leads to. A sweep of Gauss-Seidel takes a stack's tilt out only layer by layer:
/// ten boxes want thousands. Going on along what the sweeps before have changed, ever farther (Nesterov 1983; for
/// contact Mazhar 2015), makes it tens; where a sweep turns back on that way, it is forgotten (ODonoghue 2015). The
/// part that conjugate gradients would go on by, the change over that before (Silcowitz-Hansen 2010), is no way out of
/// slow modes: just above 1 every second sweep, it was forgotten each time, and a load of a hundred times the weight of
/// what carried it sank. Changes are weighed by the energy of bodies, since redundant touches may exchange impulses
/// forever without moving anything.
struct Progress {
  PlacedBody* body;
  Shift* shift;  ///< null: velocities of bodies
  SweptBody* swept;
  Shift *before, *way;  ///< of bodies
  Index bodies;
  SweepPace* pace;
  RigidJointRow* joint_row;
  const Index* joint_count;

  TRIBO_HD void begin_body(Index i) const {
    const PlacedBody& b = body[i];
    const bool moves = b.inverse_mass > 0;
    swept[i].mass = moves ? 1 / b.inverse_mass : 0;
    swept[i].inertia = moves ? 3 / trace(b.inverse_inertia) : 0;
    take(i);
    before[i] = now(i);
    way[i] = {Vec3d::zero(), Vec3d::zero()};
  }
  /// To sweeps, and back from them.
  TRIBO_HD void take(Index i) const {
    if (shift != nullptr)
      put(i, shift[i]);
    else
      put(i, {body[i].v, body[i].w});
  }
  TRIBO_HD void give(Index i) const {
    const Shift at = now(i);
    if (shift != nullptr) {
      shift[i] = at;
    } else {
      body[i].v = at.v;
      body[i].w = at.w;
    }
  }
  TRIBO_HD void begin_joint_row(Index i) const {
    RigidJointRow& r = joint_row[i];
    r.before = r.impulse;
    r.way = 0;
  }

  /// Twice the kinetic energy of what a sweep has changed of a body, turning about its mean axis, and the product of
  /// that change and of the way before.
  TRIBO_HD SweepChange change(Index i) const {
    const Shift at = now(i);
    const Vec3d v = at.v - before[i].v, w = at.w - before[i].w;
    const double mass = swept[i].mass, inertia = swept[i].inertia;
    return {mass * squared_norm(v) + inertia * squared_norm(w), mass * dot(v, way[i].v) + inertia * dot(w, way[i].w)};
  }

  TRIBO_HD void follow_body(Index i) const {
    if (pace->done != 0) return;
    const double more = pace->more;
    const Shift at = now(i);
    const Shift step{at.v - before[i].v, at.w - before[i].w};
    before[i] = {at.v + more * way[i].v, at.w + more * way[i].w};
    way[i] = {more * way[i].v + step.v, more * way[i].w + step.w};
    put(i, before[i]);
  }
  TRIBO_HD void follow_joint_row(Index i) const {
    if (pace->done != 0 || i % joint_rows >= joint_count[i / joint_rows]) return;
    RigidJointRow& r = joint_row[i];
    const double step = r.impulse - r.before, more = pace->more;
    r.impulse += more * r.way;
    r.way = more * r.way + step;
    r.before = r.impulse;
  }

 private:
  TRIBO_HD Shift now(Index i) const {
    const double* const v = swept[i].velocity;
    return {{{v[0], v[1], v[2]}}, {{v[3], v[4], v[5]}}};
  }
  TRIBO_HD void put(Index i, const Shift& velocity) const {
    for (int k = 0; k < 3; ++k) {
      swept[i].velocity[k] = velocity.v[k];
      swept[i].velocity[k + 3] = velocity.w[k];
    }
  }
};

struct TakeBody {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.take(i); }
};
struct GiveBody {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.give(i); }
};
struct BeginBodyWay {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.begin_body(i); }
};
struct BeginJointRowWay {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.begin_joint_row(i); }
};
struct FollowBody {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.follow_body(i); }
};
struct FollowJointRow {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.follow_joint_row(i); }
};

/// How far to go on after a sweep, and when to end.
TRIBO_HD void go_on(SweepPace& pace, const SweepChange& change, const SweepsUntil& until, Index rows, bool may_end) {
  if (pace.done != 0) return;
  pace.swept += rows;
  if (pace.sweep == 0) pace.first = change.size;
  pace.since = change.along < 0 ? 0 : pace.since + 1;
  pace.more = pace.since > 1 ? static_cast<double>(pace.since - 1) / (pace.since + 2) : 0.0;
  ++pace.sweep;
  // Without gravity there is nothing to compare with, and what is nearly enough is none.
  const bool far = until.nearly > 0 && change.size > max(until.nearly, 1e-9 * pace.first);
  const bool wanted = change.size > max(until.enough, 1e-16 * pace.first) && (pace.sweep < until.usual || far);
  if (pace.sweep >= until.most || (may_end && !wanted)) pace.done = 1;
}
TRIBO_HD void begin_pace(SweepPace& pace) {
  pace.sweep = pace.done = pace.since = 0;
  pace.first = pace.more = 0;
}
struct BeginPace {
  SweepPace* pace;
  TRIBO_HD void operator()(Index) const { begin_pace(*pace); }
};

/// Bodies whose changes are one sum.
constexpr Index summed_at_once = 256;
struct SumChanges {
  Progress progress;
  SweepChange* sum;
  TRIBO_HD void operator()(Index c) const {
    if (progress.pace->done != 0) return;
    const Index end = min((c + 1) * summed_at_once, progress.bodies);
    SweepChange all{0, 0};
    for (Index i = c * summed_at_once; i < end; ++i) add(all, progress.change(i));
    sum[c] = all;
  }
  TRIBO_HD static void add(SweepChange& to, const SweepChange& more) {
    to.size += more.size;
    to.along += more.along;
  }
};
struct PartsOfTeam {
  SweepChange part[Team::size];
};
/// The sum of count changes, by all of a team.
template <class Change>
TRIBO_HD SweepChange sum_of(const Team& team, Index count, PartsOfTeam& scratch, const Change& change) {
  SweepChange sum{0, 0};
  for (Index i = team.rank(); i < count; i += Team::size) SumChanges::add(sum, change(i));
  scratch.part[team.rank()] = sum;
  team.barrier();
  sum = {0, 0};
  for (int k = 0; k < Team::size; ++k) SumChanges::add(sum, scratch.part[k]);
  return sum;
}
struct DecidePace {
  SweepPace* pace;
  const SweepChange* sum;
  SweepsUntil until;
  Index sums, rows;
  bool may_end;
  using Scratch = PartsOfTeam;
  TRIBO_HD void operator()(const Team& team, Index, Scratch& scratch) const {
    const SweepChange change = sum_of(team, sums, scratch, [&](Index i) { return sum[i]; });
    if (team.rank() == 0) go_on(*pace, change, until, rows, may_end);
  }
};

/// All colors and sweeps, by one team.
struct SweepAll {
  RowSweeps rows;
  Progress progress;
  const Index* start;  ///< of each color's packs
  SweepsUntil until;
  Index rows_count;
  int colors;
  bool serial_last;
  using Scratch = PartsOfTeam;

  TRIBO_HD void operator()(const Team& team, Index, Scratch& scratch) const {
    if (team.rank() == 0) begin_pace(*progress.pace);
    each(team, progress.bodies, BeginBodyWay{progress});
    team.barrier();
    for (int s = 0;; ++s) {
      for (int half = 0; half < 2; ++half)
        for (int c = 0; c < colors; ++c) {
          color(team, half == 0 ? c : colors - 1 - c, half == 0, s == 0);
          team.barrier();
        }
      const SweepChange change = sum_of(team, progress.bodies, scratch, [&](Index i) { return progress.change(i); });
      if (team.rank() == 0) go_on(*progress.pace, change, until, rows_count, true);
      team.barrier();
      if (progress.pace->done != 0) break;
      each(team, progress.bodies, FollowBody{progress});
      team.barrier();
    }
    each(team, progress.bodies, GiveBody{progress});
  }

 private:
  template <class Kernel>
  TRIBO_HD static void each(const Team& team, Index count, const Kernel& kernel) {
    for (Index i = team.rank(); i < count; i += Team::size) kernel(i);
  }
  TRIBO_HD void color(const Team& team, int c, bool begins, bool first) const {
    const Index begin = start[c], packs = start[c + 1] - begin;
    if (serial_last && c == colors - 1) {
      if (team.rank() == 0) SweepInTurn{rows, begin, packs, begins, first}(0);
    } else {
      each(team, packs * units_each, SweepColor{rows, begin * units_each, begins, first});
    }
  }
};

struct MarkTouched {
  const RigidTie* tie;
  const RigidRow* row;
  Index* touched;
  TRIBO_HD void operator()(Index t) const {
    bool any = false;
    for (Index k = 0; k < tie[t].count; ++k) any = any || row[tie[t].first + k].normal > 0;
    if (!any) return;
    if (tie[t].a >= 0) mark_one(touched + tie[t].a);
    if (tie[t].b >= 0) mark_one(touched + tie[t].b);
  }
};

void each_tie(Exec& ex, const RigidColors& c, const EachTie& ties) {
  for (std::size_t k = 0; k + 1 < c.start.size(); ++k) {
    const Index begin = c.start[k], count = c.start[k + 1] - begin;
    if (c.serial_last && k + 2 == c.start.size())
      parallel_for(ex, impulses_label, 1, TiesInTurn{ties, begin, count});
    else
      parallel_for(ex, impulses_label, count, TiesOfColor{ties, begin}, ties_grain);
  }
}

void sweep_color(Exec& ex, const RigidColors& c, const RowSweeps& sweeps, std::size_t color, bool begins, bool first) {
  const Index begin = c.pack_start[color], packs = c.pack_start[color + 1] - begin;
  if (c.serial_last && color + 2 == c.pack_start.size())
    parallel_for(ex, sweeps_label, 1, SweepInTurn{sweeps, begin, packs, begins, first});
  else
    parallel_for(ex, sweeps_label, packs * units_each, SweepColor{sweeps, begin * units_each, begins, first},
                 packs_grain);
}

/// Lays ties of a color side by side, those with as many rows together; what is done in turn stays as it is.
void pack_ties(Exec& ex, RigidColors& c) {
  c.packs_host.clear();
  c.lanes_host.clear();
  c.pack_start.assign(1, 0);
  Index place = 0;
  for (std::size_t k = 0; k + 1 < c.start.size(); ++k) {
    const bool in_turn = c.serial_last && k + 2 == c.start.size();
    const auto begin = c.host.begin() + c.start[k], end = c.host.begin() + c.start[k + 1];
    if (!in_turn) std::stable_sort(begin, end, [](const RigidTie& a, const RigidTie& b) { return a.count > b.count; });
    for (auto tie = begin; tie != end;) {
      const Index rows = tie->count;
      c.packs_host.push_back({place, rows});
      place += rows;
      const std::size_t full = c.lanes_host.size() + tie_lanes;
      do c.lanes_host.push_back(*tie++);
      while (tie != end && c.lanes_host.size() < full && !in_turn);
      c.lanes_host.resize(full, {-1, -1, 0, 0});
    }
    c.pack_start.push_back(static_cast<Index>(c.packs_host.size()));
  }
  const auto packs = static_cast<Index>(c.packs_host.size());
  copy_to_device(ex, c.packs_host.data(), c.packs.pack, packs);
  copy_to_device(ex, c.lanes_host.data(), c.packs.tie, packs * tie_lanes);
  copy_to_device(ex, c.pack_start.data(), c.device_start, static_cast<Index>(c.pack_start.size()));
  c.packs.held.resize_discard(Size{packs} * (packed_tie * tie_lanes));
  c.packs.row.resize_discard(Size{place} * (packed_row * tie_lanes));
}

}  // namespace

void color_ties(Exec& ex, const RigidMesh& mesh, const RigidContacts& contacts, RigidColors& c) {
  c.pairs.resize(static_cast<std::size_t>(contacts.pairs));
  copy_to_host(ex, contacts.pair, c.pairs.data(), contacts.pairs);
  c.used.assign(static_cast<std::size_t>(mesh.count), 0);
  c.found.clear();
  c.color.clear();
  c.start.assign(2, 0);
  c.serial_last = false;
  const auto add = [&](const RigidTie& tie) {
    const auto moves = [&](Index i) { return i >= 0 && mesh.body[static_cast<std::size_t>(i)].drive < 0; };
    std::uint64_t taken = 0;
    for (const Index i : {tie.a, tie.b})
      if (moves(i)) taken |= c.used[static_cast<std::size_t>(i)];
    const int color = std::countr_one(taken);
    if (color < most_colors)
      for (const Index i : {tie.a, tie.b})
        if (moves(i)) c.used[static_cast<std::size_t>(i)] |= std::uint64_t{1} << color;
    c.serial_last = c.serial_last || color == most_colors;
    c.found.push_back(tie);
    c.color.push_back(color);
    const auto place = static_cast<std::size_t>(color) + 2;
    if (place >= c.start.size()) c.start.resize(place + 1, 0);
    ++c.start[place];
  };
  for (const RigidPair& pair : c.pairs)
    if (pair.count > 0) add({pair.a, pair.b, pair.first, pair.count});
  // start[color + 1] is where the next of a color goes, and so in the end where the color ends
  std::partial_sum(c.start.begin(), c.start.end(), c.start.begin());
  c.host.resize(c.found.size());
  for (std::size_t t = 0; t < c.found.size(); ++t)
    c.host[static_cast<std::size_t>(c.start[static_cast<std::size_t>(c.color[t]) + 1]++)] = c.found[t];
  c.start.pop_back();
  pack_ties(ex, c);
  copy_to_device(ex, c.host.data(), c.tie, static_cast<Index>(c.host.size()));
}

void turn_back(Exec& ex, const RigidColors& c, double dt, RigidContacts& contacts, RigidWork& work) {
  each_tie(ex, c, {c.tie.data(), contacts.row.data(), work.body.data(), dt, true});
}

void mark_touched(Exec& ex, const RigidColors& c, const RigidContacts& contacts, RigidWork& work) {
  parallel_for(ex, impulses_label, static_cast<Index>(c.host.size()),
               MarkTouched{c.tie.data(), contacts.row.data(), work.touched.data()});
}

void begin_ties(Exec& ex, RigidColors& c, RigidContacts& contacts, RigidWork& work) {
  each_tie(ex, c, {c.tie.data(), contacts.row.data(), work.body.data(), 0, false});
  parallel_for(ex, impulses_label, static_cast<Index>(c.lanes_host.size()),
               PackRows{view(c.packs), contacts.row.data(), work.body.data()}, lanes_grain);
}

void bring_rows_back(Exec& ex, RigidColors& c, RigidContacts& contacts) {
  parallel_for(ex, impulses_label, static_cast<Index>(c.lanes_host.size()),
               BringRowsBack{view(c.packs), contacts.row.data()}, lanes_grain);
}

void sweep_ties(Exec& ex, RigidColors& c, SweepMode mode, const SweepsUntil& until, const RigidContacts& contacts,
                JointWork& joints, RigidWork& work, const BetweenSweeps& between) {
  const auto all = static_cast<Index>(c.host.size());
  if (all == 0) return;
  const std::size_t colors = c.start.size() - 1;
  const auto bodies = static_cast<Index>(work.body.size());
  work.swept.resize_discard(bodies);
  work.before.resize_discard(bodies);
  work.way.resize_discard(bodies);
  // Places are brought back by joints without remembering with what.
  const Index followed = between && mode == SweepMode::solve ? static_cast<Index>(joints.row.size()) : 0;
  if (c.pace.size() == 0) {
    const SweepPace none{};
    copy_to_device(ex, &none, c.pace, 1);
  }
  const bool shifts = mode == SweepMode::shift;
  const Progress progress{work.body.data(),   shifts ? work.shift.data() : nullptr,
                          work.swept.data(),  work.before.data(),
                          work.way.data(),    bodies,
                          c.pace.data(),      joints.row.data(),
                          joints.count.data()};
  const RowSweeps rows{view(c.packs), work.swept.data(), c.pace.data(), shifts};
  if (all <= few_ties && !between) {
    for_each_team<SweepAll::Scratch>(
        ex, sweeps_label, 1,
        SweepAll{rows, progress, c.device_start.data(), until, contacts.rows, static_cast<int>(colors), c.serial_last});
    return;
  }
  const Index sums = (bodies + summed_at_once - 1) / summed_at_once;
  c.sum.resize_discard(sums);
  parallel_for(ex, sweeps_label, 1, BeginPace{c.pace.data()});
  parallel_for(ex, sweeps_label, bodies, BeginBodyWay{progress});
  parallel_for(ex, sweeps_label, followed, BeginJointRowWay{progress});
  for (int s = 0; s < until.most; ++s) {
    for (std::size_t k = 0; k < colors; ++k) sweep_color(ex, c, rows, k, true, s == 0);
    for (std::size_t k = colors; k-- > 0;) sweep_color(ex, c, rows, k, false, s == 0);
    bool settled = true;
    if (between) {
      parallel_for(ex, sweeps_label, bodies, GiveBody{progress});
      settled = between(s);
      parallel_for(ex, sweeps_label, bodies, TakeBody{progress});
    }
    parallel_for(ex, sweeps_label, sums, SumChanges{progress, c.sum.data()}, 1);
    for_each_team<DecidePace::Scratch>(ex, sweeps_label, 1,
                                       DecidePace{c.pace.data(), c.sum.data(), until, sums, contacts.rows, settled});
    // A GPU may as well do nothing for some sweeps as wait for the host to ask after each; but joints do what they do.
    if (Team::size == 1 || between || (s + 1) % asked_each == 0) {
      SweepPace pace;
      copy_to_host(ex, c.pace, &pace, 1);
      if (pace.done != 0) break;
    }
    parallel_for(ex, sweeps_label, bodies, FollowBody{progress});
    parallel_for(ex, sweeps_label, followed, FollowJointRow{progress});
  }
  parallel_for(ex, sweeps_label, bodies, GiveBody{progress});
}

std::int64_t row_sweeps(Exec& ex, const RigidColors& c) {
  SweepPace pace{};
  if (c.pace.size() > 0) copy_to_host(ex, c.pace, &pace, 1);
  return pace.swept;
}

void RigidStep::answer(Exec& ex, int usual, int most) const {
  const SweepsUntil until{usual, most, enough, nearly};
  if (mesh->joints == 0) {
    sweep_ties(ex, *colors, SweepMode::solve, until, *contacts, *joint_rows, *work);
    return;
  }
  const auto joined = [&](int round) {
    if (round < joint_solves) bend_joints(ex, *mesh, *joints, dt, *state, *work, *joint_rows);
    solve_joints(ex, *mesh, *work, *joint_rows);
    return round + 1 >= joint_solves;
  };
  if (contacts->rows > 0)
    sweep_ties(ex, *colors, SweepMode::solve, until, *contacts, *joint_rows, *work, joined);
  else
    for (int k = 0; k < joint_solves; ++k) joined(k);
}

}  // namespace tribo::TRIBO_BACKEND
