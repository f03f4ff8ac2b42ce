#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Bodies that do not deform.
class RigidRoom final : public Room {
 public:
  std::vector<ObjectType> types() const override;
  const char* spatial(const ObjectSpec&) const override;
  void check(const Scene&, const ObjectSpec&, const std::string& pointer, Findings&) const override;
  void expect(const Scene&, Amounts&) const override;
  void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const override;
  void look(const Scene&, const Seeds&, std::vector<std::string>& warnings) const override;
  void count(const Seeds&, double dx, Amounts&) const override;
  Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const override;
};

}  // namespace tribo
