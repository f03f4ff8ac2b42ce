#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "tribo/matter/rigid/contact/joint_law.h"
#include "tribo/matter/rigid/contact/joint_order.h"
#include "tribo/matter/rigid/stages/rigid.h"

/// \file
/// Joints as rows: what each holds in this step. All impulses of a joint act at its place on b, on both sides, so that
/// linear and angular momentum are kept; rates of what joints hold are exact there (models/joint/joint.h).
///
/// Joints that share bodies are solved together and exactly, by a factorization (joint_order.h), since sweeps over them
/// one by one leave long chains and heavy ends soft. Limits, friction and motors are part of that: whoever cannot hold
/// is taken out, and all is solved again. Contact is met by turns.
///
/// What holds does so at the end of the step: rows are asked for the rate that brings their value there, curvature of
/// the way included (SHAKE). Taken as rates of the beginning alone, a pendulum would lose (w dt)^2 of its energy in a
/// step, and its length would have to be put right after every step.

namespace tribo::TRIBO_BACKEND {

/// One coordinate of a joint during a step.
struct RigidJointRow {
  Vec3d direction;
  Vec3d ra, rb;  ///< from the centers of mass to the joint's place on b [m]
  Index turns;
  Index a, b;    ///< bodies; -1: the world
  double value;  ///< at the beginning of the step [m], [rad]
  double gives;  ///< change of the rate by an impulse [1/kg], [1/(kg m^2)]
  double bend;   ///< what its value changes by beside its rate, over the step: curvature [m/s], [rad/s]
  RigidJointLaw law;
  JointPiece piece;  ///< of the law, that is being solved with
  double off;        ///< what places alone are to bring back [m], [rad]
  double impulse;
  double before, way;  ///< of the sweep before, and where sweeps lead to: see solve.cpp
};

/// Where a joint is fixed.
struct JointTie {
  Index a, b;  ///< bodies; -1: the world
  Index type, slot;
  Vec3d at_a, at_b;
  Mat<double, 3> frame_a, frame_b;
  JointRule<double> rule;
  bool ruled;  ///< whether the rule asks for anything
};

template <class One>
struct JointSpan {
  const One* data = nullptr;
};

/// All joints on the device.
template <class Joints>
class RigidJointsOf;
template <class... J>
class RigidJointsOf<std::variant<J...>> {
 public:
  struct View : JointSpan<J>... {
    const JointTie* tie = nullptr;

    /// ask(joint) of the type that a tie's is.
    template <class Ask>
    TRIBO_HD void with(const JointTie& one, const Ask& ask) const {
      Index type = 0;
      (try_type(static_cast<const JointSpan<J>&>(*this), type++, one, ask), ...);
    }

   private:
    template <class One, class Ask>
    TRIBO_HD static void try_type(const JointSpan<One>& span, Index type, const JointTie& one, const Ask& ask) {
      if (one.type == type) ask(span.data[one.slot]);
    }
  };

  void load(Exec& ex, const RigidSeed& seed) {
    std::tuple<std::vector<J>...> kinds;
    for (const RigidJoint& joint : seed.joints)
      std::visit(
          [&]<class One>(const One& one) {
            auto& all = std::get<std::vector<One>>(kinds);
            const JointRule<double>& rule = joint.rule;
            const bool ruled = One::has_coordinate &&
                               (rule.limited || rule.friction > 0 || rule.motor != JointRule<double>::Motor::none);
            ties.push_back({joint.a, joint.b, static_cast<Index>(joint.joint.index()), static_cast<Index>(all.size()),
                            joint.at_a, joint.at_b, joint.frame_a, joint.frame_b, rule, ruled});
            all.push_back(one);
            Index count = ruled ? 1 : 0;
            const Mat<double, 3> axes = Mat<double, 3>::identity();
            one.each_row(JointPlace<double>{Vec3d::zero(), Vec3d::zero(), axes, axes},
                         [&](const JointRow<double>&) { ++count; });
            rows.push_back(count);
            aims_.push_back(joint.aims);
          },
          joint.joint);
    (send(ex, std::get<std::vector<J>>(kinds), std::get<Array<J>>(kinds_), static_cast<JointSpan<J>&>(view_)), ...);
    copy_to_device(ex, ties.data(), ties_, static_cast<Index>(ties.size()));
    view_.tie = ties_.data();
  }
  /// What motors aim at in a step, where that changes with time.
  void aim(Exec& ex, double time, double dt) {
    bool changes = false;
    for (std::size_t j = 0; j < ties.size(); ++j) {
      if (aims_[j].empty()) continue;
      const bool speed = ties[j].rule.motor == JointRule<double>::Motor::speed;
      ties[j].rule.target = aim_at(aims_[j], time + (speed ? 0.5 : 1.0) * dt);
      changes = true;
    }
    if (changes) copy_to_device(ex, ties.data(), ties_, static_cast<Index>(ties.size()));
  }
  const View& view() const { return view_; }
  std::size_t bytes() const { return ties_.bytes() + (std::get<Array<J>>(kinds_).bytes() + ...); }

