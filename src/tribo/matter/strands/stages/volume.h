#pragma once

#include <vector>

#include "tribo/contact/colliders.h"
#include "tribo/matter/strands/stages/pressure.h"
#include "tribo/matter/strands/stages/rod.h"

/// \file
/// Hair volume as an incompressible FLIP fluid, to compare with (theory I, a reconstruction of McAdams 2009): strands
/// tell a staggered grid their velocities, a pressure makes these keep the density that the hair was groomed with, and
/// strands take over the change.

namespace tribo::TRIBO_BACKEND {

struct VolumeRules {
  double dx = 0;  ///< spacing of the grid [m]
  Incompressibility incompressibility = Incompressibility::bilateral;
  /// Part of v_lag that strands keep beside the change on the grid, in `flip_time`, or in a step where that is 0. A
  /// part per step would damp what the grid does not see the more, the shorter steps are (experiments_hair 1).
  double flip = 0.95;
  double flip_time = 1.0 / 24;  ///< [s]
  /// Part of an excess of density that is taken off in `regain_time`, or in a step where that is longer. By the step
  /// alone (theory I.2), short steps would throw hair apart: crossing tubes won 7 percent of energy in four steps of
  /// 0.25 ms, and by time a tenth of a percent.
  double regain = 0.5;
  double regain_time = 2.5e-3;  ///< [s]
  double tolerance = 1e-4;      ///< of the divergence, relative to the largest that is wrong
  int iterations = 200;         ///< of a solve, at most
  int rounds = 12;              ///< of solves where pressure only pushes
  double unsettled = 2e-3;      ///< part of cells of hair that may then still be about to change sides
  Size most_cells = Size{1} << 25;
};

/// Part of a strand at a point: of the mass of `vertex`, and of that of the vertex after it.
template <class Real>
struct VolumeSample {
  Index vertex;
  Real along;  ///< between the two
  Real own, next;
};

/// What is measured once, on the strands as they are at time 0.
template <class Real>
struct VolumeTargets {
  std::vector<double> density;       ///< of bodies, the mean over their mass; 0 of those that are no volume [kg/m^3]
  Array<Real> target;                ///< of vertices: the density of their body where they are [kg/m^3]
  Index samples = 0;                 ///< of all bodies that are
  Array<VolumeSample<Real>> sample;  ///< in the order of vertices
  Array<Index> first;                ///< sample of each vertex, and one past the last
  bool empty() const { return samples == 0; }
  std::size_t bytes() const { return target.bytes() + sample.bytes() + first.bytes(); }
};

/// A sample on the grid, in cells from the window's corner.
template <class Real>
struct alignas(16) VolumePoint {
  Vec<Real, 3> at;
  Real mass;              ///< [kg]
  Vec<Real, 3> momentum;  ///< [kg m/s]
  Real target;            ///< density [kg/m^3]
};

enum class VolumeCell : Index { air, hair, solid };

/// Scratch memory. May be dropped at any step boundary.
template <class Real>
struct VolumeWork {
  CellGrid grid;                   ///< the window: cells that have hair, and two more on every side
  Vec<double, 3> corner;           ///< of the window [m]
  Index touched = 0;               ///< cells with anything to do
  Array<VolumePoint<Real>> point;  ///< sorted by halves of cells
  Array<std::uint64_t> key;
  Array<Index> order;
  RadixSorter sorter;
  Array<Index> row;   ///< first point of each row of half cells along the last axis
  Array<Index> half;  ///< first point of each half cell, and one past the row's last; of rows with points
  Array<Index> flag, flag_next;
  Array<Index> cell;            ///< the touched ones
  Array<Index> kind;            ///< VolumeCell of each cell
  Array<Index> valid;           ///< a bit for each of a cell's faces toward the cell before, where it has a velocity
  Array<Index> blocked;         ///< likewise, where a collider prescribes it
  Array<Real> density, target;  ///< of cells [kg/m^3]
  Field<Real, 3> face_mass;     ///< [kg]
  Field<Real, 3> u, u_new;      ///< velocities of faces, before and after the solve [m/s]
  Array<Real> right;            ///< right-hand side, of cells of hair [m/s]
  Field<Real, 3> change;        ///< u_new - flip u, interpolated at samples [m/s]
  Field<Real, 3> v_lag;         ///< of all vertices [m/s]
  PressureSolver<Real> pressure;

  std::size_t bytes() const {
    std::size_t sum = point.bytes() + key.bytes() + order.bytes() + sorter.bytes() + density.bytes() + target.bytes() +
                      face_mass.bytes() + u.bytes() + u_new.bytes() + right.bytes() + change.bytes() + v_lag.bytes() +
                      pressure.bytes();
    for (const Array<Index>* a : {&row, &half, &flag, &flag_next, &cell, &kind, &valid, &blocked}) sum += a->bytes();
    return sum;
  }
};

struct VolumeReport {
  Size window = 0;      ///< cells
  Index unknowns = 0;   ///< cells that have pressure in the first solve
  int iterations = 0;   ///< of conjugate gradients
  int rounds = 0;       ///< solves
  double residual = 0;  ///< largest error of the divergence over the largest that was wrong
  bool converged = true;
};

/// Density that each body whose method is `mcadams` has at its vertices, alone. `state` must be that of `load_rods`:
/// after a restart targets are then the same. Theory I.2 takes one number for a body, the mean over its cells; it
/// would swell at once where it is groomed denser: two crossing tubes of 100 strands won 10 percent of energy in four
/// steps.
template <class Real>
VolumeTargets<Real> measure_volume(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh,
                                   const RodState<Real>& state, VolumeWork<Real>& work);

/// Density and velocities of the hair on the grid, and the system of its pressure. Part of `volume_blend`.
template <class Real>
void rasterize_volume(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh, const VolumeTargets<Real>& targets,
                      const RodState<Real>& state, VolumeWork<Real>& work);
template <class Real>
VolumeReport project_volume(Exec& ex, const VolumeRules& rules, const typename Colliders<Real, 3>::View& colliders,
                            double dt, VolumeWork<Real>& work);

/// v_blend from v_lag, both in the state's velocities; driven vertices keep theirs. Throws DeviceError where the hair
/// is spread over more cells than `most_cells`.
template <class Real>
VolumeReport volume_blend(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh,
                          const VolumeTargets<Real>& targets, const typename Colliders<Real, 3>::View& colliders,
                          double dt, RodState<Real>& state, VolumeWork<Real>& work);

/// `volume_blend`, and the change of velocities through the matrices of strands: after `rod_step`, before
/// `collide_strands`.
template <class Real>
VolumeReport volume_step(Exec& ex, const VolumeRules& rules, const RodMesh<Real>& mesh,
                         const VolumeTargets<Real>& targets, const typename Colliders<Real, 3>::View& colliders,
                         double dt, RodState<Real>& state, RodWorkspace<Real>& rods, VolumeWork<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
