#include <algorithm>
#include <cmath>
#include <vector>

#include "tribo/stages/rod/band.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real>
RodWeights<Real> weights_of(const RodBody& body, RodScheme scheme, double dt) {
  const bool implicit = scheme != RodScheme::explicit_euler;
  const double damped_stretch = dt * body.stretch_damping, damped_bend = dt * body.bend_damping;
  RodWeights<Real> w{};
  w.stretch_rate = static_cast<Real>((implicit ? dt * dt : 0) + damped_stretch);
  w.bend_rate = static_cast<Real>((scheme == RodScheme::backward_euler ? dt * dt : 0) + damped_bend);
  w.drag_rate = static_cast<Real>(dt * body.drag);
  if (implicit) {
    w.stretch = w.stretch_rate;
    w.bend = static_cast<Real>((scheme == RodScheme::backward_euler ? dt * dt : 0.25 * dt * dt) + damped_bend);
    w.drag = w.drag_rate;
  }
  return w;
}

/// Any two unit vectors that make a frame with t; zero where t is.
template <class T>
TRIBO_HD void any_normals(const Vec<T, 3>& t, Vec<T, 3>& a, Vec<T, 3>& b) {
  using Real = scalar_of<T>;
  const T zero(Real(0)), one(Real(1));
  const auto along_x = abs(t[0]) > T(Real(0.6));
  const Vec<T, 3> axis{{select(along_x, zero, one), select(along_x, one, zero), zero}};
  a = axis - dot(axis, t) * t;
  a = rsqrt(max(squared_norm(a), T(Real(1e-30)))) * a;
  b = cross(t, a);
}

/// Forces and matrix of strands, edge by edge and joint by joint.
///
/// Bending enters the matrix as Gauss-Newton, sum_k B_k grad(kb . m_k) grad(kb . m_k)^T / vl with the mean frame of the
/// joint, stretch with its geometric part only in tension: never indefinite. For twist see `add_twist`.
template <class Real>
struct StrandForces {
  using T = ParticlePack<Real>;

  const RodWeights<Real>* weights;  ///< of bodies
  Vec<Real, 3> gravity;
  Real dt;
  bool implicit;

  /// Of its rest length, for the lever of moments: what is stiffer has more digits than a float.
  static constexpr Real shortest_edge = Real(sizeof(Real) == 4 ? 0.2 : 0.05);

  /// What is known of a vertex on the way.
  struct Node {
    typename StrandPositions<Real>::Point point;
    Vec<T, 3> v;       ///< at the start
    Vec<T, 3> change;  ///< of the velocity, where it is prescribed
    T mass, free;
  };
  TRIBO_HD static RodEdge<T> edge(const Node& a, const Node& b, const T& rest) {
    return RodEdge<T>(edge_between(a.point, b.point), T(shortest_edge) * rest);
  }

  TRIBO_HD BandRow<T> begin_row(const Node& n, const RodWeights<Real>& w) const {
    BandRow<T> row = BandRow<T>::zero();
    row.D = Sym<T, 3>::isotropic(n.mass * T(Real(1) + w.drag));
    for (int k = 0; k < 3; ++k) row.r[k] = n.mass * (T(dt * gravity[k]) - T(w.drag_rate) * n.v[k]);
    return row;
  }

