#include "tribo/matter/rigid/contact/rows.h"

#include <utility>

#include "tribo/exec/key_bits.h"
#include "tribo/exec/list_marked.h"
#include "tribo/exec/packs.h"
#include "tribo/math/lane_bits.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* rows_label = "rigid contact";
constexpr Index rows_grain = 32;  ///< of loops whose items are some hundred operations

/// Surfaces of open colliders that one feeler may touch: the walls of a corner.
constexpr Index walls_each = 3;
/// Rows of one direction: the ends of what touches, in as many directions across it, and the deepest.
constexpr int ends = 8;
/// Directions in which two bodies touch at most; more are left to the next steps.
constexpr int facets = 3;
/// Surfaces whose normals differ by less count as one.
constexpr double same_way = 0.95;

struct RowFeelers {
  FieldView<const double, 3> x, n;
  const double *radius, *ring, *facing, *extent, *ball_extent;
  const Index* kind;
};
RowFeelers row_feelers_of(const RigidMesh& mesh) {
  return {view(mesh.sample_x),       view(mesh.sample_n),       mesh.sample_radius.data(), mesh.sample_ring.data(),
          mesh.sample_facing.data(), mesh.sample_extent.data(), mesh.sample_ball.data(),   mesh.sample_feeler.data()};
}

/// How far a surface may come in a step, beside what is certain: what others may add to its velocity.
struct RowReach {
  double dt, gravity, rest;
  TRIBO_HD double of(double speed) const { return rest + 2 * dt * speed + 4 * dt * dt * gravity; }
};

struct PutRowBox {
  const PlacedBody* body;
  FieldView<const double, 3> low, high;
  const double* radius;
  RowReach reach;
  BoxView<double> box;
  TRIBO_HD void operator()(Index i) const {
    const PlacedBody& one = body[i];
    const double more = reach.of(fastest_of(one, radius[one.form]));
    box.put(i, box_around(one, low, high, more));
  }
};

/// Two that may touch: one of them moves by itself, and no joint keeps them apart.
struct MayTouch {
  const double* inverse_mass;
  const Index* apart;
  Index apart_count;
  TRIBO_HD bool operator()(Index a, Index b) const {
    if (!(inverse_mass[a] > 0) && !(inverse_mass[b] > 0)) return false;
    Index low = 0, high = apart_count;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      const Index first = apart[2 * middle], second = apart[2 * middle + 1];
      if (first < a || (first == a && second < b))
        low = middle + 1;
      else
        high = middle;
    }
    return low == apart_count || apart[2 * low] != a || apart[2 * low + 1] != b;
  }
};

struct IsBesideCollider {
  const PlacedBody* body;
  const double* radius;
  Colliders<double, 3>::View open;
  RowReach reach;
  Index* beside;
  TRIBO_HD void operator()(Index i) const {
    const PlacedBody& one = body[i];
    const double r = radius[one.form];
    beside[i] = one.inverse_mass > 0 && open.meets(one.x, r + reach.of(fastest_of(one, r))) ? 1 : 0;
  }
};

struct KeyPair {
  const NearPair* near;
  const Index* lonely;
  Index near_count;
  std::uint64_t count;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index k) const {
    key[k] = k < near_count ? static_cast<std::uint64_t>(near[k].first) * (count + 1) +
                                  static_cast<std::uint64_t>(near[k].second) + 1
                            : static_cast<std::uint64_t>(lonely[k - near_count]) * (count + 1);
    order[k] = k;
  }
};
struct MakePair {
  const std::uint64_t* key;
  std::uint64_t count;
  RigidPair* pair;
  TRIBO_HD void operator()(Index k) const {
    const Index a = static_cast<Index>(key[k] / (count + 1)), b = static_cast<Index>(key[k] % (count + 1)) - 1;
    pair[k] = {a, b, 0, 0};
  }
};

/// The feelers of one body of a pair.
struct PairSide {
  const PlacedBody *own, *other;  ///< other null: colliders
  bool second;                    ///< of b
  Index first, count;             ///< samples
  Index number;                   ///< of the first, in the pair
};
/// Places that members of a team have in a list, one after the other.
struct TeamPlaces {
  Index part[Team::size];

