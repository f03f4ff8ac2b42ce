#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tribo/math/small.h"
#include "tribo/matter/solids/seed.h"
#include "tribo/mesh/strands.h"
#include "tribo/models/rod/material.h"
#include "tribo/models/rod/method.h"
#include "tribo/scene/contact.h"
#include "tribo/scene/motion.h"

/// \file
/// Strands as the solver takes them: those of all objects one after the other in the same arrays. An edge has the index
/// of its first vertex, so that the last vertex of each strand stands for no edge; a joint has that of its vertex.

namespace tribo {

/// One object of hair.
struct RodBody {
  int object = 0;  ///< index into Model::objects
  Run strands, vertices;
  double friction = 0;       ///< Coulomb coefficient
  double grid_friction = 0;  ///< c_F of Han 2019, sec. 3.2: of strands in bulk
  double wave_speed = 0;     ///< c of strands in bulk, matter/strands/stages/bundle.h [m/s]; 0: no contact on the grid
  double stretch_scale = 1, bend_damping = 0, stretch_damping = 0, drag = 0;  ///< RodMaterial
  /// Whether frames matter: sections that are not round, curls, or ends held so that twist cannot leave. Without, twist
  /// has no energy at equilibrium and nothing of it is computed (theory E.5).
  bool twisted = false;
  HairMethod method = HairMethod::hybrid;
};

/// What carries vertices along: keyframes, or a frame on something that deforms, a skin, whose poses come step by step.
struct RodDrive {
  Motion motion;
  bool skinned = false;
  Pose start;  ///< at time 0

  RodDrive(const Motion& keyframes) : motion(keyframes), start(keyframes.pose(0)) {}
  explicit RodDrive(const Pose& frame) : skinned(true), start(frame) {}
};

/// Where a root is on a skin: a point of a triangle whose corners are vertices of a hybrid mesh, and a little off it;
/// or a place in the frame of a rigid body.
struct SkinRoot {
  std::int32_t body = -1;  ///< of the seed of rigid bodies; -1: it is on a triangle
  Vec<std::int32_t, 3> corner{};
  Vec<double, 3> weight = Vec<double, 3>::zero();  ///< of the corners; sum 1
  Mat<double, 3> frame =
      Mat<double, 3>::zero();  ///< of the triangle at time 0: edge, across, normal, as columns; or of the body
  Vec<double, 3> off = Vec<double, 3>::zero();  ///< from that point, or the center, to the root, in this frame [m]
};

struct RodSeed {
  std::vector<RodBody> bodies;
  RodScheme scheme = RodScheme::implicit;
  Incompressibility incompressibility = Incompressibility::bilateral;  ///< of hair with method mcadams
  StrandContactSpec contact;
  double blend = 0.05;           ///< xi of Han 2019, eq. 33, in `blend_time`
  double blend_time = 1.0 / 24;  ///< [s]; 0: in every step
  /// Coulomb coefficients of each pair of bodies, [body * bodies + other]; empty: the smaller one of the two.
  std::vector<double> pair_friction;
  /// And of each body with each collider, [body * colliders + collider]; empty: the colliders' own.
  std::vector<double> collider_friction;
  std::optional<double> particle_friction;  ///< of strands in bulk; nothing: the least grid_friction of all bodies
  std::vector<std::int32_t> start;          ///< first vertex of each strand, and one past the last vertex
  /// Of each strand, vertices from its root on that begin below the surface of a collider: they are in its follicle,
  /// where no collider acts on them.
  std::vector<std::int32_t> buried;
  /// Likewise, vertices that do not meet the solid that it grows on: those that begin within, and the next few.
  std::vector<std::int32_t> rooted;

  // of vertices
  std::vector<Vec<double, 3>> x;  ///< at time 0 [m]
  std::vector<Vec<double, 3>> v;  ///< [m/s]
  std::vector<double> mass;       ///< [kg]
  std::vector<double> radius;     ///< [m]
  /// Vertices that follow keyframes (or stay where they are): index into `drives`, or -1. They keep their places in the
  /// frame of the motion, as of time 0; so does the director of an edge between two vertices of the same drive.
  std::vector<std::int32_t> drive;
  std::vector<RodDrive> drives;
  std::vector<SkinRoot> skin;  ///< of drives that are skinned, in their order

  // of edges
  std::vector<double> length;            ///< at rest [m]
  std::vector<double> stretch;           ///< EA [N]
  std::vector<Vec<double, 3>> director;  ///< m1 at time 0

  // of joints
  std::vector<double> cell;                    ///< length that bends there, at rest [m]
  std::vector<double> bend1, bend2;            ///< E I toward the first and second director [N m^2]
  std::vector<double> twist_stiffness;         ///< GJ [N m^2]
  std::vector<Vec<double, 4>> rest_curvature;  ///< omega of the first and second edge
  std::vector<double> rest_twist;              ///< [rad]
  std::vector<double> twist;                   ///< at time 0, whole turns included [rad]
};

/// How an object's strands are held and what they are at rest.
struct StrandRules {
  std::string name = "hair";  ///< for messages, which count strands and points from 1
  int object = 0;
  HairMethod method = HairMethod::hybrid;
  RodMaterial material;
  double radius = 4e-5;  ///< where strands have none of their own [m]
  double friction = 0;
  /// Clamped ends: two vertices and the director between them follow the motion.
  bool clamp_root = true, clamp_tip = false;
  Motion motion;
  std::optional<Motion> tip_motion;  ///< of clamped tips, where it is another
  std::vector<Pose> skin;            ///< or roots follow frames of their own, one for each strand; as of time 0
  /// Curls stay: the rest shape is that of the strands. Otherwise strands are straight at rest.
  bool keeps_shape = true;
  /// A clamped end is at its second vertex, and only half of the cell there bends (theory E.6): second order instead
  /// of first.
  bool half_cells = true;
  Vec<double, 3> velocity = Vec<double, 3>::zero();  ///< at time 0, of what is not clamped [m/s]
  Vec<double, 3> director = Vec<double, 3>::zero();  ///< of the first edge, roughly, of any length; zero: any
};

/// Adds the strands as one body. Throws Error that names the object, the strand and the remedy where a strand is too
/// short, has a segment without length, is not finite, or begins along the director.
void add_strands(RodSeed& seed, const Strands& strands, const StrandRules& rules);

/// Frames along a polyline by parallel transport, from a first director that is made normal to it; an arbitrary one
/// where that is zero.
std::vector<Vec<double, 3>> parallel_directors(const std::vector<Vec<double, 3>>& points, const Vec<double, 3>& first);

}  // namespace tribo
