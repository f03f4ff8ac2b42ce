#include "tribo/core/params.h"

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

}  // namespace tribo
