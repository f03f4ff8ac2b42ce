#include "tribo/matter/rigid/stages/system.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "tribo/engine/host_vectors.h"
#include "tribo/matter/rigid/contact/impacts.h"

namespace tribo::TRIBO_BACKEND {

namespace {

/// Sweeps there and back over all rows, and for places alone, at most.
constexpr int sweeps = 20, shift_sweeps = 10;
/// They end where a sweep changes velocities by less of what gravity does in a step. What rests begins with the
/// impulses that hold it, so that this takes few; and stacks whose impulses were left with errors of 1e-5 of it swayed
/// forever.
constexpr double enough = 1e-9;
/// Where a load is a hundred times what carries it, impulses come to it by small steps, each step of time anew until
/// there are enough of them to begin with. So many sweeps there are while one still changes velocities by more of what
/// gravity does.
constexpr int most_sweeps = 100;
constexpr double nearly = 3e-4;
/// Of rows and points in turns, at most, and the part of what gravity does in a step that they may leave to be done.
constexpr int most_rounds = 4, most_solid_rounds = 8;
constexpr double agreed = 0.01;
/// Likewise of bodies and solids, of the first change.
constexpr double agreed_part = 1e-3;

double radius_of(const RigidSeed& seed, std::int32_t body) {
  return seed.forms[static_cast<std::size_t>(seed.bodies[static_cast<std::size_t>(body)].form)].radius;
}

RigidSkin skin_of(const RigidSeed& seed, const RigidForm& form) {
  RigidSkin skin;
  skin.vertices.assign(seed.vertices.begin() + form.vertices.begin, seed.vertices.begin() + form.vertices.end);
  for (std::int32_t t = form.triangles.begin; t < form.triangles.end; ++t)
    for (int k = 0; k < 3; ++k)
      skin.triangles.push_back(seed.triangles[static_cast<std::size_t>(t)][k] - form.vertices.begin);
  return skin;
}

/// Of a joint that has done nothing yet.
JointReport empty_report(const RigidJoint& joint) {
  JointReport report;
  report.name = joint.name;
  report.has_motor = joint.rule.motor != JointRule<double>::Motor::none;
  std::visit(
      [&]<class One>(const One& one) {
        if constexpr (One::has_coordinate) {
          report.coordinate =
              One::coordinate_turns ? JointReport::Coordinate::angle : JointReport::Coordinate::position;
        } else if constexpr (std::is_same_v<One, SpringJoint<double>>) {
          report.is_spring = true;
          if (one.length > 0) report.coordinate = JointReport::Coordinate::length;
        } else if constexpr (std::is_same_v<One, DistanceJoint<double>>) {
          report.coordinate = JointReport::Coordinate::length;
        }
      },
      joint.joint);
  return report;
}

}  // namespace

template <class Real>
void RigidSystem<Real>::load(const Seeds& seeds) {
  RigidSeed joined;
  const RigidSeed& seed = with_pins(seeds, joined);
  load_bodies(ex_, seed, mesh, state);
  if (empty()) return;
  for (const RigidForm& form : seed.forms) skins_.push_back(skin_of(seed, form));
  rules_ = {rest_cells * model_.dx, 0.25 * model_.dx, model_.gravity};
  for (const RigidBody& body : seed.bodies)
    if (body.drive < 0) moving_mass_ += body.mass;
  load_joints(ex_, seed, mesh, joints, joint_work, state);
  std::vector<std::pair<Index, Index>> apart;
  for (const RigidJoint& joint : seed.joints) {
    reports_.push_back(empty_report(joint));
    for (const std::int32_t i : {joint.a, joint.b})
      if (i >= 0 && joint.rule.motor == JointRule<double>::Motor::speed)
        motor_speed_ = std::max(motor_speed_, std::abs(joint.rule.target) * std::max(1.0, radius_of(seed, i)));
    if (!joint.touch && joint.a >= 0 && joint.b >= 0) apart.push_back(std::minmax(joint.a, joint.b));
  }
  std::sort(apart.begin(), apart.end());
  std::vector<Index> flat;
  for (const auto& [a, b] : apart) {
    flat.push_back(a);
    flat.push_back(b);
  }
  contacts.apart_count = static_cast<Index>(apart.size());
  copy_to_device(ex_, flat.data(), contacts.apart, static_cast<Index>(flat.size()));

  std::vector<Index> number;
  for (std::size_t c = 0; c < model_.colliders.size(); ++c) {
    const ColliderSpec& spec = model_.colliders[c];
    const bool bounded = std::visit([](const auto& s) { return s.bounds().bounded; }, spec.shape);
    if (bounded && !spec.inside) continue;
    open_specs_.push_back(spec);
    number.push_back(static_cast<Index>(c));
  }
  const bool alone = std::all_of(model_.objects.begin(), model_.objects.end(), [](const Model::Object& object) {
    return object.touch == Touch::rigid || object.touch == Touch::nothing;
  });
  load_forces(ex_, mesh, joints, model_.objects.size(), alone, forces);
  open_.load(ex_, open_specs_, {});
  copy_to_device(ex_, number.data(), open_number_, static_cast<Index>(number.size()));
  if (!solids_.empty()) load_beside_solids(seeds.of<SolidSeed>(), seed);
  evaluate();
}

template <class Real>
const RigidSeed& RigidSystem<Real>::with_pins(const Seeds& seeds, RigidSeed& joined) {
  const RigidSeed& seed = seeds.of<RigidSeed>();
  const SolidSeed& solids = seeds.of<SolidSeed>();
  if (pinned_pairs(solids, seed).empty()) return seed;
  joined = seed;
  mesh.part = join_pinned(solids, joined);
  return joined;
}

template <class Real>
void RigidSystem<Real>::load_beside_solids(const SolidSeed& solids, const RigidSeed& seed) {
  load_meeting(ex_, solids, pinned_pairs(solids, seed), model_.dx, solid_meeting);
  load_pins(ex_, solids, seed, solids_.mesh, pins);
  if (pins.empty()) return;
  solids_.carried = true;
  carry_pinned(ex_, mesh, state, pins, solids_.state);
  solids_.evaluate();
}

template <class Real>
void RigidSystem<Real>::each_saved(StateList& list) {
  if (empty()) return;
  list.derived(state.speed);
  list.column("rigid.x", state.x, state.count);
  list.column("rigid.q", state.q, state.count);
  list.column("rigid.v", state.v, state.count);
  list.column("rigid.L", state.L, state.count);
  list.items("rigid.kept", state.kept_count);
  list.column("rigid.kept", state.kept, state.kept_count);
  list.column("rigid.kept_force", state.kept_force, state.kept_count);
  list.column("rigid.kept_at", state.kept_at, state.kept_count);
  list.column("rigid.joint_force", state.joint_force, state.joints);
  list.column("rigid.joint_value", state.joint_value, state.joints);
  if (state.joints == 0) return;
  list.column("rigid.joint_sums", joint_work.sums, state.joints);
  list.number("rigid.joint_time", joint_work.time);
}

template <class Real>
void RigidSystem<Real>::loaded() {
  if (!empty()) evaluate();
}

template <class Real>
void RigidSystem<Real>::evaluate() {
  speeds_ = speeds_of(ex_, mesh, state);
  state.speed = speeds_.speed;
  bad_ = bad_body(ex_, state);
}

template <class Real>
double RigidSystem<Real>::driven_speed(double time, double dt) const {
  double fastest = 0;
  for (const Index i : mesh.driven) {
    const RigidBody& body = mesh.body[static_cast<std::size_t>(i)];
    const RigidForm& form = mesh.form[static_cast<std::size_t>(body.form)];
    const Motion& motion = mesh.drives[static_cast<std::size_t>(body.drive)];
    if (motion.keys().size() > 1)
      fastest = std::max(fastest, motion.max_speed(time, dt, form.radius + std::sqrt(squared_norm(form.center))));
  }
  return fastest;
}

/// No body comes farther than a third of its thickness, so that what it runs into is found on the right side, or than
/// most of a cell where others meet it on a grid; and none turns by more than half a radian.
template <class Real>
void RigidSystem<Real>::bound(const Surroundings& around, StepBound& step) const {
  if (empty()) return;
  const double fall = this->gravity();
  for (const RigidForm& form : mesh.form)
    if (form.thickness > 0 && speeds_.thin > 0)
      step.at_most_way(form.thickness / 3, speeds_.thin * form.thickness, fall, "rigid");
  if (speeds_.spin > 0) step.at_most(0.5 / speeds_.spin, "rigid");
  if (around.particles || !solids_.empty()) step.at_most_way(0.9 * model_.dx, speeds_.speed, fall, "rigid");
  // Contact with particles and solids is explicit, also where their stress is not (see SolidSystem::bound).
  if (model_.time.implicit && (around.particles || !solids_.empty()) && fall > 0)
    step.at_most(std::sqrt(model_.dx / fall) / 32, "contact");
  const double driven = driven_speed(around.time, step.dt);
  if (driven > 0) step.at_most(0.9 * model_.dx / driven, "drive");
}

/// Before anything of the step, and so after everything of the last one: particles have moved, and their bins and the
/// grid are those of the places they have now.
template <class Real>
void RigidSystem<Real>::begin() {
  if (empty()) return;
  unsettled_ = 0;
  for (NodeContacts<Real>& one : nodes) one.found = false;
  if (all_particles_.empty()) return;
  place_bodies(ex_, mesh, Vec3d::zero(), all_particles_.state.time, 0, state, work);
  find_nodes(ex_, mesh, work, friction_with(0), all_particles_.grid, nodes[0]);
  unsettled_ += push_particles(ex_, mesh, friction_with(0), nodes[0], all_particles_.grid, work, particles).unsettled;
  keep_velocities(ex_, mesh, work, state);
}

template <class Real>
ImplicitReport RigidSystem<Real>::predict(const StepTry& attempt) {
  ImplicitReport report;
  report.converged = true;
  if (empty()) return report;
  attempt_ = attempt;
  place_bodies(ex_, mesh, model_.gravity, attempt.around.time, attempt.dt, state, work);
  touched_ = false;
  pull_by_pins(ex_, solids_.mesh, solids_.work, attempt.dt, pins, work, solids_.state);
  return report;
}

/// Twice the energy [J] of a change of velocities by a part of what gravity does in a step.
template <class Real>
double RigidSystem<Real>::small_change(double part) const {
  return squared_norm((part * attempt_.dt) * model_.gravity) * moving_mass_;
}

template <class Real>
RigidStep RigidSystem<Real>::step() {
  return {&mesh,
          &state,
          &joints,
          &colors,
          &contacts,
          &joint_work,
          &work,
          attempt_.dt,
          small_change(enough),
          small_change(nearly)};
}

template <class Real>
void RigidSystem<Real>::pass_on_by_pins() {
  tribo::TRIBO_BACKEND::pass_on_by_pins(ex_, solids_.mesh, pins, work, solids_.state);
}

template <class Real>
void RigidSystem<Real>::touch(const StepTry& attempt) {
  if (touched_) return;
  touched_ = true;
  const auto open = open_.place(ex_, open_specs_, attempt.around.time, attempt.dt, {});
  find_rows(ex_, mesh, rules_, open, open_number_, attempt.dt, state, work, contacts);
  begin_joints(ex_, mesh, joints, model_.gravity, attempt.around.time, attempt.dt, state, work, joint_work);
  color_ties(ex_, mesh, contacts, colors);
  if (mesh.bounces && contacts.rows > 0)
    meet_impacts(ex_, mesh, joints, joint_work, colors, this->gravity(), attempt.dt, work, contacts);
  begin_ties(ex_, colors, contacts, work);
}

/// Rows and points in turns: what stands on a body that lies in sand is held by both. A row knows nothing of the sand,
/// nor points of what stands above, so that each round passes on a part.
template <class Real>
double RigidSystem<Real>::meet(const Phase<Real, 3>& phase, double dt) {
  if (empty()) return 0;
  NodeContacts<Real>& own = nodes[phase.number];
  if (!own.found) find_nodes(ex_, mesh, work, friction_with(phase.number), *phase.particles, own);
  if (own.points.count == 0) return 0;
  touch(attempt_);
  begin_nodes(ex_, work, own);
  const bool rows = contacts.rows > 0 || mesh.joints > 0;
  double speed = 0;
  for (int round = 0; round < most_rounds; ++round) {
    note_velocities(ex_, mesh, work, before_);
    settle();
    read_nodes(ex_, phase.grid, own);
    unsettled_ += solve_points(ex_, work, own.points).unsettled;
    speed = give_to_nodes(ex_, phase.grid, own);
    if ((!rows && own.shared == 0) || changed_velocities(ex_, mesh, work, before_) < agreed * this->gravity() * dt)
      break;
  }
  return speed;
}

template <class Real>
bool RigidSystem<Real>::collide(const StepTry& attempt, const View&) {
  if (empty()) return true;
  pass_on_by_pins();
  touch(attempt);
  settle();
  if (!solids_.empty()) meet_solids(attempt);
  pass_on_by_pins();
  return true;
}

/// Solids have met each other and colliders; what they get here they answer by their forces in the next step. Nobody
/// reads their fields on the contact grid again in this one, and strands take velocities of vertices as they are.
template <class Real>
void RigidSystem<Real>::meet_solids(const StepTry& attempt) {
  find_solid_points(ex_, mesh, solids_.mesh, solids_.state, this->gravity(), attempt.dt, work, solid_meeting);
  if (!solid_meeting.any()) return;
  double little = 0;
  for (int round = 0; round < most_solid_rounds; ++round) {
    const double change = push_solids(ex_, mesh, solids_.mesh, work, solid_meeting, solids_.state);
    if (round == 0) little = std::max(agreed * this->gravity() * attempt.dt, agreed_part * change);
    if (!(change > little)) break;
    settle();
  }
}

template <class Real>
void RigidSystem<Real>::settle() {
  step().answer(ex_, sweeps, most_sweeps);
}

template <class Real>
void RigidSystem<Real>::finish(const StepTry& attempt, StepReport& report) {
  if (empty()) return;
  pass_on_by_pins();
  if (unsettled_ > 0) ++report.solve.unconverged;
  bring_rows_back(ex_, colors, contacts);
  tell_forces(ex_, mesh, contacts, joint_work, work, forces, attempt.tally);
  keep_forces(ex_, contacts, attempt.dt, work, state);
  const SweepsUntil until{shift_sweeps, shift_sweeps, small_change(enough), 0};
  if (mesh.joints == 0) {
    sweep_ties(ex_, colors, SweepMode::shift, until, contacts, joint_work, work);
  } else {
    keep_joint_forces(ex_, mesh, joints, attempt.dt, joint_work, work, state);
    const auto joined = [&](int) {
      shift_joints(ex_, mesh, attempt.dt, work, joint_work);
      return true;
    };
    if (contacts.rows > 0)
      sweep_ties(ex_, colors, SweepMode::shift, until, contacts, joint_work, work, joined);
    else
      joined(0);
  }
  bring_rows_back(ex_, colors, contacts);
  turn_back(ex_, colors, attempt.dt, contacts, work);
  mark_touched(ex_, colors, contacts, work);
  move_bodies(ex_, mesh, model_.gravity, attempt.dt, state, work);
  if (!pins.empty()) {
    carry_pinned(ex_, mesh, state, pins, solids_.state);
    solids_.evaluate();
  }
  place_driven(ex_, mesh, attempt.around.time + attempt.dt, 0, state, work);
  evaluate();
}

/// By what it begins with, by falling over, and by keyframes and motors.
template <class Real>
double RigidSystem<Real>::expected_speed() {
  double fastest = state.speed;
  for (const RigidForm& form : mesh.form) fastest = std::max(fastest, std::sqrt(2 * this->gravity() * form.radius));
  for (const RigidBody& body : mesh.body)
    if (body.drive >= 0)
      fastest = std::max(fastest, mesh.drives[static_cast<std::size_t>(body.drive)].max_speed(
                                      mesh.form[static_cast<std::size_t>(body.form)].radius));
  return std::max(fastest, motor_speed_);
}

template <class Real>
void RigidSystem<Real>::contact_sources(std::vector<ObjectContact>& objects) const {
  for (std::size_t o = 0; o < forces.objects.size(); ++o)
    if (forces.objects[o].source != ContactSource::momentum) objects[o] = forces.objects[o];
}

template <class Real>
void RigidSystem<Real>::report_joints(std::vector<JointReport>& all) {
  if (mesh.joints == 0) return;
  const std::vector<JointSums> sums = joint_sums(ex_, mesh, joint_work);
  const std::vector<JointPresent> present = present_joints(ex_, mesh, joints, state, joint_work);
  for (std::size_t j = 0; j < reports_.size(); ++j) {
    JointReport report = reports_[j];
    report.value = present[j].value;
    report.speed = present[j].speed;
    report.energy = present[j].energy;
    report.force = sums[j].force;
    report.torque = sums[j].torque;
    report.motor = sums[j].motor;
    all.push_back(std::move(report));
  }
}

template <class Real>
void RigidSystem<Real>::clear_joints() {
  if (mesh.joints > 0) clear_joint_sums(ex_, mesh, joint_work);
}

template <class Real>
void RigidSystem<Real>::measure(std::vector<ObjectSums>& objects) {
  if (empty()) return;
  const std::vector<ObjectSums> sums = measure_bodies(ex_, mesh, model_.gravity, state);
  for (std::size_t b = 0; b < sums.size(); ++b) objects[static_cast<std::size_t>(mesh.body[b].object)].add(sums[b]);
}

template <class Real>
void RigidSystem<Real>::show(const EngineOptions&, Frame& frame) const {
  const std::vector<BodyPlace> places = places_of(ex_, mesh, state);
  for (std::size_t b = 0; b < places.size();) {  // bodies of one object are one mesh
    const int object = mesh.body[b].object;
    const RigidSkin& skin = skins_[static_cast<std::size_t>(mesh.body[b].form)];
    std::vector<Real> x, v, rest;
    std::vector<double> placement;
    std::vector<std::int32_t> triangles;
    for (const Vec3d& vertex : skin.vertices)
      for (int k = 0; k < 3; ++k) rest.push_back(static_cast<Real>(vertex[k]));
    for (; b < places.size() && mesh.body[b].object == object; ++b) {
      const auto first = static_cast<std::int32_t>(x.size() / 3);
      for (const Vec3d& vertex : skin.vertices) {
        const Vec3d arm = places[b].rotation * vertex, velocity = places[b].v + cross(places[b].w, arm);
        for (int k = 0; k < 3; ++k) {
          x.push_back(static_cast<Real>(places[b].x[k] + arm[k]));
          v.push_back(static_cast<Real>(velocity[k]));
        }
      }
      for (const std::int32_t corner : skin.triangles) triangles.push_back(first + corner);
      const Quaternion<double> turn = quaternion_of(places[b].rotation);
      for (int k = 0; k < 3; ++k) placement.push_back(places[b].x[k]);
      for (int k = 0; k < 4; ++k) placement.push_back(turn[k]);
    }
    frame.meshes.push_back({this->object(object).name, make_array<Real>("x", 3, x), make_array<Real>("v", 3, v),
                            make_array<std::int32_t>("triangles", 3, triangles), make_array<Real>("rest", 3, rest),
                            make_array<double>("placement", 7, placement)});
  }
}

template <class Real>
void RigidSystem<Real>::count(EngineCounts& counts) const {
  for (const RigidBody& body : mesh.body) counts.bodies += body.object >= 0 ? 1 : 0;
  counts.rows += contacts.rows;
  counts.row_sweeps += row_sweeps(ex_, colors);
  counts.contacts += contacts.rows + nodes[0].points.count + nodes[1].points.count +
                     solid_meeting.vertices.points.count + solid_meeting.others.points.count;
}

template <class Real>
std::string RigidSystem<Real>::complaint() const {
  if (bad_ == no_index) return {};
  const RigidBody& body = mesh.body[static_cast<std::size_t>(bad_)];
  const std::string name = body.object >= 0 ? "object '" + this->object(body.object).name + "'" : "a collider";
  return "body " + std::to_string(bad_) + " of " + name +
         " is no longer finite; likely cause: forces on it that are far too large for its mass; check masses, joints, "
         "motors and the stiffness of springs";
}

template <class Real>
std::size_t RigidSystem<Real>::bytes() const {
  std::size_t sum = this->saved_bytes() + work.bytes() + contacts.bytes() + joint_work.bytes() + colors.bytes() +
                    nodes[0].bytes() + nodes[1].bytes() + particles.bytes() + before_.bytes() + mesh.shapes.bytes() +
                    joints.bytes() + forces.bytes() + solid_meeting.bytes() + pins.bytes() + open_.kept_bytes() +
                    mesh.inertia.bytes() + mesh.inverse_inertia.bytes() + mesh.low.bytes() + mesh.high.bytes() +
                    mesh.sample_x.bytes() + mesh.sample_n.bytes();
  for (const Array<double>* a :
       {&mesh.inverse_mass, &mesh.mass, &mesh.thickness, &mesh.restitution, &mesh.radius, &mesh.sample_radius,
        &mesh.sample_ring, &mesh.sample_facing, &mesh.sample_extent, &mesh.sample_ball, &mesh.friction, &mesh.collider_friction, &mesh.particle_friction,
        &mesh.strand_friction, &mesh.solid_friction})
    sum += a->bytes();
  for (const Array<Index>* a : {&mesh.form_of, &mesh.group, &mesh.sample_begin, &mesh.sample_end, &mesh.round,
                                &mesh.sample_feeler, &open_number_})
    sum += a->bytes();
  return sum;
}

template class RigidSystem<float>;
template class RigidSystem<double>;

}  // namespace tribo::TRIBO_BACKEND
