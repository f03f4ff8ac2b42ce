#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/math/small.h"
#include "tribo/mesh/scanner.h"

/// \file
/// The two families of VTK's files, as far as points and cells go: arrays of numbers by name. What is not right is an
/// Error (bad input) that names the line, the byte or the array.

namespace tribo {

enum class VtkKind { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

/// Cell i has the corners from offset i - 1 (or the beginning) to offset i.
struct VtkCells {
  std::vector<double> corners, offsets;
};

/// Throws where cell `i` (called `number` in messages) does not lie within the corners, as it must after a cell that
/// ends at `begin`.
void check_vtk_cell(const VtkCells& cells, std::size_t i, double begin, const char* what, std::int64_t number,
                    const std::string& file);
/// The corner as an index of one of so many points; throws where it is none.
std::size_t vtk_corner(double corner, std::size_t point_count, const char* what, std::int64_t number,
                       const std::string& file);
/// Points as rows of three; throws where a coordinate is no number.
std::vector<Vec<double, 3>> vtk_points(const std::vector<double>& numbers, const std::string& file);

/// VTK's legacy format: keywords, each followed by numbers as text or as bytes, big end first.
class VtkLegacyFile {
 public:
  /// Reads up to what kind of data set it is.
  VtkLegacyFile(std::string_view bytes, const std::string& file);
  const std::string& data_set() const { return data_set_; }
  [[noreturn]] void fail(const std::string& message) const { scan_.fail(message); }
  [[noreturn]] void fail_at_end(const std::string& what) const { scan_.fail_at_end(what); }

  /// Reads the rest, up to data on points and cells; and of data on points the scalars called `scalars`, unless that is
  /// empty.
  void read(std::string_view scalars = {});
  std::vector<double> points;             ///< three a row
  std::map<std::string, VtkCells> cells;  ///< by keyword: CELLS, LINES, ...
  std::vector<double> types;              ///< of CELLS
  bool has_types = false;
  std::vector<double> scalars;  ///< one a point, or none

 private:
  void expect(const char* wanted);
  VtkKind legacy_kind();
  std::vector<double> values(std::int64_t count, VtkKind kind);
  void read_cells(VtkCells& cells);
  void read_fields(std::string_view wanted);
  void read_point_data(std::string_view wanted);

  Scanner scan_;
  const std::string& file_;
  std::string data_set_;
};

/// VTK's XML format, with numbers as text, in base 64, or appended; plain or compressed with zlib.
class VtkXmlFile {
 public:
  VtkXmlFile(std::string_view bytes, const std::string& file, std::string_view type);

  std::size_t piece_count() const { return pieces_.size(); }
  bool has(std::size_t piece, const std::string& array) const { return pieces_[piece].contains(array); }
  /// The numbers of an array, such as "Cells/offsets"; points are "Points".
  std::vector<double> values(std::size_t piece, const std::string& array) const;
  /// Fails where the piece says that it has another number of them, such as "NumberOfPoints".
  void expect_count(std::size_t piece, const char* attribute, std::size_t found) const;

 private:
  struct DataArray {
    VtkKind kind = VtkKind::f64;
    std::string_view format, text;
    std::uint64_t offset = 0;
  };
  [[noreturn]] void fail(const std::string& message) const;
  [[noreturn]] void fail_here(std::size_t at, const std::string& message) const;
  [[noreturn]] void damaged(const std::string& name) const;
  void collect(std::string_view type);
  void header(std::string_view tag, std::string_view type);
  void data_array(std::string_view tag, std::size_t end, const std::string& section);
  std::vector<double> decoded_values(const DataArray& array, const std::string& name) const;
  Scanner scanner(std::string_view bytes) const;
  std::uint64_t length(Scanner& scan) const;
  std::string from_blocks(std::string_view source, const std::string& name) const;

  std::string_view all_, appended_;
  const std::string& file_;
  bool big_endian_ = false, wide_header_ = false, appended_raw_ = false, compressed_ = false;
  std::vector<std::map<std::string, DataArray>> pieces_;
  std::vector<std::string_view> piece_tags_;
};

}  // namespace tribo