  /// Of the own items, where there are `before`; all of the team ask. Adds their number to that.
  TRIBO_HD Index place(const Team& team, Index own, Index& before) {
    if constexpr (Team::size == 1) {
      before += own;
      return before - own;
    } else {
      team.barrier();
      part[team.rank()] = own;
      team.barrier();
      Index at = before;
      for (int k = 0; k < Team::size; ++k) {
        if (k < team.rank()) at += part[k];
        before += part[k];
      }
      return at;
    }
  }
};

/// Feelers of a pair that are near, by bounds alone.
struct NearFeelers {
  const RigidPair* pair;
  const PlacedBody* body;
  const Index *sample_begin, *sample_end;
  RowFeelers feelers;
  FieldView<const double, 3> low, high;
  const Index* round;
  const double* radius;
  Colliders<double, 3>::View open;
  RowReach reach;

  /// visit(side, sample, its number in the pair, place of its touches) for what a member of a team has to do, each with
  /// `each` places. Returns how many there are.
  template <class Visit>
  TRIBO_HD Index each(const Team& team, Index p, TeamPlaces& places, const Visit& visit) const {
    const RigidPair& two = pair[p];
    const PlacedBody *const a = body + two.a, *const b = two.b >= 0 ? body + two.b : nullptr;
    const Index of_a = sample_end[a->form] - sample_begin[a->form];
    double fastest = fastest_of(*a, radius[a->form]);
    if (b != nullptr) fastest += fastest_of(*b, radius[b->form]);
    const double way = reach.of(fastest);
    Index found = 0;
    each_of({a, b, false, sample_begin[a->form], of_a, 0}, way, team, places, visit, found);
    if (b == nullptr) return found;
    const Index of_b = sample_end[b->form] - sample_begin[b->form];
    each_of({b, a, true, sample_begin[b->form], of_b, of_a}, way, team, places, visit, found);
    return found;
  }

 private:
  using T = ParticlePack<double>;

  template <class Visit>
  TRIBO_HD void each_of(const PairSide& side, double way, const Team& team, TeamPlaces& places, const Visit& visit,
                        Index& found) const {
    constexpr Index W = pack_width<double>;
    const Index touches = side.other == nullptr ? walls_each : 1;
    Mat<double, 3> turn = side.own->rotation;
    Vec3d at = side.own->x;
    if (side.other != nullptr) {
      turn = transpose(side.other->rotation) * turn;
      at = transpose(side.other->rotation) * (at - side.other->x);
    }
    for (Index k = 0; k < side.count; k += W * Team::size) {
      const Index begin = k + W * team.rank(), many = min(W, side.count - begin);
      unsigned near = 0;
      if (many > 0)
        near = side.other == nullptr ? near_colliders(side, begin, many, way)
                                     : near_body(side, begin, many, way, turn, at);
      Index place = places.place(team, touches * count_bits(near), found);
      for (Index l = 0; near != 0; ++l, near >>= 1) {
        if ((near & 1) == 0) continue;
        visit(side, side.first + begin + l, side.number + begin + l, place);
        place += touches;
      }
    }
  }
  TRIBO_HD static Index count_bits(unsigned bits) {
    Index count = 0;
    for (; bits != 0; bits &= bits - 1) ++count;
    return count;
  }
  TRIBO_HD unsigned near_body(const PairSide& side, Index begin, Index many, double way, const Mat<double, 3>& turn,
                              const Vec3d& at) const {
    const Index form = side.other->form, first = side.first + begin;
    T x[3];
    for (int k = 0; k < 3; ++k) x[k] = load_pack<double>(feelers.x[k] + first, many);
    const double* const extent = round[form] != 0 ? feelers.ball_extent : feelers.extent;
    const T more = load_pack<double>(extent + first, many) + T(way);
    T outside(-1e300);
    for (int k = 0; k < 3; ++k) {
      const T local = fma(T(turn(k, 0)), x[0], fma(T(turn(k, 1)), x[1], fma(T(turn(k, 2)), x[2], T(at[k]))));
      outside = max(outside, max(T(low[k][form]) - local, local - T(high[k][form])));
    }
    return lane_bits(outside <= more) & ((1u << many) - 1);
  }
  TRIBO_HD unsigned near_colliders(const PairSide& side, Index begin, Index many, double way) const {
    unsigned near = 0;
    for (Index l = 0; l < many; ++l) {
      const Index sample = side.first + begin + l;
      const double extent = feelers.extent[sample];
      if (!(extent >= 0)) continue;
      const Vec3d at = side.own->x + side.own->rotation * vector_at(feelers.x, sample);
      if (open.meets(at, extent + way)) near |= 1u << l;
    }
    return near;
  }
};

