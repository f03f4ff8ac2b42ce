#include "tribo/matter/strands/contact/obstacles.h"

#include <cmath>
#include <utility>

#include "tribo/contact/coulomb.h"
#include "tribo/exec/chunks.h"
#include "tribo/matter/strands/stages/chain.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;

/// Sweeps over strands that meet colliders. A cord that begins to slide around a drum needs three: one for what it
/// carries, one in which it starts, and one more. Then those go on of which a vertex comes, leaves, sticks or slides
/// otherwise than before, as where a slack cord tightens. What is not settled then gets a last one.
constexpr int least_sweeps = 3, most_sweeps = 12;
/// With rigid bodies, each of which moves between sweeps, more; until they do nearly what strands took them to do.
constexpr int most_sweeps_with_bodies = 30;
constexpr double settled_bodies = 1e-3;
constexpr const char* obstacles_label = "rod_contact";
/// Normal velocity, relative to the collider's, at which a step ends in contact, or wins back a tenth of a depth: more
/// would throw what a collider has run over. It is no faster than a fall from as high, since a speed that goes with
/// 1 / dt asks for shorter steps, in which it is faster still.
template <class Real>
TRIBO_HD Real least_velocity(Real gap, Real dt) {
  constexpr Real regained = Real(0.1), weight = Real(10);  // [m/s^2]
  return gap > Real(0) ? -gap / dt : min(-regained * gap / dt, sqrt(-weight * gap));
}

/// What no collider acts on of each strand, from its first vertex on and to its last: what is buried, and as much as a
/// driven end is deep in a collider, since a strand must be that long to come out of it. One that leaves at an angle
/// takes more: that is freed as far as it is still inside, or the first vertex that the collider acts on would be
/// pulled in and pushed out at once. A scene may lead roots anywhere, as where a body sinks into a floor. Vertices that
/// the floor kept out were drawn to a hundred times the length of their segments by roots beneath it, or pushed
/// together between these and the floor until one segment was a lever that threw the next.
template <class Real>
struct FindForced {
  FieldView<const Real, 3> x, v;
  const Real *inverse_mass, *length, *radius;
  const Index *start, *buried;
  typename Colliders<Real, 3>::View colliders;
  Real dt;
  Index *from, *to;  ///< vertices that colliders act on

  TRIBO_HD void operator()(Index s) const {
    const Index begin = start[s], end = start[s + 1];
    const Index first = begin + forced(begin, 1, end - begin);
    const Index last = end - 1 - forced(end - 1, -1, end - first);
    from[s] = max(first, begin + buried[s]);
    to[s] = last + 1;
  }

 private:
  /// A quarter of a circle is as much longer than it is deep.
  static constexpr Real curved = Real(1.6);

  /// How many vertices from an end on, of `count` at most.
  TRIBO_HD Index forced(Index at, Index step, Index count) const {
    const auto edge = [&](Index n) { return length[step > 0 ? at + n : at - n - 1]; };  // behind vertex n
    Real arc = Real(0), least = Real(0);
    Index driven = 0;
    for (; driven < count && !(inverse_mass[at + driven * step] > Real(0)); ++driven) {
      const Real deep = depth(at + driven * step);
      if (deep > Real(0)) least = max(least, arc + deep);
      if (driven + 1 < count) arc += edge(driven);
    }
    if (!(least > Real(0))) return 0;
    const Real most = curved * least + arc;
    Index n = 0;
    Real along = Real(0);
    for (; n < count && (along < least || (along < most && depth(at + n * step) > -radius[at + n * step])); ++n)
      if (n + 1 < count) along += edge(n);
    return n;
  }
  /// At the start of the step or its end; negative outside.
  TRIBO_HD Real depth(Index i) const {
    Real deepest = Real(-1e30);
    const Vec<Real, 3> moves = vector_at(v, i);
    colliders.each_ahead(vector_at(x, i), moves, dt, radius[i], [&](const Contact<Real, 3>& contact) {
      const Real comes = min(dt * dot(moves - contact.velocity, contact.normal), Real(0));
      if (contact.collider != nozzle) deepest = max(deepest, -(contact.distance + comes));
    });
    return deepest;
  }
};

/// Velocity of a vertex, or of the middle between it and its mate.
template <class Real>
TRIBO_HD Vec<Real, 3> moves_with(const FieldView<const Real, 3>& v, Index i, Index mate) {
  return mate < 0 ? vector_at(v, i) : Real(0.5) * (vector_at(v, i) + vector_at(v, mate));
}

