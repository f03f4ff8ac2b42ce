#include "tribo/stages/rod/obstacles.h"

#include <cmath>

#include "tribo/stages/chunks.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Jacobi iterations. A strand that lies on the ground, whose vertices share what they carry, needs the most: with
/// eight, what is left of its speed is below a percent.
constexpr int passes = 8;
constexpr const char* obstacles_label = "rod_contact";
/// Normal velocity, relative to the collider's, at which a step ends in contact, or wins back a tenth of a depth: more
/// would throw what a collider has run over. It is no faster than a fall from as high, since a speed that goes with
/// 1 / dt asks for shorter steps, in which it is faster still.
template <class Real>
TRIBO_HD Real least_velocity(Real gap, Real dt) {
  constexpr Real regained = Real(0.1), weight = Real(10);  // [m/s^2]
  return gap > Real(0) ? -gap / dt : min(-regained * gap / dt, sqrt(-weight * gap));
}

/// Colliders that a vertex may reach in the step, the nearest first, and whether it would go too near to one of them.
template <class Real>
struct FindObstacles {
  FieldView<const Real, 3> x, v;
  const Real* inverse_mass;
  const Real* radius;
  const Index *start, *buried;
  const Index *vertex_strand, *among;  ///< strands with a 1; null: all
  typename Colliders<Real, 3>::View colliders;
  Real lost, dt;
  RodObstacle<Real>* obstacle;
  Index* count;
  Index* hit;

  TRIBO_HD void operator()(Index i) const {
    count[i] = hit[i] = 0;
    const Index strand = vertex_strand[i];
    if (!(inverse_mass[i] > Real(0)) || (among != nullptr && among[strand] == 0)) return;
    if (i - start[strand] < buried[strand]) return;
    const Vec<Real, 3> at = vector_at(x, i), moves = vector_at(v, i);
    const Real r = radius[i];
    RodObstacle<Real>* const own = obstacle + Size{i} * obstacles_each;
    Index found = 0, touches = 0;
    Real nearest[obstacles_each] = {};
    colliders.each_ahead(at, moves, dt, Real(2) * r, [&](const Contact<Real, 3>& contact) {
      if (contact.nozzle) return;  // is there for particles
      const Real gap = contact.distance - r;
      if (gap < -lost) return;
      const Vec<Real, 3> relative = moves - contact.velocity;
      int slot = found;
      while (slot > 0 && nearest[slot - 1] > gap) --slot;
      if (slot >= obstacles_each) return;
      if (found < obstacles_each) ++found;
      for (int s = found - 1; s > slot; --s) {
        own[s] = own[s - 1];
        nearest[s] = nearest[s - 1];
      }
      nearest[slot] = gap;
      const Real least = least_velocity(gap, dt);
      own[slot] = {contact.normal,
                   contact.velocity,
                   Vec<Real, 3>::zero(),
                   Vec<Real, 3>::zero(),
                   least,
                   contact.friction,
                   static_cast<Index>(contact.boundary)};
      const bool holds = contact.boundary != Boundary::separate && gap <= Real(0);
      if (holds || dot(relative, contact.normal) < least) touches = 1;
      // What sticks or slips does so only where it touches; while it does, nothing slides on what is sticky.
      if (!holds && contact.boundary != Boundary::separate) {
        own[slot].boundary = static_cast<Index>(Boundary::separate);
        own[slot].friction = contact.boundary == Boundary::sticky ? Real(1e6) : Real(0);
      }
    });
    count[i] = found;
    hit[i] = touches;
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

/// One newton second along the normal for every vertex that is marked.
template <class Real>
struct UnitImpulse {
  const RodObstacle<Real>* obstacle;
  const Index* mark;
  FieldView<Real, 3> impulse, v;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) {
      impulse[k][i] = mark[i] != 0 ? obstacle[Size{i} * obstacles_each].normal[k] : Real(0);
      v[k][i] = Real(0);
    }
  }
};

