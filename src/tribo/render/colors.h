#pragma once

#include <string>
#include <vector>

#include "tribo/io/frame.h"
#include "tribo/scene/scene.h"

namespace tribo {

using Color = Vec<float, 3>;  ///< linear RGB

/// A perceptually even scale from dark violet (0) over green to yellow (1), legible in gray and to the color-blind.
Color scale_color(float value);

/// The distinct color number `index`.
Color palette_color(int index);

/// How values become colors.
struct Coloring {
  std::string mode = "look";  ///< a name in color_modes()
  double low = 0;
  double high = 1;
};
/// Whether a color mode shows a number on a scale.
bool is_on_scale(const std::string& mode);

/// What a particle is worth on the scale of a color mode.
class ParticleValue {
 public:
  /// Throws Error when the frame lacks what the mode needs.
  ParticleValue(const std::string& mode, const Scene& scene, const Frame& frame);

  /// Whether the mode is a number on a scale at all; false for "look", "object" and "material".
  bool on_scale() const { return column_ != nullptr; }
  double operator()(std::size_t row) const;
  bool visible(std::size_t row) const;  ///< whether the particle's object is

 private:
  const NamedArray* column_ = nullptr;
  const NamedArray* object_ = nullptr;
  bool inverse_ = false;
  std::vector<bool> visible_;    ///< each object
  std::vector<double> density_;  ///< at rest, of each object; empty unless colors show density
};

/// Smallest and largest value of visible particles in a frame.
struct ValueRange {
  double low = 1e300;
  double high = -1e300;
  void include(const ValueRange& other);
};
ValueRange value_range(const ParticleValue& value, std::size_t rows);

}  // namespace tribo