/// Colliders that a vertex may reach in the step, the nearest first, and whether it would go too near to one of them.
template <class Real>
struct FindObstacles {
  static constexpr Real resting = Real(0.05);  ///< of the radius, a gap that is none
  FieldView<const Real, 3> x, v, v_start;
  const Real* inverse_mass;
  const Real* radius;
  const Index *from, *to;              ///< of each strand, see FindForced
  const Index *vertex_strand, *among;  ///< strands with a 1; null: all
  const Index* strand_body;
  typename Colliders<Real, 3>::View colliders;
  ColliderFriction<Real> friction;
  NearTriangles<Real> triangles;
  NearRigids<Real> rigids;
  Real lost, dt;
  bool part;  ///< whether depths are won back
  RodObstacle<Real>* obstacle;
  Index* count;
  Index* hit;

  TRIBO_HD void operator()(Index i) const {
    count[i] = hit[i] = 0;
    const Index strand = vertex_strand[i];
    if (!(inverse_mass[i] > Real(0)) || (among != nullptr && among[strand] == 0)) return;
    if (i < from[strand] || i >= to[strand]) return;
    const Vec<Real, 3> at = vector_at(x, i), moves = vector_at(v, i);
    const Real r = radius[i];
    RodObstacle<Real>* const own = obstacle + Size{i} * obstacles_each;
    Index found = 0, touches = 0;
    Real nearest[obstacles_each] = {};
    const auto meet = [&](const auto& contact, Boundary boundary, Real rubs, Index mate) -> RodObstacle<Real>* {
      const Real gap = contact.distance - r;
      if (gap < -lost) return nullptr;
      const Vec<Real, 3> relative = moves_with(v, i, mate) - contact.velocity;
      int slot = found;
      while (slot > 0 && nearest[slot - 1] > gap) --slot;
      if (slot >= obstacles_each) return nullptr;
      if (found < obstacles_each) ++found;
      for (int s = found - 1; s > slot; --s) {
        own[s] = own[s - 1];
        nearest[s] = nearest[s - 1];
      }
      nearest[slot] = gap;
      const Real least = part ? least_velocity(gap, dt) : min(least_velocity(gap, dt), Real(0));
      RodObstacle<Real>& one = own[slot];
      one = {};
      one.normal = contact.normal;
      one.velocity = contact.velocity;
      one.least = least;
      one.friction = rubs;
      one.boundary = static_cast<Index>(boundary);
      one.triangle = one.body = one.collider = -1;
      one.mate = mate;
      const bool holds = boundary != Boundary::separate && gap <= Real(0);
      const bool meets = holds || dot(relative, contact.normal) < least;
      if (meets) touches = 1;
      // Without its collider a taut strand may leave where it is pressed on: what rested on it is taken to do so still.
      const Vec<Real, 3> came = moves_with(v_start, i, mate) - contact.velocity;
      one.rests = meets || gap + dt * dot(came, contact.normal) < resting * r ? 1 : 0;
      // What sticks or slips does so only where it touches; while it does, nothing slides on what is sticky.
      if (!holds && boundary != Boundary::separate) {
        one.boundary = static_cast<Index>(Boundary::separate);
        one.friction = boundary == Boundary::sticky ? Real(1e6) : Real(0);
      }
      return &one;
    };
    colliders.each_ahead(at, moves, dt, Real(2) * r, [&](const Contact<Real, 3>& contact) {
      if (contact.collider == nozzle) return;  // is there for particles
      RodObstacle<Real>* const one = meet(contact, contact.boundary, friction(strand_body[strand], contact), -1);
      if (one != nullptr) one->collider = contact.collider;
    });
    triangles.each(i, [&](const BodyContact<Real>& contact) {
      RodObstacle<Real>* const one = meet(contact, Boundary::separate, contact.friction, -1);
      if (one == nullptr) return;
      one->gives = one->slips = contact.gives;
      one->triangle = contact.triangle;
      one->share = contact.share;
    });
    rigids.each(i, v, dt, [&](const RigidContact<Real>& contact) {
      RodObstacle<Real>* const one = meet(contact, Boundary::separate, contact.friction, contact.mate);
      if (one == nullptr) return;
      one->gives = one->slips = contact.moves ? 1 : 0;  // see let_rigids_yield
      one->carried = contact.carried;
      one->body = contact.body;
    });
    static_assert(obstacles_each == 2);
    const bool pinched = found == 2 && pinch(own[0], own[1], r);
    if (pinched && (own[0].gives > 0 || own[1].gives > 0)) {
      oppose(own[0], own[1]);
    } else if (pinched) {
      hold_between(own, nearest);
      touches = 1;
      if (own[0].boundary == static_cast<Index>(Boundary::sticky)) found = 1;
    }
    count[i] = found;
    hit[i] = touches;
  }

