#include "tribo/matter/strands/places.h"

#include <algorithm>
#include <cmath>

#include "tribo/matter/rigid/spec.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/matter/strands/spec.h"
#include "tribo/mesh/curvature.h"

namespace tribo {
namespace {

void grow_on(const Shape<double>& shape, const Motion& motion, ObjectSpec& object) {
  StrandsSpec& hair = *object.as<StrandsSpec>();
  hair.motion = motion;
  auto* scalp = std::get_if<ScalpSpec>(&hair.made.source);
  if (scalp && !scalp->has_shape) scalp->shape = shape;
  object.placement = motion.keys().front();
  object.placement.at = motion.pose(0).at;
  object.shape = Box<double>{2.0 * expected_half_size(hair.made)};
}

/// Calls visit(mesh) for the meshes of a shape.
template <class Visit>
void each_mesh(const Shape<double>& shape, const Visit& visit) {
  if (const auto* mesh = std::get_if<Mesh>(&shape)) visit(*mesh);
  if (const auto* compound = std::get_if<Compound>(&shape))
    compound->each_shape([&](const SimpleShape& part, const Compound::Placement&) {
      if (const auto* mesh = std::get_if<Mesh>(&part)) visit(*mesh);
    });
}

}  // namespace

void place_hair(Scene& scene) {
  for (ObjectSpec& object : scene.objects) {
    auto* hair = object.as<StrandsSpec>();
    if (hair == nullptr || hair->on.empty()) continue;
    const std::string& name = hair->on;
    for (const ColliderSpec& collider : scene.colliders)
      if (collider.name == name) grow_on(collider.shape, collider.motion, object);
    for (const ObjectSpec& other : scene.objects) {
      const auto* rigid = other.as<RigidSpec>();
      if (other.name != name || (hybrid_mesh(other) == nullptr && rigid == nullptr)) continue;
      hair->skin = name;
      Keyframe place = rigid != nullptr ? rigid->motion.keys().front() : other.placement;
      place.time = 0;
      grow_on(other.shape, Motion({place}), object);
    }
  }
}

void refine_meshes_at_hair(Scene& scene) {
  double radius = 1e300, segment = 1e300;
  for (const ObjectSpec& object : scene.objects) {
    const StrandsSpec* hair = rods_of(object);
    if (hair == nullptr) continue;  // curves meet colliders on the grid
    radius = std::min(radius, least_radius(hair->made));
    segment = std::min(segment, expected_segment_length(hair->made));
  }
  if (!(radius > 0 && radius < 1e300 && segment > 0)) return;
  const auto refine = [&](Mesh mesh) {
    // Sharper edges than those of nine tenths of the surface are the few that sampling rounds.
    const double bend = surface_curvature(mesh.solid().mesh, 0.9);
    const double spacing = bend > 0 ? std::sqrt(8 * radius / bend) : segment;
    mesh.refine(std::clamp(spacing, segment / 8, segment / 2));
  };
  for (const ColliderSpec& collider : scene.colliders) each_mesh(collider.shape, refine);
  for (const ObjectSpec& object : scene.objects)
    if (const StrandsSpec* hair = rods_of(object))
      if (const auto* scalp = std::get_if<ScalpSpec>(&hair->made.source)) each_mesh(scalp->shape, refine);
}

}  // namespace tribo
