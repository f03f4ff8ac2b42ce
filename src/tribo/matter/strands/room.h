#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Hair as elastic rods. Hair of method "mpm" has a room of its own.
class StrandRoom final : public Room {
 public:
  std::vector<ObjectType> types() const override;
  void complete(Scene&) const override;
  const char* spatial(const ObjectSpec&) const override;
  void check(const Scene&, const ObjectSpec&, const std::string& pointer, Findings&) const override;
  void each_shape(const ObjectSpec&, const ShapeVisitor&) const override;
  std::vector<NamedBytes> files(const ObjectSpec&) const override;
  void expect(const Scene&, Amounts&) const override;
  void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const override;
  void count(const Seeds&, double dx, Amounts&) const override;
  Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const override;
};

}  // namespace tribo
