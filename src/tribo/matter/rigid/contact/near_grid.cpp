#include "tribo/matter/rigid/contact/near_grid.h"

#include "tribo/exec/key_bits.h"
#include "tribo/exec/list_marked.h"
#include "tribo/exec/mark.h"
#include "tribo/grid/arena.h"
#include "tribo/grid/find_block.h"
#include "tribo/grid/particle_access.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* near_label = "rigid near";
constexpr Index near_grain = 64;

using Shape = BlockShape<3>;

/// Blocks that the box around a body reaches, or all of the grid where these are fewer.
struct BlockRange {
  Cell<3> low, count;
  bool all;

  TRIBO_HD Cell<3> at(Index slot) const {
    return {{low[0] + slot / (count[1] * count[2]), low[1] + slot / count[2] % count[1], low[2] + slot % count[2]}};
  }
};
struct BodyRanges {
  const PlacedBody* body;
  FieldView<const double, 3> low, high;  ///< by form
  double dx;
  Index block_count, groups;

  TRIBO_HD bool meets_grids(Index b) const { return body[b].group < groups; }
  TRIBO_HD BlockRange range(Index b) const {
    const PlacedBody& one = body[b];
    const Vec3d least = vector_at(low, one.form), most = vector_at(high, one.form);
    const Vec3d middle = one.x + one.rotation * (0.5 * (least + most)), half = 0.5 * (most - least);
    BlockRange r{};
    double volume = 1;
    for (int k = 0; k < 3; ++k) {
      double reach = near_cells * dx;
      for (int j = 0; j < 3; ++j) reach += abs(one.rotation(k, j)) * half[j];
      const double edge = Shape::side * dx;
      // what is beyond all keys is beyond all blocks
      const double first = max(floor((middle[k] - reach) / edge), -1e6),
                   last = min(floor((middle[k] + reach) / edge), 1e6);
      if (!(last >= first)) volume = 0;
      volume *= last - first + 1;
      r.low[k] = static_cast<std::int32_t>(first);
      r.count[k] = static_cast<std::int32_t>(last - first + 1);
    }
    r.all = volume > block_count;
    return r;
  }
  TRIBO_HD Index slots(Index b) const {
    if (!meets_grids(b)) return 0;
    const BlockRange r = range(b);
    return r.all ? block_count : r.count[0] * r.count[1] * r.count[2];
  }
};
struct CountSlots {
  BodyRanges ranges;
  Index bodies;
  Index* slots;
  TRIBO_HD void operator()(Index b) const { slots[b] = b < bodies ? ranges.slots(b) : 0; }
};
/// Largest item whose start is not above `entry`.
TRIBO_HD Index owner_of(const Index* start, Index count, Index entry) {
  Index low = 0, high = count;
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    if (start[middle] <= entry)
      low = middle;
    else
      high = middle;
  }
  return low;
}

struct FindBodyBlock {
  BodyRanges ranges;
  const Index* start;
  Index bodies;
  RigidShapes::View shapes;
  const Cell<3>* blocks;
  Index* slot_block;
  Index* mark;
  Index* near_of;

  TRIBO_HD void operator()(Index slot) const {
    const Index b = owner_of(start, bodies, slot);
    const BlockRange range = ranges.range(b);
    const Index within = slot - start[b];
    const Index block = range.all ? within : find_block(blocks, ranges.block_count, range.at(within));
    mark[slot] = 0;
    slot_block[slot] = block;
    if (block < 0) return;
    Vec3d center;
    for (int k = 0; k < 3; ++k) center[k] = ranges.dx * (Shape::side * blocks[block][k] + 0.5 * Shape::side);
    // half the diagonal of the block's cells, and rounding
    const double radius = 0.5 * Shape::side * 1.7321 * ranges.dx;
    if (!(shapes.nearest(ranges.body[b], center).distance < radius + near_cells * ranges.dx)) return;
    mark[slot] = 1;
    mark_one(near_of + block);
  }
};
struct Clear {
  Index* to;
  Index value;
  TRIBO_HD void operator()(Index i) const { to[i] = value; }
};
struct NumberNear {
  const Index* block;
  const Cell<3>* blocks;
  Cell<3>* cell;
  Index* near_of;
  TRIBO_HD void operator()(Index i) const {
    near_of[block[i]] = i;
    cell[i] = blocks[block[i]];
  }
};
struct MakeBodyBlock {
  const Index *marked, *start, *slot_block, *near_of;
  Index bodies;
  BodyBlock* pair;
  std::uint64_t* key;
  Index* order;
  TRIBO_HD void operator()(Index i) const {
    const Index slot = marked[i];
    pair[i] = {owner_of(start, bodies, slot), near_of[slot_block[slot]]};
    key[i] = static_cast<std::uint64_t>(pair[i].near);
    order[i] = i;
  }
};
/// Where the items of each key begin, of sorted ones.
struct BeginKey {
  const std::uint64_t* key;
  Index count;
  Index* start;
  TRIBO_HD void operator()(Index i) const {
    Index low = 0, high = count;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (key[middle] < static_cast<std::uint64_t>(i))
        low = middle + 1;
      else
        high = middle;
    }
    start[i] = low;
  }
};

