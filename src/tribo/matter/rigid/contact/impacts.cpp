#include "tribo/matter/rigid/contact/impacts.h"

#include "tribo/contact/coulomb.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* impacts_label = "rigid impulses";
constexpr Index impacts_grain = 8;
/// Passes over all pairs, there and back: impacts go on by a pair at least in each. What is left then meets without
/// restitution.
constexpr int most_passes = 30;
/// Sweeps over the rows of one pair, and the part of the first change that ends them.
constexpr int pair_sweeps = 60;
constexpr double little = 1e-12;

/// A body in a pair that meets.
struct Side {
  PlacedBody* body = nullptr;
  const RigidMobility* held = nullptr;  ///< by joints; null: free

  TRIBO_HD bool moves() const { return body != nullptr && body->inverse_mass > 0; }
  TRIBO_HD Vec3d yields(const Vec3d& arm, const Vec3d& impulse) const {
    if (!moves()) return Vec3d::zero();
    return held != nullptr ? held->yields(arm, impulse) : body->yields(arm, impulse);
  }
  TRIBO_HD void push(const Vec3d& arm, const Vec3d& impulse) const {
    if (!moves()) return;
    if (held == nullptr) return body->push(arm, impulse);
    const Vec3d torque = cross(arm, impulse);
    body->v += held->vv * impulse + held->vw * torque;
    body->w += transpose(held->vw) * impulse + held->ww * torque;
  }
};

/// How an impact ends.
struct Rebound {
  bool happens = false;
  double time = 0;  ///< within the step [s]
  double back = 0;  ///< separation at the end of the step [m/s]
};

/// Of two that fall towards each other over a gap [m], within the step that brings them together: along parabolas
/// before and after.
TRIBO_HD Rebound rebound(const RigidRow& r, double gap, double approach, double dt) {
  const double begin = approach - r.falls * dt, square = begin * begin + 2 * r.falls * gap;
  Rebound found;
  if (!(square >= 0)) return found;
  const double twice = begin + sqrt(square);
  if (!(twice > 0)) return found;
  found.time = gap > 0 ? 2 * gap / twice : 0.0;
  const double rest = dt - found.time;
  if (!(rest > 0)) return found;
  found.back = r.restitution * (begin + r.falls * found.time) - r.falls * rest;
  found.happens = found.back > 0;
  return found;
}

struct ImpactTies {
  const RigidTie* tie;
  RigidRow* row;
  PlacedBody* body;
  const RigidMobility* mobility;  ///< null: there are no joints
  Vec3d* owed;
  Shift* kick;           ///< impulses and their moments, by body
  const Index* touched;  ///< so far by joints alone
  double least_speed, dt;
  Index* hit;

  /// Meanwhile a row has in `normal_before` and `tangential_before` the impulses of this impact, and in `normal_way`
  /// what separation it wants.
  TRIBO_HD void one(Index t) const {
    const RigidTie& own = tie[t];
    const Side a = side(own.a), b = side(own.b);
    const Shift from_a = now(a), from_b = now(b);
    const Vec3d owing = owed_by(own.a) - owed_by(own.b);
    const Vec3d apart = center(a) - center(b) + dt * owing;
    double time = dt;
    bool any = false;
    for (Index k = own.first; k < own.first + own.count; ++k) {
      RigidRow& r = row[k];
      const double allowed = r.allowed + dot(owing, r.n);
      r.normal_before = 0;
      r.tangential_before = Vec3d::zero();
      r.normal_way = -allowed;
      const double approach = -dot(velocity(a, b, apart, r), r.n);
      if (!(r.restitution > 0) || !(approach > least_speed)) continue;
      const Rebound found = rebound(r, allowed * dt, approach, dt);
      if (!found.happens) continue;
      r.normal_way = found.back;
      time = min(time, found.time);
      any = true;
    }
    if (!any) return;
    hit[t] = 1;
    // What is taken back of the way of one that is joined would open its joints.
    if (joined(own.a) || joined(own.b)) time = 0;
    const Vec3d then = apart + time * (from_a.v - from_b.v);
    double first = 0;
    for (int s = 0; s < pair_sweeps; ++s) {
      double change = 0;
      for (Index k = 0; k < own.count; ++k)
        change += solve(a, b, then, row[own.first + (s % 2 == 0 ? k : own.count - 1 - k)]);
      if (s == 0) first = change;
      if (!(change > little * first) || own.count == 1) break;
    }
    const double part = part_without_gain(a, b, from_a, from_b, then, own);
    keep(a, from_a, part);
    keep(b, from_b, part);
    Shift kick_a{Vec3d::zero(), Vec3d::zero()}, kick_b = kick_a;
    for (Index k = own.first; k < own.first + own.count; ++k) {
      RigidRow& r = row[k];
      const Vec3d impulse = part * (r.normal_before * r.n + r.tangential_before);
      r.impact += impulse;
      kick_a.v += impulse;
      kick_a.w += cross(r.ra, impulse);
      kick_b.v += -impulse;
      kick_b.w += cross(r.ra + then, -impulse);
    }
    take_back(own.a, a, kick_a, time);
    take_back(own.b, b, kick_b, time);
  }

