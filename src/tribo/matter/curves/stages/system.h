#pragma once

#include <algorithm>

#include "tribo/matter/curves/stages/curves.h"
#include "tribo/matter/particles/stages/system.h"
#include "tribo/matter/strands/stages/system.h"

namespace tribo::TRIBO_BACKEND {

/// The strands of a simulation that are particles, method "mpm" of hair (Jiang 2017). All that evolves is in the
/// particles, but for the frames of strands that have any; what else is here of positions and velocities is a copy.
template <class Real>
class CurveParticles final : public System<Real, 3> {
 public:
  CurveParticles(Exec& ex, const Model& model, const Systems<Real, 3>& others)
      : System<Real, 3>(ex, model),
        strands_(ex, model, others),
        particles_(others.template of<ParticleSystem<Real, 3>>()) {}

  void load(const Seeds& seeds) override;
  bool empty() const override { return mesh_.vertices == 0; }
  Index passengers() const override { return mesh_.vertices + mesh_.elements; }

  void each_saved(StateList& list) override;
  void check(const StateLoader& loader) const override;
  void loaded() override;
  void bound(const Surroundings& around, StepBound& step) const override;
  ImplicitReport predict(const StepTry& attempt) override;
  void finish(const StepTry& attempt, StepReport& report) override;
  void undo() override;

  double expected_speed() override { return empty() ? 0 : std::max(wave_speed_, strands_.driven_speed()); }
  void contact_sources(std::vector<ObjectContact>& objects) const override { strands_.contact_sources(objects); }
  void measure(std::vector<ObjectSums>& objects) override;
  void show(const EngineOptions& options, Frame& frame) const override { strands_.show(options, frame); }
  void count(EngineCounts& counts) const override;
  std::string complaint() const override;
  std::size_t bytes() const override;

 private:
  using System<Real, 3>::ex_;
  using System<Real, 3>::model_;

  /// Where its particles are.
  void find() { find_curves(ex_, mesh_, particles_.state, particles_.work, work_); }
  /// Forces at the present places, and what they mean for the next step.
  void follow();
  /// When particles have moved, before they are sorted.
  void land();

  RodSystem<Real> strands_;  ///< bending and twist, in explicit steps
  ParticleSystem<Real, 3>& particles_;
  CurveMesh<Real> mesh_;
  CurveWorkspace<Real> work_;
  double stable_dt_ = 0;
  double wave_speed_ = 0;  ///< of the quickest waves at rest [m/s]
  Index bad_ = no_index;   ///< first element that is no longer finite
  bool pushed_ = false;
};

}  // namespace tribo::TRIBO_BACKEND
