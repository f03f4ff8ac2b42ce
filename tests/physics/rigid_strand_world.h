#pragma once

#include <memory>

#include "scene_text.h"
#include "tribo/engine/engine.h"
#include "tribo/matter/rigid/seed.h"
#include "tribo/matter/strands/seed.h"
#include "tribo/setup/model.h"

/// \file
/// Rigid bodies made by hand, beside the strands of a scene.

namespace tribo::test {

using Vec3 = Vec<double, 3>;

/// With its center of mass at the origin of its shape.
struct HandmadeBody {
  Shape<double> shape;
  double mass = 1;
  Vec3 moments{{1, 1, 1}};  ///< of inertia, along the axes of the shape [kg m^2]
  double radius = 0, thickness = 0;
  Vec3 at = Vec3::zero(), velocity = Vec3::zero(), spin = Vec3::zero();
  double friction = 0;

  static HandmadeBody ball(double r, double mass, const Vec3& at, const Vec3& velocity = Vec3::zero()) {
    HandmadeBody one;
    one.shape = Sphere<double>{r};
    one.mass = mass;
    one.moments = Vec3::filled(0.4 * mass * r * r);
    one.radius = r;
    one.thickness = 2 * r;
    one.at = at;
    one.velocity = velocity;
    return one;
  }
  static HandmadeBody box(const Vec3& size, double mass, const Vec3& at, const Vec3& velocity = Vec3::zero()) {
    HandmadeBody one;
    one.shape = Box<double>{size};
    one.mass = mass;
    for (int k = 0; k < 3; ++k)
      one.moments[k] = mass / 12 * (size[(k + 1) % 3] * size[(k + 1) % 3] + size[(k + 2) % 3] * size[(k + 2) % 3]);
    one.radius = 0.5 * norm(size);
    one.thickness = std::min({size[0], size[1], size[2]});
    one.at = at;
    one.velocity = velocity;
    return one;
  }
};

inline void add_body(const HandmadeBody& one, Model& model, Seeds& seeds) {
  auto& seed = seeds.of<RigidSeed>();
  RigidForm form;
  form.shape = one.shape;
  form.radius = one.radius;
  form.thickness = one.thickness;
  form.samples = {static_cast<std::int32_t>(seed.samples.size()), static_cast<std::int32_t>(seed.samples.size())};
  if (const auto* ball = std::get_if<Sphere<double>>(&one.shape)) {
    seed.samples.push_back({Vec3::zero(), Vec3{{0, 1, 0}}, ball->radius, 0, 0, Feeler::ball});
    ++form.samples.end;
    form.round = true;
  }
  RigidBody body;
  body.object = static_cast<int>(model.objects.size());
  body.group = seed.groups++;
  body.mass = one.mass;
  for (int k = 0; k < 3; ++k) body.inertia(k, k) = one.moments[k];
  body.x = one.at;
  body.v = one.velocity;
  body.w = one.spin;
  body.form = static_cast<std::int32_t>(seed.forms.size());
  seed.forms.push_back(form);
  seed.bodies.push_back(body);
  seed.strand_friction.push_back(one.friction);
  seed.particle_friction.push_back(one.friction);
  seed.friction.assign(static_cast<std::size_t>(seed.groups) * static_cast<std::size_t>(seed.groups), 0.3);
  seed.collider_friction.assign(static_cast<std::size_t>(seed.groups) * model.colliders.size(), 0.3);
  model.objects.push_back({.name = "body", .touch = Touch::nothing});
}

/// The strands of a scene, and bodies.
struct RigidStrandWorld {
  Model model;
  std::unique_ptr<Engine> engine;
  double fps;

  RigidStrandWorld(const std::string& text, const std::vector<HandmadeBody>& bodies, int threads = 1) {
    const Scene scene = parse_scene(text, "test.json", {});
    fps = scene.fps;
    model = build_model(scene);
    Seeds seeds = make_seeds(scene);
    for (const HandmadeBody& one : bodies) add_body(one, model, seeds);
    engine = make_engine({"cpu", scene.precision, threads, ""}, model, seeds);
  }
  void run_to(double time) {
    while (engine->time() < time - 1e-12) engine->step(time);
  }
  std::vector<ObjectSums> measure() { return engine->measure(); }
  ObjectSums all() {
    ObjectSums sum;
    for (const ObjectSums& one : measure()) sum.add(one);
    return sum;
  }
  std::vector<Vec3> column(const std::string& name) {
    const Container saved = save_state(*engine);
    std::vector<Vec3> points;
    for (int k = 0; k < 3; ++k) {
      const NamedArray* array = saved.find(name + "." + std::to_string(k));
      points.resize(array->count);
      for (std::size_t i = 0; i < points.size(); ++i)
        points[i][k] = array->type == DType::f64 ? array->as<double>()[i] : static_cast<double>(array->as<float>()[i]);
    }
    return points;
  }
};

}  // namespace tribo::test
