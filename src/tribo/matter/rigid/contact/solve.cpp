#include "tribo/matter/rigid/contact/solve.h"

#include <bit>
#include <numeric>

#include "tribo/contact/coulomb.h"
#include "tribo/exec/joins.h"
#include "tribo/exec/mark.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* sweeps_label = "rigid impulses";
constexpr Index sweeps_grain = 8;
/// So few ties are done by one team: their work is less than what starting threads costs.
constexpr Index few_ties = 48;
constexpr int most_colors = 63;
/// Solves of joints in a step, where nothing touches: each finds the end of the step by the velocities of the one
/// before, to a power of w dt more.
constexpr int joint_solves = 3;

struct SweepTies {
  const RigidTie* tie;
  RigidRow* row;
  PlacedBody* body;
  Shift* shift;
  SweepMode mode;
  bool backward;
  double dt = 0;

  TRIBO_HD void one(Index t) const {
    const RigidTie& own = tie[t];
    PlacedBody* const a = own.a >= 0 ? body + own.a : nullptr;
    PlacedBody* const b = own.b >= 0 ? body + own.b : nullptr;
    Shift* const shift_a = own.a >= 0 ? shift + own.a : nullptr;
    Shift* const shift_b = own.b >= 0 ? shift + own.b : nullptr;
    for (Index k = 0; k < own.count; ++k) {
      RigidRow& r = row[own.first + (backward ? own.count - 1 - k : k)];
      if (mode == SweepMode::begin) {
        push(a, b, r, r.normal * r.n + r.tangential);
      } else if (mode == SweepMode::solve) {
        solve(a, b, r);
      } else if (mode == SweepMode::turn) {
        if (b != nullptr && r.shift > 0) turn(a, b, r);
      } else {
        move(a, b, shift_a, shift_b, r);
      }
    }
  }

 private:
  TRIBO_HD static void push(PlacedBody* a, PlacedBody* b, const RigidRow& r, const Vec3d& impulse) {
    if (a->inverse_mass > 0) a->push(r.ra, impulse);
    if (b != nullptr && b->inverse_mass > 0) b->push(r.rb, -impulse);
  }
  TRIBO_HD static Vec3d velocity(const PlacedBody* a, const PlacedBody* b, const RigidRow& r) {
    const Vec3d v = a->v + cross(a->w, r.ra);
    return b != nullptr ? v - (b->v + cross(b->w, r.rb)) : v - r.carried;
  }
  TRIBO_HD static void solve(PlacedBody* a, PlacedBody* b, RigidRow& r) {
    Vec3d v = velocity(a, b, r);
    const double normal = max(r.normal - (r.allowed + dot(v, r.n)) / r.gives, 0.0);
    if (normal != r.normal) {
      push(a, b, r, (normal - r.normal) * r.n);
      r.normal = normal;
      v = velocity(a, b, r);
    }
    const Vec3d slip = v - dot(v, r.n) * r.n;
    Vec3d tangential = r.tangential - (1 / r.slips) * slip;
    tangential = part_in_cone(sqrt(squared_norm(tangential)), friction_limit(r.friction, normal)) * tangential;
    push(a, b, r, tangential - r.tangential);
    r.tangential = tangential;
  }
  TRIBO_HD static void give(const PlacedBody* body, Shift* to, const Vec3d& arm, const Vec3d& impulse) {
    if (body == nullptr || !(body->inverse_mass > 0)) return;
    to->v += body->inverse_mass * impulse;
    to->w += body->inverse_inertia * cross(arm, impulse);
  }
  TRIBO_HD static void move(const PlacedBody* a, const PlacedBody* b, Shift* shift_a, Shift* shift_b, RigidRow& r) {
    // What has not been too near has nothing to push, but must not be run into.
    Vec3d v = shift_a->v + cross(shift_a->w, r.ra);
    if (b != nullptr) v = v - (shift_b->v + cross(shift_b->w, r.rb));
    const double impulse = max(r.shift + (r.push - dot(v, r.n)) / r.gives, 0.0);
    const Vec3d more = (impulse - r.shift) * r.n;
    give(a, shift_a, r.ra, more);
    give(b, shift_b, r.rb, -more);
    r.shift = impulse;
  }
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
struct SweepColor {
  SweepTies ties;
  Index first;
  TRIBO_HD void operator()(Index i) const { ties.one(first + i); }
};
/// One after the other.
struct SweepSerial {
  SweepTies ties;
  Index first, count;
  TRIBO_HD void operator()(Index) const {
    for (Index i = 0; i < count; ++i) ties.one(first + (ties.backward ? count - 1 - i : i));
  }
};
/// See Progress::change.
struct SweepChange {
  double size = 0, along = 0;
};

/// What sweeps change, and where that leads to. A sweep of Gauss-Seidel takes a stack's tilt out only layer by layer:
/// ten boxes want thousands. Going on along what the sweeps before have changed, ever farther (Nesterov 1983; for
/// contact Mazhar 2015), makes it tens; where a sweep turns back on that way, it is forgotten (ODonoghue 2015). The
/// part that conjugate gradients would go on by, the change over that before (Silcowitz-Hansen 2010), is no way out of
/// slow modes: just above 1 every second sweep, it was forgotten each time, and a load of a hundred times the weight of
/// what carried it sank. Changes are weighed by the energy of bodies, since redundant touches may exchange impulses
/// forever without moving anything.
struct Progress {
  SweepTies ties;
  Shift *before, *way;  ///< of bodies
  Index bodies, rows;
  RigidJointRow* joint_row;
  const Index* joint_count;
  Index joints;

