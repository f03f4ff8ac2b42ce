#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "tribo/mesh/polygons.h"
#include "tribo/mesh/words.h"

namespace tribo {
namespace {

enum class Type { i8, u8, i16, u16, i32, u32, f32, f64 };

struct TypeName {
  const char* name;
  Type type;
};
constexpr TypeName type_names[] = {
    {"char", Type::i8},   {"int8", Type::i8},     {"uchar", Type::u8},   {"uint8", Type::u8},
    {"short", Type::i16}, {"int16", Type::i16},   {"ushort", Type::u16}, {"uint16", Type::u16},
    {"int", Type::i32},   {"int32", Type::i32},   {"uint", Type::u32},   {"uint32", Type::u32},
    {"float", Type::f32}, {"float32", Type::f32}, {"double", Type::f64}, {"float64", Type::f64}};

struct Property {
  std::string name;
  Type type = Type::f32;
  std::optional<Type> count;  ///< of a list: the type of its length
};
struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};
enum class Format { ascii, little, big };

/// Numbers one after the other, in whatever way the body has them. `ok` is false past the end or at a word that is no
/// number.
class AsciiBody {
 public:
  AsciiBody(std::string_view body, std::size_t line) : words_(body, line) {}
  double next(Type, bool& ok) {
    double value = 0;
    const std::string_view word = words_.next();
    ok = parse_number(word, value);
    what_ = word.empty() ? "the file ends"
                         : "expected a number, got " + shown_word(word) + " in line " + std::to_string(words_.line());
    return value;
  }
  std::string what() const { return what_; }
  bool at_end() { return words_.next().empty(); }

 private:
  Words words_;
  std::string what_;
};

class BinaryBody {
 public:
  BinaryBody(std::string_view body, bool big) : rest_(body), swap_(big != (std::endian::native == std::endian::big)) {}
  double next(Type type, bool& ok) {
    switch (type) {
      case Type::i8:
        return take<std::int8_t>(ok);
      case Type::u8:
        return take<std::uint8_t>(ok);
      case Type::i16:
        return take<std::int16_t>(ok);
      case Type::u16:
        return take<std::uint16_t>(ok);
      case Type::i32:
        return take<std::int32_t>(ok);
      case Type::u32:
        return take<std::uint32_t>(ok);
      case Type::f32:
        return static_cast<double>(take<float>(ok));
      case Type::f64:
        return take<double>(ok);
    }
    return 0;
  }
  static std::string what() { return "the file ends"; }
  bool at_end() const { return rest_.empty(); }

 private:
  template <class T>
  T take(bool& ok) {
    ok = rest_.size() >= sizeof(T);
    if (!ok) return {};
    char bytes[sizeof(T)];
    std::memcpy(bytes, rest_.data(), sizeof(T));
    if (swap_) std::reverse(bytes, bytes + sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return std::bit_cast<T>(bytes);
  }
  std::string_view rest_;
  bool swap_;
};

/// Stanford PLY: a header that says what elements there are and which properties they have, then the elements.
class PlyParser {
 public:
  PlyParser(std::string_view bytes, const std::string& file) : words_(bytes), file_(file) {}

