#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Solids of method "updated_lagrangian", whose vertices are particles.
class VertexMeshRoom final : public Room {
 public:
  void check(const Scene&, const ObjectSpec&, const std::string&, Findings&) const override {}
  void expect(const Scene&, Amounts&) const override;
  void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const override;
  void count(const Seeds&, double dx, Amounts&) const override;
  Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const override { return {}; }
};

}  // namespace tribo
