#include <fmt/format.h>

#include <array>
#include <optional>

#include "tribo/mesh/ply_reader.h"
#include "tribo/mesh/strand_file.h"
#include "tribo/mesh/vtk_file.h"
#include "tribo/mesh/words.h"

/// \file
/// Strands in formats that are mostly used for meshes: lines that refer to points by number.

namespace tribo {
namespace {

/// In PLY strands are rows of an element with a list of vertices, as many programs write lines; or else edges of two
/// vertices each.
class PlyStrands {
 public:
  PlyStrands(const std::string& file, std::string element) : file_(file), element_(element), maker_(file, element) {}

  void begin(const PlyElement& element) {
    position_.reset();
    radius_ = list_ = -1;
    ends_ = {-1, -1};
    if (element.name == "vertex") {
      position_.emplace(element, file_);
      for (std::size_t i = 0; i < element.properties.size(); ++i)
        if (!element.properties[i].count && element.properties[i].name == "radius") radius_ = static_cast<int>(i);
    }
    if (element.name != element_) return;
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& p = element.properties[i];
      const int index = static_cast<int>(i);
      if (p.count && (p.name == "vertex_indices" || p.name == "vertex_index" || p.name == "vertices")) list_ = index;
      if (!p.count && p.name == "vertex1") ends_[0] = index;
      if (!p.count && p.name == "vertex2") ends_[1] = index;
    }
    if (list_ < 0 && (ends_[0] < 0 || ends_[1] < 0))
      fail_in_file(file_, fmt::format("the element \"{}\" has neither the property list vertex_indices nor the "
                                      "properties vertex1 and vertex2",
                                      element_));
  }
  void list(std::uint64_t /*row*/, int property, double /*length*/) {
    if (property == list_) maker_.begin_line();
  }
  void value(std::uint64_t /*row*/, int property, double number) {
    if (position_) position_->value(property, number);
    if (property == radius_) maker_.add_radius(number);
    if (property == list_) maker_.add_corner(ply_index(number));
    for (std::size_t k = 0; k < 2 && list_ < 0; ++k)
      if (property == ends_[k]) edge_[k] = ply_index(number);
  }
  void end_row(std::uint64_t row) {
    if (position_) maker_.add_point(position_->end_row(row, file_));
    if (list_ >= 0 || ends_[0] < 0) return;
    maker_.begin_line();
    for (const std::int64_t end : edge_) maker_.add_corner(end);
  }
  StrandFile finish(double scale) { return maker_.finish(scale); }

 private:
  const std::string& file_;
  std::string element_;
  StrandMaker maker_;
  std::optional<PlyPosition> position_;  ///< while vertices are read
  int radius_ = -1, list_ = -1;          ///< the properties that are these, or -1
  std::array<int, 2> ends_{-1, -1};
  std::array<std::int64_t, 2> edge_{};
};

/// Lines and polylines of an unstructured grid, by VTK's number of the type of a cell.
bool is_line(double type) { return type == 3 || type == 4; }

/// Lines as both formats of VTK have them; `types` where cells are of several kinds.
void add_lines(const std::vector<double>& points, const std::vector<double>& radius, const VtkCells& cells,
               const std::vector<double>* types, const std::string& file, StrandMaker& maker) {
  if (points.size() % 3 != 0) fail_in_file(file, "the points do not have three coordinates each");
  if (types && types->size() != cells.offsets.size())
    fail_in_file(file, fmt::format("has {} cells, but the types of {}", cells.offsets.size(), types->size()));
  const std::size_t first = maker.point_count();
  for (const Vec<double, 3>& x : vtk_points(points, file)) maker.add_point(x);
  if (!radius.empty() && radius.size() != points.size() / 3)
    fail_in_file(file, fmt::format("has {} points, but the radii of {}", points.size() / 3, radius.size()));
  for (const double r : radius) maker.add_radius(r);
  double begin = 0;
  for (std::size_t i = 0; i < cells.offsets.size(); ++i) {
    const auto number = static_cast<std::int64_t>(maker.line_count()) + 1;
    check_vtk_cell(cells, i, begin, "line", number, file);
    if (!types || is_line((*types)[i])) {
      maker.begin_line();
      for (auto c = static_cast<std::size_t>(begin); c < static_cast<std::size_t>(cells.offsets[i]); ++c)
        maker.add_corner(static_cast<std::int64_t>(
            first + vtk_corner(cells.corners[c], maker.point_count() - first, "line", number, file)));
    }
    begin = cells.offsets[i];
  }
}

std::vector<double> radii_of(const VtkXmlFile& in, std::size_t piece) {
  return in.has(piece, "PointData/radius") ? in.values(piece, "PointData/radius") : std::vector<double>{};
}

}  // namespace

