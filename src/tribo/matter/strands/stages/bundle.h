#pragma once

#include "tribo/engine/state_list.h"
#include "tribo/grid/phase.h"
#include "tribo/matter/strands/stages/couple_particles.h"
#include "tribo/matter/strands/stages/rod.h"

namespace tribo::TRIBO_BACKEND {

/// Strands in bulk, on a grid of their own (Han 2019, sec. 5.1, 5.2): their vertices are particles of an elastoplastic
/// material that resists being pressed together, with friction, and nothing else. It keeps the volume of hair, which
/// contact of single segments does not, and is where hair meets particles and meshes; it does not stop strands from
/// crossing.
///
/// The material is sand without cohesion (eqs. 7-9, return mapping of Klar 2016) whose modulus goes with the density
/// that the grid sees, lambda + 2 mu = rho c^2: waves then have the speed c in thin and in thick hair alike. How much
/// hair is compressed follows from c over the speed of an impact alone (experiments_hair 2), and of the rest volume
/// V0 = m / rho and the modulus only the product m c^2 remains, so that neither is kept.
///
/// What evolves are C, F and the volume v_c of each particle; positions and velocities are copies of the vertices'.
template <class Real>
class RodBundle {
 public:
  void load(Exec& ex, double dx, const RodSeed& seed);
  bool empty() const { return count() == 0; }
  Index count() const { return grid_.state.count; }

  /// c, the largest of all bodies [m/s].
  double wave_speed() const { return wave_speed_; }
  /// Longest step that its stresses allow (experiments_hair default 7) [s].
  double stable_dt() const { return 0.8 * static_cast<double>(grid_.constants.dx) / wave_speed_; }
  /// Friction against particles: that of the scene, or the least of all bodies.
  double friction() const { return friction_; }
  /// xi of eq. 33 in a step: what strands lose of the velocity that the grid does not see.
  double lost_part(double dt) const;

  /// Bins and grid for where vertices are; once a step, before it is tried with any dt.
  void begin(Exec& ex, const RodState<Real>& rods);
  /// v_lag of the vertices to the grid, and the forces of eq. 31 but for gravity, which v_lag has. Returns the largest
  /// velocity component of a node [m/s].
  double scatter(Exec& ex, const RodState<Real>& rods, double dt);
  /// The grid after `scatter`, for what else acts on it before `blend`.
  GridNodes<Real, 3> nodes() { return grid_.nodes(); }
  GridPhase<Real, 3>& grid() { return grid_; }
  /// v_blend of eq. 33 to the vertices, through the strands' matrix A, and the material's next strain (eq. 32). After
  /// `rod_step` and `scatter` of the same dt, with v_lag still in the state. The strain is that of the step's begin
  /// again when `scatter` or `undo` come before `accept`. `met_particles`: `couple_particles` was between.
  void blend(Exec& ex, const RodMesh<Real>& mesh, double dt, bool met_particles, RodState<Real>& rods,
             RodWorkspace<Real>& work);
  /// The step is taken; no vertex moved farther than `way` [m].
  void accept(double way) { grid_.moved(way / static_cast<double>(grid_.constants.dx)); }
  void undo() { grid_.undo(); }

  /// All that evolves.
  void each_saved(StateList& list);
  /// Whether what comes from a checkpoint can be of these strands.
  void check(const StateLoader& loader) const;
  void loaded(Exec& ex) { grid_.loaded(ex); }

  /// Scratch memory of contact with particles.
  CoupleParticlesWork<Real> coupling;

  /// Memory of all else.
  std::size_t scratch_bytes() const;

 private:
  GridPhase<Real, 3> grid_;
  Field<Real, 3> v_lag_;
  double wave_speed_ = 0, friction_ = 0;
  double blend_ = 0, blend_time_ = 0;
  Index vertices_ = 0;
};

}  // namespace tribo::TRIBO_BACKEND
