#include "tribo/matter/strands/grid_contact.h"

#include "tribo/matter/strands/spec.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/scene/scene.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

bool is_in_collider(const Scene& scene, const Vec3& x) {
  return std::any_of(scene.colliders.begin(), scene.colliders.end(), [&](const ColliderSpec& collider) {
    const Pose pose = collider.motion.pose(0);
    const Vec3 local = transpose(pose.rotation) * (x - pose.at);
    return std::visit(
        [&](const auto& shape) {
          bool inside = false;
          shape.each_contact(local, collider.inside, 0.0, [&](const SurfacePoint<double, 3>&) { inside = true; });
          return inside;
        },
        collider.shape);
  });
}

/// How far below a place the first collider is, roughly; 0 where there is none.
double drop_below(const Scene& scene, const Vec3& x, const Vec3& down) {
  for (double way = scene.grid.dx; way < 1e4 * scene.grid.dx; way *= 1.1)
    if (is_in_collider(scene, x + way * down)) return way;
  return 0;
}

/// The longest way down that anything may fall before it meets hair, or hair meets something: what begins highest down
/// to the lowest strand, a tip by the length of its strand, and strands that nothing holds to what is below them.
double fall_height(const Scene& scene, const RodSeed& seed, const Vec3& down) {
  double low = std::numeric_limits<double>::infinity(), high = -low, longest = 0;
  std::size_t lowest = 0;
  for (std::size_t i = 0; i < seed.x.size(); ++i) {
    const double height = -dot(seed.x[i], down);
    if (height < low) lowest = i;
    low = std::min(low, height);
    high = std::max(high, height);
  }
  for (const ObjectSpec& object : scene.objects)
    if (object.as<StrandsSpec>() == nullptr) high = std::max(high, -dot(object.placement.at, down));
  for (std::size_t s = 0; s + 1 < seed.start.size(); ++s) {
    double length = 0;
    for (auto i = static_cast<std::size_t>(seed.start[s]); i + 1 < static_cast<std::size_t>(seed.start[s + 1]); ++i)
      length += seed.length[i];
    longest = std::max(longest, length);
  }
  const bool held = std::any_of(seed.drive.begin(), seed.drive.end(), [](std::int32_t drive) { return drive >= 0; });
  return held ? std::max(high - low, longest) : high - low + drop_below(scene, seed.x[lowest], down);
}

}  // namespace

double expected_impact_speed(const Scene& scene, const RodSeed& seed) {
  double initial = 0, driven = 0;
  for (const Vec3& v : seed.v) initial = std::max(initial, std::sqrt(squared_norm(v)));
  for (const ObjectSpec& object : scene.objects) initial = std::max(initial, std::sqrt(squared_norm(object.velocity)));
  std::vector<double> radius(seed.drives.size(), 0);
  for (std::size_t i = 0; i < seed.x.size(); ++i) {
    if (seed.drive[i] < 0) continue;
    const auto d = static_cast<std::size_t>(seed.drive[i]);
    radius[d] = std::max(radius[d], std::sqrt(squared_norm(seed.x[i] - seed.drives[d].start.at)));
  }
  for (std::size_t d = 0; d < seed.drives.size(); ++d)
    driven = std::max(driven, seed.drives[d].motion.max_speed(radius[d]));
  for (const ColliderSpec& collider : scene.colliders) {
    const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, collider.shape);
    const double reach = bounds.bounded ? std::sqrt(std::max(squared_norm(bounds.low), squared_norm(bounds.high))) : 0;
    driven = std::max(driven, collider.motion.max_speed(reach));
  }
  const double g = std::sqrt(squared_norm(scene.gravity));
  const double fall = g > 0 ? fall_height(scene, seed, (1 / g) * scene.gravity) : 0;
  return std::sqrt(initial * initial + 2 * g * fall) + driven;
}

void set_grid_contact(const Scene& scene, RodSeed& seed) {
  const StrandGridSpec& grid = scene.strand_grid;
  const bool alone = seed.start.size() <= 2 && scene.objects.size() == 1;
  if (!grid.on || alone || seed.bodies.empty()) return;
  seed.blend = grid.blend;
  seed.blend_time = grid.blend_time;
  // Twice the speed of an impact keep nearly all of the volume (experiments_hair 2). Where nothing moves by itself
  // what the longest step can resolve is enough.
  constexpr double times_impact = 2.2;
  const double least = 0.3 * scene.grid.dx / scene.time.dt_max;
  const double speed = grid.wave_speed.value_or(std::max(times_impact * expected_impact_speed(scene, seed), least));
  for (RodBody& body : seed.bodies) {
    if (body.method != HairMethod::hybrid) continue;
    body.wave_speed = speed;
    body.grid_friction = grid.friction.value_or(body.friction);
  }
}

}  // namespace tribo
