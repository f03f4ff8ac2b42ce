#include <cmath>
#include <limits>

#include "tribo/core/errors.h"
#include "tribo/engine/solver.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// How often a step that does not converge, or has strands pass through each other, is tried again with half its
/// length.
constexpr int most_rejections = 5;

/// What remains of a step once something has moved for good.
template <class Rest>
void finish_moved(const Rest& rest) {
  try {
    rest();
  } catch (const DeviceError& error) {
    throw LostStepError(error.what());
  }
}

/// Meshes and strands in one step with the particles of the same dimension.
template <class Real, int D>
struct StepMeshes {
  Exec& ex;
  const Model& model;
  SolidSystem<Real>& solids;
  bool particles;  ///< there are some to meet
  VertexParticles<Real>& vertices;
  RodSystem<Real>& rods;

  bool solid() const { return D == 3 && !solids.empty(); }
  bool hairy() const { return D == 3 && !rods.empty(); }
  bool any() const { return solid() || hairy(); }
  bool bulky() const { return hairy() && !rods.bundle.empty(); }
  /// Nothing but hair: how far it goes in a step as a whole matters to nobody.
  bool alone() const { return hairy() && !solid() && !particles; }
  /// Whether bodies meet strands: not in the printed form, which knows only one grid beside theirs, and not where hair
  /// grows on one of them, which it would push away from its own roots.
  bool touch_strands() const {
    return solid() && bulky() && rods.mesh.skin.size() == 0 &&
           solids.contact_constants.spec.form != ContactSpec::Form::paper;
  }
  void begin() const {
    if (solid()) begin_solids(ex, solids.state, solids.work);
    if (hairy()) begin_rods(ex, rods.state, rods.work);
    if (bulky()) rods.bundle.begin(ex, rods.state);
  }
  /// Meshes whose vertices are particles change the velocities of these; their positions and forces follow from them.
  void push_particles(double dt, State<Real, D>& state, Workspace<Real, D>& work) const {
    if constexpr (D == 3)
      if (!vertices.empty()) vertices.push(ex, state.time, dt, state, work);
  }
  void follow_particles(State<Real, D>& state, const Workspace<Real, D>& work) const {
    if constexpr (D == 3)
      if (!vertices.empty()) vertices.finish(ex, state, work);
  }
  /// Velocities that meshes and strands want. Nothing is asked of those that are not there.
  ImplicitReport push(double time, double dt) const {
    ImplicitReport report{.converged = true};
    if (solid()) report = solids.push(ex, model.time, time, dt);
    if (hairy()) report.speed = std::fmax(report.speed, rods.push(ex, solids.state, time, dt, alone()));
    if (D == 3) report.speed = std::fmax(report.speed, vertices.curves.driven_speed(time, dt));
    return report;
  }
  /// What happens on grids: bodies meet particles, null where there are none, and strands in bulk each other, particles
  /// and bodies. Returns the largest velocity component it leaves there [m/s].
  double meet(const GridNodes<Real, D>* grid, double dt) const {
    double speed = 0;
    if constexpr (D == 3) {
      if (solid() && grid != nullptr) speed = solids.couple_with(ex, *grid, solids.mesh.particle_friction, dt);
      GridAction<Real, 3> bodies;
      if (touch_strands())
        bodies = [&](const GridNodes<Real, 3>& strands) {
          return solids.couple_with(ex, strands, solids.mesh.strand_friction, dt);
        };
      if (bulky()) {
        const double met = rods.meet(ex, grid, bodies, dt);
        if (!alone()) speed = std::fmax(speed, met);
      }
    }
    return speed;
  }
  /// Strands touch each other and colliders. False where the step should be shorter for that; `tries` so far were too
  /// long, and with too many of them, or below RodSystem::least_dt, some will pass through each other.
  bool collide(const StepColliders<Real, D>& colliders, double dt, std::int64_t tries) const {
    if constexpr (D == 3)
      if (hairy()) return rods.collide(ex, colliders.during(), dt, tries >= most_rejections);
    return true;
  }
  void finish(const StepColliders<Real, D>& colliders, double time, double dt, StrandReport& strands) const {
    if constexpr (D == 3) {
      if (solid()) solids.finish(ex, colliders.during(), model.time, dt, particles || touch_strands());
      if (!hairy()) return;
      const StrandContactReport& touching = rods.touching;
      strands.add({touching.pairs, touching.missed_grid.pairs, touching.missed_pairs.pairs, touching.tied,
                   touching.missed.pairs, touching.missed.odd, touching.rounds, 0,
                   touching.missed.pairs > 0 ? rods.passage(ex, time) : StrandPassage{}});
      rods.finish(ex, dt);
      // What fails costs as much as twenty steps: after it come shorter ones, for a while.
      constexpr double growth = 1.02, never = 1e3;
      rods.state.calm = rods.tangled ? dt : std::fmin(growth * rods.state.calm, never);
      rods.tangled = false;
    }
  }
};

