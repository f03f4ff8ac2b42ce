#pragma once

#include "tribo/matter/rigid/contact/joints.h"

/// \file
/// How much a body yields to impulses on it, for whoever meets it between sweeps over what holds it.

namespace tribo::TRIBO_BACKEND {

/// Change of velocities by an impulse P and a torque T about the center: v by vv P + vw T, w by vw^T P + ww T.
struct RigidMobility {
  Mat<double, 3> vv, vw, ww;

  /// Of the velocity at x + r, by an impulse there.
  TRIBO_HD Vec3d yields(const Vec3d& r, const Vec3d& impulse) const {
    const Vec3d torque = cross(r, impulse);
    return vv * impulse + vw * torque + cross(transpose(vw) * impulse + ww * torque, r);
  }
  /// Without what moves along v = a, w = b, which `free` is how much it yields to by itself; `other` is what else does.
  TRIBO_HD void hold(const Vec3d& a, const Vec3d& b, double free, double other) {
    constexpr double held = 1e-9;  // already, but for rounding
    const Vec3d v = vv * a + vw * b, w = transpose(vw) * a + ww * b;
    const double yields = dot(a, v) + dot(b, w);
    if (!(yields > held * free)) return;
    const double scale = 1 / (yields + other);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        vv(i, j) -= scale * v[i] * v[j];
        vw(i, j) -= scale * v[i] * w[j];
        ww(i, j) -= scale * w[i] * w[j];
      }
  }
};

/// Of all bodies, with what their joints hold in both directions: who does not know that an axle holds a wheel takes it
/// for far lighter than it is, and needs many rounds with the joint to find out. The body at the other end of a joint
/// is taken to be free. After `make_joint_rows`. `with_motors`: those that hold a speed and have more than half of
/// their torque left hold as well, for who asks again after they have answered; impacts are over before.
void find_mobilities(Exec& ex, const RigidMesh& mesh, const RigidJoints& joints, const JointWork& rows,
                     const RigidWork& work, Array<RigidMobility>& mobility, bool with_motors = false);

}  // namespace tribo::TRIBO_BACKEND
