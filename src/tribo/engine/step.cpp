#include <cmath>
#include <limits>

#include "tribo/engine/solver.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Particles drifting more than this from where they were sorted might leave their arena; the rest is for rounding.
constexpr double drift_limit = drift_cells * 0.99;

/// How often an implicit step that does not converge is tried again with half its length.
constexpr int most_rejections = 5;

/// The same step where a backend has its own way for all of it at once.
template <class Real, int D>
double advance_packed(Exec& ex, const Model& model, const Constants<Real, D>& constants, double dt,
                      State<Real, D>& state, Workspace<Real, D>& work, Index& bad) {
  for (;; dt *= 0.5) {
    const double limit = dt > model.time.dt_min ? model.dx / dt : std::numeric_limits<double>::infinity();
    const StepColliders<Real, D> colliders{ex, model.colliders, state.time, dt, work};
    const PackedOutcome outcome = packed_step(ex, constants, colliders, limit, state, work);
    if (!outcome.taken) continue;
    bad = outcome.bad;
    // Bins are as of now; only sinks want to know how far particles have come since they were asked.
    state.drift = 0;
    if (work.sinks.count > 0) state.sink_drift += outcome.grid_speed * dt / model.dx;
    return dt;
  }
}

}  // namespace

template <class Real, int D>
double advance(Exec& ex, const Model& model, const Constants<Real, D>& constants, double dt, State<Real, D>& state,
               SolidSystem<Real>& solids, Workspace<Real, D>& work, Index& bad, SolveReport& solve) {
  const bool meshes = D == 3 && !solids.empty();
  if constexpr (steps_packed) {
    if (!meshes && !model.time.implicit && pack_if_possible(ex, constants, state, work))
      return advance_packed(ex, model, constants, dt, state, work, bad);
  }
  const bool particles = state.count > 0 || !meshes;
  if (particles && (state.bin_count == 0 || state.drift > drift_limit)) sort_particles(ex, constants, state, work);
  if (particles && !work.grid_valid) build_grid(ex, constants, state, work);
  if (meshes) begin_solids(ex, solids.state, solids.work);

  double speed = 0;  // of the grid
  typename Colliders<Real, D>::View colliders;
  for (;;) {
    const StepColliders<Real, D> placed{ex, model.colliders, state.time, dt, work};
    colliders = placed.during();
    bool converged = true;
    double fastest = 0;  // of anything
    const auto accept = [&](const ImplicitReport& report) {
      const bool taken = report.converged || solve.rejected == most_rejections || dt <= model.time.dt_min;
      solve.add(
          {report.newton, report.linear, taken ? 0 : 1, taken && !report.converged ? 1 : 0, taken ? report.error : 0});
      converged = converged && taken;
    };
    if (meshes) {
      const ImplicitReport report = solids.push(ex, model.time, state.time, dt);
      if (model.time.implicit) accept(report);
      fastest = report.speed;
      if constexpr (D == 3) {
        if (converged && !(fastest * dt > model.dx)) solids.touch(ex, colliders, dt);
      }
    }
    if (particles && model.time.implicit && converged) {
      p2g(ex, constants, state, 0, work);
      update_grid(ex, constants, {}, dt, work);
      const ImplicitReport report = solve_implicit(ex, constants, colliders, model.time.solve, dt, state, work);
      speed = report.speed;
      accept(report);
    } else if (particles && converged) {
      p2g(ex, constants, state, dt, work);
      speed = update_grid(ex, constants, colliders, dt, work);
    }
    if (!(fastest > speed)) fastest = speed;
    // Stress or gravity may push nodes faster than the particles were: then the step was too long, and since nothing
    // but the grid has changed it can be taken again, shorter. So can one whose velocities were not found. Meshes keep
    // the velocities they began with.
    if ((converged && !(fastest * dt > model.dx)) || dt <= model.time.dt_min) break;
    dt *= 0.5;
  }
  if (particles) {
    bad = g2p(ex, constants, dt, state, work);
    // Far from the origin a slow particle moves by whole digits of its position, up to twice as far as its velocity
    // says.
    state.drift += speed * dt / model.dx + work.rounding;
    if (!model.colliders.empty()) {
      colliders = StepColliders<Real, D>{ex, model.colliders, state.time, dt, work}.after();
      state.drift += confine(ex, constants, colliders, state, work) / model.dx;
    }
  }
  if (meshes) {
    move_vertices(ex, solids.mesh, dt, solids.state, solids.work);
    solids.evaluate(ex, model.time);
  }
  return dt;
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                     \
  template double advance(Exec&, const Model&, const Constants<Real, D>&, double, State<Real, D>&, SolidSystem<Real>&, \
                          Workspace<Real, D>&, Index&, SolveReport&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
