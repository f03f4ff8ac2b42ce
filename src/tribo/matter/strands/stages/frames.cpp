#include "tribo/matter/strands/stages/frames.h"

#include <utility>

#include "tribo/exec/copy_field.h"
#include "tribo/matter/strands/contact/edge_sweep.h"
#include "tribo/matter/strands/stages/row_pipe.h"

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

/// What is kept of a row on the way, and where.
enum class Kept { director, value = 3, tangent, upper = 7, curvature, twist = curvature + 4, count };
static_assert(static_cast<int>(Kept::count) == frame_numbers);
constexpr int place(Kept which) { return static_cast<int>(which); }

/// An edge with the director that it carries from its old tangent to the new one by parallel transport.
template <class T>
struct CarriedEdge {
  RodEdge<T> edge;
  Vec<T, 3> m;

  TRIBO_HD CarriedEdge() = default;
  /// `m_held` where something holds the edge, `held` then.
  TRIBO_HD CarriedEdge(const Vec<T, 3>& old_edge, const Vec<T, 3>& new_edge, const Vec<T, 3>& m_old,
                       const mask_t<T>& held, const Vec<T, 3>& m_held)
      : edge(new_edge) {
    using Real = scalar_of<T>;
    const RodEdge<T> old(old_edge);
    m = select<T>(held, m_held, transport(m_old, old.t, edge.t));
    m = m - dot(m, edge.t) * edge.t;
    const T size = squared_norm(m);  // nothing is left of it where the edge turned about or has no direction
    m = select<T>(size < T(Real(1e-6)), m_old, rsqrt(max(size, T(Real(1e-30)))) * m);
  }
};
/// Curvature between two edges, and the twist: the angle of directors, in whole turns as close to the old twist as can
/// be.
template <class T>
struct CarriedJoint {
  JointCurvature<T> at;
  T twist;

  TRIBO_HD CarriedJoint(const CarriedEdge<T>& a, const CarriedEdge<T>& b, const T& old_twist) {
    using Real = scalar_of<T>;
    const RodJoint<T> joint(a.edge, b.edge);
    at = JointCurvature<T>(joint, a.m, b.m);
    T s, c;
    joint.turn(a.m, b.m, s, c);
    const T angle = angle_of(s, c);
    const T turns = floor((old_twist - angle) * T(Real(0.15915494309189533577)) + T(Real(0.5)));
    twist = fma(turns, T(Real(6.283185307179586477)), angle);
  }
};

/// Transport in time of a pack of strands.
template <class Real>
struct CarryStrands {
  using T = ParticlePack<Real>;
  using Memory = NoMemory;
  const Real* rows;
  StrandPositions<Real> before, after;
  FieldView<const Real, 3> director, director_next;  ///< the latter of edges that are held
  const Real* twist;
  Real* frame;

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory&) const {
    if (pack.group.twisted == 0) return;
    auto from = before.at(pack, 0), to = after.at(pack, 0);
    CarriedEdge<T> last;
    for (Index i = 0; i + 1 < pack.rows(); ++i) {
      const auto from_end = before.at(pack, i + 1), to_end = after.at(pack, i + 1);
      const Vec<T, 3> m_old = pack.gather(director, i);
      const auto held = pack.constant(rows, RodRow::held, i) > T(Real(0.5));
      const CarriedEdge<T> carried(edge_between(from, from_end), edge_between(to, to_end), m_old, held,
                                   any(held) ? pack.gather(director_next, i) : m_old);
      const T edge[7] = {carried.m[0],      carried.m[1],      carried.m[2],     T(Real(0)),
                         carried.edge.t[0], carried.edge.t[1], carried.edge.t[2]};
      put_row(pack, frame, frame_numbers, i, 7, edge, place(Kept::director));
      if (i > 0) {
        const CarriedJoint<T> joint(last, carried, pack.gather(twist, i));
        const T bent[5] = {joint.at.p[0], joint.at.p[1], joint.at.p[2], joint.at.p[3], joint.twist};
        put_row(pack, frame, frame_numbers, i, 5, bent, place(Kept::curvature));
      }
      from = from_end;
      to = to_end;
      last = carried;
    }
  }
};
/// The same for one edge and the joint where it begins, all by itself: what a GPU has threads for.
template <class Real>
struct CarryEdge {
  const Real* rows;
  StrandPositions<Real> before, after;
  FieldView<const Real, 3> director, director_next;
  const Real* twist;
  const Index *start, *vertex_strand, *strand_body, *body_twisted, *slot;
  Real* frame;

