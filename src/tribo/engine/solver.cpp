#include "tribo/engine/solver.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <memory>
#include <numeric>

#include "tribo/core/cast_numbers.h"
#include "tribo/core/errors.h"
#include "tribo/engine/backends.h"
#include "tribo/stages/law_stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Steps of strands: dt_max by quarter powers of two, and as before where that is four fifths of what is allowed. Stiff
/// modes of the lossless scheme of rods take energy from every change of dt.
double next_pace(double before, double allowed, double dt_max) {
  if (before <= allowed && allowed < 1.25 * before) return before;
  return dt_max * std::exp2(0.25 * std::floor(4 * std::log2(allowed / dt_max)));
}

/// Tells the clock of stages what belongs to a step.
class StepScope {
 public:
  explicit StepScope(Exec& ex) : ex_(ex) { ex_.begin_step(); }
  StepScope(const StepScope&) = delete;
  StepScope& operator=(const StepScope&) = delete;
  ~StepScope() { ex_.end_step(); }

 private:
  Exec& ex_;
};

/// Distance of a collider's farthest point from its origin; of an unbounded one only the origin's motion is judged.
double radius_of(const ColliderSpec& collider) {
  const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, collider.shape);
  return bounds.bounded ? std::sqrt(std::max(squared_norm(bounds.low), squared_norm(bounds.high))) : 0;
}

/// S of theory J: how much stiffer than (d lambda + 2 mu)/dx^2 a particle can be felt by the grid. MLS-MPM: 1/inertia
/// of the kernel. Forces through gradients: 6 and 3.2; the linear kernel has no bound (1/f + 1/(1-f), f the place in
/// the cell), the value taken is that of f = 0.03.
double force_stiffness(const Model& model) {
  if (!model.gradient_forces) return 1 / kernel_inertia(model.kernel_nodes);
  return model.kernel_nodes == 2 ? 32 : model.kernel_nodes == 3 ? 6 : 3.2;
}

}  // namespace

