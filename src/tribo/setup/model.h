#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tribo/matter/curves/seed.h"
#include "tribo/matter/solids/seed.h"
#include "tribo/scene/scene.h"
#include "tribo/setup/emitter.h"
#include "tribo/setup/initial_motion.h"
#include "tribo/transfer/all.h"

namespace tribo {

/// What the solver needs to know and never changes: rebuilt from the scene, never saved.
struct Model {
  int dimension = 3;
  double dx = 0;  ///< [m]
  Vec<double, 3> gravity = Vec<double, 3>::zero();
  TimeSpec time;
  TransferRule<double> transfer;
  int kernel_nodes = 3;
  bool gradient_forces = false;
  std::vector<MaterialSpec> materials;
  struct Object {
    std::string name;
    int material = 0;
    InitialMotion motion = {};
    bool mesh = false;  ///< of tets, hybrid, or of strands: has no particles
  };
  std::vector<Object> objects;
  RodScheme rod_scheme = RodScheme::implicit;
  Incompressibility incompressibility = Incompressibility::bilateral;  ///< of hair with method mcadams
  StrandContactSpec strand_contact;
  std::vector<ColliderSpec> colliders;  ///< with their friction against particles
  std::vector<EmitterModel> emitters;
  std::vector<SinkSpec> sinks;
};

/// Particles at time 0, in order of id.
struct ParticleSeed {
  std::vector<Vec<double, 3>> x;  ///< [m]
  std::vector<Vec<double, 3>> v;  ///< [m/s]
  std::vector<double> m;          ///< [kg]
  std::vector<std::int32_t> object;
  std::vector<Mat<double, 3>> F;  ///< deformation gradients; empty when undeformed
  SolidSeed meshes;               ///< of method "updated_lagrangian": their vertices are the last particles but for
  CurveSeed curves;               ///< those of curves, first all vertices, then one for each segment
};

/// Everything but the particles.
Model build_model(const Scene& scene);

/// How many particles the scene begins with, and how many its emitters add until its end, without making them.
double expected_particles(const Scene& scene);
double expected_emission(const Scene& scene);

/// Fills every object's shape with particles, or with tets whose vertices are some. Throws SceneError when an object
/// gets none.
ParticleSeed sample_particles(const Scene& scene);

/// Objects that begin inside colliders by more than half a cell, one sentence each: hardly ever what was meant.
std::vector<std::string> overlaps_with_colliders(const Scene& scene, const ParticleSeed& seed);

}  // namespace tribo
