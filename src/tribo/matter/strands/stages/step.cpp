#include <algorithm>
#include <cmath>
#include <vector>

#include "tribo/exec/copy_field.h"
#include "tribo/exec/joins.h"
#include "tribo/matter/strands/contact/edge_sweep.h"
#include "tribo/matter/strands/stages/chain.h"
#include "tribo/matter/strands/stages/stretch.h"
#include "tribo/matter/strands/stages/whole_turn.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real>
RodWeights<Real> weights_of(const RodBody& body, RodScheme scheme, double dt) {
  const bool implicit = scheme != RodScheme::explicit_euler;
  const double damped_stretch = dt * body.stretch_damping, damped_bend = dt * body.bend_damping;
  // The leapfrog keeps an energy with the matrix of a step. That changes as strands bend and turn, and what is too fast
  // for dt then gains of it without end: undamped strands that swing had thousands of times their energy within
  // seconds. So bending has at least the damping of backward Euler. Damping that is no less
  // than dt, as hair has by default, suffices by itself.
  const double euler = scheme == RodScheme::backward_euler ? 1 : std::clamp(1 - body.bend_damping / dt, 0.0, 1.0);
  RodWeights<Real> w{};
  w.stretch_rate = static_cast<Real>((implicit ? dt * dt : 0) + damped_stretch);
  w.bend_rate = static_cast<Real>((implicit ? euler * dt * dt : 0) + damped_bend);
  w.drag_rate = static_cast<Real>(dt * body.drag);
  w.crushed = static_cast<Real>(crushed_stiffness(body, scheme));
  if (implicit) {
    w.stretch = w.stretch_rate;
    w.bend = static_cast<Real>(0.25 * (1 + euler) * (1 + euler) * dt * dt + damped_bend);
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

/// Numbers of a row on the way to the rates of theta, and where: of the joint at its vertex, then of the edge after it.
enum class ThetaRow { bend, twist, bend_rate, twist_rate, rate, upper, count };
constexpr int theta_joint_numbers = static_cast<int>(ThetaRow::rate), theta_numbers = static_cast<int>(ThetaRow::count);
static_assert(theta_numbers <= frame_numbers);
constexpr int place(ThetaRow which) { return static_cast<int>(which); }

/// Forces and matrix of strands, edge by edge and joint by joint, as functions of the differences of neighbors.
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

  TRIBO_HD static T rate_of(const EdgePair<T>& slope, const Vec<T, 3>& rate0, const Vec<T, 3>& rate1) {
    return dot(slope.e0, rate0) + dot(slope.e1, rate1);
  }

  /// What is known of a vertex on the way.
  struct Node {
    typename StrandPositions<Real>::Point point;
    Vec<T, 3> v;       ///< at the start
    Vec<T, 3> change;  ///< of the velocity, where it is prescribed
    Vec<T, 3> guess;   ///< of the velocity at the end
    T mass, free;
  };
  TRIBO_HD static RodEdge<T> edge(const Node& a, const Node& b, const T& rest) {
    return RodEdge<T>(edge_between(a.point, b.point), T(shortest_edge<Real>) * rest);
  }

  /// What a joint does to the edges before and after it.
  struct Joint {
    EdgePair<T> spring[ChainRow<T>::most_springs];
    EdgePair<T> pull;
    T across;  ///< stiffness of both edges

    TRIBO_HD static Joint none() {
      const T zero(Real(0));
      const auto no = Vec<T, 3>::filled(zero);
      return {{{no, no}, {no, no}, {no, no}}, {no, no}, zero};
    }
  };

  TRIBO_HD void put_vertex(const Node& n, const RodWeights<Real>& w, ChainRow<T>& row) const {
    row.mass = n.mass * T(Real(1) + w.drag);
    row.free = n.free;
    for (int k = 0; k < 3; ++k) row.push[k] = n.mass * (T(dt * gravity[k]) - T(w.drag_rate) * n.v[k]);
    const auto held = n.free < T(Real(0.5));
    if (any(held)) row.push = select<T>(held, n.change, row.push);
  }

  /// k (g . w)^2 / 2 over the edges of a joint: what it does to the matrix, and where g . w was `rate` at the start of
  /// the step, to the right-hand side.
  TRIBO_HD void put_spring(const T& k, const EdgePair<T>& g, const RodWeights<Real>& w, EdgePair<T>& spring) const {
    if (!implicit) return;
    const T root = sqrt(k * T(w.bend));
    spring.e0 = root * g.e0;
    spring.e1 = root * g.e1;
  }
  TRIBO_HD static void add_pull(const T& k, const EdgePair<T>& g, const RodWeights<Real>& w, const T& rate,
                                EdgePair<T>& pull) {
    const T back = k * (T(w.bend_rate) * rate);
    pull.e0 += back * g.e0;
    pull.e1 += back * g.e1;
  }

  TRIBO_OUTLINED void add_stiffness(const T& k, const EdgePair<T>& g, const RodWeights<Real>& w, const Vec<T, 3>& rate0,
                                    const Vec<T, 3>& rate1, EdgePair<T>& spring, EdgePair<T>& pull) const {
    add_pull(k, g, w, rate_of(g, rate0, rate1), pull);
    put_spring(k, g, w, spring);
  }

  /// `k` is EA / length.
  template <bool Guessed>
  TRIBO_HD StretchStep<T> stretch(const T& k, const T& rest, const RodEdge<T>& edge, const RodWeights<Real>& w,
                                  const Node& a, const Node& b) const {
    const StretchLaw<T> law(k, rest, edge.length, T(w.crushed));
    if constexpr (Guessed)
      return {law.k, law.rest, edge, T(dt) * (b.guess - a.guess)};
    else
      return {law.k, law.rest, edge};
  }
  template <bool Guessed>
  TRIBO_HD void put_edge(const T& k, const T& rest, const RodEdge<T>& edge, const RodWeights<Real>& w, const Node& a,
                         const Node& b, ChainRow<T>& row) const {
    const StretchStep<T> s = stretch<Guessed>(k, rest, edge, w, a, b);
    const Vec<T, 3> rate = T(w.stretch_rate) * (b.v - a.v);
    row.t = s.u;
    row.pull = (T(dt) * (s.k * s.longer) + (s.k - s.across) * dot(s.u, rate)) * s.u + s.across * rate;
    if constexpr (Guessed) row.pull = row.pull - (T(dt) * s.across) * (s.guess - dot(s.u, s.guess) * s.u);
    row.along = T(w.stretch) * (s.k - s.across);  // nothing where steps are explicit
    row.across = T(w.stretch) * s.across;
  }

  /// Twice the energy of an edge that a guess does not know of, on the way to the velocities `a_end` and `b_end`.
  TRIBO_HD T missed_energy(const T& k, const T& rest, const RodWeights<Real>& w, const Node& a, const Node& b,
                           const Vec<T, 3>& a_end, const Vec<T, 3>& b_end) const {
    const RodEdge<T> own = edge(a, b, rest);
    const StretchStep<T> step = stretch<true>(k, rest, own, w, a, b);
    const T missed = step.missed(own, T(dt) * (b_end - a_end));
    return step.k * missed * missed;
  }

  /// Gauss-Newton leaves out how much the curvature 2 tan(phi/2) is itself curved as a function of the turning angle:
  /// E'' of a bending moment q is q tan(phi/2) more than it has, times 1/cos^2(phi/2). The leapfrog needs it: with the
  /// weight of a quarter nothing but masses makes up for what is missing. `energy` is q |kb|.
  TRIBO_HD static T bend_excess(const RodJoint<T>& joint, const T& energy) {
    return T(Real(0.25)) * energy / joint.inverse_chi;
  }

  TRIBO_OUTLINED void straight_joint(T k, const RodJoint<T>& joint, const RodWeights<Real>& w, const Node* n,
                                     Joint& to) const {
    to = Joint::none();
    const EdgePair<T> bend = joint.slope(joint.kb);
    to.pull = {(T(dt) * k) * bend.e0, (T(dt) * k) * bend.e1};
    if (!implicit && w.bend_rate == Real(0)) return;
    k = k + bend_excess(joint, k * squared_norm(joint.kb));
    Vec<T, 3> a, b;
    any_normals(rsqrt(max(squared_norm(joint.mean), T(Real(1e-30)))) * joint.mean, a, b);
    const Vec<T, 3> rate0 = n[1].v - n[0].v, rate1 = n[2].v - n[1].v;
    add_stiffness(k, joint.slope(a), w, rate0, rate1, to.spring[0], to.pull);
    add_stiffness(k, joint.slope(b), w, rate0, rate1, to.spring[1], to.pull);
  }

  /// How a joint with frames resists: by k (rate of s)^2 / 2 for each of two curvatures and the twist s, where s
  /// changes with the edges by `slope` and with the angles of both edges. The mean frame turns by half of what theta of
  /// the edges does, over cos(phi/2) where the joint is bent by phi, so that none changes as the joint turns as a
  /// whole: theta' of an edge t is then spin . t.
  struct Springs {
    T k[3];
    EdgePair<T> slope[3];
    T bend_turn[2];  ///< of curvatures, by either theta; of twist it is -1 by the first and 1 by the second
  };
  /// `moment` bends the joint, `excess` is that of what twists it.
  TRIBO_HD Springs springs_of(const JointLaw<T>& law, const RodJoint<T>& joint, const Vec<T, 3>& m0,
                              const Vec<T, 3>& m1, const Vec<T, 3>& moment, const T& excess) const {
    // The mean frame; with an angle between those of the edges, part of each stiffness acts along the other director.
    T s, c;
    joint.turn(m0, m1, s, c);
    const T half(Real(0.5)), one(Real(1));
    const T own = half * (one + c), other = half * (one - c);
    const T mean2 = max(squared_norm(joint.mean), T(Real(1e-30))), inverse = rsqrt(mean2);
    const Vec<T, 3> mean = inverse * joint.mean;
    Vec<T, 3> a = transport(m0, joint.a.t, mean) + transport(m1, joint.b.t, mean);
    a = a - dot(a, mean) * mean;
    const T size = squared_norm(a);
    Vec<T, 3> x, y;
    any_normals(mean, x, y);  // where the directors are opposite, and both stiffnesses nearly alike then
    a = select<T>(size < T(Real(1e-6)), x, rsqrt(max(size, T(Real(1e-30)))) * a);
    const Vec<T, 3> b = cross(mean, a);
    const T k1 = own * law.bend1 + other * law.bend2, k2 = own * law.bend2 + other * law.bend1;
    const T more = sqrt(excess * half * (law.bend1 + law.bend2)) +  // k sqrt(excess / k)
                   bend_excess(joint, sqrt(squared_norm(moment) * squared_norm(joint.kb)));
    const T turn = half * (mean2 * inverse);
    return {{k1 + more, k2 + more, law.twist},
            {joint.slope(b), joint.slope(a), joint.twist_slope()},
            {-(turn * dot(joint.kb, a)), turn * dot(joint.kb, b)}};
  }

  TRIBO_OUTLINED void framed_joint(const JointLaw<T>& law, const T& turned, const RodJoint<T>& joint,
                                   const Vec<T, 3>& m0, const Vec<T, 3>& m1, const T& theta0, const T& theta1,
                                   const Vec<T, 3>& spin, const RodWeights<Real>& w, const Node* n, Joint& to) const {
    to = Joint::none();
    const JointCurvature<T> at(joint, m0, m1);
    const T q = law.twist * (turned - law.rest_twist);
    const Vec<T, 3> moment = law.bend_moment(joint, at, m0, m1);
    const EdgePair<T> bend = joint.slope(moment), turn = joint.twist_slope();
    to.pull = {T(dt) * (bend.e0 + q * turn.e0), T(dt) * (bend.e1 + q * turn.e1)};
    if (!implicit && w.bend_rate == Real(0)) return;
    const T excess = twist_excess(q, joint, n[1].mass);
    add_twist(excess, law, joint, w, to);
    const Springs springs = springs_of(law, joint, m0, m1, moment, excess);
    // Free strands turn on as a whole, whatever theta' can follow.
    const Turning first(theta0, spin, joint.a, n[0], n[1]), second(theta1, spin, joint.b, n[1], n[2]);
    for (int s = 0; s < 3; ++s) {
      const T turn0 = s == 2 ? T(Real(-1)) : springs.bend_turn[s], turn1 = s == 2 ? T(Real(1)) : turn0;
      const EdgePair<T> g{springs.slope[s].e0 + turn0 * first.follow, springs.slope[s].e1 + turn1 * second.follow};
      add_pull(springs.k[s], g, w, rate_of(g, first.rate, second.rate) + (turn0 * first.given + turn1 * second.given),
               to.pull);
      put_spring(springs.k[s], g, w, to.spring[s]);
    }
  }
  /// How an edge turns: theta' = `follow` . w + `given`, see `ThetaRates`. The latter is of edges that move as they are
  /// told to.
  struct Turning {
    Vec<T, 3> rate;  ///< w, besides that of the strand as it turns as a whole
    Vec<T, 3> follow;
    T given;

    TRIBO_HD Turning(const T& theta, const Vec<T, 3>& spin, const RodEdge<T>& edge, const Node& a, const Node& b) {
      const Vec<T, 3> w = b.v - a.v;
      const T zero(Real(0)), still(Real(1e-24)), square = squared_norm(w),
                                                 least = abs(theta) * sqrt(square) / edge.inverse;
      const auto driven = max(a.free, b.free) < T(Real(0.5));
      rate = w - cross(spin, edge.length * edge.t);
      // An edge that hardly moves turns by nothing, as one that does not move: |follow| is at most 1/l by `least`, but
      // not where the square of w is no float any more. Strands that lie still on a floor, of which one end is moved,
      // have rates that fall by decades from vertex to vertex, and one of 1e-20 m/s made the matrix infinite.
      follow = select(driven, zero, select(square > still, theta / max(max(square, least), still), zero)) * w;
      given = select(driven, theta, zero);
    }
  };

  /// What a joint adds to the equations for the rates of theta, see `ThetaRates`: the diagonal of both edges gets bend
  /// + twist and what is between them bend - twist; the right-hand side of the first edge gets twist_rate - bend_rate
  /// and that of the second - twist_rate - bend_rate.
  TRIBO_OUTLINED void theta_joint(const JointLaw<T>& law, const T& turned, const RodJoint<T>& joint,
                                  const Vec<T, 3>& m0, const Vec<T, 3>& m1, const Node* n, T* to) const {
    const JointCurvature<T> at(joint, m0, m1);
    const T q = law.twist * (turned - law.rest_twist);
    const Springs springs =
        springs_of(law, joint, m0, m1, law.bend_moment(joint, at, m0, m1), twist_excess(q, joint, n[1].mass));
    const Vec<T, 3> rate0 = n[1].v - n[0].v, rate1 = n[2].v - n[1].v;
    T bend(Real(0)), bend_rate = bend;
    for (int s = 0; s < 2; ++s) {
      const T k = springs.k[s] * springs.bend_turn[s];
      bend = fma(k, springs.bend_turn[s], bend);
      bend_rate = fma(k, rate_of(springs.slope[s], rate0, rate1), bend_rate);
    }
    to[place(ThetaRow::bend)] = bend;
    to[place(ThetaRow::twist)] = law.twist;
    to[place(ThetaRow::bend_rate)] = bend_rate;
    to[place(ThetaRow::twist_rate)] = law.twist * rate_of(springs.slope[2], rate0, rate1);
  }

  /// A twisting moment q pulls at edges across: q t . (da x db) / l^2, of either sign. Up to a moment that masses alone
  /// keep stable, 4 m l^2 / (2.6 dt^2) by theory E.7, nothing is needed, and half of it is used. What exceeds it is
  /// bounded with s = (da + db)/2 and d = db - da by q s d <= (eps s^2 + d^2/eps) q/2: as much bending stiffness and
  /// as much tension in the matrix keep it stable. eps = sqrt(q/k), k = E I/vl, makes both vanish with q.
  TRIBO_HD T twist_excess(const T& q, const RodJoint<T>& joint, const T& mass) const {
    if (!implicit) return T(Real(0));
    const T length = T(Real(0.5)) * (joint.a.length + joint.b.length);
    const T allowed = mass * length * length * T(Real(2 / 2.6) / (dt * dt));
    return max(abs(q) - allowed, T(Real(0)));
  }
  TRIBO_HD void add_twist(const T& excess, const JointLaw<T>& law, const RodJoint<T>& joint, const RodWeights<Real>& w,
                          Joint& to) const {
    if (!any(excess > T(Real(0)))) return;
    const T k = T(Real(0.5)) * (law.bend1 + law.bend2);
    const T across = T(Real(0.5)) * excess * sqrt(excess / max(k, T(Real(1e-30)))) * joint.a.inverse * joint.b.inverse;
    to.across = T(w.bend) * across;
  }

  /// The joint before an edge and the one after it, in the row of the edge.
  TRIBO_HD static void put_joints(const Joint& before, const Joint& after, ChainRow<T>& row) {
    for (int s = 0; s < ChainRow<T>::most_springs; ++s) row.spring[s] = before.spring[s];
    row.pull += before.pull.e1 + after.pull.e0;
    row.across = row.across + before.across + after.across;
  }
};

/// What strands are at the start of a step.
template <class Real>
struct StrandShape {
  const Real* rows;
  StrandPositions<Real> positions;
  FieldView<const Real, 3> v_start, director;
  const Real* twist;
  FieldView<const Real, 3> spin;  ///< of strands as a whole, where there are any with frames that nothing holds
  const Real* theta;              ///< rows of `ThetaRates`, where there are frames
};

/// Whether the energy that edges get by turning, of which a step knows nothing, is less than m |dv|^2 / 2, which x +=
/// dt v takes from motion.
template <class T>
struct StretchBalance {
  using Real = scalar_of<T>;
  T missed, loss;

  TRIBO_HD static StretchBalance none() { return {T(Real(0)), T(Real(0))}; }
  TRIBO_HD void add_vertex(const T& mass, const T& free, const Vec<T, 3>& dv) {
    loss = fma(T(Real(0.5)) * free * mass, squared_norm(dv), loss);
  }
  /// Of an edge without a guess: k d^2, d = p^2 / 2l, of which the step takes in at most k d (d - |longer|).
  TRIBO_HD void add_turn(const T& k, const T& rest, const Vec<T, 3>& way) {
    const T d = T(Real(0.5)) * squared_norm(way) / rest;
    missed = fma(k * d, d, missed);
  }
  TRIBO_HD void add(const StretchBalance& more) {
    missed = missed + more.missed;
    loss = loss + more.loss;
  }
  /// Half of the loss, since bending is linearized, too.
  TRIBO_HD mask_t<T> needs_guess() const { return missed > T(Real(0.5)) * loss; }
  /// What is left excites vibrations, at the cost of spin: far less than the loss. A second guess has it, mostly.
  TRIBO_HD mask_t<T> is_wrong() const { return missed > T(Real(1e-3)) * loss; }
};
/// Of a step. They are right after one or two, but for segments that turn by more than a radian.
constexpr int most_guesses = 6;

/// Rows of a pack of strands, from the tip on.
template <class Real>
struct StrandRows {
  using T = ParticlePack<Real>;
  using Forces = StrandForces<Real>;
  using Node = typename Forces::Node;
  using Joint = typename Forces::Joint;

  Forces forces;
  StrandShape<Real> shape;
  FieldView<const Real, 3> v;  ///< of driven vertices the velocity they get
  FieldView<const Real, 3> guess;

  template <bool Guessed>
  TRIBO_HD Node node(const StrandPack<Real>& pack, Index row) const {
    Node n;
    n.point = shape.positions.at(pack, row);
    n.v = pack.gather(shape.v_start, row);
    n.mass = pack.constant(shape.rows, RodRow::mass, row);
    n.free = pack.constant(shape.rows, RodRow::free, row);
    n.change = n.guess = Vec<T, 3>::filled(T(Real(0)));
    if constexpr (Guessed) n.guess = pack.gather(guess, row);
    const auto held = n.free < T(Real(0.5));
    if (any(held)) n.change = select<T>(held, pack.gather(v, row) - n.v, n.change);
    return n;
  }

  /// take(i, row)
  template <bool Framed, bool Guessed, class Take>
  TRIBO_HD void each(const StrandPack<Real>& pack, const Take& take) const {
    const RodWeights<Real> w = forces.weights[pack.group.body];
    const Index count = pack.rows();
    Node n[3];  // of rows i - 2, i - 1, i
    RodEdge<T> before, own;
    Vec<T, 3> m0 = Vec<T, 3>::filled(T(Real(0))), m1 = m0;
    Joint joint = Joint::none(), joint_after = joint;  // of rows i - 1, i
    T theta0(Real(0)), theta1(Real(0));                // rates
    Vec<T, 3> spin = m0;
    if (Framed && shape.spin[0] != nullptr)
      for (int k = 0; k < 3; ++k) spin[k] = pack.of_strands(shape.spin[k]);
    ChainRow<T> row = ChainRow<T>::zero();
    n[2] = node<Guessed>(pack, count - 1);
    n[0] = n[1] = n[2];
    if (count > 1) {
      n[1] = node<Guessed>(pack, count - 2);
      own = Forces::edge(n[1], n[2], pack.constant(shape.rows, RodRow::length, count - 2));
      if constexpr (Framed) {
        m1 = pack.gather(shape.director, count - 2);
        theta1 = pack.load(shape.theta, theta_numbers, count - 2, place(ThetaRow::rate));
      }
    }
    for (Index i = count - 1; i >= 0; --i) {
      row = ChainRow<T>::zero();
      forces.put_vertex(n[2], w, row);
      joint = Joint::none();
      if (i > 0)
        forces.template put_edge<Guessed>(pack.constant(shape.rows, RodRow::stretch, i - 1),
                                          pack.constant(shape.rows, RodRow::length, i - 1), own, w, n[1], n[2], row);
      if (i > 1) {
        n[0] = node<Guessed>(pack, i - 2);
        before = Forces::edge(n[0], n[1], pack.constant(shape.rows, RodRow::length, i - 2));
        const RodJoint<T> bent(before, own);
        if constexpr (Framed) {
          m0 = pack.gather(shape.director, i - 2);
          theta0 = pack.load(shape.theta, theta_numbers, i - 2, place(ThetaRow::rate));
          forces.framed_joint(law_at(pack, i - 1), pack.gather(shape.twist, i - 1), bent, m0, m1, theta0, theta1, spin,
                              w, n, joint);
        } else {
          forces.straight_joint(pack.constant(shape.rows, RodRow::bend1, i - 1), bent, w, n, joint);
        }
      }
      Forces::put_joints(joint, joint_after, row);
      take(i, row);
      n[2] = n[1];
      n[1] = n[0];
      own = before;
      m1 = m0;
      theta1 = theta0;
      joint_after = joint;
    }
  }
  /// What joints have to say about the rates of theta, from the root on.
  TRIBO_HD void put_theta_joints(const StrandPack<Real>& pack, Real* theta) const {
    Node n[3];
    RodEdge<T> before, own;
    Vec<T, 3> m0, m1;
    for (Index i = 0; i < pack.rows(); ++i) {
      n[2] = node<false>(pack, i);
      if (i > 0) {
        own = Forces::edge(n[1], n[2], pack.constant(shape.rows, RodRow::length, i - 1));
        m1 = pack.gather(shape.director, i - 1);
      }
      if (i > 1) {
        T joint[theta_joint_numbers];
        forces.theta_joint(law_at(pack, i - 1), pack.gather(shape.twist, i - 1), RodJoint<T>(before, own), m0, m1, n,
                           joint);
        put_row(pack, theta, theta_numbers, i - 1, theta_joint_numbers, joint);
      }
      n[0] = n[1];
      n[1] = n[2];
      before = own;
      m0 = m1;
    }
  }
  TRIBO_HD JointLaw<T> law_at(const StrandPack<Real>& pack, Index i) const {
    constexpr int count = static_cast<int>(RodRow::count);
    T constants[count];
    for (int c = 0; c < count; ++c) constants[c] = pack.load(shape.rows, count, i, c);
    return joint_law(constants);
  }
};

/// A pack of strands from forces to velocities: rows are eliminated as they are made.
template <class Real>
struct AdvanceStrands {
  using T = ParticlePack<Real>;
  using Memory = typename BackPipe<Real>::Memory;

  StrandRows<Real> rows;
  Real* factor;
  Real* solution;
  FieldView<Real, 3> v;  ///< of free vertices written
  FieldView<Real, 3> guess;
  StretchGuess* guesses;  ///< of strands
  RootRest* root_rest;    ///< likewise, or null

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    sweep<false>(pack);
    Turns turns{StretchBalance<T>::none(), Vec<T, 3>::filled(T(Real(0)))};
    substitute_back(pack, memory, factor, solution, PutFirstVelocity{*this, turns});
    const T zero(Real(0)), one(Real(1));
    T wrong = select(turns.sum.needs_guess(), one, zero);
    if (!rows.forces.implicit) wrong = zero;
    const T guessed = wrong;
    for (int k = 0; k < most_guesses && any(wrong > zero); ++k) {
      put_guess(pack, wrong, k == 0);
      sweep<true>(pack);
      substitute_back(pack, memory, factor, solution, PutVelocity{*this});
      wrong = select(balance(pack).is_wrong(), wrong, zero);
    }
    for (int l = 0; l < pack.W; ++l)
      if (pack.end[l] > 0)
        guesses[pack.group.first_strand + pack.lane + l] =
            lane(guessed, l) > Real(0) ? StretchGuess::right : StretchGuess::none;
  }

 private:
  template <bool Guessed>
  TRIBO_HD void sweep(const StrandPack<Real>& pack) const {
    if (pack.group.twisted != 0)
      advance<true, Guessed>(pack);
    else
      advance<false, Guessed>(pack);
  }
  /// Of a guess.
  TRIBO_HD StretchBalance<T> balance(const StrandPack<Real>& pack) const {
    const RodWeights<Real> w = rows.forces.weights[pack.group.body];
    StretchBalance<T> sum = StretchBalance<T>::none();
    auto before = rows.template node<true>(pack, 0);
    Vec<T, 3> before_end = pack.gather(rows.v, 0);
    sum.add_vertex(before.mass, before.free, before_end - before.v);
    for (Index i = 1; i < pack.rows(); ++i) {
      const auto n = rows.template node<true>(pack, i);
      const Vec<T, 3> end = pack.gather(rows.v, i);
      sum.add_vertex(n.mass, n.free, end - n.v);
      sum.missed = sum.missed + rows.forces.missed_energy(pack.constant(rows.shape.rows, RodRow::stretch, i - 1),
                                                          pack.constant(rows.shape.rows, RodRow::length, i - 1), w,
                                                          before, n, before_end, end);
      before = n;
      before_end = end;
    }
    return sum;
  }
  /// Strands that are right keep theirs, whoever shares their pack.
  TRIBO_HD void put_guess(const StrandPack<Real>& pack, const T& wrong, bool first) const {
    const auto replaced = wrong > T(Real(0));
    for (Index i = 0; i < pack.rows(); ++i) {
      const Vec<T, 3> kept = first ? Vec<T, 3>::filled(T(Real(0))) : pack.gather(rows.guess, i);
      pack.scatter(guess, i, select<T>(replaced, pack.gather(rows.v, i), kept));
    }
  }

  template <bool Framed, bool Guessed>
  TRIBO_HD void advance(const StrandPack<Real>& pack) const {
    Chain<T> chain;
    rows.template each<Framed, Guessed>(pack, [&](Index i, const ChainRow<T>& row) {
      if (i == 1 && root_rest != nullptr) put_root_rest<Real>(pack, chain, row, root_rest);
      FactorRow<T> f;
      PutSolution<Real>{solution}(pack, i, chain.template next < Framed ? 3 : 2 > (row, f));
      f.store(pack, factor, i);
    });
  }

  struct PutVelocity {
    const AdvanceStrands& of;
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index i, const Vec<T, 3>& dv) const {
      put(pack, i, dv, pack.constant(of.rows.shape.rows, RodRow::free, i));
    }
    TRIBO_HD Vec<T, 3> put(const StrandPack<Real>& pack, Index i, const Vec<T, 3>& dv, const T& free) const {
      const auto held = free < T(Real(0.5));
      Vec<T, 3> velocity = pack.gather(of.rows.shape.v_start, i) + dv;
      if (any(held)) velocity = select<T>(held, pack.gather(of.rows.v, i), velocity);
      pack.scatter(of.v, i, velocity);
      return velocity;
    }
  };
  struct Turns {
    StretchBalance<T> sum;
    Vec<T, 3> before;  ///< velocity of the row before
  };
  struct PutFirstVelocity {
    const AdvanceStrands& of;
    Turns& turns;
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index i, const Vec<T, 3>& dv) const {
      const T free = pack.constant(of.rows.shape.rows, RodRow::free, i);
      const Vec<T, 3> velocity = PutVelocity{of}.put(pack, i, dv, free);
      turns.sum.add_vertex(pack.constant(of.rows.shape.rows, RodRow::mass, i), free, dv);
      if (i > 0)
        turns.sum.add_turn(pack.constant(of.rows.shape.rows, RodRow::stretch, i - 1),
                           pack.constant(of.rows.shape.rows, RodRow::length, i - 1),
                           T(of.rows.forces.dt) * (velocity - turns.before));
      turns.before = velocity;
    }
  };
};