template <class Real, int D>
Solver<Real, D>::Solver(const EngineOptions& options, const Model& model, const ParticleSeed& seed,
                        const SolidSeed& solids, const RodSeed& rods)
    : model_(model), shows_tets_(options.tets), exec_(options.threads) {
  const double needed =
      estimated_bytes(options, model, static_cast<double>(seed.x.size()), amounts_of(seed, solids, rods, model.dx));
  const auto available = static_cast<double>(available_memory(exec_));
  if (needed > available)
    throw DeviceError("not enough memory on " + std::string(device_name) + ": the scene needs about " +
                      std::to_string(static_cast<long long>(needed / 1048576)) + " MiB, " +
                      std::to_string(static_cast<long long>(available / 1048576)) +
                      " MiB are free; use a larger grid spacing, fewer particles or strands, or larger elements");
  constants_.dx = static_cast<Real>(model.dx);
  for (int k = 0; k < D; ++k) constants_.gravity[k] = static_cast<Real>(model.gravity[k]);
  constants_.transfer = {static_cast<Real>(model.transfer.keep_skew), static_cast<Real>(model.transfer.keep_sym),
                         static_cast<Real>(model.transfer.flip), model.transfer.poly_degree};
  constants_.kernel = model.kernel_nodes;
  constants_.gradient_forces = model.gradient_forces;
  state_.particles.poly.used = model.transfer.poly_degree > 0;
  std::vector<Real> inverse_density;
  for (const MaterialSpec& material : model.materials) {
    constants_.laws.push_back(stages_of_any<Real, D>(material.law));
    constants_.densities.push_back(material.density);
    inverse_density.push_back(static_cast<Real>(1 / material.density));
  }
  std::vector<Index> group;
  for (const Model::Object& object : model.objects) group.push_back(object.material);
  if (!seed.meshes.bodies.empty()) {  // vertices leave stress to their tets: as particles they follow a law without any
    for (const SolidBody& body : seed.meshes.bodies)
      group[static_cast<std::size_t>(body.object)] = static_cast<Index>(constants_.laws.size());
    constants_.laws.push_back(stages_of_any<Real, D>(no_law()));
    constants_.densities.push_back(1);
    inverse_density.push_back(1);
  }
  if (!seed.curves.bodies.empty()) {  // likewise, but the grid carries the directions of elements along in F
    for (const CurveBody& body : seed.curves.bodies)
      group[static_cast<std::size_t>(body.object)] = static_cast<Index>(constants_.laws.size());
    constants_.laws.push_back(stages_of_any<Real, D>(no_law_but_strain()));
    constants_.densities.push_back(1);
    inverse_density.push_back(1);
  }
  copy_to_device(exec_, inverse_density.data(), work_.inverse_density, static_cast<Index>(inverse_density.size()));
  copy_to_device(exec_, group.data(), work_.object_group, static_cast<Index>(group.size()));
  work_.colliders.load(exec_, model.colliders, model.emitters);

  for (const EmitterModel& emitter : model.emitters) {
    const auto material = static_cast<std::size_t>(model.objects[static_cast<std::size_t>(emitter.object)].material);
    Newcomers<Real, D> particle{};
    for (int k = 0; k < D; ++k) particle.v[k] = static_cast<Real>(emitter.velocity[k]);
    particle.object = emitter.object;
    const LawStages<Real, D>& law = *constants_.laws[material];
    for (int k = 0; k < 2; ++k) particle.history[k] = static_cast<Real>(law.initial_history()[k]);
    const Response<Real, D> rest = law.response({Mat<Real, D>::identity(), particle.history});
    particle.tau = rest.tau;
    const double density = constants_.densities[material];
    emitters_.push_back({Jet<D>(emitter), particle, density, static_cast<double>(rest.stiffness) / density});
  }
  state_.emitters.resize(model.emitters.size());
  state_.sinks.resize(model.sinks.size());
  work_.sinks.place(exec_, model.sinks);

  upload(seed, group);
  try {
    sort_particles(exec_, constants_, state_, work_);
  } catch (const DivergedError& error) {  // nothing has moved yet: the scene itself is at fault
    throw Error(ExitCode::bad_input, std::string("the scene cannot start: ") + error.what());
  }
  build_grid(exec_, constants_, state_, work_);
  evaluate_stress(exec_, constants_, state_, work_);
  if constexpr (D == 3) {
    solids_.load(exec_, model, solids);
    if (!solids_.empty()) solids_.evaluate(exec_, model_.time);
    vertices_.load(exec_, model, seed);
    follow_particles();
    rods_.load(exec_, model, rods);
  }
  // what colliders, drives and emitters can do
  double driven = std::max({solids_.driven_speed(), rods_.driven_speed(), vertices_.curves.driven_speed()});
  for (const ColliderSpec& collider : model_.colliders)
    driven = std::max(driven, collider.motion.max_speed(radius_of(collider)));
  for (const Emitter& emitter : emitters_)
    driven = std::max({driven, emitter.jet.speed(), std::sqrt(emitter.wave_speed2)});
  if constexpr (D == 3) {
    for (SolidSystem<Real>* meshes : {&solids_, &vertices_.meshes}) {
      driven = std::max(driven, meshes->wave_speed());
      if (!meshes->empty())  // what springs back from a tangle
        for (const ObjectSums& sums : measure_solids(exec_, meshes->constants, meshes->mesh, meshes->state))
          driven = std::max(driven, std::sqrt(2 * sums.elastic / sums.mass));
    }
  }
  speed_limit_ = 100 * std::max({state_.speed, std::sqrt(state_.wave_speed2), driven, solids_.state.speed,
                                 rods_.state.speed, rods_.wave_speed(), rods_.bundle.wave_speed(),
                                 vertices_.curves.wave_speed()});
}

/// What meshes of particles have to know of these.
template <class Real, int D>
void Solver<Real, D>::follow_particles() {
  if constexpr (D == 3)
    if (!vertices_.empty()) vertices_.evaluate(exec_, state_, work_);
}