  TRIBO_HD Shift now(Index i) const {
    if (ties.mode == SweepMode::shift) return ties.shift[i];
    return {ties.body[i].v, ties.body[i].w};
  }
  TRIBO_HD void put(Index i, const Shift& velocity) const {
    if (ties.mode == SweepMode::shift) {
      ties.shift[i] = velocity;
    } else {
      ties.body[i].v = velocity.v;
      ties.body[i].w = velocity.w;
    }
  }

  TRIBO_HD void begin_body(Index i) const {
    before[i] = now(i);
    way[i] = {Vec3d::zero(), Vec3d::zero()};
  }
  TRIBO_HD void begin_row(Index i) const {
    RigidRow& r = ties.row[i];
    r.normal_before = ties.mode == SweepMode::shift ? r.shift : r.normal;
    r.tangential_before = r.tangential;
    r.normal_way = 0;
    r.tangential_way = Vec3d::zero();
  }
  TRIBO_HD void begin_joint_row(Index i) const {
    RigidJointRow& r = joint_row[i];
    r.before = r.impulse;
    r.way = 0;
  }

  /// Twice the kinetic energy of what a sweep has changed of a body, turning about its mean axis, and the product of
  /// that change and of the way before.
  TRIBO_HD SweepChange change(Index i) const {
    const PlacedBody& b = ties.body[i];
    if (!(b.inverse_mass > 0)) return {};
    const Shift at = now(i);
    const Vec3d v = at.v - before[i].v, w = at.w - before[i].w;
    const double mass = 1 / b.inverse_mass, inertia = 3 / trace(b.inverse_inertia);
    return {mass * squared_norm(v) + inertia * squared_norm(w), mass * dot(v, way[i].v) + inertia * dot(w, way[i].w)};
  }

  TRIBO_HD void follow_body(Index i, double more) const {
    const Shift at = now(i);
    const Shift step{at.v - before[i].v, at.w - before[i].w};
    before[i] = {at.v + more * way[i].v, at.w + more * way[i].w};
    way[i] = {more * way[i].v + step.v, more * way[i].w + step.w};
    put(i, before[i]);
  }
  TRIBO_HD void follow_row(Index i, double more) const {
    RigidRow& r = ties.row[i];
    double& normal = ties.mode == SweepMode::shift ? r.shift : r.normal;
    follow(normal, r.normal_before, r.normal_way, more);
    if (ties.mode == SweepMode::solve) follow(r.tangential, r.tangential_before, r.tangential_way, more);
  }
  TRIBO_HD void follow_joint_row(Index i, double more) const {
    if (i % joint_rows >= joint_count[i / joint_rows]) return;
    RigidJointRow& r = joint_row[i];
    follow(r.impulse, r.before, r.way, more);
  }

