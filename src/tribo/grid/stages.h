#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "tribo/core/object_sums.h"
#include "tribo/grid/state.h"
#include "tribo/linear/solve_report.h"
#include "tribo/setup/model.h"

/// \file
/// The stages of a step, in the order engine/step.cpp calls them. Each is a free function: where it runs, what it
/// reads, then what it changes.

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
class LawStages;

/// Model constants in the engine's precision.
template <class Real, int D>
struct Constants {
  Real dx;
  Vec<Real, D> gravity;
  TransferRule<Real> transfer;
  int kernel = 3;                ///< nodes per axis a particle touches
  bool gradient_forces = false;  ///< stress through gradients of the weights instead of MLS-MPM
  std::vector<std::shared_ptr<const LawStages<Real, D>>> laws;  ///< of each material
  std::vector<double> densities;
  int first_landing = std::numeric_limits<int>::max();  ///< particles of materials from here on, see packed_gather

  /// Whether the fast kernels of p2g.cpp and g2p.cpp can do it: quadratic weights, affine modes, MLS-MPM.
  bool fast() const { return kernel == 3 && !gradient_forces && transfer.poly_degree == 0; }
};

/// Brings the columns of the state up to date, where steps run on a packed copy of them.
template <class Real, int D>
void unpack_columns(Exec& ex, State<Real, D>& state, Workspace<Real, D>& work);
template <class Real, int D>
void settle(Exec& ex, State<Real, D>& state, Workspace<Real, D>& work) {
  if constexpr (steps_packed) unpack_columns(ex, state, work);
}
/// The same before they are changed: the packed copy is then out of date.
template <class Real, int D>
void take_columns(Exec& ex, State<Real, D>& state, Workspace<Real, D>& work) {
  settle(ex, state, work);
  if constexpr (steps_packed) {
    if (work.packed == nullptr) return;
    work.packed->await_reader();
    work.packed->active = false;
  }
}

/// Colliders where they are in a step from `time` to `time + dt`.
template <class Real, int D>
struct StepColliders {
  using View = typename Colliders<Real, D>::View;
  Exec& ex;
  const std::vector<ColliderSpec>& specs;
  double time;
  double dt;
  Workspace<Real, D>& work;
  ContactTally tally;  ///< of the step's impulses

  /// For grid nodes, with their mean motion.
  View during() const {
    View view = work.colliders.place(ex, specs, time, dt, work.nozzles);
    view.tally = tally;
    return view;
  }
  /// For particles that have moved.
  View after() const { return work.colliders.place(ex, specs, time + dt, 0, work.nozzles); }
};

/// The packed copy in step with the state, sorted; false when there are no particles.
template <class Real, int D>
bool pack_state(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work);

/// The grid between P2G and G2P: blocks in the order of blocks.h, and velocity and mass of their nodes.
template <class Real, int D>
struct GridNodes {
  const Cell<D>* blocks;
  Index block_count;
  NodePack<Real>* nodes;
};

/// A step on the packed copy: p2g and the grid, of which the host does not wait for anything.
template <class Real, int D>
GridNodes<Real, D> packed_scatter(Exec& ex, const Constants<Real, D>& constants,
                                  const typename Colliders<Real, D>::View& colliders, double dt,
                                  Workspace<Real, D>& work);

/// Then g2p to confine, and the sort for the next step. Not taken, and nothing changed, when a node is faster than
/// `speed_limit`, or `acted`, the speed that others have left there. Before they are sorted, `land` puts particles of
/// the last materials where they belong, within a cell of where they were; then nobody knows yet whether the step is
/// taken.
struct PackedOutcome {
  bool taken = false;
  double grid_speed = 0;  ///< largest velocity component of a node [m/s]
  Index bad = 0;          ///< as g2p returns it
};
template <class Real, int D>
PackedOutcome packed_gather(Exec& ex, const Constants<Real, D>& constants, const StepColliders<Real, D>& colliders,
                            double acted, double speed_limit, const std::function<void()>& land, State<Real, D>& state,
                            Workspace<Real, D>& work);

/// Particles that join, of one object and alike but for their places.
template <class Real, int D>
struct Newcomers {
  Index count;
  Vec<Real, D> v;
  Vec<Real, 2> history;
  Sym<Real, D> tau;
  Real m;
  Index first_id;
  Index object;
};

