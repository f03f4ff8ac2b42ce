#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "scene_text.h"
#include "tribo/engine/engine.h"
#include "tribo/matter/rigid/seed.h"
#include "tribo/scene/reader.h"
#include "tribo/setup/model.h"

/// \file
/// Rigid boxes put by hand into a scene of other matter.

namespace tribo::test {

using Vec3 = Vec<double, 3>;

inline Mat<double, 3> turn_about(int axis, double degrees) {
  const double a = degrees * pi / 180;
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Mat<double, 3> r = Mat<double, 3>::identity();
  r(i, i) = r(j, j) = std::cos(a);
  r(i, j) = -std::sin(a);
  r(j, i) = std::sin(a);
  return r;
}

struct RigidBox {
  Vec3 size{{1, 1, 1}};
  double density = 1000;
  Vec3 at = Vec3::zero();
  Mat<double, 3> rotation = Mat<double, 3>::identity();
  Vec3 v = Vec3::zero(), w = Vec3::zero();
  double friction = 0.5;
  bool kinematic = false;
};

class RigidWorld {
 public:
  explicit RigidWorld(const std::string& text) : scene_(parse_scene(text, "test.json")), model_(build_model(scene_)) {
    seeds_ = make_seeds(scene_);
    for (const Model::Object& object : model_.objects) (void)object;
    matter_ = static_cast<int>(model_.objects.size());
  }

  int add(const RigidBox& box) {
    RigidSeed& seed = seeds_.of<RigidSeed>();
    const auto number = static_cast<std::int32_t>(seed.bodies.size());
    RigidForm form;
    form.shape = Box<double>{box.size};
    form.radius = 0.5 * norm(box.size);
    form.thickness = std::min({box.size[0], box.size[1], box.size[2]});
    form.samples.begin = static_cast<std::int32_t>(seed.samples.size());
    for (int c = 0; c < 8; ++c) {
      RigidSample sample;
      for (int k = 0; k < 3; ++k) {
        sample.n[k] = (c >> k & 1) != 0 ? 1 : -1;
        sample.x[k] = 0.5 * box.size[k] * sample.n[k];
      }
      sample.n = (1 / norm(sample.n)) * sample.n;
      seed.samples.push_back(sample);
    }
    form.samples.end = static_cast<std::int32_t>(seed.samples.size());
    RigidBody body;
    body.object = matter_ + number;
    body.group = number;
    body.mass = box.density * box.size[0] * box.size[1] * box.size[2];
    for (int k = 0; k < 3; ++k) {
      const double a = box.size[(k + 1) % 3], b = box.size[(k + 2) % 3];
      body.inertia(k, k) = body.mass / 12 * (a * a + b * b);
    }
    body.x = box.at;
    body.rotation = box.rotation;
    body.v = box.v;
    body.w = box.w;
    body.form = number;
    if (box.kinematic) {
      // at a constant velocity from where it is
      std::vector<Keyframe> keys(1);
      keys[0].at = box.at;
      // a turn about one axis is all that tests ask for
      const double degrees = std::atan2(box.rotation(1, 0), box.rotation(0, 0)) * 180 / pi;
      keys[0].rotation = {{{0, 0, 1}}, degrees};
      if (norm(box.v) > 0 || norm(box.w) > 0) {
        keys.push_back(keys[0]);
        keys[1].time = 100;
        keys[1].at = box.at + 100.0 * box.v;
        keys[1].rotation.degrees += 100 * box.w[2] * 180 / pi;
      }
      body.drive = static_cast<std::int32_t>(seed.drives.size());
      seed.drives.emplace_back(keys);
    }
    seed.bodies.push_back(body);
    seed.forms.push_back(form);
    friction_.push_back(box.friction);
    model_.objects.push_back({"box " + std::to_string(number), 0, {}, Touch::collider});
    return body.object;
  }

  void start(const std::string& precision = "double", int threads = 1) {
    RigidSeed& seed = seeds_.of<RigidSeed>();
    seed.groups = static_cast<std::int32_t>(seed.bodies.size());
    seed.particle_friction = seed.strand_friction = friction_;
    for (const double a : friction_)
      for (const double b : friction_) seed.friction.push_back(std::min(a, b));
    for (const double a : friction_)
      for (std::size_t c = 0; c < model_.colliders.size(); ++c) seed.collider_friction.push_back(a);
    engine = make_engine({"cpu", precision, threads, "", false}, model_, seeds_);
  }
  /// Steps up to a time.
  void run(double until) {
    while (engine->time() < until - 1e-12) {
      report = engine->step(until);
      unsettled += report.solve.unconverged;
      ++steps;
    }
  }
  ObjectSums sums(int object) { return engine->measure()[static_cast<std::size_t>(object)]; }
  ObjectSums all() {
    ObjectSums sum;
    for (const ObjectSums& one : engine->measure()) sum.add(one);
    return sum;
  }

  std::unique_ptr<Engine> engine;
  StepReport report;
  std::int64_t unsettled = 0, steps = 0;

 private:
  Scene scene_;
  Model model_;
  Seeds seeds_;
  std::vector<double> friction_;
  int matter_ = 0;
};

}  // namespace tribo::test