  /// k (g0, g1)(g0, g1)^T over the edges of a joint.
  TRIBO_OUTLINED void add_stiffness(const T& k, const EdgePair<T>& g, const RodWeights<Real>& w, const Node* n,
                              BandRow<T>* row) const {
    const T rate = dot(g.e0, n[1].v - n[0].v) + dot(g.e1, n[2].v - n[1].v);
    const T forced = dot(g.e0, n[1].change - n[0].change) + dot(g.e1, n[2].change - n[1].change);
    const T back = k * (T(w.bend_rate) * rate + T(w.bend) * forced);
    row[0].r += back * g.e0;
    row[1].r += back * (g.e1 - g.e0);
    row[2].r += (-back) * g.e1;
    if (!implicit) return;
    const Vec<T, 3> h0 = (-n[0].free) * g.e0, h1 = n[1].free * (g.e0 - g.e1), h2 = n[2].free * g.e1;
    const T kw = k * T(w.bend);
    const Vec<T, 3> k0 = kw * h0, k1 = kw * h1, k2 = kw * h2;
    add_outer(row[0].D, k0, h0);
    add_outer(row[1].D, k1, h1);
    add_outer(row[2].D, k2, h2);
    add_outer(row[1].L1, k1, h0);
    add_outer(row[2].L1, k2, h1);
    add_outer(row[2].L2, k2, h0);
  }

  /// [S -S; -S S] over an edge between two nodes.
  TRIBO_HD static void add_edge(const Sym<T, 3>& S, const T& free0, const T& free1, BandRow<T>& first,
                                BandRow<T>& second) {
    const T both = free0 * free1;
    for (int c = 0; c < 6; ++c) {
      first.D.s[c] = fma(free0, S.s[c], first.D.s[c]);
      second.D.s[c] = fma(free1, S.s[c], second.D.s[c]);
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) second.L1(i, j) = fma(-both, S(i, j), second.L1(i, j));
  }

  /// `k` is EA / length.
  TRIBO_OUTLINED void add_stretch(const T& k, const T& rest, const RodEdge<T>& edge, const RodWeights<Real>& w, const Node* n,
                            BandRow<T>* row) const {
    const T tension = k * (edge.length - rest);
    const T across = max(tension, T(Real(0))) * edge.inverse;
    const Vec<T, 3> rate = T(w.stretch_rate) * (n[1].v - n[0].v) + T(w.stretch) * (n[1].change - n[0].change);
    const Vec<T, 3> pull = (T(dt) * tension + (k - across) * dot(edge.t, rate)) * edge.t + across * rate;
    row[0].r += pull;
    row[1].r += -pull;
    if (!implicit) return;
    Sym<T, 3> S = Sym<T, 3>::isotropic(T(w.stretch) * across);
    add_outer(S, (T(w.stretch) * (k - across)) * edge.t, edge.t);
    add_edge(S, n[0].free, n[1].free, row[0], row[1]);
  }

  TRIBO_HD static void add_slope(const EdgePair<T>& G, const T& factor_of_it, BandRow<T>* row) {
    row[0].r += factor_of_it * G.e0;
    row[1].r += factor_of_it * (G.e1 - G.e0);
    row[2].r += (-factor_of_it) * G.e1;
  }

  /// Gauss-Newton leaves out how much the curvature 2 tan(phi/2) is itself curved as a function of the turning angle:
  /// E'' of a bending moment q is q tan(phi/2) more than it has, times 1/cos^2(phi/2). The leapfrog needs it: with the
  /// weight of a quarter nothing but masses makes up for what is missing. `energy` is q |kb|.
  TRIBO_HD static T bend_excess(const RodJoint<T>& joint, const T& energy) {
    return T(Real(0.25)) * energy / joint.inverse_chi;
  }

  TRIBO_OUTLINED void add_straight_joint(T k, const RodJoint<T>& joint, const RodWeights<Real>& w, const Node* n,
                                   BandRow<T>* row) const {
    add_slope(joint.slope(joint.kb), T(dt) * k, row);
    if (!implicit && w.bend_rate == Real(0)) return;
    k = k + bend_excess(joint, k * squared_norm(joint.kb));
    Vec<T, 3> a, b;
    any_normals(rsqrt(max(squared_norm(joint.mean), T(Real(1e-30)))) * joint.mean, a, b);
    add_stiffness(k, joint.slope(a), w, n, row);
    add_stiffness(k, joint.slope(b), w, n, row);
  }

