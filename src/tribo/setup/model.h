#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tribo/scene/scene.h"
#include "tribo/setup/emitter.h"
#include "tribo/setup/initial_motion.h"
#include "tribo/setup/seeds.h"
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
    int material = 0;  ///< -1: none
    InitialMotion motion = {};
    Touch touch = Touch::particles;
  };
  std::vector<Object> objects;
  std::vector<ColliderSpec> colliders;  ///< with their friction against particles
  std::vector<EmitterModel> emitters;
  std::vector<SinkSpec> sinks;
};

/// Everything but the particles.
Model build_model(const Scene& scene);

/// How much of everything there will be, roughly, without making it.
Amounts expected_amounts(const Scene& scene);

/// Everything that moves as of time 0, with a sentence in `warnings` for what can be simulated but is hardly meant.
/// Throws SceneError for what cannot be made.
Seeds make_seeds(const Scene& scene, std::vector<std::string>& warnings);
Seeds make_seeds(const Scene& scene);
/// How much that is, with a grid of spacing dx.
Amounts amounts_of(const Seeds& seeds, double dx);

}  // namespace tribo
