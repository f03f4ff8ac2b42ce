#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/core/errors.h"

/// \file
/// JSON text with the place of every value. Internal to scene/: nothing outside sees a JSON type.

namespace tribo {

/// Keeps keys in the order of the file.
using Json = nlohmann::ordered_json;

/// Where something stands. `file` is a command-line override when that is where the value came from.
struct Place {
  std::string file;
  int line = 0;    ///< 1-based; 0 when there is no text to point into
  int column = 0;  ///< 1-based, in characters
};

/// From JSON pointers to places. A pointer that stands nowhere (a default, a missing key) is at its nearest ancestor.
class Places {
 public:
  void set(const std::string& pointer, Place value, Place key);
  /// Everything at and below `pointer` now comes from `place`.
  void replace(const std::string& pointer, const Place& place);
  Place value(const std::string& pointer) const;
  Place key(const std::string& pointer) const;

 private:
  struct Pair {
    Place value, key;
  };
  const Pair* nearest(std::string pointer) const;
  std::map<std::string, Pair> places_;
};

struct Document {
  Json root;
  Places places;
  /// What can be read past: duplicate keys (the first counts) and numbers beyond the range of a double, which stand
  /// in `root` as reported_value().
  std::vector<Finding> findings;
};

/// Stands for a value about which there is a finding already, so that no later check complains once more. It is NaN,
/// which JSON cannot say.
Json reported_value();
bool is_reported(const Json& value);

/// Parses JSON with `//` and `/* */` comments. Throws SceneError with one finding where the text is not JSON or
/// nests deeper than max_json_depth. The grammar is read here rather than by nlohmann::json::parse because that one
/// forgets places, keeps the last of two equal keys without a word, and says little about what is wrong.
Document parse_json(std::string_view text, const std::string& file);

constexpr int max_json_depth = 64;

/// `pointer` with one more step; escapes "~" and "/" in the key.
std::string join_pointer(const std::string& pointer, std::string_view key);

/// Steps of a JSON pointer, unescaped.
std::vector<std::string> split_pointer(const std::string& pointer);

/// Byte index of the first byte that is not UTF-8, npos when all is well.
std::size_t find_invalid_utf8(std::string_view text);

/// Two spaces a level; a list or object that fits on a line stays on it, except the outermost. Numbers read back
/// exactly.
std::string pretty_json(const Json& value);

/// A number as JSON: whole ones without a fraction, so that 5e4 and 50000.0 both print as 50000.
Json number_json(double value);

}  // namespace tribo
