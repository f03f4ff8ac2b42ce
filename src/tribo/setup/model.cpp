#include "tribo/setup/model.h"

#include "tribo/matter/particles/emission.h"
#include "tribo/matter/particles/spec.h"
#include "tribo/scene/friction.h"
#include "tribo/scene/room.h"
#include "tribo/transfer/kernels.h"

namespace tribo {

Model build_model(const Scene& scene) {
  Model model;
  model.dimension = scene.dimension;
  model.dx = scene.grid.dx;
  model.gravity = scene.gravity;
  model.time = scene.time;
  model.transfer = std::visit([](const auto& scheme) { return scheme.rule(); }, scene.grid.transfer);
  model.kernel_nodes = kernel_nodes(scene.grid.kernel);
  model.gradient_forces = scene.grid.force == "gradient";
  model.materials = scene.materials;
  for (const ObjectSpec& object : scene.objects)
    model.objects.push_back({object.name, object.material, motion_of(object), object.touch});
  model.colliders = scene.colliders;
  const FrictionTable friction(scene);
  for (std::size_t c = 0; c < scene.colliders.size(); ++c)
    model.colliders[c].friction = friction.with_particles({.collider = true, .index = static_cast<int>(c)});
  for (std::size_t o = 0; o < scene.objects.size(); ++o)
    if (scene.objects[o].as<EmissionSpec>() != nullptr)
      model.emitters.push_back(emitter_model(scene, static_cast<int>(o)));
  model.sinks = scene.sinks;
  return model;
}

Amounts expected_amounts(const Scene& scene) {
  Amounts amounts;
  for (const Room* room : rooms()) room->expect(scene, amounts);
  return amounts;
}

Seeds make_seeds(const Scene& scene, std::vector<std::string>& warnings) {
  Seeds seeds;
  for (const Room* room : rooms()) room->seed(scene, seeds, warnings);
  for (const Room* room : rooms()) room->look(scene, seeds, warnings);
  return seeds;
}

Seeds make_seeds(const Scene& scene) {
  std::vector<std::string> unheard;
  return make_seeds(scene, unheard);
}

Amounts amounts_of(const Seeds& seeds, double dx) {
  Amounts amounts;
  for (const Room* room : rooms()) room->count(seeds, dx, amounts);
  return amounts;
}

}  // namespace tribo