struct CountTouchSlots {
  NearFeelers near;
  Index pairs;
  Index* slots;
  using Scratch = TeamPlaces;
  TRIBO_HD void operator()(const Team& team, Index p, Scratch& scratch) const {
    const Index count = near.each(team, p, scratch, [](const PairSide&, Index, Index, Index) {});
    if (team.rank() != 0) return;
    slots[p] = count;
    if (p + 1 == pairs) slots[pairs] = 0;
  }
};

/// The place of a feeler that is deepest, for a surface with the outward normal n: on a ball, or a ring's circle. False
/// where that is no single place.
struct DeepestOf {
  Vec3d center, axis;
  double radius, ring;
  bool is_ring;
  TRIBO_HD bool operator()(const Vec3d& n, Vec3d& at) const {
    at = center;
    if (!is_ring) return true;
    const Vec3d across = n - dot(n, axis) * axis;
    const double size = sqrt(squared_norm(across));
    if (!(size > 0.02)) return false;  // as good as flat on it: see Feeler::rim
    at = center - (ring / size) * across;
    return true;
  }
};
/// What held contacts in the last step.
struct KeptForces {
  FieldView<const Index, 4> kept;
  Index count;

  /// The first of two.
  TRIBO_HD Index first_of(Index a, Index b) const {
    Index low = 0, high = count;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (kept[0][middle] < a || (kept[0][middle] == a && kept[1][middle] < b))
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  TRIBO_HD bool is_of(Index k, Index a, Index b) const { return k < count && kept[0][k] == a && kept[1][k] == b; }
  /// Of two, the first of whom is given, by a feeler, with a collider or none: its place in the list, or -1. Walls of a
  /// corner come and go: that of the same collider counts.
  TRIBO_HD Index find(Index first, Index a, Index b, Index number, Index collider) const {
    for (Index k = first; is_of(k, a, b); ++k)
      if (kept[2][k] / walls_each == number && kept[3][k] == collider) return k;
    return -1;
  }
};

/// Which surfaces a point of a round face's edge feels for: those that the face lies on to a degree.
constexpr double lies_on = 0.9998;

struct FindTouches {
  NearFeelers near;
  RigidView bodies;
  const double* thickness;
  const Index* open_number;
  KeptForces kept;
  const Index* start;
  RigidTouch* touch;
  Index *touch_feature, *kept_first;

  using Scratch = TeamPlaces;
  TRIBO_HD void operator()(const Team& team, Index p, Scratch& scratch) const {
    const RigidPair& two = near.pair[p];
    const Index begin = start[p];
    if (start[p + 1] == begin) return;
    const RowFeelers& feelers = near.feelers;
    const Index held = kept.first_of(two.a, two.b);
    if (team.rank() == 0) kept_first[p] = held;
    const Index slots = start[p + 1] - begin;
    // A compiler may round bounds otherwise than where they were counted.
    const Index found = near.each(team, p, scratch, [&](const PairSide& one, Index sample, Index number, Index place) {
      const PlacedBody& own = *one.own;
      const auto kind = static_cast<Feeler>(feelers.kind[sample]);
      const Vec3d n_own = own.rotation * vector_at(feelers.n, sample);
      const DeepestOf deepest{own.x + own.rotation * vector_at(feelers.x, sample), n_own, feelers.radius[sample],
                              feelers.ring[sample], kind == Feeler::ring};
      const Side side{kind, n_own, feelers.facing[sample]};
      const Index touches = one.other == nullptr ? walls_each : 1;
      if (place + touches > slots) return;
      RigidTouch* const to = touch + begin + place;
      for (Index k = 0; k < touches; ++k) {
        to[k].collider = -2;
        touch_feature[begin + place + k] = number * walls_each + k;
      }
      if (one.other == nullptr)
        feel_open(own, deepest, side, to);
      else
        feel_body(own, *one.other, one.second, deepest, side, *to);
      for (Index k = 0; k < touches; ++k)
        if (to[k].collider != -2) to[k].kept = kept.find(held, two.a, two.b, number, to[k].collider);
    });
    if (team.rank() == 0)
      for (Index k = found; k < slots; ++k) touch[begin + k].collider = -2;
  }

