#include "tribo/matter/particles/stages/system.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/grid/law_stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// S of theory J: how much stiffer than (d lambda + 2 mu)/dx^2 a particle can be felt by the grid. MLS-MPM: 1/inertia
/// of the kernel. Forces through gradients: 6 and 3.2; the linear kernel has no bound (1/f + 1/(1-f), f the place in
/// the cell), the value taken is that of f = 0.03.
double force_stiffness(const Model& model) {
  if (!model.gradient_forces) return 1 / kernel_inertia(model.kernel_nodes);
  return model.kernel_nodes == 2 ? 32 : model.kernel_nodes == 3 ? 6 : 3.2;
}

/// What `visit` makes of numbers that are kept in another form.
template <class Read, class Write>
void as_numbers(StateList& list, const char* name, const Read& read, const Write& write) {
  std::vector<double> numbers = read();
  list.numbers(name, numbers);
  write(numbers);
}
std::vector<double> numbers_of(const std::vector<EmitterState>& emitters) {
  std::vector<double> r;
  for (const EmitterState& e : emitters)
    for (const double number : {static_cast<double>(e.layers), static_cast<double>(e.candidates),
                                static_cast<double>(e.particles), e.volume, e.mass, e.finished ? 1.0 : 0.0})
      r.push_back(number);
  return r;
}
void set_numbers(std::vector<EmitterState>& emitters, const std::vector<double>& from) {
  for (std::size_t i = 0; i < emitters.size(); ++i) {
    const double* const n = &from[6 * i];
    emitters[i] = {static_cast<std::int64_t>(n[0]),
                   static_cast<std::int64_t>(n[1]),
                   static_cast<std::int64_t>(n[2]),
                   n[3],
                   n[4],
                   n[5] != 0};
  }
}

}  // namespace

template <class Real, int D>
void ParticleSystem<Real, D>::load(const Seeds& seeds) {
  const ParticleSeed& seed = seeds.of<ParticleSeed>();
  constants.dx = static_cast<Real>(model_.dx);
  for (int k = 0; k < D; ++k) constants.gravity[k] = static_cast<Real>(model_.gravity[k]);
  constants.transfer = {static_cast<Real>(model_.transfer.keep_skew), static_cast<Real>(model_.transfer.keep_sym),
                        static_cast<Real>(model_.transfer.flip), model_.transfer.poly_degree};
  constants.kernel = model_.kernel_nodes;
  constants.gradient_forces = model_.gradient_forces;
  state.particles.poly.used = model_.transfer.poly_degree > 0;
  load_laws(seed);
  work.colliders.load(ex_, model_.colliders, model_.emitters);
  load_emitters();
  state.sinks.resize(model_.sinks.size());
  work.sinks.place(ex_, model_.sinks);

  upload(seed);
  try {
    sort_particles(ex_, constants, state, work);
  } catch (const DivergedError& error) {  // nothing has moved yet: the scene itself is at fault
    throw Error(ExitCode::bad_input, std::string("the scene cannot start: ") + error.what());
  }
  build_grid(ex_, constants, state, work);
  evaluate_stress(ex_, constants, state, work);
}

template <class Real, int D>
void ParticleSystem<Real, D>::load_laws(const ParticleSeed& seed) {
  std::vector<Real> inverse_density;
  const auto add = [&](const AnyLaw<double>& law, double density) {
    constants.laws.push_back(stages_of_any<Real, D>(law));
    constants.densities.push_back(density);
    inverse_density.push_back(static_cast<Real>(1 / density));
  };
  for (const MaterialSpec& material : model_.materials) add(material.law, material.density);
  for (const Model::Object& object : model_.objects) group_.push_back(object.material);
  for (const bool strain : {false, true}) {
    bool any = false;
    for (const StressElsewhere& one : seed.stress_elsewhere) {
      if (one.strain != strain) continue;
      group_[static_cast<std::size_t>(one.object)] = static_cast<Index>(constants.laws.size());
      any = true;
    }
    if (any) add(strain ? no_law_but_strain() : no_law(), 1);
  }
  copy_to_device(ex_, inverse_density.data(), work.inverse_density, static_cast<Index>(inverse_density.size()));
  copy_to_device(ex_, group_.data(), work.object_group, static_cast<Index>(group_.size()));
}

