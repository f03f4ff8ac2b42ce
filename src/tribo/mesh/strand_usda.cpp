#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "tribo/mesh/scanner.h"
#include "tribo/mesh/strand_file.h"

namespace tribo {
namespace {

using Vec3 = Vec<double, 3>;

/// x -> linear x + shift
struct Affine {
  Mat<double, 3> linear = Mat<double, 3>::identity();
  Vec3 shift = Vec3::zero();

  Vec3 operator()(const Vec3& x) const { return linear * x + shift; }
  Affine operator*(const Affine& inner) const { return {linear * inner.linear, linear * inner.shift + shift}; }
};

Affine turn(int axis, double degrees) {
  const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  const int u = (axis + 1) % 3, v = (axis + 2) % 3;
  Affine out;
  out.linear(u, u) = out.linear(v, v) = c;
  out.linear(u, v) = -s;
  out.linear(v, u) = s;
  return out;
}

/// A piece of the text of USD: a word (also a number or a path), a string, or a single character of punctuation.
struct Token {
  enum class Kind { word, string, mark, end } kind = Kind::end;
  std::string_view text;
  std::size_t place = 0;

  bool is(char mark) const { return kind == Kind::mark && text[0] == mark; }
  bool is(std::string_view word) const { return kind == Kind::word && text == word; }
};

class Tokens {
 public:
  Tokens(std::string_view text, const std::string& file) : text_(text), file_(&file) { advance(); }

  const Token& now() const { return now_; }
  bool new_line() const { return new_line_; }  ///< whether the token is the first of its line
  Token take() {
    const Token taken = now_;
    advance();
    return taken;
  }
  void expect(char mark) {
    if (!now_.is(mark)) fail(std::string("expected \"") + mark + "\"");
    advance();
  }
  [[noreturn]] void fail(const std::string& message) const {
    const std::string_view before = text_.substr(0, now_.place);
    const auto line = 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    if (now_.kind == Token::Kind::end)
      fail_at_line(*file_, line, message + ", but the file ends; it is cut short, write or copy it once more");
    fail_at_line(*file_, line, message + ", got " + shown_word(now_.text));
  }
  /// Past the bracket that closes the one that is next.
  void skip_brackets() {
    int depth = 0;
    do {
      if (now_.kind == Token::Kind::end) fail("expected a closing bracket");
      if (now_.is('(') || now_.is('[') || now_.is('{')) ++depth;
      if (now_.is(')') || now_.is(']') || now_.is('}')) --depth;
      advance();
    } while (depth > 0);
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  static bool is_mark(char c) { return std::string_view("()[]{}=,;:").find(c) != std::string_view::npos; }

  void advance() {
    new_line_ = at_ == 0;
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == '#')) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
      if (at_ < text_.size() && text_[at_] == '\n') new_line_ = true;
      if (at_ < text_.size()) ++at_;
    }
    now_ = {Token::Kind::end, {}, at_};
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    if (c == '@' || c == '<') {
      const std::size_t end = text_.find(c == '@' ? '@' : '>', at_ + 1);
      if (end == std::string_view::npos) unfinished();
      return token(Token::Kind::string, at_ + 1, end, end + 1);
    }
    if (is_mark(c)) return token(Token::Kind::mark, at_, at_ + 1, at_ + 1);
    std::size_t end = at_;
    // A colon belongs to the name it stands in: "xformOp:translate"; after a number it is that of a time.
    while (end < text_.size() && !is_space(text_[end]) && text_[end] != '"' && text_[end] != '\'' &&
           (!is_mark(text_[end]) || (text_[end] == ':' && is_letter(text_[at_]))))
      ++end;
    token(Token::Kind::word, at_, end, end);
  }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  void token(Token::Kind kind, std::size_t begin, std::size_t end, std::size_t next) {
    now_.kind = kind;
    now_.text = text_.substr(begin, end - begin);
    at_ = next;
  }
  void quoted(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_).starts_with(three);
    std::size_t end = at_ + (is_long ? 3 : 1);
    const std::size_t begin = end;
    while (end < text_.size()) {
      if (text_[end] == '\\') {
        end += 2;
        continue;
      }
      if (is_long ? text_.substr(end).starts_with(three) : text_[end] == quote)
        return token(Token::Kind::string, begin, end, end + (is_long ? 3 : 1));
      ++end;
    }
    unfinished();
  }
  [[noreturn]] void unfinished() {
    at_ = text_.size();
    now_.kind = Token::Kind::end;
    fail("expected the end of a text");
  }

  std::string_view text_;
  const std::string* file_;
  std::size_t at_ = 0;
  Token now_;
  bool new_line_ = true;
};