/// Rows to memory, of packs with a strand that is touched.
template <class Real>
struct KeepRows {
  using T = ParticlePack<Real>;
  using Memory = NoMemory;
  StrandRows<Real> rows;
  const Index* touched;
  const StretchGuess* guesses;
  Real* chain;

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory&) const {
    if (!pack.has_some(touched)) return;
    bool guessed = false;  // by one is by all, see AdvanceStrands::put_guess
    for (int l = 0; l < pack.W; ++l)
      if (pack.end[l] > 0) guessed = guessed || guesses[pack.group.first_strand + pack.lane + l] != StretchGuess::none;
    if (guessed)
      sweep<true>(pack);
    else
      sweep<false>(pack);
  }

 private:
  template <bool Guessed>
  TRIBO_HD void sweep(const StrandPack<Real>& pack) const {
    if (pack.group.twisted != 0)
      keep<true, Guessed>(pack);
    else
      keep<false, Guessed>(pack);
  }
  template <bool Framed, bool Guessed>
  TRIBO_HD void keep(const StrandPack<Real>& pack) const {
    rows.template each<Framed, Guessed>(pack, [&](Index i, const ChainRow<T>& row) {
      T numbers[chain_numbers];
      ChainRow<T>::each(row, [&](int c, const T& x) { numbers[c] = x; });
      put_row(pack, chain, chain_numbers, i, chain_numbers, numbers);
    });
  }
};

