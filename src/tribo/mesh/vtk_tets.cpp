#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tribo/mesh/inflate.h"
#include "tribo/mesh/scanner.h"
#include "tribo/mesh/tet_file.h"

namespace tribo {
namespace {

enum class Kind { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
struct KindName {
  const char* name;
  Kind kind;
};
constexpr KindName legacy_kinds[] = {
    {"char", Kind::i8},          {"unsigned_char", Kind::u8},  {"short", Kind::i16},     {"unsigned_short", Kind::u16},
    {"int", Kind::i32},          {"unsigned_int", Kind::u32},  {"long", Kind::i64},      {"unsigned_long", Kind::u64},
    {"vtktypeint64", Kind::i64}, {"vtktypeuint64", Kind::u64}, {"vtkIdType", Kind::i64}, {"float", Kind::f32},
    {"double", Kind::f64}};
constexpr KindName xml_kinds[] = {
    {"Int8", Kind::i8},    {"UInt8", Kind::u8},  {"Int16", Kind::i16},  {"UInt16", Kind::u16},  {"Int32", Kind::i32},
    {"UInt32", Kind::u32}, {"Int64", Kind::i64}, {"UInt64", Kind::u64}, {"Float32", Kind::f32}, {"Float64", Kind::f64}};
template <std::size_t n>
std::optional<Kind> kind_of(const KindName (&names)[n], std::string_view word) {
  for (const KindName& known : names)
    if (word == known.name) return known.kind;
  return {};
}
constexpr std::size_t size_of(Kind kind) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return sizes[static_cast<std::size_t>(kind)];
}

/// One number as bytes. Whole ones beyond 2^53, which no mesh has, are rounded.
double raw_value(Scanner& scan, Kind kind, const char* what) {
  switch (kind) {
    case Kind::i8:
      return scan.raw<std::int8_t>(what);
    case Kind::u8:
      return scan.raw<std::uint8_t>(what);
    case Kind::i16:
      return scan.raw<std::int16_t>(what);
    case Kind::u16:
      return scan.raw<std::uint16_t>(what);
    case Kind::i32:
      return scan.raw<std::int32_t>(what);
    case Kind::u32:
      return scan.raw<std::uint32_t>(what);
    case Kind::i64:
      return static_cast<double>(scan.raw<std::int64_t>(what));
    case Kind::u64:
      return static_cast<double>(scan.raw<std::uint64_t>(what));
    case Kind::f32:
      return static_cast<double>(scan.raw<float>(what));
    case Kind::f64:
      return scan.raw<double>(what);
  }
  return 0;
}

/// Voxels, hexahedra, prisms, pyramids and polyhedra of any order, by VTK's number of the type of a cell.
bool is_other_solid(double type) {
  constexpr double ranges[][2] = {{11, 16}, {25, 27}, {29, 29}, {31, 33}, {41, 42}, {71, 74}, {78, 81}};
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [&](const auto& range) { return type >= range[0] && type <= range[1]; });
}

/// Cells as both formats have them, to tets: cell i has the corners from offset i - 1 to offset i.
void add_cells(const std::vector<double>& points, const std::vector<double>& corners,
               const std::vector<double>& offsets, const std::vector<double>& types, const std::string& file,
               TetFileMaker& maker, std::int64_t& cell) {
  if (offsets.size() != types.size())
    fail_in_file(file, fmt::format("has {} cells, but the types of {}", offsets.size(), types.size()));
  const auto first = static_cast<std::int64_t>(maker.vertex_count());
  for (std::size_t i = 0; 3 * i < points.size(); ++i) {
    const Vec<double, 3> v{{points[3 * i], points[3 * i + 1], points[3 * i + 2]}};
    for (int k = 0; k < 3; ++k)
      if (!std::isfinite(v[k])) fail_in_file(file, fmt::format("point {} has a coordinate that is no number", i));
    maker.add_vertex(first + static_cast<std::int64_t>(i), v);
  }
  constexpr double tet = 10, curved_tet = 24;
  const std::size_t point_count = points.size() / 3;
  double begin = 0;
  for (std::size_t i = 0; i < types.size(); ++i, ++cell) {
    const double end = offsets[i];
    if (!(end >= begin) || end > static_cast<double>(corners.size()) || end != std::floor(end))
      fail_in_file(file, fmt::format("the corners of cell {} are not where the file says; it is damaged", cell));
    if (types[i] == tet || types[i] == curved_tet) {
      const double wanted = types[i] == tet ? 4 : 10;
      if (end - begin != wanted)
        fail_in_file(file, fmt::format("cell {} is a tet of {} points; expected {}", cell, end - begin, wanted));
      Vec<std::int64_t, 4> four;
      for (int k = 0; k < 4; ++k) {
        const double corner = corners[static_cast<std::size_t>(begin) + static_cast<std::size_t>(k)];
        if (!(corner >= 0 && corner < static_cast<double>(point_count) && corner == std::floor(corner)))
          fail_in_file(file, fmt::format("cell {} refers to point {}, of {} there are", cell, corner, point_count));
        four[k] = first + static_cast<std::int64_t>(corner);
      }
      maker.add_tet(cell, four);
      if (types[i] == curved_tet) maker.found_middle_nodes();
    } else if (is_other_solid(types[i])) {
      maker.add_other_solids(1);
    }
    begin = end;
  }
}

/// VTK's legacy format, UNSTRUCTURED_GRID: keywords, each followed by numbers as text or as bytes, big end first.
class VtkParser {
 public:
  VtkParser(std::string_view bytes, const std::string& file) : scan_(bytes, file), file_(file) {}

