#include "tribo/io/writers/vtk.h"

#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <set>
#include <system_error>
#include <utility>

#include "tribo/io/file.h"
#include "tribo/io/writers/buffered_file.h"
#include "tribo/io/writers/frame_parts.h"
#include "tribo/io/writers/vtk_xml.h"

namespace tribo {
namespace {

std::string column_element(const FramePart& part, const PointColumn& column, AppendedData& data) {
  const auto write = [&part, &column](BufferedFile& file) {
    for (std::size_t group = 0; group < part.group_sizes.size(); ++group)
      for (std::uint64_t row = 0; row < part.group_sizes[group]; ++row)
        column.copy(group, row, file.append(column.row_size()));
  };
  const std::string name = column.name == "position" ? "Points" : escaped(column.name);
  return fmt::format("<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" {}/>\n", vtk_type(column.type), name,
                     column.components, data.add(part.point_count() * column.row_size(), write));
}

/// Cells of one kind: `points` indices in all, cut at `count` offsets.
std::string cells_element(const char* kind, std::uint64_t points, AppendedData::Write write_points, std::uint64_t count,
                          AppendedData::Write write_offsets, AppendedData& data) {
  std::string text = fmt::format("<{}>\n", kind);
  text += fmt::format("<DataArray type=\"{}\" Name=\"connectivity\" {}/>\n", vtk_cell_type,
                      data.add(points * sizeof(VtkCell), std::move(write_points)));
  text += fmt::format("<DataArray type=\"{}\" Name=\"offsets\" {}/>\n", vtk_cell_type,
                      data.add(count * sizeof(VtkCell), std::move(write_offsets)));
  return text + fmt::format("</{}>\n", kind);
}

/// The cells of a part, with how many there are of each kind.
struct Cells {
  std::uint64_t verts = 0, lines = 0, polys = 0;
  std::string element;
};

Cells cells_of(const FramePart& part, AppendedData& data) {
  Cells cells;
  const std::uint64_t count = part.point_count();
  switch (part.kind) {
    case PartKind::particles:
      cells.verts = count;
      cells.element = cells_element("Verts", count, counting(count, 0, 1), count, counting(count, 1, 1), data);
      break;
    case PartKind::strands: {
      for (const FrameCurves* curves : part.curves) cells.lines += curves->sizes.count;
      const auto offsets = [&part](BufferedFile& file) {
        VtkCell end = 0;
        for (const FrameCurves* curves : part.curves)
          for (const std::int32_t size : curves->sizes.as<std::int32_t>()) file.put(end += size);
      };
      cells.element = cells_element("Lines", count, counting(count, 0, 1), cells.lines, offsets, data);
      break;
    }
    case PartKind::meshes:
    case PartKind::colliders: {
      for (const FrameMesh* mesh : part.meshes) cells.polys += mesh->triangles.count;
      const auto corners = [&part](BufferedFile& file) {
        VtkCell first = 0;
        for (const FrameMesh* mesh : part.meshes) {
          for (const std::int32_t corner : mesh->triangles.as<std::int32_t>()) file.put(first + corner);
          first += static_cast<VtkCell>(mesh->x.count);
        }
      };
      cells.element = cells_element("Polys", 3 * cells.polys, corners, cells.polys, counting(cells.polys, 3, 3), data);
      break;
    }
  }
  return cells;
}

void write_part(const std::string& path, const Frame& frame, const FramePart& part, const RunInfo& info) {
  AppendedData data;
  std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "<PolyData>\n<FieldData>\n";
  text += fmt::format(
      "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n",
      frame.time);
  text += names_element("objects", body_names(frame, info), data);
  text += names_element("materials", frame.materials, data);
  const Cells cells = cells_of(part, data);
  text += fmt::format(
      "</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" "
      "NumberOfPolys=\"{}\">\n",
      part.point_count(), cells.verts, cells.lines, cells.polys);
  text += "<Points>\n" + column_element(part, part.columns.front(), data) + "</Points>\n" + cells.element;
  text += "<PointData>\n";
  for (std::size_t i = 1; i < part.columns.size(); ++i) text += column_element(part, part.columns[i], data);
  text += "</PointData>\n</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_";

  BufferedFile file(path);
  file.write(text);
  data.write(file);
  file.write("\n</AppendedData>\n</VTKFile>\n");
  file.commit();
}

class VtkWriter : public FrameWriter {
 public:
  VtkWriter(const std::string& directory, const RunInfo& info) : info_(info), files_(directory, info.name, ".vtp") {}

  void write(const Frame& frame) override {
    const std::vector<FramePart> parts = parts_of(frame, info_);
    for (const FramePart& part : parts)
      write_part(files_.of(part.kind).path_to_write(frame.number), frame, part, info_);
    files_.remove_others(frame.number, parts);
  }

  void remove_after(int frame) override {
    files_.remove_after(frame);
    std::error_code error;
    if (std::filesystem::exists(collection_path(), error)) finish();
  }

  void finish() override {
    std::set<std::pair<int, PartKind>> there;
    for (const PartKind kind : all_part_kinds)
      for (const int frame : files_.of(kind).frames()) there.emplace(frame, kind);
    std::vector<VtkDataSet> sets;
    for (const auto& [frame, kind] : there)
      sets.push_back({frame / info_.fps, static_cast<int>(kind), name_of(kind), files_.of(kind).file_name(frame)});
    write_vtk_collection(collection_path(), sets);
  }

 private:
  std::string collection_path() const {
    const FileSequence& particles = files_.of(PartKind::particles);
    return particles.directory() + "/" + particles.stem() + ".pvd";
  }

  RunInfo info_;
  PartFiles files_;
};

}  // namespace

std::unique_ptr<FrameWriter> open_vtk_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<VtkWriter>(directory, info);
}

}  // namespace tribo
