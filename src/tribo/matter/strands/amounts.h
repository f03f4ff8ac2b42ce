#pragma once

#include "tribo/matter/strands/seed.h"

namespace tribo {

/// What memory of strands that are rods goes by.
struct StrandAmounts {
  double segments = 0;
  double grid_segments = 0;  ///< of those that meet in bulk, on a grid
  double blocks = 0;         ///< of 4^3 cells, that these are in
  double volume_cells = 0;   ///< of a box around hair whose volume is incompressible
  bool contact = false;      ///< strands touch each other
};

/// Segments of a body.
inline double segments_of(const RodBody& body) {
  return static_cast<double>((body.vertices.end - body.vertices.begin) - (body.strands.end - body.strands.begin));
}

/// Bytes of a segment: state, rest shape, the factor of A with what solves, frames and compliance take.
inline double rod_bytes(bool cuda, double real) {
  return (13 + 19 + 68) * real + 3 * 4 + (cuda ? 39 * real : 0);  // the matrix itself, and rows of whole 16 bytes
}

/// Bytes of a block that strands are in: an arena, and with what kernels reach some blocks of nodes.
inline double strand_block_bytes(bool cuda, double real) {
  const double edge = cuda ? 6 : 8, reached = 3.5;
  return 1.1 * (edge * edge * edge + reached * 64) * 4 * real;
}

}  // namespace tribo