/// What a row needs, vertex by vertex: what a GPU has threads for.
template <class Real>
struct VertexRows {
  using Forces = StrandForces<Real>;
  using Node = typename Forces::Node;

  Forces forces;
  StrandShape<Real> shape;
  const Index *start, *vertex_strand, *strand_body, *slot;
  FieldView<const Real, 3> v;

  TRIBO_HD Real constant(Index i, RodRow which, int k = 0) const {
    return shape.rows[slot_place<Real>(slot[i], static_cast<int>(RodRow::count), static_cast<int>(which) + k)];
  }
  TRIBO_HD Node node(Index i) const {
    Node n;
    n.point = {vector_at(shape.positions.x, i), vector_at(shape.positions.tail, i)};
    n.v = vector_at(shape.v_start, i);
    n.mass = constant(i, RodRow::mass);
    n.free = constant(i, RodRow::free);
    n.guess = Vec<Real, 3>::zero();
    n.change = n.free < Real(0.5) ? vector_at(v, i) - n.v : Vec<Real, 3>::zero();
    return n;
  }
  TRIBO_HD JointLaw<Real> law_at(Index i) const {
    constexpr int count = static_cast<int>(RodRow::count);
    Real constants[count];
    take_slot(shape.rows, slot[i], count, count, constants);
    return joint_law(constants);
  }
};