 private:
  /// Whether two colliders leave so little room between them that obeying both means to be thrown out sideways, with
  /// 1/|n + n'| times the speed at which they come together, as where those of animations sink into each other: a
  /// vertex between a floor and a box was shot out with kilometers a second. What lies in a wedge that stands still is
  /// not pinched, however narrow: there the two need nothing but to hold it.
  TRIBO_HD static bool pinch(const RodObstacle<Real>& one, const RodObstacle<Real>& other, Real radius) {
    constexpr Real opposite = Real(-0.97), weight = Real(10);  // |n + n'| = 1/4; [m/s^2]

    const Real asked = lowest(one) + lowest(other);  // of v . (n + n')
    if (!(dot(one.normal, other.normal) < opposite) || !(asked > Real(0))) return false;
    return asked * asked > squared_norm(one.normal + other.normal) * weight * radius;
  }
  /// Where one of them can yield, what is between has to push them apart, but is as light beside a body as before: what
  /// is not quite opposite of such impulses would throw it out. So they are taken for quite opposite.
  TRIBO_HD static void oppose(RodObstacle<Real>& one, RodObstacle<Real>& other) {
    const Vec<Real, 3> across = one.normal - other.normal;
    one.normal = (Real(1) / sqrt(squared_norm(across))) * across;
    other.normal = Vec<Real, 3>::zero() - one.normal;
  }
  /// What v . n must be.
  TRIBO_HD static Real lowest(const RodObstacle<Real>& one) { return one.least + dot(one.velocity, one.normal); }

  /// What is pinched goes with the mean velocity of both and slowly to where it is as deep in the one as in the other.
  /// With friction, of which there is any amount, it sticks to them (as cloth does in Baraff 2003, "flypapering").
  /// Without, the second obstacle keeps it from going deeper into their wedge.
  TRIBO_HD void hold_between(RodObstacle<Real>* own, const Real* gap) const {
    const RodObstacle<Real> one = own[0], other = own[1];
    const Vec<Real, 3> across = one.normal - other.normal, out = one.normal + other.normal;
    const auto sticky = static_cast<Index>(Boundary::sticky), slip = static_cast<Index>(Boundary::slip);
    const bool sticks =
        one.friction > Real(0) || other.friction > Real(0) || one.boundary == sticky || other.boundary == sticky;
    RodObstacle<Real>& middle = own[0];
    middle.normal = (Real(1) / sqrt(squared_norm(across))) * across;
    middle.velocity = Real(0.5) * (one.velocity + other.velocity);
    middle.least = part ? least_velocity(Real(0.5) * (gap[0] - gap[1]), dt) : Real(0);  // the first is the deeper one
    middle.rests = 1;
    middle.boundary = sticks ? sticky : slip;
    RodObstacle<Real>& wedge = own[1];
    const Real width = sqrt(squared_norm(out));
    wedge.normal = width > Real(0) ? (Real(1) / width) * out : Vec<Real, 3>::zero();
    wedge.velocity = middle.velocity;
    wedge.least = Real(0);
    wedge.friction = Real(0);
    wedge.rests = 1;
    middle.body = wedge.body = -1;  // neither yields
    wedge.boundary = static_cast<Index>(Boundary::separate);
  }
};

struct MarkStrand {
  const Index* start;
  const Index* mark;
  Index* touched;
  TRIBO_HD void operator()(Index s) const {
    Index any = 0;
    for (Index i = start[s]; i < start[s + 1]; ++i) any = any | (mark[i] != 0 ? 1 : 0);
    touched[s] = any;
  }
};

/// What a vertex is to impulses on it, by its own block of Z = A^-1.
template <class Real>
struct WeighObstacle {
  static constexpr double rounding = sizeof(Real) == 4 ? 1e-6 : 1e-12;  ///< of Z
  const Index* count;
  const SegmentCompliance<Real>* compliance;
  RodObstacle<Real>* obstacle;

  TRIBO_HD void operator()(Index i) const {
    if (count[i] == 0) return;
    Sym<double, 3> Z;
    for (int c = 0; c < 6; ++c) Z.s[c] = static_cast<double>(compliance[i].own[c]);
    const Sym<double, 3> M = mass_of_vertex(compliance[i]);
    const double most = largest_row(M);
    for (Index s = 0; s < count[i]; ++s) {
      RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      const Vec<double, 3> n = cast<double>(one.normal), Zn = times(Z, n);
      one.yields = cast<Real>((1 / max(dot(n, Zn), rounding * trace(Z))) * Zn);
      one.weight = static_cast<Real>(dot(n, times(M, n)));
      one.grip = static_cast<Real>(most);
    }
  }
};

