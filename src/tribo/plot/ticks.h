#pragma once

#include <string>
#include <vector>

namespace tribo {

/// What an axis shows: values are divided by `factor`, and `unit` says so ("mJ", "10⁻⁶ kg m/s").
struct UnitScale {
  double factor = 1;
  std::string unit;
};

/// The scale at which a number of magnitude `largest` has one to four digits before its point. Units of one word take
/// SI prefixes, others a power of ten; seconds are never counted in thousands.
UnitScale unit_scale(double largest, const std::string& unit);

struct Tick {
  double value = 0;
  std::string label;  ///< empty for a minor tick
};

/// An axis: its range and its ticks, ascending.
struct Ticks {
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;
};

/// Whether an axis ends at the data or at the ticks around it (one further where the data would lie on its end, unless
/// that is zero).
enum class TickRange { exact, to_ticks };

/// The least of 1, 2, 5 times a power of ten that is at least `width` > 0.
double nice_step(double width);

/// About `count` ticks in steps of 1, 2 or 5 times a power of ten. A range of (nearly) no width is widened.
Ticks linear_ticks(double low, double high, int count, TickRange range);

/// Ticks for a logarithmic axis, 0 < low <= high: as many of each decade as there is room to label up to `count`, at
/// 1 to 9, at 1, 2 and 5, or at 1 of every so many decades; in even steps where all is within a factor of three. The
/// range goes to the ticks around.
/// With `scientific`, labels are powers of ten ("2×10⁻⁵"), otherwise plain numbers.
Ticks log_ticks(double low, double high, int count, bool scientific);

/// Digits as superscripts: "⁻¹²".
std::string superscript(int number);

}  // namespace tribo
