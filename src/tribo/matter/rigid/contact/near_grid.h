#pragma once

#include "tribo/grid/phase.h"
#include "tribo/matter/rigid/stages/rigid.h"

/// \file
/// What of a grid of particles is near rigid bodies: its blocks by bodies, the bins of particles that reach these, and
/// where the mass of each node there has its center. A node of a thin plate's far side that particles reach over its
/// edge or through it has mass on this side: which side to push to, only that center tells (experiments_rigid 4).

namespace tribo::TRIBO_BACKEND {

/// Distance from bodies up to which nodes are looked at, in cells: the center of a node's mass may be nearer by 1.5.
inline constexpr double near_cells = 2;

/// A block that is near a body.
struct BodyBlock {
  Index body;
  Index near;  ///< its place among near blocks
};

template <class Real>
struct NearGrid {
  static constexpr int nodes = BlockShape<3>::nodes;
  static constexpr int neighbors = BlockShape<3>::neighbors;

  Array<BodyBlock> pair;             ///< by rising bodies
  Array<Index> block;                ///< near blocks: numbers in the grid, rising
  Array<Cell<3>> cell;               ///< their coordinates
  Array<Index> pair_start, pair_of;  ///< pairs of each near block, by rising bodies
  Array<Index> bin;                  ///< bins that reach near blocks
  Array<Index> bin_near;             ///< [near bin][neighbor]: near block or -1
  Array<NodePack<Real>> center;      ///< [near block][node]: from the node to its center of mass [cells], and mass
  Index pairs = 0, blocks = 0, bins = 0;

  // scratch memory
  Array<Index> slots, slot_block, marked, near_of, reached, touch, touch_start;
  Array<std::uint64_t> key;
  Array<NodePack<Real>> arenas;
  RadixSorter sorter;

  std::size_t bytes() const {
    return pair.bytes() + block.bytes() + cell.bytes() + pair_start.bytes() + pair_of.bytes() + bin.bytes() +
           bin_near.bytes() + center.bytes() + slots.bytes() + slot_block.bytes() + marked.bytes() + near_of.bytes() +
           reached.bytes() + touch.bytes() + touch_start.bytes() + key.bytes() + arenas.bytes() + sorter.bytes();
  }
};

/// For where bodies are placed and particles have been sorted. Colliders' bodies are left out: grids know colliders.
template <class Real>
void find_near_grid(Exec& ex, const RigidMesh& mesh, const RigidWork& work, GridPhase<Real, 3>& phase,
                    NearGrid<Real>& near);

}  // namespace tribo::TRIBO_BACKEND
