#include "tribo/plot/statistics_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "tribo/core/errors.h"
#include "tribo/plot/chart.h"

namespace tribo {
namespace {

using Json = nlohmann::ordered_json;
constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// A number as it can be drawn: sums and squares of what is beyond 1e150 would leave the finite.
double number(const Json& value) {
  if (!value.is_number()) return missing;
  const double x = value.get<double>();
  if (!(std::abs(x) < 1e150)) return missing;
  return std::abs(x) < 1e-150 ? 0 : x;
}

double number_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? missing : number(*it);
}

/// Values over the frames, by name in order of first appearance.
class NamedColumns {
 public:
  /// Takes the numbers of an object for frame `frame`; names that come or go leave `absent` where they are not.
  void add(const Json& object, std::size_t frame, double absent) {
    if (object.is_object()) {
      for (const auto& [name, value] : object.items()) column(name, frame, absent).push_back(number(value));
    }
    for (auto& [name, values] : columns_)
      if (values.size() == frame) values.push_back(absent);
  }
  std::vector<std::pair<std::string, std::vector<double>>>& columns() { return columns_; }

 private:
  std::vector<double>& column(const std::string& name, std::size_t frame, double absent) {
    for (auto& [known, values] : columns_)
      if (known == name) return values;
    return columns_.emplace_back(name, std::vector<double>(frame, absent)).second;
  }
  std::vector<std::pair<std::string, std::vector<double>>> columns_;
};

/// How large the vectors are that contact gives to each object and collider.
Json sizes_of_contact(const Json& line, const char* key) {
  Json sizes = Json::object();
  const auto add = [&](const std::string& name, const Json& contact) {
    const Json list = contact.is_object() ? contact.value(key, Json::array()) : Json::array();
    if (!list.is_array() || list.empty()) return;
    double squares = 0;
    for (const Json& component : list) squares += number(component) * number(component);
    sizes[name] = std::sqrt(squares);
  };
  const auto each = [&](const char* kind, const auto& visit) {
    const auto found = line.find(kind);
    if (found != line.end() && found->is_object())
      for (const auto& [name, value] : found->items()) visit(name, value);
  };
  each("colliders", [&](const std::string& name, const Json& value) { add(name + " (collider)", value); });
  each("objects", [&](const std::string& name, const Json& value) {
    if (value.is_object()) add(name, value.value("contact", Json::object()));
  });
  return sizes;
}

/// The statistics as columns.
struct Table {
  std::vector<double> time;
  NamedColumns energy, stages, force, torque;
  std::array<std::vector<double>, 3> momentum, angular_momentum;
  std::vector<double> dt_min, dt_max;
  std::vector<std::string> dt_limit;
  std::vector<double> wall;
  double particles = 0;
  double first_frame = 0, last_frame = 0;
  std::size_t frames_not_finite = 0;

  std::string frame_numbers() const {
    return time.size() == 1 ? fmt::format("frame {:.0f}", last_frame)
                            : fmt::format("frames {:.0f} to {:.0f}", first_frame, last_frame);
  }

  void add(const Json& line) {
    const double t = number_at(line, "time");
    if (std::isnan(t)) return;
    const std::size_t frame = time.size();
    time.push_back(t);
    last_frame = number_at(line, "frame");
    if (frame == 0) first_frame = last_frame;
    const auto part = [&](const char* key) { return line.value(key, Json::object()); };
    energy.add(part("energy"), frame, missing);
    stages.add(part("stages"), frame, 0);
    force.add(sizes_of_contact(line, "force"), frame, missing);
    torque.add(sizes_of_contact(line, "torque"), frame, missing);
    bool finite = true;
    for (const auto& [name, values] : energy.columns()) finite = finite && !std::isnan(values.back());
    const auto add_vector = [&](const char* key, std::array<std::vector<double>, 3>& columns) {
      const Json list = line.value(key, Json::array());
      for (std::size_t c = 0; c < 3; ++c) {
        columns[c].push_back(list.is_array() && c < list.size() ? number(list[c]) : missing);
        finite = finite && !std::isnan(columns[c].back());
      }
    };
    add_vector("momentum", momentum);
    add_vector("angular_momentum", angular_momentum);
    frames_not_finite += finite ? 0 : 1;
    dt_min.push_back(number_at(line, "dt_min"));
    dt_max.push_back(number_at(line, "dt_max"));
    const auto limit = line.find("dt_limit");
    dt_limit.push_back(limit != line.end() && limit->is_string() ? limit->get<std::string>() : "");
    wall.push_back(number_at(line, "wall_s"));
    if (const double count = number_at(part("counts"), "particles"); !std::isnan(count)) particles = count;
  }
};

Table read_table(const std::vector<std::string>& lines) {
  Table table;
  std::size_t line_number = 0;
  for (const std::string& text : lines) {
    ++line_number;
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) throw IoError(fmt::format("line {} of the statistics is not a JSON object", line_number));
    table.add(line);
  }
  if (table.time.empty()) throw IoError("the statistics hold no frame to plot");
  return table;
}