  TRIBO_HD void operator()(Index i) const {
    const Index s = vertex_strand[i];
    if (i + 1 >= start[s + 1] || body_twisted[strand_body[s]] == 0) return;
    const CarriedEdge<Real> carried = carry(i);
    const Real edge[7] = {carried.m[0],      carried.m[1],      carried.m[2],     Real(0),
                          carried.edge.t[0], carried.edge.t[1], carried.edge.t[2]};
    put_slot(frame, slot[i], frame_numbers, 7, edge, place(Kept::director));
    if (i == start[s]) return;
    const CarriedJoint<Real> joint(carry(i - 1), carried, twist[i]);
    const Real bent[5] = {joint.at.p[0], joint.at.p[1], joint.at.p[2], joint.at.p[3], joint.twist};
    put_slot(frame, slot[i], frame_numbers, 5, bent, place(Kept::curvature));
  }

 private:
  TRIBO_HD static Vec<Real, 3> at(const FieldView<const Real, 3>& field, Index i) {
    return {{field[0][i], field[1][i], field[2][i]}};
  }
  TRIBO_HD static Vec<Real, 3> edge_at(const StrandPositions<Real>& x, Index i) {
    return (at(x.x, i + 1) - at(x.x, i)) + (at(x.tail, i + 1) - at(x.tail, i));
  }
  TRIBO_HD CarriedEdge<Real> carry(Index i) const {
    const bool held =
        rows[slot_place<Real>(slot[i], static_cast<int>(RodRow::count), static_cast<int>(RodRow::held))] > Real(0.5);
    return CarriedEdge<Real>(edge_at(before, i), edge_at(after, i), at(director, i), held,
                             at(held ? director_next : director, i));
  }
};

/// Equilibrium of theta of a pack of strands.
template <class Real>
struct RelaxStrands {
  using T = ParticlePack<Real>;
  const Real* rows;
  int most_iterations;
  Real* frame;