  TRIBO_OUTLINED void add_framed_joint(const JointLaw<T>& law, const T& turned, const RodJoint<T>& joint, const Vec<T, 3>& m0,
                                 const Vec<T, 3>& m1, const RodWeights<Real>& w, const Node* n, BandRow<T>* row) const {
    const JointCurvature<T> at(joint, m0, m1);
    const T q = law.twist * (turned - law.rest_twist);
    const Vec<T, 3> moment = law.bend_moment(joint, at, m0, m1);
    const EdgePair<T> bend = joint.slope(moment), turn = joint.twist_slope();
    add_slope({bend.e0 + q * turn.e0, bend.e1 + q * turn.e1}, T(dt), row);
    if (!implicit && w.bend_rate == Real(0)) return;
    // The mean frame; with an angle between those of the edges, part of each stiffness acts along the other director.
    T s, c;
    joint.turn(m0, m1, s, c);
    const T half(Real(0.5)), one(Real(1));
    const T own = half * (one + c), other = half * (one - c);
    const Vec<T, 3> mean = rsqrt(max(squared_norm(joint.mean), T(Real(1e-30)))) * joint.mean;
    Vec<T, 3> a = transport(m0, joint.a.t, mean) + transport(m1, joint.b.t, mean);
    a = a - dot(a, mean) * mean;
    const T size = squared_norm(a);
    Vec<T, 3> x, y;
    any_normals(mean, x, y);  // where the directors are opposite, and both stiffnesses nearly alike then
    a = select<T>(size < T(Real(1e-6)), x, rsqrt(max(size, T(Real(1e-30)))) * a);
    const Vec<T, 3> b = cross(mean, a);
    const T excess = twist_excess(q, half * (joint.a.length + joint.b.length), n[1].mass);
    const T k1 = own * law.bend1 + other * law.bend2, k2 = own * law.bend2 + other * law.bend1;
    add_twist(excess, law, joint, w, n, row);
    const T more = sqrt(excess * half * (law.bend1 + law.bend2)) +  // k sqrt(excess / k)
                   bend_excess(joint, sqrt(squared_norm(moment) * squared_norm(joint.kb)));
    add_stiffness(k1 + more, joint.slope(b), w, n, row);
    add_stiffness(k2 + more, joint.slope(a), w, n, row);
    add_stiffness(law.twist, turn, w, n, row);
  }

  /// A twisting moment q pulls at edges across: q t . (da x db) / l^2, of either sign. Up to a moment that masses alone
  /// keep stable, 4 m l^2 / (2.6 dt^2) by theory E.7, nothing is needed, and half of it is used. What exceeds it is
  /// bounded with s = (da + db)/2 and d = db - da by q s d <= (eps s^2 + d^2/eps) q/2: as much bending stiffness and
  /// as much tension in the matrix keep it stable. eps = sqrt(q/k), k = E I/vl, makes both vanish with q.
  TRIBO_HD T twist_excess(const T& q, const T& length, const T& mass) const {
    if (!implicit) return T(Real(0));
    const T allowed = mass * length * length * T(Real(2 / 2.6) / (dt * dt));
    return max(abs(q) - allowed, T(Real(0)));
  }
  TRIBO_OUTLINED void add_twist(const T& excess, const JointLaw<T>& law, const RodJoint<T>& joint, const RodWeights<Real>& w,
                          const Node* n, BandRow<T>* row) const {
    if (!any(excess > T(Real(0)))) return;
    const T k = T(Real(0.5)) * (law.bend1 + law.bend2);
    const T across = T(Real(0.5)) * excess * sqrt(excess / max(k, T(Real(1e-30)))) * joint.a.inverse * joint.b.inverse;
    const Vec<T, 3> forced0 = n[1].change - n[0].change, forced1 = n[2].change - n[1].change;
    const T s = T(w.bend) * across;
    row[0].r += s * forced0;
    row[1].r += s * (forced1 - forced0);
    row[2].r += (-s) * forced1;
    const Sym<T, 3> S = Sym<T, 3>::isotropic(s);
    add_edge(S, n[0].free, n[1].free, row[0], row[1]);
    add_edge(S, n[1].free, n[2].free, row[1], row[2]);
  }
};

