#include <bit>
#include <cstring>
#include <span>

#include "tribo/core/errors.h"
#include "tribo/engine/solver.h"
#include "tribo/stages/hash.h"

/// \file
/// The state of a solver as arrays: hashed, shown to whoever saves it, and taken back.

namespace tribo::TRIBO_BACKEND {
namespace {

/// Numbers of the state that are not columns, in the order they are saved.
template <class Real, int D>
std::vector<double> scalars(const State<Real, D>& s) {
  return {s.time, static_cast<double>(s.step), s.drift, s.speed, s.wave_speed2};
}
template <class Real, int D>
void set_scalars(State<Real, D>& s, std::span<const double> from) {
  s.time = from[0];
  s.step = static_cast<std::int64_t>(from[1]);
  s.drift = from[2];
  s.speed = from[3];
  s.wave_speed2 = from[4];
}

/// An array of a checkpoint, or an error that says what is wrong with it.
template <class T>
std::span<const T> expect_array(const Container& checkpoint, const std::string& name, std::int64_t count) {
  const NamedArray* array = checkpoint.find(name);
  if (array == nullptr) throw IoError("checkpoint has no array '" + name + "'; it was written by another version");
  if (array->type != dtype_of<T>())
    throw IoError("checkpoint array '" + name + "' has another precision; resume with the precision of the run");
  if (count >= 0 && array->count != static_cast<std::uint64_t>(count))
    throw IoError("checkpoint array '" + name + "' has " + std::to_string(array->count) + " entries, expected " +
                  std::to_string(count));
  return array->as<T>();
}

constexpr int emitter_numbers = 6;
std::vector<double> numbers_of(const std::vector<EmitterState>& emitters) {
  std::vector<double> r;
  for (const EmitterState& e : emitters)
    for (const double number : {static_cast<double>(e.layers), static_cast<double>(e.candidates),
                                static_cast<double>(e.particles), e.volume, e.mass, e.finished ? 1.0 : 0.0})
      r.push_back(number);
  return r;
}
void set_numbers(std::vector<EmitterState>& emitters, std::span<const double> from) {
  for (std::size_t i = 0; i < emitters.size(); ++i) {
    const double* const n = &from[i * emitter_numbers];
    emitters[i] = {static_cast<std::int64_t>(n[0]),
                   static_cast<std::int64_t>(n[1]),
                   static_cast<std::int64_t>(n[2]),
                   n[3],
                   n[4],
                   n[5] != 0};
  }
}

}  // namespace

/// What emitters and sinks have done.
template <class Real, int D>
void Solver<Real, D>::visit_flows(const ArrayVisitor& visit) const {
  if (!state_.emitters.empty()) {
    const std::vector<double> emitters = numbers_of(state_.emitters);
    visit("emitters", DType::f64, static_cast<std::int64_t>(emitters.size()), emitters.data());
  }
  if (!state_.sinks.empty()) {
    std::vector<double> sinks{state_.sorted_at, state_.sink_drift};
    for (const SinkState& sink : state_.sinks)
      sinks.insert(sinks.end(), {static_cast<double>(sink.particles), sink.mass});
    visit("sinks", DType::f64, static_cast<std::int64_t>(sinks.size()), sinks.data());
  }
}

/// visit(name, field, count) for what curves have beside their particles: where frames matter, those.
template <class Real, int D>
template <class Visit>
void Solver<Real, D>::each_curve_frame(const Visit& visit) {
  if (!vertices_.curves.framed()) return;
  RodState<Real>& state = vertices_.curves.strands.state;
  visit("curve.director", state.director, state.count);
  visit("curve.twist", state.twist, state.count);
}

template <class Real, int D>
std::uint64_t Solver<Real, D>::state_hash() {
  settle(exec_, state_, work_);
  std::uint64_t hash = 0;
  const auto add_numbers = [&](const double* numbers, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) hash = mixed(hash + 1 + mixed(std::bit_cast<std::uint64_t>(numbers[i])));
  };
  const std::vector<double> numbers = scalars(state_);
  add_numbers(numbers.data(), numbers.size());
  visit_flows([&](const char*, DType, std::int64_t count, const void* data) {
    add_numbers(static_cast<const double*>(data), static_cast<std::size_t>(count));
  });
  hash = hash_items(exec_, reinterpret_cast<const Index*>(state_.bins.data()), state_.bin_count * (3 + D), hash);
  each_column(state_.particles, [&](const char*, auto& field) {
    for (const auto& array : field.c) hash = hash_items(exec_, array.data(), state_.count, hash);
  });
  if (!solids_.empty()) {
    add_numbers(&solids_.state.stable_dt, 1);
    add_numbers(&solids_.state.speed, 1);
    add_numbers(&solids_.state.listed_reach, 1);
    each_column(solids_.state, [&](const char*, auto& field) {
      for (const auto& array : field.c) hash = hash_items(exec_, array.data(), solids_.state.count_of(field), hash);
    });
  }
  if (!rods_.empty()) {
    add_numbers(&rods_.state.stable_dt, 1);
    add_numbers(&rods_.state.speed, 1);
    add_numbers(&rods_.state.pace, 1);
    add_numbers(&rods_.state.calm, 1);
    add_numbers(&rods_.state.closing, 1);
    each_column(rods_.state, [&](const char*, auto& field) {
      for (const auto& array : field.c) hash = hash_items(exec_, array.data(), rods_.state.count, hash);
    });
    const PressedPairs<Real>& pressed = rods_.state.pressed;
    for (const auto& array : pressed.segments.c) hash = hash_items(exec_, array.data(), pressed.count, hash);
    for (const auto& array : pressed.force.c) hash = hash_items(exec_, array.data(), pressed.count, hash);
  }
  if (RodBundle<Real>& bundle = rods_.bundle; !bundle.empty()) {
    const double drift = bundle.drift();
    add_numbers(&drift, 1);
    hash = hash_items(exec_, reinterpret_cast<const Index*>(bundle.bins().data()), bundle.bin_count() * 6, hash);
    bundle.each_saved_column([&](const char*, auto& field) {
      for (const auto& array : field.c) hash = hash_items(exec_, array.data(), bundle.count(), hash);
    });
  }
  each_curve_frame([&](const char*, auto& field, Index count) {
    for (const auto& array : field.c) hash = hash_items(exec_, array.data(), count, hash);
  });
  return hash;
}