  TetFile parse() {
    if (!scan_.end_line().starts_with("# vtk DataFile"))
      fail_in_file(file_, "is no file of VTK: it does not begin with \"# vtk DataFile Version\"");
    scan_.end_line();  // title
    const std::string_view format = scan_.word();
    if (format != "ASCII" && format != "BINARY") scan_.fail("expected ASCII or BINARY, got " + shown_word(format));
    const bool binary = format == "BINARY";
    scan_.end_line();
    expect("DATASET");
    const std::string_view kind = scan_.word();
    if (kind != "UNSTRUCTURED_GRID")
      scan_.fail("expected a data set UNSTRUCTURED_GRID, which tets are, got " + shown_word(kind));
    scan_.binary = binary;
    scan_.big_endian = true;
    std::vector<double> points, corners, offsets, types;
    bool has_types = false;
    for (std::string_view word = scan_.word(); !word.empty(); word = scan_.word()) {
      if (word == "POINTS") {
        const std::int64_t n = scan_.whole("the number of points");
        scan_.count(n, 3, "points");
        points = values(3 * n, legacy_kind());
      } else if (word == "CELLS") {
        cells(corners, offsets);
      } else if (word == "CELL_TYPES") {
        const std::int64_t n = scan_.whole("the number of cells");
        scan_.end_line();
        types = values(n, Kind::i32);
        has_types = true;
      } else if (word == "METADATA") {
        scan_.end_line();
        while (scan_.left() > 0 && scan_.end_line().find_first_not_of(" \t\r") != std::string_view::npos) {
        }
      } else if (word == "FIELD") {
        skip_field();
      } else if (word == "POINT_DATA" || word == "CELL_DATA") {
        break;
      } else {
        scan_.fail("unknown keyword " + shown_word(word));
      }
    }
    if (points.empty() || !has_types) scan_.fail_at_end(points.empty() ? "POINTS" : "CELL_TYPES");
    TetFileMaker maker(file_);
    std::int64_t cell = 0;
    add_cells(points, corners, offsets, types, file_, maker, cell);
    return maker.finish();
  }

