#include "tribo/matter/rigid/contact/solids.h"

#include <algorithm>

#include "tribo/exec/key_bits.h"
#include "tribo/exec/list_marked.h"
#include "tribo/exec/mark.h"
#include "tribo/math/closest.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* solids_label = "rigid bodies on solids";
constexpr Index solids_grain = 64;  ///< of loops whose items are some hundred operations

/// How much the outward normals of two that touch may point the same way, as a cosine.
constexpr double facing_away = 0.2;
/// Part of what is missing to the distance of rest that is won back in a step, and the speed that this may take, over
/// that of a fall by a cell: what overlaps is driven apart, not thrown.
constexpr double won_back = 0.1, won_back_speed = 0.1;
/// A driven vertex yields by this part of what the body does: masses without end would leave nothing to solve for. What
/// it yields too much is taken back in the next round, as of all that is solved again and again.
constexpr double driven_yields = 1e-4;

/// How far apart what may touch in a step can be, as in rows.cpp.
struct SolidReach {
  double dt, gravity, rest, dx;
  TRIBO_HD double of(double speed) const { return rest + 2 * dt * speed + 4 * dt * dt * gravity; }
  /// And how deep what touches can be.
  TRIBO_HD double around(double speed) const { return max(of(speed), dx); }
  TRIBO_HD double allowed(double gap) const {
    const double over = gap - rest;
    if (over > 0) return over / dt;
    return -min(won_back * -over / dt, won_back_speed * sqrt(dx * max(gravity, 1.0)));
  }
};

/// The boundary of all solids, in double.
template <class Real>
struct Boundary {
  FieldView<const Real, 3> x, v;
  FieldView<const Index, 3> triangle;
  FieldView<const Real, 3> weight;  ///< of samples
  const Index *sample_triangle, *corner_start, *corner;
  const Real* inverse_mass;

  TRIBO_HD Vec3d place(Index vertex) const { return cast<double>(vector_at(x, vertex)); }
  TRIBO_HD Vec3d velocity(Index vertex) const { return cast<double>(vector_at(v, vertex)); }
  TRIBO_HD Vec3d face_normal(Index t) const {
    const Vec3d a = place(triangle[0][t]);
    const Vec3d n = cross(place(triangle[1][t]) - a, place(triangle[2][t]) - a);
    const double size = sqrt(squared_norm(n));
    return size > 0 ? (1 / size) * n : n;
  }
  /// Of a vertex, not of length 1.
  TRIBO_HD Vec3d normal(Index vertex) const {
    Vec3d sum = Vec3d::zero();
    for (Index j = corner_start[vertex]; j < corner_start[vertex + 1]; ++j) {
      const Index q = corner[j] / 3;
      sum += static_cast<double>(weight[corner[j] % 3][q]) * face_normal(sample_triangle[q]);
    }
    return sum;
  }
  TRIBO_HD bool is_driven(Index vertex) const { return !(inverse_mass[vertex] > Real(0)); }
  TRIBO_HD bool all_driven(Index t) const {
    bool all = true;
    for (int c = 0; c < 3; ++c) all = all && is_driven(triangle[c][t]);
    return all;
  }
  TRIBO_HD SolidPlace at_vertex(Index vertex) const { return {{vertex, vertex, vertex}, {1, 0, 0}}; }
  TRIBO_HD SolidPlace at_sample(Index q) const {
    const Index t = sample_triangle[q];
    SolidPlace to;
    for (int c = 0; c < 3; ++c) to.vertex[c] = triangle[c][t];
    for (int c = 0; c < 3; ++c) to.share[c] = static_cast<double>(weight[c][q]);
    return to;
  }
  TRIBO_HD Vec3d place(const SolidPlace& at) const {
    Vec3d sum = Vec3d::zero();
    for (int c = 0; c < 3; ++c) sum += at.share[c] * place(at.vertex[c]);
    return sum;
  }
  TRIBO_HD Vec3d velocity(const SolidPlace& at) const {
    Vec3d sum = Vec3d::zero();
    for (int c = 0; c < 3; ++c) sum += at.share[c] * velocity(at.vertex[c]);
    return sum;
  }
};
template <class Real>
Boundary<Real> boundary_of(const SolidMesh<Real>& mesh, const SolidState<Real>& state) {
  return {view(state.x),
          view(state.v),
          view(mesh.triangle),
          view(mesh.sample_weight),
          mesh.sample_triangle.data(),
          mesh.sample_corner_start.data(),
          mesh.sample_corner.data(),
          mesh.inverse_mass.data()};
}

