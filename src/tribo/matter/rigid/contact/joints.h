#pragma once

#include <tuple>
#include <utility>
#include <variant>

#include "tribo/matter/rigid/stages/rigid.h"

/// \file
/// Joints as rows: what each holds in this step. All impulses of a joint act at its place on b, on both sides, so that
/// linear and angular momentum are kept; rates of what joints hold are exact there (models/joint/joint.h).

namespace tribo::TRIBO_BACKEND {

/// One coordinate of a joint during a step.
struct RigidJointRow {
  Vec3d direction;
  Vec3d ra, rb;  ///< from the centers of mass to the joint's place on b [m]
  Index turns;
  double gives;      ///< change of the rate by an impulse [1/kg], [1/(kg m^2)]
  double soft;       ///< likewise, what a spring adds to it
  double target;     ///< rate that is wanted
  double low, high;  ///< of the impulse
  double push;       ///< rate that brings back what is off
  double impulse, shift;
  double before, way;  ///< as in RigidRow
};

/// Where a joint is fixed.
struct JointTie {
  Index a, b;  ///< bodies; -1: the world
  Index type, slot;
  Vec3d at_a, at_b;
  Mat<double, 3> frame_a, frame_b;
  JointRule<double> rule;
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
    std::vector<JointTie> ties;
    for (const RigidJoint& joint : seed.joints)
      std::visit(
          [&]<class One>(const One& one) {
            auto& all = std::get<std::vector<One>>(kinds);
            ties.push_back({joint.a, joint.b, static_cast<Index>(joint.joint.index()), static_cast<Index>(all.size()),
                            joint.at_a, joint.at_b, joint.frame_a, joint.frame_b, joint.rule});
            all.push_back(one);
          },
          joint.joint);
    (send(ex, std::get<std::vector<J>>(kinds), std::get<Array<J>>(kinds_), static_cast<JointSpan<J>&>(view_)), ...);
    copy_to_device(ex, ties.data(), ties_, static_cast<Index>(ties.size()));
    view_.tie = ties_.data();
  }
  const View& view() const { return view_; }

 private:
  template <class One>
  static void send(Exec& ex, const std::vector<One>& from, Array<One>& to, JointSpan<One>& span) {
    copy_to_device(ex, from.data(), to, static_cast<Index>(from.size()));
    span.data = to.data();
  }
  Array<JointTie> ties_;
  std::tuple<Array<J>...> kinds_;
  View view_;
};
using RigidJoints = RigidJointsOf<Joint<double>>;

struct JointWork {
  Array<RigidJointRow> row;  ///< joint_rows of each
  Array<Index> count;        ///< of each
  Array<double> value;       ///< of the free coordinate [m], [rad]
  Array<double> energy;      ///< of springs [J]

  std::size_t bytes() const { return row.bytes() + count.bytes() + value.bytes() + energy.bytes(); }
};

/// Rows of all joints for a step, with the impulses of the last one to begin with. Bodies must be placed.
void make_joint_rows(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, double dt, const RigidState& state,
                     const RigidWork& work, JointWork& rows);

/// What joints held, and how far they have turned, for the next step. After the move, with bodies placed anew, or at
/// the start.
void keep_joint_forces(Exec& ex, const RigidMesh& mesh, double dt, const JointWork& rows, RigidState& state);

}  // namespace tribo::TRIBO_BACKEND
