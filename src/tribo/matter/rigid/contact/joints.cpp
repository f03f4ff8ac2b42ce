#include "tribo/matter/rigid/contact/joints.h"

#include <algorithm>
#include <utility>

#include "tribo/exec/mark.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* label = "rigid joints";
constexpr Index heavy_grain = 16;
/// Part of what is off that places alone bring back in a step.
constexpr double share = 0.5;
/// What is added to the diagonal of rows, as a part of how they give: where rows are redundant, as in closed loops, it
/// decides who carries what, and each solve leaves this part of what it has found to the next.
constexpr double least_soft = 1e-9;
/// Solves until limits, friction and motors are agreed upon; more than four were not seen to be needed.
constexpr int most_rounds = 12;
constexpr double full_turn = 6.283185307179586;

/// Where a body is, by whatever is known of it.
struct BodyPose {
  Vec3d x;
  Mat<double, 3> rotation;
};

struct PlaceJoint {
  template <class PoseOf>
  TRIBO_HD static JointPlace<double> of(const JointTie& tie, const PoseOf& pose) {
    JointPlace<double> place;
    put(tie.a, tie.at_a, tie.frame_a, pose, place.at_a, place.frame_a);
    put(tie.b, tie.at_b, tie.frame_b, pose, place.at_b, place.frame_b);
    return place;
  }

 private:
  template <class PoseOf>
  TRIBO_HD static void put(Index body, const Vec3d& at, const Mat<double, 3>& frame, const PoseOf& pose, Vec3d& to,
                           Mat<double, 3>& axes) {
    to = at;
    axes = frame;
    if (body < 0) return;
    const BodyPose own = pose(body);
    to = own.x + own.rotation * at;
    axes = own.rotation * frame;
  }
};

/// The coordinate that a joint leaves free, with the whole turns that are nearest to what it was.
template <class One>
TRIBO_HD JointRow<double> free_coordinate(const One& joint, const JointPlace<double>& place, double before) {
  JointRow<double> free = joint.coordinate(place);
  if (One::coordinate_turns) {
    const double turns = (before - free.value) / full_turn;
    free.value += full_turn * static_cast<double>(static_cast<long long>(turns + (turns < 0 ? -0.5 : 0.5)));
  }
  return free;
}

/// held(JointRow) for all that a joint holds, then free(JointRow) where it leaves a coordinate.
template <class One, class Held, class Free>
TRIBO_HD void each_of(const One& joint, const JointPlace<double>& place, double before, const Held& held,
                      const Free& free) {
  joint.each_row(place, held);
  if constexpr (One::has_coordinate) free(free_coordinate(joint, place, before));
}

TRIBO_HD Vec3d rate_of_body(const PlacedBody& body, const Vec3d& arm, bool turns) {
  return turns ? body.w : body.v + cross(body.w, arm);
}
TRIBO_HD double rate_of(const PlacedBody* body, const RigidJointRow& r) {
  Vec3d v = Vec3d::zero();
  if (r.b >= 0) v += rate_of_body(body[r.b], r.rb, r.turns != 0);
  if (r.a >= 0) v = v - rate_of_body(body[r.a], r.ra, r.turns != 0);
  return dot(v, r.direction);
}
TRIBO_HD void push_row(PlacedBody* body, const RigidJointRow& r, double impulse) {
  const Vec3d along = impulse * r.direction;
  const auto give = [&](Index i, const Vec3d& arm, const Vec3d& by) {
    if (i < 0 || !(body[i].inverse_mass > 0)) return;
    if (r.turns != 0)
      body[i].w += body[i].inverse_inertia * by;
    else
      body[i].push(arm, by);
  };
  give(r.a, r.ra, -along);
  give(r.b, r.rb, along);
}

struct MakeRows {
  RigidJoints::View joints;
  const PlacedBody* body;
  FieldView<const double, joint_rows> force;
  FieldView<const double, 1> value_before;
  double dt;
  Vec3d falls;  ///< what gravity has added to velocities
  RigidJointRow* row;
  double* value;

