#pragma once

#include <string>

#include "tribo/core/errors.h"
#include "tribo/grid/state.h"

namespace tribo::TRIBO_BACKEND {

/// Room for all arenas and all nodes of so many grid blocks; `twice` for FLIP, which also keeps them from before the
/// step. Spray touches a block per particle: far more than anybody could estimate before the run.
template <class Real>
void fit_nodes(Exec& ex, Size arena_nodes, Size grid_nodes, Index blocks, bool twice, Array<NodePack<Real>>& arenas,
               Array<NodePack<Real>>& grid, Array<NodePack<Real>>& arenas_before, Array<NodePack<Real>>& grid_before) {
  const auto wanted = static_cast<std::size_t>(arena_nodes + grid_nodes) * sizeof(NodePack<Real>) * (twice ? 2 : 1);
  const std::size_t held = arenas.bytes() + grid.bytes() + arenas_before.bytes() + grid_before.bytes();
  if (wanted > held && wanted - held > available_memory(ex))
    throw DeviceError("out of memory on " + std::string(device_name) + ": the particles have spread over " +
                      std::to_string(blocks) + " grid blocks, which need " + std::to_string(wanted >> 20) +
                      " MiB; use a larger grid spacing or fewer particles");
  arenas.resize_discard(arena_nodes);
  grid.resize_discard(grid_nodes);
  if (!twice) return;
  arenas_before.resize_discard(arena_nodes);
  grid_before.resize_discard(grid_nodes);
}

}  // namespace tribo::TRIBO_BACKEND
