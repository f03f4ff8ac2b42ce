#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tribo/io/frame.h"
#include "tribo/io/run_info.h"
#include "tribo/io/writers/file_sequence.h"

namespace tribo {

/// Formats of plain points and polygons write a frame as several files, by what a user wants to show, hide and draw in
/// one way.
enum class PartKind : std::uint8_t { particles, strands, meshes, colliders };
inline constexpr std::array all_part_kinds = {PartKind::particles, PartKind::strands, PartKind::meshes,
                                              PartKind::colliders};
const char* name_of(PartKind kind);

/// One quantity of the points of a part, read from where it lies in the frame.
struct PointColumn {
  std::string name;  ///< "position", "velocity", "color", "radius", or what the column of the frame is called
  DType type = DType::f32;
  std::uint32_t components = 1;
  /// Puts one row at `to`, where zeros are. `group` counts as FramePart::group_sizes, `row` within the group.
  std::function<void(std::size_t group, std::uint64_t row, std::byte* to)> copy;

  std::size_t row_size() const { return components * size_of(type); }
};

/// Refers to the frame it is made of.
struct FramePart {
  PartKind kind = PartKind::particles;
  std::vector<std::uint64_t> group_sizes;  ///< points of each group: all particles; or one mesh, one object's strands
  std::vector<PointColumn> columns;        ///< position comes first
  std::vector<const FrameMesh*> meshes;    ///< the groups, where they are meshes or colliders
  std::vector<const FrameCurves*> curves;  ///< the groups, where they are strands

  std::uint64_t point_count() const;
};

/// The parts of a frame; particles are always among them, the others where there are any. All have position (always
/// three components, z = 0 in the plane), velocity (zero where a body has none), object (into `body_names`), material
/// (-1: none) and color (sRGB bytes); particles and strands have radius, and particles all other columns of the frame.
/// What comes from a column of particles is there when the column is.
std::vector<FramePart> parts_of(const Frame& frame, const RunInfo& info);

/// The frame's objects, then colliders.
std::vector<std::string> body_names(const Frame& frame, const RunInfo& info);

/// The files of all parts: NAME_000012.EXT for particles, NAME_meshes_000012.EXT and so on for the others.
class PartFiles {
 public:
  PartFiles(const std::string& directory, const std::string& name, const std::string& extension);

  const FileSequence& of(PartKind kind) const { return sequences_[static_cast<std::size_t>(kind)]; }
  /// Removes what an earlier export has left of parts that this frame does not have. Throws IoError.
  void remove_others(int frame, const std::vector<FramePart>& parts) const;
  void remove_after(int frame) const;  ///< throws IoError

 private:
  std::vector<FileSequence> sequences_;
};

}  // namespace tribo
