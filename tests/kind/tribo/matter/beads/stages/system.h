#pragma once

#include "tribo/engine/system.h"
#include "tribo/matter/beads/seed.h"

namespace tribo::TRIBO_BACKEND {

/// Beads by symplectic Euler: m dv = dt (m g + forces of the springs on both sides), dx = dt v.
template <class Real>
class BeadSystem final : public System<Real, 3> {
 public:
  BeadSystem(Exec& ex, const Model& model, const Systems<Real, 3>&) : System<Real, 3>(ex, model) {}

  void load(const Seeds& seeds) override;
  bool empty() const override { return count_ == 0; }
  void each_saved(StateList& list) override;
  void bound(const Surroundings& around, StepBound& step) const override;
  ImplicitReport predict(const StepTry& attempt) override;
  void finish(const StepTry& attempt, StepReport& report) override;
  double expected_speed() override;
  void measure(std::vector<ObjectSums>& objects) override;
  void show(const EngineOptions& options, Frame& frame) const override;
  void count(EngineCounts& counts) const override { counts.vertices += count_; }
  std::string complaint() const override;
  std::size_t bytes() const override { return this->saved_bytes() + v_next_.bytes() + spring_.bytes() + mass_.bytes(); }

 private:
  using System<Real, 3>::ex_;
  using System<Real, 3>::model_;

  Field<Real, 3> x_, v_;   ///< [m], [m/s]
  Field<Real, 3> v_next_;  ///< of the step that is tried
  Field<Real, 2> spring_;  ///< stiffness and length at rest
  Array<Real> mass_;
  Index count_ = 0;
  std::vector<BeadRow> rows_;
  std::vector<double> masses_;
  double rate_ = 0;       ///< largest that springs may give a bead [1/s]
  Index bad_ = no_index;  ///< first bead that is no longer finite
};

}  // namespace tribo::TRIBO_BACKEND
