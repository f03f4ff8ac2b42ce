#pragma once

#include "tribo/matter/solids/seed.h"
#include "tribo/scene/scene.h"

namespace tribo {

/// What memory of meshes of tets goes by.
struct SolidAmounts {
  double tets = 0;
  double samples = 0;
  double surface_cells = 0;  ///< area of boundaries over dx^2
  double bodies = 0;         ///< that have samples
  bool self_contact = false;

  SolidAmounts& operator+=(const SolidAmounts& other) {
    tets += other.tets;
    samples += other.samples;
    surface_cells += other.surface_cells;
    bodies += other.bodies;
    self_contact = self_contact || other.self_contact;
    return *this;
  }
};

/// Of an object, or all of a scene, roughly, before there are any tets; and of those that are there.
SolidAmounts expected_solids(const Scene& scene, const ObjectSpec& object);
SolidAmounts expected_solids(const Scene& scene);
SolidAmounts amounts_of(const SolidSeed& seed, double dx);

}  // namespace tribo