  Polygons parse() {
    if (words_.next_in_line() != "ply") fail_in_file(file_, "is no PLY file: it does not begin with \"ply\"");
    header();
    if (format_ == Format::ascii) {
      body(AsciiBody(words_.rest(), words_.line()));
    } else {
      body(BinaryBody(words_.rest(), format_ == Format::big));
    }
    out_.finish();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { fail_at_line(file_, words_.line(), message); }

  void header() {
    bool has_format = false;
    for (;;) {
      if (!words_.next_line()) fail_in_file(file_, "ends before \"end_header\"");
      const std::string_view word = words_.next_in_line();
      if (word == "end_header") break;
      if (word == "format") {
        const std::string_view name = words_.next_in_line();
        if (name == "ascii") {
          format_ = Format::ascii;
        } else if (name == "binary_little_endian") {
          format_ = Format::little;
        } else if (name == "binary_big_endian") {
          format_ = Format::big;
        } else {
          fail("expected ascii, binary_little_endian or binary_big_endian, got " + shown_word(name));
        }
        has_format = true;
      } else if (word == "element") {
        Element& element = elements_.emplace_back();
        element.name = words_.next_in_line();
        const std::string_view count = words_.next_in_line();
        if (!parse_number(count, element.count)) fail("expected a number of elements, got " + shown_word(count));
      } else if (word == "property") {
        property();
      } else if (word != "comment" && word != "obj_info" && !word.empty()) {
        fail("unknown word in the header, " + shown_word(word));
      }
    }
    words_.next_line();
    if (!has_format) fail_in_file(file_, "the header has no line \"format\"");
    const auto has = [&](const char* name) {
      return std::any_of(elements_.begin(), elements_.end(), [&](const Element& e) { return e.name == name; });
    };
    if (!has("vertex")) fail_in_file(file_, "the header has no element \"vertex\"");
    if (!has("face"))
      fail_in_file(file_, has("tristrips") ? "holds strips of triangles; export plain faces"
                                           : "the header has no element \"face\"");
  }

  Type type(std::string_view name) const {
    for (const TypeName& known : type_names)
      if (name == known.name) return known.type;
    fail("unknown type of a property, " + shown_word(name));
  }

  void property() {
    if (elements_.empty()) fail("a property before the first element");
    Property p;
    std::string_view word = words_.next_in_line();
    if (word == "list") {
      p.count = type(words_.next_in_line());
      if (*p.count == Type::f32 || *p.count == Type::f64) fail("the length of a list must be of a whole type");
      word = words_.next_in_line();
    }
    p.type = type(word);
    p.name = words_.next_in_line();
    elements_.back().properties.push_back(std::move(p));
  }

  template <class Body>
  void body(Body from) {
    for (const Element& element : elements_) {
      const bool vertices = element.name == "vertex", faces = element.name == "face";
      check(element, vertices, faces);
      if (element.properties.empty()) continue;  // takes no room, whatever its count
      for (std::uint64_t i = 0; i < element.count; ++i) read_one(element, i, vertices, faces, from);
    }
    if (!from.at_end())
      fail_in_file(file_, "goes on after the last element: the counts in its header are too small, or it is damaged");
  }

  /// Where x, y, z and the list of corners stand among the properties.
  void check(const Element& element, bool vertices, bool faces) {
    place_ = {-1, -1, -1};
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const Property& p = element.properties[i];
      const int index = static_cast<int>(i);
      if (vertices && !p.count && p.name.size() == 1 && p.name[0] >= 'x' && p.name[0] <= 'z')
        place_[static_cast<std::size_t>(p.name[0] - 'x')] = index;
      if (faces && p.count && (p.name == "vertex_indices" || p.name == "vertex_index")) place_[0] = index;
    }
    if (vertices && *std::min_element(place_.begin(), place_.end()) < 0)
      fail_in_file(file_, "vertices do not have the properties x, y and z");
    if (faces && place_[0] < 0) fail_in_file(file_, "faces do not have the property list vertex_indices");
  }

  template <class Body>
  void read_one(const Element& element, std::uint64_t number, bool vertices, bool faces, Body& from) {
    const auto next = [&](Type t) {
      bool ok = true;
      const double value = from.next(t, ok);
      if (!ok)
        fail_in_file(file_, from.what() + " at " + element.name + " " + std::to_string(number + 1) + " of " +
                                std::to_string(element.count));
      return value;
    };
    Vec<double, 3> v = Vec<double, 3>::zero();
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const Property& p = element.properties[i];
      const int index = static_cast<int>(i);
      if (!p.count) {
        const double value = next(p.type);
        for (int k = 0; vertices && k < 3; ++k)
          if (place_[static_cast<std::size_t>(k)] == index) v[k] = value;
        continue;
      }
      const double length = next(*p.count);
      if (!(length >= 0) || length != std::floor(length))
        fail_in_file(file_, element.name + " " + std::to_string(number + 1) + " has a list of impossible length");
      const bool corners = faces && index == place_[0];
      if (corners) {
        if (length < 3) fail_in_file(file_, "face " + std::to_string(number + 1) + " has fewer than three corners");
        out_.begin_face();
      }
      for (double j = 0; j < length; j += 1) {
        const double value = next(p.type);
        if (corners) out_.corners.push_back(index_of(value));
      }
    }
    if (!vertices) return;
    for (int k = 0; k < 3; ++k)
      if (!std::isfinite(v[k]))
        fail_in_file(file_, "vertex " + std::to_string(number + 1) + " has a coordinate that is no number");
    out_.vertices.push_back(v);
  }

  /// What is no index becomes one that no vertex has, to be found with the others out of range.
  static std::int64_t index_of(double value) {
    return value >= 0 && value < 9e15 && value == std::floor(value) ? static_cast<std::int64_t>(value) : -1;
  }

  Words words_;
  const std::string& file_;
  Format format_ = Format::ascii;
  std::vector<Element> elements_;
  std::array<int, 3> place_{};
  Polygons out_;
};

}  // namespace

Polygons parse_ply(std::string_view bytes, const std::string& file) { return PlyParser(bytes, file).parse(); }

}  // namespace tribo
