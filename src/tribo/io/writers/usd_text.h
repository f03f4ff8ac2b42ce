#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/io/file.h"

namespace tribo {

/// A file of USD text that appears whole or not at all. Holds no more of the text than one block.
class UsdFile {
 public:
  explicit UsdFile(const std::string& path) : file_(path), block_(block_size) {}

  UsdFile& operator<<(std::string_view text);
  UsdFile& operator<<(char c) {
    reserve(1);
    block_[used_++] = c;
    return *this;
  }
  /// Shortest decimals that read back as the same float or double; infinities and NaN as USD spells them.
  UsdFile& operator<<(float value) { return put_float(value); }
  UsdFile& operator<<(double value) { return put_float(value); }
  UsdFile& operator<<(std::integral auto value) {
    reserve(longest_number);
    end_at(std::to_chars(begin(), begin() + longest_number, value).ptr);
    return *this;
  }
  void commit();  ///< throws IoError; the file is final after

 private:
  static constexpr std::size_t block_size = 1 << 20;
  static constexpr std::size_t longest_number = 32;

  char* begin() { return block_.data() + used_; }
  void end_at(const char* end) { used_ = static_cast<std::size_t>(end - block_.data()); }
  void reserve(std::size_t size) {
    if (used_ + size > block_size) flush();
  }
  void flush();
  template <class T>
  UsdFile& put_float(T value);

  AtomicFile file_;
  std::vector<char> block_;
  std::size_t used_ = 0;
};

/// A name that every version of USD takes as that of a prim: ASCII letters, digits and underscores, no digit first.
/// What `name` has besides becomes underscores; `if_nothing_is_left` stands for names without a letter or digit.
std::string as_usd_identifier(const std::string& name, const std::string& if_nothing_is_left);

/// `identifier`, or with a number behind it, so that it is none of those `taken`.
std::string not_taken(const std::string& identifier, const std::vector<std::string>& taken);

/// Between double quotes, on one line.
std::string usd_string(const std::string& text);

/// A file in the directory of the file that mentions it.
std::string usd_asset(const std::string& file_name);

}  // namespace tribo