/// The mass by which a vertex turns missing velocity into an impulse, all at once with the others. 1 / sum_j Z_ij over
/// those that push converges, since no row of the iteration then has a sum above one: the inertia of the vertex alone
/// where it is hit alone, its share of the strand where all of it is.
template <class Real>
struct ShowMass {
  const RodObstacle<Real>* obstacle;
  const Index* count;
  const Index* mark;
  const SegmentCompliance<Real>* compliance;
  const Real* inverse_mass;
  FieldView<const Real, 3> response;
  Real* mass;
  TRIBO_HD void operator()(Index i) const {
    mass[i] = Real(0);
    if (count[i] == 0) return;
    const Real* const Z = compliance[i].own;
    Real alone = Real(0);  // the largest row sum of Z_ii bounds its eigenvalues
    for (int a = 0; a < 3; ++a) {
      Real sum = Real(0);
      for (int b = 0; b < 3; ++b) sum += abs(Z[Sym<Real, 3>::at(a, b)]);
      alone = max(alone, sum);
    }
    const Real together = dot(vector_at(response, i), obstacle[Size{i} * obstacles_each].normal);
    const Real most = mark[i] != 0 ? max(alone, together) : alone + max(together, Real(0));
    mass[i] = Real(1) / min(most, inverse_mass[i]);
  }
};

/// Impulses of every obstacle so that it is neither entered nor, within Coulomb's cone, slid along:
///   lambda <- max(0, lambda - m (v_n - least)),   J_t <- J_t - m v_t, cut to |J_t| <= mu lambda.
template <class Real>
struct PushAway {
  FieldView<const Real, 3> v;
  const Index* count;
  const Real* mass;
  const Index* vertex_strand;
  const Index* touched;
  RodObstacle<Real>* obstacle;
  FieldView<Real, 3> impulse;

  TRIBO_HD void operator()(Index i) const {
    Vec<Real, 3> sum = Vec<Real, 3>::zero();
    if (count[i] > 0 && touched[vertex_strand[i]] != 0) {
      const Vec<Real, 3> before = vector_at(v, i);
      for (Index s = 0; s < count[i]; ++s) {
        RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
        const Vec<Real, 3> now = before + (Real(1) / mass[i]) * sum;  // by those before, as if it were alone
        const Vec<Real, 3> next = wanted(one, mass[i], now);
        sum += next - one.impulse;
        one.impulse = next;
      }
    }
    for (int k = 0; k < 3; ++k) impulse[k][i] = sum[k];
  }

 private:
  TRIBO_HD static Vec<Real, 3> wanted(const RodObstacle<Real>& one, Real m, const Vec<Real, 3>& now) {
    const Vec<Real, 3> relative = now - one.velocity;
    const Real vn = dot(relative, one.normal), before = dot(one.impulse, one.normal);
    Vec<Real, 3> along = (one.impulse - before * one.normal) - m * (relative - vn * one.normal);
    Real normal = before - m * (vn - one.least);
    if (one.boundary == static_cast<Index>(Boundary::sticky)) return along + normal * one.normal;
    if (one.boundary == static_cast<Index>(Boundary::slip)) return normal * one.normal;
    normal = max(normal, Real(0));
    const Real most = one.friction * normal, length = sqrt(squared_norm(along));
    if (length > most) along = (most / length) * along;
    return along + normal * one.normal;
  }
};

