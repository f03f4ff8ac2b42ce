#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tribo/mesh/words.h"

namespace tribo {

/// Walks through a file that mixes words, numbers as text and numbers as bytes. What is not there is an Error (bad
/// input) that names the line, or the byte where the file is not text.
class Scanner {
 public:
  Scanner(std::string_view bytes, const std::string& file) : all_(bytes), file_(file) {}

  bool binary = false;      ///< errors are said by the byte
  bool big_endian = false;  ///< of numbers as bytes
  char comment = '\0';      ///< from here on a line is none of the file's business

  [[noreturn]] void fail(const std::string& message) const {
    if (binary) fail_in_file(file_, "at byte " + std::to_string(at_) + ": " + message);
    const std::string_view before = all_.substr(0, std::min(at_, all_.size()));
    fail_at_line(file_, 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')), message);
  }
  [[noreturn]] void fail_at_end(const std::string& what) const {
    fail("the file ends where " + what + " should be; it is cut short, write or copy it once more");
  }

  std::size_t left() const { return all_.size() - at_; }
  std::size_t place() const { return at_; }
  void go_to(std::size_t place) { at_ = std::min(place, all_.size()); }
  std::string_view all() const { return all_; }

  /// The next word between white space; empty at the end.
  std::string_view word() {
    for (;;) {
      while (at_ < all_.size() && is_space(all_[at_])) ++at_;
      if (comment == '\0' || at_ >= all_.size() || all_[at_] != comment) break;
      end_line();
    }
    return take_word();
  }
  /// The next word of this line; empty at its end.
  std::string_view word_in_line() {
    while (at_ < all_.size() && all_[at_] != '\n' && is_space(all_[at_])) ++at_;
    if (at_ >= all_.size() || all_[at_] == '\n' || (comment != '\0' && all_[at_] == comment)) return {};
    return take_word();
  }
  /// The word that is next, which stays there.
  std::string_view peek() {
    const std::size_t before = at_;
    const std::string_view w = word();
    at_ = before;
    return w;
  }
  /// To the beginning of the next line. The rest of this one.
  std::string_view end_line() {
    const std::size_t end = std::min(all_.find('\n', at_), all_.size());
    const std::string_view rest = all_.substr(at_, end - at_);
    at_ = std::min(end + 1, all_.size());
    return rest;
  }

  double number(const char* what) { return parsed<double>(word(), what); }
  std::int64_t whole(const char* what) { return parsed<std::int64_t>(word(), what); }
  template <class Number>
  Number parsed(std::string_view w, const char* what) const {
    Number value{};
    if (w.empty()) fail_at_end(what);
    if (!parse_number(w, value)) fail(std::string("expected ") + what + ", got " + shown_word(w));
    if constexpr (std::is_floating_point_v<Number>)
      if (!std::isfinite(value)) fail(std::string("expected ") + what + ", got " + shown_word(w));
    return value;
  }
  template <class T>
  T raw(const char* what) {
    if (left() < sizeof(T)) fail_at_end(what);
    char bytes[sizeof(T)];
    std::memcpy(bytes, all_.data() + at_, sizeof(T));
    if (big_endian != (std::endian::native == std::endian::big)) std::reverse(bytes, bytes + sizeof(T));
    at_ += sizeof(T);
    return std::bit_cast<T>(bytes);
  }
  double raw_number(const char* what) {
    const double value = raw<double>(what);
    if (!std::isfinite(value)) fail(std::string("expected ") + what + ", got what is no number; the file is damaged");
    return value;
  }
  /// A number of items that take at least so many bytes each: no more than the file has room for.
  std::size_t count(std::int64_t value, std::size_t bytes_each, const char* what) const {
    if (value < 0 || static_cast<std::uint64_t>(value) > left() / bytes_each)
      fail("says that it has " + std::to_string(value) + " " + what +
           ", for which it is too short; it is cut short or damaged, write or copy it once more");
    return static_cast<std::size_t>(value);
  }

 private:
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  std::string_view take_word() {
    const std::size_t begin = at_;
    while (at_ < all_.size() && !is_space(all_[at_])) ++at_;
    return all_.substr(begin, at_ - begin);
  }

  std::string_view all_;
  const std::string& file_;
  std::size_t at_ = 0;
};

}  // namespace tribo