template <class Real, int D>
void Solver<Real, D>::visit_state(const ArrayVisitor& visit) {
  settle(exec_, state_, work_);
  const std::vector<double> numbers = scalars(state_);
  visit("scalars", DType::f64, static_cast<std::int64_t>(numbers.size()), numbers.data());
  std::vector<Bin<D>> bins(static_cast<std::size_t>(state_.bin_count));
  copy_to_host(exec_, state_.bins, bins.data(), state_.bin_count);
  static_assert(sizeof(Bin<D>) == (3 + D) * sizeof(Index));
  visit("bins", DType::i32, static_cast<std::int64_t>(bins.size()) * (3 + D), bins.data());
  visit_flows(visit);
  std::vector<std::byte> host;
  const auto show = [&](Index count, const char* name, auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    host.resize(static_cast<std::size_t>(count) * sizeof(T));
    for (int k = 0; k < std::decay_t<decltype(field)>::components; ++k) {
      copy_to_host(exec_, field.c[k], reinterpret_cast<T*>(host.data()), count);
      visit((std::string(name) + "." + std::to_string(k)).c_str(), dtype_of<T>(), count, host.data());
    }
  };
  each_column(state_.particles, [&](const char* name, auto& field) { show(state_.count, name, field); });
  if (!solids_.empty()) {
    visit("solid.listed_reach", DType::f64, 1, &solids_.state.listed_reach);
    each_column(solids_.state,
                [&](const char* name, auto& field) { show(solids_.state.count_of(field), name, field); });
  }
  if (!rods_.empty()) {
    const double steps[3] = {rods_.state.pace, rods_.state.calm, rods_.state.closing};
    visit("rod.steps", DType::f64, 3, steps);
    each_column(rods_.state, [&](const char* name, auto& field) { show(rods_.state.count, name, field); });
    show(rods_.state.pressed.count, "rod.pressed", rods_.state.pressed.segments);
    show(rods_.state.pressed.count, "rod.pressed_force", rods_.state.pressed.force);
  }
  if (RodBundle<Real>& bundle = rods_.bundle; !bundle.empty()) {
    const double drift = bundle.drift();
    visit("bundle.drift", DType::f64, 1, &drift);
    std::vector<Bin<3>> bundle_bins(static_cast<std::size_t>(bundle.bin_count()));
    copy_to_host(exec_, bundle.bins(), bundle_bins.data(), bundle.bin_count());
    visit("bundle.bins", DType::i32, static_cast<std::int64_t>(bundle_bins.size()) * 6, bundle_bins.data());
    bundle.each_saved_column([&](const char* name, auto& field) { show(bundle.count(), name, field); });
  }
  each_curve_frame([&](const char* name, auto& field, Index count) { show(count, name, field); });
}