  TRIBO_HD void operator()(Index j) const {
    const JointTie& tie = joints.tie[j];
    const JointPlace<double> place = PlaceJoint::of(tie, [&](Index i) {
      return BodyPose{body[i].x, body[i].rotation};
    });
    RigidJointRow* next = row + Size{j} * joint_rows;
    Index rows = 0;
    const auto add = [&](const JointRow<double>& wanted) -> RigidJointRow& {
      RigidJointRow& r = *next++;
      r.direction = wanted.direction;
      r.turns = wanted.turns ? 1 : 0;
      r.a = tie.a;
      r.b = tie.b;
      r.ra = tie.a >= 0 ? place.at_b - body[tie.a].x : Vec3d::zero();
      r.rb = tie.b >= 0 ? place.at_b - body[tie.b].x : Vec3d::zero();
      r.value = wanted.value;
      r.gives = gives(tie.a, r.ra, r) + gives(tie.b, r.rb, r);
      r.bend = r.off = 0;
      r.law = {};
      r.piece = {true, -1, 0};
      r.impulse = dt * force[rows++][j];
      return r;
    };
    value[j] = value_before[0][j];
    joints.with(tie, [&](const auto& joint) {
      each_of(
          joint, place, value[j],
          [&](const JointRow<double>& wanted) {
            RigidJointRow& r = add(wanted);
            if (wanted.stiffness > 0)
              soften(r, wanted.stiffness, wanted.damping, wanted.value - wanted.low, r.law.rest, r.law.stiff);
            else
              bound(r, wanted.low, wanted.high);
          },
          [&](const JointRow<double>& free) {
            value[j] = free.value;
            if (tie.ruled) apply(tie.rule, add(free));
          });
    });
  }

  /// Limits, friction and a motor on the coordinate that is free.
  TRIBO_HD void apply(const JointRule<double>& rule, RigidJointRow& r) const {
    if (rule.limited) bound(r, rule.low, rule.high);
    r.law.friction = dt * rule.friction;
    if (rule.motor == JointRule<double>::Motor::none) return;
    r.law.most = rule.most > 0 ? dt * rule.most : unbounded;
    if (rule.motor == JointRule<double>::Motor::speed) {
      r.law.aim = rule.target;
    } else if (rule.stiffness > 0) {
      double stiff;
      soften(r, rule.stiffness, rule.damping, r.value - rule.target, r.law.aim, stiff);
      r.law.aim_soft = 1 / stiff;
    } else {
      r.law.aim = min(max((rule.target - r.value) / dt, -rule.fastest), rule.fastest);
    }
  }

  /// At the end of the step within bounds; what is beyond them is brought back in places alone.
  TRIBO_HD void bound(RigidJointRow& r, double low, double high) const {
    if (low == high) {
      r.law.low = r.law.high = 0;
      r.off = r.value - low;
      return;
    }
    const double under = low - r.value, over = r.value - high;
    r.law.low = under < 0 ? (low > -unbounded ? under / dt : -unbounded) : 0;
    r.law.high = over < 0 ? (high < unbounded ? -over / dt : unbounded) : 0;
    r.off = under > 0 ? -under : over > 0 ? over : 0;
  }

