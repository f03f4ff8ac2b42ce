#include "tribo/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/core/memory.h"
#include "tribo/io/writer.h"
#include "tribo/matter/particles/amounts.h"
#include "tribo/scene/room.h"
#include "tribo/setup/meshes.h"
#include "tribo/setup/model.h"

namespace tribo {
namespace {

/// Frames hold tets when a format asks for them: they are many, and do not change but for their vertices.
bool wants_tets(const Scene& scene) {
  const std::vector<std::string>& formats = scene.output.formats;
  return std::any_of(all_writers().begin(), all_writers().end(), [&](const WriterEntry& writer) {
    return writer.needs_tets && std::find(formats.begin(), formats.end(), writer.name) != formats.end();
  });
}

/// A slip in the units must not fill the memory before anybody notices. How many emitted particles are there at once,
/// sinks decide, which nobody can foresee.
void check_memory(const Scene& scene, const EngineOptions& options, const Model& model) {
  const Amounts expected = expected_amounts(scene);
  Amounts most = expected;
  if (scene.sinks.empty()) most.of<ParticleAmounts>().count += most.of<ParticleAmounts>().emitted;
  double needed = estimated_bytes(options, model, most), seed_bytes = 0;
  bool countable = true;
  std::string amounts, remedies;
  for (const Room* room : rooms()) {
    const Outlay outlay = room->outlay({}, model, expected);
    seed_bytes += outlay.seed_bytes;
    countable = countable && outlay.countable;
    if (outlay.amount.empty()) continue;
    amounts += (amounts.empty() ? "" : ", ") + outlay.amount;
    remedies += outlay.remedy + ", ";
  }
  needed += seed_bytes;
  const auto available = static_cast<double>(available_host_memory());
  if (countable && (options.device != "cpu" || needed <= available) && seed_bytes <= available) return;
  throw DeviceError(
      fmt::format("{}: the scene would have about {} and need about {:.3g} GiB, of which {:.3g} GiB are free; {}shrink "
                  "the objects or let emitters give out less",
                  scene.file, amounts, needed / 1073741824, available / 1073741824, remedies));
}

std::unique_ptr<Engine> engine_for(const Scene& scene, const SimulationOptions& options,
                                   std::vector<std::string>& warnings, Amounts& amounts) {
  const EngineOptions engine_options{options.device, scene.precision, options.threads, options.isa, wants_tets(scene)};
  const Model model = build_model(scene);
  check_memory(scene, engine_options, model);
  warnings = mesh_warnings(scene);
  const Seeds seeds = make_seeds(scene, warnings);
  amounts = amounts_of(seeds, model.dx);
  return make_engine(engine_options, model, seeds);
}

Vec<double, 3> center_of(const ObjectSums& sums) { return sums.mass_position * (1 / sums.mass); }
/// About the center of mass.
Vec<double, 3> spin_of(const ObjectSums& sums) {
  return sums.angular_momentum - cross(center_of(sums), sums.momentum);
}

/// Of an object, from what it is at the ends of a frame. Gravity does not turn anything about its center of mass.
std::optional<MeanForce> mean_force(const ObjectContact& contact, const ObjectSums* from, const ObjectSums& to,
                                    const Vec<double, 3>& gravity, double duration) {
  const double rate = 1 / duration;
  if (contact.source == ContactSource::counted) {
    MeanForce mean{contact.impulse.linear * rate, {}};
    if (contact.turns && contact.own_center) {
      mean.torque = contact.impulse.angular * rate;
    } else if (contact.turns && from != nullptr) {
      const Vec<double, 3> center = 0.5 * (center_of(*from) + center_of(to));
      mean.torque = (contact.impulse.angular - cross(center, contact.impulse.linear)) * rate;
    }
    return mean;
  }
  const bool same = from != nullptr && from->particles == to.particles && from->mass > 0 && to.mass > 0;
  if (contact.source == ContactSource::none || !same) return {};
  MeanForce mean{(to.momentum - from->momentum) * rate - to.mass * gravity, {}};
  Vec<double, 3> torque = (spin_of(to) - spin_of(*from)) * rate;
  if (contact.source == ContactSource::momentum_less_counted) {
    mean.force = mean.force - contact.impulse.linear * rate;
    torque = torque - contact.impulse.angular * rate;
  }
  if (contact.turns) mean.torque = torque;
  return mean;
}

/// What forces ask of sums, in a checkpoint.
nlohmann::json numbers_of(const std::vector<ObjectSums>& sums) {
  nlohmann::json all = nlohmann::json::array();
  for (const ObjectSums& one : sums) {
    nlohmann::json numbers = {one.particles, one.mass};
    for (const Vec<double, 3>& v : {one.mass_position, one.momentum, one.angular_momentum})
      for (int k = 0; k < 3; ++k) numbers.push_back(v[k]);
    all.push_back(numbers);
  }
  return all;
}
std::vector<ObjectSums> sums_of(const nlohmann::json& all) {
  std::vector<ObjectSums> sums;
  for (const nlohmann::json& numbers : all) {
    ObjectSums one;
    one.particles = numbers.at(0).get<std::int64_t>();
    one.mass = numbers.at(1).get<double>();
    std::size_t next = 2;
    for (Vec<double, 3>* v : {&one.mass_position, &one.momentum, &one.angular_momentum})
      for (int k = 0; k < 3; ++k) (*v)[k] = numbers.at(next++).get<double>();
    sums.push_back(one);
  }
  return sums;
}

}  // namespace

void FrameProgress::add(const StepReport& report) {
  dt_min = substeps == 0 ? report.dt : std::min(dt_min, report.dt);
  dt_max = std::max(dt_max, report.dt);
  solve.add(report.solve);
  strands.add(report.strands);
  ++substeps;
  for (auto& [name, count] : limits) {
    if (name == report.limit) {
      ++count;
      return;
    }
  }
  limits.emplace_back(report.limit, 1);
}

std::string FrameProgress::main_limit() const {
  std::string best = limits.empty() ? "" : "frame";
  std::int64_t most = 0;
  for (const auto& [name, count] : limits) {
    if (name != "frame" && count > most) {
      most = count;
      best = name;
    }
  }
  return best;
}

Simulation Simulation::open(const std::string& scene_path, const SimulationOptions& options) {
  return {read_scene(scene_path, options.overrides), options};
}

Simulation::Simulation(Scene scene, const SimulationOptions& options)
    : scene_(std::move(scene)), engine_(engine_for(scene_, options, warnings_, amounts_)) {}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;
Simulation::~Simulation() = default;

StepReport Simulation::step() {
  if (frame_complete_) {
    progress_ = {};
    began_ = measured_step_ == engine_->step_count() ? measured_ : std::vector<ObjectSums>{};
    engine_->clear_contacts();
  }
  frame_complete_ = false;
  const double until = frame_time(frame_ + 1);
  const StepReport report = engine_->step(until);
  progress_.add(report);
  if (engine_->time() >= until) {
    ++frame_;
    frame_complete_ = true;
  }
  return report;
}

void Simulation::advance_frame() {
  const int target = frame_ + 1;
  while (frame_ < target) step();
}

std::vector<ObjectSums> Simulation::measure() {
  if (measured_step_ != engine_->step_count()) {
    measured_ = engine_->measure();
    measured_step_ = engine_->step_count();
  }
  return measured_;
}

ContactForces Simulation::contact_forces() {
  const double began = frame_time(frame_complete_ ? frame_ - 1 : frame_), duration = time() - began;
  if (frame_complete_ && frame_ == 0) return {};
  const EngineContacts contacts = engine_->contacts();
  ContactForces forces;
  for (std::size_t c = 0; c < contacts.colliders.size(); ++c) {
    const ContactImpulse& impulse = contacts.colliders[c];
    const Vec<double, 3> at = scene_.colliders[c].motion.pose(began + 0.5 * duration).at;
    forces.colliders.push_back({impulse.linear * (1 / duration),
                                (impulse.angular - cross(at, impulse.linear)) * (1 / duration)});
  }
  const std::vector<ObjectSums> now = measure();
  for (std::size_t o = 0; o < now.size(); ++o) {
    const ObjectSums *const from = began_.empty() ? nullptr : &began_[o], &to = now[o];
    forces.objects.push_back(mean_force(contacts.objects[o], from, to, scene_.gravity, duration));
  }
  return forces;
}

std::vector<JointReport> Simulation::joints() {
  const double duration = time() - frame_time(frame_complete_ && frame_ > 0 ? frame_ - 1 : frame_);
  std::vector<JointReport> joints = engine_->contacts().joints;
  if (!(duration > 0)) return joints;
  for (JointReport& joint : joints) {
    joint.force = joint.force * (1 / duration);
    joint.torque = joint.torque * (1 / duration);
    joint.motor /= duration;
  }
  return joints;
}

Container Simulation::checkpoint() {
  Container checkpoint = save_state(*engine_);
  nlohmann::json limits = nlohmann::json::array();
  for (const auto& [name, count] : progress_.limits) limits.push_back({name, count});
  checkpoint.meta = nlohmann::json{
      {"frame", frame_},
      {"frame_complete", frame_complete_},
      {"time", time()},
      {"step", engine_->step_count()},
      {"substeps", progress_.substeps},
      {"dt_min", progress_.dt_min},
      {"dt_max", progress_.dt_max},
      {"limits", limits},
      {"solve",
       {progress_.solve.newton, progress_.solve.linear, progress_.solve.rejected, progress_.solve.unconverged,
        progress_.solve.error}},
      {"strands",
       {progress_.strands.pairs, progress_.strands.missed_grid, progress_.strands.missed_pairs, progress_.strands.tied,
        progress_.strands.missed, progress_.strands.missed_odd, progress_.strands.rounds, progress_.strands.retries}},
      {"passage",
       {progress_.strands.first.time, progress_.strands.first.object, progress_.strands.first.strand,
        progress_.strands.first.at}},
      {"frame_began", numbers_of(frame_complete_ ? std::vector<ObjectSums>{} : began_)},
      {"precision", scene_.precision},
      {"version",
       version()}}.dump();
  return checkpoint;
}

void Simulation::restore(const Container& checkpoint) {
  FrameProgress progress;
  std::vector<ObjectSums> began;
  int frame = 0;
  bool complete = true;
  try {
    const nlohmann::json meta = nlohmann::json::parse(checkpoint.meta);
    frame = meta.at("frame").get<int>();
    complete = meta.at("frame_complete").get<bool>();
    progress.substeps = meta.at("substeps").get<std::int64_t>();
    progress.dt_min = meta.at("dt_min").get<double>();
    progress.dt_max = meta.at("dt_max").get<double>();
    const nlohmann::json& solve = meta.at("solve");
    progress.solve = {solve.at(0).get<std::int64_t>(), solve.at(1).get<std::int64_t>(), solve.at(2).get<std::int64_t>(),
                      solve.at(3).get<std::int64_t>(), solve.at(4).get<double>()};
    const auto strands = meta.at("strands").get<std::array<std::int64_t, 8>>();
    const nlohmann::json& passage = meta.at("passage");
    progress.strands = {strands[0],
                        strands[1],
                        strands[2],
                        strands[3],
                        strands[4],
                        strands[5],
                        strands[6],
                        strands[7],
                        {passage.at(0).get<double>(), passage.at(1).get<std::array<int, 2>>(),
                         passage.at(2).get<std::array<std::int64_t, 2>>(), passage.at(3).get<std::array<double, 3>>()}};
    began = sums_of(meta.at("frame_began"));
    for (const nlohmann::json& limit : meta.at("limits"))
      progress.limits.emplace_back(limit.at(0).get<std::string>(), limit.at(1).get<std::int64_t>());
  } catch (const nlohmann::json::exception&) {
    throw IoError("checkpoint has an incomplete header; it was written by another version");
  }
  engine_->load(checkpoint);
  frame_ = frame;
  frame_complete_ = complete;
  progress_ = std::move(progress);
  began_ = std::move(began);
  measured_step_ = -1;
}

const char* version() { return TRIBO_VERSION; }

}  // namespace tribo
