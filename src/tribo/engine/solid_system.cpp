#include "tribo/engine/solid_system.h"

#include <algorithm>
#include <cmath>

#include "tribo/core/cast_numbers.h"
#include "tribo/engine/host_vectors.h"
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
  copy_to_device(ex, with_strands.data(), mesh.strand_friction, static_cast<Index>(with_strands.size()));
}

}  // namespace

template <class Real>
void SolidSystem<Real>::load(Exec& ex, const Model& model, const SolidSeed& seed) {
  for (int k = 0; k < 3; ++k) constants.gravity[k] = static_cast<Real>(model.gravity[k]);
  constants.drives = seed.drives;
  for (const SolidBody& body : seed.bodies) {
    const MaterialSpec& material = model.materials[static_cast<std::size_t>(body.material)];
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
  drive_radius_.assign(seed.drives.size(), 0);
  for (std::size_t i = 0; i < seed.x.size(); ++i) {
    if (seed.drive[i] < 0) continue;
    const auto d = static_cast<std::size_t>(seed.drive[i]);
    const double distance = std::sqrt(squared_norm(seed.x[i] - seed.drives[d].pose(0).at));
    drive_radius_[d] = std::max(drive_radius_[d], distance);
  }
  load_solids(ex, seed, mesh, state);
  load_friction(ex, seed, mesh);
  if (state.C.used) {  // as particles do: with the gradient of the velocities they begin with
    std::vector<Real> column(seed.x.size(), Real(0));
    for (int k = 0; k < 9; ++k) {
      for (const SolidBody& body : seed.bodies)
        for (auto i = static_cast<std::size_t>(body.vertices.begin); i < static_cast<std::size_t>(body.vertices.end);
             ++i)
          column[i] = static_cast<Real>(
              model.objects[static_cast<std::size_t>(body.object)].motion.gradient_at(seed.x[i])(k / 3, k % 3));
      copy_to_device(ex, column.data(), state.C.c[k], mesh.vertices);
      copy_to_device(ex, column.data(), grid_damping.C_next.c[k], mesh.vertices);
    }
  }
  contact_constants = {model.dx, std::sqrt(squared_norm(model.gravity)), seed.contact};
  load_contact(ex, seed, contact_constants, contact);
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
double SolidSystem<Real>::driven_speed() const {
  double fastest = 0;
  for (std::size_t d = 0; d < constants.drives.size(); ++d)
    fastest = std::max(fastest, constants.drives[d].max_speed(drive_radius_[d]));
  return fastest;
}

template <class Real>
void SolidSystem<Real>::evaluate(Exec& ex, const TimeSpec& time) {
  bad = evaluate_elastic(ex, constants, mesh, time.implicit, state, work);
}

template <class Real>
ImplicitReport SolidSystem<Real>::push(Exec& ex, const TimeSpec& settings, double time, double dt) {
  pushed_ = true;
  if (settings.implicit) return solve_elastic(ex, constants, mesh, settings.solve, time, dt, state, work);
  elastic_step(ex, constants, mesh, time, dt, state, work);
  if (state.C.used) damp_on_grid(ex, mesh, state, grid_damping);
  ImplicitReport report;
  report.converged = true;
  report.speed = vertex_speed(ex, state);
  return report;
}

template <class Real>
double SolidSystem<Real>::couple_with(Exec& ex, const GridNodes<Real, 3>& grid, const Array<Real>& friction,
                                      double dt) {
  contact.begin = &work.v_start;
  list_contacts(ex, mesh, contact_constants, dt, state, contact);
  find_particles(ex, grid, contact.bodies, coupling);
  make_body_fields(ex, mesh, contact_constants, &coupling.found, state, contact);
  face_particles(ex, grid, contact.bodies, coupling);
  double speed = couple(ex, mesh, friction, contact_constants, grid, dt, contact.bodies, coupling);
  if (contact_constants.spec.form == ContactSpec::Form::paper) return speed;
  // What vertices pass on of an impulse is less than what their nodes took: the rest is asked for again.
  for (const CouplingPass pass : {CouplingPass::first, CouplingPass::middle}) {
    hand_to_vertices(ex, mesh, contact_constants, coupling.change, pass, state, contact);
    refresh_body_fields(ex, mesh, contact_constants, state, contact);
    speed = couple(ex, mesh, friction, contact_constants, grid, dt, contact.bodies, coupling);
  }
  hand_to_vertices(ex, mesh, contact_constants, coupling.change, CouplingPass::last, state, contact);
  return speed;
}

template <class Real>
void SolidSystem<Real>::undo(Exec& ex) {
  if (pushed_) take_back_velocities(ex, work, state);
  pushed_ = false;
}

template <class Real>
void SolidSystem<Real>::finish(Exec& ex, const typename Colliders<Real, 3>::View& colliders, const TimeSpec& time,
                               double dt, bool coupled) {
  contact.begin = &work.v_start;
  if (coupled) {
    contacts = contact_impulses(ex, mesh, contact_constants, colliders, dt, state, contact);
  } else {
    contacts = contact_step(ex, mesh, contact_constants, colliders, dt, state, contact);
  }
  move_vertices(ex, mesh, dt, state, work);
  pushed_ = false;
  if (state.C.used)
    for (int k = 0; k < 9; ++k) state.C.c[k].swap(grid_damping.C_next.c[k]);
  evaluate(ex, time);
}

template <class Real>
void SolidSystem<Real>::show(Exec& ex, const Model& model, bool tets, Frame& frame) const {
  const HostVectors<Real> x(ex, state.x, mesh.vertices), v(ex, state.v, mesh.vertices);
  const auto name = [&](std::size_t b) { return model.objects[static_cast<std::size_t>(mesh.body[b].object)].name; };
  for (std::size_t b = 0; b < skins_.size(); ++b) {
    frame.meshes.push_back({name(b), x.column("x", skins_[b].vertices), v.column("v", skins_[b].vertices),
                            make_array<std::int32_t>("triangles", 3, skins_[b].triangles)});
  }
  if (!tets) return;
  std::vector<Index> corner[4];
  std::vector<Real> volume(static_cast<std::size_t>(mesh.tets));
  copy_to_host(ex, mesh.volume, volume.data(), mesh.tets);
  for (int k = 0; k < 4; ++k) {
    corner[k].resize(volume.size());
    copy_to_host(ex, mesh.tet.c[k], corner[k].data(), mesh.tets);
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
  std::size_t sum = work.bytes() + contact.bytes() + coupling.bytes() + grid_damping.bytes() + state.x.bytes() +
                    state.v.bytes() + state.C.bytes() + state.slip.bytes() + state.listed.bytes() + mesh.tet.bytes() +
                    mesh.inverse_rest.bytes() + mesh.triangle.bytes() + mesh.anchor.bytes() +
                    mesh.sample_weight.bytes();
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