enum class Sweep {
  first,  ///< nothing is known of impulses
  next,   ///< after another one
  last,   ///< of strands that are not settled: friction by the speed they have, which takes energy whatever comes
  fresh  ///< others have changed velocities since; friction does not follow, since blocks that are not symmetric may be
         ///< nearly singular, and no sweep comes that would mend what they throw
};

/// What holds each vertex in the sweep to come. With `off` as it will be after it, an obstacle's impulse is
///   J - B off,   B = holds n n^T + drags (1 - n n^T),
/// and of a vertex that slides, by d = J_t / |J_t|, with follows = mu,
///   B = holds n n^T + drags (1 - n n^T - d d^T) + follows holds d n^T:
/// friction keeps its direction along d, turns with the velocity across, and is mu times the normal impulse that comes
/// out. This is Newton's method for J = P(J - K off), P the way to Coulomb's cone. On a cord around a drum friction
/// makes the normal impulses and these make friction, exp(mu angle) times: without `follows` sweeps would be many.
template <class Real>
struct HoldVertex {
  enum Grasp : Index { none, comes, sticks, slides };

  Sweep sweep;
  bool bodies_move;  ///< rigid ones are not yet where they will be
  FieldView<const Real, 3> v, v_start;
  const Index *count, *vertex_strand, *open;
  const Real* radius;
  Real dt;
  RodObstacle<Real>* obstacle;
  VertexHold* hold;
  Index* changed;

  TRIBO_HD void operator()(Index i) const {
    changed[i] = 0;
    if (open[vertex_strand[i]] == 0) return;
    VertexHold sum{Mat<double, 3>::zero(), Vec3::zero()};
    const double slow = unseen * static_cast<double>(radius[i] / dt);
    for (Index s = 0; s < count[i]; ++s) {
      RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      const Vec3 before = one.impulse;
      const Index grasped = one.grasp;
      if (sweep == Sweep::first || sweep == Sweep::fresh)
        one.off = cast<double>((moves_with(v, i, one.mate) - one.velocity) - one.least * one.normal) +
                  one.yielded(before - one.pushed);
      decide(one, moves_with(v_start, i, one.mate));
      one.off += one.yielded(one.impulse - before);
      const bool stays = is_held(one.grasp) && is_held(grasped) && squared_norm(one.off) < slow * slow;
      if ((one.grasp != grasped && !stays) || (bodies_move && one.body >= 0)) changed[i] = 1;
      const Mat<double, 3> B = block(one);
      sum.S = sum.S + B;
      sum.r += (one.impulse - before) - B * one.off;
    }
    hold[i] = sum;
  }

  TRIBO_HD static bool is_held(Index grasp) { return grasp == sticks || grasp == slides; }
  TRIBO_HD static Mat<double, 3> block(const RodObstacle<Real>& one) {
    Mat<double, 3> B = Mat<double, 3>::zero();
    const Vec3 n = cast<double>(one.normal);
    for (int k = 0; k < 3; ++k) B(k, k) = one.drags;
    add_outer(B, (one.holds - one.drags) * n, n);
    if (one.grasp != slides) return B;
    Vec3 d = one.impulse - dot(one.impulse, n) * n;
    const double size = sqrt(squared_norm(d));
    if (!(size > 0)) return B;
    d = (1 / size) * d;
    add_outer(B, -one.drags * d, d);
    add_outer(B, (static_cast<double>(one.follows) * one.holds) * d, n);
    return B;
  }

 private:
  /// Masses, in those of the vertex: to hold it where it is, and to pass load on from where friction is used up to
  /// where it is not. With more of the latter it would go from vertex to vertex, one in a sweep.
  static constexpr double firm = 1e4, passing = 0.1;
  /// Of the radius: whoever sticks instead of sliding by less in a step, or the other way around, changes nothing. Of a
  /// cord that is about to slip there are always some.
  static constexpr double unseen = 1e-5;
  /// Of `yields`, what must be left of it along the normal while friction follows. What points into its collider within
  /// the cone of friction has less than nothing: it jams, and the more the faster it slides.
  static constexpr double unjammed = 0.2;

