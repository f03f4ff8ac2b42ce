#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tribo {

/// Text as it may stand in XML, in attributes as well. Characters that XML forbids become U+FFFD.
std::string xml_escape(std::string_view text);

/// Upper estimate of the width of `text` in pixels: for DejaVu Sans, wider than the fonts that come before it.
double text_width(std::string_view text, double size, bool bold = false);

/// `text`, its end replaced by an ellipsis where it is wider than `width`.
std::string fit_text(const std::string& text, double size, double width, bool bold = false);

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// How a line looks.
struct Stroke {
  std::string color = "#000000";
  double width = 1;
  std::string dash;  ///< lengths of dashes and gaps, "8 4"; empty for a solid line
};

struct TextStyle {
  double size = 16;
  std::string color = "#222222";
  enum class Anchor { start, middle, end } anchor = Anchor::start;
  bool bold = false;
  bool upward = false;  ///< turned by a quarter, read from below
};

using Point = std::pair<double, double>;

/// Writes one SVG page, in pixels, y downward.
class Svg {
 public:
  Svg(double width, double height, const std::string& title);

  void rect(const Rect& r, const std::string& fill);
  void frame(const Rect& r, const Stroke& stroke);
  void line(Point from, Point to, const Stroke& stroke);
  void polyline(std::span<const Point> points, const Stroke& stroke);
  void polygon(std::span<const Point> points, const std::string& fill, double opacity = 1);
  void dot(Point center, double radius, const std::string& fill);
  /// Superscript characters are drawn as raised small ones, which every font has.
  void text(Point at, const std::string& text, const TextStyle& style);

  /// A fill of slanted white lines on `color`; kind 0 is the plain color, 1 and 2 slant either way.
  std::string hatched(const std::string& color, int kind);

  std::string finish() &&;  ///< the whole document

 private:
  std::string out_;
  int next_id_ = 0;
};

}  // namespace tribo
