#include "tribo/stages/rod/frames.h"

#include <utility>

#include "tribo/stages/rod/row_pipe.h"
#include "tribo/stages/rod/strand_particles.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// x + dt v, with the rounding error in the tail (two-sum).
template <class Real>
struct MoveRodVertex {
  FieldView<const Real, 3> x, tail, v;
  Real dt;
  FieldView<Real, 3> x_next, tail_next;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) {
      const Real from = x[k][i], by = fma(dt, v[k][i], tail[k][i]);
      const Real to = from + by;
      const Real moved = to - from;
      x_next[k][i] = to;
      tail_next[k][i] = (from - (to - moved)) + (by - moved);
    }
  }
};

template <class Real>
struct MoveDriven {
  const Index* vertex;
  const Index* drive;
  const Index* holds;
  const RodDriveStep *keyed, *skinned;
  FieldView<const double, 3> anchor, anchor_director;
  FieldView<Real, 3> x_next, tail_next, director_next;
  TRIBO_HD void operator()(Index d) const {
    const RodDriveStep& at = drive_of(keyed, skinned, drive[d]);
    const Vec<double, 3> place = at.rotation * Vec<double, 3>{{anchor[0][d], anchor[1][d], anchor[2][d]}} + at.at;
    for (int k = 0; k < 3; ++k) {
      const Real rounded = static_cast<Real>(place[k]);
      x_next[k][vertex[d]] = rounded;
      tail_next[k][vertex[d]] = static_cast<Real>(place[k] - static_cast<double>(rounded));
    }
    if (holds[d] == 0) return;
    const Vec<double, 3> m =
        at.rotation * Vec<double, 3>{{anchor_director[0][d], anchor_director[1][d], anchor_director[2][d]}};
    for (int k = 0; k < 3; ++k) director_next[k][vertex[d]] = static_cast<Real>(m[k]);
  }
};

/// Transport in time and equilibrium of theta of a pack of strands.
template <class Real>
struct TurnFrames {
  using T = ParticlePack<Real>;
  using Positions = StrandPositions<Real>;

  const Real* rows;
  Positions before, after;
  FieldView<const Real, 3> director_next;  ///< of edges that are held
  int most_iterations;
  Real* frame;
  FieldView<Real, 3> director;
  Real* twist;

  struct CarryRows {
    enum { from, from_tail = from + 3, to = from_tail + 3, to_tail = to + 3, director = to_tail + 3, held = director + 3, twist, numbers };
    const TurnFrames& of;

