#include "tribo/matter/rigid/stages/system.h"

#include <algorithm>
#include <cmath>

#include "tribo/engine/host_vectors.h"

namespace tribo::TRIBO_BACKEND {

namespace {

/// Sweeps over all rows (experiments_rigid, recommended default 4), and for places alone.
constexpr int sweeps = 20, shift_sweeps = 10;

double radius_of(const RigidSeed& seed, std::int32_t body) {
  return seed.forms[static_cast<std::size_t>(seed.bodies[static_cast<std::size_t>(body)].form)].radius;
}

}  // namespace

template <class Real>
void RigidSystem<Real>::load(const Seeds& seeds) {
  const RigidSeed& seed = seeds.of<RigidSeed>();
  load_bodies(ex_, seed, mesh, state);
  if (empty()) return;
  rules_ = {rest_cells * model_.dx, 0.25 * model_.dx, this->gravity()};
  mesh.joints = state.joints = static_cast<Index>(seed.joints.size());
  joints.load(ex_, seed);
  std::vector<std::pair<Index, Index>> apart;
  for (const RigidJoint& joint : seed.joints) {
    ties_.push_back({});
    ties_.back().a = joint.a;
    ties_.back().b = joint.b;
    mesh.joint_names.push_back(joint.name);
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
  std::vector<double> none(seed.joints.size(), 0);
  for (auto& column : state.joint_force.c) copy_to_device(ex_, none.data(), column, state.joints);
  copy_to_device(ex_, none.data(), state.joint_value.c[0], state.joints);

  std::vector<Index> number;
  for (std::size_t c = 0; c < model_.colliders.size(); ++c) {
    const ColliderSpec& spec = model_.colliders[c];
    const bool bounded = std::visit([](const auto& s) { return s.bounds().bounded; }, spec.shape);
    if (bounded && !spec.inside) continue;
    open_specs_.push_back(spec);
    number.push_back(static_cast<Index>(c));
  }
  load_forces(ex_, mesh, ties_, model_.objects.size(), forces);
  open_.load(ex_, open_specs_, {});
  copy_to_device(ex_, number.data(), open_number_, static_cast<Index>(number.size()));
  evaluate();
}

template <class Real>
void RigidSystem<Real>::each_saved(StateList& list) {
  if (empty()) return;
  list.derived(state.speed);
  list.column("rigid.x", state.x, state.count);
  list.column("rigid.q", state.q, state.count);
  list.column("rigid.v", state.v, state.count);
  list.column("rigid.L", state.L, state.count);
  list.items("rigid.kept.0", state.kept_count);
  list.column("rigid.kept", state.kept, state.kept_count);
  list.column("rigid.kept_force", state.kept_force, state.kept_count);
  list.column("rigid.joint_force", state.joint_force, state.joints);
  list.column("rigid.joint_value", state.joint_value, state.joints);
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
  if (around.particles || around.bodies) step.at_most_way(0.9 * model_.dx, speeds_.speed, fall, "rigid");
  const double driven = driven_speed(around.time, step.dt);
  if (driven > 0) step.at_most(0.9 * model_.dx / driven, "drive");
}

template <class Real>
ImplicitReport RigidSystem<Real>::predict(const StepTry& attempt) {
  ImplicitReport report;
  report.converged = true;
  if (empty()) return report;
  place_bodies(ex_, mesh, model_.gravity, attempt.around.time, attempt.dt, state, work);
  keep_free(ex_, mesh, work, forces);
  touched_ = false;
  return report;
}

template <class Real>
void RigidSystem<Real>::touch(const StepTry& attempt) {
  if (touched_) return;
  touched_ = true;
  const auto open = open_.place(ex_, open_specs_, attempt.around.time, attempt.dt, {});
  find_rows(ex_, mesh, rules_, open, open_number_, attempt.dt, state, work, contacts);
  make_joint_rows(ex_, mesh, joints, attempt.dt, state, work, joint_work);
  color_ties(ex_, mesh, ties_, contacts, work, colors);
  sweep_ties(ex_, colors, SweepMode::begin, 1, contacts, joint_work, work);
}

template <class Real>
bool RigidSystem<Real>::collide(const StepTry& attempt, const View&) {
  if (empty()) return true;
  touch(attempt);
  sweep_ties(ex_, colors, SweepMode::solve, sweeps, contacts, joint_work, work);
  return true;
}

template <class Real>
void RigidSystem<Real>::finish(const StepTry& attempt, StepReport&) {
  if (empty()) return;
  sweep_ties(ex_, colors, SweepMode::shift, shift_sweeps, contacts, joint_work, work);
  tell_forces(ex_, mesh, contacts, joints, joint_work, work, forces, attempt.tally);
  keep_forces(ex_, contacts, attempt.dt, state);
  keep_joint_forces(ex_, mesh, attempt.dt, joint_work, state);
  move_bodies(ex_, mesh, model_.gravity, attempt.dt, state, work);
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
void RigidSystem<Real>::measure(std::vector<ObjectSums>& objects) {
  if (empty()) return;
  const std::vector<ObjectSums> sums = measure_bodies(ex_, mesh, model_.gravity, state);
  for (std::size_t b = 0; b < sums.size(); ++b) objects[static_cast<std::size_t>(mesh.body[b].object)].add(sums[b]);
}

template <class Real>
void RigidSystem<Real>::show(const EngineOptions&, Frame&) const {}

template <class Real>
void RigidSystem<Real>::count(EngineCounts& counts) const {
  counts.contacts += contacts.rows;
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
                    mesh.shapes.bytes() + forces.bytes() + open_.kept_bytes() + mesh.inertia.bytes() + mesh.inverse_inertia.bytes() +
                    mesh.low.bytes() + mesh.high.bytes() + mesh.sample_x.bytes() + mesh.sample_n.bytes();
  for (const Array<double>* a :
       {&mesh.inverse_mass, &mesh.mass, &mesh.thickness, &mesh.restitution, &mesh.radius, &mesh.sample_radius,
        &mesh.sample_ring, &mesh.friction, &mesh.collider_friction, &mesh.particle_friction, &mesh.strand_friction,
        &mesh.solid_friction})
    sum += a->bytes();
  for (const Array<Index>* a : {&mesh.form_of, &mesh.group, &mesh.sample_begin, &mesh.sample_end, &mesh.round,
                                &mesh.sample_feeler, &open_number_})
    sum += a->bytes();
  return sum;
}

template class RigidSystem<float>;
template class RigidSystem<double>;

}  // namespace tribo::TRIBO_BACKEND
