#include "tribo/mesh/vtk_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "tribo/mesh/inflate.h"

namespace tribo {
namespace {

struct KindName {
  const char* name;
  VtkKind kind;
};
constexpr KindName legacy_kinds[] = {{"char", VtkKind::i8},          {"unsigned_char", VtkKind::u8},
                                     {"short", VtkKind::i16},        {"unsigned_short", VtkKind::u16},
                                     {"int", VtkKind::i32},          {"unsigned_int", VtkKind::u32},
                                     {"long", VtkKind::i64},         {"unsigned_long", VtkKind::u64},
                                     {"vtktypeint64", VtkKind::i64}, {"vtktypeuint64", VtkKind::u64},
                                     {"vtkIdType", VtkKind::i64},    {"float", VtkKind::f32},
                                     {"double", VtkKind::f64}};
constexpr KindName xml_kinds[] = {{"Int8", VtkKind::i8},    {"UInt8", VtkKind::u8},   {"Int16", VtkKind::i16},
                                  {"UInt16", VtkKind::u16}, {"Int32", VtkKind::i32},  {"UInt32", VtkKind::u32},
                                  {"Int64", VtkKind::i64},  {"UInt64", VtkKind::u64}, {"Float32", VtkKind::f32},
                                  {"Float64", VtkKind::f64}};
template <std::size_t n>
std::optional<VtkKind> kind_of(const KindName (&names)[n], std::string_view word) {
  for (const KindName& known : names)
    if (word == known.name) return known.kind;
  return {};
}
constexpr std::size_t size_of(VtkKind kind) {
  constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return sizes[static_cast<std::size_t>(kind)];
}

/// One number as bytes. Whole ones beyond 2^53, which no mesh has, are rounded.
double raw_value(Scanner& scan, VtkKind kind, const char* what) {
  switch (kind) {
    case VtkKind::i8:
      return scan.raw<std::int8_t>(what);
    case VtkKind::u8:
      return scan.raw<std::uint8_t>(what);
    case VtkKind::i16:
      return scan.raw<std::int16_t>(what);
    case VtkKind::u16:
      return scan.raw<std::uint16_t>(what);
    case VtkKind::i32:
      return scan.raw<std::int32_t>(what);
    case VtkKind::u32:
      return scan.raw<std::uint32_t>(what);
    case VtkKind::i64:
      return static_cast<double>(scan.raw<std::int64_t>(what));
    case VtkKind::u64:
      return static_cast<double>(scan.raw<std::uint64_t>(what));
    case VtkKind::f32:
      return static_cast<double>(scan.raw<float>(what));
    case VtkKind::f64:
      return scan.raw<double>(what);
  }
  return 0;
}

/// The value of an attribute in a tag; empty when there is none.
std::string_view attribute(std::string_view tag, std::string_view name) {
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

/// Up to the first character that does not belong: white space aside, and padding, after which another part may come.
std::string from_base_64(std::string_view text) {
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

/// What holds the arrays of points, cells and data on points.
bool is_section(std::string_view name) {
  constexpr std::array all = {"Points", "Cells", "Verts", "Lines", "Strips", "Polys", "PointData"};
  return std::find(all.begin(), all.end(), name) != all.end();
}

}  // namespace

void check_vtk_cell(const VtkCells& cells, std::size_t i, double begin, const char* what, std::int64_t number,
                    const std::string& file) {
  const double end = cells.offsets[i];
  if (!(end >= begin) || end > static_cast<double>(cells.corners.size()) || end != std::floor(end))
    fail_in_file(file, fmt::format("the corners of {} {} are not where the file says; it is damaged", what, number));
}
std::size_t vtk_corner(double corner, std::size_t point_count, const char* what, std::int64_t number,
                       const std::string& file) {
  if (!(corner >= 0 && corner < static_cast<double>(point_count) && corner == std::floor(corner)))
    fail_in_file(file, fmt::format("{} {} refers to point {}, of {} there are", what, number, corner, point_count));
  return static_cast<std::size_t>(corner);
}
std::vector<Vec<double, 3>> vtk_points(const std::vector<double>& numbers, const std::string& file) {
  std::vector<Vec<double, 3>> points;
  points.reserve(numbers.size() / 3);
  for (std::size_t i = 0; 3 * i + 2 < numbers.size(); ++i) {
    const Vec<double, 3> v{{numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2]}};
    for (int k = 0; k < 3; ++k)
      if (!std::isfinite(v[k])) fail_in_file(file, fmt::format("point {} has a coordinate that is no number", i));
    points.push_back(v);
  }
  return points;
}

VtkLegacyFile::VtkLegacyFile(std::string_view bytes, const std::string& file) : scan_(bytes, file), file_(file) {
  if (!scan_.end_line().starts_with("# vtk DataFile"))
    fail_in_file(file_, "is no file of VTK: it does not begin with \"# vtk DataFile Version\"");
  scan_.end_line();  // title
  const std::string_view format = scan_.word();
  if (format != "ASCII" && format != "BINARY") scan_.fail("expected ASCII or BINARY, got " + shown_word(format));
  const bool binary = format == "BINARY";
  scan_.end_line();
  expect("DATASET");
  data_set_ = scan_.word();
  scan_.binary = binary;
  scan_.big_endian = true;
}

void VtkLegacyFile::read(std::string_view wanted) {
  for (std::string_view word = scan_.word(); !word.empty(); word = scan_.word()) {
    if (word == "POINTS") {
      const std::int64_t n = scan_.whole("the number of points");
      scan_.count(n, 3, "points");
      points = values(3 * n, legacy_kind());
    } else if (word == "CELLS" || word == "VERTICES" || word == "LINES" || word == "POLYGONS" ||
               word == "TRIANGLE_STRIPS") {
      read_cells(cells[std::string(word)]);
    } else if (word == "CELL_TYPES") {
      const std::int64_t n = scan_.whole("the number of cells");
      scan_.end_line();
      types = values(n, VtkKind::i32);
      has_types = true;
    } else if (word == "METADATA") {
      scan_.end_line();
      while (scan_.left() > 0 && scan_.end_line().find_first_not_of(" \t\r") != std::string_view::npos) {
      }
    } else if (word == "FIELD") {
      read_fields({});
    } else if (word == "POINT_DATA" && !wanted.empty()) {
      read_point_data(wanted);
      break;
    } else if (word == "POINT_DATA" || word == "CELL_DATA") {
      break;
    } else {
      scan_.fail("unknown keyword " + shown_word(word));
    }
  }
}

void VtkLegacyFile::expect(const char* wanted) {
  const std::string_view word = scan_.word();
  if (word != wanted) scan_.fail(std::string("expected ") + wanted + ", got " + shown_word(word));
}
/// The type at the end of a keyword's line.
VtkKind VtkLegacyFile::legacy_kind() {
  const std::string_view word = scan_.word();
  const std::optional<VtkKind> kind = kind_of(legacy_kinds, word);
  if (!kind) scan_.fail("unknown type of numbers " + shown_word(word));
  scan_.end_line();
  return *kind;
}
std::vector<double> VtkLegacyFile::values(std::int64_t count, VtkKind kind) {
  std::vector<double> out(scan_.count(count, scan_.binary ? size_of(kind) : 1, "numbers"));
  for (double& x : out) x = scan_.binary ? raw_value(scan_, kind, "a number") : scan_.number("a number");
  return out;
}
/// Version 5 has offsets and corners apart; before, every cell began with the number of its corners.
void VtkLegacyFile::read_cells(VtkCells& to) {
  const std::int64_t first = scan_.whole("the number of cells");
  const std::int64_t second = scan_.whole("the number of corners");
  scan_.end_line();
  if (scan_.peek() == "OFFSETS") {
    expect("OFFSETS");
    to.offsets = values(first, legacy_kind());
    if (!to.offsets.empty()) to.offsets.erase(to.offsets.begin());  // the first is 0
    expect("CONNECTIVITY");
    to.corners = values(second, legacy_kind());
    return;
  }
  if (first < 0 || first > second) scan_.fail("more cells than numbers; the file is damaged");
  const std::vector<double> all = values(second, VtkKind::i32);
  std::size_t at = 0;
  for (std::int64_t i = 0; i < first; ++i) {
    const double n = at < all.size() ? all[at++] : -1;
    if (!(n >= 0) || n > static_cast<double>(all.size() - at) || n != std::floor(n))
      scan_.fail("the corners of cell " + std::to_string(i) + " do not fit into their list; the file is damaged");
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    to.corners.insert(to.corners.end(), begin, begin + static_cast<std::ptrdiff_t>(n));
    at += static_cast<std::size_t>(n);
    to.offsets.push_back(static_cast<double>(to.corners.size()));
  }
}

void VtkLegacyFile::read_fields(std::string_view wanted) {
  scan_.word();
  const std::int64_t arrays = scan_.whole("the number of arrays");
  for (std::int64_t i = 0; i < arrays; ++i) {
    const std::string_view name = scan_.word();
    const std::size_t components = scan_.count(scan_.whole("a number of components"), 1, "components");
    const std::size_t tuples = scan_.count(scan_.whole("a number of tuples"), 1, "tuples");
    if (components > 0 && tuples > scan_.left() / components) scan_.fail_at_end("an array");
    const std::string_view type = scan_.peek();
    if (type == "string") scan_.fail("has texts in a FIELD; save it without");
    std::vector<double> numbers = values(static_cast<std::int64_t>(components * tuples), legacy_kind());
    if (components == 1 && !wanted.empty() && name == wanted) scalars = std::move(numbers);
  }
}

/// Up to data of another kind than is known here, which is left.
void VtkLegacyFile::read_point_data(std::string_view wanted) {
  const std::int64_t n = scan_.whole("the number of points");
  scan_.count(n, 1, "points");
  for (std::string_view word = scan_.word(); !word.empty(); word = scan_.word()) {
    if (word == "SCALARS") {
      const std::string_view name = scan_.word_in_line();
      const std::string_view type = scan_.word_in_line();
      const std::optional<VtkKind> kind = kind_of(legacy_kinds, type);
      if (!kind) scan_.fail("unknown type of numbers " + shown_word(type));
      const std::string_view components = scan_.word_in_line();
      const std::int64_t each =
          components.empty() ? 1 : scan_.parsed<std::int64_t>(components, "a number of components");
      scan_.count(each, 1, "components");
      scan_.end_line();
      if (scan_.peek() == "LOOKUP_TABLE") {
        scan_.word();
        scan_.end_line();
      }
      if (each > 0 && static_cast<std::uint64_t>(n) > scan_.left() / static_cast<std::uint64_t>(each))
        scan_.fail_at_end("data on points");
      std::vector<double> numbers = values(n * each, *kind);
      if (each == 1 && name == wanted) scalars = std::move(numbers);
    } else if (word == "VECTORS" || word == "NORMALS") {
      scan_.word();
      const VtkKind kind = legacy_kind();
      scan_.count(n, 3, "vectors");
      values(3 * n, kind);
    } else if (word == "FIELD") {
      read_fields(wanted);
    } else if (word == "METADATA") {
      scan_.end_line();
      while (scan_.left() > 0 && scan_.end_line().find_first_not_of(" \t\r") != std::string_view::npos) {
      }
    } else {
      return;
    }
  }
}

VtkXmlFile::VtkXmlFile(std::string_view bytes, const std::string& file, std::string_view type)
    : all_(bytes), file_(file) {
  collect(type);
}

void VtkXmlFile::fail(const std::string& message) const { fail_in_file(file_, message); }
void VtkXmlFile::fail_here(std::size_t at, const std::string& message) const {
  fail_in_file(file_, "at byte " + std::to_string(at) + ": " + message);
}

void VtkXmlFile::collect(std::string_view type) {
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
      header(tag, type);
    } else if (name == "/VTKFile") {
      is_closed = true;
      break;
    } else if (name == "Piece") {
      pieces_.emplace_back();
      piece_tags_.push_back(tag);
    } else if (is_section(name)) {
      section = name;
    } else if (name.starts_with('/') && is_section(name.substr(1))) {
      section.clear();
    } else if (name == "DataArray" && !section.empty()) {
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
void VtkXmlFile::header(std::string_view tag, std::string_view type) {
  if (attribute(tag, "type") != type)
    fail("expected the type " + std::string(type) + ", got " + shown_word(attribute(tag, "type")));
  const std::string_view compressor = attribute(tag, "compressor");
  compressed_ = !compressor.empty();
  if (compressed_ && compressor != "vtkZLibDataCompressor")
    fail("its numbers are compressed by " + shown_word(compressor) + "; save it uncompressed, or as .vtk");
  big_endian_ = attribute(tag, "byte_order") == "BigEndian";
  wide_header_ = attribute(tag, "header_type") == "UInt64";
}
void VtkXmlFile::data_array(std::string_view tag, std::size_t end, const std::string& section) {
  if (pieces_.empty()) fail_here(end, "an array outside of a piece");
  DataArray array;
  const std::string_view type = attribute(tag, "type");
  const std::optional<VtkKind> kind = kind_of(xml_kinds, type);
  if (!kind && section == "PointData") return;  // texts and the like
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
  const std::string name(attribute(tag, "Name"));
  pieces_.back()[section == "Points" ? section : section + "/" + name] = array;
}

std::vector<double> VtkXmlFile::values(std::size_t piece, const std::string& array) const {
  const auto found = pieces_[piece].find(array);
  const std::string name = array.substr(array.find('/') + 1);
  if (found == pieces_[piece].end()) fail("has a piece without " + name);
  return decoded_values(found->second, name);
}

void VtkXmlFile::expect_count(std::size_t piece, const char* name, std::size_t found) const {
  const std::string_view said = attribute(piece_tags_[piece], name);
  std::uint64_t count = 0;
  if (said.empty() || (parse_number(said, count) && count == found)) return;
  fail("piece " + std::to_string(piece + 1) + ": " + name + " is " + shown_word(said) + ", but there are " +
       std::to_string(found) + "; the file is damaged, write or copy it once more");
}

std::vector<double> VtkXmlFile::decoded_values(const DataArray& array, const std::string& name) const {
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
    if (array.offset > appended_.size()) fail(name + " begins after the end of the file; it is cut short");
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
void VtkXmlFile::damaged(const std::string& name) const {
  fail("the array of " + name + " is not whole; the file is cut short or damaged, write or copy it once more");
}
Scanner VtkXmlFile::scanner(std::string_view bytes) const {
  Scanner scan(bytes, file_);
  scan.big_endian = big_endian_;
  scan.binary = true;
  return scan;
}
std::uint64_t VtkXmlFile::length(Scanner& scan) const {
  return wide_header_ ? scan.raw<std::uint64_t>("a length") : scan.raw<std::uint32_t>("a length");
}
/// Lengths first: number of blocks, size of a block before compression, that of the last one or 0 when it is full,
/// then of every block after compression.
std::string VtkXmlFile::from_blocks(std::string_view source, const std::string& name) const {
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

}  // namespace tribo