/// One row of the matrix, all by itself. Joints pull at two edges each and are computed for both.
template <class Real, bool Guessed>
struct AssembleRow : VertexRows<Real> {
  using Forces = StrandForces<Real>;
  using Node = typename Forces::Node;
  using Joint = typename Forces::Joint;
  using VertexRows<Real>::forces, VertexRows<Real>::shape, VertexRows<Real>::start, VertexRows<Real>::vertex_strand,
      VertexRows<Real>::strand_body, VertexRows<Real>::slot, VertexRows<Real>::constant, VertexRows<Real>::law_at;

  const Index* twisted;  ///< of bodies
  FieldView<const Real, 3> guess;
  const StretchGuess* guesses;
  Real* chain;

  TRIBO_HD void operator()(Index i) const {
    const Index s = vertex_strand[i];
    if (Guessed && guesses[s] != StretchGuess::wrong) return;
    const ChainRow<Real> row = twisted[strand_body[s]] != 0 ? assemble<true>(i, s) : assemble<false>(i, s);
    Real numbers[chain_numbers];
    ChainRow<Real>::each(row, [&](int c, Real x) { numbers[c] = x; });
    put_slot(chain, slot[i], chain_numbers, chain_numbers, numbers);
  }

 private:
  TRIBO_HD Node node(Index i) const {
    Node n = VertexRows<Real>::node(i);
    if constexpr (Guessed) n.guess = vector_at(guess, i);
    return n;
  }

