#include "tribo/run/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tribo/core/errors.h"
#include "tribo/math/svd.h"
#include "tribo/matter/particles/spec.h"

namespace tribo {
namespace {

using Json = nlohmann::ordered_json;

Json list(const Vec<double, 3>& v) { return {v[0], v[1], v[2]}; }

Json energies(const ObjectSums& s) { return {{"kinetic", s.kinetic}, {"elastic", s.elastic}, {"gravity", s.gravity}}; }

/// Angular velocity of the rigid body with the object's inertia and angular momentum about its center. The affine
/// part of APIC particles adds m dx^2 / 2 to the inertia, so that rigid rotation comes out exactly. Meshes and
/// strands have none, but for those whose vertices are particles: the spin of these is in the angular momentum, too.
///
/// A straight strand has no inertia about itself, and what it turns about that is rounding over rounding: a float knows
/// velocities v to 6e-8 of them, which at the distance r from an axis is 6e-8 v / r of rotation. So axes have none that
/// an object of the size R is nearer to than 1e-4 R, all of it; about others that is 6e-4 v / R at most.
Vec<double, 3> angular_velocity(const ObjectSums& s, double dx) {
  const Vec<double, 3> center = s.mass_position * (1 / s.mass);
  const Vec<double, 3> L = s.angular_momentum - cross(center, s.momentum);
  Sym<double, 3> I = Sym<double, 3>::isotropic(0.5 * s.mass * dx * dx);
  for (int a = 0; a < 3; ++a)
    for (int b = a; b < 3; ++b) {
      const double second = s.second_moment(a, b) - s.mass * center[a] * center[b];
      I(a, b) -= second;
      if (a == b)
        for (int k = 0; k < 3; ++k) I(k, k) += second;
    }
  Vec<double, 3> moments, w = Vec<double, 3>::zero();
  Mat<double, 3> axes;
  symmetric_eigen(I, moments, axes);
  for (int k = 0; k < 3; ++k) {
    if (!(moments[k] > 1e-8 * moments[0])) continue;
    const Vec<double, 3> axis{{axes(0, k), axes(1, k), axes(2, k)}};
    w += (dot(axis, L) / moments[k]) * axis;
  }
  return w;
}

Json object_statistics(const ObjectSums& s, double dx) {
  const double inverse = s.mass > 0 ? 1 / s.mass : 0;
  const bool empty = !(s.mass > 0);
  return {{"centre", list(s.mass_position * inverse)},
          {"velocity", list(s.momentum * inverse)},
          {"angular_velocity", list(empty ? Vec<double, 3>::zero() : angular_velocity(s, dx))},
          {"min", list(empty ? Vec<double, 3>::zero() : s.low)},
          {"max", list(empty ? Vec<double, 3>::zero() : s.high)},
          {"mass", s.mass},
          {"energy", energies(s)}};
}

Json force_json(const MeanForce& mean) {
  Json json = {{"force", list(mean.force)}};
  if (mean.torque) json["torque"] = list(*mean.torque);
  return json;
}

/// Forces are means since the frame before, and there are none in the first.
Json joint_json(const JointReport& joint, bool is_first) {
  Json json = Json::object();
  const auto add_coordinate = [&](const char* name) {
    json[name] = joint.value;
    json["speed"] = joint.speed;
  };
  switch (joint.coordinate) {
    case JointReport::Coordinate::angle:
      add_coordinate("angle");
      break;
    case JointReport::Coordinate::position:
      add_coordinate("position");
      break;
    case JointReport::Coordinate::length:
      add_coordinate("length");
      break;
    case JointReport::Coordinate::none:
      break;
  }
  if (joint.is_spring) json["energy"] = joint.energy;
  if (is_first) return json;
  json["force"] = list(joint.force);
  json["torque"] = list(joint.torque);
  if (joint.has_motor) json["motor"] = joint.motor;
  return json;
}

/// Norm of a number or a list of numbers at a pointer, minus `from` when given.
double norm_at(const Json& line, const std::string& pointer, const Json* from) {
  const Json::json_pointer at(pointer);
  const Json& value = line.at(at);
  const Json* origin = from != nullptr ? &from->at(at) : nullptr;
  if (value.is_number()) return std::abs(value.get<double>() - (origin ? origin->get<double>() : 0.0));
  double sum = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double d = value.at(i).get<double>() - (origin ? origin->at(i).get<double>() : 0.0);
    sum += d * d;
  }
  return std::sqrt(sum);
}

bool is_force(const std::string& pointer) {
  return pointer.rfind("/colliders/", 0) == 0 || pointer.rfind("/joints/", 0) == 0 ||
         pointer.find("/contact/") != std::string::npos;
}

void check_bounds(const Json& rules, const Json& line, std::vector<std::string>& unmet) {
  for (const auto& [pointer, bounds] : rules.items()) {
    // Forces are means since the frame before.
    if (line.at("frame") == 0 && !line.contains(Json::json_pointer(pointer)) && is_force(pointer)) continue;
    const double value = line.at(Json::json_pointer(pointer)).get<double>();
    const double low = bounds.value("min", -HUGE_VAL);
    const double high = bounds.value("max", HUGE_VAL);
    // Negated so that NaN fails.
    if (!(value >= low && value <= high))
      unmet.push_back(fmt::format("frame {}: {} is {:.6g}, expected {:.6g} to {:.6g}", line.at("frame").get<int>(),
                                  pointer, value, low, high));
  }
}

}  // namespace