  /// A spring and a damper, stable for any stiffness and dt. The spring is k (off + dt (u - u_before) / 4), the mean
  /// over the positions before, at the beginning and at the end of the step (Newmark, average acceleration): it keeps
  /// energy, where one as of the end alone would lose k dt^2 / m of it in a step. What is too stiff for the step to be
  /// followed, h^2 = k dt^2 / m above 4, is damped by as much as brings it to rest. A damper is as of the middle of the
  /// step where it is slow, and as of its end where it stops what it acts on within the step, or that would swing to
  /// and fro.
  TRIBO_HD void soften(const RigidJointRow& r, double stiffness, double damping, double off, double& rest,
                       double& stiff) const {
    const double before = rate_before(r);
    const double h2 = dt * dt * stiffness * r.gives, quick = dt * damping * r.gives;
    const double settle = 0.25 * h2 / (4 + h2), end = 0.5 * (1 + quick / (1 + quick));
    stiff = dt * (dt * stiffness * (0.25 + settle) + damping * end);
    rest = -dt * (stiffness * (off - 0.25 * dt * before) + damping * (1 - end) * before) / stiff;
  }
  TRIBO_HD double rate_before(const RigidJointRow& r) const {
    double rate = rate_of(body, r);
    if (r.turns != 0) return rate;
    if (r.b >= 0 && body[r.b].inverse_mass > 0) rate -= dot(falls, r.direction);
    if (r.a >= 0 && body[r.a].inverse_mass > 0) rate += dot(falls, r.direction);
    return rate;
  }

  TRIBO_HD double gives(Index i, const Vec3d& arm, const RigidJointRow& r) const {
    if (i < 0) return 0;
    return dot(r.direction, r.turns != 0 ? body[i].inverse_inertia * r.direction : body[i].yields(arm, r.direction));
  }
};

struct BendRows {
  RigidJoints::View joints;
  const PlacedBody* body;
  FieldView<const double, 4> q;
  FieldView<const double, 6> inertia, inverse_inertia;
  double dt;
  RigidJointRow* row;

  TRIBO_HD BodyPose end_of(Index i) const {
    const PlacedBody& one = body[i];
    const Quaternion<double> from = {{q[0][i], q[1][i], q[2][i], q[3][i]}};
    Vec3d w = one.w;
    if (one.inverse_mass > 0) {
      Sym<double, 3> own, inverse;
      for (int k = 0; k < 6; ++k) {
        own.s[k] = inertia[k][i];
        inverse.s[k] = inverse_inertia[k][i];
      }
      w = middle_spin(from, inverse, carried(one.rotation, own) * one.w, one.w, dt);
    }
    return {one.x + dt * one.v, rotation_of(turned_by(from, dt * w))};
  }

  TRIBO_HD void operator()(Index j) const {
    const JointTie& tie = joints.tie[j];
    const JointPlace<double> place = PlaceJoint::of(tie, [&](Index i) { return end_of(i); });
    RigidJointRow* next = row + Size{j} * joint_rows;
    const auto bend = [&](const JointRow<double>& end) {
      RigidJointRow& r = *next++;
      if (r.law.low == -unbounded && r.law.high == unbounded) return;
      const double more = (end.value - r.value) / dt - rate_of(body, r);
      if (r.law.low > -unbounded) r.law.low -= more - r.bend;
      if (r.law.high < unbounded) r.law.high -= more - r.bend;
      r.bend = more;
    };
    joints.with(tie, [&](const auto& joint) {
      // the free coordinate comes last, and its whole turns are those of the beginning
      const double before = tie.ruled ? last_value(j, joint, place) : 0;
      each_of(joint, place, before, bend, [&](const JointRow<double>& end) {
        if (tie.ruled) bend(end);
      });
    });
  }

 private:
  template <class One>
  TRIBO_HD double last_value(Index j, const One& joint, const JointPlace<double>& place) const {
    Index rows = 0;
    joint.each_row(place, [&](const JointRow<double>&) { ++rows; });
    return row[Size{j} * joint_rows + rows].value;
  }
};

enum class JointTask : int {
  begin,  ///< bodies get the impulses that rows begin with
  solve,
  shift
};

/// All joints of what hangs together.
struct SolveComponents {
  const JointComponent* component;
  const JointNode* node;
  const JointNear* near;
  const Index *column_begin, *row_begin;
  const JointEntry* entry;
  const Index* l_row;
  double *l, *d, *x, *y;
  Index* fresh;
  RigidJointRow* row;
  PlacedBody* body;
  Shift* shift;
  Index* touched;
  const double* mass;
  FieldView<const double, 6> inertia;
  double dt;
  JointTask task;