template <class Real, int D>
void Solver<Real, D>::upload(const ParticleSeed& seed, const std::vector<Index>& group) {
  const auto n = static_cast<Index>(seed.x.size());
  state_.count = n;
  seeded_ = n;
  std::vector<Real> column(static_cast<std::size_t>(n));
  const auto send = [&](Array<Real>& to, const auto& value) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<Real>(value(i));
    copy_to_device(exec_, column.data(), to, n);
  };
  const auto object_of = [&](std::size_t i) -> const Model::Object& {
    return model_.objects[static_cast<std::size_t>(seed.object[i])];
  };
  auto& p = state_.particles;
  for (int k = 0; k < D; ++k) {
    send(p.x.c[k], [&](std::size_t i) { return seed.x[i][k]; });
    send(p.v.c[k], [&](std::size_t i) { return seed.v[i][k]; });
  }
  // Particles begin with what the transfer scheme keeps of the gradient of their velocities.
  std::vector<Mat<Real, D>> C(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < C.size(); ++i) {
    const Mat<double, 3> kept = model_.transfer.kept(object_of(i).motion.gradient_at(seed.x[i]));
    for (int a = 0; a < D; ++a)
      for (int b = 0; b < D; ++b) C[i](a, b) = static_cast<Real>(kept(a, b));
  }
  for (int i = 0; i < D; ++i)
    for (int j = 0; j < D; ++j) {
      send(p.C.c[D * i + j], [&](std::size_t q) { return C[q](i, j); });
      send(p.F.c[D * i + j], [&](std::size_t q) { return seed.F.empty() ? (i == j ? 1.0 : 0.0) : seed.F[q](i, j); });
    }
  for (int k = 0; k < 2; ++k)
    send(p.history.c[k], [&](std::size_t i) {
      const auto material = static_cast<std::size_t>(group[static_cast<std::size_t>(seed.object[i])]);
      return constants_.laws[material]->initial_history()[k];
    });
  p.tau.resize_discard(n);
  for (auto& array : p.tau.c) send(array, [](std::size_t) { return 0.0; });
  send(p.m.c[0], [&](std::size_t i) { return seed.m[i]; });
  if (p.poly.used)
    for (auto& array : p.poly.c) send(array, [](std::size_t) { return 0.0; });
  std::vector<Index> id(static_cast<std::size_t>(n));
  std::iota(id.begin(), id.end(), 0);
  copy_to_device(exec_, id.data(), p.id.c[0], n);
  copy_to_device(exec_, seed.object.data(), p.object.c[0], n);
}

/// What is due at the start of a step. An emitter at work is also a nozzle: without it, gravity or the pressure ahead
/// would slow what has just come in, and the next layer would be pressed into it.
template <class Real, int D>
void Solver<Real, D>::emit() {
  work_.nozzles.clear();
  for (std::size_t e = 0; e < emitters_.size(); ++e) {
    const EmitterModel& emitter = model_.emitters[e];
    const EmitterState& state = state_.emitters[e];
    const std::int64_t due = emitters_[e].jet.layers_due(state_.time);
    while (state.layers < due && !state.finished) emit_layer(e);
    if (!state.finished && emitter.is_on(state_.time)) work_.nozzles.push_back({e, emitter.pose, emitter.velocity});
  }
  for (const SinkSpec& sink : model_.sinks)  // what lies in a sink that begins goes at once, not with the next sort
    if (sink.from > state_.sorted_at && sink.from <= state_.time) {
      take_columns(exec_, state_, work_);
      state_.bin_count = 0;
    }
}

template <class Real, int D>
void Solver<Real, D>::emit_layer(std::size_t e) {
  Emitter& emitter = emitters_[e];
  EmitterState next = state_.emitters[e];
  const auto layer = emitter.jet.layer(next.layers);
  const std::int64_t candidates = layer.end - layer.begin;
  // Summed over the layers, so that a rate of half a particle in a layer is met too.
  const auto given_out = [&](std::int64_t n) {
    return static_cast<std::int64_t>(std::floor(emitter.jet.share() * static_cast<double>(n) + 1e-9));
  };
  std::int64_t count = given_out(next.candidates + candidates) - given_out(next.candidates);
  const double room = (model_.emitters[e].when.max_volume - next.volume) / layer.volume_each + 0.5;
  next.finished = !(room >= static_cast<double>(count + 1));
  if (next.finished) count = std::min(count, static_cast<std::int64_t>(room));
  emitter.jet.thin(next.layers, candidates, count, chosen_);

  places_.resize(static_cast<std::size_t>(count) * D);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const Vec<double, 3> x = emitter.jet.position(layer.begin[chosen_[i]], state_.time);
    for (int k = 0; k < D; ++k) places_[static_cast<std::size_t>(k) * chosen_.size() + i] = static_cast<Real>(x[k]);
  }
  std::int64_t id = seeded_;
  for (const EmitterState& other : state_.emitters) id += other.particles;
  if (id + count > Workspace<Real, D>::none)
    throw DeviceError("the emitters have given out " + std::to_string(id) +
                      " particles in all, more than have numbers; "
                      "use a larger grid spacing or fewer particles per cell");
  Newcomers<Real, D> newcomers = emitter.particle;
  newcomers.count = static_cast<Index>(count);
  newcomers.first_id = static_cast<Index>(id);
  newcomers.m = static_cast<Real>(emitter.density * layer.volume_each);
  if (count > 0) {
    add_particles(exec_, newcomers, places_, state_, work_);
    emitter.gave_at = state_.time;
  }

  next.layers += 1;
  next.candidates += candidates;
  next.particles += count;
  next.volume += static_cast<double>(count) * layer.volume_each;
  next.mass += static_cast<double>(count) * static_cast<double>(newcomers.m);
  state_.emitters[e] = next;
}

