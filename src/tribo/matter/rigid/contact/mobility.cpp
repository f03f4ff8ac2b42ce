#include "tribo/matter/rigid/contact/mobility.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* mobility_label = "rigid impulses";

struct FreeMobility {
  const PlacedBody* body;
  RigidMobility* mobility;
  TRIBO_HD void operator()(Index i) const {
    RigidMobility one{Mat<double, 3>::zero(), Mat<double, 3>::zero(), full(body[i].inverse_inertia)};
    for (int k = 0; k < 3; ++k) one.vv(k, k) = body[i].inverse_mass;
    mobility[i] = one;
  }
};

/// Joints are few, and may share a body: one after the other.
struct HoldByJoints {
  const JointTie* tie;
  const RigidJointRow* row;
  const Index* count;
  Index joints;
  const PlacedBody* body;
  RigidMobility* mobility;
  bool with_motors;

  TRIBO_HD void operator()(Index) const {
    for (Index j = 0; j < joints; ++j)
      for (Index k = 0; k < count[j]; ++k) {
        const RigidJointRow& r = row[j * joint_rows + k];
        // What is soft, slips or lets go may be light.
        if (r.law.low != r.law.high && !(with_motors && drives(r))) continue;
        hold(tie[j].a, r, r.ra, tie[j].b, r.rb);
        hold(tie[j].b, r, r.rb, tie[j].a, r.ra);
      }
  }

 private:
  /// Keeps its speed whatever comes, up to what it has left.
  TRIBO_HD static bool drives(const RigidJointRow& r) {
    return r.law.most > 0 && !(r.law.aim_soft > 0) && abs(r.impulse) < 0.5 * r.law.most;
  }
  TRIBO_HD void hold(Index own, const RigidJointRow& r, const Vec3d& arm, Index other, const Vec3d& other_arm) const {
    if (own < 0 || !(body[own].inverse_mass > 0)) return;
    const double other_yields = yields(other, r, other_arm);
    if (r.turns != 0)
      mobility[own].hold(Vec3d::zero(), r.direction, yields(own, r, arm), other_yields);
    else
      mobility[own].hold(r.direction, cross(arm, r.direction), yields(own, r, arm), other_yields);
  }
  TRIBO_HD double yields(Index i, const RigidJointRow& r, const Vec3d& arm) const {
    if (i < 0 || !(body[i].inverse_mass > 0)) return 0;
    return dot(r.direction, r.turns != 0 ? body[i].inverse_inertia * r.direction : body[i].yields(arm, r.direction));
  }
};

}  // namespace

void find_mobilities(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, const JointWork& rows,
                     const RigidWork& work, Array<RigidMobility>& mobility, bool with_motors) {
  mobility.resize_discard(mesh.count);
  parallel_for(ex, mobility_label, mesh.count, FreeMobility{work.body.data(), mobility.data()});
  if (mesh.joints > 0)
    parallel_for(ex, mobility_label, 1,
                 HoldByJoints{joints.view().tie, rows.row.data(), rows.count.data(), mesh.joints, work.body.data(),
                              mobility.data(), with_motors});
}

}  // namespace tribo::TRIBO_BACKEND
