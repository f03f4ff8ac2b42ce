#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tribo/engine/system.h"
#include "tribo/grid/phase.h"
#include "tribo/matter/particles/emission.h"
#include "tribo/matter/particles/seed.h"

namespace tribo::TRIBO_BACKEND {

/// Particles of every material on their grid, what emitters add to them and sinks take.
template <class Real, int D>
class ParticleSystem final : public System<Real, D> {
 public:
  GridPhase<Real, D> grid;
  Constants<Real, D>& constants = grid.constants;
  State<Real, D>& state = grid.state;
  Workspace<Real, D>& work = grid.work;

  ParticleSystem(Exec& ex, const Model& model, const Systems<Real, D>&) : System<Real, D>(ex, model) {}
  void load(const Seeds& seeds) override;
  bool empty() const override { return state.count == 0; }
  /// Particles at the start; ids of those that join go on from here.
  Index seeded() const { return seeded_; }
  /// Material of an object's particles.
  Index group_of(int object) const { return group_[static_cast<std::size_t>(object)]; }
  /// `land` is called when a step has moved particles, before they are sorted, and puts those of a material where they
  /// belong. On a GPU the step may yet be refused. Only the last materials can have such.
  void on_landing(Index group, std::function<void()> land) {
    constants.first_landing = std::min(constants.first_landing, static_cast<int>(group));
    land_.push_back(std::move(land));
  }

  void each_saved(StateList& list) override;
  void check(const StateLoader& loader) const override;
  void loaded() override;

  /// What is due at the start of a step joins, and what lies in a sink that begins goes.
  void emit();
  void bound(const Surroundings& around, StepBound& step) const override;
  void bound_last(const Surroundings& around, StepBound& step) const override;
  bool wants_equal_steps() const override { return false; }

  /// Sorts those that `emit` has added, for whoever looks at them before a step does.
  void list_newcomers();

  /// Sorts and lists what a step needs, once for all its tries. False where there are no particles, and `others`
  /// instead.
  bool prepare(bool others);
  /// From particles to the grid; `act` there, which may be empty, returns the largest velocity component it leaves
  /// [m/s] and refuses by an infinite one; and back. Where a node would come farther than a cell, or `act` refuses, or
  /// an implicit step does not converge, only the grid has changed. After `prepare`.
  struct Outcome {
    bool taken = false;
    double speed = 0;  ///< largest velocity component of a node [m/s]
  };
  Outcome advance(const StepTry& attempt, const StepColliders<Real, D>& colliders, const std::function<double()>& act,
                  const std::function<bool(const ImplicitReport&)>& accept);
  const Phase<Real, D>* phase() const override { return scattered_ ? &phase_ : nullptr; }
  /// What has been taken above, with the speed of the fastest of all kinds, moves.
  void move(const StepTry& attempt, const StepColliders<Real, D>& colliders, double fastest);

  double speed() const override { return state.speed; }
  double expected_speed() override;
  /// What emitters bring in has a momentum of its own.
  void contact_sources(std::vector<ObjectContact>& objects) const override {
    for (const EmitterModel& emitter : model_.emitters)
      objects[static_cast<std::size_t>(emitter.object)].source = ContactSource::none;
  }
  void measure(std::vector<ObjectSums>& objects) override;
  void show(const EngineOptions&, Frame&) const override {}
  /// The columns of particles, now or, on a GPU with `later`, when somebody fetches them.
  void show_columns(RawFrame& raw, bool later);
  void count(EngineCounts& counts) const override;
  EngineFlows flows() const;
  std::string complaint() const override;
  std::size_t bytes() const override;

 private:
  using System<Real, D>::ex_;
  using System<Real, D>::model_;

  void load_laws(const ParticleSeed& seed);
  void load_emitters();
  void upload(const ParticleSeed& seed);
  void emit_layer(std::size_t emitter);
  void each_flow(StateList& list);

  struct Emitter {
    Jet<D> jet;
    Newcomers<Real, D> particle;  ///< what its particles have in common
    double density;               ///< [kg/m^3]
    double wave_speed2;           ///< of its material at rest [m^2/s^2]
    double gave_at = -1;          ///< when particles last came out of it [s]
  };
  std::vector<Emitter> emitters_;
  void land() const {
    for (const auto& land : land_) land();
  }
  std::vector<std::function<void()>> land_;
  std::vector<Index> group_;          ///< law of each object
  std::vector<std::int32_t> chosen_;  ///< particles of a layer that are kept
  std::vector<Real> places_;          ///< theirs
  Index seeded_ = 0;
  Index bad_ = no_index;  ///< first particle that is no longer finite
  bool scattered_ = false;
  Phase<Real, D> phase_{.number = 0, .particles = &grid};
};

/// Those that others have made their own, the last of the `seeded`, must be in a checkpoint.
void check_passengers(const StateLoader& loader, Index seeded);

}  // namespace tribo::TRIBO_BACKEND
