#include "tribo/matter/strands/stages/bundle.h"

#include <algorithm>
#include <cmath>

#include "tribo/core/errors.h"
#include "tribo/exec/copy_field.h"
#include "tribo/grid/law_stages.h"
#include "tribo/matter/strands/stages/strand_particles.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr double poisson_ratio = 0.3;

/// Moduli per density, with lambda + 2 mu = c^2; the friction of the cone that c_F is the slope of (theory E.10).
AnyLaw<double> law_of(double wave_speed, double friction) {
  const double modulus = wave_speed * wave_speed;
  return dry_grains(modulus * (1 - 2 * poisson_ratio) / (2 * (1 - poisson_ratio)),
                    modulus * poisson_ratio / (1 - poisson_ratio), std::sin(std::atan(friction)));
}

}  // namespace

template <class Real>
void RodBundle<Real>::load(Exec& ex, double dx, const RodSeed& seed) {
  Constants<Real, 3>& constants = grid_.constants;
  constants.dx = static_cast<Real>(dx);
  constants.gravity = Vec<Real, 3>::zero();
  blend_ = seed.blend;
  blend_time_ = seed.blend_time;
  vertices_ = static_cast<Index>(seed.x.size());
  constants.transfer = {Real(1), Real(1), static_cast<Real>(1 - blend_), 0};

  // Bodies that differ in nothing are one material: fewer bins.
  std::vector<Vec<double, 2>> kinds;
  std::vector<Index> id, object;
  std::vector<Real> mass;
  friction_ = 1e300;
  for (const RodBody& body : seed.bodies) {
    if (!(body.wave_speed > 0)) continue;
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const Vec<double, 2>& kind) {
      return kind[0] == body.wave_speed && kind[1] == body.grid_friction;
    });
    const auto kind = static_cast<Index>(found - kinds.begin());
    if (found == kinds.end()) {
      kinds.push_back({{body.wave_speed, body.grid_friction}});
      constants.laws.push_back(stages_of_any<Real, 3>(law_of(body.wave_speed, body.grid_friction)));
      constants.densities.push_back(1);
    }
    wave_speed_ = std::max(wave_speed_, body.wave_speed);
    friction_ = std::min(friction_, body.grid_friction);
    for (Index i = body.vertices.begin; i < body.vertices.end; ++i) {
      id.push_back(i);
      object.push_back(kind);
      mass.push_back(static_cast<Real>(seed.mass[static_cast<std::size_t>(i)]));
    }
  }
  friction_ = seed.particle_friction.value_or(friction_);
  const auto n = static_cast<Index>(id.size());
  grid_.state.count = n;
  if (n == 0) return;
  std::vector<Real> inverse_density(kinds.size(), Real(1));
  std::vector<Index> group;
  for (std::size_t g = 0; g < kinds.size(); ++g) group.push_back(static_cast<Index>(g));
  copy_to_device(ex, inverse_density.data(), grid_.work.inverse_density, static_cast<Index>(kinds.size()));
  copy_to_device(ex, group.data(), grid_.work.object_group, static_cast<Index>(kinds.size()));

  auto& p = grid_.state.particles;
  p.poly.used = false;
  copy_to_device(ex, id.data(), p.id.c[0], n);
  copy_to_device(ex, object.data(), p.object.c[0], n);
  copy_to_device(ex, mass.data(), p.m.c[0], n);
  p.x.resize_discard(n);
  p.v.resize_discard(n);
  const std::vector<Real> zero(id.size(), Real(0)), one(id.size(), Real(1));
  for (auto& array : p.C.c) copy_to_device(ex, zero.data(), array, n);
  for (int k = 0; k < 9; ++k) copy_to_device(ex, (k % 4 == 0 ? one : zero).data(), p.F.c[k], n);
  for (auto& array : p.history.c) copy_to_device(ex, zero.data(), array, n);
  for (auto& array : p.tau.c) copy_to_device(ex, zero.data(), array, n);
}

template <class Real>
double RodBundle<Real>::lost_part(double dt) const {
  return blend_time_ > 0 ? 1 - std::pow(1 - blend_, dt / blend_time_) : blend_;
}

template <class Real>
void RodBundle<Real>::begin(Exec& ex, const RodState<Real>& rods) {
  if (grid_.sorts()) place_strand_particles(ex, rods, count(), grid_.state.particles);
  grid_.begin(ex);
}

template <class Real>
double RodBundle<Real>::scatter(Exec& ex, const RodState<Real>& rods, double dt) {
  place_strand_particles(ex, rods, count(), grid_.state.particles);
  grid_.constants.transfer.flip = static_cast<Real>(1 - lost_part(dt));
  return grid_.scatter(ex, {}, dt);
}

template <class Real>
void RodBundle<Real>::blend(Exec& ex, const RodMesh<Real>& mesh, double dt, bool met_particles, RodState<Real>& rods,
                            RodWorkspace<Real>& work) {
  // Or there is nothing that it does not see.
  const bool share = met_particles && grid_.constants.transfer.flip > Real(0);
  if (share) share_velocities(ex, grid_.constants, grid_.state, grid_.work, coupling);
  // Moves particles, too, which `scatter` puts back to their vertices.
  grid_.try_gather(ex, dt);
  copy_field(ex, "strand grid", rods.v, rods.count, v_lag_);
  take_strand_velocities(ex, grid_.state.particles, share ? &coupling.change : nullptr, count(), rods);
  filter_velocities(ex, mesh, v_lag_, rods, work);
}

template <class Real>
void RodBundle<Real>::each_saved(StateList& list) {
  list.number("bundle.drift", grid_.state.drift);
  list.bins("bundle.bins", grid_.state.bins, grid_.state.bin_count,
            {count(), static_cast<Index>(grid_.constants.laws.size()), "grid of strands does not fit its strands"});
  auto& p = grid_.state.particles;
  list.column("bundle.C", p.C, count());
  list.column("bundle.F", p.F, count());
  list.column("bundle.history", p.history, count());
  list.column("bundle.tau", p.tau, count());
  list.column("bundle.m", p.m, count());
  list.column("bundle.id", p.id, count());
  list.column("bundle.object", p.object, count());
}

template <class Real>
void RodBundle<Real>::check(const StateLoader& loader) const {
  const auto fail = [] {
    throw IoError("checkpoint's grid of strands does not fit its strands; it belongs to another scene");
  };
  std::vector<bool> seen(static_cast<std::size_t>(vertices_), false);
  for (const Index id : loader.expect<Index>("bundle.id.0", count())) {
    if (id < 0 || id >= vertices_ || seen[static_cast<std::size_t>(id)]) fail();
    seen[static_cast<std::size_t>(id)] = true;
  }
  for (const Index object : loader.expect<Index>("bundle.object.0", count()))
    if (object < 0 || static_cast<std::size_t>(object) >= grid_.constants.laws.size()) fail();
}

template <class Real>
std::size_t RodBundle<Real>::scratch_bytes() const {
  return grid_.bytes() + v_lag_.bytes() + coupling.bytes() + grid_.state.particles.x.bytes() +
         grid_.state.particles.v.bytes();
}

template class RodBundle<float>;
template class RodBundle<double>;

}  // namespace tribo::TRIBO_BACKEND
