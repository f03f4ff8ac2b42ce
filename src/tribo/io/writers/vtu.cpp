#include "tribo/io/writers/vtu.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tribo/core/errors.h"
#include "tribo/io/writers/file_sequence.h"
#include "tribo/io/writers/vtk_xml.h"

namespace tribo {
namespace {

constexpr std::uint8_t vtk_tetra = 10;  ///< number of the cell type

/// One array of all bodies, one body after the other.
std::string array_element(const char* name, const Frame& frame, NamedArray FrameTets::*array, AppendedData& data) {
  std::uint64_t size = 0;
  for (const FrameTets& body : frame.tets) size += (body.*array).data.size();
  const NamedArray& first = frame.tets.front().*array;
  const auto write = [&frame, array](BufferedFile& file) {
    for (const FrameTets& body : frame.tets) file.write((body.*array).data);
  };
  // Without a number of components meshio makes plain numbers of the rows.
  const std::string components =
      first.components > 1 ? fmt::format(" NumberOfComponents=\"{}\"", first.components) : "";
  return fmt::format("<DataArray type=\"{}\" Name=\"{}\"{} {}/>\n", vtk_type(first.type), name, components,
                     data.add(size, write));
}

std::string cells_element(const Frame& frame, std::uint64_t tets, AppendedData& data) {
  const auto corners = [&frame](BufferedFile& file) {
    VtkCell first = 0;
    for (const FrameTets& body : frame.tets) {
      for (const std::int32_t corner : body.tets.as<std::int32_t>()) file.put(first + corner);
      first += static_cast<VtkCell>(body.x.count);
    }
  };
  const auto types = [tets](BufferedFile& file) {
    for (std::uint64_t t = 0; t < tets; ++t) file.put(vtk_tetra);
  };
  const auto line = [](const char* type, const char* name, const std::string& place) {
    return fmt::format("<DataArray type=\"{}\" Name=\"{}\" {}/>\n", type, name, place);
  };
  std::string text = "<Cells>\n";
  text += line(vtk_cell_type, "connectivity", data.add(4 * tets * sizeof(VtkCell), corners));
  text += line(vtk_cell_type, "offsets", data.add(tets * sizeof(VtkCell), counting(tets, 4, 4)));
  text += line("UInt8", "types", data.add(tets, types));
  return text + "</Cells>\n";
}

/// The number of its object for each tet.
std::string object_element(const Frame& frame, std::uint64_t tets, AppendedData& data) {
  const auto write = [&frame](BufferedFile& file) {
    for (const FrameTets& body : frame.tets) {
      const auto found = std::find(frame.objects.begin(), frame.objects.end(), body.name);
      const auto object = static_cast<std::int32_t>(found - frame.objects.begin());
      for (std::uint64_t t = 0; t < body.tets.count; ++t) file.put(object);
    }
  };
  return fmt::format("<DataArray type=\"Int32\" Name=\"object\" {}/>\n", data.add(tets * sizeof(std::int32_t), write));
}

/// Data lie in the order of the elements that refer to them, and there is nothing but numbers: meshio knows no texts.
void write_tets(const std::string& path, const Frame& frame) {
  std::uint64_t points = 0, tets = 0;
  for (const FrameTets& body : frame.tets) {
    points += body.x.count;
    tets += body.tets.count;
  }
  AppendedData data;
  std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "<UnstructuredGrid>\n<FieldData>\n";
  text += fmt::format(
      "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray>\n",
      frame.time);
  text += fmt::format("</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", points, tets);
  text += "<Points>\n" + array_element("Points", frame, &FrameTets::x, data) + "</Points>\n";
  text += cells_element(frame, tets, data);
  text += "<PointData>\n" + array_element("velocity", frame, &FrameTets::v, data) + "</PointData>\n";
  text += "<CellData>\n" + array_element("J", frame, &FrameTets::J, data);
  text += object_element(frame, tets, data) + "</CellData>\n";
  text += "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";

  BufferedFile file(path);
  file.write(text);
  data.write(file);
  file.write("\n</AppendedData>\n</VTKFile>\n");
  file.commit();
}

class VtuWriter : public FrameWriter {
 public:
  VtuWriter(const std::string& directory, const RunInfo& info) : fps_(info.fps), files_(directory, info.name, ".vtu") {}

  void write(const Frame& frame) override {
    if (frame.tets.empty())
      throw Error(
          ExitCode::bad_input,
          fmt::format("frame {} holds no tets; frames do when output.formats of the scene has \"vtu\": add it, and "
                      "simulate again",
                      frame.number));
    write_tets(files_.path_to_write(frame.number), frame);
  }

  void remove_after(int frame) override {
    files_.remove_after(frame);
    std::error_code error;
    if (std::filesystem::exists(collection_path(), error)) finish();
  }

  void finish() override {
    std::vector<VtkDataSet> sets;
    for (const int frame : files_.frames()) sets.push_back({frame / fps_, 0, "tets", files_.file_name(frame)});
    write_vtk_collection(collection_path(), sets);
  }

 private:
  std::string collection_path() const { return files_.directory() + "/" + files_.stem() + ".pvd"; }

  double fps_;
  FileSequence files_;
};

}  // namespace

std::unique_ptr<FrameWriter> open_vtu_writer(const std::string& directory, const RunInfo& info) {
  return std::make_unique<VtuWriter>(directory, info);
}

}  // namespace tribo
