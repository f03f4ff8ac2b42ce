#include "tribo/scene/json_document.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

namespace tribo {

Json reported_value() { return std::numeric_limits<double>::quiet_NaN(); }

bool is_reported(const Json& value) { return value.is_number_float() && std::isnan(value.get<double>()); }

std::string join_pointer(const std::string& pointer, std::string_view key) {
  std::string joined = pointer + "/";
  for (const char c : key) {
    if (c == '~') {
      joined += "~0";
    } else if (c == '/') {
      joined += "~1";
    } else {
      joined += c;
    }
  }
  return joined;
}

std::vector<std::string> split_pointer(const std::string& pointer) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      steps.emplace_back();
    } else if (!steps.empty()) {
      const bool escaped =
          pointer[i] == '~' && i + 1 < pointer.size() && (pointer[i + 1] == '0' || pointer[i + 1] == '1');
      steps.back() += escaped ? (pointer[i + 1] == '0' ? '~' : '/') : pointer[i];
      if (escaped) ++i;
    }
  }
  return steps;
}

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u; };
    const unsigned lead = byte(0);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : 4;
    if (length == 4 && (lead < 0xF0 || lead > 0xF4)) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((byte(k) & 0xC0u) != 0x80u) return i;
    }
    // Overlong forms, surrogates, and code points past U+10FFFF.
    if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F) || (lead == 0xF0 && byte(1) < 0x90) ||
        (lead == 0xF4 && byte(1) > 0x8F)) {
      return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

void Places::set(const std::string& pointer, Place value, Place key) {
  places_[pointer] = {std::move(value), std::move(key)};
}

void Places::replace(const std::string& pointer, const Place& place) {
  const std::string below = pointer + "/";
  places_.erase(places_.lower_bound(below), places_.lower_bound(pointer + "0"));  // '0' follows '/' in ASCII
  places_[pointer] = {place, place};
}

const Places::Pair* Places::nearest(std::string pointer) const {
  for (;;) {
    const auto found = places_.find(pointer);
    if (found != places_.end()) return &found->second;
    if (pointer.empty()) return nullptr;
    pointer.resize(pointer.rfind('/'));
  }
}

Place Places::value(const std::string& pointer) const {
  const Pair* pair = nearest(pointer);
  return pair ? pair->value : Place{};
}

Place Places::key(const std::string& pointer) const {
  const Pair* pair = nearest(pointer);
  return pair ? pair->key : Place{};
}

namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; }

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Document parse() {
    const std::size_t bad = find_invalid_utf8(text_);
    if (bad != std::string_view::npos) {
      while (at_ < bad) advance();
      fail(fmt::format("byte 0x{:02X} is not UTF-8; save the file in that encoding",
                       static_cast<unsigned char>(text_[bad])));
    }
    if (text_.substr(0, byte_order_mark.size()) == byte_order_mark) at_ = byte_order_mark.size();
    skip_blank();
    if (at_end()) fail("the file is empty; expected an object { ... }");
    const Place start = here();
    document_.root = value("", 0);
    document_.places.set("", start, start);
    skip_blank();
    if (!at_end()) fail("unexpected " + what_is_here() + " after the end of the outermost value");
    return std::move(document_);
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  Place here() const { return {file_, line_, column_}; }

  void advance() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
      // Not the continuation of a character. Before the text is known to be UTF-8 this is a good guess.
      ++column_;
    }
  }

  [[noreturn]] void fail(const std::string& message) const { fail(here(), message); }
  [[noreturn]] void fail(const Place& place, const std::string& message) const {
    throw SceneError({Finding{place.file, place.line, place.column, "", message}});
  }

  std::string what_is_here() const {
    if (at_end()) return "end of file";
    const auto byte = static_cast<unsigned char>(peek());
    if (byte < 0x20 || byte == 0x7F) return fmt::format("control character 0x{:02X}", byte);
    std::size_t end = at_ + 1;
    if (peek() == '"') {
      const std::size_t close = text_.find('"', end);
      if (close < at_ + 40) end = close + 1;
    } else if (is_word(peek())) {
      while (end < text_.size() && is_word(text_[end]) && end < at_ + 40) ++end;
    } else {
      while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0u) == 0x80u) ++end;
    }
    return fmt::format("`{}`", text_.substr(at_, end - at_));
  }

  void skip_blank() {
    while (!at_end()) {
      const char c = peek();
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        advance();
      } else if (c == '/') {
        skip_comment();
      } else {
        return;
      }
    }
  }

  void skip_comment() {
    const Place start = here();
    advance();
    if (peek() == '/') {
      while (!at_end() && peek() != '\n' && peek() != '\r') advance();
    } else if (peek() == '*') {
      advance();
      for (char previous = 0; !(previous == '*' && peek() == '/'); advance()) {
        if (at_end()) fail(start, "this comment is not closed; \"*/\" is missing");
        previous = peek();
      }
      advance();
    } else {
      fail(start, "a single \"/\" means nothing here; comments begin with \"//\"");
    }
  }

  Json value(const std::string& pointer, int depth) {
    const char c = peek();
    if ((c == '{' || c == '[') && depth >= max_json_depth) {
      fail(fmt::format("lists and objects are nested more than {} levels deep", max_json_depth));
    }
    if (c == '{') return object(pointer, depth + 1);
    if (c == '[') return array(pointer, depth + 1);
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number(pointer);
    if (c == '+' || c == '.') fail("numbers begin with a digit or \"-\"");
    if (c == '\'') fail("text stands in double quotes, not single ones");
    if (is_word(c)) return literal();
    if (at_end()) fail("the file ends where a value should follow");
    fail("expected a value, got " + what_is_here());
  }

  Json literal() {
    const Place start = here();
    const std::size_t begin = at_;
    while (is_word(peek())) advance();
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word == "true") return true;
    if (word == "false") return false;
    if (word == "null") return nullptr;
    fail(start, fmt::format("unexpected word `{}`; text stands in double quotes", word.substr(0, 40)));
  }

  Json number(const std::string& pointer) {
    const Place start = here();
    const std::size_t begin = at_;
    while (is_word(peek()) || peek() == '.' || peek() == '-' || peek() == '+') advance();
    const std::string token(text_.substr(begin, at_ - begin));
    const auto parse = [&] { return Json::parse(token, nullptr, false); };
    // std::strtod decides the range: nlohmann refuses what overflows.
    if (is_json_number(token) && std::isinf(std::strtod(token.c_str(), nullptr))) {
      document_.findings.push_back(
          {file_, start.line, start.column, pointer, "the number " + token.substr(0, 40) + " is too large"});
      return reported_value();
    }
    Json parsed = parse();
    if (parsed.is_discarded()) fail(start, fmt::format("malformed number `{}`", token.substr(0, 40)));
    return parsed;
  }

  static bool is_json_number(const std::string& token) {
    std::size_t i = token[0] == '-' ? 1 : 0;
    const auto digits = [&] {
      const std::size_t begin = i;
      while (i < token.size() && is_digit(token[i])) ++i;
      return i > begin;
    };
    if (i < token.size() && token[i] == '0') {
      ++i;
    } else if (!digits()) {
      return false;
    }
    if (i < token.size() && token[i] == '.' && (++i, !digits())) return false;
    if (i < token.size() && (token[i] == 'e' || token[i] == 'E')) {
      ++i;
      if (i < token.size() && (token[i] == '+' || token[i] == '-')) ++i;
      if (!digits()) return false;
    }
    return i == token.size();
  }

  std::string string() {
    const Place start = here();
    const std::size_t begin = at_;
    advance();
    while (peek() != '"' || at_end()) {
      if (at_end() || peek() == '\n' || peek() == '\r')
        fail(start, "this text is not closed; its second \" is missing");
      if (static_cast<unsigned char>(peek()) < 0x20)
        fail("unexpected " + what_is_here() + " in a text; write it as \\uXXXX");
      if (peek() == '\\') {
        const Place escape = here();
        advance();
        const std::string_view known = "\"\\/bfnrtu";
        if (at_end() || known.find(peek()) == std::string_view::npos) {
          fail(escape, "unknown escape in a text; a backslash is written \\\\");
        }
      }
      advance();
    }
    advance();
    const Json parsed = Json::parse(text_.substr(begin, at_ - begin), nullptr, false);
    if (parsed.is_discarded()) fail(start, "malformed \\u escape in this text");
    return parsed.get<std::string>();
  }

  Json array(const std::string& pointer, int depth) {
    const Place start = here();
    Json result = Json::array();
    advance();
    skip_blank();
    while (peek() != ']') {
      const std::string item = join_pointer(pointer, std::to_string(result.size()));
      const Place place = here();
      result.push_back(value(item, depth));
      document_.places.set(item, place, place);
      separator(start, ']', "list");
    }
    advance();
    return result;
  }

  Json object(const std::string& pointer, int depth) {
    const Place start = here();
    Json result = Json::object();
    advance();
    skip_blank();
    while (peek() != '}') {
      const Place key_place = here();
      if (at_end()) fail(unclosed(start, '}', "object"));
      if (peek() != '"') {
        fail(is_word(peek()) || peek() == '\'' ? "keys stand in double quotes; got " + what_is_here()
                                               : "expected a key in double quotes or \"}\", got " + what_is_here());
      }
      const std::string key = string();
      skip_blank();
      if (peek() != ':') fail(fmt::format("expected \":\" after the key \"{}\", got {}", key, what_is_here()));
      advance();
      skip_blank();
      const std::string member = join_pointer(pointer, key);
      const Place place = here();
      if (result.contains(key)) {
        // Its content is not kept, so neither are its places and findings.
        Document kept = std::exchange(document_, Document{});
        value(member, depth);
        document_ = std::move(kept);
        document_.findings.push_back(
            {file_, key_place.line, key_place.column, member,
             fmt::format("duplicate key; it stands already in line {}", document_.places.key(member).line)});
      } else {
        result[key] = value(member, depth);
        document_.places.set(member, place, key_place);
      }
      separator(start, '}', "object");
    }
    advance();
    return result;
  }

  /// After an item of the list or object opened at `start`: a comma with an item to follow, or the closing bracket.
  void separator(const Place& start, char close, const char* what) {
    skip_blank();
    if (peek() == close) return;
    if (at_end()) fail(unclosed(start, close, what));
    if (peek() != ',') {
      const char c = peek();
      const bool item_follows = c == '"' || c == '{' || c == '[' || is_word(c) || c == '-';
      fail(item_follows ? fmt::format("a comma is missing before {}", what_is_here())
                        : fmt::format("expected \",\" or \"{}\", got {}", close, what_is_here()));
    }
    const Place comma = here();
    advance();
    skip_blank();
    if (peek() == close) fail(comma, fmt::format("a comma must not stand before \"{}\"", close));
    if (at_end()) fail(unclosed(start, close, what));
  }

  static std::string unclosed(const Place& start, char close, const char* what) {
    return fmt::format("the file ends inside the {} opened in line {}, column {}; \"{}\" is missing", what, start.line,
                       start.column, close);
  }

  std::string_view text_;
  const std::string& file_;
  Document document_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