    /// The end of edge i, and what it carries.
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index i, const Put& put) const {
      using Number = RowNumber<Real>;
      for (int k = 0; k < 3; ++k) {
        put(from + k, Number::of_vertex(pack, of.before.x[k], i + 1));
        put(from_tail + k, Number::of_vertex(pack, of.before.tail[k], i + 1));
        put(to + k, Number::of_vertex(pack, of.after.x[k], i + 1));
        put(to_tail + k, Number::of_vertex(pack, of.after.tail[k], i + 1));
        put(director + k, Number::of_vertex(pack, of.director[k], i));
      }
      put(held, Number::of_constant(pack, of.rows, RodRow::held, i));
      put(twist, Number::of_vertex(pack, of.twist, i));
    }
  };
  /// Of the joint at row i and the edge after it.
  struct JointRows {
    enum { held, joint, curvature = joint + joint_numbers, turned = curvature + 4, numbers };
    const TurnFrames& of;

    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index i, const Put& put) const {
      put(held, RowNumber<Real>::of_constant(pack, of.rows, RodRow::held, i));
      list_joint(pack, of.rows, i, joint, put);
      for (int k = 0; k < 4; ++k) put(curvature + k, of.kept(pack, i, Kept::curvature, k));
      put(turned, of.kept(pack, i, Kept::twist));
    }
  };
  /// Of edge i and the joint after it.
  struct BackRows {
    enum { value, upper, director, tangent = director + 3, curvature = tangent + 3, turned = curvature + 4, numbers };
    const TurnFrames& of;

    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index i, const Put& put) const {
      put(value, of.kept(pack, i, Kept::value));
      put(upper, of.kept(pack, i, Kept::upper));
      for (int k = 0; k < 3; ++k) put(director + k, of.kept(pack, i, Kept::director, k));
      for (int k = 0; k < 3; ++k) put(tangent + k, of.kept(pack, i, Kept::tangent, k));
      for (int k = 0; k < 4; ++k) put(curvature + k, of.kept(pack, i + 1, Kept::curvature, k));
      put(turned, of.kept(pack, i + 1, Kept::twist));
    }
  };
  struct ResultRows {
    enum { director, twist = director + 3, numbers };
    const TurnFrames& of;

    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>& pack, Index i, const Put& put) const {
      for (int k = 0; k < 3; ++k) put(director + k, of.kept(pack, i, Kept::director, k));
      put(twist, of.kept(pack, i, Kept::twist));
    }
  };
  template <class Rows>
  using Pipe = RowPipe<Real, Rows::numbers, Rows>;
  union Memory {
    typename Pipe<CarryRows>::Memory carry;
    typename Pipe<JointRows>::Memory joints;
    typename Pipe<BackRows>::Memory back;
    typename Pipe<ResultRows>::Memory results;
  };

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (pack.group.twisted == 0) return;
    carry(pack, memory.carry);
    const T zero(Real(0)), enough(Real(sizeof(Real) == 4 ? 1e-5 : 1e-7));  // quadratic: what is left is its square
    T going(Real(1));  // strands that have not converged; others stay as they are, whoever shares their pack
    for (int k = 0; k < most_iterations && any(going > zero); ++k)
      going = select(relax(pack, going, memory) < enough, zero, going);
    finish_stores();
    const ResultRows list{*this};
    const Index edges = pack.group.rows - 1;
    Pipe<ResultRows> pipe(memory.results, list, pack, 0, 1, edges);
    for (Index i = 0; i < edges; ++i) {
      T n[ResultRows::numbers];
      pipe.next(n);
      pack.scatter(director, i, {{n[0], n[1], n[2]}});
      if (i > 0) pack.scatter(twist, i, n[ResultRows::twist]);
    }
  }

 private:
  /// What is kept of a row on the way.
  enum class Kept { director, tangent = director + 3, curvature = tangent + 3, twist = curvature + 4, upper, value };
  static_assert(static_cast<int>(Kept::value) + 1 == frame_numbers);
  TRIBO_HD RowNumber<Real> kept(const StrandPack<Real>& pack, Index row, Kept which, int k = 0) const {
    return RowNumber<Real>::of_row(pack, frame, frame_numbers, row, static_cast<int>(which) + k);
  }
  TRIBO_HD void store(const StrandPack<Real>& pack, Index row, Kept which, int k, const T& value) const {
    pack.store(frame, frame_numbers, row, static_cast<int>(which) + k, value);
  }
  /// Directors by parallel transport from the old tangents to the new, or with what holds them; and the twist that is
  /// then between them: the angle of directors, in whole turns as close to the old twist as can be.
  TRIBO_HD void carry(const StrandPack<Real>& pack, typename Pipe<CarryRows>::Memory& memory) const {
    using R = CarryRows;
    const R list{*this};
    Pipe<R> pipe(memory, list, pack, 0, 1, pack.group.rows - 1);
    typename Positions::Point from = before.at(pack, 0), to = after.at(pack, 0);
    RodEdge<T> last;
    Vec<T, 3> m_last = Vec<T, 3>::filled(T(Real(0)));
    for (Index i = 0; i + 1 < pack.group.rows; ++i) {
      T n[R::numbers];
      pipe.next(n);
      typename Positions::Point from_end, to_end;
      Vec<T, 3> m_old;
      for (int k = 0; k < 3; ++k) {
        from_end.x[k] = n[R::from + k];
        from_end.tail[k] = n[R::from_tail + k];
        to_end.x[k] = n[R::to + k];
        to_end.tail[k] = n[R::to_tail + k];
        m_old[k] = n[R::director + k];
      }
      const RodEdge<T> old(edge_between(from, from_end)), edge(edge_between(to, to_end));
      Vec<T, 3> m = transport(m_old, old.t, edge.t);
      const auto held = n[R::held] > T(Real(0.5));
      if (any(held)) m = select<T>(held, pack.gather(director_next, i), m);
      m = m - dot(m, edge.t) * edge.t;
      const T size = squared_norm(m);  // nothing is left of it where the edge turned about or has no direction
      m = select<T>(size < T(Real(1e-6)), m_old, rsqrt(max(size, T(Real(1e-30)))) * m);
      for (int k = 0; k < 3; ++k) {
        store(pack, i, Kept::director, k, m[k]);
        store(pack, i, Kept::tangent, k, edge.t[k]);
      }
      if (i > 0) {
        const RodJoint<T> joint(last, edge);
        const JointCurvature<T> at(joint, m_last, m);
        for (int k = 0; k < 4; ++k) store(pack, i, Kept::curvature, k, at.p[k]);
        T s, c;
        joint.turn(m_last, m, s, c);
        const T angle = angle_of(s, c);
        const T turns = floor((n[R::twist] - angle) * T(Real(0.15915494309189533577)) + T(Real(0.5)));
        store(pack, i, Kept::twist, 0, fma(turns, T(Real(6.283185307179586477)), angle));
      }
      from = from_end;
      to = to_end;
      last = edge;
      m_last = m;
    }
  }

  /// One Newton step of dE/dtheta = 0 over the edges that are not held, by the Thomas algorithm (formulas E.5). Pivots
  /// are kept above a part of what they would be if bending took nothing from the diagonal, so that it never goes
  /// uphill; no edge turns by more than 0.3 rad. Returns the largest turn.
  TRIBO_HD T relax(const StrandPack<Real>& pack, const T& going, Memory& memory) const {
    finish_stores();
    const T zero(Real(0)), one(Real(1));
    const Index edges = pack.group.rows - 1;
    JointLaw<T> law;  // of the joint before the edge
    JointCurvature<T> at;
    T moment = zero, coupling = zero, upper = zero, value = zero;
    T held = pack.constant(rows, RodRow::held, 0);
    const JointRows joints{*this};
    Pipe<JointRows> pipe(memory.joints, joints, pack, 1, 1, edges - 1);
    for (Index j = 0; j < edges; ++j) {
      T g = zero, D = zero, stiff = zero;
      if (j > 0) {
        T torque, stiffness;
        law.bend_torque(at, 1, torque, stiffness);
        g = torque + moment;
        D = stiffness + law.twist;
        stiff = max(stiffness, zero) + law.twist;
      }
      T next_coupling = zero, next_held = one;
      if (j + 1 < edges) {
        using R = JointRows;
        T n[R::numbers];
        pipe.next(n);
        next_held = n[R::held];
        law = joint_law(n + R::joint);
        for (int k = 0; k < 4; ++k) at.p[k] = n[R::curvature + k];
        T torque, stiffness;
        law.bend_torque(at, 0, torque, stiffness);
        moment = law.twist * (n[R::turned] - law.rest_twist);
        g = g + torque - moment;
        D = D + stiffness + law.twist;
        stiff = stiff + max(stiffness, zero) + law.twist;
        next_coupling = -(law.twist * (one - held) * (one - next_held));
      }
      const auto fixed = held > T(Real(0.5)) || stiff <= zero;
      g = select(fixed, zero, g);
      // A little of the diagonal is left even where a rod that is free at both ends can turn as a whole.
      const T least = stiff * T(Real(sizeof(Real) == 4 ? 1e-4 : 1e-7));
      const T pivot = one / select(fixed, one, max(fma(-coupling, upper, D), least));
      value = (-g - coupling * value) * pivot;
      upper = next_coupling * pivot;
      store(pack, j, Kept::upper, 0, upper);
      store(pack, j, Kept::value, 0, value);
      coupling = next_coupling;
      held = next_held;
    }
    finish_stores();
    const BackRows after_them{*this};
    Pipe<BackRows> back(memory.back, after_them, pack, edges - 1, -1, edges);
    T turn = zero, c_after = one, s_after = zero, largest = zero;
    for (Index j = edges - 1; j >= 0; --j) {
      using R = BackRows;
      T n[R::numbers];
      back.next(n);
      const T turn_after = turn;
      turn = n[R::value] - n[R::upper] * turn;
      largest = max(largest, abs(turn));
      turn = going * min(max(turn, T(Real(-0.3))), T(Real(0.3)));
      T c, s;
      small_turn(turn, c, s);
      Vec<T, 3> m, t;
      for (int k = 0; k < 3; ++k) {
        m[k] = n[R::director + k];
        t[k] = n[R::tangent + k];
      }
      m = c * m + s * cross(t, m);
      for (int k = 0; k < 3; ++k) store(pack, j, Kept::director, k, m[k]);
      if (j + 1 < edges) {
        JointCurvature<T> p;
        for (int k = 0; k < 4; ++k) p.p[k] = n[R::curvature + k];
        p.turn(0, c, s);
        p.turn(1, c_after, s_after);
        for (int k = 0; k < 4; ++k) store(pack, j + 1, Kept::curvature, k, p.p[k]);
        store(pack, j + 1, Kept::twist, 0, n[R::turned] + (turn_after - turn));
      }
      c_after = c;
      s_after = s;
    }
    return largest;
  }
};

}  // namespace

