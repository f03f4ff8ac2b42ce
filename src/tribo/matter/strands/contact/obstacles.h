#pragma once

#include "tribo/contact/colliders.h"
#include "tribo/matter/strands/contact/bodies.h"
#include "tribo/matter/strands/contact/holder.h"
#include "tribo/matter/strands/contact/rigids.h"
#include "tribo/matter/strands/stages/rod.h"

/// \file
/// Strands against colliders, solids and rigid bodies: vertices as balls of the strand's radius, with Coulomb friction.
/// Whoever lies taut on something curved shares what it carries with all others of its strand, so that impulses are
/// found for whole strands at once: what holds a vertex is a block of its own in the strand's matrix, which remains a
/// chain.

namespace tribo::TRIBO_BACKEND {

/// A collider, a triangle of a solid, or a rigid body within reach of a vertex. Impulses are in double, see VertexHold.
template <class Real>
struct RodObstacle {
  Vec<double, 3> impulse;  ///< so far [N s]
  Vec<double, 3> before;   ///< likewise, of the iteration before, if accelerated
  Vec<double, 3> given;    ///< likewise, what velocities have of it
  /// Velocity, relative to that in contact without sliding, of what is in contact as the impulse has it; summed up for
  /// itself, since beside the velocity of a collider a float has too few digits of it [m/s].
  Vec<double, 3> off;
  Vec<double, 3> pushed;   ///< likewise, what a rigid body has of it
  Vec<double, 3> carried;  ///< velocity of a rigid body there, with what has been pushed [m/s]
  double gives, slips;  ///< how much a body yields to the impulse, along the normal and across; colliders do not [1/kg]
  double holds, drags;  ///< in the sweep under way, see HoldVertex [kg]
  Vec<Real, 3> normal;  ///< to the allowed side
  Vec<Real, 3> velocity;  ///< of the collider's material there [m/s]
  Vec<Real, 3> yields;    ///< Z n / (n . Z n) of the vertex alone
  Real least;             ///< normal velocity, relative to the collider's, at which the step ends in contact [m/s]
  Real friction;
  Real weight, grip;   ///< mass of the vertex: along the normal, and the most in any direction [kg]
  Real follows;        ///< in the sweep under way, see HoldVertex
  Index grasp;         ///< likewise, of HoldVertex
  Index rests;         ///< 1 where it is taken to be in contact from the start
  Index boundary;      ///< Boundary
  Index triangle;      ///< of a solid, or -1
  Index collider;      ///< its number, or -1
  Index body;          ///< rigid, or -1
  Index mate;          ///< of RigidContact
  Index counts;        ///< 1: among those that a rigid body is shared between
  Vec<Real, 3> share;  ///< of the triangle's corners

  /// By how much the body's velocity is thought to have changed by an impulse on the vertex, the other way.
  TRIBO_HD Vec<double, 3> yielded(const Vec<double, 3>& by) const {
    const Vec<double, 3> n = cast<double>(normal);
    return slips * by + ((gives - slips) * dot(by, n)) * n;
  }
};

/// What strands meet beside colliders, or null.
template <class Real>
struct StrandMeets {
  StrandBodies<Real>* solids = nullptr;
  StrandRigids<Real>* rigids = nullptr;
};

/// Of each vertex as many, the nearest: in a corner of a box there are two that matter.
inline constexpr int obstacles_each = 2;

/// Scratch memory.
template <class Real>
struct RodObstacles {
  Array<RodObstacle<Real>> obstacle;  ///< `obstacles_each` of each vertex
  Array<Index> count;                 ///< of each vertex
  Array<Index> hit;                   ///< 1 of vertices that would be too near to one at the end of the step
  Array<Index> from, to;              ///< of strands: the vertices that colliders act on
  Array<Index> touched;               ///< of strands: 1 where a vertex is marked, as hit or as near
  Array<Index> open;                  ///< of strands: 1 of those of them that sweeps have not settled yet
  Array<Index> changed;               ///< of vertices: 1 where what holds them is not what it was in the sweep before
  Array<VertexHold> hold;

  std::size_t bytes() const {
    return obstacle.bytes() + count.bytes() + hit.bytes() + from.bytes() + to.bytes() + touched.bytes() + open.bytes() +
           changed.bytes() + hold.bytes();
  }
};

/// How much bodies yield at the obstacles that are theirs, where all of those there are pressed as much.
template <class Real>
void let_bodies_yield(Exec& ex, const RodMesh<Real>& mesh, RodObstacles<Real>& obstacles, StrandBodies<Real>& bodies);
/// Bodies get what their obstacles have given.
template <class Real>
void push_bodies(Exec& ex, const RodObstacles<Real>& obstacles, StrandBodies<Real>& bodies);

/// Velocities with which strands do not enter colliders or bodies, from those of `rod_step` for the same dt and
/// whatever changed them since. Neither strands nor colliders may come as far as `lost` in a step; what is deeper than
/// that beyond a surface was put there by the scene and stays [m]. Returns how many vertices were held back.
template <class Real>
Index meet_obstacles(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                     double lost, double dt, RodState<Real>& state, RodWorkspace<Real>& work,
                     RodObstacles<Real>& obstacles, StrandMeets<Real> bodies = {});

/// The same for contact between strands, whose iterations come between those here.
template <class Real>
class ObstacleHolder final : public StrandHolder<Real> {
 public:
  ObstacleHolder(Exec& ex, const RodMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders, double lost,
                 double dt, RodState<Real>& state, RodWorkspace<Real>& work, RodObstacles<Real>& obstacles,
                 StrandMeets<Real> bodies = {});
  void hold() override;
  bool begin(const Array<Index>& among, bool part) override;
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
  StrandMeets<Real> bodies_;
  Index held_ = 0;
  double closing_ = 0;
};

/// Largest speed of a vertex, or change of velocity from `before` [m/s].
template <class Real>
double rod_speed(Exec& ex, const RodState<Real>& state, const Field<Real, 3>* before = nullptr);

}  // namespace tribo::TRIBO_BACKEND