/// What the iterations left is taken off each vertex by itself, so that nothing creeps into colliders or along them;
/// after enough of them it is too little to make short waves.
template <class Real>
struct HoldVertex {
  const Index* count;
  const Index* vertex_strand;
  const Index* touched;
  const RodObstacle<Real>* obstacle;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (count[i] == 0 || touched[vertex_strand[i]] == 0) return;
    Vec<Real, 3> moves{{v[0][i], v[1][i], v[2][i]}};
    for (Index s = 0; s < count[i]; ++s) {
      const RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      Vec<Real, 3> relative = moves - one.velocity;
      Real vn = dot(relative, one.normal);
      Vec<Real, 3> along = relative - vn * one.normal;
      const Real pushed = dot(one.impulse, one.normal);
      const bool separate = one.boundary == static_cast<Index>(Boundary::separate);
      const Vec<Real, 3> friction = one.impulse - pushed * one.normal;
      const Real within = Real(0.999) * one.friction * max(pushed, Real(0));
      const bool sticks =
          separate ? squared_norm(friction) < within * within : one.boundary == static_cast<Index>(Boundary::sticky);
      if (sticks) along = Vec<Real, 3>::zero();
      if (!separate || vn < one.least) vn = one.least;
      moves = one.velocity + along + vn * one.normal;
    }
    for (int k = 0; k < 3; ++k) v[k][i] = moves[k];
  }
};

/// See StrandHolder::lead.
template <class Real>
struct LeadObstacle {
  const Index* count;
  Real beta;
  RodObstacle<Real>* obstacle;
  TRIBO_HD void operator()(Index i) const {
    for (Index s = 0; s < count[i]; ++s) {
      RodObstacle<Real>& one = obstacle[Size{i} * obstacles_each + s];
      const Vec<Real, 3> now = one.impulse;
      if (beta > Real(0)) one.impulse = now + beta * (now - one.before);
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
  TRIBO_HD double operator()(Index i) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += static_cast<double>(v[k][i]) * static_cast<double>(v[k][i]);
    return sum;
  }
};

/// Looks for colliders near vertices, and which of these would be too near.
template <class Real>
void find_obstacles(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                    double lost, double dt, const RodState<Real>& state, const Array<Index>* among,
                    RodObstacles<Real>& o) {
  const Index n = mesh.vertices;
  o.obstacle.resize_discard(Size{n} * obstacles_each);
  o.count.resize_discard(n);
  o.hit.resize_discard(n);
  o.touched.resize_discard(mesh.strands);
  parallel_for(ex, obstacles_label, n,
               FindObstacles<Real>{view(state.x), view(state.v), mesh.inverse_mass.data(), mesh.radius.data(),
                                   mesh.start.data(), mesh.buried.data(), mesh.vertex_strand.data(),
                                   among != nullptr ? among->data() : nullptr, colliders, static_cast<Real>(lost),
                                   static_cast<Real>(dt), o.obstacle.data(), o.count.data(), o.hit.data()});
}
Index sum_of(Exec& ex, const Array<Index>& values, Index n) {
  return reduce(ex, obstacles_label, n, Index{0}, LoadIndex{values.data()}, Plus<Index>{});
}

/// Strands with a vertex that is marked are touched from now on; masses of vertices near a collider, as if all that are
/// marked pushed.
template <class Real>
void prepare_obstacles(Exec& ex, const RodMesh<Real>& mesh, const Array<Index>& mark, RodWorkspace<Real>& work,
                       RodObstacles<Real>& o) {
  const Index n = mesh.vertices;
  o.mass.resize_discard(n);
  o.impulse.resize_discard(n);
  o.response.v.resize_discard(n);
  o.response.count = n;
  for_each_pack(ex, obstacles_label, mesh.strands, MarkStrand{mesh.start.data(), mark.data(), o.touched.data()});
  segment_compliance(ex, mesh, work);
  parallel_for(ex, obstacles_label, n, UnitImpulse<Real>{o.obstacle.data(), mark.data(), view(o.impulse), view(o.response.v)});
  solve_strands(ex, mesh, o.impulse, &o.touched, o.response, work);
  const RodState<Real>& response = o.response;
  parallel_for(ex, obstacles_label, n,
               ShowMass<Real>{o.obstacle.data(), o.count.data(), mark.data(), work.compliance.data(),
                              mesh.inverse_mass.data(), view(response.v), o.mass.data()});
}

template <class Real>
void push_away(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& work,
               RodObstacles<Real>& o) {
  const RodState<Real>& now = state;
  parallel_for(ex, obstacles_label, mesh.vertices,
               PushAway<Real>{view(now.v), o.count.data(), o.mass.data(), mesh.vertex_strand.data(), o.touched.data(),
                              o.obstacle.data(), view(o.impulse)});
  solve_strands(ex, mesh, o.impulse, &o.touched, state, work);
}

template <class Real>
void hold_vertices(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, const RodObstacles<Real>& o) {
  parallel_for(
      ex, obstacles_label, mesh.vertices,
      HoldVertex<Real>{o.count.data(), mesh.vertex_strand.data(), o.touched.data(), o.obstacle.data(), view(state.v)});
}

}  // namespace