  /// What a feeler is about.
  struct Side {
    Feeler kind;
    Vec3d n;
    double facing;
    TRIBO_HD bool minds(const Vec3d& surface) const {
      if (kind == Feeler::rim) return dot(n, surface) < -lies_on;
      if (kind == Feeler::ring) return abs(dot(n, surface)) < lies_on;
      return kind == Feeler::ball || dot(n, surface) < -facing;
    }
  };

  TRIBO_HD void feel_body(const PlacedBody& own, const PlacedBody& other, bool second, const DeepestOf& deepest,
                          const Side& side, RigidTouch& to) const {
    Vec3d at = deepest.center;
    RigidSurface surface = bodies.shapes.nearest(other, at);
    if (deepest.is_ring)
      for (int k = 0; k < 3; ++k) {  // on a flat face one is enough
        if (!deepest(surface.normal, at)) return;
        surface = bodies.shapes.nearest(other, at);
      }
    if (!side.minds(surface.normal) && !came_through(other, side, at, surface)) return;
    const double gap = surface.distance - deepest.radius;
    const Vec3d skin = at - deepest.radius * surface.normal;
    const double speed = sqrt(squared_norm(own.velocity_at(skin) - other.velocity_at(skin)));
    if (!(gap < near.reach.of(speed)) || gap < -0.75 * thickness[other.form]) return;
    const Vec3d middle = skin - (0.5 * gap) * surface.normal;
    to = {second ? -surface.normal : surface.normal, middle, gap, Vec3d::zero(), -1, 0, 0, -1};
  }

  /// A corner that has come deeper into a body than it is from another side of that finds that side nearest, which it
  /// cannot have come through; boxes of a stack then had nothing that held them. Seen from within its own body, the
  /// side that it came through is nearer.
  TRIBO_HD bool came_through(const PlacedBody& other, const Side& side, const Vec3d& at, RigidSurface& surface) const {
    if (!(surface.distance < 0) || side.kind != Feeler::corner) return false;
    double back = max(-2 * surface.distance, near.reach.rest);
    for (int k = 0; k < 4; ++k, back *= 2) {
      const RigidSurface seen = bodies.shapes.nearest(other, at - back * side.n);
      if (!side.minds(seen.normal)) continue;
      surface = seen;
      surface.distance += back * dot(side.n, seen.normal);
      return true;
    }
    return false;
  }

  TRIBO_HD void feel_open(const PlacedBody& own, const DeepestOf& deepest, const Side& side, RigidTouch* to) const {
    const double ahead = near.reach.of(fastest_of(own, near.radius[own.form]));
    Index found = 0;
    const auto add = [&](const Vec3d& at, const Contact<double, 3>& contact) {
      if (found == walls_each || !side.minds(contact.normal)) return;
      const double gap = contact.distance - deepest.radius;
      const Vec3d skin = at - deepest.radius * contact.normal;
      if (!(gap < near.reach.of(sqrt(squared_norm(own.velocity_at(skin) - contact.velocity))))) return;
      to[found++] = {
          contact.normal,   skin - (0.5 * gap) * contact.normal,  gap, contact.velocity, open_number[contact.collider],
          contact.friction, static_cast<Index>(contact.boundary), -1};
    };
    if (!deepest.is_ring) {
      near.open.each_contact(deepest.center, ahead + deepest.radius,
                             [&](const Contact<double, 3>& contact) { add(deepest.center, contact); });
      return;
    }
    near.open.each_contact(deepest.center, ahead + deepest.radius + deepest.ring, [&](const Contact<double, 3>& far) {
      Vec3d at;
      if (!deepest(far.normal, at)) return;
      near.open.each_contact(at, ahead + deepest.radius, [&](const Contact<double, 3>& contact) {
        if (contact.collider == far.collider && dot(contact.normal, far.normal) > same_way) add(at, contact);
      });
    });
  }
};

/// Of what two bodies touch with, the ends in some directions and the deepest: a flat contact is carried by its
/// corners. Of corners that meet corners both feel, as far out; who has held before goes on, or forces would wander
/// between them and stacks never come to rest.
struct ChooseTouches {
  const RigidPair* pair;
  const Index* touch_start;
  const RigidTouch* touch;
  const PlacedBody* body;
  const double* radius;
  double rest;
  Index *found, *chosen, *count;
  Index pairs;