/// What strands are at the start of a step.
template <class Real>
struct StrandShape {
  const Real* rows;
  StrandPositions<Real> positions;
  FieldView<const Real, 3> v_start, director;
  const Real* twist;
};

/// A pack of strands from forces to velocities. Row i - 1 is complete after joint i, and eliminated.
template <class Real>
struct AdvanceStrands {
  using T = ParticlePack<Real>;
  using Forces = StrandForces<Real>;
  using Node = typename Forces::Node;
  using Memory = typename BackPipe<Real>::Memory;

  Forces forces;
  StrandShape<Real> shape;
  Real* factor;
  Real* solution;
  FieldView<Real, 3> v;  ///< of driven vertices the velocity they get; of others written

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (pack.group.twisted != 0)
      advance<true>(pack);
    else
      advance<false>(pack);
    if (forces.implicit) substitute_back(pack, memory, factor, solution, PutVelocity{*this});
  }

 private:
  TRIBO_HD static FieldView<const Real, 3> as_const(const FieldView<Real, 3>& field) {
    return {{field[0], field[1], field[2]}};
  }
  TRIBO_HD Node node(const StrandPack<Real>& pack, Index row) const {
    Node n;
    n.point = shape.positions.at(pack, row);
    n.v = pack.gather(shape.v_start, row);
    n.mass = pack.constant(shape.rows, RodRow::mass, row);
    n.free = pack.constant(shape.rows, RodRow::free, row);
    n.change = Vec<T, 3>::filled(T(Real(0)));
    const auto held = n.free < T(Real(0.5));
    if (any(held)) n.change = select<T>(held, pack.gather(as_const(v), row) - n.v, n.change);
    return n;
  }

  template <bool Framed>
  TRIBO_HD void advance(const StrandPack<Real>& pack) const {
    const RodWeights<Real> w = forces.weights[pack.group.body];
    const Index count = pack.rows();
    Node n[3];  // of rows i - 1, i, i + 1
    BandRow<T> row[3];
    RodEdge<T> before, after;
    Vec<T, 3> m0 = Vec<T, 3>::filled(T(Real(0))), m1 = m0;
    FactorRow<T> f1 = FactorRow<T>::zero(), f2 = f1;
    ForwardSweep<T> sweep = ForwardSweep<T>::start();
    n[0] = n[1] = n[2] = node(pack, 0);
    row[0] = row[1] = row[2] = forces.begin_row(n[1], w);
    for (Index i = 0; i < count; ++i) {
      if (i + 1 < count) {
        n[2] = node(pack, i + 1);
        row[2] = forces.begin_row(n[2], w);
        const T rest = pack.constant(shape.rows, RodRow::length, i);
        after = Forces::edge(n[1], n[2], rest);
        forces.add_stretch(pack.constant(shape.rows, RodRow::stretch, i), rest, after, w, n + 1, row + 1);
        if constexpr (Framed) m1 = pack.gather(shape.director, i);
        if (i > 0) {
          const RodJoint<T> joint(before, after);
          if constexpr (Framed)
            forces.add_framed_joint(law_at(pack, i), pack.gather(shape.twist, i), joint, m0, m1, w, n, row);
          else
            forces.add_straight_joint(pack.constant(shape.rows, RodRow::bend1, i), joint, w, n, row);
        }
      }
      if (i > 0) finish_row(pack, i - 1, n[0], row[0], f1, f2, sweep);
      for (int k = 0; k < 2; ++k) {
        n[k] = n[k + 1];
        row[k] = row[k + 1];
      }
      before = after;
      m0 = m1;
    }
    finish_row(pack, count - 1, n[0], row[0], f1, f2, sweep);
  }
  TRIBO_HD JointLaw<T> law_at(const StrandPack<Real>& pack, Index i) const {
    constexpr int count = static_cast<int>(RodRow::count);
    T constants[count];
    for (int c = 0; c < count; ++c) constants[c] = pack.load(shape.rows, count, i, c);
    return joint_law(constants);
  }

  TRIBO_HD void finish_row(const StrandPack<Real>& pack, Index i, const Node& n, const BandRow<T>& row,
                           FactorRow<T>& f1, FactorRow<T>& f2, ForwardSweep<T>& sweep) const {
    if (!forces.implicit) {
      const T inverse_mass = n.free / n.mass;
      FactorRow<T> diagonal = FactorRow<T>::zero();  // for what asks for A^-1
      diagonal.D = Sym<T, 3>::isotropic(inverse_mass);
      diagonal.store(pack, factor, i);
      put_velocity(pack, i, n.free, n.v + inverse_mass * row.r);
      return;
    }
    const FactorRow<T> f = eliminate(row, f1, f2, n.mass, n.free);
    f.store(pack, factor, i);
    PutSolution<Real>{solution}(pack, i, sweep.next(f, row.r));
    f2 = f1;
    f1 = f;
  }

  struct PutVelocity {
    const AdvanceStrands& of;
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index i, const Vec<T, 3>& dv) const {
      of.put_velocity(pack, i, pack.constant(of.shape.rows, RodRow::free, i), pack.gather(of.shape.v_start, i) + dv);
    }
  };
  TRIBO_HD void put_velocity(const StrandPack<Real>& pack, Index i, const T& free, const Vec<T, 3>& velocity) const {
    const auto held = free < T(Real(0.5));
    pack.scatter(v, i, any(held) ? select<T>(held, pack.gather(as_const(v), i), velocity) : velocity);
  }
};