constexpr std::size_t line_length = 100;

/// Appends `value` on one line; stops early, with too long a line, when it does not fit.
void print_line(const Json& value, std::string& out) {
  if (!value.is_structured()) {
    out += value.dump();
    return;
  }
  out += value.is_array() ? "[" : "{";
  const char* comma = "";
  for (const auto& item : value.items()) {
    if (out.size() > line_length) return;
    out += comma;
    if (value.is_object()) out += Json(item.key()).dump() + ": ";
    print_line(item.value(), out);
    comma = ", ";
  }
  out += value.is_array() ? "]" : "}";
}

void print(const Json& value, std::size_t indent, std::string& out) {
  std::string line;
  print_line(value, line);
  if (!value.is_structured() || value.empty() || (line.size() + indent <= line_length && indent > 0)) {
    out += line;
    return;
  }
  out += value.is_array() ? "[" : "{";
  const char* comma = "\n";
  for (const auto& item : value.items()) {
    out += comma + std::string(indent + 2, ' ');
    if (value.is_object()) out += Json(item.key()).dump() + ": ";
    print(item.value(), indent + 2, out);
    comma = ",\n";
  }
  out += "\n" + std::string(indent, ' ') + (value.is_array() ? "]" : "}");
}

}  // namespace

Document parse_json(std::string_view text, const std::string& file) { return Parser(text, file).parse(); }

std::string pretty_json(const Json& value) {
  std::string out;
  print(value, 0, out);
  return out + "\n";
}

Json number_json(double value) {
  constexpr double exact = 9007199254740992.0;  // 2^53: from here on whole doubles have gaps
  const bool whole = value == std::floor(value) && std::abs(value) < exact && !(value == 0 && std::signbit(value));
  return whole ? Json(static_cast<std::int64_t>(value)) : Json(value);
}

}  // namespace tribo