/// Theory J: advection, elastic waves with half the bound of the kernel and the form of forces, those in meshes,
/// viscosity, colliders, the user's maximum; then the frame's end, without leaving a sliver. Implicit steps know
/// neither waves nor viscosity.
template <class Real, int D>
StepReport Solver<Real, D>::bounded_dt(double until, double& pace) const {
  const TimeSpec& time = model_.time;
  StepReport report{time.dt_max, "dt_max", {}, {}};
  double least_for_strands = 0;
  const auto bound = [&](double dt, const char* reason) {
    if (dt < report.dt) report = {dt, reason, {}, {}};
  };
  if (state_.speed > 0) bound(time.cfl * model_.dx / state_.speed, "cfl");
  if (!time.implicit && state_.wave_speed2 > 0)
    bound(model_.dx / std::sqrt(force_stiffness(model_) * state_.wave_speed2), "wave");
  if (!solids_.empty()) {
    // |v| dt + |g| dt^2 = cfl dx: contact acts on the velocities that gravity has changed.
    const double way = time.cfl * model_.dx, speed = solids_.state.speed,
                 gravity = std::sqrt(squared_norm(model_.gravity));
    if (speed + gravity > 0) bound(2 * way / (speed + std::sqrt(speed * speed + 4 * gravity * way)), "cfl");
    if (!time.implicit && solids_.state.stable_dt > 0) bound(solids_.state.stable_dt, "elastic");
    // Contact is explicit, also where elasticity is not: bodies that a longer step presses together pass each other.
    const bool may_touch = solids_.mesh.bodies > 1 || !model_.colliders.empty() || state_.count > 0;
    if (time.implicit && may_touch && gravity > 0) bound(std::sqrt(model_.dx / gravity) / 32, "contact");
    const double driven = solids_.driven_speed(state_.time, report.dt);
    if (driven > 0) bound(way / driven, "drive");
  }
  if (!vertices_.meshes.empty()) bound(vertices_.meshes.state.stable_dt, "elastic");
  if (!vertices_.curves.empty()) {
    bound(vertices_.curves.stable_dt(), "elastic");
    const double speed = vertices_.curves.driven_speed(state_.time, report.dt);
    if (speed > 0) bound(time.cfl * model_.dx / speed, "drive");
  }
  if (!rods_.empty()) {
    // Nothing but what is near can tell how fast strands are. Of those that fall or go with a head, one beside the
    // other, only what else they may meet on a grid wants to know, and for that a cell in a step is few enough.
    constexpr double turn = 0.25, cells = 0.9;
    if (rods_.state.turning > 0) bound(turn / rods_.state.turning, "turn");
    if (rods_.state.closing > 0) bound(rods_.way() / rods_.state.closing, "contact");
    if (!rods_.bundle.empty()) bound(rods_.bundle.stable_dt(), "wave");
    const double way = cells * model_.dx, speed = rods_.state.speed, gravity = std::sqrt(squared_norm(model_.gravity));
    if (!(state_.count == 0 && solids_.empty()) && speed + gravity > 0)
      bound(2 * way / (speed + std::sqrt(speed * speed + 4 * gravity * way)), "cfl");
    if (model_.rod_scheme == RodScheme::explicit_euler && rods_.state.stable_dt > 0)
      bound(rods_.state.stable_dt, "elastic");
    const double driven = rods_.driven_speed(state_.time, report.dt);
    if (driven > 0) bound(way / driven, "drive");
    // No pair of strands makes all others wait: beyond this, what is not resolved passes and is counted.
    constexpr double shortest_part = 0.125;
    least_for_strands = shortest_part * report.dt;
    bound(std::max(rods_.state.calm, least_for_strands), "strands");
  }
  for (std::size_t e = 0; e < emitters_.size(); ++e) {  // what may join at the start of the step
    const EmissionSpec& when = model_.emitters[e].when;
    if (state_.emitters[e].finished && emitters_[e].gave_at < state_.time) continue;
    if (state_.time >= when.until + report.dt || state_.time + report.dt < when.from) continue;
    bound(time.cfl * model_.dx / emitters_[e].jet.speed(), "cfl");
    const double stiffness = force_stiffness(model_) * emitters_[e].wave_speed2;
    if (!time.implicit && stiffness > 0) bound(model_.dx / std::sqrt(stiffness), "wave");
  }
  for (const Model::Object& object : model_.objects) {  // not every material need be used
    if (object.mesh) continue;
    const MaterialSpec& material = model_.materials[static_cast<std::size_t>(object.material)];
    const double viscosity = viscosity_of(material.law);
    if (!time.implicit && viscosity > 0)
      bound(material.density * model_.dx * model_.dx / (4 * D * viscosity), "viscosity");
  }
  for (const ColliderSpec& collider : model_.colliders) {
    if (collider.motion.keys().size() < 2) continue;
    const double speed = collider.motion.max_speed(state_.time, report.dt, radius_of(collider));
    if (speed > 0) bound(time.cfl * model_.dx / speed, "collider");
  }
  if (!rods_.empty()) report.dt = pace = next_pace(pace, report.dt, time.dt_max);
  const double left = until - state_.time;
  if (left <= report.dt) {
    report = {left, "frame", {}, {}};
  } else if (!solids_.empty() || !vertices_.empty() || !rods_.empty()) {
    // Equal steps to the end of the frame: a shorter one in every frame is a rhythm that undamped meshes answer to,
    // and their energy grew by a factor of ten in a hundred frames.
    report.dt = left / std::ceil(left / report.dt * (1 - 1e-9));
  } else if (left < 2 * report.dt) {
    report = {0.5 * left, "frame", {}, {}};
  }
  report.least_for_strands = least_for_strands;
  return report;
}

