#include <stdexcept>

#include "tribo/matter/curves/room.h"
#include "tribo/matter/particles/room.h"
#include "tribo/matter/rigid/room.h"
#include "tribo/matter/solids/room.h"
#include "tribo/matter/strands/room.h"
#include "tribo/matter/vertex_meshes/room.h"
#include "tribo/scene/room.h"

namespace tribo {
namespace {

template <class... Rooms>
const std::vector<const Room*>& list_of() {
  static const std::tuple<Rooms...> rooms;
  static const std::vector<const Room*> all =
      std::apply([](const auto&... room) { return std::vector<const Room*>{&room...}; }, rooms);
  return all;
}

}  // namespace

const std::vector<const Room*>& rooms() {
  return list_of<ParticleRoom, SolidRoom, VertexMeshRoom, RigidRoom, StrandRoom, CurveRoom>();
}

const std::vector<ObjectType>& object_types() {
  static const std::vector<ObjectType> all = [] {
    std::vector<ObjectType> types;
    for (const Room* room : rooms())
      for (const ObjectType& type : room->types()) types.push_back(type);
    return types;
  }();
  return all;
}

const Room& room_of(const ObjectSpec& object) {
  for (const Room* room : rooms())
    for (const ObjectType& type : room->types())
      if (object.type == type.name) return *room;
  throw std::logic_error("no room has objects of type " + object.type);
}

}  // namespace tribo
