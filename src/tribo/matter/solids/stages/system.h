#pragma once

#include <string>
#include <vector>

#include "tribo/engine/system.h"
#include "tribo/matter/solids/seed.h"
#include "tribo/matter/solids/stages/couple.h"
#include "tribo/matter/solids/stages/grid_damping.h"
#include "tribo/matter/solids/stages/solid.h"

namespace tribo::TRIBO_BACKEND {

/// The meshes of a simulation: their state, what they are made of, and scratch memory.
template <class Real>
class SolidSystem final : public System<Real, 3> {
 public:
  using View = typename Colliders<Real, 3>::View;

  SolidState<Real> state;
  SolidMesh<Real> mesh;
  ElasticWorkspace<Real> work;
  SolidConstants<Real> constants;
  ContactConstants contact_constants;
  ContactWorkspace<Real> contact;
  CouplingWorkspace<Real> coupling;
  GridDampingWorkspace<Real> grid_damping;
  ContactCounts contacts;                         ///< of the last step
  Index bad = no_index;                           ///< first vertex that is no longer finite
  const OwnStrands<Real>* own_strands = nullptr;  ///< that grow on some of them
  bool carried = false;  ///< rigid bodies have vertices with them: after they have moved, they ask to `evaluate`

  SolidSystem(Exec& ex, const Model& model, const Systems<Real, 3>&) : System<Real, 3>(ex, model) {}
  void load(const Seeds& seeds) override;
  /// Without forces of the first step.
  void load_meshes(const SolidSeed& seed);
  bool empty() const override { return mesh.vertices == 0; }
  bool has_bodies() const override { return !empty(); }
  /// Largest speed of driven vertices in [time, time + dt] [m/s].
  double driven_speed(double time, double dt) const;

  void each_saved(StateList& list) override;
  void loaded() override;
  void bound(const Surroundings& around, StepBound& step) const override;

  /// Forces and bounds of the next step, from positions and velocities alone.
  void evaluate();
  void begin() override;
  ImplicitReport predict(const StepTry& attempt) override;
  double meet(const Phase<Real, 3>& phase, double dt) override;
  /// Others have changed velocities of vertices between `meet` and `collide`.
  void pushed();
  bool collide(const StepTry& attempt, const View& colliders) override;
  void finish(const StepTry& attempt, StepReport& report) override;
  void undo() override;

  /// By momentum where nothing is driven, else by the velocities of what is not.
  void contact_sources(std::vector<ObjectContact>& objects) const override;
  /// Whether keyframes move some of a body's vertices.
  bool is_driven(std::size_t body) const { return driven_[body]; }

  double speed() const override { return state.speed; }
  double expected_speed() override;
  void measure(std::vector<ObjectSums>& objects) override;
  /// Boundaries of bodies, and their inside where options ask for it.
  void show(const EngineOptions& options, Frame& frame) const override;
  void count(EngineCounts& counts) const override;
  int object_of(Index vertex) const { return object_at(mesh.body, &SolidBody::vertices, vertex); }
  std::string complaint() const override;
  std::size_t bytes() const override;

 private:
  using System<Real, 3>::ex_;
  using System<Real, 3>::model_;

  void take_back_contact();
  bool counts_contact() const { return told_entry_.size() > 0; }

  /// What observers see of a body: its boundary, and the vertices that are on it.
  struct Skin {
    std::vector<Index> vertices;
    std::vector<std::int32_t> triangles;
  };
  std::vector<Skin> skins_;
  std::vector<double> drive_radius_;                      ///< distance of a drive's farthest vertex from its origin [m]
  double wave_speed_ = 0;                                 ///< of the quickest waves in any body at rest [m/s]
  bool pushed_ = false, met_ = false, collided_ = false;  ///< what a try has done so far
  std::vector<bool> driven_;                              ///< of bodies
  Array<Index> told_entry_;                               ///< of vertices: the object whose contact is counted, or -1
  Field<Real, 3> lag_;                                    ///< velocities without contact, where that is counted
  Field<Real, 3> slip_start_;                             ///< of samples, before contact in this try
};

}  // namespace tribo::TRIBO_BACKEND