/// The same step where a backend has its own way for all of it at once.
template <class Real, int D>
double advance_packed(Exec& ex, const Model& model, const Constants<Real, D>& constants, double dt,
                      const StepMeshes<Real, D>& meshes, State<Real, D>& state, Workspace<Real, D>& work, Index& bad,
                      StrandReport& strands) {
  constexpr double refused = std::numeric_limits<double>::infinity();  // as a speed: no step is short enough
  meshes.begin();
  for (;; dt *= 0.5) {
    const double limit = dt > model.time.dt_min ? model.dx / dt : std::numeric_limits<double>::infinity();
    const double speed = meshes.push(state.time, dt).speed;
    if (speed > limit) continue;
    meshes.push_particles(dt, state, work);
    const StepColliders<Real, D> colliders{ex, model.colliders, state.time, dt, work};
    bool clean = true;
    GridAction<Real, D> act;
    if (meshes.any())
      act = [&](const GridNodes<Real, D>& grid) {
        const double met = meshes.meet(&grid, dt);
        clean = meshes.collide(colliders, dt, strands.retries);
        clean = clean || dt <= model.time.dt_min;
        return clean ? met : refused;
      };
    const PackedOutcome outcome = packed_step(ex, constants, colliders, limit, act, state, work);
    if (!clean) ++strands.retries;
    if (!outcome.taken) continue;
    bad = outcome.bad;
    // Bins are as of now; only sinks want to know how far particles have come since they were asked.
    state.drift = 0;
    if (work.sinks.count > 0) state.sink_drift += std::fmax(outcome.grid_speed, speed) * dt / model.dx;
    finish_moved([&] {  // particles have
      meshes.finish(colliders, state.time, dt, strands);
      meshes.follow_particles(state, work);
    });
    return dt;
  }
}

}  // namespace

template <class Real, int D>
double advance(Exec& ex, const Model& model, const Constants<Real, D>& constants, double dt, State<Real, D>& state,
               SolidSystem<Real>& solids, VertexParticles<Real>& vertices, RodSystem<Real>& rods,
               Workspace<Real, D>& work, Index& bad, SolveReport& solve, StrandReport& strands) {
  [[maybe_unused]] bool packed = false;
  if constexpr (steps_packed)
    packed = !model.time.implicit && vertices.curves.empty() && pack_state(ex, constants, state, work);
  // Asked only now: packing sorts, and a sink may have taken the last particle then.
  const StepMeshes<Real, D> meshes{ex, model, solids, state.count > 0, vertices, rods};
  if constexpr (steps_packed)
    if (packed) return advance_packed(ex, model, constants, dt, meshes, state, work, bad, strands);
  const bool particles = state.count > 0 || !meshes.any();
  if (particles && (state.bin_count == 0 || state.drift > drift_limit)) sort_particles(ex, constants, state, work);
  if (particles && !work.grid_valid) build_grid(ex, constants, state, work);
  meshes.begin();

  double fastest = 0;  // of anything
  for (;;) {
    const StepColliders<Real, D> colliders{ex, model.colliders, state.time, dt, work};
    bool converged = true;
    const auto accept = [&](const ImplicitReport& report) {
      const bool taken = report.converged || solve.rejected == most_rejections || dt <= model.time.dt_min;
      solve.add(
          {report.newton, report.linear, taken ? 0 : 1, taken && !report.converged ? 1 : 0, taken ? report.error : 0});
      converged = converged && taken;
    };
    const ImplicitReport pushed = meshes.push(state.time, dt);
    if (meshes.solid() && model.time.implicit) accept(pushed);
    meshes.push_particles(dt, state, work);
    double speed = 0;  // of the grid
    if (particles && model.time.implicit && converged) {
      p2g(ex, constants, state, 0, work);
      update_grid(ex, constants, {}, dt, work);
      const ImplicitReport report =
          solve_implicit(ex, constants, colliders.during(), model.time.solve, dt, state, work);
      speed = report.speed;
      accept(report);
    } else if (particles && converged) {
      p2g(ex, constants, state, dt, work);
      speed = update_grid(ex, constants, colliders.during(), dt, work);
    }
    const bool short_enough = !(std::fmax(pushed.speed, speed) * dt > model.dx) || dt <= model.time.dt_min;
    if (meshes.any() && converged && short_enough) {
      const GridNodes<Real, D> grid{work.blocks.data(), work.block_count, work.grid.data()};
      // A body may push aside what comes along it: a component may grow, though no speed does.
      const double met = meshes.meet(particles ? &grid : nullptr, dt);
      if (met > speed) speed = met;
    }
    fastest = pushed.speed > speed ? pushed.speed : speed;
    bool clean = true;
    if (converged && short_enough) clean = meshes.collide(colliders, dt, strands.retries);
    if (!clean) ++strands.retries;
    // Stress or gravity may push nodes faster than the particles were: then the step was too long, and since nothing
    // but the grid has changed it can be taken again, shorter. So can one whose velocities were not found, or in
    // which strands would pass through each other. Meshes keep the velocities they began with.
    if ((converged && clean && !(fastest * dt > model.dx)) || dt <= model.time.dt_min) break;
    dt *= 0.5;
  }
  const StepColliders<Real, D> colliders{ex, model.colliders, state.time, dt, work};
  const auto finish = [&] {
    if (particles) {
      bad = g2p(ex, constants, dt, state, work);
      // Far from the origin a slow particle moves by whole digits of its position, up to twice as far as its velocity
      // says.
      state.drift += fastest * dt / model.dx + work.rounding;
      if (!model.colliders.empty()) state.drift += confine(ex, constants, colliders.after(), state, work) / model.dx;
    }
    meshes.finish(colliders, state.time, dt, strands);
    meshes.follow_particles(state, work);
  };
  // Contact of bodies takes memory before they move: where nothing else has moved, it can be taken back.
  if (particles || meshes.hairy())
    finish_moved(finish);
  else
    finish();
  return dt;
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                     \
  template double advance(Exec&, const Model&, const Constants<Real, D>&, double, State<Real, D>&, SolidSystem<Real>&, \
                          VertexParticles<Real>&, RodSystem<Real>&, Workspace<Real, D>&, Index&, SolveReport&,         \
                          StrandReport&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
