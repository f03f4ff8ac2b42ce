#pragma once

#include <vector>

#include "tribo/engine/engine.h"
#include "tribo/engine/rod_bundle.h"
#include "tribo/setup/rods.h"
#include "tribo/stages/rod/collide.h"
#include "tribo/stages/rod/obstacles.h"
#include "tribo/stages/rod/skin.h"
#include "tribo/stages/rod/volume.h"

namespace tribo::TRIBO_BACKEND {

/// The strands of a simulation: their state, what they are made of, and scratch memory.
template <class Real>
class RodSystem {
 public:
  RodState<Real> state;
  RodMesh<Real> mesh;
  RodWorkspace<Real> work;
  RodConstants<Real> constants;
  StrandContactRules contact_rules;
  StrandCollisions<Real> collisions;
  RodObstacles<Real> obstacles;
  RodBundle<Real> bundle;  ///< strands in bulk; may be empty
  VolumeRules volume_rules;
  VolumeTargets<Real> volume;  ///< of hair whose method is `mcadams`
  VolumeWork<Real> volume_work;
  StrandContactReport touching;  ///< of the last step
  Index contacts = 0;            ///< with colliders, likewise
  bool tangled = false;          ///< strands were about to pass through each other since the last step
  double least_dt = 0;           ///< in steps no longer, what cannot be resolved between strands passes [s]
  Index bad = no_index;          ///< first vertex that is no longer finite

  void load(Exec& ex, const Model& model, const RodSeed& seed);
  bool empty() const { return mesh.vertices == 0; }
  std::int64_t segments() const { return std::int64_t{mesh.vertices} - mesh.strands; }

  /// Largest speed of driven vertices in [time, time + dt] [m/s].
  double driven_speed(double time, double dt) const;
  double driven_speed() const;  ///< at any time
  /// How far things that touch may come towards each other in a step [m]. A vertex that is stopped while its neighbors
  /// go on stretches the segments between them to second order in that, which a linearly implicit step does not
  /// foresee: with half a segment, strands that hit the ground gained a hundred times their energy within half a
  /// second. And strands that go half a cell and more are in each other before the grid sees them (experiments_hair 4).
  double way() const { return way_; }
  /// Speed of waves of stretching, the quickest that strands have [m/s].
  double wave_speed() const { return wave_speed_; }

  /// Bounds of the next step, from positions and velocities alone.
  void evaluate(Exec& ex) { bad = evaluate_rods(ex, mesh, state); }
  /// v_lag (Han 2019, eq. 30) from the velocities of `begin_rods`; returns the largest speed, or, of hair that is `alone`,
  /// change of velocity [m/s]. Roots on a skin go with the meshes in `skin`, whose velocities are those of the step.
  double push(Exec& ex, const SolidState<Real>& skin, double time, double dt, bool alone);
  /// Strands in bulk on their grid: with each other, with particles on theirs where there are any, and with what
  /// `bodies` does, if anything. Returns the largest velocity component that grids are left with [m/s].
  double meet(Exec& ex, const GridNodes<Real, 3>* particles, const GridAction<Real, 3>& bodies, double dt);
  /// Contact among strands and with colliders, on the velocities of `push` and `meet`. False where the step should be
  /// shorter: what touches came from too far, or strands would still pass through each other, unless it is the `last`
  /// step for these.
  bool collide(Exec& ex, const typename Colliders<Real, 3>::View& colliders, double dt, bool last);
  /// Takes back what `push` and contact have done to velocities, where the step does not come about.
  void undo(Exec& ex);
  /// The way of the vertices.
  void finish(Exec& ex, double dt);

  /// The first pair of strands that passes through each other in the step that `collide` has looked at.
  StrandPassage passage(Exec& ex, double time) const;

  /// What observers see: every strand with its radius.
  void show(Exec& ex, const Model& model, Frame& frame) const;
  int object_of(Index vertex) const { return object_at(mesh.body, &RodBody::vertices, vertex); }
  std::size_t bytes() const;

 private:
  std::vector<std::vector<std::int32_t>> sizes_;  ///< of strands, by body
  std::vector<std::vector<Real>> radius_;         ///< of vertices, by body [m]
  std::vector<double> drive_radius_;              ///< distance of a drive's farthest vertex from its origin [m]
  double wave_speed_ = 0, way_ = 0;
  double closing_ = 0;  ///< in the last step [m/s]
  bool pushed_ = false;
  double lost_ = 0;  ///< depth beyond a collider from which nothing comes back [m]
};

}  // namespace tribo::TRIBO_BACKEND
