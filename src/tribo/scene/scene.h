#pragma once

#include <any>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/fields/all.h"
#include "tribo/math/small.h"
#include "tribo/models/any_law.h"
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

/// How something meets others, whatever type of object it is. Of two, that of the later one counts by itself.
enum class Touch {
  nothing,    ///< it passes through everything
  particles,  ///< on the particles' grid: also solids and hair of a method whose vertices are particles
  strands,    ///< hair but that of method "mpm"
  mesh,       ///< a solid of method "hybrid"
  rigid,
  collider
};

/// What moves. What only its type knows is `own`: a struct in the room of its matter.
struct ObjectSpec {
  std::string name;
  std::string type = "particles";
  int material = 0;  ///< index into Scene::materials; -1: none
  Shape<double> shape;
  Keyframe placement;                                        ///< where and how turned (its time is unused)
  Vec<double, 3> velocity = Vec<double, 3>::zero();          ///< initial, or of what leaves an emitter [m/s]
  Vec<double, 3> angular_velocity = Vec<double, 3>::zero();  ///< initial, about the placement point [rad/s]
  std::optional<FieldSpec> velocity_field;                   ///< initial, in addition
  double particles_per_cell = 8;
  Sampling sampling = Sampling::jittered;
  std::int64_t seed = 0;
  Touch touch = Touch::particles;
  double friction = 0;  ///< Coulomb coefficient of its own, of what has one
  std::any own;         ///< nothing: it is filled with particles at the start
  Look look;

  /// `own` where it is of this kind, else null.
  template <class Spec>
  const Spec* as() const {
    return std::any_cast<Spec>(&own);
  }
  template <class Spec>
  Spec* as() {
    return std::any_cast<Spec>(&own);
  }
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