/// USD as text: prims in each other, with what moves them, and the BasisCurves among them. What a file refers to in
/// others is not followed.
class UsdaParser {
 public:
  UsdaParser(std::string_view text, const std::string& file)
      : tokens_(text, file), file_(file), maker_(file, "strand") {}

  StrandFile parse(double scale) {
    if (tokens_.now().is('(')) layer_data();
    while (tokens_.now().kind != Token::Kind::end) {
      if (!is_prim()) tokens_.fail("expected a prim (def, over or class)");
      prim(nullptr, 0);
    }
    if (curves_ == 0)
      fail_in_file(file_,
                   "has no BasisCurves with points; what it refers to in other files is not read: flatten it first");
    return maker_.finish(scale * meters_per_unit_);
  }

 private:
  struct Prim {
    const Prim* parent = nullptr;
    std::map<std::string, std::vector<double>> ops;
    std::vector<std::string> order;
    // Of BasisCurves:
    std::string name, type = "cubic", basis = "bezier", wrap = "nonperiodic";
    std::vector<double> points, counts, widths;
  };
  static constexpr int deepest = 50;

  bool is_prim() const {
    const Token& t = tokens_.now();
    return t.is("def") || t.is("over") || t.is("class");
  }

  void layer_data() {
    tokens_.expect('(');
    while (!tokens_.now().is(')')) {
      const Token t = tokens_.take();
      if (t.kind == Token::Kind::end) tokens_.fail("expected \")\"");
      if (t.is("metersPerUnit") && tokens_.now().is('=')) {
        tokens_.take();
        meters_per_unit_ = number();
        if (!(meters_per_unit_ > 0)) tokens_.fail("expected metersPerUnit > 0");
      } else if (tokens_.now().is('(') || tokens_.now().is('[') || tokens_.now().is('{')) {
        tokens_.skip_brackets();
      }
    }
    tokens_.expect(')');
  }

  void prim(const Prim* parent, int depth) {
    if (depth > deepest) tokens_.fail("prims nested too deeply");
    tokens_.take();
    Prim own;
    own.parent = parent;
    const bool typed = tokens_.now().kind == Token::Kind::word;
    const bool is_curves = typed && tokens_.take().is("BasisCurves");
    if (tokens_.now().kind != Token::Kind::string) tokens_.fail("expected the name of a prim");
    own.name = tokens_.take().text;
    if (tokens_.now().is('(')) tokens_.skip_brackets();
    tokens_.expect('{');
    // What moves a prim may stand after its children: those wait.
    std::vector<Tokens> children;
    while (!tokens_.now().is('}')) {
      if (tokens_.now().kind == Token::Kind::end) tokens_.fail("expected \"}\"");
      if (is_prim()) {
        children.push_back(tokens_);
        while (!tokens_.now().is('{')) {
          if (tokens_.now().is('(')) {
            tokens_.skip_brackets();
          } else if (tokens_.take().kind == Token::Kind::end) {
            tokens_.fail("expected \"{\"");
          }
        }
        tokens_.skip_brackets();
      } else {
        property(own, is_curves);
      }
    }
    tokens_.expect('}');
    if (is_curves) add_curves(own);
    const Tokens after = tokens_;
    for (const Tokens& child : children) {
      tokens_ = child;
      prim(&own, depth + 1);
    }
    tokens_ = after;
  }