template <class Real>
void turn_frames(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& x_next, const Field<Real, 3>& tail_next,
                 int most_iterations, RodState<Real>& state, RodWorkspace<Real>& work) {
  if (!mesh.twisted) return;
  work.frame.resize_discard(Size{mesh.rows} * group_width<Real> * frame_numbers);
  const RodState<Real>& now = state;
  const RodWorkspace<Real>& kept = work;
  for_each_strand_pack<Real>(ex, "rods", mesh,
                             TurnFrames<Real>{mesh.row.data(),
                                              {view(now.x), view(now.x_tail)},
                                              {view(x_next), view(tail_next)},
                                              view(kept.director_next),
                                              most_iterations,
                                              work.frame.data(),
                                              view(state.director),
                                              state.twist.c[0].data()});
}

template <class Real>
void arrive_rods(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& work) {
  // All of them, though only those that are held are read for themselves: rows past the end of a strand read some
  // other one, and no number may come from there that is none.
  copy_field(ex, state.director, mesh.vertices, work.director_next);
  parallel_for(ex, "rods", mesh.driven,
               MoveDriven<Real>{mesh.driven_vertex.data(), mesh.drive.data(), mesh.holds.data(), work.drives.data(),
                                work.skin.data(), view(mesh.anchor), view(mesh.anchor_director), view(work.x_next), view(work.tail_next),
                                view(work.director_next)});
  // Theta moves little in a step, and what a step leaves undone the next one does.
  constexpr int most_iterations = 8;
  turn_frames(ex, mesh, work.x_next, work.tail_next, most_iterations, state, work);
  for (int k = 0; k < 3; ++k) {
    state.x.c[k].swap(work.x_next.c[k]);
    state.x_tail.c[k].swap(work.tail_next.c[k]);
  }
}

template <class Real>
void move_rods(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& work) {
  work.x_next.resize_discard(mesh.vertices);
  work.tail_next.resize_discard(mesh.vertices);
  const RodState<Real>& now = state;
  parallel_for(ex, "rods", mesh.vertices,
               MoveRodVertex<Real>{view(now.x), view(now.x_tail), view(now.v), static_cast<Real>(dt), view(work.x_next),
                                   view(work.tail_next)});
  arrive_rods(ex, mesh, state, work);
}

#define TRIBO_INSTANTIATE(Real)                                                                             \
  template void turn_frames(Exec&, const RodMesh<Real>&, const Field<Real, 3>&, const Field<Real, 3>&, int, \
                            RodState<Real>&, RodWorkspace<Real>&);                                          \
  template void arrive_rods(Exec&, const RodMesh<Real>&, RodState<Real>&, RodWorkspace<Real>&);             \
  template void move_rods(Exec&, const RodMesh<Real>&, double, RodState<Real>&, RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
