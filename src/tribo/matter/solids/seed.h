#pragma once

#include <cstdint>
#include <vector>

#include "tribo/math/small.h"
#include "tribo/scene/contact.h"
#include "tribo/scene/motion.h"

/// \file
/// Tet bodies as the solver takes them: all bodies one after the other in the same arrays.

namespace tribo {

/// A part of an array that belongs to one body.
struct Run {
  std::int32_t begin = 0;
  std::int32_t end = 0;
};

/// The object whose body item i belongs to, by the runs that bodies have one after the other.
template <class Body>
int object_at(const std::vector<Body>& bodies, Run Body::*run, std::int32_t i) {
  for (const Body& body : bodies)
    if (i < (body.*run).end) return body.object;
  return 0;
}

struct SolidBody {
  int object = 0;  ///< index into Model::objects
  int material = 0;
  Run vertices, tets, triangles, samples;
  double friction = 0;         ///< Coulomb coefficient against particles
  double strand_friction = 0;  ///< likewise against hair
  double restitution = 0;      ///< of contact itself; elastic rebound comes from the mesh
  double damping = 0;          ///< eta of Kelvin and Voigt, corotated [Pa s]
  double grid_damping = 0;     ///< nu of RPIC on the damping grid, where it has one
  double damping_spacing = 0;  ///< of that grid: the mean edge of tets [m]; 0: there is none
  bool self_contact = true;
  bool kinematic = false;  ///< every vertex is driven: infinite mass in contact
};

/// A point of the boundary that takes part in contact (Han 2019, sec. 4.1): fixed in its triangle.
struct ContactSample {
  std::int32_t triangle = 0;
  Vec<double, 3> weight = Vec<double, 3>::zero();  ///< of the triangle's corners; sum 1, none negative
  double mass = 0;                                 ///< [kg]
  double area = 0;                                 ///< of the rest shape [m^2]
  double thickness = 0;  ///< of the body behind, up to `thick_cells`; if it may touch itself [m]
};

/// A body is thick where its thickness in cells is more than this: its back cannot be mistaken for another part.
inline constexpr double thick_cells = 1.25;

struct SolidSeed {
  std::vector<SolidBody> bodies;
  std::vector<Vec<double, 3>> rest;  ///< undeformed vertices [m]
  std::vector<Vec<double, 3>> x;     ///< vertices at time 0 [m]
  std::vector<Vec<double, 3>> v;     ///< [m/s]
  std::vector<double> mass;          ///< of vertices: a quarter of each tet's [kg]
  std::vector<Vec<std::int32_t, 4>> tets;
  std::vector<Vec<std::int32_t, 3>> triangles;  ///< boundary, counterclockwise seen from outside
  std::vector<std::int32_t> triangle_tet;       ///< the tet behind
  std::vector<ContactSample> samples;
  /// Vertices that follow keyframes (or stay where they are): index into `drives`, or -1. A driven vertex keeps its
  /// place in the frame of the motion, as of time 0.
  std::vector<std::int32_t> drive;
  std::vector<Motion> drives;
  /// Of each drive the object of the scene whose rigid body carries the vertices, which moves by itself or has that
  /// motion; -1: none.
  std::vector<std::int32_t> drive_object;
  /// Coulomb coefficient of each pair of bodies, [body * bodies + other].
  std::vector<double> pair_friction;
  /// And of each body with each collider, [body * colliders + collider]; empty: the colliders' own.
  std::vector<double> collider_friction;
  ContactSpec contact;
};

struct Scene;

/// The hybrid meshes of all objects that are some, at time 0. Throws SceneError for a shape that cannot be filled with
/// tets.
SolidSeed sample_solids(const Scene& scene);

/// The same of objects whose vertices are particles, method "updated_lagrangian": without collision particles.
SolidSeed sample_vertex_meshes(const Scene& scene);

}  // namespace tribo
