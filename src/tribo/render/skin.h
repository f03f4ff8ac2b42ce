#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tribo/math/small.h"

namespace tribo {

/// Triangles, counterclockwise seen from outside.
struct Skin {
  std::vector<Vec<float, 3>> vertices;
  std::vector<Vec<std::uint32_t, 3>> triangles;
};

/// The surface of the body that points stand for which are about `spacing` apart.
///
/// It is where phi(x) = |x - mean(x)| - r vanishes, the mean being that of the points near x, weighted by (1 -
/// d^2/R^2)^3 of their distance d (Zhu and Bridson 2005): a lone point becomes a ball, many become smooth. Sampled on a
/// sparse grid, joined by surface nets, smoothed without shrinking (Taubin 1995) where there are
/// many points. It has no border; where sheets of it meet, an edge may belong to four triangles. Linear in the number
/// of points; the same bytes for any number of threads.
Skin skin_around(std::span<const Vec<float, 3>> points, float spacing);

}  // namespace tribo