template <class Real>
struct PutTriangleBox {
  Boundary<Real> boundary;
  const Index* wanted;  ///< 1 or 0 of each; null: all
  double dt;
  BoxView<double> box;
  TRIBO_HD void operator()(Index t) const {
    if (wanted != nullptr && wanted[t] == 0) {
      box.put(t, {Vec3d::filled(1), Vec3d::filled(-1)});
      return;
    }
    const FieldView<const Index, 3>& corner = boundary.triangle;
    SweptBox<double> swept(boundary.place(corner[0][t]), boundary.velocity(corner[0][t]));
    for (int c = 1; c < 3; ++c) swept.add(boundary.place(corner[c][t]), boundary.velocity(corner[c][t]));
    swept.close(0, 2 * dt);
    box.put(t, {swept.low, swept.high});
  }
};
/// Colliders among bodies are met by solids themselves.
struct PutNearBox {
  const PlacedBody* body;
  FieldView<const double, 3> low, high;
  const double* radius;
  Index groups, first;
  SolidReach reach;
  BoxView<double> box;
  TRIBO_HD void operator()(Index i) const {
    const PlacedBody& one = body[i];
    const double more = reach.around(fastest_of(one, radius[one.form]));
    box.put(first + i, one.group < groups ? box_around(one, low, high, more) : no_box());
  }
};

/// Solids and bodies that do not touch.
struct Apart {
  const Index* pair;
  Index count;
  TRIBO_HD bool operator()(Index solid, Index body) const {
    Index low = 0, high = count;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (pair[2 * middle] < solid || (pair[2 * middle] == solid && pair[2 * middle + 1] < body))
        low = middle + 1;
      else
        high = middle;
    }
    return low < count && pair[2 * low] == solid && pair[2 * low + 1] == body;
  }
};

/// A triangle and a body, by the distance of its middle.
template <class Real>
struct MayMeet {
  Boundary<Real> boundary;
  RigidView bodies;
  const Index* solid;
  Apart apart;
  const double* radius;
  SolidReach reach;
  TRIBO_HD bool operator()(Index t, Index b) const {
    const PlacedBody& body = bodies.body[b];
    if (apart(solid[t], b) || (!(body.inverse_mass > 0) && boundary.all_driven(t))) return false;
    Vec3d corner[3], middle = Vec3d::zero();
    for (int c = 0; c < 3; ++c) {
      corner[c] = boundary.place(boundary.triangle[c][t]);
      middle += (1.0 / 3) * corner[c];
    }
    double size2 = 0, speed2 = 0;
    for (int c = 0; c < 3; ++c) {
      size2 = max(size2, squared_norm(corner[c] - middle));
      speed2 = max(speed2, squared_norm(boundary.velocity(boundary.triangle[c][t])));
    }
    const double far = reach.around(fastest_of(body, radius[body.form]) + sqrt(speed2)) + sqrt(size2);
    return bodies.shapes.nearest(body, middle).distance < far;
  }
};

/// What a place on the boundary finds of a body.
template <class Real>
struct Feel {
  Boundary<Real> boundary;
  RigidView bodies;
  const double* thickness;
  SolidReach reach;

  TRIBO_HD bool operator()(const Vec3d& at, const Vec3d& v, const Vec3d& normal, Index b) const {
    const PlacedBody& body = bodies.body[b];
    const RigidSurface surface = bodies.shapes.nearest(body, at);
    const double gap = surface.distance;
    if (!(gap < reach.of(sqrt(squared_norm(v - body.velocity_at(at)))))) return false;
    // What is behind a thin body, or looks out of it, has come through: it is held from the other side, or not at all.
    return gap > -0.75 * thickness[body.form] &&
           dot(normal, surface.normal) < facing_away * sqrt(squared_norm(normal));
  }
};

/// Three for each pair of a triangle and a body: those of its vertices that are listed with it.
template <class Real>
struct MarkVertices {
  Feel<Real> feel;
  const NearPair* near;
  const Index* home;
  Index* mark;
  TRIBO_HD void operator()(Index k) const {
    const NearPair& pair = near[k];
    for (int c = 0; c < 3; ++c) {
      const Index vertex = feel.boundary.triangle[c][pair.first];
      bool wanted = (home[pair.first] >> c & 1) != 0;
      if (feel.boundary.is_driven(vertex)) wanted = wanted && feel.bodies.body[pair.second].inverse_mass > 0;
      mark[3 * k + c] = wanted && feel(feel.boundary.place(vertex), feel.boundary.velocity(vertex),
                                       feel.boundary.normal(vertex), pair.second)
                            ? 1
                            : 0;
    }
  }
};
/// Samples within triangles tell of what is round: what is flat or sharp has been felt by vertices, and feels itself.
template <class Real>
struct CountInner {
  Boundary<Real> boundary;
  RigidView bodies;
  const NearPair* near;
  const Index* inner_count;
  Index pairs;
  Index* slots;
  TRIBO_HD void operator()(Index k) const {
    slots[k] = 0;
    if (k == pairs) return;
    const Index t = near[k].first;
    Vec3d middle = Vec3d::zero();
    for (int c = 0; c < 3; ++c) middle += (1.0 / 3) * boundary.place(boundary.triangle[c][t]);
    if (!bodies.shapes.nearest(bodies.body[near[k].second], middle).flat) slots[k] = inner_count[t];
  }
};
template <class Real>
struct MarkInner {
  Feel<Real> feel;
  const NearPair* near;
  const Index *slot_start, *inner_first;
  Index* mark;
  TRIBO_HD void operator()(Index k) const {
    const NearPair& pair = near[k];
    for (Index s = slot_start[k]; s < slot_start[k + 1]; ++s) {
      const SolidPlace at = feel.boundary.at_sample(inner_first[pair.first] + s - slot_start[k]);
      mark[s] = feel(feel.boundary.place(at), feel.boundary.velocity(at), feel.boundary.face_normal(pair.first),
                     pair.second)
                    ? 1
                    : 0;
    }
  }
};

