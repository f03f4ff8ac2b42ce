#pragma once

#include "tribo/matter/strands/contact/knots.h"
#include "tribo/scene/contact.h"

/// \file
/// Contact between strands in one step, whole: the velocities that `rod_step` and the grid left become ones with which
/// strands do not pass through each other.

namespace tribo::TRIBO_BACKEND {

struct StrandContactRules : StrandContactSpec {
  ProximityRules proximity;
  FailSafeRules rounds;
};

struct StrandContactReport {
  Index pairs = 0;             ///< near enough to touch
  CrossingCount missed_grid;   ///< before any impulse, if counted
  CrossingCount missed_pairs;  ///< by the impulses alone
  Index tied = 0;              ///< crossings that only knots prevented
  CrossingCount missed;        ///< by all: what really passes
  int rounds = 0;              ///< of the fail-safe
  double closing = 0;          ///< at which what may touch comes, by velocities at the start of the step [m/s]
  /// False where the fail-safe did not find a way: the caller may take the step again with half of dt.
  bool clean = true;
};

template <class Real>
struct StrandCollisions {
  StrandContactWork<Real> work;
  Array<Crossing<Real>> crossings;
  KnotWork<Real> knots;

  std::size_t bytes() const { return work.bytes() + crossings.bytes() + knots.bytes(); }
};

/// After `rod_step` of the same dt and whatever else changes velocities; before `move_rods`. What has the last word
/// over velocities, as colliders have, must not bring in crossings that nobody counts: `holder`, unless null, comes
/// after impulses and before crossings are looked for.
template <class Real>
StrandContactReport collide_strands(Exec& ex, const StrandContactRules& rules, const RodMesh<Real>& mesh, double dt,
                                    RodState<Real>& state, RodWorkspace<Real>& rods, StrandCollisions<Real>& collisions,
                                    StrandHolder<Real>* holder = nullptr);

}  // namespace tribo::TRIBO_BACKEND