StrandFile parse_ply_strands(std::string_view bytes, double scale, const std::string& file) {
  PlyReader reader(bytes, file);
  if (!reader.has("vertex")) fail_in_file(file, "the header has no element \"vertex\"");
  for (const char* name : {"polyline", "strand", "curve", "line", "edge"}) {
    if (!reader.has(name)) continue;
    PlyStrands strands(file, name);
    reader.read(strands);
    return strands.finish(scale);
  }
  fail_in_file(file,
               "has no strands: the header has no element \"polyline\", \"strand\", \"curve\", \"line\" or \"edge\"");
}

StrandFile parse_vtk_strands(std::string_view bytes, double scale, const std::string& file) {
  VtkLegacyFile in(bytes, file);
  const bool is_grid = in.data_set() == "UNSTRUCTURED_GRID";
  if (!is_grid && in.data_set() != "POLYDATA")
    in.fail("expected a data set POLYDATA or UNSTRUCTURED_GRID with lines, got " + shown_word(in.data_set()));
  in.read("radius");
  if (in.points.empty()) in.fail_at_end("POINTS");
  if (is_grid && !in.has_types) in.fail_at_end("CELL_TYPES");
  StrandMaker maker(file, "line");
  add_lines(in.points, in.scalars, in.cells[is_grid ? "CELLS" : "LINES"], is_grid ? &in.types : nullptr, file, maker);
  return maker.finish(scale);
}

StrandFile parse_vtp_strands(std::string_view bytes, double scale, const std::string& file) {
  const VtkXmlFile in(bytes, file, "PolyData");
  StrandMaker maker(file, "line");
  for (std::size_t piece = 0; piece < in.piece_count(); ++piece) {
    VtkCells lines;
    if (in.has(piece, "Lines/offsets"))
      lines = {in.values(piece, "Lines/connectivity"), in.values(piece, "Lines/offsets")};
    const std::vector<double> points = in.values(piece, "Points");
    in.expect_count(piece, "NumberOfPoints", points.size() / 3);
    in.expect_count(piece, "NumberOfLines", lines.offsets.size());
    add_lines(points, radii_of(in, piece), lines, nullptr, file, maker);
  }
  return maker.finish(scale);
}

StrandFile parse_vtu_strands(std::string_view bytes, double scale, const std::string& file) {
  const VtkXmlFile in(bytes, file, "UnstructuredGrid");
  StrandMaker maker(file, "line");
  for (std::size_t piece = 0; piece < in.piece_count(); ++piece) {
    const std::vector<double> types = in.values(piece, "Cells/types"), points = in.values(piece, "Points");
    in.expect_count(piece, "NumberOfPoints", points.size() / 3);
    in.expect_count(piece, "NumberOfCells", types.size());
    add_lines(points, radii_of(in, piece), {in.values(piece, "Cells/connectivity"), in.values(piece, "Cells/offsets")},
              &types, file, maker);
  }
  return maker.finish(scale);
}

/// Wavefront OBJ: vertices, and lines of two or more of them. Indices begin at 1; negative ones count back from the
/// last vertex so far.
StrandFile parse_obj_strands(std::string_view text, double scale, const std::string& file) {
  Words words(text);
  StrandMaker maker(file, "line");
  const auto fail = [&](const std::string& message) { fail_at_line(file, words.line(), message); };
  do {
    const std::string_view kind = words.next_in_line();
    if (kind == "v") {
      Vec<double, 3> x = Vec<double, 3>::zero();
      for (int k = 0; k < 3; ++k) {
        const std::string_view word = words.next_in_line();
        if (!parse_number(word, x[k]) || !std::isfinite(x[k]))
          fail("expected three numbers after \"v\", got " + (word.empty() ? "too few" : shown_word(word)));
      }
      maker.add_point(x);
    } else if (kind == "l") {
      maker.begin_line();
      std::size_t count = 0;
      for (std::string_view word = words.next_in_line(); !word.empty() && !word.starts_with('#');
           word = words.next_in_line(), ++count) {
        std::int64_t index = 0;  // of "7/3" the first number is the vertex, the other its texture
        if (!parse_number(word.substr(0, word.find('/')), index) || index == 0)
          fail("expected the number of a vertex, got " + shown_word(word));
        const auto so_far = static_cast<std::int64_t>(maker.point_count());
        if (index < 0 && index + so_far < 0)
          fail(fmt::format("the line refers to vertex {}, counted back from {} vertices", index, so_far));
        maker.add_corner(index > 0 ? index - 1 : index + so_far);
      }
      if (count < 2) fail(fmt::format("a line of {} vertices; it needs two or more", count));
    }
  } while (words.next_line());
  return maker.finish(scale);
}

}  // namespace tribo
