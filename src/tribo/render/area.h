#pragma once

#include <functional>

#include "tribo/render/skin.h"

namespace tribo {

/// Triangles in the plane z = 0 that fill the part of a rectangle where `distance` is negative, facing +z: sampled on a
/// grid of `cells` squares along the longer side, the border by linear interpolation (marching squares).
Skin fill_area(const std::function<double(const Vec<double, 2>&)>& distance, const Vec<double, 2>& low,
               const Vec<double, 2>& high, int cells);

}  // namespace tribo