  TRIBO_HD void operator()(Index c) const {
    if (task == JointTask::begin) {
      begin(c);
    } else if (task == JointTask::shift) {
      each_row(c, [&](RigidJointRow& r, double&) {
        const bool acts = r.law.low == r.law.high || r.off != 0;
        choose(c, r, acts ? JointPiece{false, 0, -share * r.off / dt} : JointPiece{true, 0, 0});
      });
      solve_linear(c);
    } else {
      for (int round = 0; round < most_rounds; ++round) {
        bool changed = false;
        each_row(c, [&](RigidJointRow& r, double&) {
          if (r.gives > 0) changed = choose(c, r, r.law.meet(rate_of(body, r), r.impulse, r.gives)) || changed;
        });
        if (round > 0 && !changed) return;
        solve_linear(c);
      }
    }
  }

 private:
  /// visit(row, its place in x)
  template <class Visit>
  TRIBO_HD void each_row(Index c, const Visit& visit) const {
    const JointComponent& own = component[c];
    for (Index n = own.node_begin; n < own.node_end; ++n) {
      if (node[n].joint < 0) continue;
      for (Index k = 0; k < node[n].size; ++k)
        visit(row[Size{node[n].joint} * joint_rows + k], x[own.first + node[n].at + k]);
    }
  }
  TRIBO_HD bool choose(Index c, RigidJointRow& r, const JointPiece& piece) const {
    if (!r.piece.same_matrix(piece)) fresh[c] = 0;
    const bool changed = !(r.piece == piece);
    r.piece = piece;
    return changed;
  }

  TRIBO_HD void begin(Index c) const {
    const JointComponent& own = component[c];
    fresh[c] = 0;
    for (Index n = own.node_begin; n < own.node_end; ++n)
      if (node[n].body >= 0) touched[node[n].body] = 1;
    each_row(c, [&](RigidJointRow& r, double&) { push_row(body, r, r.impulse); });
  }

  /// Entry of J: change of a row's rate by that of a body's k-th velocity.
  TRIBO_HD static double slope(const RigidJointRow& r, bool second, Index k) {
    if (r.piece.given) return 0;
    const double sign = second ? 1 : -1;
    if (k < 3) return r.turns != 0 ? 0 : sign * r.direction[static_cast<int>(k)];
    const Vec3d turn = r.turns != 0 ? r.direction : cross(second ? r.rb : r.ra, r.direction);
    return sign * turn[static_cast<int>(k - 3)];
  }

  TRIBO_HD void factor(const JointComponent& own) const {
    for (Index n = own.node_begin; n < own.node_end; ++n) {
      const JointNode& one = node[n];
      Sym<double, 3> about;
      if (one.body >= 0) {
        Sym<double, 3> local;
        for (int k = 0; k < 6; ++k) local.s[k] = inertia[k][one.body];
        about = carried(body[one.body].rotation, local);
      }
      for (Index k = 0; k < one.size; ++k) {
        // the column of the matrix above the diagonal
        double diagonal;
        double* const to = y + own.first;
        for (Index e = one.near_begin; e < one.near_end; ++e) {
          const JointNear& other = near[e];
          const RigidJointRow* const rows = row + Size{other.joint} * joint_rows;
          if (one.body >= 0) {
            for (Index i = 0; i < other.rows; ++i) to[other.at + i] = slope(rows[i], other.second != 0, k);
          } else {
            for (Index i = 0; i < 6; ++i) to[other.at + i] = slope(rows[k], other.second != 0, i);
          }
        }
        if (one.body >= 0) {
          diagonal = k < 3 ? mass[one.body] : about(static_cast<int>(k - 3), static_cast<int>(k - 3));
          if (k >= 3)
            for (Index i = 3; i < k; ++i) to[one.at + i] = about(static_cast<int>(i - 3), static_cast<int>(k - 3));
        } else {
          const RigidJointRow& r = row[Size{one.joint} * joint_rows + k];
          diagonal = r.piece.given || !(r.gives > 0) ? -1 : -(r.piece.soft + least_soft * r.gives);
        }
        const Index at = own.first + one.at + k;
        for (Index e = row_begin[at]; e < row_begin[at + 1]; ++e) {
          const Index column = entry[e].column, place = entry[e].place;
          const double value = to[column];
          to[column] = 0;
          for (Index p = column_begin[own.first + column]; p < place; ++p) to[l_row[p]] -= l[p] * value;
          const double part = value / d[own.first + column];
          diagonal -= part * value;
          l[place] = part;
        }
        d[at] = diagonal;
      }
    }
  }

