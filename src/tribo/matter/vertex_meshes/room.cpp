#include "tribo/matter/vertex_meshes/room.h"

#include <cmath>

#include "tribo/matter/particles/amounts.h"
#include "tribo/matter/particles/seed.h"
#include "tribo/matter/solids/amounts.h"
#include "tribo/matter/solids/spec.h"
#include "tribo/matter/vertex_meshes/seed.h"
#include "tribo/setup/seeds.h"

namespace tribo {

/// Their tets are counted with those of all solids.
void VertexMeshRoom::expect(const Scene& scene, Amounts& amounts) const {
  for (const ObjectSpec& object : scene.objects) {
    const SolidSpec* solid = vertex_mesh(object);
    if (solid == nullptr) continue;
    const double volume = std::visit([](const auto& shape) { return shape.volume(3); }, object.shape);
    // Those on the surface have fewer tets each.
    amounts.of<ParticleAmounts>().count += 1.5 * volume / std::pow(solid->element_size, 3);
  }
}

void VertexMeshRoom::seed(const Scene& scene, Seeds& seeds, std::vector<std::string>& /*warnings*/) const {
  VertexMeshSeed& seed = seeds.of<VertexMeshSeed>();
  ParticleSeed& particles = seeds.of<ParticleSeed>();
  seed.meshes = sample_vertex_meshes(scene);
  seed.first_particle = static_cast<std::int32_t>(particles.x.size());
  for (const SolidBody& body : seed.meshes.bodies) {
    particles.stress_elsewhere.push_back({body.object, false});
    for (auto i = static_cast<std::size_t>(body.vertices.begin); i < static_cast<std::size_t>(body.vertices.end); ++i)
      particles.add(seed.meshes.x[i], seed.meshes.v[i], seed.meshes.mass[i], body.object);
  }
}

void VertexMeshRoom::count(const Seeds& seeds, double /*dx*/, Amounts& amounts) const {
  amounts.of<SolidAmounts>().tets += static_cast<double>(seeds.of<VertexMeshSeed>().meshes.tets.size());
}

}  // namespace tribo