  /// From vertices i - 2 to i + 1, as far as the strand goes.
  template <bool Framed>
  TRIBO_HD ChainRow<Real> assemble(Index i, Index s) const {
    const RodWeights<Real> w = forces.weights[strand_body[s]];
    const Index first = start[s], end = start[s + 1];
    Node n[4];
    RodEdge<Real> edge[3];
    Vec<Real, 3> m[3];
    Real theta[3];  // rates
    Vec<Real, 3> spin = Vec<Real, 3>::zero();
    if (Framed && shape.spin[0] != nullptr) spin = vector_at(shape.spin, s);
    Joint joint[2] = {Joint::none(), Joint::none()};
    ChainRow<Real> row = ChainRow<Real>::zero();
    TRIBO_UNROLL
    for (int k = 0; k < 4; ++k) {
      const Index j = i + k - 2;
      if (j >= first && j < end) n[k] = node(j);
    }
    TRIBO_UNROLL
    for (int k = 0; k < 3; ++k) {
      const Index j = i + k - 2;
      if (j < first || j + 1 >= end) continue;
      edge[k] = Forces::edge(n[k], n[k + 1], constant(j, RodRow::length));
      if constexpr (Framed) {
        m[k] = vector_at(shape.director, j);
        theta[k] = shape.theta[slot_place<Real>(slot[j], theta_numbers, place(ThetaRow::rate))];
      }
    }
    forces.put_vertex(n[2], w, row);
    if (i > first)
      forces.template put_edge<Guessed>(constant(i - 1, RodRow::stretch), constant(i - 1, RodRow::length), edge[1], w,
                                        n[1], n[2], row);
    TRIBO_UNROLL
    for (int k = 0; k < 2; ++k) {
      const Index j = i + k - 1;
      if (j <= first || j + 1 >= end) continue;
      const RodJoint<Real> bent(edge[k], edge[k + 1]);
      if constexpr (Framed)
        forces.framed_joint(law_at(j), shape.twist[j], bent, m[k], m[k + 1], theta[k], theta[k + 1], spin, w, n + k,
                            joint[k]);
      else
        forces.straight_joint(constant(j, RodRow::bend1), bent, w, n + k, joint[k]);
    }
    Forces::put_joints(joint[0], joint[1], row);
    return row;
  }
};

/// Rows that `AssembleRow` left become factor and solution.
template <class Real>
struct EliminateStrands {
  using T = ParticlePack<Real>;
  const Real* chain;
  const StretchGuess* guesses;  ///< null for all strands
  Real* factor;
  Real* solution;
  RootRest* root_rest;  ///< of strands, or null

  using Pipe = KeptPipe<Real>;
  using Memory = KeptMemory<Real>;

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (guesses != nullptr && guesses[pack.group.first_strand + pack.lane] != StretchGuess::wrong) return;
    if (pack.group.twisted != 0)
      eliminate_rows<3>(pack, memory.forward);
    else
      eliminate_rows<2>(pack, memory.forward);
    substitute_back(pack, memory.back, factor, solution, PutSolution<Real>{solution});
  }

 private:
  template <int Springs>
  TRIBO_HD void eliminate_rows(const StrandPack<Real>& pack, typename Pipe::Memory& memory) const {
    const KeptRows<Real> list{chain};
    const Index count = pack.rows();
    Pipe pipe(memory, list, pack, count - 1, -1, count);
    Chain<T> elimination;
    for (Index i = count - 1; i >= 0; --i) {
      T n[Pipe::numbers];
      pipe.next(n);
      ChainRow<T> row;
      ChainRow<T>::each(row, [&](int c, T& x) { x = n[c]; });
      if (i == 1 && root_rest != nullptr) put_root_rest<Real>(pack, elimination, row, root_rest);
      FactorRow<T> f;
      PutSolution<Real>{solution}(pack, i, elimination.template next<Springs>(row, f));
      f.store(pack, factor, i);
    }
  }
};

