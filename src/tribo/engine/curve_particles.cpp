#include "tribo/engine/curve_particles.h"

#include <algorithm>
#include <cmath>

namespace tribo::TRIBO_BACKEND {

template <class Real>
void CurveParticles<Real>::load(Exec& ex, const Model& model, const ParticleSeed& seed) {
  if (seed.curves.bodies.empty()) return;
  dx_ = static_cast<Real>(model.dx);
  strands.load(ex, model, seed.curves.strands);
  strands.constants.scheme = RodScheme::explicit_euler;
  strands.constants.gravity = Vec<Real, 3>::zero();  // the grid's
  const std::size_t count = seed.curves.strands.x.size() + seed.curves.first.size();
  load_curves(ex, seed.curves, static_cast<Index>(seed.x.size() - count), model.dx, mesh_);
  for (const CurveBody& body : mesh_.body) {
    const CurveLaw<double>& law = body.law;
    const double stiffest = std::max(law.fiber, 2 * (law.mu + law.lambda) + law.shear);
    wave_speed_ = std::max(wave_speed_, std::sqrt(stiffest / body.density));
  }
}

template <class Real>
void CurveParticles<Real>::evaluate(Exec& ex, const State<Real, 3>& particles) {
  find_curves(ex, mesh_, particles, work_);
  const CurveBounds bounds = evaluate_curves(ex, mesh_, strands.mesh, dx_, particles, strands.state, work_);
  bad = bounds.bad;
  strands.evaluate(ex);
  begin_rods(ex, strands.state, strands.work);
  // Energies add up, and so do bounds of their second derivatives (theory J, E.7); half of what that allows.
  const double bending = strands.state.stable_dt > 0 ? 0.5 / strands.state.stable_dt : 0;
  stable_dt_ = 0.5 / std::sqrt(bounds.rate2 + bending * bending);
}

template <class Real>
void CurveParticles<Real>::push(Exec& ex, double time, double dt, State<Real, 3>& particles) {
  find_curves(ex, mesh_, particles, work_);  // a sort may have moved them
  rod_step(ex, strands.constants, strands.mesh, time, dt, strands.state, strands.work);
  push_curves(ex, mesh_, strands.mesh, dt, strands.state, work_, particles);
}

template <class Real>
void CurveParticles<Real>::undo(Exec& ex, State<Real, 3>& particles) {
  restore_curves(ex, mesh_, strands.work.v_start, work_, particles);
}

template <class Real>
void CurveParticles<Real>::finish(Exec& ex, State<Real, 3>& particles) {
  settle_curves(ex, mesh_, strands.mesh, work_, strands.state, strands.work, particles);
}

template <class Real>
void CurveParticles<Real>::measure(Exec& ex, const State<Real, 3>& particles, std::vector<ObjectSums>& objects) {
  find_curves(ex, mesh_, particles, work_);
  const std::vector<ObjectSums> bending = measure_rods(ex, strands.constants, strands.mesh, strands.state);
  const std::vector<double> elements = curve_energies(ex, mesh_, strands.mesh, strands.state, particles, work_);
  for (std::size_t b = 0; b < elements.size(); ++b)
    objects[static_cast<std::size_t>(mesh_.body[b].object)].elastic += bending[b].elastic + elements[b];
}

template <class Real>
std::size_t CurveParticles<Real>::bytes() const {
  return empty() ? 0 : mesh_.bytes() + work_.bytes() + strands.bytes();
}

template class CurveParticles<float>;
template class CurveParticles<double>;

}  // namespace tribo::TRIBO_BACKEND