struct ClearNumbers {
  Index* number;
  TRIBO_HD void operator()(Index i) const { number[i] = 0; }
};
struct MarkNear {
  const NearPair* near;
  Index *triangle, *body;
  TRIBO_HD void operator()(Index k) const {
    mark_one(triangle + near[k].first);
    mark_one(body + near[k].second);
  }
};
/// Last of rising starts that is not above i.
TRIBO_HD Index run_of(const Index* start, Index runs, Index i) {
  Index low = 0, high = runs;
  while (low + 1 < high) {
    const Index middle = low + (high - low) / 2;
    (start[middle] <= i ? low : high) = middle;
  }
  return low;
}

/// What is sharp in bodies that are near a solid.
struct NearFeelers {
  const PlacedBody* body;
  const Index* near_bodies;
  const Index* start;
  Index bodies;
  const Index *sample_begin, *sample_end;
  FieldView<const double, 3> x, n;
  const double *sample_radius, *sample_ring;
  const Index* kind;

  struct One {
    Index body, number, sample;
  };
  TRIBO_HD One operator()(Index f) const {
    const Index run = run_of(start, bodies, f), b = near_bodies[run];
    return {b, f - start[run], sample_begin[body[b].form] + f - start[run]};
  }
};
struct CountFeelers {
  const PlacedBody* body;
  const Index* near_bodies;
  const Index *sample_begin, *sample_end;
  Index* count;
  TRIBO_HD void operator()(Index i) const {
    const Index form = body[near_bodies[i]].form;
    count[i] = sample_end[form] - sample_begin[form];
  }
};
struct PutFeelerBox {
  NearFeelers feelers;
  const double* radius;
  SolidReach reach;
  Index first;
  BoxView<double> box;
  TRIBO_HD void operator()(Index f) const {
    const NearFeelers::One one = feelers(f);
    const PlacedBody& body = feelers.body[one.body];
    // Vertices feel for what is flat.
    if (static_cast<Feeler>(feelers.kind[one.sample]) == Feeler::face) {
      box.put(first + f, {Vec3d::filled(1), Vec3d::filled(-1)});
      return;
    }
    const Vec3d at = body.x + body.rotation * vector_at(feelers.x, one.sample);
    SweptBox<double> swept(at, Vec3d::zero());
    swept.close(feelers.sample_radius[one.sample] + feelers.sample_ring[one.sample] +
                    reach.around(fastest_of(body, radius[body.form])),
                0);
    box.put(first + f, {swept.low, swept.high});
  }
};
template <class Real>
struct MayFeel {
  Boundary<Real> boundary;
  NearFeelers feelers;
  const Index* solid;
  Apart apart;
  TRIBO_HD bool operator()(Index t, Index f) const {
    const Index b = feelers(f).body;
    return !apart(solid[t], b) && (feelers.body[b].inverse_mass > 0 || !boundary.all_driven(t));
  }
};
struct KeyFeeler {
  const NearPair* near;
  const Index* solid;
  std::uint64_t solids;
  std::uint64_t* key;
  Index* pair;
  TRIBO_HD void operator()(Index k) const {
    key[k] = static_cast<std::uint64_t>(near[k].second) * solids + static_cast<std::uint64_t>(solid[near[k].first]);
    pair[k] = k;
  }
};

/// The place of a triangle that is next to a feeler.
struct FoundTriangle {
  double gap;
  Vec3d n;  ///< from the feeler into the solid
  double share[3];
  double facing;  ///< |cosine| between the way there and the triangle's normal
};
template <class Real>
struct FeelTriangle {
  Boundary<Real> boundary;
  NearFeelers feelers;