/// Numbers of a row of the matrix: D, L1, L2, the right-hand side, mass, free.
inline constexpr int band_numbers = 6 + 9 + 9 + 3 + 2;

/// One row of the matrix, all by itself: what a GPU has threads for. The joints of a vertex are those of its neighbors,
/// too, so that each is computed three times.
template <class Real>
struct AssembleRow {
  using Forces = StrandForces<Real>;
  using Node = typename Forces::Node;

  Forces forces;
  StrandShape<Real> shape;
  const Index *start, *vertex_strand, *strand_body, *slot;
  const Index* twisted;  ///< of bodies
  FieldView<const Real, 3> v;
  Real* band;

  TRIBO_HD void operator()(Index i) const {
    const Index s = vertex_strand[i];
    const BandRow<Real> row = twisted[strand_body[s]] != 0 ? assemble<true>(i, s) : assemble<false>(i, s);
    Real numbers[band_numbers];
    for (int c = 0; c < 6; ++c) numbers[c] = row.D.s[c];
    for (int c = 0; c < 9; ++c) numbers[6 + c] = row.L1.m[c / 3][c % 3];
    for (int c = 0; c < 9; ++c) numbers[15 + c] = row.L2.m[c / 3][c % 3];
    for (int k = 0; k < 3; ++k) numbers[24 + k] = row.r[k];
    numbers[27] = constant(i, RodRow::mass);
    numbers[28] = constant(i, RodRow::free);
    put_slot(band, slot[i], band_numbers, band_numbers, numbers);
  }

