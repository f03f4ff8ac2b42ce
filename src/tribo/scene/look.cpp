#include "tribo/scene/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace tribo {

std::optional<Vec<double, 3>> parse_color(const std::string& text) {
  const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
  if (text.size() != 7 || text[0] != '#' || !std::all_of(text.begin() + 1, text.end(), is_hex)) return {};
  Vec<double, 3> color;
  for (int k = 0; k < 3; ++k)
    color[k] =
        static_cast<double>(std::strtol(text.substr(1 + 2 * static_cast<std::size_t>(k), 2).c_str(), nullptr, 16)) /
        255;
  return color;
}

std::string color_text(const Vec<double, 3>& color) {
  const auto byte = [](double value) { return std::lround(255 * std::clamp(value, 0.0, 1.0)); };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(color[0]), byte(color[1]), byte(color[2]));
}

Look default_look(int index) {
  static constexpr std::array<const char*, 8> palette{"#4c86b8", "#d98c3f", "#6aa35a", "#c25b56",
                                                      "#8a72b0", "#c7a94a", "#4fa3a0", "#b77a9c"};
  Look look;
  look.color = *parse_color(palette[static_cast<std::size_t>(index) % palette.size()]);
  return look;
}

Look read_look(ParamReader& in, const Look& fallback) {
  Look look = fallback;
  in.object("look", "how it is drawn; does not change the simulation", false, [&](ParamReader& inner) {
    look.visible = inner.flag("visible", "whether it is drawn at all", fallback.visible);
    static const std::vector<Choice> forms{{"spheres", "each particle by itself"},
                                           {"surface", "the skin of the body they stand for"}};
    look.surface = inner.choice("as", forms, "how particles are drawn; colors that show a value are drawn on spheres",
                                fallback.surface ? "surface" : "spheres") == "surface";
    const std::string shown = inner.describing() ? "" : color_text(fallback.color);
    const std::string color = inner.text("color",
                                         "red, green and blue as on the screen: \"#d9b36c\"; by default that "
                                         "of the material, or one of a palette",
                                         shown);
    if (const auto parsed = parse_color(color)) {
      look.color = *parsed;
    } else if (!inner.describing()) {
      inner.complain("color",
                     "expected a color such as \"#d9b36c\", # and six hexadecimal digits, got \"" + color + "\"");
    }
    look.roughness = inner.number("roughness", "1", within(0, 1), "0 polished, 1 chalk", fallback.roughness);
    look.metallic = inner.number("metallic", "1", within(0, 1), "0 plastic or stone, 1 metal", fallback.metallic);
    look.opacity = inner.number("opacity", "1", within(0, 1), "0 invisible, 1 solid", fallback.opacity);
    look.variation = inner.number("variation", "1", within(0, 1),
                                  "by how much particles or strands differ in brightness", fallback.variation);
    look.size =
        inner.number("size", "1", above(0), "radius of particles and strands, as a multiple of what fills their volume",
                     fallback.size);
  });
  return look;
}

const std::vector<Choice>& color_modes() {
  static const std::vector<Choice> all{{"look", "the look of each object"},
                                       {"object", "a color for each object"},
                                       {"material", "a color for each material"},
                                       {"velocity", "speed [m/s]"},
                                       {"density", "present mass per volume [kg/m^3]"},
                                       {"strain", "norm of the elastic logarithmic strain [1]"}};
  return all;
}

void read_render(ParamReader& in, RenderSpec& render) {
  const RenderSpec fallback;
  render.width = static_cast<int>(in.integer("width", within(16, 16384), "of pictures, in pixels", fallback.width));
  render.height = static_cast<int>(in.integer("height", within(16, 16384), "of pictures, in pixels", fallback.height));
  render.samples = static_cast<int>(
      in.integer("samples", within(1, 65536), "light paths a pixel: more is less noise", fallback.samples));
  render.color = in.choice("color", color_modes(), "what particles are colored by", fallback.color);
  in.object("range", "values at the two ends of the color scale; by default those of the frames drawn", false,
            [&](ParamReader& range) {
              render.low = range.open_number("low", "1", anything(), "value drawn dark; by default the least");
              render.high = range.open_number("high", "1", anything(), "value drawn bright; by default the largest");
            });
  if (render.low && render.high && !in.describing() && !(*render.low < *render.high))
    in.complain("range", "expected `low` to be less than `high`");
  in.object("camera", "where pictures are taken from", false, [&](ParamReader& camera) {
    render.camera.from =
        camera.open_vector("from", "m", anything(), "where it is; by default far enough to see the whole motion");
    render.camera.to =
        camera.open_vector("to", "m", anything(), "what it looks at; by default the middle of the motion");
    render.camera.azimuth = camera.number(
        "azimuth", "deg", anything(), "without `from`: angle around the vertical; 0 is the front (+z; -y when z is up)",
        fallback.camera.azimuth);
    render.camera.elevation = camera.number("elevation", "deg", within(-90, 90),
                                            "without `from`: angle above the horizon", fallback.camera.elevation);
    render.camera.fov = camera.number("fov", "deg", between(0, 170), "vertical field of view", fallback.camera.fov);
    if (!camera.describing() && render.camera.from && render.camera.to &&
        !(squared_norm(*render.camera.from - *render.camera.to) > 0))
      camera.complain("to", "expected a point other than `from`");
  });
  in.object("sun", "the sun; the sky is always there", false, [&](ParamReader& sun) {
    render.sun_azimuth = sun.number("azimuth", "deg", anything(), "as that of the camera", fallback.sun_azimuth);
    render.sun_elevation =
        sun.number("elevation", "deg", within(-90, 90), "angle above the horizon", fallback.sun_elevation);
    render.sun_size =
        sun.number("size", "deg", within(0, 90), "diameter as seen: larger makes softer shadows", fallback.sun_size);
  });
  render.exposure =
      in.number("exposure", "1", Range{.low = 0, .high = 1e6}, "brightness of pictures", fallback.exposure);
}

}  // namespace tribo