  TRIBO_HD FoundTriangle operator()(const NearFeelers::One& one, Index t) const {
    const PlacedBody& body = feelers.body[one.body];
    const Vec3d center = body.x + body.rotation * vector_at(feelers.x, one.sample);
    const bool is_ring = static_cast<Feeler>(feelers.kind[one.sample]) == Feeler::ring;
    const Vec3d axis = body.rotation * vector_at(feelers.n, one.sample);
    const double ring = feelers.sample_ring[one.sample];
    Vec3d corner[3];
    for (int c = 0; c < 3; ++c) corner[c] = boundary.place(boundary.triangle[c][t]);
    const Vec3d normal = boundary.face_normal(t);
    FoundTriangle found{};
    found.n = -normal;
    const int looks = is_ring ? 3 : 1;
    for (int look = 0; look < looks; ++look) {
      Vec3d at = center;
      if (is_ring) {  // its deepest point; any where the ring lies flat on what is there
        const Vec3d across = found.n - dot(found.n, axis) * axis;
        const double size = sqrt(squared_norm(across));
        if (size > 1e-6) at = center + (ring / size) * across;
      }
      const PointOnTriangle<double> on = closest_on_triangle(at, corner[0], corner[1], corner[2]);
      const double size = sqrt(squared_norm(on.gap));
      const double cosine = size > 0 ? dot(on.gap, normal) / size : 1.0, side = cosine < 0 ? -1.0 : 1.0;
      found.gap = side * size - feelers.sample_radius[one.sample];
      found.facing = abs(cosine);
      found.n = found.facing > 0.01 && size > 0 ? (-side / size) * on.gap : -normal;
      for (int c = 0; c < 3; ++c) found.share[c] = on.weight[c];
    }
    return found;
  }
  /// Of an outside that a feeler can be about.
  TRIBO_HD bool minds(const NearFeelers::One& one, const FoundTriangle& found) const {
    const auto kind = static_cast<Feeler>(feelers.kind[one.sample]);
    if (kind == Feeler::ball || kind == Feeler::ring) return true;
    const Vec3d n = feelers.body[one.body].rotation * vector_at(feelers.n, one.sample);
    return -dot(n, found.n) < facing_away;
  }
};
/// The first of all triangles of a solid that are near a feeler looks for the one that is next to it. Of those that meet
/// where it is, the one that it is most in front of, or behind of, knows on which side it is.
template <class Real>
struct FindTriangle {
  FeelTriangle<Real> feel;
  const NearPair* near;
  const std::uint64_t* key;
  const Index* pair;
  Index entries;
  SolidReach reach;
  Index *found, *mark;
  TRIBO_HD void operator()(Index e) const {
    mark[e] = 0;
    if (e > 0 && key[e] == key[e - 1]) return;
    const NearFeelers::One one = feel.feelers(near[pair[e]].second);
    FoundTriangle best{};
    Index next = -1;
    for (Index k = e; k < entries && key[k] == key[e]; ++k) {
      const Index t = near[pair[k]].first;
      const FoundTriangle here = feel(one, t);
      if (!feel.minds(one, here)) continue;
      const double size = abs(here.gap), least = abs(best.gap), same = 1e-9 * (size + least);
      if (next >= 0 && !(size < least - same || (size <= least + same && here.facing > best.facing))) continue;
      best = here;
      next = t;
    }
    if (next < 0) return;
    const PlacedBody& body = feel.feelers.body[one.body];
    Vec3d at = Vec3d::zero(), v = at;
    for (int c = 0; c < 3; ++c) {
      at += best.share[c] * feel.boundary.place(feel.boundary.triangle[c][next]);
      v += best.share[c] * feel.boundary.velocity(feel.boundary.triangle[c][next]);
    }
    if (!(best.gap < reach.of(sqrt(squared_norm(v - body.velocity_at(at))))) || best.gap < -reach.around(0)) return;
    found[e] = next;
    mark[e] = 1;
  }
};

/// Points are listed by their bodies, and then by what they are.
struct KeyVertex {
  const Index* marked;
  const NearPair* near;
  FieldView<const Index, 3> triangle;
  std::uint64_t items;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index i) const {
    const Index slot = marked[i];
    const NearPair& pair = near[slot / 3];
    key[i] = static_cast<std::uint64_t>(pair.second) * items +
             static_cast<std::uint64_t>(triangle[slot % 3][pair.first]);
    order[i] = slot;
  }
};
struct KeyInner {
  const Index* marked;
  const NearPair* near;
  const Index *slot_start, *inner_first;
  Index pairs;
  std::uint64_t items;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index i) const {
    const Index slot = marked[i], k = run_of(slot_start, pairs, slot);
    key[i] = static_cast<std::uint64_t>(near[k].second) * items +
             static_cast<std::uint64_t>(inner_first[near[k].first] + slot - slot_start[k]);
    order[i] = slot;
  }
};
struct KeyFound {
  const Index* marked;
  const NearPair* near;
  const Index* pair;
  const std::uint64_t* feeler_key;
  std::uint64_t solids;
  NearFeelers feelers;
  std::uint64_t items, samples;
  Index first, inner_slots;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index i) const {
    const Index e = marked[i];
    const NearFeelers::One one = feelers(near[pair[e]].second);
    key[first + i] = static_cast<std::uint64_t>(one.body) * items + samples +
                     static_cast<std::uint64_t>(one.number) * solids + feeler_key[e] % solids;
    order[first + i] = inner_slots + e;
  }
};

