#pragma once

#include <vector>

#include "tribo/matter/rigid/stages/bodies.h"

/// \file
/// Rigid bodies and their joints on the device. What changes is in RigidState, which a checkpoint holds; what is
/// computed once from the seed is in RigidMesh.

namespace tribo::TRIBO_BACKEND {

/// What a joint needs at most: what it holds, and the coordinate it leaves free.
inline constexpr int joint_rows = 6;

/// Bodies in the order of the seed.
struct RigidState {
  Field<double, 3> x;  ///< centers of mass [m]
  Field<double, 4> q;  ///< body to world, a unit quaternion (real part first)
  Field<double, 3> v;  ///< of the centers [m/s]
  Field<double, 3> L;  ///< angular momentum about the center [kg m^2/s]
  Index count = 0;

  /// What held contacts in the last step, by rising bodies and features: where the next one begins [N].
  Field<Index, 4> kept;  ///< RigidRow's a, b, feature and collider
  Field<double, 3> kept_force;
  Field<double, 3> kept_at;  ///< where, in the frame of the first body [m]
  Index kept_count = 0;

  Field<double, joint_rows> joint_force;  ///< [N], [N m]
  Field<double, 1> joint_value;           ///< of the coordinate that is free, whole turns included [m], [rad]
  Index joints = 0;

  double speed = 0;  ///< largest of a point of a body [m/s]
};

/// What a body is without the vertices of solids that are pinned to it.
struct RigidPart {
  double mass;
  Vec3d at;                ///< its center, in the frame of the whole [m]
  Sym<double, 3> inertia;  ///< about that
};

struct RigidMesh {
  Index count = 0, joints = 0, groups = 0, colliders = 0;
  std::vector<RigidBody> body;  ///< on the host
  std::vector<RigidForm> form;
  std::vector<Motion> drives;
  std::vector<Index> driven;  ///< bodies that follow keyframes
  std::vector<RigidPart> part;  ///< by body; empty: nothing is pinned to any
  RigidShapes shapes;
  // by body
  Array<double> inverse_mass, mass;
  Field<double, 6> inertia, inverse_inertia;  ///< in the body's frame, in the order of Sym
  Array<Index> form_of, group;
  // by form
  Field<double, 3> low, high;  ///< bounds in the body's frame [m]
  Array<double> thickness, restitution;
  bool bounces = false;  ///< whether any has restitution
  Array<Index> sample_begin, sample_end, round;
  Array<double> radius;
  // by sample
  Field<double, 3> sample_x, sample_n;
  Array<double> sample_radius, sample_ring, sample_facing;
  /// How far it is felt with from x, for who is asked whether that may touch another body: for anything, and for what is
  /// round; less than nothing where it is not (see seed.h) [m].
  Array<double> sample_extent, sample_ball;
  Array<Index> sample_feeler;
  // tables
  Array<double> friction;                            ///< [group * groups + group]
  Array<double> collider_friction;                   ///< [group * colliders + collider]
  Array<double> particle_friction, strand_friction;  ///< by group
  Array<double> solid_friction;                      ///< [group * solids + solid]
  Index solids = 0;
};

}  // namespace tribo::TRIBO_BACKEND
