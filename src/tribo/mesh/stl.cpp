#include <bit>
#include <cstring>

#include "tribo/mesh/polygons.h"
#include "tribo/mesh/words.h"

namespace tribo {
namespace {

constexpr std::size_t header_bytes = 84;
constexpr std::size_t facet_bytes = 50;

template <class T>
T little_endian(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) {
    char swapped[sizeof(T)];
    std::memcpy(swapped, &value, sizeof(T));
    for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(swapped[i], swapped[sizeof(T) - 1 - i]);
    std::memcpy(&value, swapped, sizeof(T));
  }
  return value;
}

void add_triangle(const Vec<double, 3> (&corners)[3], Polygons& out) {
  out.begin_face();
  for (const Vec<double, 3>& corner : corners) {
    out.corners.push_back(static_cast<std::int64_t>(out.vertices.size()));
    out.vertices.push_back(corner);
  }
}

Polygons parse_binary(std::string_view bytes, const std::string& file) {
  Polygons out;
  for (std::size_t at = header_bytes, n = 1; at < bytes.size(); at += facet_bytes, ++n) {
    Vec<double, 3> corners[3];
    for (int k = 0; k < 9; ++k) {  // after the normal, which follows from the corners anyway
      const auto x = static_cast<double>(little_endian<float>(bytes.data() + at + 12 + 4 * k));
      if (!std::isfinite(x)) fail_in_file(file, "facet " + std::to_string(n) + " has a coordinate that is no number");
      corners[k / 3][k % 3] = x;
    }
    add_triangle(corners, out);
  }
  out.finish();
  return out;
}

class AsciiStl {
 public:
  AsciiStl(std::string_view text, const std::string& file) : words_(text), file_(file) {}

  Polygons parse() {
    words_.next();  // "solid"; its name is the rest of the line
    words_.next_line();
    bool open = true;
    for (;;) {
      const std::string_view word = words_.next();
      if (word.empty()) {
        if (open) fail_in_file(file_, "ends before \"endsolid\", after facet " + std::to_string(out_.face_count()));
        break;
      }
      if (open && word == "facet") {
        facet();
      } else if (open && word == "endsolid") {
        open = false;
        words_.next_line();
      } else if (!open && word == "solid") {
        open = true;
        words_.next_line();
      } else {
        fail(open ? "\"facet\" or \"endsolid\"" : "\"solid\" or the end", word);
      }
    }
    out_.finish();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& expected, std::string_view got) const {
    if (got.empty()) fail_in_file(file_, "ends in facet " + std::to_string(out_.face_count() + 1));
    fail_at_line(file_, words_.line(), "expected " + expected + ", got " + shown_word(got));
  }
  void expect(const char* wanted) {
    const std::string_view word = words_.next();
    if (word != wanted) fail(std::string("\"") + wanted + "\"", word);
  }
  void facet() {
    expect("normal");
    for (int k = 0; k < 3; ++k)  // not used, and often nonsense in files
      if (words_.next().empty()) fail("a number", {});
    expect("outer");
    expect("loop");
    Vec<double, 3> corners[3];
    for (Vec<double, 3>& corner : corners) {
      expect("vertex");
      for (int k = 0; k < 3; ++k) {
        const std::string_view word = words_.next();
        if (!parse_number(word, corner[k]) || !std::isfinite(corner[k])) fail("a number", word);
      }
    }
    expect("endloop");
    expect("endfacet");
    add_triangle(corners, out_);
  }

  Words words_;
  const std::string& file_;
  Polygons out_;
};

}  // namespace

Polygons parse_stl(std::string_view bytes, const std::string& file) {
  // Binary files may begin with the word "solid" as well: what tells them apart is that their length fits their count.
  const std::uint64_t count = bytes.size() >= header_bytes ? little_endian<std::uint32_t>(bytes.data() + 80) : 0;
  if (bytes.size() >= header_bytes && bytes.size() == header_bytes + count * facet_bytes)
    return parse_binary(bytes, file);
  if (bytes.starts_with("solid")) return AsciiStl(bytes, file).parse();
  if (bytes.size() < header_bytes)
    fail_in_file(file, "is no STL file: " + std::to_string(bytes.size()) + " bytes that do not begin with \"solid\"");
  fail_in_file(file, "the header says " + std::to_string(count) + " facets, which take " +
                         std::to_string(header_bytes + count * facet_bytes) + " bytes; the file has " +
                         std::to_string(bytes.size()) + ": it is cut off or damaged");
}

}  // namespace tribo