  /// One line of a prim: `uniform token[] name = value (metadata)`.
  void property(Prim& own, bool is_curves) {
    std::string name;
    bool first = true;
    while (!tokens_.now().is('=') && (first || !tokens_.new_line())) {
      if (tokens_.now().kind == Token::Kind::end || tokens_.now().is('}')) return;
      if (tokens_.now().is('(') || tokens_.now().is('{')) {
        tokens_.skip_brackets();
        return;
      }
      if (tokens_.now().kind == Token::Kind::word) name = tokens_.now().text;
      tokens_.take();
      first = false;
    }
    if (!tokens_.now().is('=')) return;
    tokens_.take();
    const bool sampled = name.ends_with(".timeSamples");
    if (sampled) name.resize(name.size() - std::string_view(".timeSamples").size());
    const bool is_wanted = is_curves && (name == "points" || name == "curveVertexCounts" || name == "widths");
    const bool is_op = name.starts_with("xformOp:");
    if (is_wanted || is_op) {
      std::vector<double> values = sampled ? first_sample() : numbers();
      if (name == "points")
        own.points = std::move(values);
      else if (name == "curveVertexCounts")
        own.counts = std::move(values);
      else if (name == "widths")
        own.widths = std::move(values);
      else
        own.ops[name] = std::move(values);
    } else if (name == "xformOpOrder") {
      tokens_.expect('[');
      while (!tokens_.now().is(']')) {
        if (tokens_.now().kind == Token::Kind::end) tokens_.fail("expected \"]\"");
        const Token t = tokens_.take();
        if (t.kind == Token::Kind::string) own.order.emplace_back(t.text);
      }
      tokens_.expect(']');
    } else if (is_curves && tokens_.now().kind == Token::Kind::string &&
               (name == "type" || name == "basis" || name == "wrap")) {
      (name == "type" ? own.type : name == "basis" ? own.basis : own.wrap) = tokens_.take().text;
    } else {
      skip_value();
    }
    if (tokens_.now().is('(') && !tokens_.new_line()) tokens_.skip_brackets();
    if (tokens_.now().is(';')) tokens_.take();
  }
  void skip_value() {
    if (tokens_.now().is('(') || tokens_.now().is('[') || tokens_.now().is('{')) {
      tokens_.skip_brackets();
    } else if (tokens_.now().kind != Token::Kind::end) {
      tokens_.take();
    }
  }

  double number() {
    double value = 0;
    if (tokens_.now().kind != Token::Kind::word || !parse_number(tokens_.now().text, value) || !std::isfinite(value))
      tokens_.fail("expected a number");
    tokens_.take();
    return value;
  }
  /// A number, or all numbers in brackets, one after the other.
  std::vector<double> numbers() {
    std::vector<double> out;
    if (!tokens_.now().is('[') && !tokens_.now().is('(')) {
      if (tokens_.now().is("None")) {
        tokens_.take();
        return out;
      }
      out.push_back(number());
      return out;
    }
    int depth = 0;
    do {
      if (tokens_.now().is('[') || tokens_.now().is('(')) {
        ++depth;
        tokens_.take();
      } else if (tokens_.now().is(']') || tokens_.now().is(')')) {
        --depth;
        tokens_.take();
      } else if (tokens_.now().is(',')) {
        tokens_.take();
      } else {
        out.push_back(number());
      }
    } while (depth > 0);
    return out;
  }
  /// Of values at several times the first one in the file.
  std::vector<double> first_sample() {
    if (!tokens_.now().is('{')) tokens_.fail("expected \"{\"");
    const Tokens all = tokens_;
    tokens_.take();
    std::vector<double> out;
    if (!tokens_.now().is('}')) {
      number();
      tokens_.expect(':');
      out = numbers();
    }
    tokens_ = all;
    tokens_.skip_brackets();
    return out;
  }

