#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/math/small.h"
#include "tribo/mesh/words.h"

namespace tribo {

enum class PlyType { i8, u8, i16, u16, i32, u32, f32, f64 };

struct PlyTypeName {
  const char* name;
  PlyType type;
};
inline constexpr PlyTypeName ply_type_names[] = {
    {"char", PlyType::i8},   {"int8", PlyType::i8},     {"uchar", PlyType::u8},   {"uint8", PlyType::u8},
    {"short", PlyType::i16}, {"int16", PlyType::i16},   {"ushort", PlyType::u16}, {"uint16", PlyType::u16},
    {"int", PlyType::i32},   {"int32", PlyType::i32},   {"uint", PlyType::u32},   {"uint32", PlyType::u32},
    {"float", PlyType::f32}, {"float32", PlyType::f32}, {"double", PlyType::f64}, {"float64", PlyType::f64}};

struct PlyProperty {
  std::string name;
  PlyType type = PlyType::f32;
  std::optional<PlyType> count;  ///< of a list: the type of its length
};
struct PlyElement {
  std::string name;
  std::uint64_t count = 0;
  std::vector<PlyProperty> properties;
};

/// Numbers one after the other, in whatever way the body has them. `ok` is false past the end or at a word that is no
/// number.
class PlyTextBody {
 public:
  PlyTextBody(std::string_view body, std::size_t line) : words_(body, line) {}
  double next(PlyType, bool& ok) {
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

class PlyBinaryBody {
 public:
  PlyBinaryBody(std::string_view body, bool big)
      : rest_(body), swap_(big != (std::endian::native == std::endian::big)) {}
  double next(PlyType type, bool& ok) {
    switch (type) {
      case PlyType::i8:
        return take<std::int8_t>(ok);
      case PlyType::u8:
        return take<std::uint8_t>(ok);
      case PlyType::i16:
        return take<std::int16_t>(ok);
      case PlyType::u16:
        return take<std::uint16_t>(ok);
      case PlyType::i32:
        return take<std::int32_t>(ok);
      case PlyType::u32:
        return take<std::uint32_t>(ok);
      case PlyType::f32:
        return static_cast<double>(take<float>(ok));
      case PlyType::f64:
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

/// Stanford PLY: a header that says what elements there are and which properties they have, then the elements. What is
/// not right is an Error (bad input) that names the line or the element.
class PlyReader {
 public:
  PlyReader(std::string_view bytes, const std::string& file) : words_(bytes), file_(file) {
    if (words_.next_in_line() != "ply") fail_in_file(file_, "is no PLY file: it does not begin with \"ply\"");
    header();
  }

  const std::vector<PlyElement>& elements() const { return elements_; }
  bool has(std::string_view name) const {
    return std::any_of(elements_.begin(), elements_.end(), [&](const PlyElement& e) { return e.name == name; });
  }

  /// Walks through the elements. Of `to` it calls begin(element), then for each row in the order of its properties, by
  /// their index, value(row, property, number), or list(row, property, length) and value(...) for its entries; in the
  /// end end_row(row).
  template <class Visitor>
  void read(Visitor& to) {
    if (format_ == Format::ascii) {
      body(PlyTextBody(words_.rest(), words_.line()), to);
    } else {
      body(PlyBinaryBody(words_.rest(), format_ == Format::big), to);
    }
  }

 private:
  enum class Format { ascii, little, big };
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
        PlyElement& element = elements_.emplace_back();
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
  }

  PlyType type(std::string_view name) const {
    for (const PlyTypeName& known : ply_type_names)
      if (name == known.name) return known.type;
    fail("unknown type of a property, " + shown_word(name));
  }

  void property() {
    if (elements_.empty()) fail("a property before the first element");
    PlyProperty p;
    std::string_view word = words_.next_in_line();
    if (word == "list") {
      p.count = type(words_.next_in_line());
      if (*p.count == PlyType::f32 || *p.count == PlyType::f64) fail("the length of a list must be of a whole type");
      word = words_.next_in_line();
    }
    p.type = type(word);
    p.name = words_.next_in_line();
    elements_.back().properties.push_back(std::move(p));
  }

  template <class Body, class Visitor>
  void body(Body from, Visitor& to) {
    for (const PlyElement& element : elements_) {
      to.begin(element);
      if (element.properties.empty()) continue;  // takes no room, whatever its count
      for (std::uint64_t row = 0; row < element.count; ++row) read_row(element, row, from, to);
    }
    if (!from.at_end())
      fail_in_file(file_, "goes on after the last element: the counts in its header are too small, or it is damaged");
  }

  template <class Body, class Visitor>
  void read_row(const PlyElement& element, std::uint64_t row, Body& from, Visitor& to) {
    const auto next = [&](PlyType t) {
      bool ok = true;
      const double value = from.next(t, ok);
      if (!ok)
        fail_in_file(file_, from.what() + " at " + element.name + " " + std::to_string(row + 1) + " of " +
                                std::to_string(element.count));
      return value;
    };
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& p = element.properties[i];
      const int index = static_cast<int>(i);
      if (!p.count) {
        to.value(row, index, next(p.type));
        continue;
      }
      const double length = next(*p.count);
      if (!(length >= 0) || length != std::floor(length))
        fail_in_file(file_, element.name + " " + std::to_string(row + 1) + " has a list of impossible length");
      to.list(row, index, length);
      for (double j = 0; j < length; j += 1) to.value(row, index, next(p.type));
    }
    to.end_row(row);
  }

  Words words_;
  const std::string& file_;
  Format format_ = Format::ascii;
  std::vector<PlyElement> elements_;
};

/// What is no index becomes one that no vertex has, to be found with the others out of range.
inline std::int64_t ply_index(double value) {
  return value >= 0 && value < 9e15 && value == std::floor(value) ? static_cast<std::int64_t>(value) : -1;
}

/// The coordinates of the rows of an element `vertex`.
class PlyPosition {
 public:
  PlyPosition(const PlyElement& element, const std::string& file) {
    for (std::size_t i = 0; i < element.properties.size(); ++i) {
      const PlyProperty& p = element.properties[i];
      if (!p.count && p.name.size() == 1 && p.name[0] >= 'x' && p.name[0] <= 'z')
        place_[p.name[0] - 'x'] = static_cast<int>(i);
    }
    if (std::min({place_[0], place_[1], place_[2]}) < 0)
      fail_in_file(file, "vertices do not have the properties x, y and z");
  }
  void value(int property, double number) {
    for (int k = 0; k < 3; ++k)
      if (place_[k] == property) at_[k] = number;
  }
  const Vec<double, 3>& end_row(std::uint64_t row, const std::string& file) const {
    for (int k = 0; k < 3; ++k)
      if (!std::isfinite(at_[k]))
        fail_in_file(file, "vertex " + std::to_string(row + 1) + " has a coordinate that is no number");
    return at_;
  }

 private:
  int place_[3] = {-1, -1, -1};
  Vec<double, 3> at_ = Vec<double, 3>::zero();
};

}  // namespace tribo
