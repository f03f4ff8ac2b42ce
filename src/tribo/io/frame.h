#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tribo/io/container.h"

namespace tribo {

/// Triangles of one body at one time: a deforming solid or cloth, a rigid body, a collider.
struct FrameMesh {
  std::string name;      ///< of the object or collider; RunInfo knows more by it
  NamedArray x;          ///< vertices [m]; named "x"
  NamedArray v;          ///< their velocities [m/s], or no rows; named "v"
  NamedArray triangles;  ///< three vertices a row (i32), counterclockwise seen from outside; named "triangles"
  /// Of rigid bodies, or no rows: `x` once more, as what does not change and where that is. The vertices of one body
  /// about its center of mass [m], named "rest"; all bodies have the same, and `x` and `triangles` are those of one body
  /// after the other.
  NamedArray rest = {"rest", DType::f32, 3, 0, {}};
  /// A body a row (f64): its center of mass [m], and the unit quaternion that turns `rest`, real part first; named
  /// "placement".
  NamedArray placement = {"placement", DType::f64, 7, 0, {}};

  std::uint64_t bodies() const { return placement.count; }
};

/// The inside of one body at one time, for those who want to look at it: tets, and all their vertices.
struct FrameTets {
  std::string name;  ///< of the object
  NamedArray x;      ///< vertices [m]; named "x"
  NamedArray v;      ///< their velocities [m/s]; named "v"
  NamedArray tets;   ///< four vertices a row (i32), of positive volume at rest; named "tets"
  NamedArray J;      ///< volume of each tet over that at rest; named "J"
};

/// Strands of one object at one time: hair, yarn, fibers.
struct FrameCurves {
  std::string name;  ///< of the object
  NamedArray x;      ///< points of all strands, one strand after the other [m]; named "x"
  NamedArray v;      ///< their velocities [m/s], or no rows; named "v"
  NamedArray sizes;  ///< how many points each strand has (i32), at least 2; named "sizes"
  /// Of each point [m], or no rows: that of the object; named "radius".
  NamedArray radius = {"radius", DType::f32, 1, 0, {}};
};

/// Host copy of what an observer may want to see at one output time. Columns are in order of particle id, so that row
/// i is the same particle in every frame while nothing is emitted. Meshes and curves keep their topology while nothing
/// is added or torn.
struct Frame {
  int number = 0;
  double time = 0;                     ///< [s]
  std::vector<std::string> objects;    ///< names; column `object` indexes them
  std::vector<std::string> materials;  ///< names; column `material` indexes them
  std::vector<NamedArray> columns;     ///< x [m], v [m/s], id, object, material, J (volume ratio), strain
  std::vector<FrameMesh> meshes;
  std::vector<FrameTets> tets;  ///< when they were asked for
  std::vector<FrameCurves> curves;

  const NamedArray* find(const std::string& name) const;
};

/// A frame as an engine hands it over, which is all that the simulation has to wait for.
struct RawFrame {
  Frame frame;  ///< without `material`; rows of columns in any order, components one after the other
  std::function<void(Frame&)> fetch;           ///< brings the columns from the device; null when they are here
  std::vector<std::int32_t> object_materials;  ///< material of each object
  std::int32_t first_hidden = 0;               ///< particles with ids from here on that are vertices of meshes
  std::int32_t hidden = 0;                     ///< how many
};

/// The frame an observer sees. Depends on nothing but its argument, so that any thread may do it.
Frame arrange(RawFrame raw);

/// Every column has the same number of rows; `x` is there; `v` has its components; `id`, `object`, `material`, `J` and
/// `strain` have one; `object` and `material` stay within their lists of names. Frames of a run are 2D or 3D by `x`'s
/// components; meshes, tets and curves have the same, and refer to points they have. A frame that breaks this is a bug of
/// ours: throws Error with ExitCode::internal.
Container to_container(const Frame& frame);

/// The reverse, same checks. Throws IoError that names `path`, from where the container was read.
Frame to_frame(Container container, const std::string& path = "frame");

/// A frame as a file of its own, checked as above; writing copies no column of particles unless there are meshes,
/// tets or curves, too.
void write_frame(const std::string& path, const Frame& frame);
Frame read_frame(const std::string& path);

}  // namespace tribo
