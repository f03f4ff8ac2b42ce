#include "tribo/plot/svg.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace tribo {
namespace {

constexpr const char* font = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";

/// A coordinate to a tenth of a pixel, without needless digits.
std::string px(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

/// The character of UTF-8 that begins at `i`; `i` moves past it. A stray byte counts as one character.
std::string_view next_character(std::string_view text, std::size_t& i) {
  const std::size_t begin = i++;
  while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) ++i;
  return text.substr(begin, i - begin);
}

std::optional<std::string_view> lowered_superscript(std::string_view character) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> table = {{{"⁰", "0"},
                                                                                    {"¹", "1"},
                                                                                    {"²", "2"},
                                                                                    {"³", "3"},
                                                                                    {"⁴", "4"},
                                                                                    {"⁵", "5"},
                                                                                    {"⁶", "6"},
                                                                                    {"⁷", "7"},
                                                                                    {"⁸", "8"},
                                                                                    {"⁹", "9"},
                                                                                    {"⁻", "\u2212"}}};
  for (const auto& [raised, plain] : table)
    if (character == raised) return plain;
  return {};
}

/// In units of the font's size.
double character_width(std::string_view character) {
  if (character.size() > 2) return static_cast<unsigned char>(character[0]) >= 0xe3 ? 1.0 : 0.84;  // CJK and beyond
  if (character.size() == 2) return 0.7;
  const char c = character[0];
  if (std::strchr("iljI|.,:;'! ", c) != nullptr) return 0.34;
  if (std::strchr("ftr()[]/-", c) != nullptr) return 0.42;
  if (std::strchr("mwMW%@", c) != nullptr) return 0.98;
  return c >= 'A' && c <= 'Z' ? 0.74 : 0.64;
}

std::string stroke_attributes(const Stroke& stroke) {
  std::string text = fmt::format(R"( stroke="{}" stroke-width="{}")", xml_escape(stroke.color), px(stroke.width));
  if (!stroke.dash.empty()) text += fmt::format(R"( stroke-dasharray="{}")", xml_escape(stroke.dash));
  return text;
}

void append_points(std::string& out, std::span<const Point> points) {
  for (const Point& p : points) {
    if (&p != points.data()) out += ' ';
    out += px(p.first);
    out += ',';
    out += px(p.second);
  }
}

/// Runs of superscripts become raised spans. A blank that begins a run would be trimmed, so it becomes a shift.
std::string with_superscripts(const std::string& text, double size) {
  struct Run {
    bool raised;
    std::string text;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view character = next_character(text, i);
    const std::optional<std::string_view> lowered = lowered_superscript(character);
    if (runs.empty() || runs.back().raised != lowered.has_value()) runs.push_back({lowered.has_value(), ""});
    runs.back().text += lowered ? *lowered : character;
  }
  if (runs.size() < 2 && !(runs.size() == 1 && runs[0].raised)) return xml_escape(text);
  const double lift = 0.38 * size;
  std::string out;
  bool raised = false;
  for (const Run& run : runs) {
    const double shift = run.raised == raised ? 0 : run.raised ? -lift : lift;
    const bool blank = run.text.starts_with(' ');
    out += fmt::format(R"(<tspan dx="{}" dy="{}" font-size="{}">{}</tspan>)", px(blank ? 0.3 * size : 0), px(shift),
                       px(run.raised ? 0.72 * size : size), xml_escape(run.text.substr(blank ? 1 : 0)));
    raised = run.raised;
  }
  return out;
}

}  // namespace

std::string xml_escape(std::string_view text) {
  constexpr const char* replacement = "\uFFFD";
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view character = next_character(text, i);
    const auto c = static_cast<unsigned char>(character[0]);
    if (character == "&") {
      out += "&amp;";
    } else if (character == "<") {
      out += "&lt;";
    } else if (character == ">") {
      out += "&gt;";
    } else if (character == "\"") {
      out += "&quot;";
    } else if (c < 0x20 || character == "\uFFFE" || character == "\uFFFF") {
      out += c == '\t' || c == '\n' || c == '\r' ? " " : replacement;
    } else {
      out += character;
    }
  }
  return out;
}

