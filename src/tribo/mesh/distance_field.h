#pragma once

#include <cstdint>
#include <vector>

#include "tribo/mesh/solid.h"

namespace tribo {

/// Signed distance to a solid's surface, sampled: finely in blocks near the surface, elsewhere at the corners of blocks
/// only. Negative inside, where the winding number is 1/2 or more, so that parts that overlap are one solid.
struct DistanceField {
  static constexpr int side = 8;                                            ///< cells along the edge of a block
  static constexpr int block_nodes = (side + 1) * (side + 1) * (side + 1);  ///< blocks share nothing
  static constexpr std::int32_t far = -1;

  Vec<double, 3> low = Vec<double, 3>::zero();  ///< corner of the first block [m]
  double spacing = 0;                           ///< of the samples near the surface [m]
  Vec<std::int32_t, 3> blocks{{0, 0, 0}};       ///< along each axis
  std::vector<float> corners;                   ///< distance at block corners, z fastest [m]
  std::vector<std::int32_t> fine;               ///< of each block, its number among those with samples, or `far`
  std::vector<float> samples;                   ///< of blocks near the surface, block_nodes each [m]

  std::size_t bytes() const { return corners.size() * 4 + fine.size() * 4 + samples.size() * 4; }
};

/// What a field may take up [bytes].
constexpr std::size_t most_field_bytes = std::size_t{256} << 20;

/// Samples the distance every `spacing` meters, or, where that would take more than `most` bytes, as finely as fits.
/// The same bytes for any number of threads.
DistanceField sample_distance(const Solid& solid, double spacing, std::size_t most = most_field_bytes);

}  // namespace tribo
