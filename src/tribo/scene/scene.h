#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/fields/all.h"
#include "tribo/math/small.h"
#include "tribo/matter/strands/spec.h"
#include "tribo/models/any_law.h"
#include "tribo/models/rod/material.h"
#include "tribo/models/rod/method.h"
#include "tribo/scene/contact.h"
#include "tribo/scene/look.h"
#include "tribo/scene/motion.h"
#include "tribo/scene/sampling.h"
#include "tribo/transfer/all.h"

/// \file
/// What the user asked for: plain structs in SI units, every default filled in, every reference resolved. Nothing
/// here changes after reading.

namespace tribo {

struct GridSpec {
  double dx = 0;                     ///< grid spacing [m]
  std::string kernel = "quadratic";  ///< interpolation kernel
  Transfer transfer;                 ///< between particles and grid
  std::string force = "mls";         ///< how stress acts on the grid
};

/// When the iterations of an implicit step end.
struct ImplicitSpec {
  double tolerance = 1e-2;      ///< of velocities, relative to what the step changes
  int newton_iterations = 20;   ///< at most
  int linear_iterations = 400;  ///< at most, in each of them
};

struct TimeSpec {
  bool implicit = false;  ///< backward Euler; else symplectic Euler
  ImplicitSpec solve;
  double cfl = 0.6;      ///< cells a particle may cross in one step
  double dt_max = 1e-3;  ///< [s]
  double dt_min = 1e-9;  ///< [s] a step below this means the run has diverged
};

struct MaterialSpec {
  std::string name;
  double density = 0;  ///< at rest [kg/m^3]
  AnyLaw<double> law;
  Look look;
};

/// A velocity field and where it is.
struct FieldSpec {
  VelocityField field;
  Vec<double, 3> center = Vec<double, 3>::zero();  ///< [m]
};

/// When and how much an emitter gives out.
struct EmissionSpec {
  double from = 0;                                         ///< [s]
  double until = std::numeric_limits<double>::infinity();  ///< [s]
  std::optional<double> volume_rate;  ///< [m^3/s]; nothing: as much as fits through the shape at the velocity
  bool rate_by_mass = false;          ///< the scene gives the rate as a mass
  double max_volume = std::numeric_limits<double>::infinity();  ///< given out in all [m^3]
};

/// Vertices of a mesh that go where they are told.
struct PinSpec {
  Shape<double> region;
  Keyframe placement;  ///< of the region (its time is unused)
  Motion motion;       ///< vertices that begin in the region follow it; one key: they stay
};

/// How a mesh begins, to see it recover.
enum class StartShape { rest, scrambled, plane, line, point, mirrored };

/// A body as a mesh of tets (Han 2019, sec. 4).
struct SolidSpec {
  bool updated_lagrangian = false;  ///< vertices are particles, which move with the grid (Jiang 2015); else hybrid
  double element_size = 0;          ///< edge length of tets [m]
  bool graded = false;              ///< larger tets inside
  double friction = 0;              ///< Coulomb coefficient
  double restitution = 0;
  std::optional<double> damping;  ///< eta of Kelvin and Voigt [Pa s]; nothing: by the material, or enough to recover
  std::optional<double> grid_damping;  ///< nu of RPIC, each step; nothing: none at all
  bool self_contact = true;
  bool kinematic = false;  ///< the whole body follows `motion`
  Motion motion;
  std::vector<PinSpec> pins;
  StartShape start = StartShape::rest;
};

/// What fills the space around a curve of method "mpm" (Jiang 2017, 3.3.1).
struct CurveMaterial {
  double contact_stiffness = 2e5;  ///< Young's modulus across the strand [Pa]
  double contact_shear = 1e5;      ///< gamma, of slip along it [Pa]
};

/// A body of strands, each a discrete elastic rod (Han 2019, sec. 5).
struct StrandsSpec {
  HairSpec made;  ///< where the strands come from, in the object's own coordinates
  RodMaterial material;
  bool has_material = false;  ///< the object names one of the scene's
  CurveMaterial curve;
  RodScheme scheme = RodScheme::implicit;
  HairMethod method = HairMethod::hybrid;
  Incompressibility incompressibility = Incompressibility::bilateral;  ///< of method mcadams
  double friction = 0;                                                 ///< Coulomb coefficient between strands
  bool clamp_root = true, clamp_tip = false;
  Motion motion;                     ///< of what is clamped; the strands begin where it is at time 0
  std::string on;                    ///< name of the collider or solid that they grow on and go with; empty: none
  std::string skin;                  ///< name of the solid whose surface roots go with; empty: they follow `motion`
  std::optional<Motion> tip_motion;  ///< of clamped tips, where it is another
  bool keeps_shape = true;           ///< curls stay; else strands are straight at rest
  std::optional<Vec<double, 3>> director;  ///< where sections that are not round are wide, in the object's coordinates
};

/// One of two that touch.
struct Party {
  bool collider = false;  ///< else an object
  int index = 0;          ///< into Scene::colliders or Scene::objects

