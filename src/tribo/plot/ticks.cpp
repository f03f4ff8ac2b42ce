#include "tribo/plot/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tribo {
namespace {

constexpr double rounding = 1e-9;  // in steps: how far from a tick a value still counts as on it
constexpr double edge = 0.02;      // of an axis: curves do not run along its ends, unless that is zero

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

/// floor(log10(value)), also where the logarithm of a power of ten is a hair off.
int decade(double value) {
  int exponent = static_cast<int>(std::floor(std::log10(value)));
  if (power_of_ten(exponent + 1) <= value * (1 + rounding)) ++exponent;
  if (power_of_ten(exponent) > value * (1 + rounding)) --exponent;
  return exponent;
}

std::string with_minus_sign(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "\u2212");
  return text;
}

std::string scientific_label(int mantissa, int exponent) {
  const std::string power = "10" + superscript(exponent);
  return mantissa == 1 ? power : fmt::format("{}\u00d7{}", mantissa, power);
}

}  // namespace

std::string superscript(int number) {
  constexpr std::array<const char*, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : std::to_string(number)) text += c == '-' ? "⁻" : digits[static_cast<std::size_t>(c - '0')];
  return text;
}

UnitScale unit_scale(double largest, const std::string& unit) {
  largest = std::abs(largest);
  const bool seconds = unit == "s";
  if (!(largest > 0) || (largest >= 0.1 && largest < (seconds ? 1e5 : 1e4))) return {1, unit};
  const int thousands = static_cast<int>(std::floor(decade(largest) / 3.0));
  const double factor = power_of_ten(3 * thousands);
  constexpr std::array<const char*, 9> prefixes = {"p", "n", "µ", "m", "", "k", "M", "G", "T"};
  const bool one_word = unit.find_first_of(" /") == std::string::npos;
  if (one_word && thousands >= -4 && thousands <= (seconds ? 0 : 4))
    return {factor, prefixes[static_cast<std::size_t>(thousands + 4)] + unit};
  return {factor, fmt::format("10{} {}", superscript(3 * thousands), unit)};
}

double nice_step(double width) {
  const double power = power_of_ten(decade(width));
  for (const double mantissa : {1.0, 2.0, 5.0})
    if (mantissa * power >= width * (1 - rounding)) return mantissa * power;
  return 10 * power;
}

Ticks linear_ticks(double low, double high, int count, TickRange range) {
  const double largest = std::max(std::abs(low), std::abs(high));
  // Labels have room for some seven digits: variation below that is drawn as what it is, none.
  const double least_width = largest > 0 ? 1e-5 * largest : 2.0;
  if (high - low < least_width) {
    const double middle = 0.5 * (low + high);
    low = middle - 0.5 * least_width;
    high = middle + 0.5 * least_width;
  }
  const double step = nice_step((high - low) / std::max(1, count));
  double first = range == TickRange::exact ? std::ceil(low / step - rounding) : std::floor(low / step + rounding);
  double last = range == TickRange::exact ? std::floor(high / step + rounding) : std::ceil(high / step - rounding);
  if (range == TickRange::to_ticks) {
    const double margin = edge * (last - first);
    if (low != 0 && low / step < first + margin) --first;
    if (high != 0 && high / step > last - margin) ++last;
  }
  const int decimals = std::max(0, -decade(step));
  Ticks axis{low, high, {}};
  for (double k = first; k <= last; ++k) {
    const double value = k == 0 ? 0.0 : k * step;  // no negative zero
    axis.ticks.push_back({value, with_minus_sign(fmt::format("{:.{}f}", value, decimals))});
  }
  if (range == TickRange::to_ticks) {
    axis.low = first * step;
    axis.high = last * step;
  }
  return axis;
}

Ticks log_ticks(double low, double high, int count, bool scientific) {
  if (high < 3 * low && !scientific) {  // so narrow that steps of equal size read better
    Ticks even = linear_ticks(low, high, count, TickRange::to_ticks);
    if (even.low > 0) return even;
  }
  struct Candidate {
    double value;
    int mantissa, exponent;
  };
  std::vector<Candidate> all;
  for (int exponent = decade(low) - 1; exponent <= decade(high) + 1; ++exponent)
    for (int mantissa = 1; mantissa <= 9; ++mantissa)
      all.push_back({mantissa * power_of_ten(exponent), mantissa, exponent});

  // From the last tick below the data to the first one above.
  const double margin = std::pow(high / low, edge);
  std::size_t first = 0;
  while (all[first + 1].value * margin <= low * (1 + rounding)) ++first;
  std::size_t last = first + 1;
  while (last + 1 < all.size() && all[last].value < high * margin * (1 - rounding)) ++last;

  // The fullest set of labels that there is room for.
  const auto is_of = [](const Candidate& c, int set) {
    return set == 0 || c.mantissa == 1 || (set == 1 && (c.mantissa == 2 || c.mantissa == 5));
  };
  const auto labels = [&](int set) {
    int n = 0;
    for (std::size_t i = first; i <= last; ++i) n += is_of(all[i], set) ? 1 : 0;
    return n;
  };
  int set = 0;
  while (set < 2 && labels(set) > count + 1) ++set;
  const int stride = std::max(1, (labels(set) + count) / (count + 1));  // of decades
  Ticks axis{all[first].value, all[last].value, {}};
  for (std::size_t i = first; i <= last; ++i) {
    const auto& [value, mantissa, exponent] = all[i];
    if (is_of(all[i], set) && (exponent - all[first].exponent) % stride == 0) {
      axis.ticks.push_back({value, scientific ? scientific_label(mantissa, exponent)
                                              : fmt::format("{:.{}f}", value, std::max(0, -exponent))});
    } else if (stride == 1 && labels(2) <= 6) {  // with more of them minor ticks would be a blur
      axis.ticks.push_back({value, ""});
    }
  }
  return axis;
}

}  // namespace tribo