  /// What rows lack, by all of them together.
  TRIBO_HD void solve_linear(Index c) const {
    const JointComponent& own = component[c];
    if (fresh[c] == 0) factor(own);
    fresh[c] = 1;
    double* const to = x + own.first;
    for (Index k = 0; k < own.size; ++k) to[k] = 0;
    // What is given is pushed at once, and the rest answers to that.
    each_row(c, [&](RigidJointRow& r, double&) {
      if (r.piece.given && task != JointTask::shift) add(r, r.piece.at - r.impulse);
    });
    each_row(c, [&](RigidJointRow& r, double& lacks) {
      if (r.piece.given || !(r.gives > 0)) return;
      lacks = task == JointTask::shift ? r.piece.at - shift_rate(r)
                                       : r.piece.at - rate_of(body, r) - r.piece.soft * r.impulse;
    });
    for (Index k = 0; k < own.size; ++k) {
      const Index at = own.first + k;
      double sum = to[k];
      for (Index e = row_begin[at]; e < row_begin[at + 1]; ++e) sum -= l[entry[e].place] * to[entry[e].column];
      to[k] = sum;
    }
    for (Index k = own.size - 1; k >= 0; --k) {
      const Index at = own.first + k, end = column_begin[at] + column_size(at);
      double sum = to[k] / d[at];
      for (Index p = column_begin[at]; p < end; ++p) sum -= l[p] * to[l_row[p]];
      to[k] = sum;
    }
    each_row(c, [&](RigidJointRow& r, double& found) {
      if (!r.piece.given && r.gives > 0) add(r, -found);
    });
  }
  TRIBO_HD Index column_size(Index at) const { return column_begin[at + 1] - column_begin[at]; }

  TRIBO_HD void add(RigidJointRow& r, double impulse) const {
    if (task == JointTask::shift) {
      const Vec3d along = impulse * r.direction;
      give_shift(r.a, r.ra, r, -along);
      give_shift(r.b, r.rb, r, along);
    } else {
      r.impulse += impulse;
      push_row(body, r, impulse);
    }
  }
  TRIBO_HD void give_shift(Index i, const Vec3d& arm, const RigidJointRow& r, const Vec3d& by) const {
    if (i < 0 || !(body[i].inverse_mass > 0)) return;
    if (r.turns != 0) {
      shift[i].w += body[i].inverse_inertia * by;
    } else {
      shift[i].v += body[i].inverse_mass * by;
      shift[i].w += body[i].inverse_inertia * cross(arm, by);
    }
  }
  TRIBO_HD double shift_rate(const RigidJointRow& r) const {
    const auto of = [&](Index i, const Vec3d& arm) {
      return r.turns != 0 ? shift[i].w : shift[i].v + cross(shift[i].w, arm);
    };
    Vec3d v = Vec3d::zero();
    if (r.b >= 0) v += of(r.b, r.rb);
    if (r.a >= 0) v = v - of(r.a, r.ra);
    return dot(v, r.direction);
  }
};