 private:
  void expect(const char* wanted) {
    const std::string_view word = scan_.word();
    if (word != wanted) scan_.fail(std::string("expected ") + wanted + ", got " + shown_word(word));
  }
  /// The type at the end of a keyword's line.
  Kind legacy_kind() {
    const std::string_view word = scan_.word();
    const std::optional<Kind> kind = kind_of(legacy_kinds, word);
    if (!kind) scan_.fail("unknown type of numbers " + shown_word(word));
    scan_.end_line();
    return *kind;
  }
  std::vector<double> values(std::int64_t count, Kind kind) {
    std::vector<double> out(scan_.count(count, scan_.binary ? size_of(kind) : 1, "numbers"));
    for (double& x : out) x = scan_.binary ? raw_value(scan_, kind, "a number") : scan_.number("a number");
    return out;
  }
  /// Version 5 has offsets and corners apart; before, every cell began with the number of its corners.
  void cells(std::vector<double>& corners, std::vector<double>& offsets) {
    const std::int64_t first = scan_.whole("the number of cells");
    const std::int64_t second = scan_.whole("the number of corners");
    scan_.end_line();
    if (scan_.peek() == "OFFSETS") {
      expect("OFFSETS");
      offsets = values(first, legacy_kind());
      if (!offsets.empty()) offsets.erase(offsets.begin());  // the first is 0
      expect("CONNECTIVITY");
      corners = values(second, legacy_kind());
      return;
    }
    const std::vector<double> all = values(second, Kind::i32);
    scan_.count(first, 1, "cells");
    std::size_t at = 0;
    for (std::int64_t i = 0; i < first; ++i) {
      const double n = at < all.size() ? all[at++] : -1;
      if (!(n >= 0) || n > static_cast<double>(all.size() - at) || n != std::floor(n))
        scan_.fail("the corners of cell " + std::to_string(i) + " do not fit into CELLS; the file is damaged");
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
      corners.insert(corners.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
      at += static_cast<std::size_t>(n);
      offsets.push_back(static_cast<double>(corners.size()));
    }
  }
  void skip_field() {
    scan_.word();
    const std::int64_t arrays = scan_.whole("the number of arrays");
    for (std::int64_t i = 0; i < arrays; ++i) {
      scan_.word();
      const std::size_t components = scan_.count(scan_.whole("a number of components"), 1, "components");
      const std::size_t tuples = scan_.count(scan_.whole("a number of tuples"), 1, "tuples");
      if (components > 0 && tuples > scan_.left() / components) scan_.fail_at_end("an array");
      const std::string_view type = scan_.peek();
      if (type == "string") scan_.fail("has texts in a FIELD; save it without");
      values(static_cast<std::int64_t>(components * tuples), legacy_kind());
    }
  }

  Scanner scan_;
  const std::string& file_;
};

/// VTK's XML format for unstructured grids (.vtu), with numbers as text, in base 64, or appended; plain or compressed
/// with zlib.
class VtuParser {
 public:
  VtuParser(std::string_view bytes, const std::string& file) : all_(bytes), file_(file) {}

  TetFile parse() {
    collect();
    TetFileMaker maker(file_);
    std::int64_t cell = 0;
    for (const Piece& piece : pieces_) {
      const std::vector<double> points = values(piece.points, "Points");
      if (points.size() % 3 != 0) fail("the points do not have three coordinates each");
      add_cells(points, values(piece.connectivity, "connectivity"), values(piece.offsets, "offsets"),
                values(piece.types, "types"), file_, maker, cell);
    }
    return maker.finish();
  }

 private:
  struct DataArray {
    bool present = false;
    Kind kind = Kind::f64;
    std::string_view format, text;
    std::uint64_t offset = 0;
  };
  struct Piece {
    DataArray points, connectivity, offsets, types;
  };
  [[noreturn]] void fail(const std::string& message) const { fail_in_file(file_, message); }
  [[noreturn]] void fail_here(std::size_t at, const std::string& message) const {
    fail_in_file(file_, "at byte " + std::to_string(at) + ": " + message);
  }

  /// The value of an attribute in a tag; empty when there is none.
  static std::string_view attribute(std::string_view tag, std::string_view name) {
    for (std::size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
      std::size_t begin = at + name.size();
      const auto skip_space = [&] {
        while (begin < tag.size() && (tag[begin] == ' ' || (tag[begin] >= '\t' && tag[begin] <= '\r'))) ++begin;
      };
      const bool is_start = at > 0 && (tag[at - 1] == ' ' || (tag[at - 1] >= '\t' && tag[at - 1] <= '\r'));
      skip_space();
      if (!is_start || begin >= tag.size() || tag[begin] != '=') continue;
      ++begin;
      skip_space();
      if (begin >= tag.size() || (tag[begin] != '"' && tag[begin] != '\'')) continue;
      const std::size_t end = tag.find(tag[begin], begin + 1);
      if (end == std::string_view::npos) return {};
      return tag.substr(begin + 1, end - begin - 1);
    }
    return {};
  }