 private:
  template <class Value>
  TRIBO_HD static void follow(Value& value, Value& before, Value& way, double more) {
    const Value step = value - before;
    value += more * way;
    way = more * way + step;
    before = value;
  }
};

struct BeginBodyWay {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.begin_body(i); }
};
struct BeginRowWay {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.begin_row(i); }
};
struct BeginJointRowWay {
  Progress progress;
  TRIBO_HD void operator()(Index i) const { progress.begin_joint_row(i); }
};
struct ChangeBySweep {
  Progress progress;
  TRIBO_HD SweepChange operator()(Index i) const { return progress.change(i); }
};
struct AddChanges {
  TRIBO_HD SweepChange operator()(const SweepChange& a, const SweepChange& b) const {
    return {a.size + b.size, a.along + b.along};
  }
};
struct FollowBody {
  Progress progress;
  double more;
  TRIBO_HD void operator()(Index i) const { progress.follow_body(i, more); }
};
struct FollowRow {
  Progress progress;
  double more;
  TRIBO_HD void operator()(Index i) const { progress.follow_row(i, more); }
};
struct FollowJointRow {
  Progress progress;
  double more;
  TRIBO_HD void operator()(Index i) const { progress.follow_joint_row(i, more); }
};

/// How far to go on after a sweep, and when to end.
struct Pace {
  SweepsUntil until;
  double first = 0;
  int since = 0;  ///< sweeps since the way was forgotten

  /// False where that was enough.
  TRIBO_HD bool after(int sweep, const SweepChange& change, double& more) {
    if (sweep == 0) first = change.size;
    since = change.along < 0 ? 0 : since + 1;
    more = since > 1 ? static_cast<double>(since - 1) / (since + 2) : 0.0;
    if (!(change.size > max(until.enough, 1e-16 * first))) return false;
    // Without gravity there is nothing to compare with.
    if (sweep + 1 >= until.usual && !(until.nearly > 0 && change.size > max(until.nearly, 1e-9 * first))) return false;
    return sweep + 1 < until.most;
  }
};

/// All colors, by one team.
struct SweepAll {
  Progress progress;
  Pace pace;
  const Index* start;
  int colors;
  bool serial_last;
  struct Scratch {
    SweepChange part[Team::size];
  };
  TRIBO_HD void operator()(const Team& team, Index, Scratch& scratch) const {
    SweepTies own = progress.ties;
    Pace own_pace = pace;
    each(team, progress.bodies, BeginBodyWay{progress});
    each(team, progress.rows, BeginRowWay{progress});
    team.barrier();
    for (int s = 0;; ++s) {
      for (int half = 0; half < 2; ++half) {
        own.backward = half == 1;
        for (int c = 0; c < colors; ++c) {
          const int color = own.backward ? colors - 1 - c : c;
          const bool serial = serial_last && color == colors - 1;
          const Index begin = start[color], end = start[color + 1];
          if (serial) {
            if (team.rank() == 0)
              for (Index i = 0; i < end - begin; ++i) own.one(own.backward ? end - 1 - i : begin + i);
          } else {
            for (Index i = begin + team.rank(); i < end; i += Team::size) own.one(i);
          }
          team.barrier();
        }
      }
      constexpr AddChanges add{};
      SweepChange sum;
      for (Index i = team.rank(); i < progress.bodies; i += Team::size) sum = add(sum, progress.change(i));
      scratch.part[team.rank()] = sum;
      team.barrier();
      sum = {};
      for (int k = 0; k < Team::size; ++k) sum = add(sum, scratch.part[k]);
      double more = 0;
      if (!own_pace.after(s, sum, more)) return;
      each(team, progress.bodies, FollowBody{progress, more});
      each(team, progress.rows, FollowRow{progress, more});
      team.barrier();
    }
  }

