#include "tribo/matter/strands/contact/rigids.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/exec/key_bits.h"
#include "tribo/exec/joins.h"
#include "tribo/exec/list_marked.h"
#include "tribo/matter/strands/contact/obstacles.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* rigids_label = "strands on rigid bodies";

/// As for solids: impulses may make both faster than they are now.
constexpr double rigids_ahead = 2;
/// Contacts that one sum is of.
constexpr Index run_length = 32;
/// Sweeps over joints and contacts of bodies between those over strands: they begin with what held before.
constexpr int body_sweeps = 4;

/// With half of the segments beside it, where a body may fit between two vertices.
template <class Real>
struct PutBesideBox {
  FieldView<const Real, 3> x, v;
  const Real *inverse_mass, *radius, *length;
  Real thinnest, dt;
  BoxView<Real> box;
  TRIBO_HD void operator()(Index i) const {
    const Vec<Real, 3> at = vector_at(x, i);
    SweptBox<Real> swept(at, vector_at(v, i));
    swept.valid = swept.valid && inverse_mass[i] > Real(0);
    const Real before = i > 0 ? length[i - 1] : Real(0), longest = max(before, length[i]);
    // Strands may be stretched.
    swept.close(Real(rigids_ahead) * radius[i] + (longest > thinnest ? longest : Real(0)), Real(rigids_ahead) * dt);
    box.put(i, {swept.low, swept.high});
  }
};
template <class Real>
struct PutRigidBox {
  const PlacedBody* body;
  FieldView<const double, 3> low, high;
  const double* radius;
  Index first;
  double dt;
  BoxView<Real> box;
  TRIBO_HD void operator()(Index i) const {
    const PlacedBody& one = body[i];
    const double speed = sqrt(squared_norm(one.v)) + sqrt(squared_norm(one.w)) * radius[one.form];
    Vec<Real, 3> middle, half;
    for (int k = 0; k < 3; ++k) {
      double m = one.x[k], h = 0;
      for (int j = 0; j < 3; ++j) {
        const double l = low[j][one.form], u = high[j][one.form];
        m += one.rotation(k, j) * 0.5 * (l + u);
        h += abs(one.rotation(k, j)) * 0.5 * (u - l);
      }
      middle[k] = static_cast<Real>(m);
      half[k] = static_cast<Real>(h);
    }
    const Vec<Real, 3> moves{{static_cast<Real>(speed), Real(0), Real(0)}};
    SweptBox<Real> swept(middle - half, moves);
    swept.add(middle + half, moves);
    swept.close(Real(0), static_cast<Real>(rigids_ahead * dt));
    box.put(first + i, {swept.low, swept.high});
  }
};
/// Not what a strand grows on, next to its root; nor what is a collider, which strands meet as such.
struct IsOtherRigid {
  const Index *vertex_strand, *start, *own_body, *own_count, *group;
  Index groups;
  TRIBO_HD bool operator()(Index vertex, Index body) const {
    if (group[body] >= groups) return false;
    const Index s = vertex_strand[vertex];
    return body != own_body[s] || vertex - start[s] >= own_count[s];
  }
};
struct KeyNearRigid {
  const NearPair* near;
  std::uint64_t bodies;
  std::uint64_t* key;
  Index* entry;
  TRIBO_HD void operator()(Index k) const {
    key[k] = static_cast<std::uint64_t>(near[k].first) * bodies + static_cast<std::uint64_t>(near[k].second);
    entry[k] = k;
  }
};

template <class Real>
struct FlagRigidContact {
  const Index* count;
  const RodObstacle<Real>* obstacle;
  Index* flag;
  TRIBO_HD void operator()(Index k) const {
    flag[k] = k % obstacles_each < count[k / obstacles_each] && obstacle[k].body >= 0 ? 1 : 0;
  }
};
template <class Real>
struct KeyContact {
  const Index* found;
  const RodObstacle<Real>* obstacle;
  std::uint64_t* body;
  Index* contact;
  TRIBO_HD void operator()(Index c) const {
    contact[c] = found[c];
    body[c] = static_cast<std::uint64_t>(obstacle[found[c]].body);
  }
};
struct FindStart {
  const std::uint64_t* body;
  Index contacts, bodies;
  Index *start, *runs;
  TRIBO_HD void operator()(Index b) const {
    const auto own = static_cast<std::uint64_t>(b);
    start[b] = first_from(body, contacts, 0, own);
    runs[b] =
        b == bodies ? 0 : (first_from(body, contacts, start[b], own + 1) - start[b] + run_length - 1) / run_length;
  }
};

