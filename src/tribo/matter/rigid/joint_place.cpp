#include "tribo/matter/rigid/joint_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tribo/scene/scene.h"

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

/// Joints farther from a body than so many of its sizes are hardly meant.
constexpr double far = 4;

std::string side_name(const Scene& scene, const JointSide& side, bool several) {
  const std::string& name = scene.objects[static_cast<std::size_t>(side.object)].name;
  return several ? name + "/" + std::to_string(side.copy) : name;
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

void add_joints(const Scene& scene, RigidSeed& seed, std::vector<std::string>& warnings) {
  const auto body_of_side = [&](const JointSide& side) {
    return side.object < 0 ? -1 : body_of(seed, side.object) + side.copy;
  };
  for (const JointSpec& spec : scene.joints) {
    RigidJoint joint;
    joint.name = spec.name;
    joint.joint = spec.joint;
    joint.a = body_of_side(spec.other);
    joint.b = body_of_side(spec.between);
    joint.rule = spec.rule;
    if (!(joint.rule.fastest > 0)) joint.rule.fastest = 1e300;
    joint.aims = spec.aims;
    joint.touch = spec.touch;
    const std::int32_t holder = joint.b >= 0 ? joint.b : joint.a;
    const Vec<double, 3> at = spec.at.value_or(seed.bodies[static_cast<std::size_t>(holder)].x);
    const Vec<double, 3> to = spec.to.value_or(at);
    place_joint(seed.bodies, to, at, spec.axis, joint);
    // who is near enough vouches for the place
    std::string from_whom;
    double least = 1e300;
    for (const JointSide* side : {&spec.between, &spec.other}) {
      const std::int32_t i = body_of_side(*side);
      if (i < 0) continue;
      const RigidBody& body = seed.bodies[static_cast<std::size_t>(i)];
      const double size = 2 * seed.forms[static_cast<std::size_t>(body.form)].radius;
      const double distance = std::sqrt(squared_norm((side == &spec.between ? at : to) - body.x));
      if (distance / size < least) {
        least = distance / size;
        const bool several = i + 1 < static_cast<std::int32_t>(seed.bodies.size()) &&
                             seed.bodies[static_cast<std::size_t>(i) + 1].object == body.object;
        from_whom = fmt::format("{:.3g} m from the center of \"{}\", {:.3g} times its size", distance,
                                side_name(scene, *side, several || side->copy > 0), least);
      }
    }
    if (least > far)
      warnings.push_back(fmt::format(
          "joint \"{}\" is {}; places of joints are in the world, not in the frame of a body", spec.name, from_whom));
    seed.joints.push_back(std::move(joint));
  }
}

}  // namespace tribo