  void collect() {
    bool is_vtk = false, is_closed = false;
    std::string section;
    for (std::size_t at = all_.find('<'); at != std::string_view::npos; at = all_.find('<', at)) {
      if (all_.substr(at).starts_with("<!--")) {
        at = std::min(all_.find("-->", at), all_.size());
        continue;
      }
      const std::size_t end = all_.find('>', at);
      if (end == std::string_view::npos)
        fail_here(at, "the file ends within a tag; it is cut short, write or copy it once more");
      const std::string_view tag = all_.substr(at + 1, end - at - 1);
      const std::string_view name = tag.substr(0, std::min(tag.find_first_of(" \t\r\n/", 1), tag.size()));
      at = end + 1;
      if (name == "VTKFile") {
        is_vtk = true;
        header(tag);
      } else if (name == "/VTKFile") {
        is_closed = true;
        break;
      } else if (name == "Piece") {
        pieces_.emplace_back();
      } else if (name == "Points" || name == "Cells" || name == "PointData" || name == "CellData" ||
                 name == "FieldData") {
        section = name;
      } else if (name == "/Points" || name == "/Cells" || name == "/PointData" || name == "/CellData" ||
                 name == "/FieldData") {
        section.clear();
      } else if (name == "DataArray" && (section == "Points" || section == "Cells")) {
        data_array(tag, end, section);
      } else if (name == "AppendedData") {
        const std::size_t begin = all_.find('_', end);
        if (begin == std::string_view::npos)
          fail_here(end, "expected \"_\" before the appended data; the file is cut short");
        appended_ = all_.substr(begin + 1);
        appended_raw_ = attribute(tag, "encoding") == "raw";
        is_closed = true;
        break;
      }
    }
    if (!is_vtk) fail("is no file of VTK: it has no element VTKFile");
    if (pieces_.empty()) fail("has no element Piece");
    if (!is_closed) fail("ends before </VTKFile>; it is cut short, write or copy it once more");
  }
  void header(std::string_view tag) {
    if (attribute(tag, "type") != "UnstructuredGrid")
      fail("expected the type UnstructuredGrid, got " + shown_word(attribute(tag, "type")));
    const std::string_view compressor = attribute(tag, "compressor");
    compressed_ = !compressor.empty();
    if (compressed_ && compressor != "vtkZLibDataCompressor")
      fail("its numbers are compressed by " + shown_word(compressor) + "; save it uncompressed, or as .vtk");
    big_endian_ = attribute(tag, "byte_order") == "BigEndian";
    wide_header_ = attribute(tag, "header_type") == "UInt64";
  }
  void data_array(std::string_view tag, std::size_t end, const std::string& section) {
    if (pieces_.empty()) fail_here(end, "an array outside of a piece");
    DataArray array;
    array.present = true;
    const std::string_view type = attribute(tag, "type");
    const std::optional<Kind> kind = kind_of(xml_kinds, type);
    if (!kind) fail_here(end, "unknown type of numbers " + shown_word(type));
    array.kind = *kind;
    array.format = attribute(tag, "format");
    if (array.format == "appended") {
      if (!parse_number(attribute(tag, "offset"), array.offset)) fail_here(end, "an appended array without its offset");
    } else {
      const std::size_t close = tag.ends_with('/') ? end + 1 : all_.find('<', end);
      if (close == std::string_view::npos)
        fail_here(end, "the file ends within an array; it is cut short, write or copy it once more");
      array.text = all_.substr(end + 1, close - end - 1);
    }
    Piece& piece = pieces_.back();
    const std::string_view name = attribute(tag, "Name");
    if (section == "Points") piece.points = array;
    if (section == "Cells" && name == "connectivity") piece.connectivity = array;
    if (section == "Cells" && name == "offsets") piece.offsets = array;
    if (section == "Cells" && name == "types") piece.types = array;
  }

