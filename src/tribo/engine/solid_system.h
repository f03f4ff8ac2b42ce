#pragma once

#include <string>
#include <vector>

#include "tribo/engine/engine.h"
#include "tribo/setup/solids.h"
#include "tribo/stages/solid/couple.h"
#include "tribo/stages/solid/grid_damping.h"
#include "tribo/stages/solid/solid.h"

namespace tribo::TRIBO_BACKEND {

/// The meshes of a simulation: their state, what they are made of, and scratch memory.
template <class Real>
class SolidSystem {
 public:
  SolidState<Real> state;
  SolidMesh<Real> mesh;
  ElasticWorkspace<Real> work;
  SolidConstants<Real> constants;
  ContactConstants contact_constants;
  ContactWorkspace<Real> contact;
  CouplingWorkspace<Real> coupling;
  GridDampingWorkspace<Real> grid_damping;
  ContactCounts contacts;  ///< of the last step
  Index bad = no_index;    ///< first vertex that is no longer finite

  void load(Exec& ex, const Model& model, const SolidSeed& seed);
  bool empty() const { return mesh.vertices == 0; }

  /// Speed of the quickest waves in any body at rest [m/s].
  double wave_speed() const { return wave_speed_; }
  /// Largest speed of driven vertices in [time, time + dt] [m/s].
  double driven_speed(double time, double dt) const;
  double driven_speed() const;  ///< at any time

  /// Forces and bounds of the next step, from positions and velocities alone.
  void evaluate(Exec& ex, const TimeSpec& time);
  /// v_lag from the velocities of `begin_solids`; the report of an implicit step.
  ImplicitReport push(Exec& ex, const TimeSpec& settings, double time, double dt);

  /// Bodies at the velocities of `push` meet particles, or strands in bulk, each with its `friction` against them.
  /// Changes the velocities of vertices, which the next `push` undoes. Returns the largest velocity component it leaves
  /// on the grid [m/s].
  double couple_with(Exec& ex, const GridNodes<Real, 3>& grid, const Array<Real>& friction, double dt);
  /// Takes back what these have done to velocities, where the step does not come about.
  void undo(Exec& ex);
  /// Contact, and the way of the vertices; `coupled` after the one above.
  void finish(Exec& ex, const typename Colliders<Real, 3>::View& colliders, const TimeSpec& time, double dt,
              bool coupled);

  /// What observers see: boundaries, and with `tets` the inside of bodies, too.
  void show(Exec& ex, const Model& model, bool tets, Frame& frame) const;
  int object_of(Index vertex) const { return object_at(mesh.body, &SolidBody::vertices, vertex); }
  std::size_t bytes() const;

 private:
  /// What observers see of a body: its boundary, and the vertices that are on it.
  struct Skin {
    std::vector<Index> vertices;
    std::vector<std::int32_t> triangles;
  };
  std::vector<Skin> skins_;
  std::vector<double> drive_radius_;  ///< distance of a drive's farthest vertex from its origin [m]
  double wave_speed_ = 0;
  bool pushed_ = false;
};

}  // namespace tribo::TRIBO_BACKEND
