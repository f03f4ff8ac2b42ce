#pragma once

#include <cstdint>

#include "tribo/matter/solids/seed.h"

namespace tribo {

/// Meshes whose vertices are particles.
struct VertexMeshSeed {
  SolidSeed meshes;
  std::int32_t first_particle = 0;  ///< id of the first vertex; the others follow
};

}  // namespace tribo