/// What contacts of a body have given, in the order of their vertices.
template <class Real>
struct SumRun {
  const Index *contact, *start, *run_start;
  Index bodies;
  VertexPositions<Real> x;
  const PlacedBody* body;
  RodObstacle<Real>* obstacle;
  RigidPush* push;

  TRIBO_HD void operator()(Index r) const {
    Index low = 0, high = bodies;  // the body that has run r
    while (low + 1 < high) {
      const Index middle = low + (high - low) / 2;
      (run_start[middle] <= r ? low : high) = middle;
    }
    RigidPush sum{Vec3d::zero(), Vec3d::zero(), 0};
    const Index from = start[low] + (r - run_start[low]) * run_length, to = min(from + run_length, start[low + 1]);
    for (Index c = from; c < to; ++c) {
      RodObstacle<Real>& one = obstacle[contact[c]];
      if (one.grasp != 0) one.counts = 1;
      const Vec3d impulse = one.pushed - one.given;
      sum.add({impulse, cross(x(contact[c] / obstacles_each) - body[low].x, impulse), one.counts});
    }
    push[r] = sum;
  }
};
struct PushRigid {
  const Index* run_start;
  const RigidPush* push;
  PlacedBody* body;
  Index *touched, *pressed;
  TRIBO_HD void operator()(Index b) const {
    RigidPush sum{Vec3d::zero(), Vec3d::zero(), 0};
    for (Index r = run_start[b]; r < run_start[b + 1]; ++r) sum.add(push[r]);
    pressed[b] = sum.count;
    PlacedBody& one = body[b];
    if (run_start[b] == run_start[b + 1] || !(one.inverse_mass > 0)) return;
    one.v += one.inverse_mass * sum.impulse;
    one.w += one.inverse_inertia * sum.torque;
    if (squared_norm(sum.impulse) > 0) touched[b] = 1;
  }
};

/// How much bodies yield where an obstacle is, along its normal and across, as many times as something presses. What an
/// impulse along the normal moves across, and the other way around, is no more than what both yield besides.
template <class Real>
struct LetRigidYield {
  const RigidMobility* mobility;
  const Index* pressed;
  const PlacedBody* body;

  TRIBO_HD void operator()(const Vec3d& x, RodObstacle<Real>& one) const {
    const RigidMobility& own = mobility[one.body];
    const Vec3d r = x - body[one.body].x, n = cast<double>(one.normal);
    int least = abs(n[1]) < abs(n[0]) ? 1 : 0;
    if (abs(n[2]) < abs(n[least])) least = 2;
    Vec3d axis = Vec3d::zero();
    axis[least] = 1;
    Vec3d t = cross(n, axis);
    t = (1 / sqrt(squared_norm(t))) * t;
    const Vec3d s = cross(n, t), by_n = own.yields(r, n), by_t = own.yields(r, t), by_s = own.yields(r, s);
    const double tt = dot(t, by_t), ss = dot(s, by_s), ts = dot(s, by_t), half = 0.5 * (tt - ss);
    const double across = 0.5 * (tt + ss) + sqrt(half * half + ts * ts),
                 mixed = sqrt(dot(t, by_n) * dot(t, by_n) + dot(s, by_n) * dot(s, by_n));
    const double times = max(static_cast<double>(pressed[one.body]), 1.0);
    one.gives = times * max(dot(n, by_n) + mixed, 0.0);
    one.slips = times * max(across + mixed, 0.0);
  }
};
template <class Real>
struct BeginContact {
  const Index* contact;
  bool all;
  RodObstacle<Real>* obstacle;
  TRIBO_HD void operator()(Index c) const {
    RodObstacle<Real>& one = obstacle[contact[c]];
    one.counts = all || one.rests != 0 ? 1 : 0;
  }
};
template <class Real>
struct WeighContact {
  const Index* contact;
  VertexPositions<Real> x;
  LetRigidYield<Real> yield;
  RodObstacle<Real>* obstacle;
  TRIBO_HD void operator()(Index c) const { yield(x(contact[c] / obstacles_each), obstacle[contact[c]]); }
};