template <class Real>
Index meet_obstacles(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                     double lost, double dt, RodState<Real>& state, RodWorkspace<Real>& work, RodObstacles<Real>& o) {
  if (colliders.empty()) return 0;
  find_obstacles(ex, mesh, colliders, lost, dt, state, nullptr, o);
  const Index hits = sum_of(ex, o.hit, mesh.vertices);
  if (hits == 0) return 0;
  prepare_obstacles(ex, mesh, o.hit, work, o);
  for (int pass = 0; pass < passes; ++pass) push_away(ex, mesh, state, work, o);
  hold_vertices(ex, mesh, state, o);
  return hits;
}

template <class Real>
ObstacleHolder<Real>::ObstacleHolder(Exec& ex, const RodMesh<Real>& mesh,
                                     const typename Colliders<Real, 3>::View& colliders, double lost, double dt,
                                     RodState<Real>& state, RodWorkspace<Real>& work, RodObstacles<Real>& obstacles)
    : ex_(ex),
      mesh_(mesh),
      colliders_(colliders),
      lost_(lost),
      dt_(dt),
      state_(state),
      work_(work),
      obstacles_(obstacles) {}

template <class Real>
void ObstacleHolder<Real>::hold() {
  held_ = meet_obstacles(ex_, mesh_, colliders_, lost_, dt_, state_, work_, obstacles_);
}

template <class Real>
bool ObstacleHolder<Real>::begin(const Array<Index>& among) {
  if (colliders_.empty()) return false;
  find_obstacles(ex_, mesh_, colliders_, lost_, dt_, state_, &among, obstacles_);
  // What is near may come too near by the impulses between.
  if (sum_of(ex_, obstacles_.count, mesh_.vertices) == 0) return false;
  prepare_obstacles(ex_, mesh_, obstacles_.count, work_, obstacles_);
  return true;
}

template <class Real>
void ObstacleHolder<Real>::lead(double beta) {
  parallel_for(ex_, obstacles_label, mesh_.vertices,
               LeadObstacle<Real>{obstacles_.count.data(), static_cast<Real>(beta), obstacles_.obstacle.data()});
}

template <class Real>
void ObstacleHolder<Real>::push() {
  push_away(ex_, mesh_, state_, work_, obstacles_);
}

template <class Real>
void ObstacleHolder<Real>::end() {
  hold_vertices(ex_, mesh_, state_, obstacles_);
}

template <class Real>
double rod_speed(Exec& ex, const RodState<Real>& state) {
  return std::sqrt(reduce(ex, "rods", state.count, 0.0, SquaredSpeed<Real>{view(state.v)}, Larger<double>{}));
}

#define TRIBO_INSTANTIATE(Real)                                                                               \
  template Index meet_obstacles(Exec&, const RodMesh<Real>&, const Colliders<Real, 3>::View&, double, double, \
                                RodState<Real>&, RodWorkspace<Real>&, RodObstacles<Real>&);                   \
  template class ObstacleHolder<Real>;                                                                        \
  template double rod_speed(Exec&, const RodState<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
