#pragma once

#include "tribo/matter/rigid/stages/rigid.h"

/// \file
/// Impulses between rigid bodies and points of other matter: nodes of a grid, samples of solids. All points of a body
/// share its six numbers, so that no coloring makes them parallel, and many light ones under a heavy body take sweeps
/// without end. Each answers to the body's velocity alone, however: eliminated, they leave Newton's method for these
/// six numbers (experiments_rigid "Recommended defaults" 9).

namespace tribo::TRIBO_BACKEND {

/// A place where a body and other matter touch, or will before the step ends.
struct RigidPoint {
  Index body;
  Vec3d at;             ///< where both take the impulse [m]
  Vec3d n;              ///< away from the body's surface
  Vec3d v;              ///< of the other matter there, without the impulse of this point [m/s]
  double inverse_mass;  ///< of the other matter, above 0 [1/kg]
  double allowed;       ///< approach that closes the gap within the step, or less than 0 to part [m/s]
  double friction;
};

/// Points of one body, and what their impulses come to.
struct PointedBody {
  Index body, begin, end;  ///< points
  Index run_begin, run_end;
  Sym<double, 3> inertia;                  ///< in the world [kg m^2]
  double length;                           ///< makes speeds of angular velocities: a radius of gyration [m]
  Vec<double, 6> before;                   ///< velocities without the impulses of points
  Vec<double, 6> found, direction, trial;  ///< of Newton's method; `trial` is what points answer to
  Vec<double, 6> wrench;  ///< impulse of the body on its points, and its moment about the center [N s], [N m s]
  double best;            ///< residual of `found`, in energies
  double part;            ///< of `direction` that is tried
  int iterations;
  int state;  ///< see PointSolve
};

enum PointSolve : int { searching, settled, unsettled };

/// Sums over some points of a body: six numbers, how they change with its velocities, and the size of all impulses.
struct PointSums {
  static constexpr int count = 43;
  double s[count];
};

struct PointReport {
  Index bodies = 0;     ///< with points
  Index unsettled = 0;  ///< whose impulses have been cut, see solve_points
};

/// Fill `point` by rising bodies, and `count`; then list_points, once, and solve_points.
struct RigidPoints {
  Array<RigidPoint> point;
  Index count = 0;
  Array<Vec3d> impulse;  ///< on the other matter; its negative is on the body [N s]

  // scratch memory
  Array<Index> mark, first;
  Array<PointedBody> bodies;
  Array<Index> run_start, run_body;
  Array<PointSums> sums;
  Index body_count = 0, run_count = 0;

  std::size_t bytes() const {
    return point.bytes() + impulse.bytes() + mark.bytes() + first.bytes() + bodies.bytes() + run_start.bytes() +
           run_body.bytes() + sums.bytes();
  }
};

/// Whose points they are; all impulses 0. Bodies must be placed.
void list_points(Exec& ex, RigidWork& work, RigidPoints& points);

/// Impulses with which no point approaches faster than allowed, none pulls, and all are in their cones. They replace
/// those of the last call, which bodies have in their velocities: so bodies may get other impulses in between, and
/// points other velocities `v`. Linear and angular momentum are kept to rounding. Kinetic energy falls if the method
/// settles; where it does not within its iterations, which points with much friction and 10^4 times the body's mass can
/// bring about, that body's impulses are cut to the part with which the energy is least.
PointReport solve_points(Exec& ex, RigidWork& work, RigidPoints& points);

}  // namespace tribo::TRIBO_BACKEND
