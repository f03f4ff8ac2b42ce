#include <fmt/format.h>

#include <algorithm>

#include "tribo/mesh/tet_file.h"
#include "tribo/mesh/vtk_file.h"

namespace tribo {
namespace {

/// Voxels, hexahedra, prisms, pyramids and polyhedra of any order, by VTK's number of the type of a cell.
bool is_other_solid(double type) {
  constexpr double ranges[][2] = {{11, 16}, {25, 27}, {29, 29}, {31, 33}, {41, 42}, {71, 74}, {78, 81}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const auto& range) { return type >= range[0] && type <= range[1]; });
}

/// Cells as both formats have them, to tets.
void add_cells(const std::vector<double>& numbers, const VtkCells& cells, const std::vector<double>& types,
               const std::string& file, TetFileMaker& maker, std::int64_t& cell) {
  if (cells.offsets.size() != types.size())
    fail_in_file(file, fmt::format("has {} cells, but the types of {}", cells.offsets.size(), types.size()));
  const auto first = static_cast<std::int64_t>(maker.vertex_count());
  const std::vector<Vec<double, 3>> points = vtk_points(numbers, file);
  for (std::size_t i = 0; i < points.size(); ++i) maker.add_vertex(first + static_cast<std::int64_t>(i), points[i]);
  constexpr double tet = 10, curved_tet = 24;
  double begin = 0;
  for (std::size_t i = 0; i < types.size(); ++i, ++cell) {
    check_vtk_cell(cells, i, begin, "cell", cell, file);
    const double end = cells.offsets[i];
    if (types[i] == tet || types[i] == curved_tet) {
      const double wanted = types[i] == tet ? 4 : 10;
      if (end - begin != wanted)
        fail_in_file(file, fmt::format("cell {} is a tet of {} points; expected {}", cell, end - begin, wanted));
      Vec<std::int64_t, 4> four;
      for (int k = 0; k < 4; ++k) {
        const double corner = cells.corners[static_cast<std::size_t>(begin) + static_cast<std::size_t>(k)];
        four[k] = first + static_cast<std::int64_t>(vtk_corner(corner, points.size(), "cell", cell, file));
      }
      maker.add_tet(cell, four);
      if (types[i] == curved_tet) maker.found_middle_nodes();
    } else if (is_other_solid(types[i])) {
      maker.add_other_solids(1);
    }
    begin = end;
  }
}

}  // namespace

TetFile parse_vtk_tets(std::string_view bytes, const std::string& file) {
  VtkLegacyFile in(bytes, file);
  if (in.data_set() != "UNSTRUCTURED_GRID")
    in.fail("expected a data set UNSTRUCTURED_GRID, which tets are, got " + shown_word(in.data_set()));
  in.read();
  if (in.points.empty() || !in.has_types) in.fail_at_end(in.points.empty() ? "POINTS" : "CELL_TYPES");
  TetFileMaker maker(file);
  std::int64_t cell = 0;
  add_cells(in.points, in.cells["CELLS"], in.types, file, maker, cell);
  return maker.finish();
}

TetFile parse_vtu(std::string_view bytes, const std::string& file) {
  const VtkXmlFile in(bytes, file, "UnstructuredGrid");
  TetFileMaker maker(file);
  std::int64_t cell = 0;
  for (std::size_t piece = 0; piece < in.piece_count(); ++piece) {
    const std::vector<double> points = in.values(piece, "Points");
    if (points.size() % 3 != 0) fail_in_file(file, "the points do not have three coordinates each");
    add_cells(points, {in.values(piece, "Cells/connectivity"), in.values(piece, "Cells/offsets")},
              in.values(piece, "Cells/types"), file, maker, cell);
  }
  return maker.finish();
}

}  // namespace tribo
