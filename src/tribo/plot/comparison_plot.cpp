#include "tribo/plot/comparison_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tribo/plot/chart.h"

namespace tribo {
namespace {

using Vector = std::array<double, 3>;
using Series = std::vector<double>;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

double norm(const Vector& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/// Shares that are nearly 1 keep the digits that tell them apart.
std::string energy_text(double energy, double start) {
  if (!std::isfinite(energy)) return "-";
  return start > 0 ? fmt::format("{:.4f}", energy / start) : fmt::format("{:.4g} J", energy);
}

using Vectors = std::vector<Vector> RunHistory::*;

double change(const std::vector<Vector>& values) {
  const Vector &first = values.front(), &last = values.back();
  return norm({last[0] - first[0], last[1] - first[1], last[2] - first[2]});
}

/// How far a quantity has moved in each of the runs. What was next to nothing at the start, in any of them, has no
/// meaningful share.
std::vector<std::string> change_texts(const std::vector<RunHistory>& runs, Vectors quantity, const char* unit) {
  const bool as_share = std::all_of(runs.begin(), runs.end(), [&](const RunHistory& run) {
    const std::vector<Vector>& values = run.*quantity;
    return norm(values.front()) > 0 && !(change(values) >= 10 * norm(values.front()));
  });
  std::vector<std::string> texts;
  for (const RunHistory& run : runs) {
    const double moved = change(run.*quantity);
    if (!std::isfinite(moved)) {
      texts.emplace_back("-");
    } else if (as_share) {
      texts.push_back(fmt::format("{:.3g} %", 100 * moved / norm((run.*quantity).front())));
    } else {
      texts.push_back(fmt::format("{:.3g} {}", moved, unit));
    }
  }
  return texts;
}

/// All times at which any of the runs has a frame.
Series union_of_times(const std::vector<RunHistory>& runs) {
  Series times;
  for (const RunHistory& run : runs) times.insert(times.end(), run.time.begin(), run.time.end());
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

/// Values at `times`, linear between those of the run, none beyond its ends.
Series at_times(const Series& times, const RunHistory& run, const Series& values) {
  Series result;
  std::size_t next = 0;  // the first of the run's frames that is not before the time
  for (const double t : times) {
    while (next < run.time.size() && run.time[next] < t) ++next;
    if (next == run.time.size() || (next == 0 && run.time[0] > t)) {
      result.push_back(missing);
    } else if (run.time[next] == t) {
      result.push_back(values[next]);
    } else {
      const double share = (t - run.time[next - 1]) / (run.time[next] - run.time[next - 1]);
      result.push_back(values[next - 1] + share * (values[next] - values[next - 1]));
    }
  }
  return result;
}

Chart chart_of(const std::vector<RunHistory>& runs, const std::string& title, const std::string& y_name,
               const std::string& unit, const std::function<Series(const RunHistory&)>& values) {
  Chart chart;
  chart.title = title;
  chart.x_name = "time";
  chart.x_unit = "s";
  chart.y_name = y_name;
  chart.y_unit = unit;
  chart.from_zero = true;
  chart.x = union_of_times(runs);
  for (const RunHistory& run : runs)
    chart.curves.push_back({run.name, at_times(chart.x, run, values(run)), curve_stroke(chart.curves.size())});
  return chart;
}

/// In the plane the z component with its sign, else the length.
Chart angular_momentum_chart(const std::vector<RunHistory>& runs) {
  bool plane = true;
  for (const RunHistory& run : runs)
    for (const Vector& L : run.angular_momentum) plane = plane && L[0] == 0 && L[1] == 0;
  const auto values = [plane](const RunHistory& run) {
    Series series;
    for (const Vector& L : run.angular_momentum) series.push_back(plane ? L[2] : norm(L));
    return series;
  };
  return chart_of(runs, plane ? "Angular momentum about the origin" : "Length of the angular momentum about the origin",
                  "angular momentum", "kg m²/s", values);
}

constexpr double row_height = 30;

/// Rows of text below each other, with a sample of the curve before each name.
void draw_table(Svg& svg, const ComparisonTable& table, const Rect& place) {
  constexpr double size = 17;
  constexpr double sample = 46;
  std::vector<double> widths;
  double sum = 0;
  for (std::size_t c = 0; c < table.header.size(); ++c) {
    double width = text_width(table.header[c], size, true);
    for (const auto& row : table.rows) width = std::max(width, text_width(row[c], size));
    if (c == 0) width = std::min(width, place.width / 3);
    widths.push_back(width);
    sum += width;
  }
  const double gap = std::clamp(
      (place.width - sample - sum) / static_cast<double>(std::max<std::size_t>(widths.size() - 1, 1)), 8.0, 60.0);
  const auto draw_row = [&](const std::vector<std::string>& row, double y, bool bold) {
    double x = place.x + sample;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const TextStyle::Anchor anchor = c == 0 ? TextStyle::Anchor::start : TextStyle::Anchor::end;
      svg.text({c == 0 ? x : x + widths[c], y}, c == 0 ? fit_text(row[c], size, widths[c], bold) : row[c],
               {size, "#222222", anchor, bold});
      x += widths[c] + gap;
    }
  };
  double y = place.y + row_height;
  draw_row(table.header, y, true);
  svg.line({place.x, y + 9}, {place.right(), y + 9}, {"#9a9a9a", 1, ""});
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    y += row_height;
    svg.line({place.x, y - 0.36 * size}, {place.x + sample - 10, y - 0.36 * size}, curve_stroke(r));
    draw_row(table.rows[r], y, false);
  }
}

}  // namespace

ComparisonTable compare_runs(const std::vector<RunHistory>& runs) {
  ComparisonTable table;
  table.header = {"variant", "steps", "wall s", "kinetic", "elastic", "total", "momentum", "angular momentum"};
  const std::vector<std::string> momentum = change_texts(runs, &RunHistory::momentum, "kg m/s");
  const std::vector<std::string> spin = change_texts(runs, &RunHistory::angular_momentum, "kg m²/s");
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const RunHistory& run = runs[k];
    const double start = run.total.front();
    table.rows.push_back({run.name, fmt::format("{}", run.steps), fmt::format("{:.3g}", run.wall),
                          energy_text(run.kinetic.back(), start), energy_text(run.elastic.back(), start),
                          energy_text(run.total.back(), start), momentum[k], spin[k]});
  }
  return table;
}