  /// Of the joint at row i and the edge after it: all constants, then curvature and twist.
  struct JointRows {
    static constexpr int bent = (static_cast<int>(RodRow::count) + 3) / 4 * 4;
    static constexpr int numbers = bent + 5;
    const Real *rows, *frame;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index i, const Put& put) const {
      put.row(0, rows, static_cast<int>(RodRow::count), i, static_cast<int>(RodRow::count));
      put.row(bent, frame, frame_numbers, i, 5, place(Kept::curvature));
    }
  };
  struct FrameRows {
    const Real* frame;
    template <class Put>
    TRIBO_HD void operator()(const StrandPack<Real>&, Index i, const Put& put) const {
      put.row(0, frame, frame_numbers, i, frame_numbers);
    }
  };
  using JointPipe = RowPipe<Real, JointRows::numbers, JointRows>;
  using FramePipe = RowPipe<Real, frame_numbers, FrameRows>;
  union Memory {
    typename JointPipe::Memory joints;
    typename FramePipe::Memory frames;
  };

  TRIBO_HD void operator()(const StrandPack<Real>& pack, Memory& memory) const {
    if (pack.group.twisted == 0) return;
    const T zero(Real(0)), enough(Real(sizeof(Real) == 4 ? 1e-5 : 1e-7));  // quadratic: what is left is its square
    T going(Real(1));  // strands that have not converged; others stay as they are, whoever shares their pack
    for (int k = 0; k < most_iterations && any(going > zero); ++k) {
      find_turns(pack, memory.joints);
      going = select(turn(pack, going, memory.frames) < enough, zero, going);
    }
  }

 private:
  /// One Newton step of dE/dtheta = 0 over the edges that are not held (theory E.5). Pivots are kept above a part of
  /// what they would be if bending took nothing from the diagonal, so that it never goes uphill.
  TRIBO_HD void find_turns(const StrandPack<Real>& pack, typename JointPipe::Memory& memory) const {
    finish_stores();
    const T zero(Real(0)), one(Real(1));
    const Index edges = pack.rows() - 1;
    JointLaw<T> law;  // of the joint before the edge
    JointCurvature<T> at;
    for (int k = 0; k < 4; ++k) at.p[k] = zero;
    T moment = zero, coupling = zero;
    EdgeSweep<T> sweep = EdgeSweep<T>::start();
    T held = pack.constant(rows, RodRow::held, 0);
    const JointRows list{rows, frame};
    JointPipe pipe(memory, list, pack, 1, 1, edges - 1);
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
        T n[JointPipe::numbers];
        pipe.next(n);
        next_held = n[static_cast<int>(RodRow::held)];
        law = joint_law(n);
        for (int k = 0; k < 4; ++k) at.p[k] = n[JointRows::bent + k];
        T torque, stiffness;
        law.bend_torque(at, 0, torque, stiffness);
        moment = law.twist * (n[JointRows::bent + 4] - law.rest_twist);
        g = g + torque - moment;
        D = D + stiffness + law.twist;
        stiff = stiff + max(stiffness, zero) + law.twist;
        next_coupling = -law.twist;
      }
      const auto fixed = held > T(Real(0.5)) || stiff <= zero;
      // A little of the diagonal is left even where a rod that is free at both ends can turn as a whole.
      const T least = stiff * T(Real(sizeof(Real) == 4 ? 1e-4 : 1e-7));
      sweep.next(coupling, D, next_coupling, -g, least, fixed, zero);
      pack.store(frame, frame_numbers, j, place(Kept::upper), sweep.upper);
      pack.store(frame, frame_numbers, j, place(Kept::value), sweep.value);
      coupling = next_coupling;
      held = next_held;
    }
  }

  /// Turns directors by what was found, none by more than 0.3 rad. Returns the largest turn.
  TRIBO_HD T turn(const StrandPack<Real>& pack, const T& going, typename FramePipe::Memory& memory) const {
    finish_stores();
    const T zero(Real(0)), one(Real(1));
    const Index edges = pack.rows() - 1;
    const FrameRows list{frame};
    FramePipe pipe(memory, list, pack, edges - 1, -1, edges);
    T by = zero, c_after = one, s_after = zero, largest = zero, twist = zero;
    JointCurvature<T> at;  // of the joint after the edge, as is its twist
    for (int k = 0; k < 4; ++k) at.p[k] = zero;
    for (Index j = edges - 1; j >= 0; --j) {
      T n[FramePipe::numbers];
      pipe.next(n);
      const T by_after = by;
      by = n[place(Kept::value)] - n[place(Kept::upper)] * by;
      largest = max(largest, abs(by));
      by = going * min(max(by, T(Real(-0.3))), T(Real(0.3)));
      T c, s;
      small_turn(by, c, s);
      Vec<T, 3> m, t;
      for (int k = 0; k < 3; ++k) {
        m[k] = n[place(Kept::director) + k];
        t[k] = n[place(Kept::tangent) + k];
      }
      m = c * m + s * cross(t, m);
      const T turned[3] = {m[0], m[1], m[2]};
      put_row(pack, frame, frame_numbers, j, 3, turned, place(Kept::director));
      if (j + 1 < edges) {
        at.turn(0, c, s);
        at.turn(1, c_after, s_after);
        const T bent[5] = {at.p[0], at.p[1], at.p[2], at.p[3], twist + (by_after - by)};
        put_row(pack, frame, frame_numbers, j + 1, 5, bent, place(Kept::curvature));
      }
      for (int k = 0; k < 4; ++k) at.p[k] = n[place(Kept::curvature) + k];
      twist = n[place(Kept::twist)];
      c_after = c;
      s_after = s;
    }
    return largest;
  }
};