/// The points themselves.
template <class Real>
struct MakePoints {
  Boundary<Real> boundary;
  RigidView bodies;
  const Index* solid;
  const double* friction;  ///< null: none
  Index solids;
  SolidReach reach;
  SolidPlace* place;
  RigidPoint* point;

  TRIBO_HD void put(Index i, const SolidPlace& at, Index b, Index t, const Vec3d& n, double gap) const {
    place[i] = at;
    RigidPoint& p = point[i];
    p.body = b;
    p.at = boundary.place(at);
    p.n = n;
    p.v = Vec3d::zero();
    p.inverse_mass = 0;
    p.allowed = reach.allowed(gap);
    p.friction = friction != nullptr ? friction[bodies.body[b].group * solids + solid[t]] : 0.0;
  }
  TRIBO_HD void put(Index i, const SolidPlace& at, Index b, Index t) const {
    const RigidSurface surface = bodies.shapes.nearest(bodies.body[b], boundary.place(at));
    put(i, at, b, t, surface.normal, surface.distance);
  }
};
template <class Real>
struct MakeVertexPoint {
  MakePoints<Real> make;
  const NearPair* near;
  const Index* order;
  TRIBO_HD void operator()(Index i) const {
    const NearPair& pair = near[order[i] / 3];
    make.put(i, make.boundary.at_vertex(make.boundary.triangle[order[i] % 3][pair.first]), pair.second, pair.first);
  }
};
template <class Real>
struct MakeOtherPoint {
  MakePoints<Real> make;
  const NearPair* near;
  const Index *slot_start, *inner_first;
  Index pairs, inner_slots;
  FeelTriangle<Real> feel;
  const NearPair* feeler_near;
  const Index *feeler_pair, *found;
  const Index* order;
  TRIBO_HD void operator()(Index i) const {
    if (order[i] < inner_slots) {
      const Index k = run_of(slot_start, pairs, order[i]);
      const NearPair& pair = near[k];
      make.put(i, make.boundary.at_sample(inner_first[pair.first] + order[i] - slot_start[k]), pair.second, pair.first);
      return;
    }
    const Index e = order[i] - inner_slots, t = found[e];
    const NearFeelers::One one = feel.feelers(feeler_near[feeler_pair[e]].second);
    const FoundTriangle there = feel(one, t);
    SolidPlace at;
    for (int c = 0; c < 3; ++c) {
      at.vertex[c] = make.boundary.triangle[c][t];
      at.share[c] = there.share[c];
    }
    make.put(i, at, one.body, t, there.n, there.gap);
  }
};

struct KeyCorner {
  const SolidPlace* place;
  int corners;
  std::uint64_t* key;
  Index* corner;
  TRIBO_HD void operator()(Index e) const {
    key[e] = static_cast<std::uint64_t>(place[e / corners].vertex[e % corners]);
    corner[e] = e;
  }
};
/// The first of the corners at a vertex adds up what all of them have.
struct SumLoad {
  const std::uint64_t* key;
  const Index* corner;
  const SolidPlace* place;
  int corners;
  Index entries;
  double* load;
  TRIBO_HD void operator()(Index e) const {
    if (e > 0 && key[e] == key[e - 1]) return;
    double sum = 0;
    for (Index k = e; k < entries && key[k] == key[e]; ++k)
      sum += place[corner[k] / corners].share[corner[k] % corners];
    load[key[e]] = sum;
  }
};
template <class Real>
struct WeighPoint {
  const SolidPlace* place;
  const double* load;
  const Real* inverse_mass;
  const PlacedBody* body;
  RigidPoint* point;
  TRIBO_HD void operator()(Index i) const {
    RigidPoint& p = point[i];
    double yields = 0;
    for (int c = 0; c < 3; ++c)
      if (place[i].share[c] > 0)
        yields += place[i].share[c] * load[place[i].vertex[c]] * static_cast<double>(inverse_mass[place[i].vertex[c]]);
    const PlacedBody& one = body[p.body];
    p.inverse_mass = max(yields, driven_yields * dot(p.n, one.yields(p.at - one.x, p.n)));
  }
};