/// A share in words; never 0% or 100% when it is only nearly so.
std::string percent(double part, double whole) {
  const double share = 100 * part / whole;
  if (share < 1) return "<1%";
  return fmt::format("{:.0f}%", share > 99 && part < whole ? 99.0 : share);
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += std::isnan(value) ? 0 : value;
  return total;
}

/// A count with its digits in groups of three.
std::string grouped(double count) {
  std::string text = fmt::format("{:.0f}", count);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

Chart over_time(const Table& table, const std::string& title) {
  Chart chart;
  chart.title = title;
  chart.x_name = "time";
  chart.x_unit = "s";
  chart.x = table.time;
  return chart;
}

/// Gravity is counted from its least value of the run: its zero is the scene's origin, which means nothing, and far
/// from it the other energies would be lost against it.
Chart energy_chart(Table& table) {
  Chart chart = over_time(table, "Energy");
  chart.y_name = "energy";
  chart.y_unit = "J";
  chart.from_zero = true;
  Curve total{"total", std::vector<double>(table.time.size(), 0.0), {"#000000", 4.2, ""}};
  for (auto& [name, values] : table.energy.columns()) {
    Curve curve{name, std::move(values), curve_stroke(chart.curves.size())};
    if (name == "gravity") {
      double least = std::numeric_limits<double>::infinity();
      for (const double value : curve.y) least = std::min(least, std::isnan(value) ? least : value);
      for (double& value : curve.y) value -= least;
      if (std::isfinite(least) && least != 0) {
        curve.name = "gravity, above its least";
        chart.caption = fmt::format("gravity is counted from its least value in the run, {:.4g} J", least);
      }
    }
    for (std::size_t i = 0; i < total.y.size(); ++i) total.y[i] += curve.y[i];
    chart.curves.push_back(std::move(curve));
  }
  // The total lies under the others, wider than they are, so that it shows where they coincide.
  if (chart.curves.size() > 1) chart.curves.insert(chart.curves.begin(), std::move(total));
  return chart;
}

Chart momentum_chart(const Table& table, const std::array<std::vector<double>, 3>& columns, const char* title,
                     const char* name, const char* unit) {
  Chart chart = over_time(table, title);
  chart.y_name = name;
  chart.y_unit = unit;
  constexpr std::array<const char*, 3> axes = {"x", "y", "z"};
  for (std::size_t c = 0; c < 3; ++c) chart.curves.push_back({axes[c], columns[c], curve_stroke(c)});
  return chart;
}

/// The largest, where there are many.
Chart contact_chart(const Table& table, NamedColumns& sizes, const char* title, const char* name, const char* unit) {
  constexpr std::size_t most = 8;
  Chart chart = over_time(table, title);
  chart.y_name = name;
  chart.y_unit = unit;
  chart.from_zero = true;
  auto& columns = sizes.columns();
  const auto largest = [](const std::vector<double>& values) {
    double r = 0;
    for (const double value : values) r = value > r ? value : r;
    return r;
  };
  std::stable_sort(columns.begin(), columns.end(),
                   [&](const auto& a, const auto& b) { return largest(a.second) > largest(b.second); });
  for (auto& [who, values] : columns) {
    if (chart.curves.size() == most) {
      chart.caption = fmt::format("the {} largest of {}", most, columns.size());
      break;
    }
    chart.curves.push_back({who, std::move(values), curve_stroke(chart.curves.size())});
  }
  return chart;
}

Chart dt_chart(const Table& table) {
  Chart chart = over_time(table, "Time step");
  chart.y_name = "dt";
  chart.y_unit = "s";
  chart.logarithmic = true;
  chart.band = true;
  chart.curves = {{"longest of the frame", table.dt_max, curve_stroke(0)},
                  {"shortest of the frame", table.dt_min, curve_stroke(1)}};
  std::vector<std::pair<std::string, std::size_t>> reasons;  // and the frames they limited
  std::size_t limited = 0;
  for (const std::string& reason : table.dt_limit) {
    if (reason.empty()) continue;  // frame 0 takes no step
    ++limited;
    auto it = std::find_if(reasons.begin(), reasons.end(), [&](const auto& known) { return known.first == reason; });
    if (it == reasons.end()) it = reasons.emplace(it, reason, 0);
    ++it->second;
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const auto& [reason, count] : reasons) {
    Lane lane{reason, percent(static_cast<double>(count), static_cast<double>(limited)), {}};
    for (const std::string& of_frame : table.dt_limit) lane.held.push_back(of_frame == reason);
    chart.lanes.push_back(std::move(lane));
  }
  if (!reasons.empty()) chart.caption = "bars: what limited most steps of a frame";
  return chart;
}

/// Stages from the most expensive up; what no stage accounts for is on top.
Chart wall_chart(Table& table) {
  Chart chart = over_time(table, "Wall time of a frame");
  chart.y_name = "wall time";
  chart.y_unit = "s";
  chart.from_zero = true;
  Layer other{"other", table.wall, "#bbbbbb"};
  for (auto& [name, values] : table.stages.columns()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      other.y[i] = std::isnan(values[i]) ? other.y[i] : other.y[i] - values[i];
    }
    chart.layers.push_back({name, std::move(values), ""});
  }
  for (double& seconds : other.y) seconds = std::max(seconds, 0.0);  // not a number becomes zero as well
  std::stable_sort(chart.layers.begin(), chart.layers.end(),
                   [](const Layer& a, const Layer& b) { return sum(a.y) > sum(b.y); });
  chart.layers.push_back(std::move(other));
  std::erase_if(chart.layers, [](const Layer& layer) { return !(sum(layer.y) > 0); });
  double total = 0;
  for (const Layer& layer : chart.layers) total += sum(layer.y);
  for (Layer& layer : chart.layers) layer.name += " " + percent(sum(layer.y), total);
  if (total > 0) chart.caption = (total < 1000 ? fmt::format("{:.3g}", total) : grouped(total)) + " s in all";
  return chart;
}

}  // namespace