  TRIBO_HD void operator()(Index p) const {
    count[p] = 0;
    if (p == pairs) return;
    const Index begin = touch_start[p], end = touch_start[p + 1];
    Index* const list = found + begin;  // what has found anything
    Index listed = 0;
    for (Index k = begin; k < end; ++k) {
      chosen[k] = 0;  // -1: not asked again
      if (touch[k].collider != -2) list[listed++] = k;
    }
    const Mat<double, 3>& frame = body[pair[p].a].rotation;
    const double near_enough = 0.05 * radius[body[pair[p].a].form];
    Index rows = 0;
    constexpr Index now = 2;  // chosen among those of one direction
    for (int f = 0; f < facets; ++f) {
      Index deepest = -1;
      double least = 1e300;
      for (Index i = 0; i < listed; ++i) {
        const Index k = list[i];
        if (chosen[k] != 0) continue;
        const double gap = touch[k].gap - (touch[k].kept >= 0 ? 0.5 * rest : 0);
        if (!(gap < least)) continue;
        least = gap;
        deepest = k;
      }
      if (deepest < 0) break;
      const Vec3d n = touch[deepest].n;
      const Index wall = touch[deepest].collider;
      const auto belongs = [&](Index k) {
        return (chosen[k] == 0 || chosen[k] == now) && touch[k].collider == wall && dot(touch[k].n, n) > same_way;
      };
      const auto take = [&](Index k) {
        rows += chosen[k] == now ? 0 : 1;
        chosen[k] = now;
      };
      double least_end = 1e300;
      for (int d = 0; d < ends; ++d) {
        const Vec3d direction = across(frame, n, d);
        double best = -1e300;
        Index at = deepest;
        for (Index i = 0; i < listed; ++i) {
          const Index k = list[i];
          if (!belongs(k)) continue;
          // One that has been taken serves for what is beside it: corners that meet corners, points along an edge.
          const double bonus = chosen[k] == now ? 2 * near_enough : touch[k].kept >= 0 ? near_enough : 0;
          const double far = dot(direction, touch[k].at) + bonus;
          if (far > best) {
            best = far;
            at = k;
          }
        }
        take(at);
        least_end = min(least_end, touch[at].gap);
      }
      // What is flat is nowhere deeper than at its ends, and who of them is deepest is chance.
      if (touch[deepest].gap < least_end - 0.25 * rest) take(deepest);
      for (Index i = 0; i < listed; ++i)
        if (belongs(list[i])) chosen[list[i]] = chosen[list[i]] == now ? 1 : -1;
    }
    count[p] = rows;
  }

  /// In the frame of the body, so that who is chosen turns with it, and along no edge of a box, where many are as far.
  TRIBO_HD static Vec3d across(const Mat<double, 3>& frame, const Vec3d& n, int d) {
    constexpr double cosine[ends] = {0.9397, 0.4067, -0.3746, -0.9205, -0.9397, -0.4067, 0.3746, 0.9205};
    constexpr double sine[ends] = {0.3420, 0.9135, 0.9272, 0.3907, -0.3420, -0.9135, -0.9272, -0.3907};
    int least = 0;
    double size[3];
    for (int k = 0; k < 3; ++k) size[k] = abs(frame(0, k) * n[0] + frame(1, k) * n[1] + frame(2, k) * n[2]);
    for (int k = 1; k < 3; ++k)
      if (size[k] < size[least] - 1e-6) least = k;
    const Vec3d u = {{frame(0, least), frame(1, least), frame(2, least)}};
    const Vec3d t = u - dot(u, n) * n;
    return cosine[d] * t + sine[d] * cross(n, t);
  }
};

struct PlaceRows {
  const Index* start;
  RigidPair* pair;
  TRIBO_HD void operator()(Index p) const {
    pair[p].first = start[p];
    pair[p].count = start[p + 1] - start[p];
  }
};

struct MakeContactRows {
  const RigidPair* pair;
  const Index* touch_start;
  const RigidTouch* touch;
  const Index *touch_feature, *chosen, *kept_first;
  const PlacedBody* body;
  const double* restitution;
  const double *friction, *collider_friction;
  Index groups, colliders;
  KeptForces kept;
  FieldView<const double, 3> kept_force, kept_at;
  RigidContactRules rules;
  double dt;
  RigidRow* row;

