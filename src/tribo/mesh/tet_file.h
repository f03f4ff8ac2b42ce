#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/math/small.h"

/// \file
/// Tets as a file has them, before anything is known to be right about them but that they refer to vertices there are.
/// Readers throw Error (bad input) whose text begins with the file's name and names the line, byte or element.

namespace tribo {

struct TetFile {
  std::vector<Vec<double, 3>> vertices;
  std::vector<std::int64_t> vertex_numbers;  ///< as the file calls them
  std::vector<Vec<std::int32_t, 4>> tets;    ///< positions in `vertices`
  std::vector<std::int64_t> tet_numbers;
  std::size_t other_solids = 0;   ///< hexahedra, prisms, pyramids: a part of the body that is no tets
  bool has_middle_nodes = false;  ///< of curved tets, of which the corners are used
};

TetFile parse_gmsh(std::string_view bytes, const std::string& file);
TetFile parse_medit(std::string_view text, const std::string& file);
TetFile parse_tetgen(std::string_view node, const std::string& node_file, std::string_view ele,
                     const std::string& ele_file);
TetFile parse_vtk_tets(std::string_view bytes, const std::string& file);
TetFile parse_vtu(std::string_view bytes, const std::string& file);

/// Gathers what a file says, then finds the vertices that tets refer to by number.
class TetFileMaker {
 public:
  explicit TetFileMaker(const std::string& file) : file_(file) {}
  void add_vertex(std::int64_t number, const Vec<double, 3>& at) {
    out_.vertices.push_back(at);
    out_.vertex_numbers.push_back(number);
  }
  void add_tet(std::int64_t number, const Vec<std::int64_t, 4>& corners) {
    out_.tet_numbers.push_back(number);
    corners_.push_back(corners);
  }
  void add_other_solids(std::size_t count) { out_.other_solids += count; }
  void found_middle_nodes() { out_.has_middle_nodes = true; }
  std::size_t vertex_count() const { return out_.vertices.size(); }
  std::size_t tet_count() const { return corners_.size(); }
  TetFile finish();

 private:
  const std::string& file_;
  TetFile out_;
  std::vector<Vec<std::int64_t, 4>> corners_;
};

}  // namespace tribo