template <class Real, int D>
void ParticleSystem<Real, D>::load_emitters() {
  for (const EmitterModel& emitter : model_.emitters) {
    const auto material = static_cast<std::size_t>(model_.objects[static_cast<std::size_t>(emitter.object)].material);
    Newcomers<Real, D> particle{};
    for (int k = 0; k < D; ++k) particle.v[k] = static_cast<Real>(emitter.velocity[k]);
    particle.object = emitter.object;
    const LawStages<Real, D>& law = *constants.laws[material];
    for (int k = 0; k < 2; ++k) particle.history[k] = static_cast<Real>(law.initial_history()[k]);
    const Response<Real, D> rest = law.response({Mat<Real, D>::identity(), particle.history});
    particle.tau = rest.tau;
    const double density = constants.densities[material];
    emitters_.push_back({Jet<D>(emitter), particle, density, static_cast<double>(rest.stiffness) / density});
  }
  state.emitters.resize(model_.emitters.size());
}

template <class Real, int D>
void ParticleSystem<Real, D>::upload(const ParticleSeed& seed) {
  const auto n = static_cast<Index>(seed.x.size());
  state.count = n;
  seeded_ = n;
  std::vector<Real> column(static_cast<std::size_t>(n));
  const auto send = [&](Array<Real>& to, const auto& value) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = static_cast<Real>(value(i));
    copy_to_device(ex_, column.data(), to, n);
  };
  const auto object_of = [&](std::size_t i) -> const Model::Object& {
    return model_.objects[static_cast<std::size_t>(seed.object[i])];
  };
  auto& p = state.particles;
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
      const auto material = static_cast<std::size_t>(group_[static_cast<std::size_t>(seed.object[i])]);
      return constants.laws[material]->initial_history()[k];
    });
  p.tau.resize_discard(n);
  for (auto& array : p.tau.c) send(array, [](std::size_t) { return 0.0; });
  send(p.m.c[0], [&](std::size_t i) { return seed.m[i]; });
  if (p.poly.used)
    for (auto& array : p.poly.c) send(array, [](std::size_t) { return 0.0; });
  std::vector<Index> id(static_cast<std::size_t>(n));
  std::iota(id.begin(), id.end(), 0);
  copy_to_device(ex_, id.data(), p.id.c[0], n);
  copy_to_device(ex_, seed.object.data(), p.object.c[0], n);
}

template <class Real, int D>
void ParticleSystem<Real, D>::each_saved(StateList& list) {
  as_numbers(
      list, "scalars",
      [&] {
        return std::vector<double>{state.time, static_cast<double>(state.step), state.drift, state.speed,
                                   state.wave_speed2};
      },
      [&](const std::vector<double>& n) {
        state.time = n[0];
        state.step = static_cast<std::int64_t>(n[1]);
        state.drift = n[2];
        state.speed = n[3];
        state.wave_speed2 = n[4];
      });
  each_flow(list);
  list.items("id", state.count);
  list.bins("bins", state.bins, state.bin_count,
            {state.count, static_cast<Index>(constants.laws.size()), "particle bins do not fit its particles"});
  list.columns(state.particles, state.count);
}

/// What emitters and sinks have done.
template <class Real, int D>
void ParticleSystem<Real, D>::each_flow(StateList& list) {
  if (!state.emitters.empty())
    as_numbers(
        list, "emitters", [&] { return numbers_of(state.emitters); },
        [&](const std::vector<double>& n) { set_numbers(state.emitters, n); });
  if (state.sinks.empty()) return;
  as_numbers(
      list, "sinks",
      [&] {
        std::vector<double> sinks{state.sorted_at, state.sink_drift};
        for (const SinkState& sink : state.sinks)
          sinks.insert(sinks.end(), {static_cast<double>(sink.particles), sink.mass});
        return sinks;
      },
      [&](const std::vector<double>& n) {
        state.sorted_at = n[0];
        state.sink_drift = n[1];
        for (std::size_t i = 0; i < state.sinks.size(); ++i)
          state.sinks[i] = {static_cast<std::int64_t>(n[2 + 2 * i]), n[3 + 2 * i]};
      });
}

