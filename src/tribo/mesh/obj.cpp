#include "tribo/mesh/polygons.h"
#include "tribo/mesh/words.h"

namespace tribo {
namespace {

/// Wavefront OBJ: of all it can say, vertices and faces count. Indices begin at 1; negative ones count back from the
/// last vertex so far.
class ObjParser {
 public:
  ObjParser(std::string_view text, const std::string& file) : words_(text), file_(file) {}

  Polygons parse() {
    do {
      const std::string_view kind = words_.next_in_line();
      if (kind == "v") vertex();
      if (kind == "f" || kind == "fo") face();
    } while (words_.next_line());
    out_.finish();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { fail_at_line(file_, words_.line(), message); }

  void vertex() {
    Vec<double, 3> v;
    for (int k = 0; k < 3; ++k) {
      const std::string_view word = words_.next_in_line();
      if (!parse_number(word, v[k]) || !std::isfinite(v[k]))
        fail("expected three numbers after \"v\", got " + (word.empty() ? "too few" : shown_word(word)));
    }
    out_.vertices.push_back(v);
  }

  void face() {
    out_.begin_face();
    for (;;) {
      const std::string_view word = words_.next_in_line();
      if (word.empty() || word.starts_with('#')) break;
      std::int64_t index = 0;  // of "7/3/2" the first number is the vertex; the others are texture and normal
      if (!parse_number(word.substr(0, word.find('/')), index) || index == 0)
        fail("expected the number of a vertex, got " + shown_word(word));
      const auto so_far = static_cast<std::int64_t>(out_.vertices.size());
      if (index < 0 && index + so_far < 0)
        fail("the face refers to vertex " + std::to_string(index) + ", counted back from " + std::to_string(so_far) +
             " vertices");
      out_.corners.push_back(index > 0 ? index - 1 : index + so_far);
    }
    const std::size_t count = out_.corners.size() - out_.begin.back();
    if (count < 3) fail("a face of " + std::to_string(count) + " corners; it needs three or more");
  }

  Words words_;
  const std::string& file_;
  Polygons out_;
};

}  // namespace

Polygons parse_obj(std::string_view text, const std::string& file) { return ObjParser(text, file).parse(); }

}  // namespace tribo