/// Adds particles at the places `x` (component by component), undeformed, and asks for a sort before the next step.
template <class Real, int D>
void add_particles(Exec& ex, const Newcomers<Real, D>& newcomers, const std::vector<Real>& x, State<Real, D>& state,
                   Workspace<Real, D>& work);

/// Sorts particles by material, block and base cell, and records the bins. Particle order within a cell is kept, so
/// the result depends on the particles alone. Those inside sinks are taken away and added to what the sinks have taken.
/// Throws DivergedError for a particle that is nowhere.
template <class Real, int D>
void sort_particles(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work);

/// First bin and particle of each material.
template <class Real, int D>
void list_groups(Exec& ex, const Constants<Real, D>& constants, const State<Real, D>& state, Workspace<Real, D>& work);

/// The sparse grid that the bins' arenas reach into.
template <class Real, int D>
void build_grid(Exec& ex, const Constants<Real, D>& constants, const State<Real, D>& state, Workspace<Real, D>& work);

/// Mass, momentum and the stress impulse of a step dt from particles to arenas. Conserves mass and momenta to rounding.
/// FLIP also asks for the velocities before the step: a second set of arenas, without stress.
template <class Real, int D>
void p2g(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, double dt, Workspace<Real, D>& work);

/// Sums arenas into grid nodes, adds gravity and applies colliders. Returns the largest velocity component, or NaN
/// when any node is not finite.
template <class Real, int D>
double update_grid(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                   double dt, Workspace<Real, D>& work);

/// Backward Euler: from velocities that gravity alone has changed (p2g without stress and update_grid without
/// colliders, that is) to those whose own stresses and contacts lead there. `converged` is false when the iterations
/// ended before that; then only the grid has changed, and the step can be taken again.
struct ImplicitReport {
  bool converged = false;
  bool near = false;  ///< the last change was within five times the tolerance: good enough when iterates run out
  double speed = 0;   ///< largest velocity component, or NaN [m/s]
  std::int64_t newton = 0;
  std::int64_t linear = 0;
  double error = 0;  ///< last change of velocities, root mean square [m/s]
};
template <class Real, int D>
ImplicitReport solve_implicit(Exec& ex, const Constants<Real, D>& constants,
                              const typename Colliders<Real, D>::View& colliders, const ImplicitSpec& settings,
                              double dt, State<Real, D>& state, Workspace<Real, D>& work);

/// Grid velocities back to particles; moves them, updates their strain and the stress for the next step. Sets the
/// state's speed and wave speed. Returns the first particle that is no longer finite, or Workspace::none.
template <class Real, int D>
Index g2p(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state, Workspace<Real, D>& work);

/// P2G and the first half of G2P for any kernel, modes and force: particles have moved, their velocity gradients wait
/// in the workspace for `deform`. The fast kernels do the same for the schemes they know.
template <class Real, int D>
void scatter_any(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, double dt,
                 Array<NodePack<Real>>& arenas, Workspace<Real, D>& work);
template <class Real, int D>
void gather_any(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state,
                Workspace<Real, D>& work);

/// Strain and stress of every particle after a step with the velocity gradients in the workspace. Sets the state's
/// speed and wave speed; returns as g2p does.
template <class Real, int D>
Index deform(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state, Workspace<Real, D>& work);

/// Brings particles that are too deep beyond a collider back to the depth that contact at nodes cannot avoid. Moves
/// positions only: an impulse taken here would be one without its friction. Returns the longest way along an axis [m],
/// for the drift; 0 where that does not matter.
template <class Real, int D>
double confine(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
               State<Real, D>& state, Workspace<Real, D>& work);

/// Stress, speed and wave speed of the particles as they stand: for the first step.
template <class Real, int D>
void evaluate_stress(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work);

/// Elastic energy per rest volume, volume ratio and the norm of the elastic logarithmic strain (0 in fluids, which
/// keep no F) of each particle, for output.
template <class Real, int D>
void observe_strain(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work,
                    Array<Real>& energy_density, Array<Real>& volume_ratio, Array<Real>& strain_norm);

/// Sums over the particles of each object, for output. The same bytes for any number of threads.
template <class Real, int D>
std::vector<ObjectSums> measure_objects(Exec& ex, const Model& model, const Constants<Real, D>& constants,
                                        State<Real, D>& state, Workspace<Real, D>& work);

/// The instances every stage is built for.
#define TRIBO_FOR_EACH_INSTANCE(instantiate) \
  instantiate(float, 2) instantiate(double, 2) instantiate(float, 3) instantiate(double, 3)

}  // namespace tribo::TRIBO_BACKEND