  TRIBO_HD void decide(RodObstacle<Real>& one, const Vec<Real, 3>& v_before) const {
    const Vec3 n = cast<double>(one.normal);
    const double vn = dot(one.off, n), carried = dot(one.impulse, n);
    const Vec3 vt = one.off - vn * n, rubs = one.impulse - carried * n;
    const auto weight = static_cast<double>(one.weight), grip = static_cast<double>(one.grip);
    const auto friction = static_cast<double>(one.friction);
    one.holds = yielding(one.gives, firm * weight);
    one.drags = yielding(one.slips, firm * grip);
    one.follows = Real(0);
    one.grasp = sticks;
    if (one.boundary == static_cast<Index>(Boundary::sticky)) return;
    if (one.boundary == static_cast<Index>(Boundary::slip)) {
      one.drags = 0;
      return;
    }
    if (sweep == Sweep::first) {
      // As fast along the collider as before: then strain tells what a vertex carries.
      const Vec3 was = cast<double>(v_before - one.velocity);
      one.impulse = one.drags * (was - dot(was, n) * n);
      if (one.rests == 0) release(one);
      return;
    }
    if (!(carried > one.holds * vn)) {
      release(one);
      return;
    }
    if (!(carried > 0)) {  // comes to it; what friction it has is known when what it carries is
      one.grasp = comes;
      one.drags = 0;
      one.impulse = Vec3::zero();
      return;
    }
    if (!(friction > 0)) {  // what rounding leaves of an impulse across must not seem to be friction
      one.grasp = slides;
      one.drags = 0;
      one.impulse = carried * n;
      return;
    }
    const double most = friction_limit(friction, carried), drag = yielding(one.slips, passing * grip),
                 has = sqrt(squared_norm(rubs));
    const Vec3 wanted = rubs - drag * vt;
    const double size = sqrt(squared_norm(wanted)), speed = sqrt(squared_norm(vt));
    if (sweep == Sweep::last) {
      if (most < one.drags * speed) one.drags = most / speed;
      one.impulse = carried * n;
    } else if (size > most && !(dot(rubs, vt) > 0)) {
      one.grasp = slides;
      one.drags = drag * part_in_cone(size, most);
      one.impulse = carried * n + part_in_cone(size, most) * wanted;
      if (sweep == Sweep::next && friction * dot(cast<double>(one.yields), wanted) > (unjammed - 1) * size)
        one.follows = one.friction;
    } else {
      // Sticks, and takes no more than it may unless it becomes faster: up to where J - drags off leaves the cone,
      // which is far for what slides back. What friction itself has turned around sticks as well, since it would have
      // stopped on the way. Friction that changed sides instead went to and fro, farther from sweep to sweep, in cords
      // that are light across and heavy along, which `drag` is for.
      const double along = speed > 0 ? dot(rubs, vt) / speed : 0;
      const double left = along + sqrt(max(most * most - has * has, 0.0) + along * along);
      if (left < one.drags * speed) one.drags = max(left / speed, drag);
      if (has > most) one.impulse = carried * n + part_in_cone(has, most) * rubs;
    }
  }
  /// What gives way by c J is held as with B only where that is B / (1 + c B).
  TRIBO_HD static double yielding(double gives, double mass) { return mass / (1 + gives * mass); }
  TRIBO_HD static void release(RodObstacle<Real>& one) {
    one.grasp = none;
    one.holds = one.drags = 0;
    one.impulse = Vec3::zero();
  }
};

/// The sweep's dv.
template <class Real>
struct MoveHeld {
  FieldView<const double, 3> change;
  const Index *count, *vertex_strand, *open;
  RodObstacle<Real>* obstacle;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (open[vertex_strand[i]] == 0) return;
    const Vec3 dv{{change[0][i], change[1][i], change[2][i]}};
    for (int k = 0; k < 3; ++k) v[k][i] += static_cast<Real>(dv[k]);
    for (Index s = 0; s < count[i]; ++s) {
      RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      one.off += dv;
      const Vec3 back = HoldVertex<Real>::block(one) * one.off;
      one.impulse = one.impulse - back;
      one.off = one.off - one.yielded(back);
      one.given = one.impulse;
    }
  }
};

/// Nothing enters a collider or a body, also where sweeps did not find all that meet it.
template <class Real>
struct StopVertex {
  const Index *count, *vertex_strand, *touched;
  const Real* mass;
  RodObstacle<Real>* obstacle;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (touched[vertex_strand[i]] == 0) return;
    for (Index s = 0; s < count[i]; ++s) {
      RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      const Vec<Real, 3> moves{{v[0][i], v[1][i], v[2][i]}};
      Real missing = one.least - dot(moves - one.velocity, one.normal);
      if (one.triangle >= 0) missing -= static_cast<Real>(one.gives * dot(one.impulse, cast<double>(one.normal)));
      if (one.body >= 0)
        missing -= static_cast<Real>(one.gives * dot(one.given - one.pushed, cast<double>(one.normal)));
      // What a vertex holds of its segment is not its own place to stop.
      if (!(missing > Real(0)) || one.mate >= 0) continue;
      for (int k = 0; k < 3; ++k) v[k][i] = moves[k] + missing * one.normal[k];
      const Vec3 stops = static_cast<double>(mass[i] * missing) * cast<double>(one.normal);
      one.impulse += stops;
      one.given += stops;
    }
  }
};

