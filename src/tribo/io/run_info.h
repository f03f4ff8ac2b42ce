#pragma once

#include <string>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// What is the same in every frame of a run, for writers of other formats: plain data, made from the scene by
/// `run_info` (setup/appearance.h).
struct RunInfo {
  /// An object or a collider.
  struct Body {
    std::string name;
    std::string material;  ///< empty for what has none, as a collider
    Vec<float, 3> color;   ///< linear RGB, 0 to 1
    float radius = 0;      ///< of particles drawn as spheres, or of strands [m]
    bool collider = false;
    bool visible = true;
  };
  std::string name;  ///< of the scene; begins the names of files
  double fps = 24;
  int dimension = 3;
  char up = 'Y';             ///< axis against gravity: X, Y or Z; Y when gravity lies along none of them
  std::vector<Body> bodies;  ///< objects in the order of the scene (column `object` indexes them), then colliders

  const Body* find(const std::string& body_name) const {
    for (const Body& body : bodies)
      if (body.name == body_name) return &body;
    return nullptr;
  }
};

/// A linear color value (0 to 1) as a display shows it, encoded for sRGB; and the reverse.
float to_srgb(float linear);
float from_srgb(float encoded);

}  // namespace tribo