template <class Real, int D>
StepReport Solver<Real, D>::next_dt(double until) const {
  double pace = rods_.state.pace;  // is remembered by steps that are taken
  return bounded_dt(until, pace);
}

template <class Real, int D>
StepReport Solver<Real, D>::step(double until) {
  emit();
  for (const SinkSpec& sink : model_.sinks)  // or one that works for less than a step would take nothing
    if (sink.from > state_.time) until = std::min(until, sink.from);
  double pace = rods_.state.pace;  // kept once the step has been taken
  StepReport report = bounded_dt(until, pace);
  const double left = until - state_.time;
  if (report.dt < model_.time.dt_min && report.dt < left)
    report_runaway("the next step would be " + std::to_string(report.dt * 1e9) + " ns, below time.dt_min");
  const double fastest = std::max({state_.speed, solids_.state.speed, rods_.state.speed});
  if (fastest > speed_limit_ + std::sqrt(squared_norm(model_.gravity)) * state_.time)
    report_runaway((state_.speed < fastest ? "a vertex has reached " : "a particle has reached ") +
                   std::to_string(fastest) +
                   " m/s, a hundred times the speed of sound in the materials and of anything that drives them");
  Index bad = no_index;
  double taken = 0;
  try {
    const StepScope scope(exec_);
    rods_.least_dt = report.least_for_strands;
    taken = advance(exec_, model_, constants_, report.dt, state_, solids_, vertices_, rods_, work_, bad, report.solve,
                    report.strands);
    state_.step += 1;
  } catch (const DivergedError& error) {
    report_runaway(error.what());
  } catch (const LostStepError&) {
    throw;
  } catch (const DeviceError&) {  // no memory; the state must be what it was
    if constexpr (D == 3) {
      vertices_.undo(exec_, state_, work_);
      solids_.undo(exec_);
      rods_.undo(exec_);
    }
    rods_.bundle.undo();
    throw;
  }
  rods_.state.pace = pace;
  if (bad != no_index) report_bad_particle(bad, taken, report.limit);
  for (const SolidSystem<Real>* meshes : {&solids_, &vertices_.meshes})
    if (meshes->bad != no_index) report_bad_vertex(*meshes, taken, report.limit);
  if (rods_.bad != no_index) report_bad_strand(taken, report.limit);
  if (vertices_.curves.bad != no_index) report_bad_curve(taken, report.limit);
  if (taken < report.dt) {
    report.dt = taken;
    report.limit = "retry";
    state_.time += taken;
  } else {
    state_.time = report.dt >= left ? until : state_.time + taken;
  }
  return report;
}