template <class Real>
struct AskPoint {
  Boundary<Real> boundary;
  const SolidPlace* place;
  const Vec3d* impulse;
  RigidPoint* point;
  Vec3d* before;
  TRIBO_HD void operator()(Index i) const {
    RigidPoint& p = point[i];
    before[i] = impulse[i];
    p.v = boundary.velocity(place[i]) - p.inverse_mass * impulse[i];
  }
};
template <class Real>
struct PushVertex {
  const std::uint64_t* key;
  const Index* corner;
  const SolidPlace* place;
  int corners;
  Index entries;
  const Vec3d *impulse, *before;
  const Real* inverse_mass;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index e) const {
    if (e > 0 && key[e] == key[e - 1]) return;
    Vec3d sum = Vec3d::zero();
    for (Index k = e; k < entries && key[k] == key[e]; ++k) {
      const Index i = corner[k] / corners;
      sum += place[i].share[corner[k] % corners] * (impulse[i] - before[i]);
    }
    const auto vertex = static_cast<Index>(key[e]);
    const auto yields = static_cast<double>(inverse_mass[vertex]);
    for (int k = 0; k < 3; ++k) v[k][vertex] = static_cast<Real>(static_cast<double>(v[k][vertex]) + yields * sum[k]);
  }
};

struct KeepVelocity {
  const PlacedBody* body;
  Vec3d* velocity;
  TRIBO_HD void operator()(Index i) const {
    velocity[2 * i] = body[i].v;
    velocity[2 * i + 1] = body[i].w;
  }
};
struct ChangeBySolids {
  const PlacedBody* body;
  const double* radius;
  const Vec3d* velocity;
  TRIBO_HD double operator()(Index i) const {
    return sqrt(squared_norm(body[i].v - velocity[2 * i])) +
           sqrt(squared_norm(body[i].w - velocity[2 * i + 1])) * radius[body[i].form];
  }
};

/// Room for as many points, and after they are made, who shares which vertices.
void resize(SolidPoints& p, Index count) {
  p.points.count = count;
  p.points.point.resize_discard(count);
  p.place.resize_discard(count);
  p.before.resize_discard(count);
}
template <class Real>
void weigh(Exec& ex, const SolidMesh<Real>& solids, RigidWork& work, SolidMeeting& m, SolidPoints& p) {
  list_points(ex, work, p.points);
  const Index count = p.points.count, entries = p.corners * count;
  if (count == 0) return;
  p.corner_key.resize_discard(entries);
  p.corner.resize_discard(entries);
  parallel_for(ex, solids_label, entries, KeyCorner{p.place.data(), p.corners, p.corner_key.data(), p.corner.data()});
  m.sorter.sort(ex, solids_label, p.corner_key, p.corner, entries, key_bits(static_cast<std::uint64_t>(solids.vertices)));
  m.load.resize_discard(solids.vertices);
  parallel_for(ex, solids_label, entries,
               SumLoad{p.corner_key.data(), p.corner.data(), p.place.data(), p.corners, entries, m.load.data()});
  parallel_for(ex, solids_label, count,
               WeighPoint<Real>{p.place.data(), m.load.data(), solids.inverse_mass.data(), work.body.data(),
                                p.points.point.data()});
}

template <class Real>
void push(Exec& ex, const SolidMesh<Real>& solids, RigidWork& work, SolidPoints& p, SolidState<Real>& state) {
  const Index count = p.points.count;
  if (count == 0) return;
  parallel_for(ex, solids_label, count,
               AskPoint<Real>{boundary_of(solids, state), p.place.data(), p.points.impulse.data(),
                              p.points.point.data(), p.before.data()});
  solve_points(ex, work, p.points);
  const Index entries = p.corners * count;
  parallel_for(ex, solids_label, entries,
               PushVertex<Real>{p.corner_key.data(), p.corner.data(), p.place.data(), p.corners, entries,
                                p.points.impulse.data(), p.before.data(), solids.inverse_mass.data(), view(state.v)});
}

}  // namespace

void load_meeting(Exec& ex, const SolidSeed& solids, std::vector<std::pair<Index, Index>> apart, double dx,
                  SolidMeeting& meeting) {
  const std::size_t triangles = solids.triangles.size();
  meeting.dx = dx;
  meeting.rest = solids.contact.rest_offset * dx;
  meeting.others.corners = 3;
  std::vector<Index> solid(triangles), home(triangles), first(triangles), count(triangles);
  std::vector<bool> listed(solids.x.size());
  for (std::size_t b = 0; b < solids.bodies.size(); ++b)
    for (Index t = solids.bodies[b].triangles.begin; t < solids.bodies[b].triangles.end; ++t)
      solid[static_cast<std::size_t>(t)] = static_cast<Index>(b);
  for (std::size_t t = 0; t < triangles; ++t)
    for (int c = 0; c < 3; ++c) {
      const auto vertex = static_cast<std::size_t>(solids.triangles[t][c]);
      if (!listed[vertex]) home[t] |= 1 << c;
      listed[vertex] = true;
    }
  for (std::size_t q = 0; q < solids.samples.size(); ++q) {  // those within a triangle come before its corners
    const ContactSample& sample = solids.samples[q];
    const auto t = static_cast<std::size_t>(sample.triangle);
    if (std::max({sample.weight[0], sample.weight[1], sample.weight[2]}) > 1 - 1e-9) continue;
    if (count[t]++ == 0) first[t] = static_cast<Index>(q);
  }
  std::sort(apart.begin(), apart.end());
  std::vector<Index> flat;
  for (const auto& [s, b] : apart) {
    flat.push_back(s);
    flat.push_back(b);
  }
  const auto send = [&](const std::vector<Index>& from, Array<Index>& to) {
    copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
  };
  send(solid, meeting.solid);
  send(home, meeting.home);
  send(first, meeting.inner_first);
  send(count, meeting.inner_count);
  send(flat, meeting.apart);
  meeting.apart_count = static_cast<Index>(apart.size());
}