struct LoadAnswer {
  const RigidAnswer* answer;
  TRIBO_HD RigidAnswer operator()(Index c) const { return answer[c]; }
};
struct JoinAnswers {
  TRIBO_HD RigidAnswer operator()(const RigidAnswer& a, const RigidAnswer& b) const {
    return {max(a.change, b.change), max(a.misjudged, b.misjudged)};
  }
};
/// An obstacle goes on from what its body does now.
template <class Real>
struct FollowRigid {
  const Index* contact;
  VertexPositions<Real> x;
  FieldView<const Real, 3> v;
  LetRigidYield<Real> yield;
  RodObstacle<Real>* obstacle;
  RigidAnswer* answer;

  TRIBO_HD void operator()(Index c) const {
    const Index vertex = contact[c] / obstacles_each;
    RodObstacle<Real>& one = obstacle[contact[c]];
    Vec3d at = x(vertex);
    if (one.mate >= 0) at = 0.5 * (at + x(one.mate));
    const Vec3d now = yield.body[one.body].velocity_at(at), change = now - one.carried,
                taken_for = one.yielded(one.given - one.pushed);
    one.carried = now;
    one.velocity = cast<Real>(now);
    one.pushed = one.given;
    if (one.mate >= 0)
      one.off = 0.5 * (vertex_velocity(v, vertex) + vertex_velocity(v, one.mate)) - now -
                static_cast<double>(one.least) * cast<double>(one.normal);
    else
      one.off = one.off - (change + taken_for);
    yield(x(vertex), one);
    answer[c] = {squared_norm(change), squared_norm(change + taken_for)};
  }
};

template <class Real>
VertexPositions<Real> places_of(const RodState<Real>& state) {
  return {view(state.x), view(state.x_tail)};
}
template <class Real>
LetRigidYield<Real> yield_of(StrandRigids<Real>& rigids) {
  return {rigids.mobility.data(), rigids.pressed.data(), rigids.bodies.work->body.data()};
}
template <class Real>
void sum_pushes(Exec& ex, const RodState<Real>& state, RodObstacles<Real>& obstacles, StrandRigids<Real>& rigids) {
  RigidWork& work = *rigids.bodies.work;
  parallel_for(
      ex, rigids_label, rigids.runs,
      SumRun<Real>{rigids.contact.data(), rigids.start.data(), rigids.run_start.data(), rigids.bodies.mesh->count,
                   places_of(state), work.body.data(), obstacles.obstacle.data(), rigids.push.data()});
  parallel_for(ex, rigids_label, rigids.bodies.mesh->count,
               PushRigid{rigids.run_start.data(), rigids.push.data(), work.body.data(), work.touched.data(),
                         rigids.pressed.data()});
}

}  // namespace

template <class Real>
void list_near_rigids(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                      StrandRigids<Real>& rigids) {
  const RigidMesh& bodies = *rigids.bodies.mesh;
  BoxSearch<Real>& search = rigids.search;
  double thinnest = 1e300;
  for (const RigidForm& form : bodies.form) thinnest = std::min(thinnest, form.thickness);
  search.box.resize_discard(mesh.vertices + bodies.count);
  parallel_for(
      ex, rigids_label, mesh.vertices,
      PutBesideBox<Real>{view(state.x), view(state.v), mesh.inverse_mass.data(), mesh.radius.data(), mesh.length.data(),
                         static_cast<Real>(thinnest), static_cast<Real>(dt), view(search.box)});
  parallel_for(ex, rigids_label, bodies.count,
               PutRigidBox<Real>{rigids.bodies.work->body.data(), view(bodies.low), view(bodies.high),
                                 bodies.radius.data(), mesh.vertices, dt, view(search.box)});
  list_near_between(ex, rigids_label, "vertices of strands and rigid bodies", mesh.vertices, bodies.count,
                    IsOtherRigid{mesh.vertex_strand.data(), mesh.start.data(), rigids.own_body.data(),
                            rigids.own_count.data(), bodies.group.data(), bodies.groups},
                    search);
  rigids.key.resize_discard(search.near_count);
  rigids.entry.resize_discard(search.near_count);
  if (search.near_count == 0) return;
  const auto count = static_cast<std::uint64_t>(bodies.count);
  parallel_for(ex, rigids_label, search.near_count,
               KeyNearRigid{search.near.data(), count, rigids.key.data(), rigids.entry.data()});
  rigids.sorter.sort(ex, rigids_label, rigids.key, rigids.entry, search.near_count,
                     key_bits(static_cast<std::uint64_t>(mesh.vertices) * count));
  find_mobilities(ex, bodies, *rigids.bodies.joints, *rigids.bodies.joint_rows, *rigids.bodies.work, rigids.mobility,
                  true);
}