  TRIBO_HD void operator()(Index p) const {
    const Index first = pair[p].first;
    Index to = first;
    for (Index k = touch_start[p]; k < touch_start[p + 1]; ++k)
      if (chosen[k] == 1) row[to++] = make(p, touch[k], touch_feature[k]);
    if (touch_start[p + 1] > touch_start[p]) pass_on(pair[p], kept_first[p], first, to);
    for (Index i = first; i < to; ++i) begin(row[i]);
  }
  /// What held a touch that is not chosen any more goes to the nearest one that is: two that have touched at four
  /// corners and now do at eight are still pressed as much. Without it a tenth of the forces in a stack was lost in
  /// each step.
  TRIBO_HD void pass_on(const RigidPair& two, Index held, Index first, Index end) const {
    for (Index k = held; kept.is_of(k, two.a, two.b); ++k) {
      const Vec3d at = vector_at(kept_at, k), force = vector_at(kept_force, k);
      const Vec3d arm = body[two.a].rotation * at;
      Index nearest = -1;
      double least = 1e300;
      bool claimed = false;
      for (Index i = first; i < end; ++i) {
        if (row[i].collider != kept.kept[3][k]) continue;
        if (row[i].feature == kept.kept[2][k]) claimed = true;
        const double distance = squared_norm(row[i].ra - arm);
        if (!(distance < least) || !(dot(force, row[i].n) > 0)) continue;
        least = distance;
        nearest = i;
      }
      if (claimed || nearest < 0) continue;
      row[nearest].tangential += dt * force;
    }
  }
  TRIBO_HD double friction_of(Index a, Index b, const RigidTouch& found) const {
    if (b < 0) return collider_friction != nullptr ? collider_friction[a * colliders + found.collider] : found.friction;
    if (a >= groups) return collider_friction[b * colliders + a - groups];
    return b >= groups ? collider_friction[a * colliders + b - groups] : friction[a * groups + b];
  }
  TRIBO_HD RigidRow make(Index p, const RigidTouch& found, Index feature) const {
    const PlacedBody& a = body[pair[p].a];
    const PlacedBody* const b = pair[p].b < 0 ? nullptr : body + pair[p].b;
    RigidRow r;
    r.a = pair[p].a;
    r.b = pair[p].b;
    r.n = found.n;
    r.ra = found.at - a.x;
    r.rb = b != nullptr ? found.at - b->x : Vec3d::zero();
    r.feature = feature;
    r.collider = found.collider;
    r.carried = found.carried;
    r.friction = friction_of(a.group, b != nullptr ? b->group : -1, found);
    if (found.collider >= 0 && found.boundary == static_cast<Index>(Boundary::slip)) r.friction = 0;
    if (found.collider >= 0 && found.boundary == static_cast<Index>(Boundary::sticky)) r.friction = 1e9;
    const double over = found.gap - rules.rest;
    r.allowed = over > 0 ? over / dt : 0;
    constexpr double share = 0.1;  // of what is too near, in a step
    // Nearly there is near enough: what rests does so for good once nothing is pushed any more.
    const double near = over + 0.05 * rules.rest;
    r.push = near < 0 ? share * min(-near, rules.deepest) / dt : 0;
    yield(a, b, r);
    r.restitution = b != nullptr ? max(restitution[a.form], restitution[b->form]) : restitution[a.form];
    r.falls = 0;
    for (int k = 0; k < 3; ++k) {
      const bool a_falls = a.inverse_mass > 0, b_falls = b != nullptr && b->inverse_mass > 0;
      if (a_falls != b_falls) r.falls += (a_falls ? -r.n[k] : r.n[k]) * rules.gravity[k];
    }
    r.impact = Vec3d::zero();
    r.normal = 0;
    r.tangential = found.kept >= 0 ? dt * vector_at(kept_force, found.kept) : Vec3d::zero();
    r.shift = 0;
    return r;
  }
  /// The largest of the two answers across: with the whole 2 x 2 block friction turned aside (experiments_rigid 2).
  TRIBO_HD static void yield(const PlacedBody& a, const PlacedBody* b, RigidRow& r) {
    const auto gives = [&](const Vec3d& to) {
      Vec3d v = a.yields(r.ra, to);
      if (b != nullptr) v += b->yields(r.rb, to);
      return v;
    };
    r.gives = dot(r.n, gives(r.n));
    int least = abs(r.n[1]) < abs(r.n[0]) ? 1 : 0;
    if (abs(r.n[2]) < abs(r.n[least])) least = 2;
    Vec3d axis = Vec3d::zero();
    axis[least] = 1;
    Vec3d t1 = cross(r.n, axis);
    t1 = (1 / sqrt(squared_norm(t1))) * t1;
    const Vec3d t2 = cross(r.n, t1);
    const Vec3d g1 = gives(t1), g2 = gives(t2);
    const double k11 = dot(t1, g1), k22 = dot(t2, g2), k12 = dot(t1, g2), half = 0.5 * (k11 - k22);
    r.slips = 0.5 * (k11 + k22) + sqrt(half * half + k12 * k12);
  }
  /// Parts the impulse to begin with, so far all in `tangential`.
  TRIBO_HD static void begin(RigidRow& r) {
    const Vec3d impulse = r.tangential;
    const double normal = dot(impulse, r.n);
    r.tangential = Vec3d::zero();
    if (!(normal > 0)) return;
    r.normal = normal;
    r.tangential = impulse - normal * r.n;
    r.tangential = part_in_cone(sqrt(squared_norm(r.tangential)), friction_limit(r.friction, normal)) * r.tangential;
  }
};

struct KeyRow {
  const RigidRow* row;
  Index* number;
  TRIBO_HD void operator()(Index i) const { number[i] = row[i].normal > 0 ? 1 : 0; }
};
struct KeepForce {
  const RigidRow* row;
  const Index* start;
  double per_second;
  const PlacedBody* body;
  FieldView<Index, 4> kept;
  FieldView<double, 3> force, at;
  TRIBO_HD void operator()(Index i) const {
    const RigidRow& r = row[i];
    if (!(r.normal > 0)) return;
    const Index to = start[i];
    kept[0][to] = r.a;
    kept[1][to] = r.b;
    kept[2][to] = r.feature;
    kept[3][to] = r.collider;
    const Vec3d arm = transpose(body[r.a].rotation) * r.ra;
    for (int k = 0; k < 3; ++k) {
      force[k][to] = per_second * (r.normal * r.n[k] + r.tangential[k]);
      at[k][to] = arm[k];
    }
  }
};

}  // namespace

