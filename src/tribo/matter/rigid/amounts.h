#pragma once

namespace tribo {

/// What memory of rigid bodies goes by.
struct RigidAmounts {
  double bodies = 0;   ///< of objects and colliders
  double feelers = 0;  ///< of all forms
  double felt = 0;     ///< of all bodies: what may touch
  double vertices = 0;  ///< of the surfaces of all forms
};

}  // namespace tribo