template <class Real>
void let_rigids_yield(Exec& ex, const RodMesh<Real>& mesh, bool all, const RodState<Real>& state,
                      RodObstacles<Real>& obstacles, StrandRigids<Real>& rigids) {
  const Index slots = mesh.vertices * obstacles_each, bodies = rigids.bodies.mesh->count;
  rigids.contacts = rigids.runs = 0;
  if (rigids.search.near_count == 0) return;
  rigids.flag.resize_discard(slots);
  parallel_for(ex, rigids_label, slots,
               FlagRigidContact<Real>{obstacles.count.data(), obstacles.obstacle.data(), rigids.flag.data()});
  rigids.contacts = list_marked(ex, rigids_label, rigids.flag, slots, rigids.found);
  if (rigids.contacts == 0) return;
  rigids.contact.resize_discard(rigids.contacts);
  rigids.contact_body.resize_discard(rigids.contacts);
  parallel_for(ex, rigids_label, rigids.contacts,
               KeyContact<Real>{rigids.found.data(), obstacles.obstacle.data(), rigids.contact_body.data(),
                                rigids.contact.data()});
  rigids.sorter.sort(ex, rigids_label, rigids.contact_body, rigids.contact, rigids.contacts,
                     key_bits(static_cast<std::uint64_t>(bodies)));
  rigids.start.resize_discard(bodies + 1);
  rigids.run_start.resize_discard(bodies + 1);
  rigids.pressed.resize_discard(bodies);
  parallel_for(
      ex, rigids_label, bodies + 1,
      FindStart{rigids.contact_body.data(), rigids.contacts, bodies, rigids.start.data(), rigids.run_start.data()});
  rigids.runs = exclusive_scan(ex, rigids_label, rigids.run_start, rigids.run_start, bodies + 1);
  rigids.push.resize_discard(rigids.runs);
  rigids.answer.resize_discard(rigids.contacts);
  parallel_for(ex, rigids_label, rigids.contacts,
               BeginContact<Real>{rigids.contact.data(), all, obstacles.obstacle.data()});
  sum_pushes(ex, state, obstacles, rigids);  // which counts
  parallel_for(
      ex, rigids_label, rigids.contacts,
      WeighContact<Real>{rigids.contact.data(), places_of(state), yield_of(rigids), obstacles.obstacle.data()});
}

template <class Real>
RigidAnswer push_rigids(Exec& ex, const RodState<Real>& state, RodObstacles<Real>& obstacles,
                        StrandRigids<Real>& rigids) {
  if (rigids.contacts == 0) return {};
  sum_pushes(ex, state, obstacles, rigids);
  rigids.bodies.answer(ex, body_sweeps, body_sweeps);
  parallel_for(ex, rigids_label, rigids.contacts,
               FollowRigid<Real>{rigids.contact.data(), places_of(state), view(state.v), yield_of(rigids),
                                 obstacles.obstacle.data(), rigids.answer.data()});
  const RigidAnswer squared =
      reduce(ex, rigids_label, rigids.contacts, RigidAnswer{}, LoadAnswer{rigids.answer.data()}, JoinAnswers{});
  return {std::sqrt(squared.change), std::sqrt(squared.misjudged)};
}

#define TRIBO_INSTANTIATE(Real)                                                                                    \
  template void list_near_rigids(Exec&, const RodMesh<Real>&, const RodState<Real>&, double, StrandRigids<Real>&); \
  template void let_rigids_yield(Exec&, const RodMesh<Real>&, bool, const RodState<Real>&, RodObstacles<Real>&,    \
                                 StrandRigids<Real>&);                                                             \
  template RigidAnswer push_rigids(Exec&, const RodState<Real>&, RodObstacles<Real>&, StrandRigids<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
