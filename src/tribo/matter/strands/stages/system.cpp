#include "tribo/matter/strands/stages/system.h"

#include <algorithm>
#include <cmath>

#include "tribo/engine/host_vectors.h"
#include "tribo/exec/copy_field.h"
#include "tribo/grid/confine.h"
#include "tribo/matter/strands/stages/strand_particles.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// How often a step in which strands would pass through each other is tried again with half its length.
constexpr int most_refusals = 5;

/// Pushes of roots on rigid bodies, and sweeps over what holds these after each.
constexpr int rigid_rounds = 3, rigid_sweeps = 6;

}  // namespace

template <class Real>
void RodSystem<Real>::load_strands(const RodSeed& seed) {
  if (seed.x.empty()) return;
  for (int k = 0; k < 3; ++k) constants.gravity[k] = static_cast<Real>(model_.gravity[k]);
  constants.scheme = seed.scheme;
  constants.drives = seed.drives;
  static_cast<StrandContactSpec&>(contact_rules) = seed.contact;
  lost_ = lost_cells * model_.dx;
  drive_radius_.assign(seed.drives.size(), 0);
  for (std::size_t i = 0; i < seed.x.size(); ++i) {
    if (seed.length[i] > 0 && seed.stretch[i] > 0 && i + 1 < seed.x.size())
      wave_speed_ = std::max(wave_speed_, std::sqrt(seed.stretch[i] * seed.length[i] / seed.mass[i]));
    if (seed.drive[i] < 0) continue;
    const auto d = static_cast<std::size_t>(seed.drive[i]);
    const double distance = std::sqrt(squared_norm(seed.x[i] - seed.drives[d].start.at));
    drive_radius_[d] = std::max(drive_radius_[d], distance);
  }
  for (const RodBody& body : seed.bodies) {
    driven_.push_back(body.drag > 0 ||
                      std::any_of(seed.drive.begin() + body.vertices.begin, seed.drive.begin() + body.vertices.end,
                                  [](std::int32_t drive) { return drive >= 0; }));
    std::vector<std::int32_t>& sizes = sizes_.emplace_back();
    for (auto s = static_cast<std::size_t>(body.strands.begin); s < static_cast<std::size_t>(body.strands.end); ++s)
      sizes.push_back(seed.start[s + 1] - seed.start[s]);
    std::vector<Real>& radius = radius_.emplace_back();
    for (auto i = static_cast<std::size_t>(body.vertices.begin); i < static_cast<std::size_t>(body.vertices.end); ++i)
      radius.push_back(static_cast<Real>(seed.radius[i]));
  }
  double shortest = 1e300;
  for (std::size_t s = 0; s + 1 < seed.start.size(); ++s)
    for (auto i = static_cast<std::size_t>(seed.start[s]); i + 1 < static_cast<std::size_t>(seed.start[s + 1]); ++i)
      shortest = std::min(shortest, seed.length[i]);
  load_rods(ex_, seed, mesh, state);
  if (has_skin()) clear_passed(ex_, mesh, work);
  find_own_strands(seed);
  bundle.load(ex_, model_.dx, seed);
  constexpr double segments = 0.25, cells = 0.25;
  way_ =
      std::min(segments * shortest, (bundle.empty() ? model_.time.cfl : std::min(model_.time.cfl, cells)) * model_.dx);
  volume_rules.dx = model_.dx;
  volume_rules.incompressibility = seed.incompressibility;
  volume = measure_volume(ex_, volume_rules, mesh, state, volume_work);
  evaluate();
}

