#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Solids as meshes of tets; other methods of theirs are particles, or have a room of their own.
class SolidRoom final : public Room {
 public:
  std::vector<ObjectType> types() const override;
  const char* spatial(const ObjectSpec&) const override;
  void check(const Scene&, const ObjectSpec&, const std::string& pointer, Findings&) const override;
  void each_shape(const ObjectSpec&, const ShapeVisitor&) const override;
  bool takes_tets(const ObjectSpec&) const override;
  bool has_tets(const ObjectSpec&) const override;
  void expect(const Scene&, Amounts&) const override;
  void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const override;
  void look(const Scene&, const Seeds&, std::vector<std::string>& warnings) const override;
  void count(const Seeds&, double dx, Amounts&) const override;
  Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const override;
};

}  // namespace tribo
