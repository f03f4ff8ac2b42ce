#pragma once

#include <string>
#include <vector>

#include "tribo/scene/scene.h"

namespace tribo {

/// A mesh and the object, collider or sink whose shape it is, or is part of.
struct NamedMesh {
  std::string owner;
  Mesh mesh;
  bool as_tets = false;  ///< a solid has its tets, and nobody asks for the distance to its surface
};

/// Every mesh of a scene, objects first, with what their pins hold and hair grows on.
std::vector<NamedMesh> meshes_of(const Scene& scene);

/// What had to be put right about meshes or will not be as asked for, one sentence each. Samples their distances.
std::vector<std::string> mesh_warnings(const Scene& scene);

}  // namespace tribo
