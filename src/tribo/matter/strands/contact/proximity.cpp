#include "tribo/matter/strands/contact/proximity.h"

#include <cmath>

#include "tribo/exec/joins.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;

/// At the end of a segment the other strand may be nearer to the next segment still, and the normal then leans along
/// the strand: sliding over joints would be a row of bumps. There contact is with the next segment's line, or left to
/// the next segment where that is much nearer. Returns false in that case.
TRIBO_HD bool lean_on_next(const Vec3& next, double side, Vec3& gap) {
  const double l2 = squared_norm(next), along = side * dot(gap, next);
  if (!(along > 0) || !(l2 > 0)) return true;
  const Vec3 across = gap - (side * along / l2) * next;
  if (squared_norm(across) < 0.25 * squared_norm(gap)) return false;
  gap = across;
  return true;
}

template <class Real>
struct MayTouch {
  using Item = StrandPair<Real>;
  VertexPositions<Real> x;
  FieldView<const Real, 3> v;
  PairMotion<Real> motion;
  const Real *length, *radius, *inverse_mass, *friction;
  const Index *vertex_strand, *strand_body;
  Index vertices, bodies;
  double dt, delta;

  TRIBO_HD static Item nothing(Index i, Index j) { return no_pair<Real>(i, j); }
  TRIBO_HD bool operator()(Index i, Index j, Item& pair) const {
    const Real moved = motion.way(i, j);
    if (motion.apart(i, j, max(radius[i], radius[i + 1]) + max(radius[j], radius[j + 1]) + moved)) return false;
    const Vec3 p = x(i), p1 = x(i + 1), q = x(j), q1 = x(j + 1);
    const double way = static_cast<double>(moved);
    const Vec3 d = p1 - p, e = q1 - q;
    const ClosestPoints<double> c = closest_points(p, d, q, e);
    const double a = c.a, b = c.b;
    const double dmin = (1 - a) * radius_of(i) + a * radius_of(i + 1) + (1 - b) * radius_of(j) + b * radius_of(j + 1);
    double distance = sqrt(squared_norm(c.gap));
    if (distance - dmin > way || (delta > 0 && distance > delta)) return false;
    const bool moves = inverse_mass[i] > Real(0) || inverse_mass[i + 1] > Real(0) || inverse_mass[j] > Real(0) ||
                       inverse_mass[j + 1] > Real(0);
    if (!moves) return false;

    Vec3 gap = c.gap;
    // On the same strand the next segment may be too near to be looked at.
    const bool same = vertex_strand[i] == vertex_strand[j] && j - i <= 3;
    if (!same && (!leans(i, a, -1, gap) || !leans(j, b, 1, gap))) return false;
    distance = sqrt(squared_norm(gap));
    Vec3 n = (1 / distance) * gap;
    if (!(distance > 1e-9 * sqrt(max(squared_norm(d), squared_norm(e))))) n = across(i, j, a, b, d, e);
    pair.first = i;
    pair.second = j;
    pair.a = static_cast<Real>(a);
    pair.b = static_cast<Real>(b);
    pair.n = cast<Real>(n);
    pair.target = static_cast<Real>(least_normal_velocity(distance, dmin, dt));
    pair.friction = friction[strand_body[vertex_strand[i]] * bodies + strand_body[vertex_strand[j]]];
    return true;
  }

 private:
  TRIBO_HD double radius_of(Index i) const { return static_cast<double>(radius[i]); }
  TRIBO_HD bool leans(Index i, double a, double side, Vec3& gap) const {
    if (a >= 1 && i + 1 < vertices && length[i + 1] > Real(0)) return lean_on_next(x(i + 2) - x(i + 1), side, gap);
    if (a <= 0 && i > 0 && length[i - 1] > Real(0)) return lean_on_next(x(i - 1) - x(i), side, gap);
    return true;
  }
  /// Normal of centerlines that cross as they are, such that they approach.
  TRIBO_HD Vec3 across(Index i, Index j, double a, double b, const Vec3& d, const Vec3& e) const {
    const Vec3 vr = (1 - a) * vertex_velocity(v, i) + a * vertex_velocity(v, i + 1) - (1 - b) * vertex_velocity(v, j) -
                    b * vertex_velocity(v, j + 1);
    Vec3 n = cross(d, e);
    double l = sqrt(squared_norm(n));
    if (!(l > 1e-9 * sqrt(squared_norm(d) * squared_norm(e)))) {  // on top of each other: any normal of both will do
      const int k = abs(d[0]) < abs(d[1]) ? 0 : 1;
      n = cross(d, {{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, 0.0}});
      l = max(sqrt(squared_norm(n)), 1e-300);
    }
    return ((dot(vr, n) > 0 ? -1 : 1) / l) * n;
  }
};

template <class Real>
struct PairSpeed2 {
  const StrandPair<Real>* pairs;
  FieldView<const Real, 3> v;
  TRIBO_HD double operator()(Index k) const {
    const StrandPair<Real>& p = pairs[k];
    const double a = static_cast<double>(p.a), b = static_cast<double>(p.b);
    return squared_norm((1 - a) * vertex_velocity(v, p.first) + a * vertex_velocity(v, p.first + 1) -
                        (1 - b) * vertex_velocity(v, p.second) - b * vertex_velocity(v, p.second + 1));
  }
};

}  // namespace

template <class Real>
double closing_speed(Exec& ex, const Array<StrandPair<Real>>& pairs, Index count, const Field<Real, 3>& v) {
  return std::sqrt(reduce(ex, "strand contact", count, 0.0, PairSpeed2<Real>{pairs.data(), view(v)}, Larger<double>{}));
}

template <class Real>
Index find_proximity(Exec& ex, const ProximityRules& rules, const RodMesh<Real>& mesh, const RodState<Real>& state,
                     double dt, SegmentPads<Real>& pads, Array<StrandPair<Real>>& pairs) {
  list_near(ex, mesh, state, dt, pads);
  return find_pairs(ex, "strand contact", pads,
                    MayTouch<Real>{{view(state.x), view(state.x_tail)},
                                   view(state.v),
                                   {view(state.x), view(state.v), static_cast<Real>(dt)},
                                   mesh.length.data(),
                                   mesh.radius.data(),
                                   mesh.inverse_mass.data(),
                                   mesh.friction.data(),
                                   mesh.vertex_strand.data(),
                                   mesh.strand_body.data(),
                                   mesh.vertices,
                                   mesh.bodies,
                                   dt,
                                   rules.delta},
                    pairs);
}

#define TRIBO_INSTANTIATE(Real)                                                                                    \
  template Index find_proximity(Exec&, const ProximityRules&, const RodMesh<Real>&, const RodState<Real>&, double, \
                                SegmentPads<Real>&, Array<StrandPair<Real>>&);                                     \
  template double closing_speed(Exec&, const Array<StrandPair<Real>>&, Index, const Field<Real, 3>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