/// What colliders have got from a vertex.
template <class Real>
struct TellObstacles {
  const Index *count, *vertex_strand, *touched;
  const RodObstacle<Real>* obstacle;
  FieldView<const Real, 3> x;
  TRIBO_HD void operator()(Index i, TallyRun& run) const {
    if (touched[vertex_strand[i]] == 0) return;
    for (Index s = 0; s < count[i]; ++s) {
      const RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      run.add(one.collider, cast<double>(vector_at(x, i)), -one.given);
    }
  }
};

/// See StrandHolder::lead.
template <class Real>
struct LeadObstacle {
  const Index* count;
  double beta;
  RodObstacle<Real>* obstacle;
  TRIBO_HD void operator()(Index i) const {
    for (Index s = 0; s < count[i]; ++s) {
      RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      const Vec3 now = one.impulse;
      if (beta > 0) one.impulse = now + beta * (now - one.before);
      one.before = now;
    }
  }
};

struct LoadIndex {
  const Index* values;
  TRIBO_HD Index operator()(Index i) const { return values[i]; }
};
template <class Real>
struct SquaredSpeed {
  FieldView<const Real, 3> v;
  FieldView<const Real, 3> before;  ///< null: none
  TRIBO_HD double operator()(Index i) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) {
      const double change =
          static_cast<double>(v[k][i]) - (before[k] != nullptr ? static_cast<double>(before[k][i]) : 0);
      sum += change * change;
    }
    return sum;
  }
};

template <class Real>
struct HitSpeed2 {
  const Index *hit, *count;
  const RodObstacle<Real>* obstacle;
  FieldView<const Real, 3> v;
  TRIBO_HD double operator()(Index i) const {
    if (hit[i] == 0) return 0;
    double most = 0;
    for (Index s = 0; s < count[i]; ++s)
      most = max(most,
                 static_cast<double>(squared_norm(vector_at(v, i) - obstacle[Size{i} * obstacles_each + s].velocity)));
    return most;
  }
};

/// Looks for colliders near vertices, and which of these would be too near.
template <class Real>
void find_obstacles(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                    double lost, double dt, const RodState<Real>& state, const RodWorkspace<Real>& work,
                    const Array<Index>* among, bool part, RodObstacles<Real>& o, const StrandMeets<Real>& bodies) {
  const Index n = mesh.vertices;
  o.obstacle.resize_discard(Size{n} * obstacles_each);
  o.count.resize_discard(n);
  o.hit.resize_discard(n);
  o.touched.resize_discard(mesh.strands);
  o.from.resize_discard(mesh.strands);
  o.to.resize_discard(mesh.strands);
  parallel_for(ex, obstacles_label, mesh.strands,
               FindForced<Real>{view(state.x), view(state.v), mesh.inverse_mass.data(), mesh.length.data(),
                                mesh.radius.data(), mesh.start.data(), mesh.buried.data(), colliders,
                                static_cast<Real>(dt), o.from.data(), o.to.data()});
  parallel_for(ex, obstacles_label, n,
               FindObstacles<Real>{view(state.x),
                                   view(state.v),
                                   view(work.v_start),
                                   mesh.inverse_mass.data(),
                                   mesh.radius.data(),
                                   o.from.data(),
                                   o.to.data(),
                                   mesh.vertex_strand.data(),
                                   among != nullptr ? among->data() : nullptr,
                                   mesh.strand_body.data(),
                                   colliders,
                                   collider_friction(mesh.collider_friction, mesh.bodies),
                                   bodies.solids != nullptr ? bodies.solids->view_of(state) : NearTriangles<Real>{},
                                   bodies.rigids != nullptr ? bodies.rigids->view_of(mesh, state) : NearRigids<Real>{},
                                   static_cast<Real>(lost),
                                   static_cast<Real>(dt),
                                   part,
                                   o.obstacle.data(),
                                   o.count.data(),
                                   o.hit.data()});
}
Index sum_of(Exec& ex, const Array<Index>& values, Index n) {
  return reduce(ex, obstacles_label, n, Index{0}, LoadIndex{values.data()}, Plus<Index>{});
}

