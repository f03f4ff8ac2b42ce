#pragma once

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tribo/engine/engine.h"
#include "tribo/engine/state_list.h"
#include "tribo/grid/phase.h"
#include "tribo/setup/seeds.h"

namespace tribo::TRIBO_BACKEND {

/// What a kind of matter has to know of the others.
struct Surroundings {
  double time = 0;         ///< [s]
  bool particles = false;  ///< whether there are any
  bool bodies = false;     ///< likewise, of those that meet others by themselves
};

/// The length of the next step, by whatever bounds it most.
struct StepBound {
  double dt;
  const char* limit;
  double least_for_strands = 0;  ///< the fail-safe of strands asks for no shorter step [s]

  void at_most(double longest, const char* reason) {
    if (!(longest < dt)) return;
    dt = longest;
    limit = reason;
  }
  /// So that what goes with `speed` and is pulled on comes no farther than `way`: |v| dt + |g| dt^2 = way.
  void at_most_way(double way, double speed, double gravity, const char* reason) {
    if (speed + gravity > 0) at_most(2 * way / (speed + std::sqrt(speed * speed + 4 * gravity * way)), reason);
  }
};

/// A step that is tried.
struct StepTry {
  Surroundings around;  ///< as they begin
  double dt;
  std::int64_t refused;      ///< tries before it that contact found too long
  double least_for_strands;  ///< see StepBound
  ContactTally tally;        ///< where to tell impulses of contact
};

/// Particles with a grid of their own, as others meet them there: between the forces on the grid and the way back.
template <class Real, int D>
struct Phase {
  int number;  ///< in tables of friction: 0 the particles of a scene, 1 strands in bulk
  GridNodes<Real, D> grid{};
  GridPhase<Real, D>* particles = nullptr;  ///< whose grid it is
};

/// A kind of matter: particles, bodies of tets, strands, ... Whoever runs a simulation asks each the same and knows
/// none by name. A step goes through the calls from `begin` to `finish` in their order here; until `finish` it can be
/// taken again with another dt. Virtual calls are a handful a step.
template <class Real, int D>
class System {
 public:
  using View = typename Colliders<Real, D>::View;

  System(Exec& ex, const Model& model) : ex_(ex), model_(model) {}
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  virtual ~System() = default;

  /// Takes what its room has seeded.
  virtual void load(const Seeds& seeds) = 0;
  virtual bool empty() const = 0;
  /// Whether it has bodies that meet others by themselves.
  virtual bool has_bodies() const { return false; }

  /// All that evolves, in a fixed order.
  virtual void each_saved(StateList& list) = 0;
  /// What a list cannot see: whether what `loader` brings is this scene's. Throws IoError; changes nothing.
  virtual void check(const StateLoader&) const {}
  /// The list has come from a checkpoint: what follows from it, anew.
  virtual void loaded() {}

  /// Bounds of the next step.
  virtual void bound(const Surroundings& around, StepBound& step) const = 0;
  /// Those that ask what happens within the length that all others have left.
  virtual void bound_last(const Surroundings&, StepBound&) const {}
  /// Steps like the one before, where a kind wants that: dt or less.
  virtual double paced(double dt) const { return dt; }
  /// Whether steps within a frame should be alike: a shorter one in every frame is a rhythm that undamped meshes answer
  /// to, and their energy grew by a factor of ten in a hundred frames.
  virtual bool wants_equal_steps() const { return true; }

  /// Remembers what tries begin with.
  virtual void begin() {}
  /// The velocities that it would have by itself, from those of `begin`. Returns the fastest of them, and of implicit
  /// steps what they took.
  virtual ImplicitReport predict(const StepTry&) { return {.converged = true}; }
  /// Those with a grid of their own: to it, with all forces. Returns the largest velocity component there [m/s].
  virtual double scatter(const StepTry&) { return 0; }
  /// What others meet there until `gather`; null where there is nothing.
  virtual const Phase<Real, D>* phase() const { return nullptr; }
  /// Its phase with another that has been scattered before. Returns the largest velocity component it leaves [m/s].
  virtual double couple(const Phase<Real, D>&) { return 0; }
  /// Bodies with a phase. Returns as `couple` does.
  virtual double meet(const Phase<Real, D>&, double) { return 0; }
  /// Its phase back from the grid.
  virtual double gather(const StepTry&) { return 0; }
  /// Contact that is not on grids. False where the step should be shorter for that.
  virtual bool collide(const StepTry&, const View&) { return true; }
  /// The step is taken: moves, and what follows for the next.
  virtual void finish(const StepTry&, StepReport&) {}
  /// Takes back what a step has done that does not come about.
  virtual void undo() {}
  /// The step has been taken; without the end of a frame it would have been `dt` long.
  virtual void taken(double) {}

  /// Largest speed of an item now [m/s].
  virtual double speed() const { return 0; }
  /// Largest that anything of it can be expected to reach, by waves, motions and what it begins with [m/s].
  virtual double expected_speed() = 0;
  /// Says of its objects how what contact does to them can be known, where that is not by their momentum.
  virtual void contact_sources(std::vector<ObjectContact>&) const {}
  /// Its joints, with their impulses since `clear_joints`.
  virtual void report_joints(std::vector<JointReport>&) {}
  virtual void clear_joints() {}
  /// Adds to the sums of objects.
  virtual void measure(std::vector<ObjectSums>& objects) = 0;
  virtual void show(const EngineOptions& options, Frame& frame) const = 0;
  virtual void count(EngineCounts& counts) const = 0;
  /// Particles that are its own and that observers do not see; they have the last ids.
  virtual Index passengers() const { return 0; }
  /// The first item that is no longer finite, and the likely cause; or nothing.
  virtual std::string complaint() const = 0;
  virtual std::size_t bytes() const = 0;

 protected:
  /// Memory of what is saved.
  std::size_t saved_bytes() const {
    StateBytes bytes;
    const_cast<System*>(this)->each_saved(bytes);  // which only looks
    return bytes.value();
  }
  double gravity() const { return std::sqrt(squared_norm(model_.gravity)); }
  const Model::Object& object(int number) const { return model_.objects[static_cast<std::size_t>(number)]; }
  const MaterialSpec& material_of(const Model::Object& object) const {
    return model_.materials[static_cast<std::size_t>(object.material)];
  }

  Exec& ex_;
  const Model& model_;
};

/// All kinds of matter of a simulation.
template <class Real, int D>
class Systems {
 public:
  /// The one of a kind, for another that has to do with it; it must be before that in the list.
  template <class Kind>
  Kind& of() const {
    for (const auto& system : all_)
      if (auto* kind = dynamic_cast<Kind*>(system.get())) return *kind;
    throw std::logic_error("a kind of matter asks for one that is not before it");
  }
  /// In the order in which they are asked, saved and shown.
  const std::vector<std::unique_ptr<System<Real, D>>>& all() const { return all_; }

 protected:
  template <class Kind>
  void add(Exec& ex, const Model& model) {
    all_.push_back(std::make_unique<Kind>(ex, model, *this));
  }

 private:
  std::vector<std::unique_ptr<System<Real, D>>> all_;
};

}  // namespace tribo::TRIBO_BACKEND
