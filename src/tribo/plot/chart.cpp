#include "tribo/plot/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tribo/plot/thin.h"
#include "tribo/plot/ticks.h"

namespace tribo {
namespace {

constexpr double title_size = 20;
constexpr double label_size = 17;
constexpr double tick_size = 16;
constexpr double right_margin = 54;  // for half a tick label, or the notes of lanes
constexpr double lane_height = 15;
constexpr double lane_gap = 5;
constexpr double lane_top = 14;  // clear of the lowest tick label
constexpr const char* quiet = "#555555";
const Stroke grid_line{"#e2e2e2", 1, ""};
const Stroke zero_line{"#9a9a9a", 1, ""};
const Stroke frame_line{"#444444", 1.2, ""};

/// By Okabe and Ito, in an order in which neighbors differ in lightness as well.
constexpr std::array<const char*, 7> palette = {"#0072b2", "#e69f00", "#009e73", "#56b4e9",
                                                "#d55e00", "#f0e442", "#cc79a7"};

/// The same without those that are lost as a thin mark on white.
constexpr std::array<const char*, 7> dark_palette = {"#d55e00", "#0072b2", "#009e73", "#cc79a7",
                                                     "#e69f00", "#56b4e9", "#000000"};

std::string layer_fill(Svg& svg, const Layer& layer, std::size_t k) {
  if (!layer.color.empty()) return layer.color;
  return svg.hatched(palette[k % palette.size()], static_cast<int>(k % 3));
}

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  bool empty() const { return !(low <= high); }
  void include(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Data to pixels along one direction.
struct Mapping {
  double low = 0, high = 1;        ///< data
  double at_low = 0, at_high = 1;  ///< pixels
  bool logarithmic = false;

  double operator()(double value) const {
    const double t = logarithmic ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return at_low + t * (at_high - at_low);
  }
};

/// A chart on its way into the page: axes chosen, places known.
class Drawing {
 public:
  Drawing(Svg& svg, const Chart& chart, const Rect& place) : svg_(svg), chart_(chart), place_(place) {
    for (std::size_t k = 0; k < chart.layers.size(); ++k) fills_.push_back(layer_fill(svg, chart.layers[k], k));
  }

  void draw() {
    const double head = draw_title();
    const double legend = draw_legend(head);
    const double lanes = chart_.lanes.empty() ? 0
                                              : lane_top - lane_gap +
                                                    (lane_height + lane_gap) * static_cast<double>(chart_.lanes.size());
    const double foot = 2 * 8 + tick_size + label_size;  // ticks and the name of the axis
    plot_ = {place_.x + chart_left_margin, legend + 10, place_.width - chart_left_margin - right_margin, 0};
    plot_.height = place_.bottom() - foot - lanes - plot_.y;
    find_edges();
    draw_x_axis(plot_.bottom() + lanes);
    if (choose_y_axis()) {
      draw_y_axis();
      draw_layers();
      draw_band();
      for (const Curve& curve : chart_.curves) draw_curve(curve);
    } else {
      svg_.text({plot_.x + plot_.width / 2, plot_.y + plot_.height / 2}, "nothing to show",
                {label_size, quiet, TextStyle::Anchor::middle});
    }
    draw_lanes();
    svg_.frame(plot_, frame_line);
  }

 private:
  double draw_title() {
    const double y = place_.y + title_size;
    const double x = place_.x + chart_left_margin;
    const double room = place_.width - chart_left_margin;
    const std::string title = fit_text(chart_.title, title_size, room, true);
    svg_.text({x, y}, title, {title_size, "#000000", TextStyle::Anchor::start, true});
    const double after = text_width(title, title_size, true) + 12;
    if (!chart_.caption.empty() && after < room)
      svg_.text({x + after, y}, fit_text(chart_.caption, tick_size, room - after), {tick_size, quiet});
    return y + 6;
  }

  /// Rows of samples and names above the plot, where they cover nothing; gives where they end.
  double draw_legend(double top) {
    constexpr double sample = 38;
    constexpr double row = 24;
    const double left = place_.x + chart_left_margin;
    double x = left;
    double y = top + row / 2;
    const auto next = [&](const std::string& name) {
      const double width = sample + 8 + text_width(name, tick_size) + 14;
      if (x > left && x + width > place_.right()) {
        x = left;
        y += row;
      }
      svg_.text({x + sample + 8, y + 0.36 * tick_size}, name, {tick_size});
      const double at = x;
      x += width;
      return at;
    };
    const double room = place_.width - chart_left_margin - sample - 8;
    for (const Curve& curve : chart_.curves) {
      const double at = next(fit_text(curve.name, tick_size, room));
      svg_.line({at, y}, {at + sample, y}, curve.stroke);
    }
    for (std::size_t k = 0; k < chart_.layers.size(); ++k) {
      const double at = next(fit_text(chart_.layers[k].name, tick_size, room));
      const Rect box{at + sample - 22, y - 7.5, 22, 15};
      svg_.rect(box, fills_[k]);
      svg_.frame(box, {"#444444", 0.8, ""});
    }
    return y + row / 2;
  }

  void find_edges() {
    const std::vector<double>& x = chart_.x;
    double low = x.empty() ? 0 : x.front();
    double high = x.empty() ? 1 : x.back();
    if (!(high > low)) {  // a single value stands in the middle
      low -= 0.5;
      high += 0.5;
    }
    x_unit_ = unit_scale(std::max(std::abs(low), std::abs(high)), chart_.x_unit);
    x_ticks_ =
        linear_ticks(low / x_unit_.factor, high / x_unit_.factor, static_cast<int>(plot_.width / 110), TickRange::exact);
    x_map_ = {x_ticks_.low, x_ticks_.high, plot_.x, plot_.right(), false};
  }

  double x_px(std::size_t i) const { return x_map_(chart_.x[i] / x_unit_.factor); }

  /// What belongs to value i in steps begins halfway from the one before and ends halfway to the next.
  double step_begin(std::size_t i) const {
    if (chart_.x.size() == 1) return x_px(0) - 0.1 * plot_.width;
    return i == 0 ? x_px(0) : 0.5 * (x_px(i - 1) + x_px(i));
  }
  double step_end(std::size_t i) const {
    if (chart_.x.size() == 1) return x_px(0) + 0.1 * plot_.width;
    return i + 1 == chart_.x.size() ? x_px(i) : 0.5 * (x_px(i) + x_px(i + 1));
  }

  bool shown(double value) const { return std::isfinite(value) && (!chart_.logarithmic || value > 0); }

  static double layer_value(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

  double stacked(std::size_t layers, std::size_t i) const {
    double sum = 0;
    for (std::size_t k = 0; k < layers; ++k) sum += layer_value(chart_.layers[k].y[i]);
    return sum;
  }

  /// False when there is no value to show.
  bool choose_y_axis() {
    Extent extent;
    for (const Curve& curve : chart_.curves)
      for (const double value : curve.y)
        if (shown(value)) extent.include(value);
    if (!chart_.layers.empty())
      for (std::size_t i = 0; i < chart_.x.size(); ++i) extent.include(stacked(chart_.layers.size(), i));
    if (extent.empty()) return false;
    if (chart_.from_zero) extent.include(0);
    const int count = std::max(2, static_cast<int>(plot_.height / 42));
    const bool wide = chart_.logarithmic && extent.high > 2e3 * extent.low;
    y_unit_ = wide ? UnitScale{1, chart_.y_unit}
                   : unit_scale(std::max(std::abs(extent.low), std::abs(extent.high)), chart_.y_unit);
    const double low = extent.low / y_unit_.factor;
    const double high = extent.high / y_unit_.factor;
    y_ticks_ = chart_.logarithmic ? log_ticks(low, high, count, wide) : linear_ticks(low, high, count, TickRange::to_ticks);
    if (chart_.from_zero && extent.low == 0 && extent.high == 0) y_ticks_ = linear_ticks(0, 1, count, TickRange::to_ticks);
    y_map_ = {y_ticks_.low, y_ticks_.high, plot_.bottom(), plot_.y, chart_.logarithmic};
    return true;
  }

  double y_px(double value) const { return y_map_(value / y_unit_.factor); }

  void draw_x_axis(double bottom) {
    for (const Tick& tick : x_ticks_.ticks) {
      const double x = x_map_(tick.value);
      svg_.line({x, plot_.y}, {x, bottom}, grid_line);
      svg_.line({x, bottom}, {x, bottom + 5}, frame_line);
      svg_.text({x, bottom + 8 + tick_size}, tick.label, {tick_size, "#222222", TextStyle::Anchor::middle});
    }
    svg_.text({plot_.x + plot_.width / 2, bottom + 13 + tick_size + label_size}, with_unit(chart_.x_name, x_unit_.unit),
              {label_size, "#222222", TextStyle::Anchor::middle});
  }

  void draw_y_axis() {
    double labels = 0;  // width of the widest
    for (const Tick& tick : y_ticks_.ticks) {
      const double y = y_map_(tick.value);
      const bool zero = !chart_.logarithmic && tick.value == 0;
      svg_.line({plot_.x, y}, {plot_.right(), y}, zero ? zero_line : grid_line);
      svg_.line({plot_.x - (tick.label.empty() ? 3 : 5), y}, {plot_.x, y}, frame_line);
      labels = std::max(labels, text_width(tick.label, tick_size));
      svg_.text({plot_.x - 9, y + 0.36 * tick_size}, tick.label, {tick_size, "#222222", TextStyle::Anchor::end});
    }
    svg_.text({std::max(place_.x + label_size, plot_.x - 9 - labels - 16), plot_.y + plot_.height / 2},
              with_unit(chart_.y_name, y_unit_.unit), {label_size, "#222222", TextStyle::Anchor::middle, false, true});
  }

  static std::string with_unit(const std::string& name, const std::string& unit) {
    return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
  }

  std::size_t most_points() const { return std::max<std::size_t>(100, static_cast<std::size_t>(1.4 * plot_.width)); }

  void draw_layers() {
    const std::size_t count = chart_.layers.size();
    if (count == 0) return;
    std::vector<double> total(chart_.x.size());
    for (std::size_t i = 0; i < total.size(); ++i) total[i] = stacked(count, i);
    const std::vector<std::size_t> kept = thin(total, most_points() / 2);
    std::vector<Point> below = steps(kept, 0);
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<Point> above = steps(kept, k + 1);
      std::vector<Point> outline = above;
      outline.insert(outline.end(), below.rbegin(), below.rend());
      svg_.polygon(outline, fills_[k]);
      below = std::move(above);
    }
  }

  /// The upper edge of the lowest `layers` layers, as steps.
  std::vector<Point> steps(const std::vector<std::size_t>& kept, std::size_t layers) const {
    std::vector<Point> edge;
    for (std::size_t j = 0; j < kept.size(); ++j) {
      const double y = y_px(stacked(layers, kept[j]));
      // Where frames between were thinned out, their neighbors share the room.
      const double begin = j == 0 ? step_begin(kept[j]) : 0.5 * (x_px(kept[j - 1]) + x_px(kept[j]));
      const double end = j + 1 == kept.size() ? step_end(kept[j]) : 0.5 * (x_px(kept[j]) + x_px(kept[j + 1]));
      edge.emplace_back(begin, y);
      edge.emplace_back(end, y);
    }
    return edge;
  }

  /// Stretches of a curve without gaps, thinned.
  std::vector<std::vector<Point>> stretches(const Curve& curve) const {
    std::vector<double> values = curve.y;
    for (double& value : values)
      if (!shown(value)) value = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::vector<Point>> all(1);
    for (const std::size_t i : thin(values, most_points())) {
      if (std::isnan(values[i])) {
        if (!all.back().empty()) all.emplace_back();
      } else {
        all.back().emplace_back(x_px(i), y_px(values[i]));
      }
    }
    if (all.back().empty()) all.pop_back();
    return all;
  }

  void draw_curve(const Curve& curve) {
    for (const std::vector<Point>& points : stretches(curve)) {
      if (points.size() == 1) {
        svg_.dot(points[0], 1.5 + curve.stroke.width, curve.stroke.color);
      } else {
        svg_.polyline(points, curve.stroke);
      }
    }
  }

  void draw_band() {
    if (!chart_.band || chart_.curves.size() < 2) return;
    const auto first = stretches(chart_.curves[0]);
    const auto second = stretches(chart_.curves[1]);
    if (first.size() != second.size()) return;  // different gaps: no band is better than a wrong one
    for (std::size_t s = 0; s < first.size(); ++s) {
      std::vector<Point> outline = first[s];
      outline.insert(outline.end(), second[s].rbegin(), second[s].rend());
      if (outline.size() > 2) svg_.polygon(outline, chart_.curves[0].stroke.color, 0.12);
    }
  }

  void draw_lanes() {
    double y = plot_.bottom() + lane_top;
    for (std::size_t k = 0; k < chart_.lanes.size(); ++k) {
      const Lane& lane = chart_.lanes[k];
      const double base = y + 0.5 * lane_height + 0.34 * tick_size;
      svg_.text({plot_.x - 9, base}, fit_text(lane.name, tick_size, chart_left_margin - 9),
                {tick_size, "#222222", TextStyle::Anchor::end});
      svg_.text({plot_.right() + 6, base}, fit_text(lane.note, tick_size, right_margin - 6), {tick_size, quiet});
      svg_.line({plot_.x, y + lane_height}, {plot_.right(), y + lane_height}, grid_line);
      draw_lane(lane, y, dark_palette[k % dark_palette.size()]);
      y += lane_height + lane_gap;
    }
  }

  void draw_lane(const Lane& lane, double y, const char* color) {
    constexpr double least_width = 2;  // a single frame among very many is still to be seen
    Rect bar{0, y, 0, lane_height};
    for (std::size_t i = 0; i < lane.held.size(); ++i) {
      if (!lane.held[i]) continue;
      const double begin = step_begin(i);
      const double end = std::max(step_end(i), begin + least_width);
      if (bar.width > 0 && begin <= bar.right() + 0.5) {
        bar.width = std::max(bar.right(), end) - bar.x;
        continue;
      }
      if (bar.width > 0) svg_.rect(bar, color);
      bar.x = begin;
      bar.width = end - begin;
    }
    bar.width = std::min(bar.right(), plot_.right()) - bar.x;
    if (bar.width > 0) svg_.rect(bar, color);
  }

  Svg& svg_;
  const Chart& chart_;
  Rect place_;
  Rect plot_;  ///< within the axes
  std::vector<std::string> fills_;
  UnitScale x_unit_, y_unit_;
  Ticks x_ticks_, y_ticks_;  ///< in these units
  Mapping x_map_, y_map_;
};

}  // namespace

Stroke curve_stroke(std::size_t k) {
  struct Pen {
    const char* color;
    const char* dash;
  };
  constexpr std::array<Pen, 6> looks = {{{"#0072b2", ""},
                                          {"#d55e00", "10 5"},
                                          {"#009e73", "12 4 3 4"},
                                          {"#cc79a7", "3 4"},
                                          {"#e69f00", "16 5 3 5 3 5"},
                                          {"#56b4e9", "6 3"}}};
  // Past the last, colors come again with other dashes.
  return {looks[k % looks.size()].color, 2.4, looks[(k + k / looks.size()) % looks.size()].dash};
}

void draw_chart(Svg& svg, const Chart& chart, const Rect& place) { Drawing(svg, chart, place).draw(); }

}  // namespace tribo
