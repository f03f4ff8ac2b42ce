#include "tribo/matter/rigid/joint_place.h"

#include <cmath>

namespace tribo {
namespace {

/// Axes (columns) of which the third is along `axis`; the first is as near to an axis of the world as it can be.
Mat<double, 3> frame_about(const Vec<double, 3>& axis) {
  const Vec<double, 3> z = axis * (1 / std::sqrt(squared_norm(axis)));
  int least = 0;
  for (int k = 1; k < 3; ++k)
    if (std::abs(z[k]) < std::abs(z[least]) - 1e-9) least = k;
  Vec<double, 3> x = Vec<double, 3>::zero();
  x[least] = 1;
  x = x - dot(x, z) * z;
  x = x * (1 / std::sqrt(squared_norm(x)));
  const Vec<double, 3> y = cross(z, x);
  Mat<double, 3> frame;
  for (int k = 0; k < 3; ++k) {
    frame(k, 0) = x[k];
    frame(k, 1) = y[k];
    frame(k, 2) = z[k];
  }
  return frame;
}

}  // namespace

void place_joint(const std::vector<RigidBody>& bodies, const Vec<double, 3>& at_a, const Vec<double, 3>& at_b,
                 const Vec<double, 3>& axis, RigidJoint& joint) {
  const Mat<double, 3> frame = frame_about(axis);
  const auto fix = [&](std::int32_t side, const Vec<double, 3>& at, Vec<double, 3>& to, Mat<double, 3>& axes) {
    to = at;
    axes = frame;
    if (side < 0) return;
    const RigidBody& body = bodies[static_cast<std::size_t>(side)];
    const Mat<double, 3> back = transpose(body.rotation);
    to = back * (at - body.x);
    axes = back * frame;
  };
  fix(joint.a, at_a, joint.at_a, joint.frame_a);
  fix(joint.b, at_b, joint.at_b, joint.frame_b);
  const double distance = std::sqrt(squared_norm(at_b - at_a));
  std::visit(
      [&](auto& one) {
        if constexpr (requires { one.begun(distance); }) one = one.begun(distance);
      },
      joint.joint);
}

}  // namespace tribo