void find_rows(Exec& ex, const RigidMesh& mesh, const RigidContactRules& rules, const Colliders<double, 3>::View& open,
               const Array<Index>& open_number, double dt, const RigidState& state, RigidWork& work, RigidContacts& c) {
  const RowReach reach{dt, sqrt(squared_norm(rules.gravity)), rules.rest};
  const PlacedBody* const body = work.body.data();
  c.pairs = c.rows = 0;
  c.search.box.resize_discard(mesh.count);
  parallel_for(ex, rows_label, mesh.count,
               PutRowBox{body, view(mesh.low), view(mesh.high), mesh.radius.data(), reach, view(c.search.box)});
  list_near(ex, rows_label, "rigid bodies", mesh.count,
            MayTouch{mesh.inverse_mass.data(), c.apart.data(), c.apart_count}, c.search);
  Index lonely = 0;
  if (!open.empty()) {
    c.beside.resize_discard(mesh.count);
    parallel_for(ex, rows_label, mesh.count, IsBesideCollider{body, mesh.radius.data(), open, reach, c.beside.data()});
    lonely = list_marked(ex, rows_label, c.beside, mesh.count, c.lonely);
  }
  c.pairs = c.search.near_count + lonely;
  if (c.pairs == 0) return;
  const auto all = static_cast<std::uint64_t>(mesh.count);
  c.key.resize_discard(c.pairs);
  c.order.resize_discard(c.pairs);
  parallel_for(ex, rows_label, c.pairs,
               KeyPair{c.search.near.data(), c.lonely.data(), c.search.near_count, all, c.key.data(), c.order.data()});
  c.sorter.sort(ex, rows_label, c.key, c.order, c.pairs, key_bits(all * (all + 1) + all));
  c.pair.resize_discard(c.pairs);
  parallel_for(ex, rows_label, c.pairs, MakePair{c.key.data(), all, c.pair.data()});
  const NearFeelers near{c.pair.data(),
                         body,
                         mesh.sample_begin.data(),
                         mesh.sample_end.data(),
                         row_feelers_of(mesh),
                         view(mesh.low),
                         view(mesh.high),
                         mesh.round.data(),
                         mesh.radius.data(),
                         open,
                         reach};
  c.touch_start.resize_discard(c.pairs + 1);
  for_each_team<CountTouchSlots::Scratch>(ex, rows_label, c.pairs,
                                          CountTouchSlots{near, c.pairs, c.touch_start.data()});
  const Index slots = exclusive_scan(ex, rows_label, c.touch_start, c.touch_start, c.pairs + 1);
  c.touch.resize_discard(slots);
  c.touch_feature.resize_discard(slots);
  c.found.resize_discard(slots);
  c.chosen.resize_discard(slots);
  c.kept_first.resize_discard(c.pairs);
  const KeptForces kept{view(state.kept), state.kept_count};
  const RigidView bodies{mesh.count, work.body.data(), mesh.shapes.view()};
  for_each_team<FindTouches::Scratch>(
      ex, rows_label, c.pairs,
      FindTouches{near, bodies, mesh.thickness.data(), open_number.data(), kept, c.touch_start.data(), c.touch.data(),
                  c.touch_feature.data(), c.kept_first.data()});
  c.chosen_start.resize_discard(c.pairs + 1);
  parallel_for(ex, rows_label, c.pairs + 1,
               ChooseTouches{c.pair.data(), c.touch_start.data(), c.touch.data(), body, mesh.radius.data(), rules.rest,
                             c.found.data(), c.chosen.data(), c.chosen_start.data(), c.pairs},
               rows_grain);
  c.rows = exclusive_scan(ex, rows_label, c.chosen_start, c.chosen_start, c.pairs + 1);
  parallel_for(ex, rows_label, c.pairs, PlaceRows{c.chosen_start.data(), c.pair.data()});
  c.row.resize_discard(c.rows);
  parallel_for(
      ex, rows_label, c.pairs,
      MakeContactRows{c.pair.data(), c.touch_start.data(), c.touch.data(), c.touch_feature.data(), c.chosen.data(),
                      c.kept_first.data(), body, mesh.restitution.data(), mesh.friction.data(),
                      mesh.collider_friction.size() > 0 ? mesh.collider_friction.data() : nullptr, mesh.groups,
                      mesh.colliders, kept, view(state.kept_force), view(state.kept_at), rules, dt, c.row.data()},
      rows_grain);
}

void keep_forces(Exec& ex, RigidContacts& c, double dt, const RigidWork& work, RigidState& state) {
  state.kept_count = 0;
  if (c.rows == 0) return;
  Array<Index>& number = c.kept_place;
  number.resize_discard(c.rows);
  parallel_for(ex, rows_label, c.rows, KeyRow{c.row.data(), number.data()});
  state.kept_count = exclusive_scan(ex, rows_label, number, number, c.rows);
  state.kept.resize_discard(state.kept_count);
  state.kept_force.resize_discard(state.kept_count);
  state.kept_at.resize_discard(state.kept_count);
  parallel_for(ex, rows_label, c.rows,
               KeepForce{c.row.data(), number.data(), 1 / dt, work.body.data(), view(state.kept),
                         view(state.kept_force), view(state.kept_at)});
}

}  // namespace tribo::TRIBO_BACKEND