 private:
  template <class Kernel>
  TRIBO_HD static void each(const Team& team, Index count, const Kernel& kernel) {
    for (Index i = team.rank(); i < count; i += Team::size) kernel(i);
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

void sweep_color(Exec& ex, const RigidColors& c, const SweepTies& ties, int color) {
  const Index begin = c.start[static_cast<std::size_t>(color)];
  const Index count = c.start[static_cast<std::size_t>(color) + 1] - begin;
  if (c.serial_last && color == static_cast<int>(c.start.size()) - 2)
    parallel_for(ex, sweeps_label, 1, SweepSerial{ties, begin, count});
  else
    parallel_for(ex, sweeps_label, count, SweepColor{ties, begin}, sweeps_grain);
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
  copy_to_device(ex, c.host.data(), c.tie, static_cast<Index>(c.host.size()));
  copy_to_device(ex, c.start.data(), c.device_start, static_cast<Index>(c.start.size()));
}

void turn_back(Exec& ex, const RigidColors& c, double dt, RigidContacts& contacts, RigidWork& work) {
  const SweepTies ties{
      c.tie.data(), contacts.row.data(), work.body.data(), work.shift.data(), SweepMode::turn, false, dt};
  for (std::size_t k = 0; k + 1 < c.start.size(); ++k) sweep_color(ex, c, ties, static_cast<int>(k));
}

void mark_touched(Exec& ex, const RigidColors& c, const RigidContacts& contacts, RigidWork& work) {
  parallel_for(ex, sweeps_label, static_cast<Index>(c.host.size()),
               MarkTouched{c.tie.data(), contacts.row.data(), work.touched.data()});
}

void begin_ties(Exec& ex, const RigidColors& c, RigidContacts& contacts, RigidWork& work) {
  const SweepTies ties{c.tie.data(), contacts.row.data(), work.body.data(), work.shift.data(), SweepMode::begin, false};
  for (std::size_t k = 0; k + 1 < c.start.size(); ++k) sweep_color(ex, c, ties, static_cast<int>(k));
}

void sweep_ties(Exec& ex, const RigidColors& c, SweepMode mode, const SweepsUntil& until, RigidContacts& contacts,
                JointWork& joints, RigidWork& work, const BetweenSweeps& between) {
  const auto all = static_cast<Index>(c.host.size());
  if (all == 0) return;
  const int colors = static_cast<int>(c.start.size()) - 1;
  const auto bodies = static_cast<Index>(work.body.size());
  work.before.resize_discard(bodies);
  work.way.resize_discard(bodies);
  // Places are brought back by joints without remembering with what.
  const Index followed = between && mode == SweepMode::solve ? static_cast<Index>(joints.row.size()) : 0;
  const Progress progress{{c.tie.data(), contacts.row.data(), work.body.data(), work.shift.data(), mode, false},
                          work.before.data(),
                          work.way.data(),
                          bodies,
                          contacts.rows,
                          joints.row.data(),
                          joints.count.data(),
                          followed};
  Pace pace{until};
  if (all <= few_ties && !between) {
    for_each_team<SweepAll::Scratch>(ex, sweeps_label, 1,
                                     SweepAll{progress, pace, c.device_start.data(), colors, c.serial_last});
    return;
  }
  parallel_for(ex, sweeps_label, bodies, BeginBodyWay{progress});
  parallel_for(ex, sweeps_label, progress.rows, BeginRowWay{progress});
  parallel_for(ex, sweeps_label, followed, BeginJointRowWay{progress});
  for (int s = 0;; ++s) {
    SweepTies ties = progress.ties;
    for (int k = 0; k < colors; ++k) sweep_color(ex, c, ties, k);
    ties.backward = true;
    for (int k = colors - 1; k >= 0; --k) sweep_color(ex, c, ties, k);
    const bool settled = !between || between(s);
    const SweepChange change = reduce(ex, sweeps_label, bodies, SweepChange{}, ChangeBySweep{progress}, AddChanges{});
    double more = 0;
    if (!pace.after(s, change, more) && (settled || s + 1 >= until.most)) return;
    parallel_for(ex, sweeps_label, bodies, FollowBody{progress, more});
    parallel_for(ex, sweeps_label, progress.rows, FollowRow{progress, more});
    parallel_for(ex, sweeps_label, followed, FollowJointRow{progress, more});
  }
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
