#pragma once

#include <string>
#include <vector>

#include "tribo/io/container.h"

namespace tribo {

/// Host copy of what an observer may want to see at one output time. Columns are in order of particle id, so that row
/// i is the same particle in every frame while nothing is emitted.
struct Frame {
  int number = 0;
  double time = 0;                     ///< [s]
  std::vector<std::string> objects;    ///< names; column `object` indexes them
  std::vector<std::string> materials;  ///< names; column `material` indexes them
  std::vector<NamedArray> columns;     ///< x [m], v [m/s], id, object, material, J (volume ratio)

  const NamedArray* find(const std::string& name) const;
};

/// Every column has the same number of rows; `x` is there; `v` has its components; `id`, `object`, `material` and `J`
/// have one; `object` and `material` stay within their lists of names. Frames of a run are 2D or 3D by `x`'s
/// components. A frame that breaks this is a bug of ours: throws Error with ExitCode::internal.
Container to_container(const Frame& frame);

/// The reverse, same checks. Throws IoError that names `path`, from where the container was read.
Frame to_frame(Container container, const std::string& path = "frame");

/// A frame as a file of its own, checked as above; writing copies no column.
void write_frame(const std::string& path, const Frame& frame);
Frame read_frame(const std::string& path);

}  // namespace tribo