  friend bool operator==(const Party&, const Party&) = default;
};

/// Friction between two, where it is not what they have themselves; see scene/friction.h.
struct PairFriction {
  Party one, other;
  double coefficient = 0;
};

/// A body of particles, or where they come from. Other object types come with their own structs; see setup/objects.h.
struct ObjectSpec {
  std::string name;
  std::string type = "particles";
  int material = 0;  ///< index into Scene::materials
  Shape<double> shape;
  Keyframe placement;                                        ///< where and how turned (its time is unused)
  Vec<double, 3> velocity = Vec<double, 3>::zero();          ///< initial, or of what leaves an emitter [m/s]
  Vec<double, 3> angular_velocity = Vec<double, 3>::zero();  ///< initial, about the placement point [rad/s]
  std::optional<FieldSpec> velocity_field;                   ///< initial, in addition
  double particles_per_cell = 8;
  Sampling sampling = Sampling::jittered;
  std::int64_t seed = 0;
  std::optional<EmissionSpec> emission;  ///< of an emitter, which has no particles at the start
  std::optional<SolidSpec> solid;        ///< of a mesh
  std::optional<StrandsSpec> strands;    ///< of hair, whose `shape` is a box around them
  Look look;

  /// A mesh that is no particles.
  bool is_hybrid() const { return solid && !solid->updated_lagrangian; }
  /// A mesh whose vertices are particles.
  bool is_updated_lagrangian() const { return solid && solid->updated_lagrangian; }
  /// Strands whose vertices and segments are particles.
  bool is_curves() const { return strands && strands->method == HairMethod::mpm; }
  /// Filled with particles at the start.
  bool is_filled() const { return !emission && !solid && !strands; }
};

/// Takes away the particles whose centers are inside a shape.
struct SinkSpec {
  std::string name;
  Shape<double> shape;
  Keyframe placement;                                      ///< where and how turned (its time is unused)
  double from = 0;                                         ///< [s]
  double until = std::numeric_limits<double>::infinity();  ///< [s]
};

enum class Boundary { sticky, slip, separate };

struct ColliderSpec {
  std::string name;
  Shape<double> shape;
  bool inside = false;  ///< material is kept inside the shape instead of outside: a container
  Motion motion;        ///< a fixed collider has one key
  Boundary boundary = Boundary::separate;
  double friction = 0;  ///< Coulomb coefficient; used by `separate`
  Look look;
};

struct OutputSpec {
  std::vector<std::string> formats;  ///< besides the frame cache; names in io/writers/all.cpp
  int checkpoint_frames = 10;        ///< a checkpoint every so many frames, 0 never
  double checkpoint_minutes = 5;     ///< and at the first frame after so many minutes, 0 never
  int checkpoints_kept = 2;
};

struct Scene {
  std::string file;  ///< as the user named it, for messages
  std::string name;
  std::string description;  ///< for people and `tribo list scenes`
  int dimension = 3;
  std::string precision = "float";  ///< "float" or "double"
  double fps = 24;
  double duration = 0;  ///< [s]
  Vec<double, 3> gravity{{0, -9.81, 0}};
  GridSpec grid;
  TimeSpec time;
  std::vector<MaterialSpec> materials;
  std::vector<ObjectSpec> objects;
  std::vector<ColliderSpec> colliders;
  std::vector<SinkSpec> sinks;
  ContactSpec contact;
  StrandContactSpec strand_contact;
  StrandGridSpec strand_grid;
  std::vector<PairFriction> friction;
  OutputSpec output;
  RenderSpec render;
  std::string expect_json = "{}";  ///< the `expect` block as it stands, for scenario tests
  std::string resolved_json;       ///< the whole scene with every default filled in; reading it gives this Scene again

  /// Frames after frame 0: duration * fps, rounded to the nearest whole number and at least 1.
  int frame_count() const;
};

}  // namespace tribo