struct KeepRows {
  RigidJoints::View joints;
  const RigidJointRow* row;
  const PlacedBody* body;
  const Index* count;
  const double* value;
  double per_second;
  FieldView<double, joint_rows> force;
  FieldView<double, 1> kept_value;
  FieldView<double, 7> sums;
  TRIBO_HD void operator()(Index j) const {
    JointSums sum{Vec3d::zero(), Vec3d::zero(), 0};
    for (Index k = 0; k < joint_rows; ++k) {
      force[static_cast<int>(k)][j] = 0;
      if (k >= count[j]) continue;
      const RigidJointRow& r = row[Size{j} * joint_rows + k];
      force[static_cast<int>(k)][j] = per_second * r.impulse;
      (r.turns != 0 ? sum.torque : sum.force) += r.impulse * r.direction;
      const bool wall = !r.piece.given && r.piece.soft == 0;
      if (r.law.most > 0) sum.motor += r.law.motor_part(wall ? r.piece.at : rate_of(body, r), r.impulse);
    }
    kept_value[0][j] = value[j];
    for (int k = 0; k < 3; ++k) {
      sums[k][j] += sum.force[k];
      sums[3 + k][j] += sum.torque[k];
    }
    sums[6][j] += sum.motor;
  }
};

/// As they are between steps.
struct LookAtJoint {
  RigidJoints::View joints;
  FieldView<const double, 3> x, v, L;
  FieldView<const double, 4> q;
  FieldView<const double, 6> inverse_inertia;
  const double* inverse_mass;
  FieldView<const double, 1> value_before;
  JointPresent* present;
  TRIBO_HD void operator()(Index j) const {
    const JointTie& tie = joints.tie[j];
    const auto pose = [&](Index i) {
      return BodyPose{vector_at(x, i), rotation_of(Quaternion<double>{{q[0][i], q[1][i], q[2][i], q[3][i]}})};
    };
    const JointPlace<double> place = PlaceJoint::of(tie, pose);
    const auto velocity = [&](Index i, bool turns) {
      if (i < 0) return Vec3d::zero();
      const BodyPose own = pose(i);
      Vec3d w = Vec3d::zero();
      if (inverse_mass[i] > 0) {
        Sym<double, 3> inverse;
        for (int k = 0; k < 6; ++k) inverse.s[k] = inverse_inertia[k][i];
        w = carried(own.rotation, inverse) * vector_at(L, i);
      }
      return turns ? w : vector_at(v, i) + cross(w, place.at_b - own.x);
    };
    JointPresent now{0, 0, 0};
    const auto look = [&](const JointRow<double>& r) {
      now.value = r.value;
      now.speed = dot(velocity(tie.b, r.turns) - velocity(tie.a, r.turns), r.direction);
    };
    joints.with(tie, [&](const auto& joint) {
      each_of(
          joint, place, value_before[0][j],
          [&](const JointRow<double>& r) {
            look(r);
            if (r.stiffness > 0) now.energy += 0.5 * r.stiffness * (r.value - r.low) * (r.value - r.low);
          },
          look);
    });
    present[j] = now;
  }
};

SolveComponents solver_of(const RigidMesh& mesh, RigidWork& work, JointWork& rows, double dt, JointTask task) {
  JointOrder& o = rows.order;
  return {o.component.data(),
          o.node.data(),
          o.near.data(),
          o.column_begin.data(),
          o.row_begin.data(),
          o.entry.data(),
          o.l_row.data(),
          o.l.data(),
          o.d.data(),
          o.x.data(),
          o.y.data(),
          o.fresh.data(),
          rows.row.data(),
          work.body.data(),
          work.shift.data(),
          work.touched.data(),
          mesh.mass.data(),
          view(mesh.inertia),
          dt,
          task};
}

}  // namespace

void load_joints(Exec& ex, const RigidSeed& seed, RigidMesh& mesh, RigidJoints& joints, JointWork& work,
                 RigidState& state) {
  mesh.joints = state.joints = static_cast<Index>(seed.joints.size());
  joints.load(ex, seed);
  order_joints(ex, seed, joints.rows, work.order);
  copy_to_device(ex, joints.rows.data(), work.count, mesh.joints);
  const std::vector<double> none(seed.joints.size(), 0);
  for (auto& column : state.joint_force.c) copy_to_device(ex, none.data(), column, state.joints);
  copy_to_device(ex, none.data(), state.joint_value.c[0], state.joints);
  clear_joint_sums(ex, mesh, work);
  work.row.resize_discard(Size{mesh.joints} * joint_rows);
  work.value.resize_discard(mesh.joints);
  work.present.resize_discard(mesh.joints);
}