  std::vector<JointTie> ties;  ///< on the host
  std::vector<Index> rows;     ///< of each

 private:
  template <class One>
  static void send(Exec& ex, const std::vector<One>& from, Array<One>& to, JointSpan<One>& span) {
    copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
    span.data = to.data();
  }
  static double aim_at(const std::vector<JointAim>& aims, double time) {
    std::size_t k = 0;
    while (k < aims.size() && aims[k].time <= time) ++k;
    if (k == 0) return aims.front().target;
    if (k == aims.size()) return aims.back().target;
    const JointAim &from = aims[k - 1], &to = aims[k];
    return from.target + (time - from.time) / (to.time - from.time) * (to.target - from.target);
  }

  std::vector<std::vector<JointAim>> aims_;
  Array<JointTie> ties_;
  std::tuple<Array<J>...> kinds_;
  View view_;
};
using RigidJoints = RigidJointsOf<Joint<double>>;

/// What joints did, summed since sums were cleared.
struct JointSums {
  Vec3d force;   ///< on b [N s]
  Vec3d torque;  ///< on b about its place there, beside that force [N m s]
  double motor;  ///< [N s], [N m s]
};
/// How joints are.
struct JointPresent {
  double value;   ///< of the free coordinate, or of a rope, rod or spring the length [m], [rad]
  double speed;   ///< [m/s], [rad/s]
  double energy;  ///< of springs [J]
};

struct JointWork {
  Array<RigidJointRow> row;  ///< joint_rows of each
  Array<Index> count;        ///< of each
  Array<double> value;       ///< of the free coordinate [m], [rad]
  JointOrder order;
  Field<double, 7> sums;  ///< JointSums
  Array<JointPresent> present;
  double time = 0;  ///< that sums are of [s]

  std::size_t bytes() const {
    return row.bytes() + count.bytes() + value.bytes() + order.bytes() + sums.bytes() + present.bytes();
  }
};

/// Once, from the seed.
void load_joints(Exec& ex, const RigidSeed& seed, RigidMesh& mesh, RigidJoints& joints, JointWork& work,
                 RigidState& state);

/// Rows of all joints for a step, with the impulses of the last one to begin with, which bodies get. Bodies must be
/// placed and not have been pushed.
void begin_joints(Exec& ex, const RigidMesh& mesh, RigidJoints& joints, const Vec3d& gravity, double time, double dt,
                  const RigidState& state, RigidWork& work, JointWork& rows);

/// Where rows come to by the velocities that bodies have now: their curvature over the step.
void bend_joints(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, double dt, const RigidState& state,
                 const RigidWork& work, JointWork& rows);

/// Impulses with which all joints are as they should be by the velocities that bodies have now.
void solve_joints(Exec& ex, const RigidMesh& mesh, RigidWork& work, JointWork& rows);

/// The same for places alone: what is off is brought back.
void shift_joints(Exec& ex, const RigidMesh& mesh, double dt, RigidWork& work, JointWork& rows);

/// What joints held, and how far they have turned, for the next step and for who reads the statistics.
void keep_joint_forces(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, double dt, JointWork& rows,
                       const RigidWork& work, RigidState& state);

/// How they are now.
std::vector<JointPresent> present_joints(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints,
                                         const RigidState& state, JointWork& rows);

/// What they did since sums were cleared.
std::vector<JointSums> joint_sums(Exec& ex, const RigidMesh& mesh, const JointWork& rows);
void clear_joint_sums(Exec& ex, const RigidMesh& mesh, JointWork& rows);
/// The same, and clears them.
std::vector<JointSums> take_joint_sums(Exec& ex, const RigidMesh& mesh, JointWork& rows);

}  // namespace tribo::TRIBO_BACKEND