template <class Real, int D>
void Solver<Real, D>::report_bad_particle(Index particle, double dt, const char* limit) {
  Index object = 0, id = 0;
  copy_to_host(exec_, state_.particles.object.c[0], &object, 1, particle);
  copy_to_host(exec_, state_.particles.id.c[0], &id, 1, particle);
  std::string place;
  for (int k = 0; k < D; ++k) {
    Real x = 0;
    copy_to_host(exec_, state_.particles.x.c[k], &x, 1, particle);
    place += (k ? ", " : "") + std::to_string(x);
  }
  const Model::Object& owner = model_.objects[static_cast<std::size_t>(object)];
  throw DivergedError("step " + std::to_string(state_.step) + " (t = " + std::to_string(state_.time) +
                      " s, dt = " + std::to_string(dt) + " s, limited by " + limit + "): particle " +
                      std::to_string(id) + " of object '" + owner.name + "' near (" + place +
                      ") m is no longer finite; likely cause: the time step is too long for material '" +
                      model_.materials[static_cast<std::size_t>(owner.material)].name +
                      "' under this load; lower time.cfl or time.dt_max, or check its stiffness and density");
}

template <class Real, int D>
void Solver<Real, D>::report_bad_vertex(const SolidSystem<Real>& solids, double dt, const char* limit) {
  const Model::Object& owner = model_.objects[static_cast<std::size_t>(solids.object_of(solids.bad))];
  throw DivergedError("step " + std::to_string(state_.step) + " (t = " + std::to_string(state_.time) +
                      " s, dt = " + std::to_string(dt) + " s, limited by " + limit + "): vertex " +
                      std::to_string(solids.bad) + " of object '" + owner.name +
                      "' is no longer finite; likely cause: the time step is too long for the mesh of material '" +
                      model_.materials[static_cast<std::size_t>(owner.material)].name +
                      "' under this load; lower time.cfl or time.dt_max, raise the object's damping, or check its "
                      "stiffness, density and element_size");
}

template <class Real, int D>
void Solver<Real, D>::report_bad_strand(double dt, const char* limit) {
  Index strand = 0, first = 0;
  copy_to_host(exec_, rods_.mesh.vertex_strand, &strand, 1, rods_.bad);
  copy_to_host(exec_, rods_.mesh.start, &first, 1, strand);
  const int object = rods_.object_of(rods_.bad);
  for (const RodBody& body : rods_.mesh.body)
    if (body.object == object) strand -= body.strands.begin;
  throw DivergedError("step " + std::to_string(state_.step) + " (t = " + std::to_string(state_.time) +
                      " s, dt = " + std::to_string(dt) + " s, limited by " + limit + "): vertex " +
                      std::to_string(rods_.bad - first) + " of strand " + std::to_string(strand) + " of object '" +
                      model_.objects[static_cast<std::size_t>(object)].name +
                      "' is no longer finite; likely cause: the time step is too long for strands that fold or collapse "
                      "under this load; lower time.dt_max, raise bend_damping or stretch_damping, or use longer segments");
}

template <class Real, int D>
void Solver<Real, D>::report_bad_curve(double dt, const char* limit) {
  const CurveParticles<Real>& curves = vertices_.curves;
  const Model::Object& owner = model_.objects[static_cast<std::size_t>(curves.object_of(curves.bad))];
  throw DivergedError("step " + std::to_string(state_.step) + " (t = " + std::to_string(state_.time) +
                      " s, dt = " + std::to_string(dt) + " s, limited by " + limit + "): segment " +
                      std::to_string(curves.bad) + " of object '" + owner.name +
                      "' is no longer finite; likely cause: the time step is too long for curves under this load; "
                      "lower time.cfl or time.dt_max, or check contact_stiffness and density");
}

