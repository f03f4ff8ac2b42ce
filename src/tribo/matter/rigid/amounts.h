#pragma once

#include <algorithm>

namespace tribo {

/// What memory of rigid bodies goes by.
struct RigidAmounts {
  double bodies = 0;   ///< of objects and colliders
  double feelers = 0;  ///< of all forms
  double felt = 0;     ///< of all bodies: what may touch
  double edges = 0;    ///< of them those not within flat faces, which contacts begin with
  double vertices = 0;  ///< of the surfaces of all forms

  /// Rows of contact in a heap: measured are 3 for each ball, 4 to 7 for others, and up to 20 where flat faces are pressed.
  double rows() const { return std::min(4 * edges, 6 * bodies); }
};

}  // namespace tribo