/// Strands with a vertex that is marked are touched from now on; `all`: what is near may be pressed without touching.
template <class Real>
void prepare_obstacles(Exec& ex, const RodMesh<Real>& mesh, const Array<Index>& mark, bool all,
                       const RodState<Real>& state, RodWorkspace<Real>& work, RodObstacles<Real>& o,
                       const StrandMeets<Real>& bodies) {
  o.hold.resize_discard(mesh.vertices);
  o.changed.resize_discard(mesh.vertices);
  o.open.resize_discard(mesh.strands);
  for_each_pack(ex, obstacles_label, mesh.strands, MarkStrand{mesh.start.data(), mark.data(), o.touched.data()});
  segment_compliance(ex, mesh, work);
  keep_rows(ex, mesh, o.touched, state, work);
  parallel_for(ex, obstacles_label, mesh.vertices,
               WeighObstacle<Real>{o.count.data(), work.compliance.data(), o.obstacle.data()});
  if (bodies.solids != nullptr) let_bodies_yield(ex, mesh, o, *bodies.solids);
  if (bodies.rigids != nullptr) let_rigids_yield(ex, mesh, all, state, o, *bodies.rigids);
}

template <class Real>
void hold_vertices(Exec& ex, Sweep sweep, bool bodies_move, const RodMesh<Real>& mesh, const Array<Index>& open,
                   const RodState<Real>& state, const RodWorkspace<Real>& work, RodObstacles<Real>& o) {
  parallel_for(ex, obstacles_label, mesh.vertices,
               HoldVertex<Real>{sweep, bodies_move, view(state.v), view(work.v_start), o.count.data(),
                                mesh.vertex_strand.data(), open.data(), mesh.radius.data(), static_cast<Real>(work.dt),
                                o.obstacle.data(), o.hold.data(), o.changed.data()});
}
template <class Real>
void move_held(Exec& ex, const RodMesh<Real>& mesh, const Array<Index>& open, RodState<Real>& state,
               RodWorkspace<Real>& work, RodObstacles<Real>& o) {
  solve_held(ex, mesh, o.hold, open, true, work);
  parallel_for(ex, obstacles_label, mesh.vertices,
               MoveHeld<Real>{view(std::as_const(work.held_dv)), o.count.data(), mesh.vertex_strand.data(), open.data(),
                              o.obstacle.data(), view(state.v)});
}
template <class Real>
void sweep_until_settled(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& work,
                         RodObstacles<Real>& o, StrandRigids<Real>* rigids) {
  const Array<Index>* open = &o.touched;
  const bool moves = rigids != nullptr && rigids->contacts > 0;
  const int sweeps = moves ? most_sweeps_with_bodies : most_sweeps;
  bool bodies_move = moves;
  double way = 0;  // of bodies' velocities
  for (int k = 0; k < sweeps; ++k) {
    hold_vertices(ex, k == 0 ? Sweep::first : Sweep::next, bodies_move, mesh, *open, state, work, o);
    if (k >= least_sweeps) {
      for_each_pack(ex, obstacles_label, mesh.strands, MarkStrand{mesh.start.data(), o.changed.data(), o.open.data()});
      if (sum_of(ex, o.open, mesh.strands) == 0) return;
      open = &o.open;
    }
    move_held(ex, mesh, *open, state, work, o);
    if (!moves) continue;
    const RigidAnswer answer = push_rigids(ex, state, o, *rigids);
    way += answer.change;
    bodies_move = answer.misjudged > settled_bodies * way;
  }
  hold_vertices(ex, Sweep::last, false, mesh, *open, state, work, o);
  move_held(ex, mesh, *open, state, work, o);
}

template <class Real>
void stop_vertices(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodObstacles<Real>& o) {
  parallel_for(ex, obstacles_label, mesh.vertices,
               StopVertex<Real>{o.count.data(), mesh.vertex_strand.data(), o.touched.data(), mesh.mass.data(),
                                o.obstacle.data(), view(state.v)});
}

template <class Real>
void tell_obstacles(Exec& ex, const RodMesh<Real>& mesh, const ContactTally& tally, const RodState<Real>& state,
                    const RodObstacles<Real>& o) {
  tell_each(ex, obstacles_label, tally, mesh.vertices,
            TellObstacles<Real>{o.count.data(), mesh.vertex_strand.data(), o.touched.data(), o.obstacle.data(),
                                view(state.x)});
}

template <class Real>
void push_all(Exec& ex, const RodState<Real>& state, RodObstacles<Real>& o, const StrandMeets<Real>& bodies) {
  if (bodies.solids != nullptr) push_bodies(ex, o, *bodies.solids);
  if (bodies.rigids != nullptr) push_rigids(ex, state, o, *bodies.rigids);
}

}  // namespace

