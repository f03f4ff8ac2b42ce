#include "tribo/setup/appearance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/core/errors.h"

namespace tribo {
namespace {

Vec<float, 3> linear_color(const Look& look) {
  Vec<float, 3> color;
  for (int k = 0; k < 3; ++k) color[k] = from_srgb(static_cast<float>(look.color[k]));
  return color;
}

/// A ball around the scene's bounded shapes at the start.
struct Ball {
  Vec<double, 3> center = Vec<double, 3>::zero();
  double radius = 1;  ///< [m]
};
Ball ball_around(const Scene& scene) {
  auto low = Vec<double, 3>::filled(1e300), high = Vec<double, 3>::filled(-1e300);
  const auto include = [&](const Shape<double>& shape, const Vec<double, 3>& at) {
    const Bounds bounds = std::visit([](const auto& s) { return s.bounds(); }, shape);
    if (!bounds.bounded) return;
    const double radius = std::sqrt(std::max(squared_norm(bounds.low), squared_norm(bounds.high)));
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], at[k] - radius);
      high[k] = std::max(high[k], at[k] + radius);
    }
  };
  for (const ObjectSpec& object : scene.objects) include(object.shape, object.placement.at);
  for (const ColliderSpec& collider : scene.colliders) include(collider.shape, collider.motion.pose(0).at);
  if (low[0] > high[0]) return {};
  return {0.5 * (low + high), 0.5 * std::sqrt(squared_norm(high - low))};
}

/// The array in the precision of the run.
NamedArray array_of(const Scene& scene, const char* name, const std::vector<double>& values) {
  if (scene.precision == "double") return make_array<double>(name, 3, values);
  return make_array<float>(name, 3, std::vector<float>(values.begin(), values.end()));
}

}  // namespace

Vec<double, 3> up_direction(const Scene& scene) {
  if (!(squared_norm(scene.gravity) > 0)) return {{0, 1, 0}};
  return length_and_direction(-scene.gravity).normal;
}

double particle_spacing(const Scene& scene, const ObjectSpec& object) {
  return scene.grid.dx / std::pow(object.particles_per_cell, 1.0 / scene.dimension);
}

double particle_radius(const Scene& scene, const ObjectSpec& object) {
  // Half the edge of a particle's own cube, a little more because samples are not on a lattice.
  return 0.6 * particle_spacing(scene, object) * object.look.size;
}

RunInfo run_info(const Scene& scene) {
  RunInfo info;
  info.name = scene.name;
  info.fps = scene.fps;
  info.dimension = scene.dimension;
  const Vec<double, 3> up = up_direction(scene);
  for (int k = 0; k < 3; ++k)
    if (up[k] > 0.999) info.up = static_cast<char>('X' + k);
  for (const ObjectSpec& object : scene.objects) {
    const std::string material =
        object.material >= 0 ? scene.materials[static_cast<std::size_t>(object.material)].name : "";
    info.bodies.push_back({object.name, material, linear_color(object.look),
                           static_cast<float>(particle_radius(scene, object)), false, object.look.visible});
  }
  for (const ColliderSpec& collider : scene.colliders)
    info.bodies.push_back({collider.name, "", linear_color(collider.look), 0, true, collider.look.visible});
  return info;
}

void add_colliders(const Scene& scene, Frame& frame) {
  if (scene.dimension != 3) return;  // in the plane colliders are areas, which have no triangles to export
  for (const ColliderSpec& collider : scene.colliders) {
    if (!collider.look.visible) continue;
    const SurfaceMesh surface = std::visit([](const auto& shape) { return shape.surface(); }, collider.shape);
    const auto* plane = std::get_if<HalfSpace<double>>(&collider.shape);
    const RigidMotion motion = collider.motion.over(frame.time, 0);
    double scale = 1;
    Vec<double, 3> shift = Vec<double, 3>::zero();  // in the collider's own frame
    if (plane != nullptr) {                         // a piece below the scene, ten times as wide
      const Ball ball = ball_around(scene);
      scale = 10 * ball.radius;
      const Vec<double, 3> below = transpose(motion.pose.rotation) * (ball.center - motion.pose.at);
      const auto nearest = plane->nearest(below);
      shift = below - nearest.distance * nearest.normal;
    }
    std::vector<double> x, v;
    for (const Vec<double, 3>& vertex : surface.vertices) {
      const Vec<double, 3> arm = motion.pose.rotation * (scale * vertex + shift);
      const Vec<double, 3> velocity = motion.velocity + cross(motion.angular_velocity, arm);
      for (int k = 0; k < 3; ++k) {
        x.push_back(motion.pose.at[k] + arm[k]);
        v.push_back(velocity[k]);
      }
    }
    std::vector<std::int32_t> triangles;
    for (Vec<std::int32_t, 3> corners : surface.triangles) {
      if (collider.inside) std::swap(corners[1], corners[2]);  // material is on the other side
      for (int k = 0; k < 3; ++k) triangles.push_back(corners[k]);
    }
    frame.meshes.push_back({collider.name, array_of(scene, "x", x), array_of(scene, "v", v),
                            make_array<std::int32_t>("triangles", 3, triangles)});
  }
}

}  // namespace tribo