 private:
  TRIBO_HD Real constant(Index i, RodRow which, int k = 0) const {
    return shape.rows[slot_place<Real>(slot[i], static_cast<int>(RodRow::count), static_cast<int>(which) + k)];
  }
  TRIBO_HD static Vec<Real, 3> at(const FieldView<const Real, 3>& field, Index i) {
    return {{field[0][i], field[1][i], field[2][i]}};
  }
  TRIBO_HD Node node(Index i) const {
    Node n;
    n.point = {at(shape.positions.x, i), at(shape.positions.tail, i)};
    n.v = at(shape.v_start, i);
    n.mass = constant(i, RodRow::mass);
    n.free = constant(i, RodRow::free);
    n.change = n.free < Real(0.5) ? at(v, i) - n.v : Vec<Real, 3>::zero();
    return n;
  }
  TRIBO_HD JointLaw<Real> law_at(Index i) const {
    constexpr int count = static_cast<int>(RodRow::count);
    Real constants[count];
    take_slot(shape.rows, slot[i], count, count, constants);
    return joint_law(constants);
  }

  /// Vertices i - 2 to i + 2, as far as the strand goes.
  template <bool Framed>
  TRIBO_HD BandRow<Real> assemble(Index i, Index s) const {
    const RodWeights<Real> w = forces.weights[strand_body[s]];
    const Index first = start[s], end = start[s + 1];
    Node n[5];
    BandRow<Real> row[5];
    RodEdge<Real> edge[4];
    Vec<Real, 3> m[4];
    TRIBO_UNROLL
    for (int k = 0; k < 5; ++k) {
      const Index j = i + k - 2;
      row[k] = BandRow<Real>::zero();
      if (j < first || j >= end) continue;
      n[k] = node(j);
      if (k == 2) row[k] = forces.begin_row(n[k], w);
    }
    TRIBO_UNROLL
    for (int k = 0; k < 4; ++k) {
      const Index j = i + k - 2;
      if (j < first || j + 1 >= end) continue;
      const Real rest = constant(j, RodRow::length);
      edge[k] = Forces::edge(n[k], n[k + 1], rest);
      if (k == 1 || k == 2) forces.add_stretch(constant(j, RodRow::stretch), rest, edge[k], w, n + k, row + k);
      if constexpr (Framed) m[k] = at(shape.director, j);
    }
    TRIBO_UNROLL
    for (int k = 1; k < 4; ++k) {
      const Index j = i + k - 2;
      if (j <= first || j + 1 >= end) continue;
      const RodJoint<Real> joint(edge[k - 1], edge[k]);
      if constexpr (Framed)
        forces.add_framed_joint(law_at(j), shape.twist[j], joint, m[k - 1], m[k], w, n + k - 1, row + k - 1);
      else
        forces.add_straight_joint(constant(j, RodRow::bend1), joint, w, n + k - 1, row + k - 1);
    }
    return row[2];
  }
};

/// Rows that `AssembleRow` left become factor and solution.
template <class Real>
struct EliminateStrands {
  using T = ParticlePack<Real>;
  const Real* band;
  Real* factor;
  Real* solution;

  struct Rows {
    const Real* band;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index row, const Put& put) const {
      put.row(0, band, band_numbers, row, band_numbers);
    }
  };
  using Pipe = RowPipe<Real, band_numbers, Rows>;
  union Memory {
    typename Pipe::Memory forward;
    typename BackPipe<Real>::Memory back;
  };

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    eliminate_rows(pack, memory.forward);
    substitute_back(pack, memory.back, factor, solution, PutSolution<Real>{solution});
  }

 private:
  TRIBO_HD void eliminate_rows(const StrandPack<Real>& pack, typename Pipe::Memory& memory) const {
    const Rows list{band};
    const Index count = pack.rows();
    Pipe pipe(memory, list, pack, 0, 1, count);
    FactorRow<T> f1 = FactorRow<T>::zero(), f2 = f1;
    ForwardSweep<T> sweep = ForwardSweep<T>::start();
    for (Index i = 0; i < count; ++i) {
      T n[Pipe::numbers];
      pipe.next(n);
      BandRow<T> row;
      for (int c = 0; c < 6; ++c) row.D.s[c] = n[c];
      for (int c = 0; c < 9; ++c) row.L1.m[c / 3][c % 3] = n[6 + c];
      for (int c = 0; c < 9; ++c) row.L2.m[c / 3][c % 3] = n[15 + c];
      for (int k = 0; k < 3; ++k) row.r[k] = n[24 + k];
      const FactorRow<T> f = eliminate(row, f1, f2, n[27], n[28]);
      f.store(pack, factor, i);
      PutSolution<Real>{solution}(pack, i, sweep.next(f, row.r));
      f2 = f1;
      f1 = f;
    }
  }
};

