#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tribo/scene/scene.h"

namespace tribo {

/// Vertices of a mesh that go where they are told.
struct PinSpec {
  Shape<double> region;
  Keyframe placement;  ///< of the region (its time is unused)
  Motion motion;       ///< vertices that begin in the region follow it; one key: they stay
  std::string body;    ///< the rigid object that they go with instead; empty: none
};

/// How a mesh begins, to see it recover.
enum class StartShape { rest, scrambled, plane, line, point, mirrored };

/// A body as a mesh of tets (Han 2019, sec. 4).
struct SolidSpec {
  bool updated_lagrangian = false;  ///< vertices are particles, which move with the grid (Jiang 2015); else hybrid
  double element_size = 0;          ///< edge length of tets [m]
  bool graded = false;              ///< larger tets inside
  double restitution = 0;
  std::optional<double> damping;  ///< eta of Kelvin and Voigt [Pa s]; nothing: by the material, or enough to recover
  std::optional<double> grid_damping;  ///< nu of RPIC, each step; nothing: none at all
  bool self_contact = true;
  bool kinematic = false;  ///< the whole body follows `motion`
  Motion motion;
  std::vector<PinSpec> pins;
  StartShape start = StartShape::rest;
};

/// The mesh of an object that is no particles, or null.
inline const SolidSpec* hybrid_mesh(const ObjectSpec& object) {
  const SolidSpec* solid = object.as<SolidSpec>();
  return solid != nullptr && !solid->updated_lagrangian ? solid : nullptr;
}
/// The mesh of an object whose vertices are particles, or null.
inline const SolidSpec* vertex_mesh(const ObjectSpec& object) {
  const SolidSpec* solid = object.as<SolidSpec>();
  return solid != nullptr && solid->updated_lagrangian ? solid : nullptr;
}

}  // namespace tribo
