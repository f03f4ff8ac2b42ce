#pragma once

#include "tribo/engine/rod_system.h"
#include "tribo/stages/rod/curves.h"

namespace tribo::TRIBO_BACKEND {

/// The strands of a simulation that are particles, method "mpm" of hair (Jiang 2017). All that evolves is in the
/// particles, but for the frames of strands that have any; what else is here of positions and velocities is a copy.
template <class Real>
class CurveParticles {
 public:
  RodSystem<Real> strands;  ///< bending and twist, in explicit steps
  Index bad = no_index;     ///< first element that is no longer finite

  void load(Exec& ex, const Model& model, const ParticleSeed& seed);
  bool empty() const { return mesh_.vertices == 0; }
  Index particles() const { return mesh_.vertices + mesh_.elements; }
  /// The frames of strands belong to the state.
  bool framed() const { return strands.mesh.twisted; }
  int object_of(Index element) const { return object_at(mesh_.body, &CurveBody::elements, element); }

  double stable_dt() const { return stable_dt_; }
  /// Of the quickest waves at rest [m/s].
  double wave_speed() const { return wave_speed_; }
  double driven_speed(double time, double dt) const { return empty() ? 0 : strands.driven_speed(time, dt); }
  double driven_speed() const { return empty() ? 0 : strands.driven_speed(); }

  /// Forces at the present places, and what they mean for the next step.
  void evaluate(Exec& ex, const State<Real, 3>& particles);
  /// v + dt f/m and the like to the particles, from the velocities of the last `evaluate`: also when a step is taken
  /// again.
  void push(Exec& ex, double time, double dt, State<Real, 3>& particles);
  void undo(Exec& ex, State<Real, 3>& particles);
  /// After the grid has moved them.
  void finish(Exec& ex, State<Real, 3>& particles);

  /// Adds elastic energies to the sums of objects.
  void measure(Exec& ex, const State<Real, 3>& particles, std::vector<ObjectSums>& objects);
  std::size_t bytes() const;

 private:
  CurveMesh<Real> mesh_;
  CurveWorkspace<Real> work_;
  Real dx_ = 0;
  double stable_dt_ = 0, wave_speed_ = 0;
};

}  // namespace tribo::TRIBO_BACKEND
