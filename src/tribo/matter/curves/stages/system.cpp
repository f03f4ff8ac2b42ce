#include "tribo/matter/curves/stages/system.h"

#include <algorithm>
#include <cmath>

#include "tribo/grid/particle_access.h"

namespace tribo::TRIBO_BACKEND {

template <class Real>
void CurveParticles<Real>::load(const Seeds& seeds) {
  const CurveSeed& seed = seeds.of<CurveSeed>();
  if (seed.bodies.empty()) return;
  strands_.load_strands(seed.strands);
  strands_.constants.scheme = RodScheme::explicit_euler;
  strands_.constants.gravity = Vec<Real, 3>::zero();  // the grid's
  load_curves(ex_, seed, seed.first_particle, particles_.group_of(seed.bodies[0].object), model_.dx, mesh_);
  for (const CurveBody& body : mesh_.body) {
    const CurveLaw<double>& law = body.law;
    const double stiffest = std::max(law.fiber, 2 * (law.mu + law.lambda) + law.shear);
    wave_speed_ = std::max(wave_speed_, std::sqrt(stiffest / body.density));
  }
  particles_.on_landing(mesh_.group, [this] { land(); });
  loaded();
}

template <class Real>
void CurveParticles<Real>::loaded() {
  if (empty()) return;
  find();
  follow();
}

template <class Real>
void CurveParticles<Real>::each_saved(StateList& list) {
  if (!strands_.mesh.twisted) return;  // frames matter to nobody
  RodState<Real>& state = strands_.state;
  list.column("curve.director", state.director, state.count);
  list.column("curve.twist", state.twist, state.count);
}

template <class Real>
void CurveParticles<Real>::check(const StateLoader& loader) const {
  if (!empty()) check_passengers(loader, particles_.seeded());
}

template <class Real>
void CurveParticles<Real>::bound(const Surroundings& around, StepBound& step) const {
  if (empty()) return;
  step.at_most(stable_dt_, "elastic");
  const double speed = strands_.driven_speed(around.time, step.dt);
  if (speed > 0) step.at_most(model_.time.cfl * model_.dx / speed, "drive");
}

template <class Real>
void CurveParticles<Real>::follow() {
  pushed_ = false;
  const CurveBounds bounds = evaluate_curves(ex_, mesh_, strands_.mesh, static_cast<Real>(model_.dx), particles_.state,
                                             particles_.work, strands_.state, work_);
  bad_ = bounds.bad;
  strands_.evaluate();
  begin_rods(ex_, strands_.state, strands_.work);
  // Energies add up, and so do bounds of their second derivatives (theory J, E.7); half of what that allows.
  const double bending = strands_.state.stable_dt > 0 ? 0.5 / strands_.state.stable_dt : 0;
  stable_dt_ = 0.5 / std::sqrt(bounds.rate2 + bending * bending);
}

/// v + dt f/m and the like to the particles, from the velocities of the last `follow`: also when a step is taken again.
template <class Real>
ImplicitReport CurveParticles<Real>::predict(const StepTry& attempt) {
  ImplicitReport report{.converged = true};
  if (empty()) return report;
  find();  // a sort may have moved them
  rod_step(ex_, strands_.constants, strands_.mesh, attempt.around.time, attempt.dt, strands_.state, strands_.work);
  push_curves(ex_, mesh_, strands_.mesh, attempt.dt, strands_.state, work_, particles_.state, particles_.work);
  pushed_ = true;
  report.speed = strands_.driven_speed(attempt.around.time, attempt.dt);
  return report;
}

template <class Real>
void CurveParticles<Real>::undo() {
  if (pushed_) {
    find();  // `land` may have looked further
    restore_curves(ex_, mesh_, strands_.work.v_start, work_, particles_.state, particles_.work);
  }
  pushed_ = false;
}

template <class Real>
void CurveParticles<Real>::land() {
  if (is_packed(particles_.work)) find();  // a packed step sorts what it moves
  land_curves(ex_, mesh_, strands_.mesh, work_, strands_.state, strands_.work, particles_.state, particles_.work);
}

/// After the grid has moved them, and `land`.
template <class Real>
void CurveParticles<Real>::finish(const StepTry&, StepReport&) {
  if (empty()) return;
  settle_curves(ex_, mesh_, strands_.mesh, work_, strands_.state, strands_.work, particles_.state, particles_.work);
  follow();
}

/// Elastic energies: all else has been counted with the particles.
template <class Real>
void CurveParticles<Real>::measure(std::vector<ObjectSums>& objects) {
  if (empty()) return;
  find();
  const std::vector<ObjectSums> bending = measure_rods(ex_, strands_.constants, strands_.mesh, strands_.state);
  const std::vector<double> elements =
      curve_energies(ex_, mesh_, strands_.mesh, strands_.state, particles_.state, particles_.work, work_);
  for (std::size_t b = 0; b < elements.size(); ++b)
    objects[static_cast<std::size_t>(mesh_.body[b].object)].elastic += bending[b].elastic + elements[b];
}

template <class Real>
void CurveParticles<Real>::count(EngineCounts& counts) const {
  counts.particles -= passengers();
  strands_.count(counts);
}

template <class Real>
std::string CurveParticles<Real>::complaint() const {
  if (bad_ == no_index) return {};
  return "segment " + std::to_string(bad_) + " of object '" +
         this->object(object_at(mesh_.body, &CurveBody::elements, bad_)).name +
         "' is no longer finite; likely cause: the time step is too long for curves under this load; lower time.cfl or "
         "time.dt_max, or check contact_stiffness and density";
}

template <class Real>
std::size_t CurveParticles<Real>::bytes() const {
  return empty() ? 0 : mesh_.bytes() + work_.bytes() + strands_.bytes();
}

template class CurveParticles<float>;
template class CurveParticles<double>;

}  // namespace tribo::TRIBO_BACKEND