template <class Real>
void RodSystem<Real>::find_own_strands(const RodSeed& seed) {
  // Bodies and strands rest half a cell apart: what stands at ten degrees is as far above its skin three cells on.
  const double reach = 3 * model_.dx;
  const std::vector<SolidBody>& bodies = bodies_.mesh.body;
  std::vector<Index> vertex, body, own_body(seed.start.size() - 1, -1), own_rigid = own_body, triangle_body;
  for (std::size_t b = 0; b < bodies.size(); ++b)
    triangle_body.resize(static_cast<std::size_t>(bodies[b].triangles.end), static_cast<Index>(b));
  std::vector<std::size_t> root;  // of skinned drives, by drive
  std::size_t roots = 0;
  for (const RodDrive& drive : seed.drives) root.push_back(drive.skinned ? roots++ : seed.skin.size());
  for (std::size_t s = 0; s + 1 < seed.start.size(); ++s) {
    const auto first = static_cast<std::size_t>(seed.start[s]), end = static_cast<std::size_t>(seed.start[s + 1]);
    const std::int32_t drive = seed.drive[first];
    if (drive < 0 || root[static_cast<std::size_t>(drive)] >= seed.skin.size()) continue;
    const SkinRoot& on = seed.skin[root[static_cast<std::size_t>(drive)]];
    if (on.body >= 0) {
      own_rigid[s] = on.body;
      continue;
    }
    const std::int32_t corner = on.corner[0];
    const auto own =
        std::find_if(bodies.begin(), bodies.end(), [&](const SolidBody& one) { return corner < one.vertices.end; });
    own_body[s] = static_cast<Index>(own - bodies.begin());
    double along = 0;
    for (std::size_t i = first; i < end && along <= reach; along += seed.length[i++]) {
      vertex.push_back(static_cast<Index>(i));
      body.push_back(own_body[s]);
    }
  }
  copy_to_device(ex_, triangle_body.data(), touched_bodies.triangle_body, static_cast<Index>(triangle_body.size()));
  copy_to_device(ex_, own_body.data(), touched_bodies.own_body, mesh.strands);
  copy_to_device(ex_, seed.rooted.data(), touched_bodies.own_count, mesh.strands);
  copy_to_device(ex_, own_rigid.data(), touched_rigids.own_body, mesh.strands);
  copy_to_device(ex_, seed.rooted.data(), touched_rigids.own_count, mesh.strands);
  own_strands.count = static_cast<Index>(vertex.size());
  own_strands.x = &state.x;
  copy_to_device(ex_, vertex.data(), own_strands.vertex, own_strands.count);
  copy_to_device(ex_, body.data(), own_strands.body, own_strands.count);
}

template <class Real>
double RodSystem<Real>::driven_speed(double time, double dt) const {
  double fastest = 0;
  for (std::size_t d = 0; d < constants.drives.size(); ++d)
    if (constants.drives[d].motion.keys().size() > 1)
      fastest = std::max(fastest, constants.drives[d].motion.max_speed(time, dt, drive_radius_[d]));
  return fastest;
}

template <class Real>
double RodSystem<Real>::driven_speed() const {
  double fastest = 0;
  for (std::size_t d = 0; d < constants.drives.size(); ++d)
    fastest = std::max(fastest, constants.drives[d].motion.max_speed(drive_radius_[d]));
  return fastest;
}

template <class Real>
void RodSystem<Real>::each_saved(StateList& list) {
  if (empty()) return;
  list.derived(state.stable_dt);
  list.derived(state.speed);
  double steps[3] = {state.pace, state.calm, state.closing};
  list.numbers("rod.steps", steps);
  state.pace = steps[0];
  state.calm = steps[1];
  state.closing = steps[2];
  list.columns(state, state.count);
  PressedPairs<Real>& pressed = state.pressed;
  list.items("rod.pressed", pressed.count);
  list.column("rod.pressed", pressed.segments, pressed.count);
  list.column("rod.pressed_force", pressed.force, pressed.count);
  if (!bundle.empty()) bundle.each_saved(list);
}

template <class Real>
void RodSystem<Real>::check(const StateLoader& loader) const {
  if (!bundle.empty()) bundle.check(loader);
}

template <class Real>
void RodSystem<Real>::loaded() {
  if (empty()) return;
  if (!bundle.empty()) bundle.loaded(ex_);
  evaluate();
}