template <class Real, int D>
void Solver<Real, D>::load(const Container& checkpoint) {
  take_columns(exec_, state_, work_);
  const std::span<const double> numbers = expect_array<double>(checkpoint, "scalars", 5);
  const std::span<const Index> ids = expect_array<Index>(checkpoint, "id.0", -1);
  const auto n = static_cast<Index>(ids.size());
  const std::span<const Index> bin_data = expect_array<Index>(checkpoint, "bins", -1);
  const auto bin_count = static_cast<Index>(bin_data.size() / (3 + D));
  std::vector<Bin<D>> bins(static_cast<std::size_t>(bin_count));
  if (bin_count > 0) std::memcpy(bins.data(), bin_data.data(), bins.size() * sizeof(Bin<D>));
  Index next = 0;
  for (const Bin<D>& bin : bins) {
    const bool fits = bin.begin == next && bin.end > bin.begin && bin.end <= n && bin.group >= 0 &&
                      static_cast<std::size_t>(bin.group) < constants_.laws.size();
    if (!fits) throw IoError("checkpoint's particle bins do not fit its particles; it belongs to another scene");
    next = bin.end;
  }
  const bool sorted = bin_count > 0;  // memory may have run out before
  if (sorted && next != n) throw IoError("checkpoint's particle bins do not cover its particles");
  for (const Index object : expect_array<Index>(checkpoint, "object.0", n))
    if (object < 0 || static_cast<std::size_t>(object) >= model_.objects.size())
      throw IoError("checkpoint names an object the scene does not have; it belongs to another scene");

  const auto vertices = static_cast<std::int64_t>(solids_.state.count);
  if (vertices > 0) expect_array<Real>(checkpoint, "solid.x.0", vertices);
  if (!rods_.empty()) expect_array<Real>(checkpoint, "rod.x.0", rods_.state.count);
  if (!rods_.bundle.empty()) expect_array<Real>(checkpoint, "bundle.m.0", rods_.bundle.count());
  if (vertices_.count() > 0 && n < seeded_)
    throw IoError("checkpoint has fewer particles than the scene's meshes and curves need; it belongs to another scene");
  std::span<const double> emitters, sinks;
  const auto emitter_count = static_cast<std::int64_t>(state_.emitters.size());
  const auto sink_count = static_cast<std::int64_t>(state_.sinks.size());
  if (emitter_count > 0) emitters = expect_array<double>(checkpoint, "emitters", emitter_numbers * emitter_count);
  if (sink_count > 0) sinks = expect_array<double>(checkpoint, "sinks", 2 + 2 * sink_count);

  const auto take = [&](Index count, const char* name, auto& field) {
    using T = typename std::decay_t<decltype(field)>::Value;
    for (int k = 0; k < std::decay_t<decltype(field)>::components; ++k)
      copy_to_device(exec_, expect_array<T>(checkpoint, std::string(name) + "." + std::to_string(k), count).data(),
                     field.c[k], count);
  };
  each_column(state_.particles, [&](const char* name, auto& field) { take(n, name, field); });
  if (vertices > 0) {
    solids_.state.listed_reach = expect_array<double>(checkpoint, "solid.listed_reach", 1)[0];
    solids_.contact.listed = false;
    each_column(solids_.state,
                [&](const char* name, auto& field) { take(solids_.state.count_of(field), name, field); });
  }
  if (!rods_.empty()) {
    const std::span<const double> steps = expect_array<double>(checkpoint, "rod.steps", 3);
    rods_.state.pace = steps[0];
    rods_.state.calm = steps[1];
    rods_.state.closing = steps[2];
    each_column(rods_.state, [&](const char* name, auto& field) { take(rods_.state.count, name, field); });
    PressedPairs<Real>& pressed = rods_.state.pressed;
    pressed.count = static_cast<Index>(expect_array<Index>(checkpoint, "rod.pressed.0", -1).size());
    take(pressed.count, "rod.pressed", pressed.segments);
    take(pressed.count, "rod.pressed_force", pressed.force);
  }
  if (RodBundle<Real>& bundle = rods_.bundle; !bundle.empty()) {
    bundle.each_saved_column([&](const char* name, auto& field) { take(bundle.count(), name, field); });
    const std::span<const Index> data = expect_array<Index>(checkpoint, "bundle.bins", -1);
    std::vector<Bin<3>> bundle_bins(data.size() / 6);
    if (!bundle_bins.empty()) std::memcpy(bundle_bins.data(), data.data(), bundle_bins.size() * sizeof(Bin<3>));
    if (!bundle.resume(exec_, bundle_bins, expect_array<double>(checkpoint, "bundle.drift", 1)[0]))
      throw IoError("checkpoint's grid of strands does not fit its strands; it belongs to another scene");
  }
  each_curve_frame([&](const char* name, auto& field, Index count) { take(count, name, field); });
  set_scalars(state_, numbers);
  set_numbers(state_.emitters, emitters);
  if (sink_count > 0) {
    state_.sorted_at = sinks[0];
    state_.sink_drift = sinks[1];
  }
  for (std::size_t i = 0; i < state_.sinks.size(); ++i)
    state_.sinks[i] = {static_cast<std::int64_t>(sinks[2 + 2 * i]), sinks[3 + 2 * i]};
  state_.count = n;
  state_.bin_count = bin_count;
  copy_to_device(exec_, bins.data(), state_.bins, bin_count);
  if (sorted)
    list_groups(exec_, constants_, state_, work_);
  else
    sort_particles(exec_, constants_, state_, work_);
  build_grid(exec_, constants_, state_, work_);
  if (!solids_.empty()) solids_.evaluate(exec_, model_.time);  // forces and bounds follow from the columns
  follow_particles();
  if (!rods_.empty()) rods_.evaluate(exec_);
}

template std::uint64_t Solver<float, 2>::state_hash();
template void Solver<float, 2>::visit_state(const ArrayVisitor&);
template void Solver<float, 2>::load(const Container&);
template std::uint64_t Solver<float, 3>::state_hash();
template void Solver<float, 3>::visit_state(const ArrayVisitor&);
template void Solver<float, 3>::load(const Container&);
template std::uint64_t Solver<double, 2>::state_hash();
template void Solver<double, 2>::visit_state(const ArrayVisitor&);
template void Solver<double, 2>::load(const Container&);
template std::uint64_t Solver<double, 3>::state_hash();
template void Solver<double, 3>::visit_state(const ArrayVisitor&);
template void Solver<double, 3>::load(const Container&);

}  // namespace tribo::TRIBO_BACKEND
