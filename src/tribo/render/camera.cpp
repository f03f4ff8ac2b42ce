#include "tribo/render/camera.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tribo/matter/particles/spec.h"
#include "tribo/setup/appearance.h"

namespace tribo {
namespace {

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

Vec<double, 3> unit(const Vec<double, 3>& v) { return length_and_direction(v).normal; }

/// Bounds of a shape in place; empty for a half space.
ViewBounds bounds_of(const Shape<double>& shape, const Pose& pose) {
  ViewBounds box, placed;
  const Bounds local = std::visit([](const auto& s) { return s.bounds(); }, shape);
  if (!local.bounded) return placed;
  box.include(local.low);
  box.include(local.high);
  for (int i = 0; i < 8; ++i) placed.include(pose.rotation * box.corner(i) + pose.at);
  return placed;
}

/// What two boxes have in common; `a` when they are apart.
ViewBounds common(const ViewBounds& a, const ViewBounds& b) {
  ViewBounds both = a;
  for (int k = 0; k < 3; ++k) {
    both.low[k] = std::max(a.low[k], b.low[k]);
    both.high[k] = std::min(a.high[k], b.high[k]);
    if (both.low[k] > both.high[k]) return a;
  }
  return both;
}

/// The part of a container that pictures show: its walls around the contents, and its floor.
ViewBounds shown_part(const ViewBounds& container, const ViewBounds& contents, const Vec<double, 3>& up) {
  ViewBounds part = container;
  for (int k = 0; k < 3; ++k) {
    if (up[k] > 0.7) part.high[k] = std::clamp(contents.high[k], part.low[k], part.high[k]);
    if (up[k] < -0.7) part.low[k] = std::clamp(contents.low[k], part.low[k], part.high[k]);
  }
  return part;
}

/// The least distance from `target` at which every corner is inside the picture, with some air around.
double fitting_distance(const Camera& camera, const ViewBounds& bounds, const Vec<double, 3>& target, double aspect) {
  constexpr double air = 1.1;
  double distance = 0;
  for (int i = 0; i < 8; ++i) {
    const Vec<double, 3> p = bounds.corner(i) - target;
    const double nearer = -dot(p, camera.forward);
    const double across = std::abs(dot(p, camera.right)) / (camera.tan_half_fov * aspect);
    const double upward = std::abs(dot(p, camera.up)) / camera.tan_half_fov;
    distance = std::max(distance, nearer + air * std::max(across, upward));
  }
  return distance;
}

}  // namespace

void ViewBounds::include(const Vec<double, 3>& point) {
  for (int k = 0; k < 3; ++k) {
    low[k] = std::min(low[k], point[k]);
    high[k] = std::max(high[k], point[k]);
  }
}
void ViewBounds::include(const ViewBounds& other) {
  if (other.empty()) return;
  include(other.low);
  include(other.high);
}
void ViewBounds::grow(double margin) {
  for (int k = 0; k < 3; ++k) {
    low[k] -= margin;
    high[k] += margin;
  }
}
Vec<double, 3> ViewBounds::corner(int index) const {
  Vec<double, 3> p;
  for (int k = 0; k < 3; ++k) p[k] = (index >> k & 1) != 0 ? high[k] : low[k];
  return p;
}
double ViewBounds::radius() const { return empty() ? 1 : 0.5 * std::sqrt(squared_norm(high - low)); }

Horizon::Horizon(const Vec<double, 3>& up_direction) : up(up_direction) {
  // The front is +z, or what of it is horizontal; with z up, -y.
  Vec<double, 3> toward{{0, 0, 1}};
  if (std::abs(up[2]) > 0.9) toward = {{0, -1, 0}};
  side = unit(cross(up, toward));
  front = cross(side, up);
}

Vec<double, 3> Horizon::direction(double azimuth, double elevation) const {
  const double a = radians(azimuth), e = radians(elevation);
  return std::cos(e) * (std::cos(a) * front + std::sin(a) * side) + std::sin(e) * up;
}

ViewBounds interesting_bounds(const Scene& scene, const ViewBounds& motion) {
  ViewBounds shown = motion;
  const Vec<double, 3> up = up_direction(scene);
  for (const ColliderSpec& collider : scene.colliders) {
    if (!collider.look.visible) continue;
    for (const Keyframe& key : collider.motion.keys()) {
      const ViewBounds there = bounds_of(collider.shape, collider.motion.pose(key.time));
      if (there.empty()) continue;
      if (collider.inside) {
        // Of a container far larger than its contents, a piece around them.
        ViewBounds nearby = motion;
        nearby.grow(2 * motion.radius());
        shown.include(motion.empty() ? there : shown_part(common(there, nearby), motion, up));
      } else if (motion.empty() || there.radius() < 4 * motion.radius()) {  // else a part of the landscape
        shown.include(there);
      }
    }
  }
  if (shown.empty()) shown.include(Vec<double, 3>::zero());
  if (scene.dimension == 2) shown.low[2] = shown.high[2] = 0;
  double margin = 0;
  for (const ObjectSpec& object : scene.objects) margin = std::max(margin, particle_radius(scene, object));
  shown.grow(std::max(margin, 1e-6));
  return shown;
}

/// What leaves an emitter flies on, with gravity until it is back at the same height.
static void include_flight(const Scene& scene, const ObjectSpec& emitter, ViewBounds& motion) {
  const double g = std::sqrt(squared_norm(scene.gravity));
  double flight = scene.duration;
  if (g > 0) flight = std::min(flight, 2 * std::max(0.0, dot(emitter.velocity, up_direction(scene))) / g);
  for (int i = 1; i <= 16; ++i) {
    const double t = flight * i / 16;
    motion.include(emitter.placement.at + emitter.velocity * t + scene.gravity * (0.5 * t * t));
  }
}

ViewBounds expected_motion(const Scene& scene) {
  ViewBounds motion;
  for (const ObjectSpec& object : scene.objects) {
    if (!object.look.visible) continue;
    motion.include(bounds_of(object.shape, {object.placement.at, rotation_matrix(object.placement.rotation)}));
    if (object.as<EmissionSpec>() != nullptr) include_flight(scene, object, motion);
  }
  if (motion.empty()) return motion;
  if (scene.dimension == 2) motion.low[2] = motion.high[2] = 0;
  const Vec<double, 3> up = up_direction(scene);
  const Vec<double, 3> center = motion.center();
  for (const ColliderSpec& collider : scene.colliders) {
    const Pose pose = collider.motion.pose(0);
    if (const auto* ground = std::get_if<HalfSpace<double>>(&collider.shape)) {
      // What falls onto the ground spreads about as far as it was high.
      const Vec<double, 3> normal = pose.rotation * ground->normal;
      const double slope = dot(normal, up);
      if (slope < 0.5) continue;
      const double drop = dot(normal, center - pose.at) / slope;
      if (drop > 0) motion.include(center - drop * up);
    } else if (collider.inside) {  // down to its floor
      const ViewBounds there = bounds_of(collider.shape, pose);
      for (int k = 0; k < 3; ++k) {
        if (up[k] > 0.7) motion.low[k] = std::min(motion.low[k], there.low[k]);
        if (up[k] < -0.7) motion.high[k] = std::max(motion.high[k], there.high[k]);
      }
    }
  }
  return motion;
}

Camera drawn_back(const Camera& camera, const ViewBounds& bounds, const Vec<double, 3>& center, const Horizon& horizon,
                  double aspect) {
  double distance = std::sqrt(squared_norm(camera.from - center));
  for (int degrees = 0; degrees < 360; degrees += 10)
    distance = std::max(distance, fitting_distance(turned(camera, center, horizon, degrees), bounds, center, aspect));
  Camera result = camera;
  result.from = center - distance * camera.forward;
  return result;
}

Camera turned(const Camera& camera, const Vec<double, 3>& center, const Horizon& horizon, double degrees) {
  const Mat<double, 3> rotation = rotation_matrix({horizon.up, degrees});
  Camera result = camera;
  result.from = center + rotation * (camera.from - center);
  result.forward = rotation * camera.forward;
  result.right = rotation * camera.right;
  result.up = rotation * camera.up;
  return result;
}

Camera place_camera(const CameraSpec& spec, const ViewBounds& bounds, const Horizon& horizon, double aspect) {
  Camera camera;
  camera.tan_half_fov = std::tan(radians(spec.fov) / 2);
  Vec<double, 3> target = spec.to.value_or(bounds.center());
  if (spec.from) {
    camera.from = *spec.from;
    camera.forward = unit(target - camera.from);
  } else {
    camera.forward = -horizon.direction(spec.azimuth, spec.elevation);
  }
  const bool vertical = std::abs(dot(camera.forward, horizon.up)) > 0.9999;
  camera.right = unit(cross(camera.forward, vertical ? -horizon.front : horizon.up));
  camera.up = cross(camera.right, camera.forward);
  if (!spec.from) camera.from = target - fitting_distance(camera, bounds, target, aspect) * camera.forward;
  return camera;
}

}  // namespace tribo