template <class Real>
void RodSystem<Real>::bound(const Surroundings& around, StepBound& step) const {
  if (empty()) return;
  // Nothing but what is near can tell how fast strands are. Of those that fall or go with a head, one beside the
  // other, only what else they may meet on a grid wants to know, and for that a cell in a step is few enough.
  constexpr double turn = 0.25, cells = 0.9;
  if (state.turning > 0) step.at_most(turn / state.turning, "turn");
  if (state.closing > 0) step.at_most(way_ / state.closing, "contact");
  if (!bundle.empty()) step.at_most(bundle.stable_dt(), "wave");
  const double way = cells * model_.dx;
  if (!alone(around)) step.at_most_way(way, state.speed, this->gravity(), "cfl");
  if (constants.scheme == RodScheme::explicit_euler && state.stable_dt > 0) step.at_most(state.stable_dt, "elastic");
  const double driven = driven_speed(around.time, step.dt);
  if (driven > 0) step.at_most(way / driven, "drive");
  // No pair of strands makes all others wait: beyond this, what is not resolved passes and is counted.
  constexpr double shortest_part = 0.125;
  step.least_for_strands = shortest_part * step.dt;
  step.at_most(std::max(state.calm, step.least_for_strands), "strands");
}

/// dt_max by quarter powers of two, and as before where that is four fifths of what is allowed. Stiff modes of the
/// lossless scheme of rods take energy from every change of dt.
template <class Real>
double RodSystem<Real>::paced(double dt) const {
  if (empty()) return dt;
  if (state.pace <= dt && dt < 1.25 * state.pace) return state.pace;
  const double longest = model_.time.dt_max;
  return longest * std::exp2(0.25 * std::floor(4 * std::log2(dt / longest)));
}

template <class Real>
void RodSystem<Real>::begin() {
  if (empty()) return;
  begin_rods(ex_, state, work);
  if (!bundle.empty()) bundle.begin(ex_, state);
}

template <class Real>
SkinBodies<Real> RodSystem<Real>::skin() {
  return {bodies_.mesh, bodies_.state, rigids_.empty() ? RigidStep{} : rigids_.step()};
}

template <class Real>
double RodSystem<Real>::push_skin(double dt) {
  return tribo::TRIBO_BACKEND::push_skin(ex_, mesh, dt, skin(), state, work, skin_work_);
}

/// Joints and contacts of rigid bodies have the last word: roots are brought back to them in the next step.
template <class Real>
void RodSystem<Real>::settle_skin(double dt) {
  if (!has_skin()) return;
  const int rounds = mesh.has_rigid_skin ? rigid_rounds : 1;
  for (int k = 0; k < rounds; ++k) {
    push_skin(dt);
    if (mesh.has_rigid_skin) rigids_.step().answer(ex_, rigid_sweeps, rigid_sweeps);
  }
}

/// v_lag (Han 2019, eq. 30). Returns the largest speed, or, of hair that is alone, change of velocity. Roots on a skin
/// go with its meshes, whose velocities are those of the step, and strands pull at these.
template <class Real>
ImplicitReport RodSystem<Real>::predict(const StepTry& attempt) {
  ImplicitReport report{.converged = true};
  if (empty()) return report;
  if (mesh.skin.size() > 0) place_skin_roots(ex_, mesh, skin(), attempt.dt, work, skin_work_);
  rod_step(ex_, constants, mesh, attempt.around.time, attempt.dt, state, work);
  pushed_ = true;
  if (has_skin()) {
    pass_on_step(ex_, constants, mesh, attempt.dt, skin(), state, work);
    report.speed = push_skin(attempt.dt);
    let_roots_yield(ex_, mesh, skin(), state, work);
  }
  report.speed = std::fmax(report.speed, rod_speed(ex_, state, alone(attempt.around) ? &work.v_start : nullptr));
  return report;
}

/// Strands in bulk on their grid.
template <class Real>
double RodSystem<Real>::scatter(const StepTry& attempt) {
  if (bundle.empty()) return 0;
  const double speed = bundle.scatter(ex_, state, attempt.dt);
  phase_.grid = bundle.nodes();
  met_particles_ = false;
  return alone(attempt.around) ? 0 : speed;
}

template <class Real>
double RodSystem<Real>::couple(const Phase<Real, 3>& earlier) {
  met_particles_ = true;
  return couple_particles(ex_, phase_.grid, earlier.grid, bundle.friction(), bundle.coupling);
}

template <class Real>
double RodSystem<Real>::gather(const StepTry& attempt) {
  if (bundle.empty()) return 0;
  bundle.blend(ex_, mesh, attempt.dt, met_particles_, state, work);
  if (!has_skin()) return 0;
  const double speed = push_skin(attempt.dt);
  bodies_.pushed();
  return speed;
}