template <class Real, int D>
void Solver<Real, D>::report_runaway(const std::string& what) {
  // Blame the object with the most energy for its mass.
  double largest = -1;
  std::string name = "an object";
  try {
    if (state_.bin_count == 0) sort_particles(exec_, constants_, state_, work_);  // particles have just come
    for (std::size_t o = 0; const ObjectSums& sums : measure()) {
      const double energy = sums.mass > 0 ? (sums.kinetic + sums.elastic) / sums.mass : 0;
      if (!(energy <= largest)) {
        largest = energy;
        name = "object '" + model_.objects[o].name + "'";
      }
      ++o;
    }
  } catch (const DivergedError&) {  // some are nowhere, and strains cannot be looked at
  }
  throw DivergedError("step " + std::to_string(state_.step) + " (t = " + std::to_string(state_.time) + " s): " + what +
                      "; " + name +
                      " has run away; likely cause: objects that overlap at the start, a collider moving too fast, or "
                      "a material far too stiff for its density");
}

template <class Real, int D>
std::vector<ObjectSums> Solver<Real, D>::measure() {
  settle(exec_, state_, work_);
  std::vector<ObjectSums> sums = measure_objects(exec_, model_, constants_, state_, work_);
  if (!solids_.empty()) {
    const std::vector<ObjectSums> of_bodies = measure_solids(exec_, solids_.constants, solids_.mesh, solids_.state);
    for (std::size_t b = 0; b < of_bodies.size(); ++b)
      sums[static_cast<std::size_t>(solids_.mesh.body[b].object)].add(of_bodies[b]);
  }
  if (!vertices_.meshes.empty()) {  // all but the energy of their tets has been counted with the particles
    SolidSystem<Real>& meshes = vertices_.meshes;
    const std::vector<ObjectSums> of_bodies = measure_solids(exec_, meshes.constants, meshes.mesh, meshes.state);
    for (std::size_t b = 0; b < of_bodies.size(); ++b)
      sums[static_cast<std::size_t>(meshes.mesh.body[b].object)].elastic += of_bodies[b].elastic;
  }
  if constexpr (D == 3)
    if (!vertices_.curves.empty()) vertices_.curves.measure(exec_, state_, sums);
  if (!rods_.empty()) {
    const std::vector<ObjectSums> of_bodies = measure_rods(exec_, rods_.constants, rods_.mesh, rods_.state);
    for (std::size_t b = 0; b < of_bodies.size(); ++b)
      sums[static_cast<std::size_t>(rods_.mesh.body[b].object)].add(of_bodies[b]);
  }
  return sums;
}

template <class Real, int D>
RawFrame Solver<Real, D>::frame(int number, bool later) {
  settle(exec_, state_, work_);
  RawFrame raw;
  Frame& frame = raw.frame;
  frame.number = number;
  frame.time = state_.time;
  for (const Model::Object& object : model_.objects) {
    frame.objects.push_back(object.name);
    raw.object_materials.push_back(object.material);
  }
  for (const MaterialSpec& material : model_.materials) frame.materials.push_back(material.name);
  for (const SolidSystem<Real>* meshes : {&solids_, &vertices_.meshes})
    if (!meshes->empty()) meshes->show(exec_, model_, shows_tets_, frame);
  for (const RodSystem<Real>* strands : {&rods_, &vertices_.curves.strands})
    if (!strands->empty()) strands->show(exec_, model_, frame);
  raw.first_hidden = vertices_.first_id();
  raw.hidden = vertices_.count();

  // What must outlive this call when another thread fetches the columns.
  struct Observed {
    explicit Observed(Exec& ex) : courier(ex) {}
    Array<Real> volume_ratio, strain_norm;
    Courier courier;
    std::promise<void> fetched;
  };
  Array<Real> energy_density, volume_ratio, strain_norm;
  observe_strain(exec_, constants_, state_, work_, energy_density, volume_ratio, strain_norm);
  const auto observed = std::make_shared<Observed>(exec_);
  observed->volume_ratio.swap(volume_ratio);
  observed->strain_norm.swap(strain_norm);

  const auto fetch = [observed, &p = state_.particles, count = state_.count](Frame& to) {
    const auto n = static_cast<std::size_t>(count);
    const auto add = [&]<class T>(const char* name, const Array<T>* arrays, int components) {
      NamedArray column;
      column.name = name;
      column.type = dtype_of<T>();
      column.components = static_cast<std::uint32_t>(components);
      column.count = n;
      column.data.resize(n * static_cast<std::size_t>(components) * sizeof(T));
      auto* const out = reinterpret_cast<T*>(column.data.data());
      for (int k = 0; k < components; ++k)
        observed->courier.fetch(arrays[k], out + n * static_cast<std::size_t>(k), count);
      to.columns.push_back(std::move(column));
    };
    add("x", p.x.c, D);
    add("v", p.v.c, D);
    add("id", p.id.c, 1);
    add("object", p.object.c, 1);
    add("J", &observed->volume_ratio, 1);
    add("strain", &observed->strain_norm, 1);
    observed->fetched.set_value();
  };
  if constexpr (steps_packed) {
    if (later && work_.packed != nullptr && work_.packed->active) {  // steps leave the columns alone until they are settled again
      work_.packed->reader = observed->fetched.get_future().share();
      raw.fetch = fetch;
      return raw;
    }
  }
  fetch(frame);
  return raw;
}