template <class Real, int D>
void ParticleSystem<Real, D>::check(const StateLoader& loader) const {
  for (const Index object : loader.expect<Index>("object.0", -1))
    if (object < 0 || static_cast<std::size_t>(object) >= model_.objects.size())
      throw IoError("checkpoint names an object the scene does not have; it belongs to another scene");
}

template <class Real, int D>
void ParticleSystem<Real, D>::loaded() {
  if (state.bin_count > 0)
    list_groups(ex_, constants, state, work);
  else  // memory had run out before
    sort_particles(ex_, constants, state, work);
  build_grid(ex_, constants, state, work);
}

/// An emitter at work is also a nozzle: without it, gravity or the pressure ahead would slow what has just come in, and
/// the next layer would be pressed into it.
template <class Real, int D>
void ParticleSystem<Real, D>::emit() {
  work.nozzles.clear();
  for (std::size_t e = 0; e < emitters_.size(); ++e) {
    const EmitterModel& emitter = model_.emitters[e];
    const EmitterState& own = state.emitters[e];
    const std::int64_t due = emitters_[e].jet.layers_due(state.time);
    while (own.layers < due && !own.finished) emit_layer(e);
    if (!own.finished && emitter.is_on(state.time)) work.nozzles.push_back({e, emitter.pose, emitter.velocity});
  }
  for (const SinkSpec& sink : model_.sinks)  // what lies in a sink that begins goes at once, not with the next sort
    if (sink.from > state.sorted_at && sink.from <= state.time) {
      take_columns(ex_, state, work);
      state.bin_count = 0;
    }
}

template <class Real, int D>
void ParticleSystem<Real, D>::emit_layer(std::size_t e) {
  Emitter& emitter = emitters_[e];
  EmitterState next = state.emitters[e];
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
    const Vec<double, 3> x = emitter.jet.position(layer.begin[chosen_[i]], state.time);
    for (int k = 0; k < D; ++k) places_[static_cast<std::size_t>(k) * chosen_.size() + i] = static_cast<Real>(x[k]);
  }
  std::int64_t id = seeded_;
  for (const EmitterState& other : state.emitters) id += other.particles;
  if (id + count > Workspace<Real, D>::none)
    throw DeviceError("the emitters have given out " + std::to_string(id) +
                      " particles in all, more than have numbers; "
                      "use a larger grid spacing or fewer particles per cell");
  Newcomers<Real, D> newcomers = emitter.particle;
  newcomers.count = static_cast<Index>(count);
  newcomers.first_id = static_cast<Index>(id);
  newcomers.m = static_cast<Real>(emitter.density * layer.volume_each);
  if (count > 0) {
    add_particles(ex_, newcomers, places_, state, work);
    emitter.gave_at = state.time;
  }

  next.layers += 1;
  next.candidates += candidates;
  next.particles += count;
  next.volume += static_cast<double>(count) * layer.volume_each;
  next.mass += static_cast<double>(count) * static_cast<double>(newcomers.m);
  state.emitters[e] = next;
}

/// Theory J: advection, and elastic waves with half the bound of the kernel and the form of forces. Implicit steps know
/// neither waves nor viscosity.
template <class Real, int D>
void ParticleSystem<Real, D>::bound(const Surroundings&, StepBound& step) const {
  const TimeSpec& time = model_.time;
  if (state.speed > 0) step.at_most(time.cfl * model_.dx / state.speed, "cfl");
  if (!time.implicit && state.wave_speed2 > 0)
    step.at_most(model_.dx / std::sqrt(force_stiffness(model_) * state.wave_speed2), "wave");
}

