#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tribo/colliders/all.h"
#include "tribo/core/params.h"
#include "tribo/mesh/strand_file.h"
#include "tribo/models/rod/material.h"
#include "tribo/models/rod/method.h"
#include "tribo/scene/motion.h"
#include "tribo/scene/scene.h"

/// \file
/// Where the strands of an object come from. All is in the object's own coordinates, which its placement turns and
/// moves.

namespace tribo {

inline constexpr double most_strands = 2e7;  ///< of an object

/// Strands from a file (mesh/strand_file.h).
struct StrandFileSpec {
  static constexpr const char* name = "file";
  static constexpr const char* doc =
      "strands from a file: .hair, .ply, .vtk, .vtp, .vtu, .obj or .usda, as polylines or curves";
  static constexpr const char* shorthand = "file";

  std::string file, path, hash;  ///< as the scene names it; where it was found; of its bytes
  std::shared_ptr<const StrandFile> content;

  static StrandFileSpec read(ParamReader& in);
  /// The file's bytes, read once more, under a name of their own, for a run that must not depend on the file:
  /// "meshes/HASH.hair". Throws IoError when they are no longer those of the hash.
  NamedBytes copy() const;
};

/// Strands that grow on the surface of a shape.
struct ScalpSpec {
  static constexpr const char* name = "scalp";
  static constexpr const char* doc = "strands that grow on the surface of a shape";
  static constexpr const char* shorthand = nullptr;

  struct Region {
    Shape<double> shape;
    Keyframe placement;  ///< (its time is unused)
  };
  struct Parting {
    Vec<double, 3> at = Vec<double, 3>::zero();  ///< a point of its plane [m]
    Vec<double, 3> normal{{1, 0, 0}};            ///< unit, toward the side that is combed as `comb` says
  };
  Shape<double> shape = Sphere<double>{};  ///< the scalp is its surface
  bool has_shape = true;                   ///< else that of what the hair grows `on`
  std::optional<Region> region;            ///< roots are within it
  std::optional<double> density;           ///< strands on a square meter; else `count`
  std::int64_t count = 0;                  ///< of strands
  double length = 0;                       ///< outside of the scalp [m]
  double length_variation = 0;             ///< strands are shorter by up to this part
  double spread = 0;                       ///< by how much strands leave another way than the normal, at most [deg]
  Vec<double, 3> comb{{0, -1, 0}};         ///< unit, where tips are combed to
  double comb_amount = 0;                  ///< 0: straight along the normal, 1: tips along `comb`
  double comb_length = 0;                  ///< from the root, over which strands turn there [m]
  double lift = 0;                         ///< strands that lie along the scalp do so in a layer this thick [m]
  std::optional<Parting> parting;
  double curl_radius = 0;      ///< of the helix [m]
  double curl_pitch = 0;       ///< length of the axis in a turn [m]
  std::int64_t clumps = 0;     ///< guide strands that others gather around; 0: none
  double clump_tightness = 0;  ///< how much nearer tips are to their guide's: 1 would be all the way
  double root_depth = 0;       ///< strands begin this far below the surface [m]

  static ScalpSpec read(ParamReader& in);
};

/// Bundles that cross each other on figure-eight paths, hanging down from the origin.
struct BraidSpec {
  static constexpr const char* name = "braid";
  static constexpr const char* doc =
      "bundles of strands braided on figure-eight paths, from the origin down; their width is the least that fits";
  static constexpr const char* shorthand = nullptr;

  int bundles = 3;
  int strands = 1;     ///< of each bundle
  double length = 0;   ///< along y [m]
  double spacing = 0;  ///< between strands at least [m]
  std::optional<double>
      pitch;  ///< length of a full period of a bundle's path; nothing: three times all bundles' widths [m]

  static BraidSpec read(ParamReader& in);
};

/// Parallel strands in a cylinder about the y axis.
struct TubeSpec {
  static constexpr const char* name = "tube";
  static constexpr const char* doc = "parallel strands that fill a cylinder about the y axis, centered at the origin";
  static constexpr const char* shorthand = nullptr;

  std::int64_t count = 0;
  double length = 0;      ///< along y [m]
  double spacing = 0;     ///< between neighbors [m]
  double jitter = 0;      ///< of places, at most, in spacings
  double wave = 0;        ///< amplitude of waves, in spacings
  double wavelength = 0;  ///< [m]

  static TubeSpec read(ParamReader& in);
};

/// Listing a source here gives it a scene key, a place in schema and manual, and `make_strands`.
using HairSource = std::variant<StrandFileSpec, ScalpSpec, BraidSpec, TubeSpec>;

struct HairSpec {
  HairSource source;
  std::optional<double> radius;          ///< of strands [m]; nothing: that of the file
  std::optional<double> segment_length;  ///< wanted [m]; else `segments`
  std::int64_t segments = 0;             ///< of each strand; 0: as the file has them
  std::int64_t seed = 0;
};

/// Half the size of a box about the origin that holds the strands, and how many segments they have; both roughly,
/// before there are any.
Vec<double, 3> expected_half_size(const HairSpec& hair);
double expected_segments(const HairSpec& hair);
/// Likewise the length of a segment, and how thick the thinnest strand is [m].
double expected_segment_length(const HairSpec& hair);
double least_radius(const HairSpec& hair);
/// And in how many cubes with edges of `block` they are.
double expected_blocks(const HairSpec& hair, double block);

/// Reads the keys `strands`, `radius`, `segments`, `segment_length` and `seed` of an object.
void read_hair_source(ParamReader& in, HairSpec& hair);

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
  bool clamp_root = true, clamp_tip = false;
  Motion motion;                     ///< of what is clamped; the strands begin where it is at time 0
  std::string on;                    ///< name of the collider or solid that they grow on and go with; empty: none
  std::string skin;                  ///< name of the solid whose surface roots go with; empty: they follow `motion`
  std::optional<Motion> tip_motion;  ///< of clamped tips, where it is another
  bool keeps_shape = true;           ///< curls stay; else strands are straight at rest
  std::optional<Vec<double, 3>> director;  ///< where sections that are not round are wide, in the object's coordinates
};

/// The strands of an object that are elastic rods, or null.
inline const StrandsSpec* rods_of(const ObjectSpec& object) {
  const StrandsSpec* hair = object.as<StrandsSpec>();
  return hair != nullptr && hair->method != HairMethod::mpm ? hair : nullptr;
}
/// The strands of an object whose vertices and segments are particles, or null.
inline const StrandsSpec* curves_of(const ObjectSpec& object) {
  const StrandsSpec* hair = object.as<StrandsSpec>();
  return hair != nullptr && hair->method == HairMethod::mpm ? hair : nullptr;
}

}  // namespace tribo