  std::vector<double> values(const DataArray& array, const char* name) const {
    if (!array.present) fail(std::string("has a piece without ") + name);
    std::vector<double> out;
    if (array.format.empty() || array.format == "ascii") {
      Scanner scan(array.text, file_);
      for (std::string_view word = scan.word(); !word.empty(); word = scan.word()) {
        double value = 0;
        if (!parse_number(word, value))
          fail_here(static_cast<std::size_t>(word.data() - all_.data()), "expected a number, got " + shown_word(word));
        out.push_back(value);
      }
      return out;
    }
    if (array.format != "binary" && array.format != "appended")
      fail("unknown format " + shown_word(array.format) + " of " + name);
    std::string_view source = array.text;
    if (array.format == "appended") {
      if (array.offset > appended_.size())
        fail(std::string(name) + " begins after the end of the file; it is cut short");
      source = appended_.substr(array.offset);
    }
    std::string decoded;
    if (array.format == "binary" || !appended_raw_) {
      decoded = from_base_64(source);
      source = decoded;
    }
    std::string inflated;
    if (compressed_) {
      inflated = from_blocks(source, name);
      source = inflated;
    } else {
      Scanner scan = scanner(source);
      const std::uint64_t bytes = length(scan);
      if (bytes > scan.left()) damaged(name);
      source = source.substr(scan.place(), bytes);
    }
    if (source.size() % size_of(array.kind) != 0) damaged(name);
    Scanner scan = scanner(source);
    out.resize(source.size() / size_of(array.kind));
    for (double& x : out) x = raw_value(scan, array.kind, "a number");
    return out;
  }
  [[noreturn]] void damaged(const char* name) const {
    fail(std::string("the array of ") + name +
         " is not whole; the file is cut short or damaged, write or copy it once more");
  }
  Scanner scanner(std::string_view bytes) const {
    Scanner scan(bytes, file_);
    scan.big_endian = big_endian_;
    scan.binary = true;
    return scan;
  }
  std::uint64_t length(Scanner& scan) const {
    return wide_header_ ? scan.raw<std::uint64_t>("a length") : scan.raw<std::uint32_t>("a length");
  }
  /// Lengths first: number of blocks, size of a block before compression, that of the last one or 0 when it is full,
  /// then of every block after compression.
  std::string from_blocks(std::string_view source, const char* name) const {
    Scanner scan = scanner(source);
    const std::uint64_t blocks = length(scan), full = length(scan), rest = length(scan);
    if (blocks > scan.left() / (wide_header_ ? 8 : 4)) damaged(name);
    std::vector<std::uint64_t> sizes(blocks);
    for (std::uint64_t& size : sizes) size = length(scan);
    std::string out;
    for (std::size_t b = 0; b < sizes.size(); ++b) {
      if (sizes[b] > scan.left()) damaged(name);
      const std::optional<std::string> block =
          inflate(source.substr(scan.place(), sizes[b]), b + 1 == sizes.size() && rest > 0 ? rest : full);
      if (!block) damaged(name);
      out += *block;
      scan.go_to(scan.place() + sizes[b]);
    }
    return out;
  }

  /// Up to the first character that does not belong: white space aside, and padding, after which another part may come.
  static std::string from_base_64(std::string_view text) {
    std::string out;
    out.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    int count = 0, padding = 0;
    for (const char c : text) {
      int value = 0;
      if (c >= 'A' && c <= 'Z') {
        value = c - 'A';
      } else if (c >= 'a' && c <= 'z') {
        value = c - 'a' + 26;
      } else if (c >= '0' && c <= '9') {
        value = c - '0' + 52;
      } else if (c == '+' || c == '/') {
        value = c == '+' ? 62 : 63;
      } else if (c == '=') {
        ++padding;
      } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
        continue;
      } else {
        break;
      }
      bits = bits << 6 | static_cast<std::uint32_t>(value);
      if (++count < 4) continue;
      for (int k = 0; k < 3 - padding; ++k) out += static_cast<char>(bits >> (16 - 8 * k) & 0xff);
      bits = 0;
      count = padding = 0;
    }
    return out;
  }

  std::string_view all_, appended_;
  const std::string& file_;
  bool big_endian_ = false, wide_header_ = false, appended_raw_ = false, compressed_ = false;
  std::vector<Piece> pieces_;
};

}  // namespace

TetFile parse_vtk_tets(std::string_view bytes, const std::string& file) { return VtkParser(bytes, file).parse(); }
TetFile parse_vtu(std::string_view bytes, const std::string& file) { return VtuParser(bytes, file).parse(); }

}  // namespace tribo