template <class Real>
struct TakeSolution {
  const Real* inverse_mass;
  FieldView<const Real, 3> v_start;
  SlotSolution<Real> solution;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (!(inverse_mass[i] > Real(0))) return;
    const Vec<Real, 3> dv = solution(i);
    for (int k = 0; k < 3; ++k) v[k][i] = v_start[k][i] + dv[k];
  }
};

template <class Real>
struct CopyVector {
  FieldView<const Real, 3> from;
  FieldView<Real, 3> to;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) to[k][i] = from[k][i];
  }
};

template <class Real>
struct DriveVelocity {
  const Index* vertex;
  const Index* drive;
  const RodDriveStep *keyed, *skinned;
  FieldView<const double, 3> anchor;
  FieldView<const Real, 3> x, tail;
  double dt;
  FieldView<Real, 3> v;
  /// To where it has to be: what was off its motion before, as a root is on a skin that something stopped, comes back
  /// with a velocity that everything sees.
  TRIBO_HD void operator()(Index d) const {
    const RodDriveStep& at = drive_of(keyed, skinned, drive[d]);
    const Vec<double, 3> place = at.rotation * Vec<double, 3>{{anchor[0][d], anchor[1][d], anchor[2][d]}} + at.at;
    const Index i = vertex[d];
    for (int k = 0; k < 3; ++k)
      v[k][i] = static_cast<Real>((place[k] - (static_cast<double>(x[k][i]) + static_cast<double>(tail[k][i]))) / dt);
  }
};

struct RodBounds {
  double speed2, twist_rate;
  Index first_bad;
};
template <class Real>
struct LoadRodBounds {
  FieldView<const Real, 3> x, v;
  const Real* twist;
  const Real* rest_twist;
  const Real* twist_rate;
  TRIBO_HD RodBounds operator()(Index i) const {
    double sum = 0, place = 0;
    for (int k = 0; k < 3; ++k) {
      sum += static_cast<double>(v[k][i]) * static_cast<double>(v[k][i]);
      place += static_cast<double>(x[k][i]);
    }
    const auto rate = static_cast<double>(twist_rate[i] * abs(twist[i] - rest_twist[i]));
    const double all = sum + place + rate;
    return {sum, rate, all - all == 0 ? Index{no_index} : i};
  }
};
struct JoinRodBounds {
  TRIBO_HD RodBounds operator()(const RodBounds& a, const RodBounds& b) const {
    return {max(a.speed2, b.speed2), max(a.twist_rate, b.twist_rate), min(a.first_bad, b.first_bad)};
  }
};

}  // namespace

template <class Real>
void place_rod_drives(Exec& ex, const RodConstants<Real>& constants, double time, double dt, RodWorkspace<Real>& work) {
  std::vector<RodDriveStep> steps;
  for (const RodDrive& drive : constants.drives)
    if (!drive.skinned) steps.push_back(drive_to(drive.motion.pose(time + dt)));
  copy_to_device(ex, steps.data(), work.drives, static_cast<Index>(steps.size()));
}

