#pragma once

#include "tribo/core/by_type.h"

namespace tribo {

/// Everything that moves as of time 0: of each kind of matter the struct that its room makes, and its `System` loads.
class Seeds : public ByType {
 public:
  Seeds() = default;
  /// Of one kind alone.
  template <class Seed>
  Seeds(Seed seed) {
    of<Seed>() = std::move(seed);
  }
};

/// How much of everything there is or will be, likewise: what memory goes by.
class Amounts : public ByType {};

}  // namespace tribo
