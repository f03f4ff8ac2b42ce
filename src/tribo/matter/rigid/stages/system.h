#pragma once

#include <vector>

#include "tribo/engine/system.h"
#include "tribo/matter/rigid/contact/forces.h"
#include "tribo/matter/rigid/contact/joints.h"
#include "tribo/matter/particles/stages/system.h"
#include "tribo/matter/rigid/contact/near_particles.h"
#include "tribo/matter/rigid/contact/solids.h"
#include "tribo/matter/rigid/contact/solve.h"
#include "tribo/matter/rigid/stages/pins.h"
#include "tribo/matter/solids/stages/system.h"

namespace tribo::TRIBO_BACKEND {

/// What observers see of a form, in the bodies' frames.
struct RigidSkin {
  std::vector<Vec3d> vertices;           ///< [m]
  std::vector<std::int32_t> triangles;  ///< corners, three for each
};

/// Rigid bodies and their joints (Han 2019, sec. 6; theory F), with contact by signed distance and impulses. They are in
/// double whatever Real is.
template <class Real>
class RigidSystem final : public System<Real, 3> {
 public:
  using View = typename System<Real, 3>::View;

  RigidMesh mesh;
  RigidState state;
  RigidWork work;
  RigidContacts contacts;
  RigidJoints joints;
  JointWork joint_work;
  RigidColors colors;
  NodeContacts<Real> nodes[2];  ///< by phase
  ParticleContacts<Real> particles;
  SolidMeeting solid_meeting;
  RigidPins<Real> pins;  ///< vertices of solids that go with bodies
  RigidForces forces;

  RigidSystem(Exec& ex, const Model& model, const Systems<Real, 3>& others)
      : System<Real, 3>(ex, model),
        all_particles_(others.template of<ParticleSystem<Real, 3>>()),
        solids_(others.template of<SolidSystem<Real>>()) {}
  void load(const Seeds& seeds) override;
  bool empty() const override { return mesh.count == 0; }
  bool has_bodies() const override { return !empty(); }

  /// Bodies in a step: from `predict` on where they are, from `collide` on what holds them.
  RigidStep step();

  void each_saved(StateList& list) override;
  void loaded() override;

  void bound(const Surroundings& around, StepBound& step) const override;
  void begin() override;
  ImplicitReport predict(const StepTry& attempt) override;
  double meet(const Phase<Real, 3>& phase, double dt) override;
  bool collide(const StepTry& attempt, const View& colliders) override;
  void finish(const StepTry& attempt, StepReport& report) override;

  /// By momentum where neither joints nor keyframes act.
  void contact_sources(std::vector<ObjectContact>& objects) const override;

  void report_joints(std::vector<JointReport>& all) override;
  void clear_joints() override;

  double speed() const override { return state.speed; }
  double expected_speed() override;
  void measure(std::vector<ObjectSums>& objects) override;
  void show(const EngineOptions& options, Frame& frame) const override;
  void count(EngineCounts& counts) const override;
  std::string complaint() const override;
  std::size_t bytes() const override;

 private:
  using System<Real, 3>::ex_;
  using System<Real, 3>::model_;

  double driven_speed(double time, double dt) const;
  void evaluate();
  double small_change(double part) const;
  /// Finds what touches, once a try.
  void touch(const StepTry& attempt);
  /// Impulses between bodies and by joints.
  void settle();
  const Array<double>& friction_with(int phase) const {
    return phase == 0 ? mesh.particle_friction : mesh.strand_friction;
  }
  /// The bodies of a scene, in `joined` where something is pinned to some.
  const RigidSeed& with_pins(const Seeds& seeds, RigidSeed& joined);
  void load_beside_solids(const SolidSeed& solids, const RigidSeed& seed);
  void pass_on_by_pins();
  /// Bodies and solids, in turns with what else bodies touch.
  void meet_solids(const StepTry& attempt);

  ParticleSystem<Real, 3>& all_particles_;
  SolidSystem<Real>& solids_;
  std::vector<RigidSkin> skins_;  ///< by form
  RigidContactRules rules_;
  std::vector<ColliderSpec> open_specs_;  ///< colliders without a surface to feel with
  Array<Index> open_number_;              ///< theirs in the scene
  Colliders<double, 3> open_;
  RigidSpeeds speeds_;
  Index bad_ = no_index;
  double moving_mass_ = 0;  ///< [kg]
  bool touched_ = false;
  StepTry attempt_{};
  Array<Shift> before_;      ///< velocities of bodies, to see whether rounds still change them
  Index unsettled_ = 0;      ///< bodies whose points were not settled, in this step
  std::vector<JointReport> reports_;  ///< what joints are called and have
  double motor_speed_ = 0;  ///< of motors that turn or push by speed [m/s]
};

}  // namespace tribo::TRIBO_BACKEND