template <class Real, int D>
const char* Solver<Real, D>::backend() const {
#define TRIBO_STRINGIZE(x) #x
#define TRIBO_NAME(x) TRIBO_STRINGIZE(x)
  return TRIBO_NAME(TRIBO_BACKEND);
#undef TRIBO_NAME
#undef TRIBO_STRINGIZE
}

template <class Real, int D>
EngineCounts Solver<Real, D>::counts() const {
  EngineCounts counts{state_.count - vertices_.count(), work_.block_count};
  counts.vertices = std::int64_t{solids_.mesh.vertices} + vertices_.meshes.mesh.vertices;
  counts.tets = std::int64_t{solids_.mesh.tets} + vertices_.meshes.mesh.tets;
  counts.collision_particles = solids_.mesh.samples;
  counts.contacts = std::int64_t{solids_.contacts.bodies} + solids_.contacts.self + solids_.contacts.colliders +
                    rods_.contacts + rods_.touching.pairs;
  counts.strands = std::int64_t{rods_.mesh.strands} + vertices_.curves.strands.mesh.strands;
  counts.segments = rods_.segments() + vertices_.curves.strands.segments();
  for (const EmitterState& emitter : state_.emitters) counts.emitted += emitter.particles;
  for (const SinkState& sink : state_.sinks) counts.removed += sink.particles;
  return counts;
}

template <class Real, int D>
EngineFlows Solver<Real, D>::flows() const {
  EngineFlows flows;
  flows.emitted.resize(model_.objects.size());
  for (std::size_t e = 0; e < state_.emitters.size(); ++e)
    flows.emitted[static_cast<std::size_t>(model_.emitters[e].object)] = {state_.emitters[e].particles,
                                                                          state_.emitters[e].mass};
  for (const SinkState& sink : state_.sinks) flows.removed.push_back({sink.particles, sink.mass});
  return flows;
}

template <class Real, int D>
const std::vector<std::pair<const char*, double>>& Solver<Real, D>::stage_seconds() const {
  return exec_.timers().entries();
}

template <class Real, int D>
std::size_t Solver<Real, D>::bytes() const {
  std::size_t sum = work_.bytes() + state_.bins.bytes() + solids_.bytes() + vertices_.meshes.bytes() +
                    vertices_.curves.bytes() + rods_.bytes();
  each_column(state_.particles, [&](const char*, const auto& field) { sum += field.bytes(); });
  return sum;
}

std::unique_ptr<Engine> make_backend_engine(const EngineOptions& options, const Model& model, const ParticleSeed& seed,
                                            const SolidSeed& solids, const RodSeed& rods) {
  const auto make = [&]<class Real>(Real) -> std::unique_ptr<Engine> {
    if (model.dimension == 2) return std::make_unique<Solver<Real, 2>>(options, model, seed, solids, rods);
    return std::make_unique<Solver<Real, 3>>(options, model, seed, solids, rods);
  };
  return options.precision == "double" ? make(double{}) : make(float{});
}

template class Solver<float, 2>;
template class Solver<float, 3>;
template class Solver<double, 2>;
template class Solver<double, 3>;

}  // namespace tribo::TRIBO_BACKEND
