#include "tribo/render/colors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tribo/core/errors.h"
#include "tribo/io/run_info.h"

namespace tribo {
namespace {

Color linear(const Vec<double, 3>& displayed) {
  Color color;
  for (int k = 0; k < 3; ++k) color[k] = from_srgb(static_cast<float>(displayed[k]));
  return color;
}

}  // namespace

Color scale_color(float value) {
  // Samples of the "viridis" scale at equal steps, interpolated as displayed.
  static const std::array<Vec<double, 3>, 9> samples = [] {
    std::array<Vec<double, 3>, 9> colors;
    constexpr std::array<const char*, 9> texts{"#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c",
                                               "#28ae80", "#5ec962", "#addc30", "#fde725"};
    for (std::size_t i = 0; i < texts.size(); ++i) colors[i] = *parse_color(texts[i]);
    return colors;
  }();
  const double at = value > 0 ? std::min(static_cast<double>(value), 1.0) * 8 : 0;  // also for what is no number
  const auto i = std::min(static_cast<std::size_t>(at), std::size_t{7});
  const double t = at - static_cast<double>(i);
  return linear((1 - t) * samples[i] + t * samples[i + 1]);
}

Color palette_color(int index) { return linear(default_look(index).color); }

bool is_on_scale(const std::string& mode) { return mode == "velocity" || mode == "density" || mode == "strain"; }

ParticleValue::ParticleValue(const std::string& mode, const Scene& scene, const Frame& frame)
    : object_(frame.find("object")) {
  const auto need = [&](const char* name) {
    const NamedArray* const column = frame.find(name);
    if (column == nullptr)
      throw IoError(fmt::format("frame {} has no column {}, which colors by {} need (simulate it again)", frame.number,
                                name, mode));
    return column;
  };
  for (const ObjectSpec& object : scene.objects) visible_.push_back(object.look.visible);
  if (mode == "velocity") column_ = need("v");
  if (mode == "strain") column_ = need("strain");
  if (mode == "density") {
    column_ = need("J");
    inverse_ = true;
    if (frame.objects.size() > scene.objects.size())
      throw IoError(fmt::format("frame {} has {} objects where the scene has {}: they do not belong together",
                                frame.number, frame.objects.size(), scene.objects.size()));
    for (const ObjectSpec& object : scene.objects)
      density_.push_back(object.material >= 0 ? scene.materials[static_cast<std::size_t>(object.material)].density : 0);
  }
}

bool ParticleValue::visible(std::size_t row) const {
  const auto object = object_ != nullptr ? static_cast<std::size_t>(integer_at(*object_, row)) : 0;
  return object >= visible_.size() || visible_[object];
}

double ParticleValue::operator()(std::size_t row) const {
  const std::size_t components = column_->components;
  if (components == 1 && !inverse_) return number_at(*column_, row);
  if (inverse_) {
    const auto object = object_ != nullptr ? static_cast<std::size_t>(integer_at(*object_, row)) : 0;
    return density_[object] / std::max(number_at(*column_, row), 1e-12);
  }
  double sum = 0;
  for (std::size_t k = 0; k < components; ++k) {
    const double c = number_at(*column_, row * components + k);
    sum += c * c;
  }
  return std::sqrt(sum);
}

void ValueRange::include(const ValueRange& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
}

ValueRange value_range(const ParticleValue& value, std::size_t rows) {
  ValueRange range;
  for (std::size_t i = 0; i < rows; ++i) {
    if (!value.visible(i)) continue;
    const double v = value(i);
    range.include({v, v});
  }
  return range;
}

}  // namespace tribo
