#pragma once

#include <optional>
#include <string>

#include "tribo/core/params.h"
#include "tribo/math/small.h"

/// \file
/// How a scene is to be drawn. Nothing here changes what is simulated.

namespace tribo {

/// How a body is drawn, in pictures and in other programs.
struct Look {
  bool visible = true;
  bool surface = false;                   ///< particles as the surface of the body they stand for, not as spheres
  Vec<double, 3> color{{0.8, 0.8, 0.8}};  ///< as displayed (sRGB), 0 to 1
  double roughness = 0.7;                 ///< 0 polished, 1 chalk
  double metallic = 0;                    ///< 0 plastic or stone, 1 metal
  double opacity = 1;
  double variation = 0;  ///< by how much particles or strands differ in brightness
  double size = 1;       ///< of particles and strands, times what fills their volume
};

/// Reads the key `look`; what is not given is as in `fallback`.
Look read_look(ParamReader& in, const Look& fallback);

/// The look of the material number `index` of a scene when nothing is said: distinct, easy on the eye.
Look default_look(int index);

struct CameraSpec {
  std::optional<Vec<double, 3>> from;  ///< where the camera is [m]; none: chosen so that everything is seen
  std::optional<Vec<double, 3>> to;    ///< what it looks at [m]
  double azimuth = 30;                 ///< of an automatic camera, around the vertical, 0 is front (+z) [deg]
  double elevation = 18;               ///< of an automatic camera, above the horizon [deg]
  double fov = 30;                     ///< vertical field of view [deg]
};

struct RenderSpec {
  int width = 1280;
  int height = 720;
  int samples = 16;            ///< rays a pixel
  std::string color = "look";  ///< what particles are colored by, a name in color_modes()
  std::optional<double> low;   ///< value at the low end of the color scale; none: the least there is
  std::optional<double> high;
  CameraSpec camera;
  double sun_azimuth = -40;   ///< where the sun stands, as the camera's angles [deg]
  double sun_elevation = 50;  ///< [deg]
  double sun_size = 4;        ///< its diameter as seen [deg]: larger makes softer shadows
  double exposure = 1;
};

/// What particles may be colored by.
const std::vector<Choice>& color_modes();

void read_render(ParamReader& in, RenderSpec& render);

/// "#d9b36c" to color, as displayed; nothing when it is no color.
std::optional<Vec<double, 3>> parse_color(const std::string& text);
std::string color_text(const Vec<double, 3>& color);

}  // namespace tribo
