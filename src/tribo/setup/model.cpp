#include "tribo/setup/model.h"

#include <cmath>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/matter/particles/emission.h"
#include "tribo/matter/particles/sampling.h"
#include "tribo/scene/friction.h"
#include "tribo/transfer/kernels.h"

namespace tribo {
namespace {

/// Whether a point is further beyond a shape's surface than `depth`.
template <int D, class AnyShape>
bool is_beyond(const AnyShape& shape, const Vec<double, 3>& point, bool inside, double depth) {
  Vec<double, D> p;
  for (int k = 0; k < D; ++k) p[k] = point[k];
  bool beyond = false;
  shape.each_contact(p, inside, -depth, [&](const SurfacePoint<double, D>&) { beyond = true; });
  return beyond;
}

}  // namespace

Model build_model(const Scene& scene) {
  Model model;
  model.dimension = scene.dimension;
  model.dx = scene.grid.dx;
  model.gravity = scene.gravity;
  model.time = scene.time;
  model.transfer = std::visit([](const auto& scheme) { return scheme.rule(); }, scene.grid.transfer);
  model.kernel_nodes = kernel_nodes(scene.grid.kernel);
  model.gradient_forces = scene.grid.force == "gradient";
  model.materials = scene.materials;
  for (const ObjectSpec& object : scene.objects)
    model.objects.push_back({object.name, object.material, motion_of(object), object.is_hybrid() || object.strands});
  for (const ObjectSpec& object : scene.objects) {
    if (!object.strands || object.is_curves()) continue;
    model.rod_scheme = object.strands->scheme;
    if (object.strands->method == HairMethod::mcadams) model.incompressibility = object.strands->incompressibility;
  }
  model.strand_contact = scene.strand_contact;
  model.colliders = scene.colliders;
  const FrictionTable friction(scene);
  for (std::size_t c = 0; c < scene.colliders.size(); ++c)
    model.colliders[c].friction = friction.with_particles({.collider = true, .index = static_cast<int>(c)});
  for (std::size_t o = 0; o < scene.objects.size(); ++o)
    if (scene.objects[o].emission) model.emitters.push_back(emitter_model(scene, static_cast<int>(o)));
  model.sinks = scene.sinks;
  return model;
}

double expected_particles(const Scene& scene) {
  double sum = 0;
  for (const ObjectSpec& object : scene.objects) {
    if (object.is_filled())
      sum += expected_count(object.shape, scene.grid.dx, object.particles_per_cell, scene.dimension);
    if (object.is_updated_lagrangian()) {
      const double volume = std::visit([](const auto& shape) { return shape.volume(3); }, object.shape);
      sum += 1.5 * volume / std::pow(object.solid->element_size, 3);  // those on the surface have fewer tets each
    }
    if (object.is_curves()) sum += 2 * expected_segments(object.strands->made);
  }
  return sum;
}

double expected_emission(const Scene& scene) {
  const double cell = std::pow(scene.grid.dx, scene.dimension);
  double sum = 0;
  for (const ObjectSpec& object : scene.objects)
    if (object.emission) sum += emitted_volume(scene, object) / cell * object.particles_per_cell;
  return sum;
}

ParticleSeed sample_particles(const Scene& scene) {
  ParticleSeed seed;
  std::vector<Finding> findings;
  for (std::size_t o = 0; o < scene.objects.size(); ++o) {
    const ObjectSpec& object = scene.objects[o];
    if (!object.is_filled()) continue;
    const Pose pose{object.placement.at, rotation_matrix(object.placement.rotation)};
    const Samples samples = sample_shape(object.shape, pose, scene.grid.dx, object.particles_per_cell, object.sampling,
                                         object.seed, scene.dimension);
    if (samples.positions.empty())
      findings.push_back({scene.file, 0, 0, "/objects/" + std::to_string(o),
                          "object '" + object.name +
                              "' holds no particle: its shape is thinner than the particle spacing; lower grid.dx or "
                              "raise particles_per_cell"});
    const InitialMotion motion = motion_of(object);
    const double mass = scene.materials[static_cast<std::size_t>(object.material)].density * samples.volume_each;
    for (const Vec<double, 3>& x : samples.positions) {
      seed.x.push_back(x);
      seed.v.push_back(motion.velocity_at(x));
      seed.m.push_back(mass);
      seed.object.push_back(static_cast<std::int32_t>(o));
    }
  }
  if (!findings.empty()) throw SceneError(std::move(findings));
  seed.meshes = sample_vertex_meshes(scene);
  for (const SolidBody& body : seed.meshes.bodies)
    for (auto i = static_cast<std::size_t>(body.vertices.begin); std::cmp_less(i, body.vertices.end); ++i) {
      seed.x.push_back(seed.meshes.x[i]);
      seed.v.push_back(seed.meshes.v[i]);
      seed.m.push_back(seed.meshes.mass[i]);
      seed.object.push_back(body.object);
    }
  seed.curves = sample_curves(scene);
  add_curves(seed.curves, seed);
  return seed;
}

std::vector<std::string> overlaps_with_colliders(const Scene& scene, const ParticleSeed& seed) {
  std::vector<std::string> sentences;
  for (const ColliderSpec& collider : scene.colliders) {
    const Pose pose = collider.motion.pose(0);
    const Mat<double, 3> to_local = transpose(pose.rotation);
    std::vector<std::int64_t> inside(scene.objects.size(), 0);
    std::visit(
        [&](const auto& shape) {
          for (std::size_t i = 0; i < seed.x.size(); ++i) {
            const Vec<double, 3> local = to_local * (seed.x[i] - pose.at);
            const bool deep = scene.dimension == 2 ? is_beyond<2>(shape, local, collider.inside, 0.5 * scene.grid.dx)
                                                   : is_beyond<3>(shape, local, collider.inside, 0.5 * scene.grid.dx);
            inside[static_cast<std::size_t>(seed.object[i])] += deep ? 1 : 0;
          }
        },
        collider.shape);
    for (std::size_t o = 0; o < inside.size(); ++o)
      if (inside[o] > 0)
        sentences.push_back(std::to_string(inside[o]) + " particles of object '" + scene.objects[o].name +
                            "' begin inside collider '" + collider.name + "'; move one of the two");
  }
  return sentences;
}

}  // namespace tribo
