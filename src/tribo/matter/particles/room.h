#pragma once

#include "tribo/scene/room.h"

namespace tribo {

/// Particles that fill shapes or come out of emitters.
class ParticleRoom final : public Room {
 public:
  std::vector<ObjectType> types() const override;
  void check(const Scene&, const ObjectSpec&, const std::string& pointer, Findings&) const override;
  void expect(const Scene&, Amounts&) const override;
  void seed(const Scene&, Seeds&, std::vector<std::string>& warnings) const override;
  void look(const Scene&, const Seeds&, std::vector<std::string>& warnings) const override;
  void count(const Seeds&, double dx, Amounts&) const override;
  Outlay outlay(const MemoryRules&, const Model&, const Amounts&) const override;
};

}  // namespace tribo
