#include "tribo/engine/rod_system.h"

#include <algorithm>
#include <cmath>

#include "tribo/engine/host_vectors.h"
#include "tribo/stages/confine.h"
#include "tribo/stages/rod/strand_particles.h"

namespace tribo::TRIBO_BACKEND {

template <class Real>
void RodSystem<Real>::load(Exec& ex, const Model& model, const RodSeed& seed) {
  if (seed.x.empty()) return;
  for (int k = 0; k < 3; ++k) constants.gravity[k] = static_cast<Real>(model.gravity[k]);
  constants.scheme = model.rod_scheme;
  constants.drives = seed.drives;
  static_cast<StrandContactSpec&>(contact_rules) = model.strand_contact;
  lost_ = lost_cells * model.dx;
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
  load_rods(ex, seed, mesh, state);
  bundle.load(ex, model.dx, seed);
  constexpr double segments = 0.25, cells = 0.25;
  way_ = std::min(segments * shortest, (bundle.empty() ? model.time.cfl : std::min(model.time.cfl, cells)) * model.dx);
  volume_rules.dx = model.dx;
  volume_rules.incompressibility = model.incompressibility;
  volume = measure_volume(ex, volume_rules, mesh, state, volume_work);
  evaluate(ex);
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
double RodSystem<Real>::push(Exec& ex, const SolidState<Real>& skin, double time, double dt, bool alone) {
  if (mesh.skin.size() > 0) place_skin_roots(ex, mesh, skin, dt, work);
  rod_step(ex, constants, mesh, time, dt, state, work);
  pushed_ = true;
  return rod_speed(ex, state, alone ? &work.v_start : nullptr);
}

template <class Real>
double RodSystem<Real>::meet(Exec& ex, const GridNodes<Real, 3>* particles, const GridAction<Real, 3>& bodies,
                             double dt) {
  double speed = bundle.scatter(ex, state, dt);
  if (particles != nullptr)
    speed = std::fmax(speed, couple_particles(ex, bundle.nodes(), *particles, bundle.friction(), bundle.coupling));
  if (bodies) speed = std::fmax(speed, bodies(bundle.nodes()));
  bundle.blend(ex, mesh, dt, particles != nullptr, state, work);
  return speed;
}

template <class Real>
bool RodSystem<Real>::collide(Exec& ex, const typename Colliders<Real, 3>::View& colliders, double dt, bool last) {
  volume_step(ex, volume_rules, mesh, volume, colliders, dt, state, work, volume_work);
  ObstacleHolder<Real> holder(ex, mesh, colliders, lost_, dt, state, work, obstacles);
  touching = collide_strands(ex, contact_rules, mesh, dt, state, work, collisions, &holder);
  contacts = holder.held();
  tangled = tangled || !touching.clean;
  closing_ = std::max(touching.closing, holder.closing());
  // Steps follow what touched in those before, and may be longer than that allows by half. Below `least_dt`, what
  // cannot be resolved passes.
  return closing_ * dt <= 1.5 * way_ && (touching.clean || last || dt <= least_dt);
}

template <class Real>
void RodSystem<Real>::undo(Exec& ex) {
  if (!pushed_) return;
  pushed_ = false;
  bundle.undo();
  copy_field(ex, work.v_start, state.count, state.v);
}

template <class Real>
void RodSystem<Real>::finish(Exec& ex, double dt) {
  pushed_ = false;
  // Also of strands with a knot: begun from nothing, those lost their thickness, and a tangle was tied in every step.
  keep_pressed(ex, mesh, dt, collisions.work, state.pressed);
  move_rods(ex, mesh, dt, state, work);
  constexpr double forgotten = 0.9;
  state.closing = std::max(closing_, forgotten * state.closing);
  evaluate(ex);
  if (!bundle.empty()) bundle.accept(state.speed * dt);
}

template <class Real>
StrandPassage RodSystem<Real>::passage(Exec& ex, double time) const {
  StrandPassage passed{.time = time};
  Crossing<Real> crossing;
  copy_to_host(ex, collisions.crossings, &crossing, 1);
  const Index segments[2] = {crossing.pair.first, crossing.pair.second};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto body = std::find_if(mesh.body.begin(), mesh.body.end(), [&](const RodBody& one) {
      return segments[side] >= one.vertices.begin && segments[side] < one.vertices.end;
    });
    Index strand = 0;
    copy_to_host(ex, mesh.vertex_strand, &strand, 1, segments[side]);
    passed.object[side] = body->object;
    passed.strand[side] = strand - body->strands.begin;
  }
  for (int k = 0; k < 3; ++k) {
    Real x = 0;
    copy_to_host(ex, state.x.c[k], &x, 1, segments[0]);
    passed.at[static_cast<std::size_t>(k)] = static_cast<double>(x);
  }
  return passed;
}

template <class Real>
void RodSystem<Real>::show(Exec& ex, const Model& model, Frame& frame) const {
  const HostVectors<Real> x(ex, state.x, mesh.vertices), v(ex, state.v, mesh.vertices);
  for (std::size_t b = 0; b < mesh.body.size(); ++b) {
    const RodBody& body = mesh.body[b];
    frame.curves.push_back({model.objects[static_cast<std::size_t>(body.object)].name, x.column("x", body.vertices),
                            v.column("v", body.vertices), make_array<std::int32_t>("sizes", 1, sizes_[b]),
                            make_array<Real>("radius", 1, radius_[b])});
  }
}

template <class Real>
std::size_t RodSystem<Real>::bytes() const {
  std::size_t sum = work.bytes() + volume.bytes() + volume_work.bytes() + collisions.bytes() + bundle.bytes() +
                    obstacles.bytes() + state.x.bytes() + state.x_tail.bytes() + state.v.bytes() +
                    state.director.bytes() + state.twist.bytes() + state.pressed.segments.bytes() +
                    state.pressed.force.bytes() + mesh.group.bytes() + mesh.skin.bytes() +
                    mesh.anchor.bytes() + mesh.anchor_director.bytes();
  for (const Array<Real>* a : {&mesh.row, &mesh.mass, &mesh.inverse_mass, &mesh.radius, &mesh.length, &mesh.twist_rate,
                               &mesh.rest_twist, &mesh.friction, &mesh.collider_friction})
    sum += a->bytes();
  for (const Array<Index>* a : {&mesh.start, &mesh.buried, &mesh.vertex_strand, &mesh.slot, &mesh.strand_body,
                                &mesh.driven_vertex, &mesh.drive, &mesh.holds, &mesh.loose})
    sum += a->bytes();
  return sum;
}

template class RodSystem<float>;
template class RodSystem<double>;

}  // namespace tribo::TRIBO_BACKEND
