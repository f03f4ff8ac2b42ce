#pragma once

#include "tribo/matter/strands/spec.h"
#include "tribo/mesh/strands.h"

namespace tribo {

/// The strands an object asks for, in its own coordinates, every point with its radius. The same spec gives the same
/// bytes for any number of threads. Throws Error (bad input) with the remedy when they cannot be made.
Strands make_strands(const HairSpec& hair);

/// One source each, without radii; `radius` is that of strands, to keep them apart [m].
Strands grow_strands(const ScalpSpec& scalp, const HairSpec& hair, double radius);
Strands braid_strands(const BraidSpec& braid, const HairSpec& hair, double radius);
Strands tube_strands(const TubeSpec& tube, const HairSpec& hair, double radius);

/// Places on the surface of a shape, evenly scattered (Yuksel 2015), and the normals there.
struct Roots {
  std::vector<Vec<double, 3>> positions;
  std::vector<Vec<double, 3>> normals;  ///< unit, outward
  double area = 0;                      ///< of the surface within the region [m^2]
};
Roots place_roots(const ScalpSpec& scalp, std::int64_t seed);

/// Indices, ascending, of `wanted` points that are spread as evenly as can be among `points`, which lie on a surface
/// of that area: sample elimination (Yuksel 2015, "Sample elimination for generating Poisson disk sample sets").
std::vector<std::size_t> spread_evenly(const std::vector<Vec<double, 3>>& points, std::size_t wanted, double area);

/// Centers of circles packed as a honeycomb, `spacing` apart, in the order of their distance from the origin.
std::vector<Vec<double, 2>> honeycomb(std::size_t count, double spacing);

/// The strands, turned and moved.
Strands placed(Strands strands, const Pose& pose);

}  // namespace tribo