double text_width(std::string_view text, double size, bool bold) {
  double width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view character = next_character(text, i);
    width += lowered_superscript(character) ? 0.72 * 0.7 : character_width(character);
  }
  return width * size * (bold ? 1.1 : 1.0);
}

std::string fit_text(const std::string& text, double size, double width, bool bold) {
  if (text_width(text, size, bold) <= width) return text;
  constexpr const char* ellipsis = "…";
  std::string fitted;
  for (std::size_t i = 0; i < text.size();) {
    const std::string longer = fitted + std::string(next_character(text, i));
    if (text_width(longer + ellipsis, size, bold) > width) break;
    fitted = longer;
  }
  return fitted + ellipsis;
}

Svg::Svg(double width, double height, const std::string& title) {
  out_ = fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="{2}">
<title>{3}</title>
)",
                     px(width), px(height), font, xml_escape(title));
  rect({0, 0, width, height}, "#ffffff");
}

void Svg::rect(const Rect& r, const std::string& fill) {
  out_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="{}"/>)", px(r.x), px(r.y), px(r.width),
                      px(r.height), xml_escape(fill)) +
          "\n";
}

void Svg::frame(const Rect& r, const Stroke& stroke) {
  out_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none"{}/>)", px(r.x), px(r.y), px(r.width),
                      px(r.height), stroke_attributes(stroke)) +
          "\n";
}

void Svg::line(Point from, Point to, const Stroke& stroke) {
  out_ += fmt::format(R"(<line x1="{}" y1="{}" x2="{}" y2="{}"{}/>)", px(from.first), px(from.second), px(to.first),
                      px(to.second), stroke_attributes(stroke)) +
          "\n";
}

void Svg::polyline(std::span<const Point> points, const Stroke& stroke) {
  out_ += R"(<polyline points=")";
  append_points(out_, points);
  out_ += fmt::format(R"(" fill="none" stroke-linejoin="round"{}/>)", stroke_attributes(stroke)) + "\n";
}

void Svg::polygon(std::span<const Point> points, const std::string& fill, double opacity) {
  out_ += R"(<polygon points=")";
  append_points(out_, points);
  out_ += fmt::format(R"(" fill="{}" fill-opacity="{:.2g}"/>)", xml_escape(fill), opacity) + "\n";
}

void Svg::dot(Point center, double radius, const std::string& fill) {
  out_ += fmt::format(R"(<circle cx="{}" cy="{}" r="{}" fill="{}"/>)", px(center.first), px(center.second), px(radius),
                      xml_escape(fill)) +
          "\n";
}

void Svg::text(Point at, const std::string& text, const TextStyle& style) {
  constexpr std::array<const char*, 3> anchors = {"start", "middle", "end"};
  const std::string place =
      style.upward ? fmt::format(R"-(transform="translate({} {}) rotate(-90)")-", px(at.first), px(at.second))
                   : fmt::format(R"(x="{}" y="{}")", px(at.first), px(at.second));
  out_ += fmt::format(R"(<text {} font-size="{}" fill="{}" text-anchor="{}"{}>{}</text>)", place, px(style.size),
                      xml_escape(style.color), anchors[static_cast<std::size_t>(style.anchor)],
                      style.bold ? R"( font-weight="bold")" : "", with_superscripts(text, style.size)) +
          "\n";
}

std::string Svg::hatched(const std::string& color, int kind) {
  if (kind == 0) return color;
  const std::string id = fmt::format("hatch{}", next_id_++);
  const char* const slant = kind == 1 ? "M-2,2L2,-2M0,8L8,0M6,10L10,6" : "M-2,6L2,10M0,0L8,8M6,-2L10,2";
  out_ += fmt::format(R"(<defs><pattern id="{}" width="8" height="8" patternUnits="userSpaceOnUse">)"
                      R"(<rect width="8" height="8" fill="{}"/>)"
                      R"(<path d="{}" stroke="#ffffff" stroke-width="1.6" stroke-opacity="0.75"/></pattern></defs>)",
                      id, xml_escape(color), slant) +
          "\n";
  return "url(#" + id + ")";
}

std::string Svg::finish() && {
  out_ += "</svg>\n";
  return std::move(out_);
}

}  // namespace tribo
