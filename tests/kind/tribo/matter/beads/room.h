#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Rows of beads, each joined to the next by a spring; the first may be held. They touch nothing.
class BeadRoom final : public Room {
 public:
  std::vector<ObjectType> types() const override;
  const char* spatial(const ObjectSpec&) const override;
  void check(const Scene&, const ObjectSpec&, const std::string& pointer, Findings&) const override;
  void expect(const Scene&, Amounts&) const override;
  void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const override;
  void count(const Seeds&, double dx, Amounts&) const override;
  Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const override;
};

}  // namespace tribo