TRIBO_HD Cell<3> offset_of(int neighbor) {
  Cell<3> r = unflatten<3>(neighbor, Shape::neighbor_side);
  for (int k = 0; k < 3; ++k) r[k] += Shape::first_neighbor;
  return r;
}

/// Blocks whose bins may reach a near one.
struct MarkReached {
  const Cell<3>* cell;
  const Cell<3>* blocks;
  Index block_count;
  Index* reached;
  TRIBO_HD void operator()(Index i) const {
    const Index block =
        find_block(blocks, block_count, cell[i / Shape::neighbors] - offset_of(static_cast<int>(i % Shape::neighbors)));
    if (block >= 0) mark_one(reached + block);
  }
};
struct MarkBin {
  const Bin<3>* bins;
  const Cell<3>* blocks;
  Index block_count;
  const Index* reached;
  Index* mark;
  TRIBO_HD void operator()(Index i) const {
    const Index block = find_block(blocks, block_count, bins[i].block);
    mark[i] = block >= 0 ? reached[block] : 0;
  }
};
/// Neighbors of near bins, and those that are near as keys for a sort; others come last.
struct FindNeighbors {
  const Index* bin;
  const Bin<3>* bins;
  const Cell<3>* blocks;
  Index block_count;
  const Index* near_of;
  Index near_blocks;
  Index* bin_near;
  std::uint64_t* key;
  Index* touch;
  TRIBO_HD void operator()(Index i) const {
    const Bin<3>& own = bins[bin[i / Shape::neighbors]];
    const Index block = find_block(blocks, block_count, own.block + offset_of(static_cast<int>(i % Shape::neighbors)));
    const Index near = block >= 0 ? near_of[block] : -1;
    bin_near[i] = near;
    key[i] = static_cast<std::uint64_t>(near >= 0 ? near : near_blocks);
    touch[i] = i;
  }
};

/// Sums masses and their places, from the nodes, over one bin's particles.
template <class Real, int Kernel, class Access>
struct SumBin {
  using Own = BlockShape<3, Kernel>;
  using Pack = NodePack<Real>;
  struct Scratch {
    Pack node[Team::size == 1 ? Own::arena_nodes : 1];
  };

  Access particles;
  const Index* order;
  const Bin<3>* bins;
  const Index* bin;
  Real inverse_dx;
  Pack* arenas;

  TRIBO_HD void operator()(const Team& team, Index b, Scratch& scratch) const {
    const Bin<3> own = bins[bin[b]];
    Pack* const out = arenas + Size{b} * Own::arena_nodes;
    if constexpr (Team::size == 1) {
      for (int i = 0; i < Own::arena_nodes; ++i) scratch.node[i] = Pack(Real(0));
      for (Index i = own.begin; i < own.end; ++i) scatter(own, i, scratch.node);
      for (int i = 0; i < Own::arena_nodes; ++i) out[i] = scratch.node[i];
    } else {
      for (int i = team.rank(); i < Own::arena_nodes; i += Team::size) out[i] = gather(own, i);
    }
  }

