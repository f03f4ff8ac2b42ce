#pragma once

#include <vector>

#include "tribo/matter/solids/seed.h"

namespace tribo {

struct ObjectSpec;
struct ParticleSeed;
struct RodSeed;

/// Points of all boundaries that take part in contact (Han 2019, sec. 4.1), body by body and triangle by triangle: some
/// spread over each triangle, as many as `seed.contact.samples_per_cell` asks for with a grid of spacing dx, and one at
/// each of its corners. Masses are consistent with those of the vertices,
///   sum_q b_pq m_q = m_p   for every vertex p of a boundary,
/// so that impulses on samples keep both momenta when vertices take them. Reads rest shapes; the same for any machine.
std::vector<ContactSample> place_samples(const SolidSeed& seed, double dx);

/// What memory goes by.
struct MeshAmounts {
  double tets = 0;
  double samples = 0;
  double surface_cells = 0;  ///< area of boundaries over dx^2
  double bodies = 0;         ///< that have samples
  bool self_contact = false;
  double segments = 0;        ///< of strands that are rods
  double grid_segments = 0;   ///< of those that meet in bulk, on a grid
  double strand_blocks = 0;   ///< of 4^3 cells, that these are in
  double volume_cells = 0;    ///< of a box around hair whose volume is incompressible
  double curve_segments = 0;  ///< of strands that are particles
  double curve_blocks = 0;    ///< that these are in

  MeshAmounts& operator+=(const MeshAmounts& other) {
    tets += other.tets;
    samples += other.samples;
    surface_cells += other.surface_cells;
    bodies += other.bodies;
    self_contact = self_contact || other.self_contact;
    segments += other.segments;
    grid_segments += other.grid_segments;
    strand_blocks += other.strand_blocks;
    volume_cells += other.volume_cells;
    curve_segments += other.curve_segments;
    curve_blocks += other.curve_blocks;
    return *this;
  }
};

/// Of an object, or all of a scene, roughly, before there are any tets or strands; and of those that are there.
MeshAmounts expected_meshes(const Scene& scene, const ObjectSpec& object);
MeshAmounts expected_meshes(const Scene& scene);
MeshAmounts amounts_of(const SolidSeed& seed, double dx);
MeshAmounts amounts_of(const ParticleSeed& particles, const SolidSeed& solids, const RodSeed& rods, double dx);

/// Throws SceneError when `count` of them, of this object or with it, are more than can be.
void check_sample_count(const Scene& scene, const ObjectSpec& object, double count);

/// How many of them a body gets, which may be more than there are integers.
double expected_samples(const SolidSeed& seed, const SolidBody& body, double dx);

/// The samples of each body in what `place_samples` returned: `bodies[b].samples`.
void assign_samples(const std::vector<ContactSample>& samples, std::vector<SolidBody>& bodies);

}  // namespace tribo
