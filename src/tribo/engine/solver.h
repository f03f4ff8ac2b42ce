#pragma once

#include <string>

#include "tribo/engine/kinds.h"

namespace tribo::TRIBO_BACKEND {

/// The engine of this backend for one precision and dimension: time, and every kind of matter in it.
template <class Real, int D>
class Solver final : public Engine {
 public:
  Solver(const EngineOptions& options, const Model& model, const Seeds& seeds);

  const char* backend() const override;
  double time() const override { return particles_.state.time; }
  std::int64_t step_count() const override { return particles_.state.step; }
  StepReport step(double until) override;
  StepReport next_dt(double until) const override;
  std::vector<ObjectSums> measure() override;
  RawFrame frame(int number, bool later) override;
  EngineCounts counts() const override;
  EngineFlows flows() const override { return particles_.flows(); }
  EngineContacts contacts() override;
  void clear_contacts() override;
  std::uint64_t state_hash() override;
  void visit_state(const ArrayVisitor& visit) override;
  void load(const Container& checkpoint) override;
  const std::vector<std::pair<const char*, double>>& stage_seconds() const override;
  void clear_stage_seconds() override { exec_.timers().clear(); }
  std::size_t bytes() const override;

 private:
  std::vector<ObjectContact> contact_sources() const;
  [[noreturn]] void report_runaway(const std::string& what);
  /// The next step's dt; `paced` is what it would be without the end of a frame.
  StepReport bounded_dt(double until, double& paced) const;

  Model model_;
  EngineOptions options_;
  mutable Exec exec_;
  Kinds<Real, D> kinds_;
  ContactSums contact_sums_;
  ParticleSystem<Real, D>& particles_;
  double speed_limit_ = 0;  ///< faster than this, something has gone wrong [m/s]
};

/// One substep of length at most `dt` (shorter when the grid turns out faster than a cell per step): the algorithm.
/// Returns the step taken, and reports what it took.
template <class Real, int D>
double advance(Exec& ex, const Model& model, double dt, Kinds<Real, D>& kinds, ContactSums& sums, StepReport& report);

}  // namespace tribo::TRIBO_BACKEND
