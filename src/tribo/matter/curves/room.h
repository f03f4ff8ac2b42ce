#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Hair of method "mpm", whose vertices and segments are particles.
class CurveRoom final : public Room {
 public:
  void check(const Scene&, const ObjectSpec&, const std::string&, Findings&) const override {}
  void expect(const Scene&, Amounts&) const override;
  void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const override;
  void count(const Seeds&, double dx, Amounts&) const override;
  Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const override;
};

}  // namespace tribo