 private:
  struct Place {
    Cell<3> at;  ///< of the base node in the arena
    Real offset[3], mass;
    Real weight[3][Kernel];
  };
  TRIBO_HD Place place(const Bin<3>& own, Index i) const {
    const Index slot = order != nullptr ? order[i] : i;
    const Vec<Real, 3> x = particles.x(slot);
    Place r;
    r.mass = particles.mass(slot);
    for (int k = 0; k < 3; ++k) {
      const Real scaled = in_cells(x[k], inverse_dx), base = base_node<Kernel>(scaled);
      r.offset[k] = scaled - base;
      r.at[k] = static_cast<std::int32_t>(base) - own.block[k] * Own::side + Own::margin;
      const SplineWeights<Real, Kernel> w(r.offset[k]);
      for (int j = 0; j < Kernel; ++j) r.weight[k][j] = w.w[j];
    }
    return r;
  }
  TRIBO_HD void scatter(const Bin<3>& own, Index i, Pack* node) const {
    const Place p = place(own, i);
    Pack* const first = node + flatten(p.at, Own::arena_side);
    for (int x = 0; x < Kernel; ++x)
      for (int y = 0; y < Kernel; ++y) {
        const Real w = p.mass * p.weight[0][x] * p.weight[1][y];
        Pack* const row = first + (x * Own::arena_side + y) * Own::arena_side;
        for (int z = 0; z < Kernel; ++z)
          row[z] = fma(Pack(w * p.weight[2][z]),
                       node_pack<Real>(p.offset[0] - Real(x), p.offset[1] - Real(y), p.offset[2] - Real(z), Real(1)),
                       row[z]);
      }
  }
  TRIBO_HD Pack gather(const Bin<3>& own, int n) const {
    const Cell<3> at = unflatten<3>(n, Own::arena_side);
    Pack sum = Pack(Real(0));
    for (Index i = own.begin; i < own.end; ++i) {
      const Place p = place(own, i);
      Real w = p.mass, away[3];
      bool within = true;
      for (int k = 0; k < 3; ++k) {
        const int j = at[k] - p.at[k];
        within = within && j >= 0 && j < Kernel;
        Real own_weight = Real(0);
        for (int q = 0; q < Kernel; ++q) own_weight = q == j ? p.weight[k][q] : own_weight;
        w *= own_weight;
        away[k] = p.offset[k] - Real(j);
      }
      if (within) sum = fma(Pack(w), node_pack<Real>(away[0], away[1], away[2], Real(1)), sum);
    }
    return sum;
  }
};
template <class Real, int Kernel>
struct SumBlock {
  using Own = BlockShape<3, Kernel>;
  struct Scratch {
    NodePack<Real> node[Own::nodes];
  };
  TouchView touches;
  const NodePack<Real>* arenas;
  NodePack<Real>* center;
  TRIBO_HD void operator()(const Team& team, Index b, Scratch& scratch) const {
    sum_arenas<3, Kernel>(team, b, touches, arenas, scratch.node);
    for (int i = team.rank(); i < Own::nodes; i += Team::size) {
      const NodePack<Real> sum = scratch.node[i];
      const Real mass = sum[3], inverse = mass > Real(0) ? Real(1) / mass : Real(0);
      center[Size{b} * Own::nodes + i] = node_pack<Real>(inverse * sum[0], inverse * sum[1], inverse * sum[2], mass);
    }
  }
};

/// Near blocks by bodies, and bodies by near blocks.
template <class Real>
void find_blocks(Exec& ex, const RigidMesh& mesh, const RigidWork& work, double dx, const BinnedParticles<3>& binned,
                 NearGrid<Real>& n) {
  n.pairs = n.blocks = 0;
  const BodyRanges ranges{work.body.data(), view(mesh.low), view(mesh.high), dx, binned.block_count, mesh.groups};
  n.slots.resize_discard(mesh.count + 1);
  parallel_for(ex, near_label, mesh.count + 1, CountSlots{ranges, mesh.count, n.slots.data()}, near_grain);
  const Index slots = exclusive_scan(ex, near_label, n.slots, n.slots, mesh.count + 1);
  if (slots == 0) return;
  n.slot_block.resize_discard(slots);
  n.marked.resize_discard(slots);
  n.near_of.resize_discard(binned.block_count);
  parallel_for(ex, near_label, binned.block_count, Clear{n.near_of.data(), 0});
  parallel_for(ex, near_label, slots,
               FindBodyBlock{ranges, n.slots.data(), mesh.count, mesh.shapes.view(), binned.blocks, n.slot_block.data(),
                             n.marked.data(), n.near_of.data()},
               near_grain);
  n.blocks = list_marked(ex, near_label, n.near_of, binned.block_count, n.block);
  if (n.blocks == 0) return;
  parallel_for(ex, near_label, binned.block_count, Clear{n.near_of.data(), -1});
  n.cell.resize_discard(n.blocks);
  parallel_for(ex, near_label, n.blocks, NumberNear{n.block.data(), binned.blocks, n.cell.data(), n.near_of.data()});
  n.pairs = list_marked(ex, near_label, n.marked, slots, n.touch);
  n.pair.resize_discard(n.pairs);
  n.key.resize_discard(n.pairs);
  n.pair_of.resize_discard(n.pairs);
  parallel_for(ex, near_label, n.pairs,
               MakeBodyBlock{n.touch.data(), n.slots.data(), n.slot_block.data(), n.near_of.data(), mesh.count,
                             n.pair.data(), n.key.data(), n.pair_of.data()});
  n.sorter.sort(ex, near_label, n.key, n.pair_of, n.pairs, key_bits(static_cast<std::uint64_t>(n.blocks)));
  n.pair_start.resize_discard(n.blocks + 1);
  parallel_for(ex, near_label, n.blocks + 1, BeginKey{n.key.data(), n.pairs, n.pair_start.data()});
}

}  // namespace