template <class Real>
Index meet_obstacles(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                     double lost, double dt, RodState<Real>& state, RodWorkspace<Real>& work, RodObstacles<Real>& o,
                     StrandMeets<Real> bodies) {
  if (colliders.empty() && bodies.solids == nullptr && bodies.rigids == nullptr) return 0;
  find_obstacles(ex, mesh, colliders, lost, dt, state, work, nullptr, true, o, bodies);
  const Index hits = sum_of(ex, o.hit, mesh.vertices);
  if (hits == 0) return 0;
  prepare_obstacles(ex, mesh, o.hit, false, state, work, o, bodies);
  undo_turns(ex, mesh, o.touched, state, work);
  sweep_until_settled(ex, mesh, state, work, o, bodies.rigids);
  stop_vertices(ex, mesh, state, o);
  tell_obstacles(ex, mesh, colliders.tally, state, o);
  push_all(ex, state, o, bodies);
  return hits;
}

template <class Real>
ObstacleHolder<Real>::ObstacleHolder(Exec& ex, const RodMesh<Real>& mesh,
                                     const typename Colliders<Real, 3>::View& colliders, double lost, double dt,
                                     RodState<Real>& state, RodWorkspace<Real>& work, RodObstacles<Real>& obstacles,
                                     StrandMeets<Real> bodies)
    : ex_(ex),
      mesh_(mesh),
      colliders_(colliders),
      lost_(lost),
      dt_(dt),
      state_(state),
      work_(work),
      obstacles_(obstacles),
      bodies_(bodies) {}

template <class Real>
void ObstacleHolder<Real>::hold() {
  held_ = meet_obstacles(ex_, mesh_, colliders_, lost_, dt_, state_, work_, obstacles_, bodies_);
  closing_ = 0;
  if (held_ > 0)
    closing_ = std::sqrt(reduce(ex_, obstacles_label, mesh_.vertices, 0.0,
                                HitSpeed2<Real>{obstacles_.hit.data(), obstacles_.count.data(),
                                                obstacles_.obstacle.data(), view(std::as_const(work_.v_start))},
                                Larger<double>{}));
}

template <class Real>
bool ObstacleHolder<Real>::begin(const Array<Index>& among, bool part) {
  if (colliders_.empty() && bodies_.solids == nullptr && bodies_.rigids == nullptr) return false;
  find_obstacles(ex_, mesh_, colliders_, lost_, dt_, state_, work_, &among, part, obstacles_, bodies_);
  // What is near may come too near by the impulses between.
  if (sum_of(ex_, obstacles_.count, mesh_.vertices) == 0) return false;
  prepare_obstacles(ex_, mesh_, obstacles_.count, true, state_, work_, obstacles_, bodies_);
  return true;
}

template <class Real>
void ObstacleHolder<Real>::lead(double beta) {
  parallel_for(ex_, obstacles_label, mesh_.vertices,
               LeadObstacle<Real>{obstacles_.count.data(), beta, obstacles_.obstacle.data()});
}

template <class Real>
void ObstacleHolder<Real>::push() {
  hold_vertices<Real>(ex_, Sweep::fresh, false, mesh_, obstacles_.touched, state_, work_, obstacles_);
  move_held(ex_, mesh_, obstacles_.touched, state_, work_, obstacles_);
}

template <class Real>
void ObstacleHolder<Real>::end() {
  stop_vertices(ex_, mesh_, state_, obstacles_);
  tell_obstacles(ex_, mesh_, colliders_.tally, state_, obstacles_);
  push_all(ex_, state_, obstacles_, bodies_);
}

template <class Real>
double rod_speed(Exec& ex, const RodState<Real>& state, const Field<Real, 3>* before) {
  SquaredSpeed<Real> squared{view(state.v), {{nullptr, nullptr, nullptr}}};
  if (before != nullptr) squared.before = view(*before);
  return std::sqrt(reduce(ex, "rods", state.count, 0.0, squared, Larger<double>{}));
}

#define TRIBO_INSTANTIATE(Real)                                                                                \
  template Index meet_obstacles(Exec&, const RodMesh<Real>&, const Colliders<Real, 3>::View&, double, double,  \
                                RodState<Real>&, RodWorkspace<Real>&, RodObstacles<Real>&, StrandMeets<Real>); \
  template class ObstacleHolder<Real>;                                                                         \
  template double rod_speed(Exec&, const RodState<Real>&, const Field<Real, 3>*);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