 private:
  TRIBO_HD Side side(Index i) const {
    return i < 0 ? Side{} : Side{body + i, mobility != nullptr ? mobility + i : nullptr};
  }
  TRIBO_HD bool joined(Index i) const { return i >= 0 && touched[i] != 0; }
  TRIBO_HD static Shift now(const Side& side) {
    return side.body != nullptr ? Shift{side.body->v, side.body->w} : Shift{Vec3d::zero(), Vec3d::zero()};
  }
  TRIBO_HD static Vec3d center(const Side& side) { return side.body != nullptr ? side.body->x : Vec3d::zero(); }
  TRIBO_HD Vec3d owed_by(Index i) const { return i < 0 ? Vec3d::zero() : owed[i]; }
  TRIBO_HD void take_back(Index i, const Side& side, const Shift& given, double time) const {
    if (!side.moves()) return;
    owed[i] += (-time / dt * side.body->inverse_mass) * given.v;
    kick[i].v += given.v;
    kick[i].w += given.w;
  }
  TRIBO_HD static void keep(const Side& side, const Shift& from, double part) {
    if (!side.moves()) return;
    side.body->v = from.v + part * (side.body->v - from.v);
    side.body->w = from.w + part * (side.body->w - from.w);
  }
  /// `apart`: from the center of b to that of a.
  TRIBO_HD static Vec3d velocity(const Side& a, const Side& b, const Vec3d& apart, const RigidRow& r) {
    return velocity(now(a), now(b), b.body != nullptr, apart, r);
  }
  TRIBO_HD static Vec3d velocity(const Shift& a, const Shift& b, bool has_b, const Vec3d& apart, const RigidRow& r) {
    const Vec3d v = a.v + cross(a.w, r.ra);
    return has_b ? v - (b.v + cross(b.w, r.ra + apart)) : v - r.carried;
  }
  /// The change, as an energy.
  TRIBO_HD static double solve(const Side& a, const Side& b, const Vec3d& apart, RigidRow& r) {
    const Vec3d rb = r.ra + apart;
    const auto push = [&](const Vec3d& impulse) {
      a.push(r.ra, impulse);
      b.push(rb, -impulse);
    };
    const double gives = dot(r.n, a.yields(r.ra, r.n) + b.yields(rb, r.n));
    if (!(gives > 0)) return 0;
    Vec3d v = velocity(a, b, apart, r);
    const double normal = max(r.normal_before + (r.normal_way - dot(v, r.n)) / gives, 0.0);
    const double more = normal - r.normal_before;
    push(more * r.n);
    r.normal_before = normal;
    v = velocity(a, b, apart, r);
    const Vec3d slip = v - dot(v, r.n) * r.n;
    Vec3d tangential = r.tangential_before - (1 / r.slips) * slip;
    tangential = part_in_cone(sqrt(squared_norm(tangential)), friction_limit(r.friction, normal)) * tangential;
    const Vec3d across = tangential - r.tangential_before;
    push(across);
    r.tangential_before = tangential;
    return gives * more * more + r.slips * squared_norm(across);
  }
  /// Restitution and friction together may give energy (Kane's paradox of a pendulum that strikes a rough floor). Then
  /// of all impulses as much as leaves what there was; momentum is kept with any part of them.
  TRIBO_HD double part_without_gain(const Side& a, const Side& b, const Shift& from_a, const Shift& from_b,
                                    const Vec3d& apart, const RigidTie& own) const {
    double slope = 0, bend = 0;
    for (Index k = own.first; k < own.first + own.count; ++k) {
      const RigidRow& r = row[k];
      const Vec3d impulse = r.normal_before * r.n + r.tangential_before;
      const Vec3d before = velocity(from_a, from_b, b.body != nullptr, apart, r);
      slope += dot(impulse, before);
      bend += dot(impulse, velocity(a, b, apart, r) - before);
    }
    if (!(slope + 0.5 * bend > 0)) return 1;
    return slope < 0 ? -2 * slope / bend : 0.0;
  }
};

