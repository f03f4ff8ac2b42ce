#pragma once

#include <functional>

#include "tribo/grid/stages.h"

namespace tribo::TRIBO_BACKEND {

/// Particles with a grid of their own: the particles of a scene, strands in bulk, cloth. A step is `begin`, and for
/// each of its tries `scatter`, what others do to the nodes, and the way back; in the end `moved`, or `undo`.
template <class Real, int D>
class GridPhase {
 public:
  Constants<Real, D> constants;
  State<Real, D> state;
  Workspace<Real, D> work;

  /// Whether `begin` sorts: particles must then be where they are.
  bool sorts() const { return state.bin_count == 0 || state.drift > drift_limit; }
  /// Bins and grid, once for all tries of a step.
  void begin(Exec& ex);
  /// The packed copy instead, where steps run on one; false where they do not, or a sink has taken the last particle.
  bool begin_packed(Exec& ex);
  bool packed() const { return packed_; }

  /// Particles to the grid, stress, gravity and colliders. Returns the largest velocity component of a node [m/s], or 0
  /// on packed particles: the host does not wait for it, and `gather_packed` knows.
  double scatter(Exec& ex, const typename Colliders<Real, D>::View& colliders, double dt);
  /// After that, for what else acts on it.
  GridNodes<Real, D> nodes() {
    return packed_ ? packed_nodes_ : GridNodes<Real, D>{work.blocks.data(), work.block_count, work.grid.data()};
  }

  /// Back, strain and stress included: as g2p.
  Index gather(Exec& ex, double dt) { return g2p(ex, constants, dt, state, work); }
  /// The same before the step is taken: all but places and velocities can be put back.
  void try_gather(Exec& ex, double dt);
  void undo();
  /// The step is taken; nobody has come farther than so many cells.
  void moved(double cells) {
    tried_ = false;
    // Far from the origin a slow particle moves by whole digits of its position, up to twice as far as its velocity
    // says.
    state.drift += cells + work.rounding;
  }
  /// On packed particles, and the sort for the next step; see packed_gather in stages.h.
  PackedOutcome gather_packed(Exec& ex, const StepColliders<Real, D>& colliders, double acted, double speed_limit,
                              const std::function<void()>& land);

  /// The state has come from a checkpoint.
  void loaded(Exec& ex);
  /// Scratch memory.
  std::size_t bytes() const {
    return work.bytes() + kept_.C.bytes() + kept_.F.bytes() + kept_.history.bytes() + kept_.tau.bytes();
  }

 private:
  struct Kept {  ///< of the step's begin
    Field<Real, D * D> C, F;
    Field<Real, 2> history;
    Field<Real, Sym<Real, D>::size> tau;
  } kept_;
  bool tried_ = false;
  bool packed_ = false;
  GridNodes<Real, D> packed_nodes_{};
};

}  // namespace tribo::TRIBO_BACKEND
