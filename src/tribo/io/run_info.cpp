#include "tribo/io/run_info.h"

#include <algorithm>
#include <cmath>

namespace tribo {

// IEC 61966-2-1.
float to_srgb(float linear) {
  const float c = std::clamp(linear, 0.0F, 1.0F);
  return c <= 0.0031308F ? 12.92F * c : 1.055F * std::pow(c, 1 / 2.4F) - 0.055F;
}
float from_srgb(float encoded) {
  const float c = std::clamp(encoded, 0.0F, 1.0F);
  return c <= 0.04045F ? c / 12.92F : std::pow((c + 0.055F) / 1.055F, 2.4F);
}

}  // namespace tribo
