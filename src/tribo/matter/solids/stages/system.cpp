#include "tribo/matter/solids/stages/system.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tribo/core/cast_numbers.h"
#include "tribo/engine/host_vectors.h"
#include "tribo/exec/copy_field.h"
#include "tribo/models/all.h"
#include "tribo/models/elastic/invertible.h"

namespace tribo::TRIBO_BACKEND {

namespace {

/// Not in load_solids: g++ 12 leaves out some of the roundings there, by what else is in it, and no coefficient should
/// change the bytes of scenes without.
template <class Real>
void load_friction(Exec& ex, const SolidSeed& seed, SolidMesh<Real>& mesh) {
  const std::vector<Real> with_colliders(seed.collider_friction.begin(), seed.collider_friction.end());
  std::vector<Real> with_strands;
  for (const SolidBody& body : seed.bodies) with_strands.push_back(static_cast<Real>(body.strand_friction));
  copy_to_device(ex, with_colliders.data(), mesh.collider_friction, static_cast<Index>(with_colliders.size()));
  copy_to_device(ex, with_strands.data(), mesh.phase_friction[1], static_cast<Index>(with_strands.size()));
}

/// What contact has given a vertex: on those that are driven it gives to what drives them.
template <class Real>
struct TellChange {
  const Index* object;
  Index first;  ///< entry of objects
  const Real *mass, *inverse_mass;
  FieldView<const Real, 3> x, v, before;
  TRIBO_HD void operator()(Index i, TallyRun& run) const {
    if (object[i] < 0 || !(inverse_mass[i] > Real(0))) return;
    const Vec<double, 3> dv = in_space(vector_at(v, i)) - in_space(vector_at(before, i));
    run.add(first + object[i], in_space(vector_at(x, i)), static_cast<double>(mass[i]) * dv);
  }
};

}  // namespace

template <class Real>
void SolidSystem<Real>::load(const Seeds& seeds) {
  load_meshes(seeds.of<SolidSeed>());
  if (empty()) return;
  std::vector<Index> counted(static_cast<std::size_t>(mesh.vertices), -1);
  bool any = false;
  for (std::size_t b = 0; b < mesh.body.size(); ++b) {
    const SolidBody& body = mesh.body[b];
    if (!driven_[b] || body.kinematic) continue;
    any = true;
    std::fill(counted.begin() + body.vertices.begin, counted.begin() + body.vertices.end, body.object);
  }
  if (any) copy_to_device(ex_, counted.data(), told_entry_, mesh.vertices);
  evaluate();
}

template <class Real>
void SolidSystem<Real>::contact_sources(std::vector<ObjectContact>& objects) const {
  for (std::size_t b = 0; b < mesh.body.size(); ++b)
    if (driven_[b])
      objects[static_cast<std::size_t>(mesh.body[b].object)].source =
          mesh.body[b].kinematic ? ContactSource::none : ContactSource::counted;
}

template <class Real>
void SolidSystem<Real>::load_meshes(const SolidSeed& seed) {
  for (int k = 0; k < 3; ++k) constants.gravity[k] = static_cast<Real>(model_.gravity[k]);
  constants.drives = seed.drives;
  for (const SolidBody& body : seed.bodies) {
    const MaterialSpec& material = model_.materials[static_cast<std::size_t>(body.material)];
    constants.laws.push_back(cast_variant<Real>(*material.law));
    constants.densities.push_back(material.density);
    std::visit(
        [&]<class Law>(const Law& law) {
          if constexpr (MeshLaw<Law>)
            wave_speed_ = std::max(wave_speed_, std::sqrt((law.lambda + 2 * law.mu) / material.density));
        },
        *material.law);

    Skin skin;
    std::vector<std::int32_t> number(static_cast<std::size_t>(body.vertices.end - body.vertices.begin), -1);
    for (std::int32_t t = body.triangles.begin; t < body.triangles.end; ++t)
      for (int k = 0; k < 3; ++k) {
        const std::int32_t vertex = seed.triangles[static_cast<std::size_t>(t)][k];
        std::int32_t& own = number[static_cast<std::size_t>(vertex - body.vertices.begin)];
        if (own < 0) {
          own = static_cast<std::int32_t>(skin.vertices.size());
          skin.vertices.push_back(vertex);
        }
        skin.triangles.push_back(own);
      }
    skins_.push_back(std::move(skin));
  }
  for (const SolidBody& body : seed.bodies)
    driven_.push_back(std::any_of(seed.drive.begin() + body.vertices.begin, seed.drive.begin() + body.vertices.end,
                                  [](std::int32_t drive) { return drive >= 0; }));
  drive_radius_.assign(seed.drives.size(), 0);
  for (std::size_t i = 0; i < seed.x.size(); ++i) {
    if (seed.drive[i] < 0) continue;
    const auto d = static_cast<std::size_t>(seed.drive[i]);
    const double distance = std::sqrt(squared_norm(seed.x[i] - seed.drives[d].pose(0).at));
    drive_radius_[d] = std::max(drive_radius_[d], distance);
  }
  load_solids(ex_, seed, mesh, state);
  load_friction(ex_, seed, mesh);
  if (state.C.used) {  // as particles do: with the gradient of the velocities they begin with
    std::vector<Real> column(seed.x.size(), Real(0));
    for (int k = 0; k < 9; ++k) {
      for (const SolidBody& body : seed.bodies)
        for (auto i = static_cast<std::size_t>(body.vertices.begin); i < static_cast<std::size_t>(body.vertices.end);
             ++i)
          column[i] = static_cast<Real>(
              model_.objects[static_cast<std::size_t>(body.object)].motion.gradient_at(seed.x[i])(k / 3, k % 3));
      copy_to_device(ex_, column.data(), state.C.c[k], mesh.vertices);
      copy_to_device(ex_, column.data(), grid_damping.C_next.c[k], mesh.vertices);
    }
  }
  contact_constants = {model_.dx, std::sqrt(squared_norm(model_.gravity)), seed.contact};
  load_contact(ex_, seed, contact_constants, contact);
}

template <class Real>
double SolidSystem<Real>::driven_speed(double time, double dt) const {
  double fastest = 0;
  for (std::size_t d = 0; d < constants.drives.size(); ++d)
    if (constants.drives[d].keys().size() > 1)
      fastest = std::max(fastest, constants.drives[d].max_speed(time, dt, drive_radius_[d]));
  return fastest;
}

template <class Real>
void SolidSystem<Real>::each_saved(StateList& list) {
  if (empty()) return;
  list.derived(state.stable_dt);
  list.derived(state.speed);
  list.number("solid.listed_reach", state.listed_reach);
  each_column(state, [&](const char* name, auto& field) { list.column(name, field, state.count_of(field)); });
}

template <class Real>
void SolidSystem<Real>::loaded() {
  if (empty()) return;
  contact.listed = false;
  evaluate();
}

template <class Real>
void SolidSystem<Real>::bound(const Surroundings& around, StepBound& step) const {
  if (empty()) return;
  const TimeSpec& time = model_.time;
  // Contact acts on the velocities that gravity has changed.
  const double way = time.cfl * model_.dx;
  step.at_most_way(way, state.speed, this->gravity(), "cfl");
  if (!time.implicit && state.stable_dt > 0) step.at_most(state.stable_dt, "elastic");
  // Contact is explicit, also where elasticity is not: bodies that a longer step presses together pass each other.
  const bool may_touch = mesh.bodies > 1 || !model_.colliders.empty() || around.particles;
  if (time.implicit && may_touch && this->gravity() > 0)
    step.at_most(std::sqrt(model_.dx / this->gravity()) / 32, "contact");
  const double driven = driven_speed(around.time, step.dt);
  if (driven > 0) step.at_most(way / driven, "drive");
}

template <class Real>
void SolidSystem<Real>::evaluate() {
  bad = evaluate_elastic(ex_, constants, mesh, model_.time.implicit, state, work);
}

template <class Real>
void SolidSystem<Real>::begin() {
  if (!empty()) begin_solids(ex_, state, work);
}

/// v_lag.
template <class Real>
ImplicitReport SolidSystem<Real>::predict(const StepTry& attempt) {
  if (empty()) return {.converged = true};
  take_back_contact();
  pushed_ = true;
  met_ = false;
  ImplicitReport report;
  if (model_.time.implicit) {
    report = solve_elastic(ex_, constants, mesh, model_.time.solve, attempt.around.time, attempt.dt, state, work);
  } else {
    elastic_step(ex_, constants, mesh, attempt.around.time, attempt.dt, state, work);
    if (state.C.used) damp_on_grid(ex_, mesh, state, grid_damping);
    report.converged = true;
    report.speed = vertex_speed(ex_, state);
  }
  if (counts_contact()) copy_field(ex_, "contact", state.v, mesh.vertices, lag_);
  return report;
}

/// Changes the velocities of vertices, which the next `predict` undoes. Strands are not met in the printed form, which
/// knows only one grid beside those of bodies.
template <class Real>
double SolidSystem<Real>::meet(const Phase<Real, 3>& phase, double dt) {
  const bool printed = contact_constants.spec.form == ContactSpec::Form::paper;
  if (empty() || (phase.number > 0 && printed)) return 0;
  const GridNodes<Real, 3>& grid = phase.grid;
  const Array<Real>& friction = mesh.phase_friction[phase.number];
  met_ = true;
  contact.begin = &work.v_start;
  list_contacts(ex_, mesh, contact_constants, dt, state, contact);
  find_particles(ex_, grid, contact.bodies, coupling);
  make_body_fields(ex_, mesh, contact_constants, &coupling.found, state, contact);
  face_particles(ex_, grid, contact.bodies, coupling);
  if (phase.number > 0 && own_strands != nullptr)
    leave_own_strands(ex_, *own_strands, model_.dx, contact.bodies, coupling);
  double speed = couple(ex_, mesh, friction, contact_constants, grid, dt, contact.bodies, coupling);
  if (printed) return speed;
  // What vertices pass on of an impulse is less than what their nodes took: the rest is asked for again.
  for (const CouplingPass pass : {CouplingPass::first, CouplingPass::middle}) {
    hand_to_vertices(ex_, mesh, contact_constants, coupling.change, pass, state, contact);
    refresh_body_fields(ex_, mesh, contact_constants, state, contact);
    speed = couple(ex_, mesh, friction, contact_constants, grid, dt, contact.bodies, coupling);
  }
  hand_to_vertices(ex_, mesh, contact_constants, coupling.change, CouplingPass::last, state, contact);
  return speed;
}

template <class Real>
void SolidSystem<Real>::pushed() {
  // In the printed form what particles have changed of the field is nowhere else.
  if (met_ && contact_constants.spec.form != ContactSpec::Form::paper)
    refresh_body_fields(ex_, mesh, contact_constants, state, contact);
}

/// Impulses between bodies and with colliders. What friction remembers of samples changes, too.
template <class Real>
bool SolidSystem<Real>::collide(const StepTry& attempt, const View& colliders) {
  if (empty()) return true;
  contact.begin = &work.v_start;
  if (state.slip.used) copy_field(ex_, "solid contact", state.slip, state.samples, slip_start_);
  collided_ = true;
  contacts = met_ ? contact_impulses(ex_, mesh, contact_constants, colliders, attempt.dt, state, contact)
                  : contact_step(ex_, mesh, contact_constants, colliders, attempt.dt, state, contact);
  return true;
}

template <class Real>
void SolidSystem<Real>::take_back_contact() {
  if (collided_ && state.slip.used)
    for (int k = 0; k < 3; ++k) state.slip.c[k].swap(slip_start_.c[k]);
  collided_ = false;
}

template <class Real>
void SolidSystem<Real>::undo() {
  take_back_contact();
  if (pushed_) take_back_velocities(ex_, work, state);
  pushed_ = false;
}

template <class Real>
void SolidSystem<Real>::finish(const StepTry& attempt, StepReport&) {
  if (empty()) return;
  if (counts_contact())
    tell_each(ex_, "contact", attempt.tally, mesh.vertices,
              TellChange<Real>{told_entry_.data(), attempt.tally.colliders, mesh.mass.data(), mesh.inverse_mass.data(),
                               view(std::as_const(state.x)), view(std::as_const(state.v)),
                               view(std::as_const(lag_))});
  move_vertices(ex_, mesh, attempt.dt, state, work);
  pushed_ = collided_ = false;
  if (state.C.used)
    for (int k = 0; k < 9; ++k) state.C.c[k].swap(grid_damping.C_next.c[k]);
  if (!carried) evaluate();
}

template <class Real>
double SolidSystem<Real>::expected_speed() {
  double fastest = std::max(state.speed, wave_speed_);
  for (std::size_t d = 0; d < constants.drives.size(); ++d)
    fastest = std::max(fastest, constants.drives[d].max_speed(drive_radius_[d]));
  if (!empty())  // what springs back from a tangle
    for (const ObjectSums& sums : measure_solids(ex_, constants, mesh, state))
      fastest = std::max(fastest, std::sqrt(2 * sums.elastic / sums.mass));
  return fastest;
}

template <class Real>
void SolidSystem<Real>::measure(std::vector<ObjectSums>& objects) {
  if (empty()) return;
  const std::vector<ObjectSums> of_bodies = measure_solids(ex_, constants, mesh, state);
  for (std::size_t b = 0; b < of_bodies.size(); ++b)
    objects[static_cast<std::size_t>(mesh.body[b].object)].add(of_bodies[b]);
}

template <class Real>
void SolidSystem<Real>::count(EngineCounts& counts) const {
  counts.vertices += mesh.vertices;
  counts.tets += mesh.tets;
  counts.collision_particles += mesh.samples;
  counts.contacts += std::int64_t{contacts.bodies} + contacts.self + contacts.colliders;
}

template <class Real>
std::string SolidSystem<Real>::complaint() const {
  if (bad == no_index) return {};
  const Model::Object& owner = this->object(object_of(bad));
  return "vertex " + std::to_string(bad) + " of object '" + owner.name +
         "' is no longer finite; likely cause: the time step is too long for the mesh of material '" +
         this->material_of(owner).name +
         "' under this load; lower time.cfl or time.dt_max, raise the object's damping, or check its stiffness, "
         "density "
         "and element_size";
}

template <class Real>
void SolidSystem<Real>::show(const EngineOptions& options, Frame& frame) const {
  if (empty()) return;
  const HostVectors<Real> x(ex_, state.x, mesh.vertices), v(ex_, state.v, mesh.vertices);
  const auto name = [&](std::size_t b) { return this->object(mesh.body[b].object).name; };
  for (std::size_t b = 0; b < skins_.size(); ++b) {
    frame.meshes.push_back({name(b), x.column("x", skins_[b].vertices), v.column("v", skins_[b].vertices),
                            make_array<std::int32_t>("triangles", 3, skins_[b].triangles)});
  }
  if (!options.tets) return;
  std::vector<Index> corner[4];
  std::vector<Real> volume(static_cast<std::size_t>(mesh.tets));
  copy_to_host(ex_, mesh.volume, volume.data(), mesh.tets);
  for (int k = 0; k < 4; ++k) {
    corner[k].resize(volume.size());
    copy_to_host(ex_, mesh.tet.c[k], corner[k].data(), mesh.tets);
  }
  for (std::size_t b = 0; b < mesh.body.size(); ++b) {
    const SolidBody& body = mesh.body[b];
    std::vector<Real> ratio;
    std::vector<std::int32_t> own;
    for (auto t = static_cast<std::size_t>(body.tets.begin); t < static_cast<std::size_t>(body.tets.end); ++t) {
      Vec<double, 3> edge[3];
      for (int k = 0; k < 3; ++k) edge[k] = cast<double>(x[corner[k + 1][t]]) - cast<double>(x[corner[0][t]]);
      ratio.push_back(static_cast<Real>(dot(cross(edge[0], edge[1]), edge[2]) / (6 * static_cast<double>(volume[t]))));
      for (int k = 0; k < 4; ++k) own.push_back(corner[k][t] - body.vertices.begin);
    }
    frame.tets.push_back({name(b), x.column("x", body.vertices), v.column("v", body.vertices),
                          make_array<std::int32_t>("tets", 4, own), make_array<Real>("J", 1, ratio)});
  }
}

template <class Real>
std::size_t SolidSystem<Real>::bytes() const {
  std::size_t sum = this->saved_bytes() + work.bytes() + contact.bytes() + coupling.bytes() + grid_damping.bytes() +
                    slip_start_.bytes() + lag_.bytes() + told_entry_.bytes() + mesh.tet.bytes() + mesh.inverse_rest.bytes() + mesh.triangle.bytes() +
                    mesh.anchor.bytes() + mesh.sample_weight.bytes();
  for (const Array<Real>* a : {&mesh.mass, &mesh.inverse_mass, &mesh.volume, &mesh.height, &mesh.sample_mass,
                               &mesh.friction, &mesh.collider_friction})
    sum += a->bytes();
  for (const Array<Index>* a :
       {&mesh.vertex_body, &mesh.drive, &mesh.tet_body, &mesh.triangle_tet, &mesh.sample_triangle, &mesh.sample_body,
        &mesh.tet_corner_start, &mesh.tet_corner, &mesh.sample_corner_start, &mesh.sample_corner})
    sum += a->bytes();
  return sum;
}

template class SolidSystem<float>;
template class SolidSystem<double>;

}  // namespace tribo::TRIBO_BACKEND