std::string plot_comparison(const std::vector<RunHistory>& runs, const std::string& title, const std::string& caption) {
  constexpr double width = 1600;
  constexpr double margin = 24;
  constexpr double gap = 26;
  constexpr double half = (width - 2 * margin - gap) / 2;
  constexpr double head = 104;
  constexpr double wide = 470;
  constexpr double low = 430;
  constexpr double left = margin + chart_left_margin;
  const ComparisonTable table = compare_runs(runs);
  const double table_height = row_height * (2.6 + static_cast<double>(runs.size()));

  Svg svg(width, head + wide + low + table_height + 3 * gap, title);
  svg.text({left, 46}, fit_text(title, 32, width - margin - left, true),
           {32, "#000000", TextStyle::Anchor::start, true});
  svg.text({left, 78}, fit_text(caption, 19, width - margin - left), {19, "#555555"});
  double y = head;
  draw_chart(svg, chart_of(runs, "Total energy", "energy", "J", [](const RunHistory& run) { return run.total; }),
             {margin, y, width - 2 * margin, wide});
  y += wide + gap;
  draw_chart(svg, chart_of(runs, "Kinetic energy", "energy", "J", [](const RunHistory& run) { return run.kinetic; }),
             {margin, y, half, low});
  draw_chart(svg, angular_momentum_chart(runs), {margin + half + gap, y, half, low});
  y += low + gap;
  draw_table(svg, table, {left, y, width - margin - left, table_height});
  svg.text({left, y + table_height},
           "energies at the end as shares of all energy at the start; momenta: distance from their value at the start",
           {16, "#555555"});
  return std::move(svg).finish();
}

}  // namespace tribo