void begin_joints(Exec& ex, const RigidMesh& mesh, RigidJoints& joints, const Vec3d& gravity, double time, double dt,
                  const RigidState& state, RigidWork& work, JointWork& rows) {
  if (mesh.joints == 0) return;
  joints.aim(ex, time, dt);
  parallel_for(ex, label, mesh.joints,
               MakeRows{joints.view(), work.body.data(), view(state.joint_force), view(state.joint_value), dt,
                        dt * gravity, rows.row.data(), rows.value.data()},
               heavy_grain);
  parallel_for(ex, label, rows.order.components, solver_of(mesh, work, rows, dt, JointTask::begin), 1);
}

void bend_joints(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, double dt, const RigidState& state,
                 const RigidWork& work, JointWork& rows) {
  parallel_for(ex, label, mesh.joints,
               BendRows{joints.view(), work.body.data(), view(state.q), view(mesh.inertia), view(mesh.inverse_inertia),
                        dt, rows.row.data()},
               heavy_grain);
}

void solve_joints(Exec& ex, const RigidMesh& mesh, RigidWork& work, JointWork& rows) {
  parallel_for(ex, label, rows.order.components, solver_of(mesh, work, rows, 0, JointTask::solve), 1);
}

void shift_joints(Exec& ex, const RigidMesh& mesh, double dt, RigidWork& work, JointWork& rows) {
  parallel_for(ex, label, rows.order.components, solver_of(mesh, work, rows, dt, JointTask::shift), 1);
}

void keep_joint_forces(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, double dt, JointWork& rows,
                       const RigidWork& work, RigidState& state) {
  parallel_for(ex, label, mesh.joints,
               KeepRows{joints.view(), rows.row.data(), work.body.data(), rows.count.data(), rows.value.data(), 1 / dt,
                        view(state.joint_force), view(state.joint_value), view(rows.sums)});
  rows.time += dt;
}

std::vector<JointPresent> present_joints(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints,
                                         const RigidState& state, JointWork& rows) {
  parallel_for(
      ex, label, mesh.joints,
      LookAtJoint{joints.view(), view(state.x), view(state.v), view(state.L), view(state.q), view(mesh.inverse_inertia),
                  mesh.inverse_mass.data(), view(state.joint_value), rows.present.data()},
      heavy_grain);
  std::vector<JointPresent> present(static_cast<std::size_t>(mesh.joints));
  copy_to_host(ex, rows.present, present.data(), mesh.joints);
  return present;
}

std::vector<JointSums> joint_sums(Exec& ex, const RigidMesh& mesh, const JointWork& rows) {
  const auto count = static_cast<std::size_t>(mesh.joints);
  std::vector<double> column[7];
  for (int k = 0; k < 7; ++k) {
    column[k].resize(count);
    copy_to_host(ex, rows.sums.c[k], column[k].data(), mesh.joints);
  }
  std::vector<JointSums> sums(count);
  for (std::size_t j = 0; j < count; ++j)
    sums[j] = {
        {{column[0][j], column[1][j], column[2][j]}}, {{column[3][j], column[4][j], column[5][j]}}, column[6][j]};
  return sums;
}

void clear_joint_sums(Exec& ex, const RigidMesh& mesh, JointWork& rows) {
  const std::vector<double> nothing(static_cast<std::size_t>(mesh.joints), 0);
  for (Array<double>& column : rows.sums.c) copy_to_device(ex, nothing.data(), column, mesh.joints);
  rows.time = 0;
}

std::vector<JointSums> take_joint_sums(Exec& ex, const RigidMesh& mesh, JointWork& rows) {
  std::vector<JointSums> sums = joint_sums(ex, mesh, rows);
  clear_joint_sums(ex, mesh, rows);
  return sums;
}

}  // namespace tribo::TRIBO_BACKEND