template <class Real>
struct TakeSolution {
  const Index* vertex_strand;
  const StretchGuess* guesses;  ///< null for all strands
  const Real* inverse_mass;
  FieldView<const Real, 3> v_start;
  SlotSolution<Real> solution;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (!(inverse_mass[i] > Real(0))) return;
    if (guesses != nullptr && guesses[vertex_strand[i]] != StretchGuess::wrong) return;
    const Vec<Real, 3> dv = solution(i);
    for (int k = 0; k < 3; ++k) v[k][i] = v_start[k][i] + dv[k];
  }
};

/// Whether a strand needs a guess, or another one.
template <class Real, bool Guessed>
struct WeighStretch {
  using Forces = StrandForces<Real>;
  using Balance = StretchBalance<Real>;
  struct Scratch {
    Balance sum[Team::size];
  };
  Forces forces;
  StrandShape<Real> shape;
  const Index *start, *slot, *strand_body;
  FieldView<const Real, 3> v, guess;
  StretchGuess* guesses;

  TRIBO_HD void operator()(const Team& team, Index s, Scratch& scratch) const {
    if (Guessed && guesses[s] != StretchGuess::wrong) return;
    Balance sum = Balance::none();
    for (Index i = start[s] + team.rank(); i < start[s + 1]; i += Team::size) {
      const Vec<Real, 3> end = vector_at(v, i);
      sum.add_vertex(constant(i, RodRow::mass), constant(i, RodRow::free), end - vector_at(shape.v_start, i));
      if (i == start[s]) continue;
      const Real k = constant(i - 1, RodRow::stretch), rest = constant(i - 1, RodRow::length);
      const Vec<Real, 3> before = vector_at(v, i - 1);
      if constexpr (Guessed)
        sum.missed += forces.missed_energy(k, rest, forces.weights[strand_body[s]], node(i - 1), node(i), before, end);
      else
        sum.add_turn(k, rest, forces.dt * (end - before));
    }
    scratch.sum[team.rank()] = sum;
    team.barrier();
    if (team.rank() != 0) return;
    for (int k = 1; k < Team::size; ++k) sum.add(scratch.sum[k]);
    if (Guessed ? sum.is_wrong() : sum.needs_guess())
      guesses[s] = StretchGuess::wrong;
    else
      guesses[s] = Guessed ? StretchGuess::right : StretchGuess::none;
  }

 private:
  TRIBO_HD Real constant(Index i, RodRow which) const {
    return shape.rows[slot_place<Real>(slot[i], static_cast<int>(RodRow::count), static_cast<int>(which))];
  }
  TRIBO_HD typename Forces::Node node(Index i) const {
    typename Forces::Node n;
    n.point = {vector_at(shape.positions.x, i), vector_at(shape.positions.tail, i)};
    n.guess = vector_at(guess, i);
    return n;
  }
};
struct IsWrong {
  const StretchGuess* guesses;
  TRIBO_HD Index operator()(Index s) const { return guesses[s] == StretchGuess::wrong ? 1 : 0; }
};
template <class Real>
struct PutGuess {
  const Index* vertex_strand;
  const StretchGuess* guesses;
  FieldView<const Real, 3> v;
  FieldView<Real, 3> guess;
  TRIBO_HD void operator()(Index i) const {
    if (guesses[vertex_strand[i]] != StretchGuess::wrong) return;
    for (int k = 0; k < 3; ++k) guess[k][i] = v[k][i];
  }
};

/// How fast theta turns while it stays at equilibrium, for the velocities v that a step begins with.
///
/// Bending and twist have a part of theta, which follows wherever vertices go: with theta as it is, a curl that swings
/// would be twisted to and fro in each of its turns, and lost 25 times what it should. Over edges and theta, the
/// springs of all joints have K_b by edges, C mixed and H by theta: theta' = -H^-1 C^T v makes the sum of k (rate)^2
/// least, and R = K_b - C H^-1 C^T is what it leaves of K_b. R is no chain, but its product with v can be had from one:
/// let theta' of each edge follow the difference w of its velocities alone, theta' = L w, L = theta' w^T / |w|^2
/// (`Turning`). With any L the springs make a chain T >= R, and with this one T v is R v, since theta' is the best
/// there is.
///
/// So T takes the place of K_b, in A and in the rates alike. That matters: with A = M + W and the rates S v, a step A
/// dv = -dt E' x - S v, x += dt v' of an energy with the Hessian E' changes that by
///   -|dv|^2 / 2 - v' (S - dt^2/2 E') v' - v' (W - S) dv,  v' = v + dv.
/// The last is the change of an energy v (W - S) v / 2 that nobody put in and that becomes real: with K_b in A and R v
/// in the rates, struck curls gained a quarter of theirs. With T in both, W - S is (1 - e)^2/4 dt^2 T with e of
/// `weights_of`, nothing without damping, and what remains does not rise as long as S, which is dt^2 T or more, is no
/// less than dt^2/2 E'. T takes dt^2 dv (T - R) dv in a step more than R would: an order of dt less than that does. Of
/// free strands S has only what they do besides turning as a whole; that they do not gain by it is measured, no more.
///
/// theta' follows radian for radian at most, |L| <= 1 / length: an edge that turns about itself faster than its
/// direction turns hardly says how, and A would have the noise of it times |L|^2. Edges that are steep to the axis of
/// their curl thus lose more than they should still.
///
/// Pivots have a bound where a strand can turn about itself: H is larger then, and R between what it should be and K_b.
template <class Real>
struct ThetaRates {
  using T = ParticlePack<Real>;
  const Real* rows;
  Real* theta;  ///< has what joints add, and the rates of edges that are held

