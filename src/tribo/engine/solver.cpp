#include "tribo/engine/solver.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tribo/core/errors.h"
#include "tribo/engine/backends.h"

namespace tribo::TRIBO_BACKEND {
namespace {

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

/// What is saved beside the state: no step depends on it.
constexpr const char* contact_sums_name = "contact.sums";

/// Distance of a collider's farthest point from its origin; of an unbounded one only the origin's motion is judged.
double radius_of(const ColliderSpec& collider) {
  const Bounds bounds = std::visit([](const auto& shape) { return shape.bounds(); }, collider.shape);
  return bounds.bounded ? std::sqrt(std::max(squared_norm(bounds.low), squared_norm(bounds.high))) : 0;
}

}  // namespace

template <class Real, int D>
Solver<Real, D>::Solver(const EngineOptions& options, const Model& model, const Seeds& seeds)
    : model_(model), options_(options), exec_(options.threads), kinds_(exec_, model_), particles_(kinds_.particles()) {
  const double needed = estimated_bytes(options, model, amounts_of(seeds, model.dx));
  const auto available = static_cast<double>(available_memory(exec_));
  if (needed > available)
    throw DeviceError("not enough memory on " + std::string(device_name) + ": the scene needs about " +
                      std::to_string(static_cast<long long>(needed / 1048576)) + " MiB, " +
                      std::to_string(static_cast<long long>(available / 1048576)) +
                      " MiB are free; use a larger grid spacing, fewer particles or strands, or larger elements");
  kinds_.load(seeds);
  if (const auto sources = contact_sources();
      !model_.colliders.empty() || std::any_of(sources.begin(), sources.end(), [](const ObjectContact& one) {
        return one.source == ContactSource::counted || one.source == ContactSource::momentum_less_counted;
      }))
    contact_sums_.resize(exec_, static_cast<Index>(model_.colliders.size()), static_cast<Index>(model_.objects.size()));
  double fastest = 0;
  for (const ColliderSpec& collider : model_.colliders)
    fastest = std::max(fastest, collider.motion.max_speed(radius_of(collider)));
  for (const auto& kind : kinds_.all()) fastest = std::max(fastest, kind->expected_speed());
  speed_limit_ = 100 * fastest;
}

/// Theory J: what each kind asks for, colliders, the user's maximum; then the frame's end, without leaving a sliver.
template <class Real, int D>
StepReport Solver<Real, D>::bounded_dt(double until, double& paced) const {
  const TimeSpec& time = model_.time;
  const Surroundings around = kinds_.surroundings();
  StepBound step{time.dt_max, "dt_max"};
  for (const auto& kind : kinds_.all()) kind->bound(around, step);
  for (const auto& kind : kinds_.all()) kind->bound_last(around, step);
  for (const ColliderSpec& collider : model_.colliders) {
    if (collider.motion.keys().size() < 2) continue;
    const double speed = collider.motion.max_speed(around.time, step.dt, radius_of(collider));
    if (speed > 0) step.at_most(time.cfl * model_.dx / speed, "collider");
  }
  bool equal = false;
  for (const auto& kind : kinds_.all()) {
    step.dt = kind->paced(step.dt);
    equal = equal || (!kind->empty() && kind->wants_equal_steps());
  }
  paced = step.dt;
  const double left = until - around.time;
  if (left <= step.dt) {
    step.dt = left;
    step.limit = "frame";
  } else if (equal) {
    step.dt = left / std::ceil(left / step.dt * (1 - 1e-9));
  } else if (left < 2 * step.dt) {
    step.dt = 0.5 * left;
    step.limit = "frame";
  }
  return {step.dt, step.limit, {}, {}, step.least_for_strands};
}

template <class Real, int D>
StepReport Solver<Real, D>::next_dt(double until) const {
  double paced = 0;
  return bounded_dt(until, paced);
}

template <class Real, int D>
StepReport Solver<Real, D>::step(double until) {
  particles_.emit();
  double& time = particles_.state.time;
  for (const SinkSpec& sink : model_.sinks)  // or one that works for less than a step would take nothing
    if (sink.from > time) until = std::min(until, sink.from);
  double paced = 0;  // is remembered by steps that are taken
  StepReport report = bounded_dt(until, paced);
  const double left = until - time;
  if (report.dt < model_.time.dt_min && report.dt < left)
    report_runaway("the next step would be " + std::to_string(report.dt * 1e9) + " ns, below time.dt_min");
  double fastest = 0;
  for (const auto& kind : kinds_.all()) fastest = std::max(fastest, kind->speed());
  if (fastest > speed_limit_ + std::sqrt(squared_norm(model_.gravity)) * time)
    report_runaway((particles_.speed() < fastest ? "a vertex has reached " : "a particle has reached ") +
                   std::to_string(fastest) +
                   " m/s, a hundred times the speed of sound in the materials and of anything that drives them");
  double taken = 0;
  try {
    const StepScope scope(exec_);
    taken = advance(exec_, model_, report.dt, kinds_, contact_sums_, report);
    particles_.state.step += 1;
  } catch (const DivergedError& error) {
    report_runaway(error.what());
  } catch (const LostStepError&) {
    throw;
  } catch (const DeviceError&) {  // no memory; the state must be what it was
    for (const auto& kind : kinds_.all()) kind->undo();
    throw;
  }
  for (const auto& kind : kinds_.all()) kind->taken(paced);
  for (const auto& kind : kinds_.all())
    if (const std::string complaint = kind->complaint(); !complaint.empty())
      throw DivergedError("step " + std::to_string(particles_.state.step) + " (t = " + std::to_string(time) +
                          " s, dt = " + std::to_string(taken) + " s, limited by " + report.limit + "): " + complaint);
  if (taken < report.dt) {
    report.dt = taken;
    report.limit = "retry";
    time += taken;
  } else {
    time = report.dt >= left ? until : time + taken;
  }
  return report;
}

template <class Real, int D>
void Solver<Real, D>::report_runaway(const std::string& what) {
  // Blame the object with the most energy for its mass.
  double largest = -1;
  std::string name = "an object";
  try {
    particles_.list_newcomers();
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
  throw DivergedError("step " + std::to_string(particles_.state.step) + " (t = " + std::to_string(time()) +
                      " s): " + what + "; " + name +
                      " has run away; likely cause: objects that overlap at the start, a collider moving too fast, or "
                      "a material far too stiff for its density");
}

template <class Real, int D>
std::vector<ObjectSums> Solver<Real, D>::measure() {
  std::vector<ObjectSums> sums(model_.objects.size());
  for (const auto& kind : kinds_.all()) kind->measure(sums);
  return sums;
}

template <class Real, int D>
std::vector<ObjectContact> Solver<Real, D>::contact_sources() const {
  std::vector<ObjectContact> objects(model_.objects.size());
  for (const auto& kind : kinds_.all()) kind->contact_sources(objects);
  return objects;
}

template <class Real, int D>
EngineContacts Solver<Real, D>::contacts() {
  const std::vector<ContactImpulse> impulses = contact_sums_.read(exec_);
  EngineContacts contacts;
  contacts.objects = contact_sources();
  contacts.colliders.resize(model_.colliders.size());
  for (const auto& kind : kinds_.all()) kind->report_joints(contacts.joints);
  if (impulses.empty()) return contacts;
  for (std::size_t c = 0; c < contacts.colliders.size(); ++c) contacts.colliders[c] = impulses[c];
  for (std::size_t o = 0; o < contacts.objects.size(); ++o)
    contacts.objects[o].impulse = impulses[contacts.colliders.size() + o];
  return contacts;
}

template <class Real, int D>
void Solver<Real, D>::clear_contacts() {
  contact_sums_.clear(exec_);
  for (const auto& kind : kinds_.all()) kind->clear_joints();
}

template <class Real, int D>
RawFrame Solver<Real, D>::frame(int number, bool later) {
  RawFrame raw;
  Frame& frame = raw.frame;
  frame.number = number;
  frame.time = time();
  for (const Model::Object& object : model_.objects) {
    frame.objects.push_back(object.name);
    raw.object_materials.push_back(object.material);
  }
  for (const MaterialSpec& material : model_.materials) frame.materials.push_back(material.name);
  for (const auto& kind : kinds_.all()) {
    kind->show(options_, frame);
    raw.hidden += kind->passengers();
  }
  raw.first_hidden = particles_.seeded() - raw.hidden;
  particles_.show_columns(raw, later);
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
  EngineCounts counts;
  for (const auto& kind : kinds_.all()) kind->count(counts);
  return counts;
}

template <class Real, int D>
std::uint64_t Solver<Real, D>::state_hash() {
  settle(exec_, particles_.state, particles_.work);
  StateHash hash(exec_);
  for (const auto& kind : kinds_.all()) kind->each_saved(hash);
  return hash.value();
}

template <class Real, int D>
void Solver<Real, D>::visit_state(const ArrayVisitor& visit) {
  settle(exec_, particles_.state, particles_.work);
  StateSaver saver(exec_, visit);
  for (const auto& kind : kinds_.all()) kind->each_saved(saver);
  const std::vector<ContactSum>& sums = contact_sums_.fetch(exec_);
  visit(contact_sums_name, DType::i64, static_cast<std::int64_t>(sums.size() * sizeof(ContactSum) / 8), sums.data());
}

template <class Real, int D>
void Solver<Real, D>::load(const Container& checkpoint) {
  take_columns(exec_, particles_.state, particles_.work);
  {
    StateLoader loader(exec_, checkpoint);
    const auto sums = loader.expect<std::int64_t>(
        contact_sums_name, contact_sums_.count() * static_cast<std::int64_t>(sizeof(ContactSum) / 8));
    for (const auto& kind : kinds_.all()) {
      kind->check(loader);
      kind->each_saved(loader);
    }
    loader.take();
    for (const auto& kind : kinds_.all()) kind->each_saved(loader);
    contact_sums_.restore(exec_, reinterpret_cast<const ContactSum*>(sums.data()));
  }
  for (const auto& kind : kinds_.all()) kind->loaded();
}

template <class Real, int D>
const std::vector<std::pair<const char*, double>>& Solver<Real, D>::stage_seconds() const {
  return exec_.timers().entries();
}

template <class Real, int D>
std::size_t Solver<Real, D>::bytes() const {
  std::size_t sum = 0;
  for (const auto& kind : kinds_.all()) sum += kind->bytes();
  return sum;
}

std::unique_ptr<Engine> make_backend_engine(const EngineOptions& options, const Model& model, const Seeds& seeds) {
  const auto make = [&]<class Real>(Real) -> std::unique_ptr<Engine> {
    if (model.dimension == 2) return std::make_unique<Solver<Real, 2>>(options, model, seeds);
    return std::make_unique<Solver<Real, 3>>(options, model, seeds);
  };
  return options.precision == "double" ? make(double{}) : make(float{});
}

template class Solver<float, 2>;
template class Solver<float, 3>;
template class Solver<double, 2>;
template class Solver<double, 3>;

}  // namespace tribo::TRIBO_BACKEND
