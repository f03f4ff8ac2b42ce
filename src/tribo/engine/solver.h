#pragma once

#include <string>

#include "tribo/engine/engine.h"
#include "tribo/engine/rod_system.h"
#include "tribo/engine/vertex_particles.h"
#include "tribo/setup/emission.h"
#include "tribo/stages/stages.h"

namespace tribo::TRIBO_BACKEND {

/// The engine of this backend for one precision and dimension.
template <class Real, int D>
class Solver final : public Engine {
 public:
  Solver(const EngineOptions& options, const Model& model, const ParticleSeed& seed, const SolidSeed& solids,
         const RodSeed& rods);

  const char* backend() const override;
  double time() const override { return state_.time; }
  std::int64_t step_count() const override { return state_.step; }
  StepReport step(double until) override;
  StepReport next_dt(double until) const override;
  std::vector<ObjectSums> measure() override;
  RawFrame frame(int number, bool later) override;
  EngineCounts counts() const override;
  EngineFlows flows() const override;
  std::uint64_t state_hash() override;
  void visit_state(const ArrayVisitor& visit) override;
  void load(const Container& checkpoint) override;
  const std::vector<std::pair<const char*, double>>& stage_seconds() const override;
  void clear_stage_seconds() override { exec_.timers().clear(); }
  std::size_t bytes() const override;

 private:
  [[noreturn]] void report_bad_particle(Index particle, double dt, const char* limit);
  [[noreturn]] void report_bad_vertex(const SolidSystem<Real>& solids, double dt, const char* limit);
  [[noreturn]] void report_bad_strand(double dt, const char* limit);
  [[noreturn]] void report_bad_curve(double dt, const char* limit);
  [[noreturn]] void report_runaway(const std::string& what);
  /// The next step's dt; `pace` is that of the last one's strands, and becomes the next one's.
  StepReport bounded_dt(double until, double& pace) const;
  void upload(const ParticleSeed& seed, const std::vector<Index>& group);
  void follow_particles();
  void visit_flows(const ArrayVisitor& visit) const;
  template <class Visit>
  void each_curve_frame(const Visit& visit);
  void emit();
  void emit_layer(std::size_t emitter);

  Model model_;
  bool shows_tets_;
  mutable Exec exec_;
  Constants<Real, D> constants_;
  State<Real, D> state_;
  Workspace<Real, D> work_;
  SolidSystem<Real> solids_;         ///< none in two dimensions
  VertexParticles<Real> vertices_;  ///< nor these
  RodSystem<Real> rods_;            ///< nor these
  struct Emitter {
    Jet<D> jet;
    Newcomers<Real, D> particle;  ///< what its particles have in common
    double density;               ///< [kg/m^3]
    double wave_speed2;           ///< of its material at rest [m^2/s^2]
    double gave_at = -1;          ///< when particles last came out of it [s]
  };
  std::vector<Emitter> emitters_;
  std::vector<std::int32_t> chosen_;  ///< particles of a layer that are kept
  std::vector<Real> places_;          ///< theirs
  Index seeded_ = 0;                  ///< particles at the start; ids go on from here
  double speed_limit_ = 0;            ///< faster than this, something has gone wrong [m/s]
};

/// One substep of length at most `dt` (shorter when the grid turns out faster than a cell per step): the algorithm.
/// Returns the step taken; `bad` is the first particle that is no longer finite, `solve` what an implicit step took.
template <class Real, int D>
double advance(Exec& ex, const Model& model, const Constants<Real, D>& constants, double dt, State<Real, D>& state,
               SolidSystem<Real>& solids, VertexParticles<Real>& vertices, RodSystem<Real>& rods,
               Workspace<Real, D>& work, Index& bad, SolveReport& solve, StrandReport& strands);

}  // namespace tribo::TRIBO_BACKEND