template <class Real>
void find_solid_points(Exec& ex, const RigidMesh& mesh, const SolidMesh<Real>& solids, const SolidState<Real>& state,
                       double gravity, double dt, RigidWork& work, SolidMeeting& m) {
  resize(m.vertices, 0);
  resize(m.others, 0);
  const SolidReach reach{dt, gravity, m.rest, m.dx};
  const Boundary<Real> boundary = boundary_of(solids, state);
  const RigidView bodies{mesh.count, work.body.data(), mesh.shapes.view()};
  const Apart apart{m.apart.data(), m.apart_count};
  BoxSearch<double>& search = m.search;
  search.box.resize_discard(solids.triangles + mesh.count);
  parallel_for(ex, solids_label, solids.triangles, PutTriangleBox<Real>{boundary, nullptr, dt, view(search.box)});
  parallel_for(ex, solids_label, mesh.count,
               PutNearBox{work.body.data(), view(mesh.low), view(mesh.high), mesh.radius.data(), mesh.groups,
                          solids.triangles, reach, view(search.box)});
  list_near_between(ex, solids_label, "triangles and rigid bodies", solids.triangles, mesh.count,
                    MayMeet<Real>{boundary, bodies, m.solid.data(), apart, mesh.radius.data(), reach}, search);
  const Index pairs = search.near_count;
  if (pairs == 0) return;
  const NearPair* const near = search.near.data();
  const Feel<Real> feel{boundary, bodies, mesh.thickness.data(), reach};

  // vertices
  m.mark.resize_discard(3 * pairs);
  parallel_for(ex, solids_label, pairs, MarkVertices<Real>{feel, near, m.home.data(), m.mark.data()}, solids_grain);
  resize(m.vertices, list_marked(ex, solids_label, m.mark, 3 * pairs, m.slots));
  const auto sort = [&](Index count, std::uint64_t items) {
    m.sorter.sort(ex, solids_label, m.key, m.order, count, key_bits(static_cast<std::uint64_t>(mesh.count) * items));
  };
  const MakePoints<Real> make{boundary,
                              bodies,
                              m.solid.data(),
                              mesh.solids > 0 ? mesh.solid_friction.data() : nullptr,
                              mesh.solids,
                              reach,
                              nullptr,
                              nullptr};
  const auto into = [&](SolidPoints& p) {
    MakePoints<Real> own = make;
    own.place = p.place.data();
    own.point = p.points.point.data();
    return own;
  };
  {
    const Index count = m.vertices.points.count;
    const auto items = static_cast<std::uint64_t>(solids.vertices);
    m.key.resize_discard(count);
    m.order.resize_discard(count);
    parallel_for(ex, solids_label, count,
                 KeyVertex{m.slots.data(), near, view(solids.triangle), items, m.key.data(), m.order.data()});
    sort(count, items);
    parallel_for(ex, solids_label, count, MakeVertexPoint<Real>{into(m.vertices), near, m.order.data()}, solids_grain);
  }

  // what is sharp in bodies
  m.triangle_near.resize_discard(solids.triangles);
  m.body_near.resize_discard(mesh.count);
  parallel_for(ex, solids_label, solids.triangles, ClearNumbers{m.triangle_near.data()});
  parallel_for(ex, solids_label, mesh.count, ClearNumbers{m.body_near.data()});
  parallel_for(ex, solids_label, pairs, MarkNear{near, m.triangle_near.data(), m.body_near.data()});
  const Index near_bodies = list_marked(ex, solids_label, m.body_near, mesh.count, m.near_bodies);
  m.feeler_start.resize_discard(near_bodies);
  parallel_for(ex, solids_label, near_bodies,
               CountFeelers{work.body.data(), m.near_bodies.data(), mesh.sample_begin.data(), mesh.sample_end.data(),
                            m.feeler_start.data()});
  const Index feeling = exclusive_scan(ex, solids_label, m.feeler_start, m.feeler_start, near_bodies);
  const NearFeelers feelers{work.body.data(),
                        m.near_bodies.data(),
                        m.feeler_start.data(),
                        near_bodies,
                        mesh.sample_begin.data(),
                        mesh.sample_end.data(),
                        view(mesh.sample_x),
                        view(mesh.sample_n),
                        mesh.sample_radius.data(),
                        mesh.sample_ring.data(),
                        mesh.sample_feeler.data()};
  const FeelTriangle<Real> feel_triangle{boundary, feelers};
  const auto all_solids = static_cast<std::uint64_t>(solids.bodies);
  BoxSearch<double>& other = m.feeler_search;
  other.near_count = 0;
  if (feeling > 0) {
    other.box.resize_discard(solids.triangles + feeling);
    parallel_for(ex, solids_label, solids.triangles,
                 PutTriangleBox<Real>{boundary, m.triangle_near.data(), dt, view(other.box)});
    parallel_for(ex, solids_label, feeling,
                 PutFeelerBox{feelers, mesh.radius.data(), reach, solids.triangles, view(other.box)});
    list_near_between(ex, solids_label, "triangles and edges of rigid bodies", solids.triangles, feeling,
                      MayFeel<Real>{boundary, feelers, m.solid.data(), apart}, other);
  }
  const Index entries = other.near_count;
  m.feeler_key.resize_discard(entries);
  m.feeler_pair.resize_discard(entries);
  m.feeler_found.resize_discard(entries);
  parallel_for(ex, solids_label, entries,
               KeyFeeler{other.near.data(), m.solid.data(), all_solids, m.feeler_key.data(), m.feeler_pair.data()});
  m.sorter.sort(ex, solids_label, m.feeler_key, m.feeler_pair, entries,
                key_bits(static_cast<std::uint64_t>(feeling) * all_solids));
  m.mark.resize_discard(entries);
  parallel_for(ex, solids_label, entries,
               FindTriangle<Real>{feel_triangle, other.near.data(), m.feeler_key.data(), m.feeler_pair.data(), entries,
                                  reach, m.feeler_found.data(), m.mark.data()},
               solids_grain);
  Array<Index>& found = m.body_near;  // whose marks are lost
  const Index sharp = list_marked(ex, solids_label, m.mark, entries, found);

  // samples within triangles
  Array<Index>& slot_start = m.triangle_near;
  slot_start.resize_discard(pairs + 1);
  parallel_for(ex, solids_label, pairs + 1,
               CountInner<Real>{boundary, bodies, near, m.inner_count.data(), pairs, slot_start.data()}, solids_grain);
  const Index inner_slots = exclusive_scan(ex, solids_label, slot_start, slot_start, pairs + 1);
  m.mark.resize_discard(inner_slots);
  parallel_for(ex, solids_label, pairs,
               MarkInner<Real>{feel, near, slot_start.data(), m.inner_first.data(), m.mark.data()}, solids_grain);
  const Index inner = list_marked(ex, solids_label, m.mark, inner_slots, m.slots);

  resize(m.others, inner + sharp);
  const auto samples = static_cast<std::uint64_t>(solids.samples);
  const std::uint64_t items = samples + static_cast<std::uint64_t>(mesh.sample_x.c[0].size()) * all_solids;
  m.key.resize_discard(inner + sharp);
  m.order.resize_discard(inner + sharp);
  parallel_for(ex, solids_label, inner,
               KeyInner{m.slots.data(), near, slot_start.data(), m.inner_first.data(), pairs, items, m.key.data(),
                        m.order.data()});
  parallel_for(ex, solids_label, sharp,
               KeyFound{found.data(), other.near.data(), m.feeler_pair.data(), m.feeler_key.data(), all_solids,
                        feelers, items, samples, inner, inner_slots, m.key.data(), m.order.data()});
  sort(inner + sharp, items);
  parallel_for(ex, solids_label, inner + sharp,
               MakeOtherPoint<Real>{into(m.others), near, slot_start.data(), m.inner_first.data(), pairs, inner_slots,
                                    feel_triangle, other.near.data(), m.feeler_pair.data(), m.feeler_found.data(),
                                    m.order.data()},
               solids_grain);
  weigh(ex, solids, work, m, m.vertices);
  weigh(ex, solids, work, m, m.others);
}

template <class Real>
double push_solids(Exec& ex, const RigidMesh& mesh, const SolidMesh<Real>& solids, RigidWork& work, SolidMeeting& m,
                   SolidState<Real>& state) {
  m.velocity.resize_discard(2 * mesh.count);
  parallel_for(ex, solids_label, mesh.count, KeepVelocity{work.body.data(), m.velocity.data()});
  push(ex, solids, work, m.vertices, state);
  push(ex, solids, work, m.others, state);
  return reduce(ex, solids_label, mesh.count, 0.0, ChangeBySolids{work.body.data(), mesh.radius.data(), m.velocity.data()},
                Larger<double>{});
}

#define TRIBO_INSTANTIATE(Real)                                                                               \
  template void find_solid_points(Exec&, const RigidMesh&, const SolidMesh<Real>&, const SolidState<Real>&,   \
                                  double, double, RigidWork&, SolidMeeting&);                                 \
  template double push_solids(Exec&, const RigidMesh&, const SolidMesh<Real>&, RigidWork&, SolidMeeting&,     \
                              SolidState<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
