#pragma once

#include "tribo/stages/rod/holder.h"
#include "tribo/stages/rod/rod.h"
#include "tribo/state/colliders.h"

/// \file
/// Strands against colliders: vertices as balls of the strand's radius, with Coulomb friction. Impulses are found by
/// Jacobi iterations and reach velocities through the strand's own matrix.

namespace tribo::TRIBO_BACKEND {

/// A collider within reach of a vertex.
template <class Real>
struct RodObstacle {
  Vec<Real, 3> normal;    ///< to the allowed side
  Vec<Real, 3> velocity;  ///< of the collider's material there [m/s]
  Vec<Real, 3> impulse;   ///< so far [N s]
  Vec<Real, 3> before;    ///< likewise, of the iteration before, if accelerated
  Real least;             ///< normal velocity, relative to the collider's, at which the step ends in contact [m/s]
  Real friction;
  Index boundary;  ///< Boundary
};

/// Of each vertex as many, the nearest: in a corner of a box there are two that matter.
inline constexpr int obstacles_each = 2;

/// Scratch memory.
template <class Real>
struct RodObstacles {
  Array<RodObstacle<Real>> obstacle;  ///< `obstacles_each` of each vertex
  Array<Index> count;                 ///< of each vertex
  Array<Index> hit;                   ///< 1 of vertices that would be too near to one at the end of the step
  Array<Index> touched;               ///< of strands: 1 where a vertex is marked, as hit or as near
  Array<Real> mass;                   ///< that a vertex shows to impulses on all that are marked [kg]
  Field<Real, 3> impulse;
  RodState<Real> response;  ///< only its velocities

  std::size_t bytes() const {
    return obstacle.bytes() + count.bytes() + hit.bytes() + touched.bytes() + mass.bytes() + impulse.bytes() +
           response.v.bytes();
  }
};

/// Velocities with which strands do not enter colliders, from those of `rod_step` for the same dt and whatever changed
/// them since. Neither strands nor colliders may come as far as `lost` in a step; what is deeper than that beyond a
/// surface was put there by the scene and stays [m]. Returns how many vertices were held back.
template <class Real>
Index meet_obstacles(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                     double lost, double dt, RodState<Real>& state, RodWorkspace<Real>& work,
                     RodObstacles<Real>& obstacles);

/// The same for contact between strands, whose iterations come between those here.
template <class Real>
class ObstacleHolder final : public StrandHolder<Real> {
 public:
  ObstacleHolder(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders, double lost,
                 double dt, RodState<Real>& state, RodWorkspace<Real>& work, RodObstacles<Real>& obstacles);
  void hold() override;
  bool begin(const Array<Index>& among) override;
  void lead(double beta) override;
  void push() override;
  void end() override;
  /// Vertices that `hold` has held back.
  Index held() const { return held_; }
  /// How fast these came, by velocities at the start of the step [m/s].
  double closing() const { return closing_; }

 private:
  Exec& ex_;
  const RodMesh<Real>& mesh_;
  typename Colliders<Real, 3>::View colliders_;
  double lost_, dt_;
  RodState<Real>& state_;
  RodWorkspace<Real>& work_;
  RodObstacles<Real>& obstacles_;
  Index held_ = 0;
  double closing_ = 0;
};

/// Largest speed of a vertex [m/s].
template <class Real>
double rod_speed(Exec& ex, const RodState<Real>& state);

}  // namespace tribo::TRIBO_BACKEND