std::string frame_statistics(Simulation& simulation, double wall_seconds, const StageSeconds& stages) {
  const std::vector<ObjectSums> sums = simulation.measure();
  ObjectSums total;
  Json objects = Json::object();
  for (std::size_t o = 0; o < sums.size(); ++o) {
    total.add(sums[o]);
    const ObjectSpec& object = simulation.scene().objects[o];
    const bool of_particles = object.touch == Touch::particles;
    objects[object.name] = object_statistics(sums[o], of_particles ? simulation.scene().grid.dx : 0);
  }
  const EngineFlows flows = simulation.engine().flows();
  const auto flow_json = [](const Flow& flow) { return Json{{"particles", flow.particles}, {"mass", flow.mass}}; };
  for (std::size_t o = 0; o < sums.size(); ++o) {
    const ObjectSpec& object = simulation.scene().objects[o];
    if (object.as<EmissionSpec>() != nullptr) objects[object.name]["emitted"] = flow_json(flows.emitted[o]);
  }
  const ContactForces forces = simulation.contact_forces();
  for (std::size_t o = 0; o < forces.objects.size(); ++o)
    if (const auto& mean = forces.objects[o]) objects[simulation.scene().objects[o].name]["contact"] = force_json(*mean);
  Json colliders = Json::object();
  for (std::size_t c = 0; c < forces.colliders.size(); ++c)
    colliders[simulation.scene().colliders[c].name] = force_json(forces.colliders[c]);
  Json joints = Json::object();
  for (const JointReport& joint : simulation.joints()) {
    joints[joint.name] = joint_json(joint, simulation.frame() == 0);
    total.elastic += joint.energy;
  }
  Json sinks = Json::object();
  for (std::size_t s = 0; s < flows.removed.size(); ++s)
    sinks[simulation.scene().sinks[s].name] = flow_json(flows.removed[s]);
  Json stage_json = Json::object();
  for (const auto& [name, seconds] : stages) stage_json[name] = seconds;
  const FrameProgress& progress = simulation.progress();
  const EngineCounts counts = simulation.engine().counts();
  Json line = {
      {"frame", simulation.frame()},
      {"time", simulation.time()},
      {"substeps", progress.substeps},
      {"dt_min", progress.dt_min},
      {"dt_max", progress.dt_max},
      {"dt_limit", progress.main_limit()},
      {"wall_s", wall_seconds},
      {"stages", stage_json},
      {"counts",
       {{"particles", counts.particles},
        {"tets", counts.tets},
        {"segments", counts.segments},
        {"triangles", 0},
        {"bodies", counts.bodies},
        {"collision_particles", counts.collision_particles},
        {"active_blocks", counts.active_blocks},
        {"emitted", counts.emitted},
        {"removed", counts.removed}}},
      {"mass", total.mass},
      {"momentum", list(total.momentum)},
      {"angular_momentum", list(total.angular_momentum)},
      {"energy", energies(total)},
      {"contacts", counts.contacts},
      {"missed_collisions", progress.strands.missed},
      {"objects", objects},
      {"colliders", colliders},
      {"sinks", sinks},
      {"state_hash", fmt::format("{:016x}", simulation.state_hash())},
  };
  if (!joints.empty()) line["joints"] = joints;
  if (counts.segments > 0) {
    const StrandReport& strands = progress.strands;
    line["strands"] = {
        {"pairs", strands.pairs},    {"missed_grid", strands.missed_grid}, {"missed_pairs", strands.missed_pairs},
        {"tied", strands.tied},      {"missed_odd", strands.missed_odd},   {"rounds", strands.rounds},
        {"retries", strands.retries}};
    if (const StrandPassage& first = strands.first; first.object[0] >= 0) {
      const auto name = [&](int side) {
        return simulation.scene().objects[static_cast<std::size_t>(first.object[static_cast<std::size_t>(side)])].name;
      };
      line["strands"]["first_missed"] = {
          {"time", first.time}, {"objects", {name(0), name(1)}}, {"strands", first.strand}, {"at", first.at}};
    }
  }
  if (simulation.scene().time.implicit)
    line["solve"] = {{"newton", progress.solve.newton},
                     {"linear", progress.solve.linear},
                     {"rejected", progress.solve.rejected},
                     {"unconverged", progress.solve.unconverged},
                     {"error", progress.solve.error}};
  return line.dump();
}