  Affine op(const Prim& prim, std::string name) const {
    const std::string inverse = "!invert!";
    const bool is_inverse = name.starts_with(inverse);
    if (is_inverse) name.erase(0, inverse.size());
    const auto found = prim.ops.find(name);
    const std::string kind = name.substr(8, std::min(name.find(':', 8), name.size()) - 8);
    const auto fail = [&](const char* why) {
      fail_in_file(file_, fmt::format("prim \"{}\": {} {}; apply the transformation to the points before saving",
                                      prim.name, name, why));
    };
    if (found == prim.ops.end()) fail("has no value");
    const std::vector<double>& v = found->second;
    const auto has = [&](std::size_t count) {
      if (v.size() != count) fail("does not have the numbers it needs");
    };
    Affine out;
    if (kind == "translate") {
      has(3);
      const double sign = is_inverse ? -1 : 1;
      out.shift = {{sign * v[0], sign * v[1], sign * v[2]}};
      return out;
    }
    if (is_inverse) fail("is inverted");
    if (kind == "scale") {
      has(3);
      out.linear = Mat<double, 3>::diagonal({{v[0], v[1], v[2]}});
    } else if (kind == "rotateX" || kind == "rotateY" || kind == "rotateZ") {
      has(1);
      out = turn(kind.back() - 'X', v[0]);
    } else if (kind.size() == 9 && kind.starts_with("rotate") &&
               kind.find_first_not_of("XYZ", 6) == std::string::npos) {
      has(3);
      for (std::size_t k = 6; k < 9; ++k)  // the first letter is the rotation that is done first
        out = turn(kind[k] - 'X', v[static_cast<std::size_t>(kind[k] - 'X')]) * out;
    } else if (kind == "orient") {
      has(4);
      const double w = v[0], x = v[1], y = v[2], z = v[3], n = w * w + x * x + y * y + z * z;
      if (!(n > 0)) fail("is no rotation");
      const double s = 2 / n;
      out.linear = {{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                     {s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)},
                     {s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}}};
    } else if (kind == "transform") {
      has(16);  // USD multiplies rows from the left
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) out.linear(i, j) = v[static_cast<std::size_t>(4 * j + i)];
        out.shift[i] = v[static_cast<std::size_t>(12 + i)];
      }
    } else {
      fail("is of an unknown kind");
    }
    return out;
  }
  Affine to_world(const Prim* prim) const {
    Affine out;
    for (; prim; prim = prim->parent) {
      Affine local;
      bool reset = false;
      for (const std::string& name : prim->order) {
        if (name == "!resetXformStack!") {
          local = {};
          reset = true;
        } else if (name.starts_with("xformOp:") || name.starts_with("!invert!xformOp:")) {
          local = local * op(*prim, name);
        }
      }
      out = local * out;
      if (reset) break;
    }
    return out;
  }

  /// Points of a curve: of linear ones as they are; of cubic ones where their segments meet, which are on the curve,
  /// and of Bezier segments also at their thirds. Works for widths as for coordinates.
  template <class T>
  std::vector<T> on_curve(const Prim& prim, const std::vector<T>& c, std::size_t strand) const {
    if (prim.type == "linear") return c;
    const bool pinned = prim.wrap == "pinned";
    const auto fail = [&](const char* why) {
      fail_in_file(file_,
                   fmt::format("prim \"{}\", strand {}: {} control points, {}", prim.name, strand + 1, c.size(), why));
    };
    std::vector<T> out;
    if (prim.basis == "bezier") {
      if (c.size() < 4 || (c.size() - 4) % 3 != 0) fail("expected 4, 7, 10 ... for a bezier curve");
      for (std::size_t i = 0; i + 3 < c.size(); i += 3)
        for (int k = 0; k < 3; ++k) {
          const double t = k / 3.0, u = 1 - t;
          out.push_back(c[i] * (u * u * u) + c[i + 1] * (3 * u * u * t) + c[i + 2] * (3 * u * t * t) +
                        c[i + 3] * (t * t * t));
        }
      out.push_back(c.back());
      return out;
    }
    if (c.size() < (pinned ? 2U : 4U)) fail(pinned ? "expected 2 or more" : "expected 4 or more");
    if (prim.basis == "catmullRom") {
      if (pinned) return c;
      return {c.begin() + 1, c.end() - 1};
    }
    if (pinned) out.push_back(c.front());
    for (std::size_t i = 0; i + 2 < c.size(); ++i) out.push_back((c[i] + c[i + 1] * 4.0 + c[i + 2]) * (1.0 / 6));
    if (pinned) out.push_back(c.back());
    return out;
  }

  void add_curves(const Prim& prim) {
    if (prim.points.empty() && prim.counts.empty()) return;
    const auto fail = [&](const std::string& why) {
      fail_in_file(file_, fmt::format("prim \"{}\": {}", prim.name, why));
    };
    if (prim.points.size() % 3 != 0) fail("its points do not have three coordinates each");
    if (prim.type != "linear" && prim.type != "cubic") fail("unknown type of curves " + shown_word(prim.type));
    if (prim.type == "cubic" && prim.basis != "bezier" && prim.basis != "bspline" && prim.basis != "catmullRom")
      fail("unknown basis of curves " + shown_word(prim.basis));
    if (prim.wrap == "periodic") fail("its curves are closed; a strand has two ends: open them");
    if (prim.wrap != "nonperiodic" && prim.wrap != "pinned") fail("unknown wrap of curves " + shown_word(prim.wrap));
    const std::size_t point_count = prim.points.size() / 3;
    double sum = 0;
    for (const double count : prim.counts) {
      if (!(count >= 1) || count != std::floor(count)) fail("curveVertexCounts has a number that is no count");
      sum += count;
    }
    if (sum != static_cast<double>(point_count))
      fail(fmt::format("curveVertexCounts add up to {}, but there are {} points", sum, point_count));
    ++curves_;
    const Affine world = to_world(&prim);
    std::size_t at = 0, varying = 0;
    std::vector<std::vector<Vec3>> strands;
    for (const double count : prim.counts) {
      std::vector<Vec3> control;
      for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, ++at)
        control.push_back(world(Vec3{{prim.points[3 * at], prim.points[3 * at + 1], prim.points[3 * at + 2]}}));
      strands.push_back(control.size() > 1 ? on_curve(prim, control, strands.size()) : control);
      varying += strands.back().size();
    }
    const std::vector<double>& widths = prim.widths;
    const bool by_control = widths.size() == point_count, by_point = widths.size() == varying;
    const bool by_strand = widths.size() == strands.size();
    if (!widths.empty() && !by_control && !by_point && !by_strand && widths.size() != 1)
      fail(fmt::format("has {} widths for {} curves of {} points", widths.size(), strands.size(), point_count));
    at = varying = 0;
    const double size = std::cbrt(std::abs(determinant(world.linear)));  // of widths in the world
    if (!widths.empty() && maker_.point_count() > 0 && !has_radius_)
      fail("has widths, but curves before it have none; give all of them widths, or none");
    if (widths.empty() && has_radius_)
      fail("has no widths, but curves before it have; give all of them widths, or none");
    has_radius_ = !widths.empty();
    for (std::size_t s = 0; s < strands.size(); ++s) {
      const auto count = static_cast<std::size_t>(prim.counts[s]);
      std::vector<double> along;
      if (by_control) {
        const auto begin = widths.begin() + static_cast<std::ptrdiff_t>(at);
        along.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
        if (count > 1) along = on_curve(prim, along, s);
      }
      maker_.begin_line();
      for (std::size_t i = 0; i < strands[s].size(); ++i, ++varying) {
        maker_.add_corner(static_cast<std::int64_t>(maker_.point_count()));
        maker_.add_point(strands[s][i]);
        if (!widths.empty())
          maker_.add_radius(0.5 * size * (by_control ? along[i] : by_point ? widths[varying] : widths[by_strand ? s : 0]));
      }
      at += count;
    }
  }

  Tokens tokens_;
  const std::string& file_;
  StrandMaker maker_;
  double meters_per_unit_ = 1;
  std::size_t curves_ = 0;  ///< prims of that type
  bool has_radius_ = false;
};

}  // namespace

StrandFile parse_usda_strands(std::string_view text, double scale, const std::string& file) {
  if (text.starts_with("PXR-USDC") || text.starts_with("PK"))
    fail_in_file(file, "is USD in binary form; save it as text (usdcat -o hair.usda)");
  if (!text.starts_with("#usda")) fail_in_file(file, "is no USD text: it does not begin with \"#usda\"");
  return UsdaParser(text, file).parse(scale);
}

}  // namespace tribo