  struct JointRows {
    static constexpr int held = (theta_numbers + 3) / 4 * 4, held_first = static_cast<int>(RodRow::held) / 4 * 4,
                         held_at = held + static_cast<int>(RodRow::held) - held_first, numbers = held_at + 1;
    const Real *rows, *theta;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index i, const Put& put) const {
      put.row(0, theta, theta_numbers, i, theta_numbers);
      put.row(held, rows, static_cast<int>(RodRow::count), i, numbers - held, held_first);
    }
  };
  struct EdgeRows {
    static constexpr int first = theta_joint_numbers, numbers = theta_numbers - first;
    const Real* theta;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index i, const Put& put) const {
      put.row(0, theta, theta_numbers, i, numbers, first);
    }
  };
  using JointPipe = RowPipe<Real, JointRows::numbers, JointRows>;
  using EdgePipe = RowPipe<Real, EdgeRows::numbers, EdgeRows>;
  union Memory {
    typename JointPipe::Memory joints;
    typename EdgePipe::Memory edges;
  };

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (pack.group.twisted == 0) return;
    eliminate(pack, memory.joints);
    substitute(pack, memory.edges);
  }

 private:
  TRIBO_HD void eliminate(const StrandPack<Real>& pack, typename JointPipe::Memory& memory) const {
    finish_stores();
    const T zero(Real(0)), one(Real(1));
    const Index edges = pack.rows() - 1;
    const JointRows list{rows, theta};
    JointPipe pipe(memory, list, pack, 1, 1, edges - 1);
    EdgeSweep<T> sweep = EdgeSweep<T>::start();
    T held = pack.constant(rows, RodRow::held, 0), given = pack.load(theta, theta_numbers, 0, place(ThetaRow::rate));
    T D = zero, right = zero, before = zero;  // of the joint before the edge
    for (Index j = 0; j < edges; ++j) {
      T after = zero, next_D = zero, next_right = zero, next_held = one, next_given = zero;
      if (j + 1 < edges) {
        T n[JointPipe::numbers];
        pipe.next(n);
        const T bend = n[place(ThetaRow::bend)], twist = n[place(ThetaRow::twist)],
                bend_rate = n[place(ThetaRow::bend_rate)], twist_rate = n[place(ThetaRow::twist_rate)];
        next_D = bend + twist;
        D = D + next_D;
        after = bend - twist;
        right = right + (twist_rate - bend_rate);
        next_right = -(twist_rate + bend_rate);
        next_held = n[JointRows::held_at];
        next_given = n[place(ThetaRow::rate)];
      }
      const auto none = D <= zero;  // rows without an edge have no number at all
      sweep.next(before, D, after, right, D * T(Real(sizeof(Real) == 4 ? 1e-4 : 1e-7)), held > T(Real(0.5)) || none,
                 select(none, zero, given));
      pack.store(theta, theta_numbers, j, place(ThetaRow::rate), sweep.value);
      pack.store(theta, theta_numbers, j, place(ThetaRow::upper), sweep.upper);
      D = next_D;
      right = next_right;
      before = after;
      held = next_held;
      given = next_given;
    }
  }
  TRIBO_HD void substitute(const StrandPack<Real>& pack, typename EdgePipe::Memory& memory) const {
    finish_stores();
    const Index edges = pack.rows() - 1;
    const EdgeRows list{theta};
    EdgePipe pipe(memory, list, pack, edges - 1, -1, edges);
    T rate(Real(0));
    for (Index j = edges - 1; j >= 0; --j) {
      T n[EdgePipe::numbers];
      pipe.next(n);
      rate = n[place(ThetaRow::rate) - EdgeRows::first] - n[place(ThetaRow::upper) - EdgeRows::first] * rate;
      pack.store(theta, theta_numbers, j, place(ThetaRow::rate), rate);
    }
  }
};

/// The same for a pack of strands, from their joints on.
template <class Real>
struct TurnStrands {
  using Memory = typename ThetaRates<Real>::Memory;
  StrandRows<Real> rows;
  ThetaRates<Real> rates;

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (pack.group.twisted == 0) return;
    rows.put_theta_joints(pack, rates.theta);
    rates(pack, memory);
  }
};
/// The joint at a vertex, all by itself: what a GPU has threads for.
template <class Real>
struct PutThetaJoint {
  VertexRows<Real> rows;
  const Index* twisted;  ///< of bodies
  Real* theta;

  TRIBO_HD void operator()(Index i) const {
    const Index s = rows.vertex_strand[i];
    if (i == rows.start[s] || i + 1 >= rows.start[s + 1] || twisted[rows.strand_body[s]] == 0) return;
    using Forces = StrandForces<Real>;
    const typename Forces::Node n[3] = {rows.node(i - 1), rows.node(i), rows.node(i + 1)};
    const RodJoint<Real> joint(Forces::edge(n[0], n[1], rows.constant(i - 1, RodRow::length)),
                               Forces::edge(n[1], n[2], rows.constant(i, RodRow::length)));
    Real numbers[theta_joint_numbers];
    rows.forces.theta_joint(rows.law_at(i), rows.shape.twist[i], joint, vector_at(rows.shape.director, i - 1),
                            vector_at(rows.shape.director, i), n, numbers);
    put_slot(theta, rows.slot[i], theta_numbers, theta_joint_numbers, numbers);
  }
};

/// Of edges that are held, with the motion that holds them.
template <class Real>
struct TurnHeldEdge {
  const Index *vertex, *drive, *holds, *slot, *vertex_strand, *start;
  Index vertices;
  const RodDriveStep *keyed, *skinned;
  FieldView<const double, 3> anchor_director;
  FieldView<const Real, 3> x, tail, v, director;
  double dt;
  Real* theta;

