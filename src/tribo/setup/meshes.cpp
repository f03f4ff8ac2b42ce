#include "tribo/setup/meshes.h"

#include <fmt/format.h>

#include "tribo/scene/room.h"

namespace tribo {

std::vector<NamedMesh> meshes_of(const Scene& scene) {
  std::vector<NamedMesh> meshes;
  const auto add = [&](const std::string& owner, const auto& shape) {
    if (const auto* mesh = std::get_if<Mesh>(&shape)) meshes.push_back({owner, *mesh});
  };
  const auto add_all = [&](const std::string& owner, const Shape<double>& shape) {
    add(owner, shape);
    if (const auto* compound = std::get_if<Compound>(&shape))
      compound->each_shape([&](const SimpleShape& part, const Compound::Placement&) { add(owner, part); });
  };
  for (const ObjectSpec& object : scene.objects) {
    add_all(object.name, object.shape);
    const Room& room = room_of(object);
    if (room.takes_tets(object)) meshes.back().as_tets = true;
    room.each_shape(object, [&](const Shape<double>& shape) { add_all(object.name, shape); });
  }
  for (const ColliderSpec& collider : scene.colliders) add_all(collider.name, collider.shape);
  for (const SinkSpec& sink : scene.sinks) add_all(sink.name, sink.shape);
  return meshes;
}

std::vector<std::string> mesh_warnings(const Scene& scene) {
  std::vector<std::string> sentences;
  for (const auto& [owner, mesh, as_tets] : meshes_of(scene)) {
    const std::string what = fmt::format("mesh {} of '{}': ", mesh.file(), owner);
    for (const std::string& note : mesh.solid().notes) sentences.push_back(what + note);
    if (!as_tets && mesh.field().spacing > mesh.wanted_spacing())
      sentences.push_back(
          fmt::format("{}its distance is sampled every {:.3g} m; {:.3g} m, as asked for, would take "
                      "more than {} MiB",
                      what, mesh.field().spacing, mesh.wanted_spacing(), most_field_bytes >> 20));
  }
  return sentences;
}

}  // namespace tribo