struct ImpactColor {
  ImpactTies ties;
  Index first;
  TRIBO_HD void operator()(Index i) const { ties.one(first + i); }
};
struct ImpactSerial {
  ImpactTies ties;
  Index first, count;
  TRIBO_HD void operator()(Index) const {
    for (Index i = 0; i < count; ++i) ties.one(first + i);
  }
};
struct NoHit {
  Index* hit;
  TRIBO_HD void operator()(Index i) const { hit[i] = 0; }
};
struct HitOf {
  const Index* hit;
  TRIBO_HD Index operator()(Index i) const { return hit[i]; }
};
struct NoKick {
  Shift* kick;
  TRIBO_HD void operator()(Index i) const { kick[i] = {Vec3d::zero(), Vec3d::zero()}; }
};
/// From what they had before, since meanwhile joints may have held them.
struct PutKick {
  const Shift *from, *kick;
  PlacedBody* body;
  TRIBO_HD void operator()(Index i) const {
    body[i].v = from[i].v + body[i].inverse_mass * kick[i].v;
    body[i].w = from[i].w + body[i].inverse_inertia * kick[i].w;
  }
};
struct MoveRow {
  const Vec3d* owed;
  double dt;
  RigidRow* row;
  TRIBO_HD void operator()(Index i) const {
    RigidRow& r = row[i];
    Vec3d owing = owed[r.a];
    if (r.b >= 0) {
      owing = owing - owed[r.b];
      r.rb += dt * owing;
    }
    r.allowed += dot(owing, r.n);
  }
};

}  // namespace

void meet_impacts(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, JointWork& joint_work,
                  const RigidColors& colors, double gravity, double dt, RigidWork& work, RigidContacts& c) {
  const auto all = static_cast<Index>(colors.host.size());
  if (all == 0) return;
  if (mesh.joints > 0) strike_joints(ex, mesh, false, work, joint_work);
  if (mesh.joints > 0) find_mobilities(ex, mesh, joints, joint_work, work, c.mobility);
  c.hit.resize_discard(all);
  c.kick.resize_discard(mesh.count);
  note_velocities(ex, mesh, work, c.before);
  parallel_for(ex, impacts_label, mesh.count, NoKick{c.kick.data()});
  // Faster than what rests has become by gravity in a step.
  const ImpactTies ties{colors.tie.data(),
                        c.row.data(),
                        work.body.data(),
                        mesh.joints > 0 ? c.mobility.data() : nullptr,
                        work.owed.data(),
                        c.kick.data(),
                        work.touched.data(),
                        4 * gravity * dt + 1e-3,
                        dt,
                        c.hit.data()};
  const int last = static_cast<int>(colors.start.size()) - 2;
  const auto meet = [&](int color) {
    const Index begin = colors.start[static_cast<std::size_t>(color)];
    const Index count = colors.start[static_cast<std::size_t>(color) + 1] - begin;
    if (colors.serial_last && color == last)
      parallel_for(ex, impacts_label, 1, ImpactSerial{ties, begin, count});
    else
      parallel_for(ex, impacts_label, count, ImpactColor{ties, begin}, impacts_grain);
  };
  const auto put_kicks = [&] {
    parallel_for(ex, impacts_label, mesh.count, PutKick{c.before.data(), c.kick.data(), work.body.data()});
  };
  bool any = false;
  for (int pass = 0; pass < most_passes; ++pass) {
    parallel_for(ex, impacts_label, all, NoHit{c.hit.data()});
    for (int color = 0; color <= last; ++color) meet(color);
    if (reduce(ex, impacts_label, all, Index{0}, HitOf{c.hit.data()}, Plus<Index>{}) == 0) break;
    any = true;
    if (mesh.joints == 0) {
      for (int color = last; color >= 0; --color) meet(color);
      continue;
    }
    // What is struck passes it on by its joints before anything else is.
    put_kicks();
    strike_joints(ex, mesh, true, work, joint_work);
    note_velocities(ex, mesh, work, c.before);
    parallel_for(ex, impacts_label, mesh.count, NoKick{c.kick.data()});
  }
  if (!any) return;
  if (mesh.joints == 0) put_kicks();
  parallel_for(ex, impacts_label, c.rows, MoveRow{work.owed.data(), dt, c.row.data()});
}

}  // namespace tribo::TRIBO_BACKEND