  TRIBO_HD void operator()(Index d) const {
    if (holds[d] == 0) return;
    const Index i = vertex[d];
    const auto difference = [&](const FieldView<const Real, 3>& of) {
      return cast<double>(vector_at(of, i + 1)) - cast<double>(vector_at(of, i));
    };
    const Vec<double, 3> edge = difference(x) + difference(tail);
    const RodEdge<double> from(edge), to(edge + dt * difference(v));
    const Vec<double, 3> m = transport(cast<double>(vector_at(director, i)), from.t, to.t),
                         end = drive_of(keyed, skinned, drive[d]).rotation * vector_at(anchor_director, d);
    const auto rate = static_cast<Real>(angle_of(dot(cross(m, end), to.t), dot(m, end)) / dt);
    // Lanes without a strand repeat the last of their group.
    const Index after = start[vertex_strand[i] + 1], lane = slot[i] % group_width<Real>;
    const bool last = after == vertices || slot[after] % group_width<Real> == 0;
    for (Index k = 0; k < (last ? group_width<Real> - lane : 1); ++k)
      theta[slot_place<Real>(slot[i] + k, theta_numbers, place(ThetaRow::rate))] = rate;
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
  double speed2, turning2, twist_rate;
  Index first_bad;
};
template <class Real>
struct LoadRodBounds {
  FieldView<const Real, 3> x, v;
  const Real* length;
  const Real* twist;
  const Real* rest_twist;
  const Real* twist_rate;
  TRIBO_HD RodBounds operator()(Index i) const {
    double sum = 0, place = 0, turn = 0;
    for (int k = 0; k < 3; ++k) {
      sum += static_cast<double>(v[k][i]) * static_cast<double>(v[k][i]);
      place += static_cast<double>(x[k][i]);
    }
    if (const auto l = static_cast<double>(length[i]); l > 0) {  // not where a strand ends
      for (int k = 0; k < 3; ++k) {
        const double w = static_cast<double>(v[k][i + 1]) - static_cast<double>(v[k][i]);
        turn += w * w / (l * l);
      }
    }
    const auto rate = static_cast<double>(twist_rate[i] * abs(twist[i] - rest_twist[i]));
    const double all = sum + place + rate;
    return {sum, turn, rate, all - all == 0 ? Index{no_index} : i};
  }
};
struct JoinRodBounds {
  TRIBO_HD RodBounds operator()(const RodBounds& a, const RodBounds& b) const {
    return {max(a.speed2, b.speed2), max(a.turning2, b.turning2), max(a.twist_rate, b.twist_rate),
            min(a.first_bad, b.first_bad)};
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
  const RodBounds bounds =
      reduce(ex, "rods", mesh.vertices, RodBounds{0, 0, 0, no_index},
             LoadRodBounds<Real>{view(now.x), view(now.v), mesh.length.data(), now.twist.c[0].data(),
                                 mesh.rest_twist.data(), mesh.twist_rate.data()},
             JoinRodBounds{});
  state.speed = std::sqrt(bounds.speed2);
  state.turning = std::sqrt(bounds.turning2);
  const double rate2 = mesh.stable_rate * mesh.stable_rate + bounds.twist_rate;
  state.stable_dt = rate2 > 0 ? 0.5 / std::sqrt(rate2) : 0;
  for (const RodBody& body : mesh.body)  // Rayleigh's, explicitly: dt beta omega^2 < 2, omega^2 = 4 rate2 at most
    if (const double beta = std::max(body.bend_damping, body.stretch_damping); beta * rate2 > 0)
      state.stable_dt = std::min(state.stable_dt, 0.25 / (beta * rate2));
  return bounds.first_bad;
}

template <class Real>
void begin_rods(Exec& ex, const RodState<Real>& state, RodWorkspace<Real>& work) {
  copy_field(ex, "rods", state.v, state.count, work.v_start);
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
  work.dt = dt;
  work.scheme = constants.scheme;
  work.factor.resize_discard(row_array_size<Real>(mesh.rows, factor_numbers));
  work.solution.resize_discard(row_array_size<Real>(mesh.rows, 3));
  const RodWorkspace<Real>& kept = work;
  const StrandForces<Real> forces{kept.weights.data(), constants.gravity, static_cast<Real>(dt),
                                  constants.scheme != RodScheme::explicit_euler};
  StrandShape<Real> shape{mesh.row.data(),
                          {view(now.x), view(now.x_tail)},
                          view(kept.v_start),
                          view(now.director),
                          now.twist.c[0].data(),
                          {{nullptr, nullptr, nullptr}},
                          nullptr};
  if (forces.implicit && mesh.twisted && mesh.loose_count > 0) {
    find_spins(ex, mesh, state, work);
    shape.spin = view(kept.spin);
  }
  if (mesh.twisted) {
    work.frame.resize_discard(row_array_size<Real>(mesh.rows, frame_numbers));
    parallel_for(ex, "rods", mesh.driven,
                 TurnHeldEdge<Real>{mesh.driven_vertex.data(), mesh.drive.data(), mesh.holds.data(), mesh.slot.data(),
                                    mesh.vertex_strand.data(), mesh.start.data(), mesh.vertices, kept.drives.data(),
                                    kept.skin.data(), view(mesh.anchor_director), view(now.x), view(now.x_tail),
                                    view(now.v), view(now.director), dt, work.frame.data()});
    const ThetaRates<Real> rates{mesh.row.data(), work.frame.data()};
    if constexpr (fetches_ahead) {
      parallel_for(ex, "rods", mesh.vertices,
                   PutThetaJoint<Real>{{forces, shape, mesh.start.data(), mesh.vertex_strand.data(),
                                        mesh.strand_body.data(), mesh.slot.data(), view(now.v)},
                                       mesh.body_twisted.data(),
                                       work.frame.data()});
      for_each_strand_pack<Real>(ex, "rods", mesh, rates);
    } else {
      for_each_strand_pack<Real>(ex, "rods", mesh,
                                 TurnStrands<Real>{{forces, shape, view(now.v), view(kept.v_start)}, rates});
    }
    shape.theta = kept.frame.data();
  }
  work.guess.resize_discard(mesh.vertices);
  work.guesses.resize_discard(mesh.strands);
  if (mesh.skin_vertices > 0) work.root_rest.resize_discard(mesh.strands);
  RootRest* const rest = mesh.skin_vertices > 0 ? work.root_rest.data() : nullptr;
  if constexpr (fetches_ahead) {
    work.chain.resize_discard(row_array_size<Real>(mesh.rows, chain_numbers));
    const auto solve = [&]<bool Guessed>(std::bool_constant<Guessed>) {
      const StretchGuess* const some = Guessed ? kept.guesses.data() : nullptr;
      parallel_for(ex, "rods", mesh.vertices,
                   AssembleRow<Real, Guessed>{{forces, shape, mesh.start.data(), mesh.vertex_strand.data(),
                                               mesh.strand_body.data(), mesh.slot.data(), view(now.v)},
                                              mesh.body_twisted.data(),
                                              view(kept.guess),
                                              some,
                                              work.chain.data()});
      for_each_strand_pack<Real>(
          ex, "rods", mesh,
          EliminateStrands<Real>{work.chain.data(), some, work.factor.data(), work.solution.data(), rest});
      parallel_for(ex, "rods", mesh.vertices,
                   TakeSolution<Real>{mesh.vertex_strand.data(),
                                      some,
                                      mesh.inverse_mass.data(),
                                      view(kept.v_start),
                                      {mesh.slot.data(), work.solution.data()},
                                      view(state.v)});
    };
    const auto weigh = [&]<bool Guessed>(std::bool_constant<Guessed>) {
      using Weigh = WeighStretch<Real, Guessed>;
      for_each_team<typename Weigh::Scratch>(
          ex, "rods", mesh.strands,
          Weigh{forces, shape, mesh.start.data(), mesh.slot.data(), mesh.strand_body.data(), view(now.v),
                view(kept.guess), work.guesses.data()});
      return reduce(ex, "rods", mesh.strands, Index{0}, IsWrong{kept.guesses.data()}, Plus<Index>{}) > 0;
    };
    solve(std::false_type{});
    bool wrong = forces.implicit && weigh(std::false_type{});
    for (int k = 0; k < most_guesses && wrong; ++k) {
      parallel_for(ex, "rods", mesh.vertices,
                   PutGuess<Real>{mesh.vertex_strand.data(), kept.guesses.data(), view(now.v), view(work.guess)});
      solve(std::true_type{});
      wrong = weigh(std::true_type{});
    }
  } else {
    for_each_strand_pack<Real>(ex, "rods", mesh,
                               AdvanceStrands<Real>{{forces, shape, view(now.v), view(kept.guess)},
                                                    work.factor.data(),
                                                    work.solution.data(),
                                                    view(state.v),
                                                    view(work.guess),
                                                    work.guesses.data(),
                                                    rest});
  }
  if (forces.implicit) keep_spins(ex, mesh, dt, state, work);
}

template <class Real>
void keep_rows(Exec& ex, const RodMesh<Real>& mesh, const Array<Index>& touched, const RodState<Real>& state,
               RodWorkspace<Real>& work) {
  if constexpr (!fetches_ahead) {
    work.chain.resize_discard(row_array_size<Real>(mesh.rows, chain_numbers));
    const RodWorkspace<Real>& kept = work;
    const StrandForces<Real> forces{kept.weights.data(), Vec<Real, 3>::zero(), static_cast<Real>(kept.dt),
                                    kept.scheme != RodScheme::explicit_euler};
    const StrandShape<Real> shape{
        mesh.row.data(),         {view(state.x), view(state.x_tail)}, view(kept.v_start), view(state.director),
        state.twist.c[0].data(), {{nullptr, nullptr, nullptr}},  // of right-hand sides, which do not matter
        kept.frame.data()};
    for_each_strand_pack<Real>(
        ex, "rods", mesh,
        KeepRows<Real>{
            {forces, shape, view(state.v), view(kept.guess)}, touched.data(), kept.guesses.data(), work.chain.data()});
  }
}

#define TRIBO_INSTANTIATE(Real)                                                                                   \
  template void place_rod_drives(Exec&, const RodConstants<Real>&, double, double, RodWorkspace<Real>&);          \
  template Index evaluate_rods(Exec&, const RodMesh<Real>&, RodState<Real>&);                                     \
  template void begin_rods(Exec&, const RodState<Real>&, RodWorkspace<Real>&);                                    \
  template void rod_step(Exec&, const RodConstants<Real>&, const RodMesh<Real>&, double, double, RodState<Real>&, \
                         RodWorkspace<Real>&);                                                                    \
  template void keep_rows(Exec&, const RodMesh<Real>&, const Array<Index>&, const RodState<Real>&, RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
