#include "tribo/matter/rigid/contact/joints.h"

#include <utility>

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* label = "rigid joints";
constexpr Index heavy_grain = 16;
constexpr double unbounded = 1e300;
/// Part of what is off that is brought back in a step.
constexpr double share = 0.2;
constexpr double full_turn = 6.283185307179586;

struct MakeRows {
  RigidJoints::View joints;
  const PlacedBody* body;
  FieldView<const double, joint_rows> force;
  FieldView<const double, 1> value_before;
  double dt;
  RigidJointRow* row;
  Index* count;
  double* value;
  double* energy;

  TRIBO_HD static Vec3d carried_place(const PlacedBody* body, const Vec3d& at) {
    return body != nullptr ? body->x + body->rotation * at : at;
  }

  TRIBO_HD void operator()(Index j) const {
    const JointTie& tie = joints.tie[j];
    const PlacedBody* const a = tie.a >= 0 ? body + tie.a : nullptr;
    const PlacedBody* const b = tie.b >= 0 ? body + tie.b : nullptr;
    JointPlace<double> place;
    place.at_a = carried_place(a, tie.at_a);
    place.at_b = carried_place(b, tie.at_b);
    place.frame_a = a != nullptr ? a->rotation * tie.frame_a : tie.frame_a;
    place.frame_b = b != nullptr ? b->rotation * tie.frame_b : tie.frame_b;
    RigidJointRow* const own = row + Size{j} * joint_rows;
    Index rows = 0;
    double held = 0;
    const auto next = [&](const JointRow<double>& held_row) -> RigidJointRow& {
      RigidJointRow& r = own[rows];
      r.direction = held_row.direction;
      r.turns = held_row.turns ? 1 : 0;
      r.ra = a != nullptr ? place.at_b - a->x : Vec3d::zero();
      r.rb = b != nullptr ? place.at_b - b->x : Vec3d::zero();
      r.gives = gives(a, r.ra, r) + gives(b, r.rb, r);
      r.soft = r.target = r.push = r.shift = 0;
      r.low = -unbounded;
      r.high = unbounded;
      r.impulse = dt * force[rows][j];
      ++rows;
      return r;
    };
    const auto hold = [&](const JointRow<double>& wanted) {
      RigidJointRow& r = next(wanted);
      if (wanted.stiffness > 0) {
        const double off = wanted.value - (wanted.value < wanted.low   ? wanted.low
                                           : wanted.value > wanted.high ? wanted.high
                                                                        : wanted.value);
        soften(r, wanted.stiffness, wanted.damping, off);
        held += 0.5 * wanted.stiffness * off * off;
        return;
      }
      bound(r, wanted.value, wanted.low, wanted.high);
    };
    value[j] = value_before[0][j];
    joints.with(tie, [&](const auto& joint) {
      using One = std::decay_t<decltype(joint)>;
      joint.each_row(place, hold);
      if constexpr (One::has_coordinate) {
        JointRow<double> free = joint.coordinate(place);
        if (One::coordinate_turns) {  // whole turns are remembered
          const double turns = (value[j] - free.value) / full_turn;
          free.value += full_turn * static_cast<double>(static_cast<long long>(turns + (turns < 0 ? -0.5 : 0.5)));
        }
        value[j] = free.value;
        apply(tie.rule, free, next);
      }
    });
    count[j] = rows;
    energy[j] = held;
  }

  /// Limits, friction and a motor on the coordinate that is free.
  template <class Next>
  TRIBO_HD void apply(const JointRule<double>& rule, const JointRow<double>& free, const Next& next) const {
    if (rule.limited) bound(next(free), free.value, rule.low, rule.high);
    if (rule.friction > 0) {
      RigidJointRow& r = next(free);
      r.high = dt * rule.friction;
      r.low = -r.high;
    }
    if (rule.motor == JointRule<double>::Motor::none) return;
    RigidJointRow& r = next(free);
    if (rule.most > 0) {
      r.high = dt * rule.most;
      r.low = -r.high;
    }
    if (rule.motor == JointRule<double>::Motor::speed) {
      r.target = rule.target;
    } else if (rule.stiffness > 0) {
      soften(r, rule.stiffness, rule.damping, free.value - rule.target);
    } else {
      r.target = share * (rule.target - free.value) / dt;
    }
  }

  /// Held within bounds: of two the nearer one acts.
  TRIBO_HD void bound(RigidJointRow& r, double at, double low, double high) const {
    if (low == high) {
      r.push = share * (low - at) / dt;
      return;
    }
    if (at - low < high - at) {
      const double over = at - low;
      r.low = 0;
      r.target = over > 0 ? -over / dt : 0;
      r.push = over < 0 ? -share * over / dt : 0;
    } else {
      const double over = high - at;
      r.high = 0;
      r.target = over > 0 ? over / dt : 0;
      r.push = over < 0 ? share * over / dt : 0;
    }
    r.impulse = min(max(r.impulse, r.low), r.high);
  }

  /// A spring as of the end of the step: impulse = -dt (k (off + dt u) + c u), stable for any stiffness.
  TRIBO_HD void soften(RigidJointRow& r, double stiffness, double damping, double off) const {
    const double both = dt * stiffness + damping;
    r.soft = 1 / (dt * both);
    r.target = -stiffness * off / both;
  }

  TRIBO_HD static double gives(const PlacedBody* body, const Vec3d& arm, const RigidJointRow& r) {
    if (body == nullptr) return 0;
    return dot(r.direction,
               r.turns != 0 ? body->inverse_inertia * r.direction : body->yields(arm, r.direction));
  }
};

struct KeepRows {
  const RigidJointRow* row;
  const Index* count;
  const double* value;
  double per_second;
  FieldView<double, joint_rows> force;
  FieldView<double, 1> kept_value;
  TRIBO_HD void operator()(Index j) const {
    for (Index k = 0; k < joint_rows; ++k)
      force[k][j] = k < count[j] ? per_second * row[Size{j} * joint_rows + k].impulse : 0;
    kept_value[0][j] = value[j];
  }
};

}  // namespace

void make_joint_rows(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, double dt, const RigidState& state,
                     const RigidWork& work, JointWork& rows) {
  rows.row.resize_discard(Size{mesh.joints} * joint_rows);
  rows.count.resize_discard(mesh.joints);
  rows.value.resize_discard(mesh.joints);
  rows.energy.resize_discard(mesh.joints);
  parallel_for(ex, label, mesh.joints,
               MakeRows{joints.view(), work.body.data(), view(state.joint_force), view(state.joint_value), dt,
                        rows.row.data(), rows.count.data(), rows.value.data(), rows.energy.data()},
               heavy_grain);
}

void keep_joint_forces(Exec& ex, const RigidMesh& mesh, double dt, const JointWork& rows, RigidState& state) {
  parallel_for(ex, label, mesh.joints,
               KeepRows{rows.row.data(), rows.count.data(), rows.value.data(), 1 / dt, view(state.joint_force),
                        view(state.joint_value)});
}

}  // namespace tribo::TRIBO_BACKEND