/// With each other and with colliders. The step should be shorter where what touches came from too far, or strands
/// would still pass through each other, unless it is the last try for these.
template <class Real>
bool RodSystem<Real>::collide(const StepTry& attempt, const View& colliders) {
  if (empty()) return true;
  const double dt = attempt.dt;
  // What rigid bodies rest on, and what joins them, was not known before.
  if (mesh.has_rigid_skin) settle_skin(dt);
  volume_step(ex_, volume_rules, mesh, volume, colliders, dt, state, work, volume_work);
  StrandMeets<Real> bodies;
  if (bodies_.mesh.triangles > 0) {
    touched_bodies.mesh = &bodies_.mesh;
    touched_bodies.state = &bodies_.state;
    list_near_bodies(ex_, mesh, state, dt, touched_bodies);
    bodies.solids = &touched_bodies;
  }
  if (!rigids_.empty()) {
    touched_rigids.bodies = rigids_.step();
    list_near_rigids(ex_, mesh, state, dt, touched_rigids);
    bodies.rigids = &touched_rigids;
  }
  ObstacleHolder<Real> holder(ex_, mesh, colliders, lost_, dt, state, work, obstacles, bodies);
  touching_ = collide_strands(ex_, contact_rules, mesh, dt, state, work, collisions, &holder);
  settle_skin(dt);
  contacts_ = holder.held();
  tangled_ = tangled_ || !touching_.clean;
  closing_ = std::max(touching_.closing, holder.closing());
  const bool last = attempt.refused >= most_refusals || dt <= attempt.least_for_strands;
  // Steps follow what touched in those before, and may be longer than that allows by half.
  return closing_ * dt <= 1.5 * way_ && (touching_.clean || last);
}

template <class Real>
void RodSystem<Real>::undo() {
  bundle.undo();
  if (pushed_) copy_field(ex_, "rods", work.v_start, state.count, state.v);
  pushed_ = false;
}

template <class Real>
void RodSystem<Real>::finish(const StepTry& attempt, StepReport& report) {
  if (empty()) return;
  report.strands.add({touching_.pairs, touching_.missed_grid.pairs, touching_.missed_pairs.pairs, touching_.tied,
                      touching_.missed.pairs, touching_.missed.odd, touching_.rounds, 0,
                      touching_.missed.pairs > 0 ? passage(attempt.around.time) : StrandPassage{}});
  pushed_ = false;
  // Also of strands with a knot: begun from nothing, those lost their thickness, and a tangle was tied in every step.
  keep_pressed(ex_, mesh, attempt.dt, collisions.work, state.pressed);
  move_rods(ex_, mesh, attempt.dt, state, work);
  constexpr double forgotten = 0.9;
  state.closing = std::max(closing_, forgotten * state.closing);
  evaluate();
  if (!bundle.empty()) bundle.accept(state.speed * attempt.dt);
  // What fails costs as much as twenty steps: after it come shorter ones, for a while.
  constexpr double growth = 1.02, never = 1e3;
  state.calm = tangled_ ? attempt.dt : std::fmin(growth * state.calm, never);
  tangled_ = false;
}

template <class Real>
StrandPassage RodSystem<Real>::passage(double time) const {
  StrandPassage passed{.time = time};
  Crossing<Real> crossing;
  copy_to_host(ex_, collisions.crossings, &crossing, 1);
  const Index segments[2] = {crossing.pair.first, crossing.pair.second};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto body = std::find_if(mesh.body.begin(), mesh.body.end(), [&](const RodBody& one) {
      return segments[side] >= one.vertices.begin && segments[side] < one.vertices.end;
    });
    Index strand = 0;
    copy_to_host(ex_, mesh.vertex_strand, &strand, 1, segments[side]);
    passed.object[side] = body->object;
    passed.strand[side] = strand - body->strands.begin;
  }
  for (int k = 0; k < 3; ++k) {
    Real x = 0;
    copy_to_host(ex_, state.x.c[k], &x, 1, segments[0]);
    passed.at[static_cast<std::size_t>(k)] = static_cast<double>(x);
  }
  return passed;
}

