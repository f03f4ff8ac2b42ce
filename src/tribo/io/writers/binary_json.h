#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/io/file.h"

namespace tribo {

/// Writes Houdini's binary form of JSON: values one after the other, each begun by a byte that tells its kind; numbers
/// are little-endian. Words that come again and again (keys, names of types) are defined once and then referred to by
/// number.
class BinaryJson {
 public:
  explicit BinaryJson(AtomicFile& file);

  void begin_array();
  void end_array();
  void begin_map();
  void end_map();
  void word(const std::string& word);  ///< a key, or another of few strings
  void text(std::string_view text);    ///< any other string
  void integer(std::int64_t value);
  void real(double value);
  void boolean(bool value);

  /// An array of `count` numbers of type T (float, double, std::int32_t, std::int64_t), which follow in any number of
  /// calls of `numbers`.
  template <class T>
  void begin_numbers(std::uint64_t count);
  template <class T>
  void numbers(std::span<const T> values) {
    bytes(std::as_bytes(values));
  }

  void flush();  ///< hands the file what is still held back

 private:
  void byte(unsigned value);
  void length(std::uint64_t value);
  void bytes(std::span<const std::byte> data);

  AtomicFile& file_;
  std::map<std::string, std::uint64_t> words_;
  std::vector<std::byte> buffer_;
};

}  // namespace tribo