std::string plot_statistics(const std::vector<std::string>& lines, const std::string& scene_name) {
  Table table = read_table(lines);
  constexpr double width = 1600;
  constexpr double margin = 24;
  constexpr double gap = 26;
  constexpr double half = (width - 2 * margin - gap) / 2;
  constexpr double head = 104;
  constexpr std::array<double, 3> rows = {430, 400, 460};
  const bool touches = !table.force.columns().empty();
  const double height = head + rows[0] + rows[1] * (touches ? 2 : 1) + rows[2] + (touches ? 3 : 2) * gap + margin;

  Svg svg(width, height, scene_name);
  svg.text({margin + chart_left_margin, 46}, fit_text(scene_name, 32, width - 2 * margin - chart_left_margin, true),
           {32, "#000000", TextStyle::Anchor::start, true});
  std::string line =
      fmt::format("{}, {:.6g} s, {} particles", table.frame_numbers(), table.time.back(), grouped(table.particles));
  if (table.frames_not_finite > 0)
    line += fmt::format("; gaps where numbers are not finite (in {} of the frames)",
                        grouped(static_cast<double>(table.frames_not_finite)));
  svg.text({margin + chart_left_margin, 78}, line, {19, "#555555"});

  double y = head;
  draw_chart(svg, energy_chart(table), {margin, y, width - 2 * margin, rows[0]});
  y += rows[0] + gap;
  draw_chart(svg, momentum_chart(table, table.momentum, "Linear momentum", "momentum", "kg m/s"),
             {margin, y, half, rows[1]});
  draw_chart(
      svg,
      momentum_chart(table, table.angular_momentum, "Angular momentum about the origin", "angular momentum", "kg m²/s"),
      {margin + half + gap, y, half, rows[1]});
  y += rows[1] + gap;
  if (touches) {
    draw_chart(svg, contact_chart(table, table.force, "Contact force, mean of a frame", "force", "N"),
               {margin, y, half, rows[1]});
    draw_chart(svg, contact_chart(table, table.torque, "Contact torque, mean of a frame", "torque", "N m"),
               {margin + half + gap, y, half, rows[1]});
    y += rows[1] + gap;
  }
  draw_chart(svg, dt_chart(table), {margin, y, half, rows[2]});
  draw_chart(svg, wall_chart(table), {margin + half + gap, y, half, rows[2]});
  return std::move(svg).finish();
}

}  // namespace tribo