template <class Real>
void RodSystem<Real>::contact_sources(std::vector<ObjectContact>& objects) const {
  for (std::size_t b = 0; b < mesh.body.size(); ++b)
    if (driven_[b]) objects[static_cast<std::size_t>(mesh.body[b].object)].source = ContactSource::none;
}

template <class Real>
double RodSystem<Real>::expected_speed() {
  return std::max({state.speed, wave_speed_, driven_speed(), bundle.wave_speed()});
}

template <class Real>
void RodSystem<Real>::measure(std::vector<ObjectSums>& objects) {
  if (empty()) return;
  const std::vector<ObjectSums> of_bodies = measure_rods(ex_, constants, mesh, state);
  for (std::size_t b = 0; b < of_bodies.size(); ++b)
    objects[static_cast<std::size_t>(mesh.body[b].object)].add(of_bodies[b]);
}

template <class Real>
void RodSystem<Real>::show(const EngineOptions&, Frame& frame) const {
  if (empty()) return;
  const HostVectors<Real> x(ex_, state.x, mesh.vertices), v(ex_, state.v, mesh.vertices);
  for (std::size_t b = 0; b < mesh.body.size(); ++b) {
    const RodBody& body = mesh.body[b];
    frame.curves.push_back({this->object(body.object).name, x.column("x", body.vertices), v.column("v", body.vertices),
                            make_array<std::int32_t>("sizes", 1, sizes_[b]),
                            make_array<Real>("radius", 1, radius_[b])});
  }
}

template <class Real>
void RodSystem<Real>::count(EngineCounts& counts) const {
  counts.strands += mesh.strands;
  counts.segments += std::int64_t{mesh.vertices} - mesh.strands;
  counts.contacts += std::int64_t{contacts_} + touching_.pairs;
}

template <class Real>
std::string RodSystem<Real>::complaint() const {
  if (bad_ == no_index) return {};
  Index strand = 0, first = 0;
  copy_to_host(ex_, mesh.vertex_strand, &strand, 1, bad_);
  copy_to_host(ex_, mesh.start, &first, 1, strand);
  const int object = object_of(bad_);
  for (const RodBody& body : mesh.body)
    if (body.object == object) strand -= body.strands.begin;
  return "vertex " + std::to_string(bad_ - first) + " of strand " + std::to_string(strand) + " of object '" +
         this->object(object).name +
         "' is no longer finite; likely cause: the time step is too long for strands that fold or collapse under this "
         "load; lower time.dt_max, raise bend_damping or stretch_damping, or use longer segments";
}

template <class Real>
std::size_t RodSystem<Real>::bytes() const {
  std::size_t sum = this->saved_bytes() + work.bytes() + volume.bytes() + volume_work.bytes() + collisions.bytes() +
                    bundle.scratch_bytes() + skin_work_.bytes() + mesh.skin_vertex.bytes() + mesh.skin_corner.bytes() +
                    mesh.skin_strand.bytes() + mesh.skin_entry_start.bytes() + mesh.skin_entry.bytes() +
                    mesh.skin_run_begin.bytes() + mesh.skin_run_start.bytes() + own_strands.vertex.bytes() +
                    own_strands.body.bytes() + touched_bodies.bytes() + touched_rigids.bytes() + obstacles.bytes() +
                    mesh.group.bytes() + mesh.skin.bytes() + mesh.anchor.bytes() + mesh.anchor_director.bytes();
  for (const Array<Real>* a : {&mesh.row, &mesh.mass, &mesh.inverse_mass, &mesh.radius, &mesh.length, &mesh.twist_rate,
                               &mesh.rest_twist, &mesh.friction, &mesh.collider_friction})
    sum += a->bytes();
  for (const Array<Index>* a : {&mesh.start, &mesh.buried, &mesh.vertex_strand, &mesh.slot, &mesh.strand_body,
                                &mesh.driven_vertex, &mesh.yields, &mesh.drive, &mesh.holds, &mesh.loose})
    sum += a->bytes();
  return sum;
}

template class RodSystem<float>;
template class RodSystem<double>;

}  // namespace tribo::TRIBO_BACKEND