template <class Real, int D>
void ParticleSystem<Real, D>::bound_last(const Surroundings&, StepBound& step) const {
  const TimeSpec& time = model_.time;
  for (std::size_t e = 0; e < emitters_.size(); ++e) {  // what may join at the start of the step
    const EmissionSpec& when = model_.emitters[e].when;
    if (state.emitters[e].finished && emitters_[e].gave_at < state.time) continue;
    if (state.time >= when.until + step.dt || state.time + step.dt < when.from) continue;
    step.at_most(time.cfl * model_.dx / emitters_[e].jet.speed(), "cfl");
    const double stiffness = force_stiffness(model_) * emitters_[e].wave_speed2;
    if (!time.implicit && stiffness > 0) step.at_most(model_.dx / std::sqrt(stiffness), "wave");
  }
  if (time.implicit) return;
  for (const Model::Object& object : model_.objects) {  // not every material need be used
    if (object.touch != Touch::particles) continue;
    const MaterialSpec& material = this->material_of(object);
    if (const double viscosity = viscosity_of(material.law); viscosity > 0)
      step.at_most(material.density * model_.dx * model_.dx / (4 * D * viscosity), "viscosity");
  }
}

template <class Real, int D>
void ParticleSystem<Real, D>::list_newcomers() {
  if (state.bin_count == 0) sort_particles(ex_, constants, state, work);
}

template <class Real, int D>
bool ParticleSystem<Real, D>::prepare(bool others) {
  packed_ = false;
  if constexpr (steps_packed) packed_ = !model_.time.implicit && pack_state(ex_, constants, state, work);
  if (packed_) return true;
  // Asked only now: packing sorts, and a sink may have taken the last particle then.
  if (empty() && others) return false;
  if (state.bin_count == 0 || state.drift > drift_limit) sort_particles(ex_, constants, state, work);
  if (!work.grid_valid) build_grid(ex_, constants, state, work);
  return true;
}

template <class Real, int D>
typename ParticleSystem<Real, D>::Outcome ParticleSystem<Real, D>::advance(
    const StepTry& attempt, const StepColliders<Real, D>& colliders, const GridAction<Real, D>& act,
    const std::function<bool(const ImplicitReport&)>& accept) {
  const double dt = attempt.dt;
  const bool shortest = dt <= model_.time.dt_min;
  if constexpr (steps_packed) {
    if (packed_) {
      const double limit = shortest ? std::numeric_limits<double>::infinity() : model_.dx / dt;
      const PackedOutcome outcome = packed_step(
          ex_, constants, colliders, limit, act, [this] { land(); }, state, work);
      if (outcome.taken) bad_ = outcome.bad;
      return {outcome.taken, outcome.grid_speed};
    }
  }
  Outcome outcome;
  if (model_.time.implicit) {
    p2g(ex_, constants, state, 0, work);
    update_grid(ex_, constants, {}, dt, work);
    const ImplicitReport report =
        solve_implicit(ex_, constants, colliders.during(), model_.time.solve, dt, state, work);
    outcome.speed = report.speed;
    if (!accept(report)) return outcome;
  } else {
    p2g(ex_, constants, state, dt, work);
    outcome.speed = update_grid(ex_, constants, colliders.during(), dt, work);
  }
  // Stress or gravity may push nodes faster than the particles were: then the step was too long, and since nothing
  // but the grid has changed it can be taken again, shorter.
  if (outcome.speed * dt > model_.dx && !shortest) return outcome;
  if (act) {
    // A body may push aside what comes along it: a component may grow, though no speed does.
    const double met = act({work.blocks.data(), work.block_count, work.grid.data()});
    if (met > outcome.speed) outcome.speed = met;
  }
  outcome.taken = shortest || !(outcome.speed * dt > model_.dx);
  return outcome;
}

template <class Real, int D>
void ParticleSystem<Real, D>::move(const StepTry& attempt, const StepColliders<Real, D>& colliders, double fastest) {
  if (packed_) {
    // Bins are as of now; only sinks want to know how far particles have come since they were asked.
    state.drift = 0;
    if (work.sinks.count > 0) state.sink_drift += fastest * attempt.dt / model_.dx;
    return;
  }
  bad_ = g2p(ex_, constants, attempt.dt, state, work);
  // Far from the origin a slow particle moves by whole digits of its position, up to twice as far as its velocity says.
  state.drift += fastest * attempt.dt / model_.dx + work.rounding;
  if (!model_.colliders.empty()) state.drift += confine(ex_, constants, colliders.after(), state, work) / model_.dx;
  land();
}

