#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>

#include "tribo/core/errors.h"

namespace tribo {

/// Splits text into words between white space, line by line if asked.
class Words {
 public:
  explicit Words(std::string_view text, std::size_t first_line = 1) : rest_(text), line_(first_line) {}

  /// The next word; empty at the end.
  std::string_view next() {
    std::size_t begin = 0;
    while (begin < rest_.size() && is_space(rest_[begin])) {
      if (rest_[begin] == '\n') ++line_;
      ++begin;
    }
    return take(begin);
  }
  /// The next word of this line; empty at its end. A backslash before the end of a line continues it.
  std::string_view next_in_line() {
    std::size_t begin = 0;
    while (begin < rest_.size() && rest_[begin] != '\n') {
      if (rest_[begin] == '\\') {
        std::size_t after = begin + 1;
        if (after < rest_.size() && rest_[after] == '\r') ++after;
        if (after >= rest_.size() || rest_[after] != '\n') break;
        ++line_;
        begin = after;  // at the newline, which is passed over as a space
      } else if (!is_space(rest_[begin])) {
        break;
      }
      ++begin;
    }
    if (begin < rest_.size() && rest_[begin] == '\n') {
      rest_.remove_prefix(begin);
      return {};
    }
    return take(begin);
  }
  /// Goes to the beginning of the next line; false when there is none.
  bool next_line() {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) {
      rest_ = {};
      return false;
    }
    rest_.remove_prefix(end + 1);
    ++line_;
    return !rest_.empty();
  }
  std::string_view rest() const { return rest_; }
  std::size_t line() const { return line_; }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  std::string_view take(std::size_t begin) {
    std::size_t end = begin;
    while (end < rest_.size() && !is_space(rest_[end])) ++end;
    const std::string_view word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return word;
  }

  std::string_view rest_;
  std::size_t line_;
};

/// A whole word as a number; false when it is none. Beyond the range of the type counts as none.
template <class Number>
bool parse_number(std::string_view word, Number& value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

/// A word of a file as a message may show it: short, without control characters.
inline std::string shown_word(std::string_view word) {
  std::string text;
  for (const char c : word.substr(0, 24)) text += c >= ' ' && c <= '~' ? c : '?';
  return "\"" + text + (word.size() > 24 ? "..." : "") + "\"";
}

/// A mistake at a line of a file.
[[noreturn]] inline void fail_at_line(const std::string& file, std::size_t line, const std::string& message) {
  throw Error(ExitCode::bad_input, file + ":" + std::to_string(line) + ": " + message);
}
[[noreturn]] inline void fail_in_file(const std::string& file, const std::string& message) {
  throw Error(ExitCode::bad_input, file + ": " + message);
}

}  // namespace tribo