template <class Real>
Index evaluate_rods(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state) {
  const RodState<Real>& now = state;
  const RodBounds bounds = reduce(ex, "rods", mesh.vertices, RodBounds{0, 0, no_index},
                                  LoadRodBounds<Real>{view(now.x), view(now.v), now.twist.c[0].data(),
                                                      mesh.rest_twist.data(), mesh.twist_rate.data()},
                                  JoinRodBounds{});
  state.speed = std::sqrt(bounds.speed2);
  const double rate2 = mesh.stable_rate * mesh.stable_rate + bounds.twist_rate;
  state.stable_dt = rate2 > 0 ? 0.5 / std::sqrt(rate2) : 0;
  for (const RodBody& body : mesh.body)  // Rayleigh's, explicitly: dt beta omega^2 < 2, omega^2 = 4 rate2 at most
    if (const double beta = std::max(body.bend_damping, body.stretch_damping); beta * rate2 > 0)
      state.stable_dt = std::min(state.stable_dt, 0.25 / (beta * rate2));
  return bounds.first_bad;
}

template <class Real>
void begin_rods(Exec& ex, const RodState<Real>& state, RodWorkspace<Real>& work) {
  work.v_start.resize_discard(state.count);
  parallel_for(ex, "rods", state.count, CopyVector<Real>{view(state.v), view(work.v_start)});
}

template <class Real>
void rod_step(Exec& ex, const RodConstants<Real>& constants, const RodMesh<Real>& mesh, double time, double dt,
              RodState<Real>& state, RodWorkspace<Real>& work) {
  place_rod_drives(ex, constants, time, dt, work);
  const RodState<Real>& now = state;
  parallel_for(ex, "rods", mesh.driven,
               DriveVelocity<Real>{mesh.driven_vertex.data(), mesh.drive.data(), work.drives.data(), work.skin.data(),
                                   view(mesh.anchor), view(now.x), view(now.x_tail), dt, view(state.v)});
  std::vector<RodWeights<Real>> weights;
  for (const RodBody& body : mesh.body) weights.push_back(weights_of<Real>(body, constants.scheme, dt));
  copy_to_device(ex, weights.data(), work.weights, static_cast<Index>(weights.size()));
  work.compliance_valid = false;
  work.factor.resize_discard(row_array_size<Real>(mesh.rows, factor_numbers));
  work.solution.resize_discard(row_array_size<Real>(mesh.rows, 3));
  const RodWorkspace<Real>& kept = work;
  const StrandForces<Real> forces{kept.weights.data(), constants.gravity, static_cast<Real>(dt),
                                  constants.scheme != RodScheme::explicit_euler};
  const StrandShape<Real> shape{mesh.row.data(), {view(now.x), view(now.x_tail)}, view(kept.v_start), view(now.director),
                                now.twist.c[0].data()};
  if constexpr (fetches_ahead) {
    work.band.resize_discard(row_array_size<Real>(mesh.rows, band_numbers));
    parallel_for(ex, "rods", mesh.vertices,
                 AssembleRow<Real>{forces, shape, mesh.start.data(), mesh.vertex_strand.data(), mesh.strand_body.data(),
                                   mesh.slot.data(), mesh.body_twisted.data(), view(now.v), work.band.data()});
    for_each_strand_pack<Real>(
        ex, "rods", mesh, EliminateStrands<Real>{work.band.data(), work.factor.data(), work.solution.data()});
    parallel_for(ex, "rods", mesh.vertices,
                 TakeSolution<Real>{mesh.inverse_mass.data(), view(kept.v_start),
                                    {mesh.slot.data(), work.solution.data()}, view(state.v)});
  } else {
    for_each_strand_pack<Real>(
        ex, "rods", mesh,
        AdvanceStrands<Real>{forces, shape, work.factor.data(), work.solution.data(), view(state.v)});
  }
}

#define TRIBO_INSTANTIATE(Real)                                                                                   \
  template void place_rod_drives(Exec&, const RodConstants<Real>&, double, double, RodWorkspace<Real>&);          \
  template Index evaluate_rods(Exec&, const RodMesh<Real>&, RodState<Real>&);                                     \
  template void begin_rods(Exec&, const RodState<Real>&, RodWorkspace<Real>&);                                    \
  template void rod_step(Exec&, const RodConstants<Real>&, const RodMesh<Real>&, double, double, RodState<Real>&, \
                         RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
