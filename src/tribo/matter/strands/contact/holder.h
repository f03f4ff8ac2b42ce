#pragma once

#include "tribo/exec/columns.h"

namespace tribo::TRIBO_BACKEND {

/// What has the last word over velocities of strands, as colliders have. Where it takes back what contact between
/// strands wants, the two must be iterated in turns: whole solutions one after the other hardly ever agree.
template <class Real>
class StrandHolder {
 public:
  StrandHolder() = default;
  StrandHolder(const StrandHolder&) = delete;
  StrandHolder& operator=(const StrandHolder&) = delete;
  virtual ~StrandHolder() = default;

  /// All strands, at once.
  virtual void hold() = 0;

  /// Or by iterations between those of others, of strands with a 1. Whether what is too deep has to come out. False
  /// where none of them is near anything.
  virtual bool begin(const Array<Index>& among, bool part) = 0;
  /// Velocities were led on by beta of their change in the last iteration, and so must be what they follow from.
  virtual void lead(double beta) = 0;
  /// An iteration.
  virtual void push() = 0;
  /// What iterations left is made good.
  virtual void end() = 0;
};

}  // namespace tribo::TRIBO_BACKEND