/// Directors and twist of one edge and the joint where it begins, as they are now.
template <class Real>
struct TakeFrame {
  const Index *start, *vertex_strand, *strand_body, *body_twisted, *slot;
  const Real* frame;
  FieldView<Real, 3> director;
  Real* twist;
  TRIBO_HD void operator()(Index i) const {
    const Index s = vertex_strand[i];
    if (i + 1 >= start[s + 1] || body_twisted[strand_body[s]] == 0) return;
    for (int k = 0; k < 3; ++k)
      director[k][i] = frame[slot_place<Real>(slot[i], frame_numbers, place(Kept::director) + k)];
    if (i > start[s]) twist[i] = frame[slot_place<Real>(slot[i], frame_numbers, place(Kept::twist))];
  }
};

}  // namespace

template <class Real>
void turn_frames(Exec& ex, const RodMesh<Real>& mesh, const Field<Real, 3>& x_next, const Field<Real, 3>& tail_next,
                 int most_iterations, RodState<Real>& state, RodWorkspace<Real>& work) {
  if (!mesh.twisted) return;
  work.frame.resize_discard(row_array_size<Real>(mesh.rows, frame_numbers));
  const RodState<Real>& now = state;
  const RodWorkspace<Real>& kept = work;
  const StrandPositions<Real> before{view(now.x), view(now.x_tail)}, after{view(x_next), view(tail_next)};
  if constexpr (fetches_ahead)
    parallel_for(
        ex, "rods", mesh.vertices,
        CarryEdge<Real>{mesh.row.data(), before, after, view(now.director), view(kept.director_next),
                        now.twist.c[0].data(), mesh.start.data(), mesh.vertex_strand.data(), mesh.strand_body.data(),
                        mesh.body_twisted.data(), mesh.slot.data(), work.frame.data()});
  else
    for_each_strand_pack<Real>(ex, "rods", mesh,
                               CarryStrands<Real>{mesh.row.data(), before, after, view(now.director),
                                                  view(kept.director_next), now.twist.c[0].data(), work.frame.data()});
  for_each_strand_pack<Real>(ex, "rods", mesh, RelaxStrands<Real>{mesh.row.data(), most_iterations, work.frame.data()});
  parallel_for(
      ex, "rods", mesh.vertices,
      TakeFrame<Real>{mesh.start.data(), mesh.vertex_strand.data(), mesh.strand_body.data(), mesh.body_twisted.data(),
                      mesh.slot.data(), work.frame.data(), view(state.director), state.twist.c[0].data()});
}

template <class Real>
void place_driven(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, RodWorkspace<Real>& work) {
  // All of them, though only those that are held are read for themselves: rows past the end of a strand read some
  // other one, and no number may come from there that is none.
  copy_field(ex, "rods", state.director, mesh.vertices, work.director_next);
  parallel_for(ex, "rods", mesh.driven,
               MoveDriven<Real>{mesh.driven_vertex.data(), mesh.drive.data(), mesh.holds.data(), work.drives.data(),
                                work.skin.data(), view(mesh.anchor), view(mesh.anchor_director), view(work.x_next),
                                view(work.tail_next), view(work.director_next)});
}

template <class Real>
void arrive_rods(Exec& ex, const RodMesh<Real>& mesh, RodState<Real>& state, RodWorkspace<Real>& work) {
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
  place_driven(ex, mesh, state, work);
  arrive_rods(ex, mesh, state, work);
}

#define TRIBO_INSTANTIATE(Real)                                                                             \
  template void turn_frames(Exec&, const RodMesh<Real>&, const Field<Real, 3>&, const Field<Real, 3>&, int, \
                            RodState<Real>&, RodWorkspace<Real>&);                                          \
  template void place_driven(Exec&, const RodMesh<Real>&, const RodState<Real>&, RodWorkspace<Real>&);      \
  template void arrive_rods(Exec&, const RodMesh<Real>&, RodState<Real>&, RodWorkspace<Real>&);             \
  template void move_rods(Exec&, const RodMesh<Real>&, double, RodState<Real>&, RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