template <class Real>
void find_near_grid(Exec& ex, const RigidMesh& mesh, const RigidWork& work, GridPhase<Real, 3>& phase,
                    NearGrid<Real>& n) {
  const BinnedParticles<3> binned = binned_particles(phase.state, phase.work);
  const auto dx = static_cast<double>(phase.constants.dx);
  n.bins = 0;
  find_blocks(ex, mesh, work, dx, binned, n);
  if (n.pairs == 0) return;
  n.reached.resize_discard(binned.block_count);
  parallel_for(ex, near_label, binned.block_count, Clear{n.reached.data(), 0});
  parallel_for(ex, near_label, n.blocks * Shape::neighbors,
               MarkReached{n.cell.data(), binned.blocks, binned.block_count, n.reached.data()});
  n.marked.resize_discard(binned.bin_count);
  parallel_for(ex, near_label, binned.bin_count,
               MarkBin{binned.bins, binned.blocks, binned.block_count, n.reached.data(), n.marked.data()});
  n.bins = list_marked(ex, near_label, n.marked, binned.bin_count, n.bin);
  const Index entries = n.bins * Shape::neighbors;
  n.bin_near.resize_discard(entries);
  n.key.resize_discard(entries);
  n.touch.resize_discard(entries);
  parallel_for(ex, near_label, entries,
               FindNeighbors{n.bin.data(), binned.bins, binned.blocks, binned.block_count, n.near_of.data(), n.blocks,
                             n.bin_near.data(), n.key.data(), n.touch.data()});
  n.sorter.sort(ex, near_label, n.key, n.touch, entries, key_bits(static_cast<std::uint64_t>(n.blocks)));
  n.touch_start.resize_discard(n.blocks + 1);
  parallel_for(ex, near_label, n.blocks + 1, BeginKey{n.key.data(), entries, n.touch_start.data()});
  n.center.resize_discard(n.blocks * Shape::nodes);
  with_kernel(phase.constants.kernel, [&]<int Kernel>(std::integral_constant<int, Kernel>) {
    n.arenas.resize_discard(Size{n.bins} * BlockShape<3, Kernel>::arena_nodes);
    read_particles(phase.state, phase.work, [&](const auto& particles) {
      using Sum = SumBin<Real, Kernel, std::decay_t<decltype(particles)>>;
      for_each_team<typename Sum::Scratch>(
          ex, near_label, n.bins,
          Sum{particles, binned.order, binned.bins, n.bin.data(), Real(1) / phase.constants.dx, n.arenas.data()});
    });
    using Blocks = SumBlock<Real, Kernel>;
    for_each_team<typename Blocks::Scratch>(
        ex, near_label, n.blocks, Blocks{TouchView{n.touch.data(), n.touch_start.data()}, n.arenas.data(), n.center.data()});
  });
}

template void find_near_grid(Exec&, const RigidMesh&, const RigidWork&, GridPhase<float, 3>&, NearGrid<float>&);
template void find_near_grid(Exec&, const RigidMesh&, const RigidWork&, GridPhase<double, 3>&, NearGrid<double>&);

}  // namespace tribo::TRIBO_BACKEND