template <class Real, int D>
double ParticleSystem<Real, D>::expected_speed() {
  double fastest = std::max(state.speed, std::sqrt(state.wave_speed2));
  for (const Emitter& emitter : emitters_)
    fastest = std::max({fastest, emitter.jet.speed(), std::sqrt(emitter.wave_speed2)});
  return fastest;
}

template <class Real, int D>
void ParticleSystem<Real, D>::measure(std::vector<ObjectSums>& objects) {
  settle(ex_, state, work);
  const std::vector<ObjectSums> sums = measure_objects(ex_, model_, constants, state, work);
  for (std::size_t o = 0; o < objects.size(); ++o) objects[o].add(sums[o]);
}

template <class Real, int D>
void ParticleSystem<Real, D>::show_columns(RawFrame& raw, bool later) {
  settle(ex_, state, work);
  // What must outlive this call when another thread fetches the columns.
  struct Observed {
    explicit Observed(Exec& ex) : courier(ex) {}
    Array<Real> volume_ratio, strain_norm;
    Courier courier;
    std::promise<void> fetched;
  };
  Array<Real> energy_density, volume_ratio, strain_norm;
  observe_strain(ex_, constants, state, work, energy_density, volume_ratio, strain_norm);
  const auto observed = std::make_shared<Observed>(ex_);
  observed->volume_ratio.swap(volume_ratio);
  observed->strain_norm.swap(strain_norm);

  const auto fetch = [observed, &p = state.particles, count = state.count](Frame& to) {
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
    if (later && work.packed != nullptr &&
        work.packed->active) {  // steps leave the columns alone until they are settled again
      work.packed->reader = observed->fetched.get_future().share();
      raw.fetch = fetch;
      return;
    }
  }
  fetch(raw.frame);
}

template <class Real, int D>
void ParticleSystem<Real, D>::count(EngineCounts& counts) const {
  counts.particles += state.count;
  counts.active_blocks += work.block_count;
  for (const EmitterState& emitter : state.emitters) counts.emitted += emitter.particles;
  for (const SinkState& sink : state.sinks) counts.removed += sink.particles;
}

template <class Real, int D>
EngineFlows ParticleSystem<Real, D>::flows() const {
  EngineFlows flows;
  flows.emitted.resize(model_.objects.size());
  for (std::size_t e = 0; e < state.emitters.size(); ++e)
    flows.emitted[static_cast<std::size_t>(model_.emitters[e].object)] = {state.emitters[e].particles,
                                                                          state.emitters[e].mass};
  for (const SinkState& sink : state.sinks) flows.removed.push_back({sink.particles, sink.mass});
  return flows;
}

template <class Real, int D>
std::string ParticleSystem<Real, D>::complaint() const {
  if (bad_ == no_index) return {};
  Index object = 0, id = 0;
  copy_to_host(ex_, state.particles.object.c[0], &object, 1, bad_);
  copy_to_host(ex_, state.particles.id.c[0], &id, 1, bad_);
  std::string place;
  for (int k = 0; k < D; ++k) {
    Real x = 0;
    copy_to_host(ex_, state.particles.x.c[k], &x, 1, bad_);
    place += (k ? ", " : "") + std::to_string(x);
  }
  const Model::Object& owner = this->object(object);
  return "particle " + std::to_string(id) + " of object '" + owner.name + "' near (" + place +
         ") m is no longer finite; likely cause: the time step is too long for material '" +
         this->material_of(owner).name +
         "' under this load; lower time.cfl or time.dt_max, or check its stiffness and density";
}

template <class Real, int D>
std::size_t ParticleSystem<Real, D>::bytes() const {
  return work.bytes() + this->saved_bytes();
}

void check_passengers(const StateLoader& loader, Index seeded) {
  if (std::cmp_less(loader.expect<Index>("id.0", -1).size(), seeded))
    throw IoError(
        "checkpoint has fewer particles than the scene's meshes and curves need; it belongs to another scene");
}

template class ParticleSystem<float, 2>;
template class ParticleSystem<float, 3>;
template class ParticleSystem<double, 2>;
template class ParticleSystem<double, 3>;

}  // namespace tribo::TRIBO_BACKEND
