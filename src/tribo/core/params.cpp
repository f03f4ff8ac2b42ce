#include "tribo/core/params.h"

#include <cmath>

#include <fmt/format.h>

#include <cmath>

namespace tribo {
namespace {

std::string plain(double value) {
  // Whole numbers without the ".0" that the shortest round-trip form would append.
  if (value == std::floor(value) && std::abs(value) < 1e10) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace

std::string Range::text(const char* noun) const {
  const bool has_low = std::isfinite(low), has_high = std::isfinite(high);
  if (has_low && has_high && low == high) return "the number " + plain(low);
  if (has_low && has_high) {
    return fmt::format("{} in {}{}, {}{}", noun, low_open ? "(" : "[", plain(low), plain(high), high_open ? ")" : "]");
  }
  if (has_low) return fmt::format("{} {} {}", noun, low_open ? ">" : ">=", plain(low));
  if (has_high) return fmt::format("{} {} {}", noun, high_open ? "<" : "<=", plain(high));
  return noun;
}

// While describing, a default that is no number stands for "depends on the rest".
std::optional<double> ParamReader::open_number(const char* key, const char* unit, const Range& range, const char* doc) {
  if (describing()) number(key, unit, range, doc, NAN);
  if (!has(key)) return {};
  return number(key, unit, range, doc);
}

std::optional<Vec<double, 3>> ParamReader::open_vector(const char* key, const char* unit, const Range& each,
                                                       const char* doc) {
  if (describing()) vector(key, unit, each, doc, Vec<double, 3>::filled(NAN));
  if (!has(key)) return {};
  return vector(key, unit, each, doc);
}

}  // namespace tribo