std::vector<std::string> unmet_expectations(const std::string& expect_json, const std::vector<std::string>& stats) {
  std::vector<std::string> unmet;
  std::string place;  // in the block, of what is being checked
  try {
    const Json expect = Json::parse(expect_json);
    if (stats.empty()) return {"the run has no statistics"};
    std::vector<Json> lines;
    lines.reserve(stats.size());
    for (const std::string& line : stats) lines.push_back(Json::parse(line));
    for (const auto& [kind, rules] : expect.items()) {
      place = "/" + kind;
      if (kind == "final") {
        check_bounds(rules, lines.back(), unmet);
      } else if (kind == "always") {
        for (const Json& line : lines) check_bounds(rules, line, unmet);
      } else if (kind == "drift") {
        for (const auto& [pointer, rule] : rules.items()) {
          const double scale = norm_at(lines.front(), rule.value("relative_to", pointer), nullptr);
          double largest = 0;
          for (const Json& line : lines) largest = std::max(largest, norm_at(line, pointer, &lines.front()));
          const double drift = scale > 0 ? largest / scale : largest;
          const double limit = rule.at("max").get<double>();
          if (!(drift <= limit))
            unmet.push_back(fmt::format("{} drifts by {:.3g}, expected at most {:.3g}", pointer, drift, limit));
        }
      } else {
        throw SceneError({Finding{"expect", 0, 0, "/" + kind, "unknown kind; use final, always or drift"}});
      }
    }
  } catch (const nlohmann::json::exception& e) {
    const std::string text = e.what();  // "[json.exception.NAME.NUMBER] sentence"
    throw SceneError({Finding{"expect", 0, 0, place, "cannot be checked: " + text.substr(text.find("] ") + 2)}});
  }
  return unmet;
}

}  // namespace tribo
