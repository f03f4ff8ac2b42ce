#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/matter/solids/seed.h"
#include "tribo/scene/joint.h"
#include "tribo/scene/motion.h"

/// \file
/// Rigid bodies as the solver takes them. The frame of a body has its origin at the center of mass and the axes of its
/// shape.

namespace tribo {

/// An object's, or a collider that bodies have features to meet with.
struct RigidBody {
  int object = 0;                                         ///< index into Model::objects; -1: a collider
  std::int32_t group = 0;   ///< of the tables of friction: bodies of one object share it; `groups` + number of a collider
  double mass = 0;                                        ///< [kg]
  Sym<double, 3> inertia = Sym<double, 3>::isotropic(0);  ///< about the center, in the body's frame [kg m^2]
  Vec<double, 3> x = Vec<double, 3>::zero();              ///< center at time 0 [m]
  Mat<double, 3> rotation = Mat<double, 3>::identity();   ///< body to world at time 0
  Vec<double, 3> v = Vec<double, 3>::zero();              ///< of the center [m/s]
  Vec<double, 3> w = Vec<double, 3>::zero();              ///< [rad/s]
  std::int32_t form = 0;                                  ///< index into `forms`
  std::int32_t drive = -1;                                ///< of what follows keyframes: index into `drives`
};

/// How a point of a surface feels for what is near.
enum class Feeler : std::int32_t {
  corner,  ///< on an edge or corner: for everything
  face,    ///< within a flat face: only for flat faces that it lies on, since other features have feelers of their own
  ball,    ///< a ball of `radius` about x that is part of the body: for everything, exactly
  ring,    ///< a circle of radius `ring` about x across the axis n, thick by `radius`: its point that is deepest
  rim      ///< on the edge of a round face with the outward normal n: only for what the face lies on, else a ring feels
};

/// A point of a body's surface that feels for others.
struct RigidSample {
  Vec<double, 3> x = Vec<double, 3>::zero();  ///< in the body's frame [m]
  Vec<double, 3> n = Vec<double, 3>::zero();  ///< outward normal, or axis; of edges and corners the mean of their sides
  double radius = 0;                          ///< [m]
  double ring = 0;                            ///< [m]
  /// Of balls and rings within a tube about n: so far along n, either way, the tube goes on, and feels with what of it is
  /// deepest. With balls and rings where they are alone, round bodies across each other lay as deep as those were apart.
  double slide = 0;  ///< [m]
  Feeler feeler = Feeler::corner;
  /// Of corners and edges: least cosine between n and the inward normal of a surface that it can touch, which is that
  /// between n and the sides that meet there, or somewhat less. A corner that is beside another body's edge, not over its
  /// side, has nothing to hold there: the sides of both have feelers that do. With such touches stacks of equal boxes were
  /// carried askew and crept.
  double facing = -0.2;
};

/// What bodies of one object have in common.
struct RigidForm {
  Shape<double> shape;
  Vec<double, 3> center = Vec<double, 3>::zero();  ///< of mass, in the frame of the shape [m]
  double radius = 0;                               ///< farthest point from the center [m]
  double thickness = 0;                            ///< twice the largest depth of a point inside, or less [m]
  /// Feelers of other bodies' flat faces and corners find nothing that its own do not: a ball.
  bool round = false;
  double restitution = 0;
  Run samples;
  Run triangles;  ///< of `surface`, for pictures and for what meets triangles
  Run vertices;
};

/// Between two bodies, or a body and the world.
struct RigidJoint {
  std::string name;
  Joint<double> joint;
  std::int32_t a = -1, b = -1;                             ///< bodies; -1: the world
  Vec<double, 3> at_a = Vec<double, 3>::zero();            ///< in the frame of a [m]
  Vec<double, 3> at_b = Vec<double, 3>::zero();            ///< likewise of b
  Mat<double, 3> frame_a = Mat<double, 3>::identity();     ///< axes of the joint in the frame of a; its axis is z
  Mat<double, 3> frame_b = Mat<double, 3>::identity();     ///< likewise of b
  JointRule<double> rule;                                  ///< limits, friction, motor
  std::vector<JointAim> aims;                              ///< of the motor, by time; empty: rule.target
  bool touch = false;                                      ///< whether the two touch each other beside it
};

struct RigidSeed {
  std::vector<RigidBody> bodies;  ///< of objects, then of colliders
  std::vector<RigidForm> forms;
  std::vector<Motion> drives;
  std::vector<RigidSample> samples;         ///< in the bodies' frames
  std::vector<Vec<double, 3>> vertices;     ///< of surfaces, in the bodies' frames [m]
  std::vector<Vec<std::int32_t, 3>> triangles;  ///< by vertices of all
  std::vector<RigidJoint> joints;
  bool printed = false;  ///< as RigidSpec::printed, of all
  std::int32_t groups = 0;
  std::vector<double> friction;             ///< of bodies with each other, [group * groups + group]
  std::vector<double> collider_friction;    ///< [group * colliders + collider]
  std::vector<double> particle_friction;    ///< by group
  std::vector<double> strand_friction;      ///< by group
  std::vector<double> solid_friction;       ///< [group * solids + body of the solids' seed]
};

struct Scene;
class Seeds;

/// All objects of type "rigid" and their joints, at time 0.
RigidSeed make_rigid_bodies(const Scene& scene, const Seeds& seeds, std::vector<std::string>& warnings);

/// The first body of an object of the scene, or -1.
std::int32_t body_of(const RigidSeed& seed, int object);

}  // namespace tribo
