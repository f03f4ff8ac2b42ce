#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tribo/matter/rigid/joint_place.h"
#include "tribo/matter/rigid/stages/system.h"

/// \file
/// Rigid bodies that do not touch, and joints, without a scene.

namespace tribo::TRIBO_BACKEND::test {

using Mat3d = Mat<double, 3>;
constexpr double pi = 3.14159265358979323846;

struct JointWorld {
  static constexpr Index world = -1;

  Exec ex{1};
  Model model;
  RigidSeed seed;
  /// Others that bodies ask for: empty.
  struct Others : Systems<double, 3> {
    Others(Exec& ex, const Model& model) {
      add<ParticleSystem<double, 3>>(ex, model);
      add<SolidSystem<double>>(ex, model);
    }
  };
  std::unique_ptr<Others> others;
  std::unique_ptr<RigidSystem<double>> system;
  double time = 0;

  JointWorld() {
    model.dx = 0.1;
    model.gravity = {{0, -9.81, 0}};
    seed.groups = 1;
    seed.friction = {0};
  }

  /// A body that nothing can touch, with moments of inertia about the axes.
  Index body(double mass, const Vec3d& moments, const Vec3d& x, double size = 0.1) {
    RigidForm form;
    form.shape = Sphere<double>{size};
    form.radius = size;
    form.thickness = 0;
    seed.forms.push_back(form);
    RigidBody body;
    body.mass = mass;
    body.x = x;
    for (int k = 0; k < 3; ++k) body.inertia(k, k) = moments[k];
    body.form = static_cast<std::int32_t>(seed.forms.size()) - 1;
    model.objects.push_back({"body" + std::to_string(seed.bodies.size())});
    body.object = static_cast<int>(model.objects.size()) - 1;
    seed.bodies.push_back(body);
    return static_cast<Index>(seed.bodies.size()) - 1;
  }
  /// A thin rod between two points.
  Index rod(double mass, const Vec3d& from, const Vec3d& to) {
    const Vec3d along = to - from;
    const double length = std::sqrt(squared_norm(along));
    const Index i = body(mass, Vec3d::filled(1), 0.5 * (from + to), 0.5 * length);
    Sym<double, 3>& inertia = seed.bodies[static_cast<std::size_t>(i)].inertia;
    const Vec3d u = (1 / length) * along;
    const double across = mass * length * length / 12;
    for (int a = 0; a < 3; ++a)
      for (int b = a; b < 3; ++b) inertia(a, b) = across * ((a == b ? 1.001 : 0) - u[a] * u[b]);
    return i;
  }
  /// Follows keyframes.
  Index driven(const Vec3d& x, std::vector<Keyframe> keys) {
    const Index i = body(1, Vec3d::filled(1), x);
    seed.bodies[static_cast<std::size_t>(i)].drive = static_cast<std::int32_t>(seed.drives.size());
    seed.drives.emplace_back(std::move(keys));
    return i;
  }
  RigidJoint& join(const Joint<double>& joint, Index a, Index b, const Vec3d& at, const Vec3d& axis = {{0, 0, 1}}) {
    return join(joint, a, b, at, at, axis);
  }
  RigidJoint& join(const Joint<double>& joint, Index a, Index b, const Vec3d& at_a, const Vec3d& at_b,
                   const Vec3d& axis) {
    RigidJoint one;
    one.name = "joint" + std::to_string(seed.joints.size());
    one.joint = joint;
    one.a = a;
    one.b = b;
    place_joint(seed.bodies, at_a, at_b, axis, one);
    seed.joints.push_back(one);
    return seed.joints.back();
  }

  void start() {
    others = std::make_unique<Others>(ex, model);
    system = std::make_unique<RigidSystem<double>>(ex, model, *others);
    system->load(Seeds(seed));
  }
  void step(double dt) {
    const StepTry attempt{{time, false, false}, dt, 0, 0};
    StepReport report;
    system->begin();
    system->predict(attempt);
    system->collide(attempt, {});
    system->finish(attempt, report);
    time += dt;
  }

  Vec3d x(Index i) const { return vector_at(view(std::as_const(system->state.x)), i); }
  Vec3d v(Index i) const { return vector_at(view(std::as_const(system->state.v)), i); }
  Vec3d L(Index i) const { return vector_at(view(std::as_const(system->state.L)), i); }
  Mat3d rotation(Index i) const {
    const auto& q = system->state.q;
    return rotation_of(Quaternion<double>{{q.c[0].data()[i], q.c[1].data()[i], q.c[2].data()[i], q.c[3].data()[i]}});
  }
  Vec3d w(Index i) const {
    const auto& inverse = system->mesh.inverse_inertia;
    Sym<double, 3> own;
    for (int k = 0; k < 6; ++k) own.s[k] = inverse.c[k].data()[i];
    return carried(rotation(i), own) * L(i);
  }
  /// A point of a body, given where it was at the start.
  Vec3d point(Index i, const Vec3d& start) const {
    const RigidBody& body = seed.bodies[static_cast<std::size_t>(i)];
    return x(i) + rotation(i) * (transpose(body.rotation) * (start - body.x));
  }
  double kinetic(Index i) const {
    return 0.5 * seed.bodies[static_cast<std::size_t>(i)].mass * squared_norm(v(i)) + 0.5 * dot(w(i), L(i));
  }
  /// In the field of gravity.
  double energy() const {
    double sum = 0;
    for (Index i = 0; i < static_cast<Index>(seed.bodies.size()); ++i)
      sum += kinetic(i) - seed.bodies[static_cast<std::size_t>(i)].mass * dot(model.gravity, x(i));
    return sum;
  }
  Vec3d momentum() const {
    Vec3d sum = Vec3d::zero();
    for (Index i = 0; i < static_cast<Index>(seed.bodies.size()); ++i)
      sum += seed.bodies[static_cast<std::size_t>(i)].mass * v(i);
    return sum;
  }
  Vec3d angular_momentum() const {
    Vec3d sum = Vec3d::zero();
    for (Index i = 0; i < static_cast<Index>(seed.bodies.size()); ++i)
      sum += L(i) + seed.bodies[static_cast<std::size_t>(i)].mass * cross(x(i), v(i));
    return sum;
  }
  JointPresent present(Index j = 0) {
    return present_joints(ex, system->mesh, system->joints, system->state,
                          system->joint_work)[static_cast<std::size_t>(j)];
  }
  /// Means since it was last asked.
  JointSums means(Index j = 0) {
    const double time = system->joint_work.time;
    system->joint_work.time = 0;
    JointSums s = take_joint_sums(ex, system->mesh, system->joint_work)[static_cast<std::size_t>(j)];
    s.force = (1 / time) * s.force;
    s.torque = (1 / time) * s.torque;
    s.motor /= time;
    return s;
  }
};

}  // namespace tribo::TRIBO_BACKEND::test
