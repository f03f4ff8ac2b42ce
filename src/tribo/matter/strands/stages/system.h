#pragma once

#include <string>
#include <vector>

#include "tribo/engine/system.h"
#include "tribo/matter/rigid/stages/system.h"
#include "tribo/matter/solids/stages/system.h"
#include "tribo/matter/strands/contact/collide.h"
#include "tribo/matter/strands/contact/obstacles.h"
#include "tribo/matter/strands/seed.h"
#include "tribo/matter/strands/stages/bundle.h"
#include "tribo/matter/strands/stages/skin.h"
#include "tribo/matter/strands/stages/volume.h"

namespace tribo::TRIBO_BACKEND {

/// The strands of a simulation: their state, what they are made of, and scratch memory.
template <class Real>
class RodSystem final : public System<Real, 3> {
 public:
  using View = typename Colliders<Real, 3>::View;

  RodState<Real> state;
  RodMesh<Real> mesh;
  RodWorkspace<Real> work;
  RodConstants<Real> constants;
  StrandContactRules contact_rules;
  StrandCollisions<Real> collisions;
  RodObstacles<Real> obstacles;
  RodBundle<Real> bundle;        ///< strands in bulk; may be empty
  OwnStrands<Real> own_strands;  ///< where strands grow on bodies
  StrandBodies<Real> touched_bodies;
  StrandRigids<Real> touched_rigids;
  VolumeRules volume_rules;
  VolumeTargets<Real> volume;  ///< of hair whose method is `mcadams`
  VolumeWork<Real> volume_work;

  RodSystem(Exec& ex, const Model& model, const Systems<Real, 3>& others)
      : System<Real, 3>(ex, model),
        bodies_(others.template of<SolidSystem<Real>>()),
        rigids_(others.template of<RigidSystem<Real>>()) {}
  void load(const Seeds& seeds) override {
    load_strands(seeds.of<RodSeed>());
    bodies_.own_strands = &own_strands;
  }
  void load_strands(const RodSeed& seed);
  bool empty() const override { return mesh.vertices == 0; }
  /// Largest speed of driven vertices in [time, time + dt] [m/s].
  double driven_speed(double time, double dt) const;
  double driven_speed() const;  ///< at any time

  void each_saved(StateList& list) override;
  void check(const StateLoader& loader) const override;
  void loaded() override;
  void bound(const Surroundings& around, StepBound& step) const override;
  double paced(double dt) const override;

  /// Bounds of the next step, from positions and velocities alone.
  void evaluate() { bad_ = evaluate_rods(ex_, mesh, state); }
  void begin() override;
  ImplicitReport predict(const StepTry& attempt) override;
  double scatter(const StepTry& attempt) override;
  const Phase<Real, 3>* phase() const override { return bundle.empty() ? nullptr : &phase_; }
  double couple(const Phase<Real, 3>& earlier) override;
  double gather(const StepTry& attempt) override;
  bool collide(const StepTry& attempt, const View& colliders) override;
  void finish(const StepTry& attempt, StepReport& report) override;
  void undo() override;
  void taken(double dt) override { state.pace = dt; }

  /// Where roots hold strands, what these give is no contact, and what contact gives is partly with them; nor is air.
  void contact_sources(std::vector<ObjectContact>& objects) const override;

  double speed() const override { return state.speed; }
  double expected_speed() override;
  void measure(std::vector<ObjectSums>& objects) override;
  /// Every strand with its radius.
  void show(const EngineOptions& options, Frame& frame) const override;
  void count(EngineCounts& counts) const override;
  std::string complaint() const override;
  std::size_t bytes() const override;

 private:
  using System<Real, 3>::ex_;
  using System<Real, 3>::model_;

  /// Nothing but hair: how far it goes in a step as a whole matters to nobody.
  static bool alone(const Surroundings& around) { return !around.particles && !around.bodies; }
  /// Which vertices are so near to their roots that they do not meet what they grow on.
  void find_own_strands(const RodSeed& seed);
  bool has_skin() const { return mesh.skin_vertices > 0; }
  /// What strands have passed on, to the bodies under their roots.
  double push_skin(double dt);
  void settle_skin(double dt);
  SkinBodies<Real> skin();
  /// The first pair of strands that passes through each other in the step that `collide` has looked at.
  StrandPassage passage(double time) const;
  int object_of(Index vertex) const { return object_at(mesh.body, &RodBody::vertices, vertex); }

  SolidSystem<Real>& bodies_;  ///< the meshes that roots may be on
  RigidSystem<Real>& rigids_;  ///< likewise
  SkinWork<Real> skin_work_;
  std::vector<std::vector<std::int32_t>> sizes_;  ///< of strands, by body
  std::vector<std::vector<Real>> radius_;         ///< of vertices, by body [m]
  std::vector<double> drive_radius_;              ///< distance of a drive's farthest vertex from its origin [m]
  std::vector<bool> driven_;  ///< of bodies: whether something holds some of their strands, or air does
  double wave_speed_ = 0;                         ///< of waves of stretching, the quickest that strands have [m/s]
  /// How far things that touch may come towards each other in a step [m]. A vertex that is stopped while its neighbors
  /// go on stretches the segments between them to second order in that, which a linearly implicit step does not
  /// foresee: with half a segment, strands that hit the ground gained a hundred times their energy within half a
  /// second. And strands that go half a cell and more are in each other before the grid sees them (experiments_hair 4).
  double way_ = 0;
  double lost_ = 0;               ///< depth beyond a collider from which nothing comes back [m]
  double closing_ = 0;            ///< in the last step [m/s]
  StrandContactReport touching_;  ///< of the last step
  Index contacts_ = 0;            ///< with colliders, likewise
  bool tangled_ = false;          ///< strands were about to pass through each other since the last step
  bool pushed_ = false;
  Phase<Real, 3> phase_{.number = 1, .particles = &bundle.grid()};
  bool met_particles_ = false;
  Index bad_ = no_index;  ///< first vertex that is no longer finite
};

}  // namespace tribo::TRIBO_BACKEND
