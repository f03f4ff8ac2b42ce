#include "tribo/stages/solid/couple.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Whether a block comes before another in the order of blocks.h.
TRIBO_HD bool comes_before(const Cell<3>& a, const Cell<3>& b) {
  for (int k = 0; k < 3; ++k) {
    const std::int32_t tile_a = a[k] >> tile_bits<3>;
    const std::int32_t tile_b = b[k] >> tile_bits<3>;
    if (tile_a != tile_b) return tile_a < tile_b;
  }
  return TileWindow<3>::place_in_tile(a) < TileWindow<3>::place_in_tile(b);
}

/// Number of a block in a sorted list, or -1.
TRIBO_HD Index find_block(const Cell<3>* blocks, Index count, const Cell<3>& block) {
  Index low = 0, high = count;
  while (low < high) {
    const Index middle = low + (high - low) / 2;
    if (comes_before(blocks[middle], block))
      low = middle + 1;
    else
      high = middle;
  }
  if (low == count) return -1;
  for (int k = 0; k < 3; ++k)
    if (blocks[low][k] != block[k]) return -1;
  return low;
}

struct FindBlock {
  const Cell<3>* blocks;
  Index block_count;
  const Cell<3>* wanted;
  Index* found;
  TRIBO_HD void operator()(Index i) const { found[i] = find_block(blocks, block_count, wanted[i]); }
};

template <class Real>
TRIBO_HD Vec<Real, 3> velocity_of(const NodePack<Real>& node) {
  return {{node[0], node[1], node[2]}};
}

/// One node of the samples' blocks: all bodies that are there, one after the other, against the particles.
template <class Real>
struct CoupleNode {
  using Block = ContactBlock;
  const Cell<3>* grid_blocks;
  Index grid_block_count;
  NodePack<Real>* grid;
  const Index* found;
  const Cell<3>* blocks;
  const Index* block_start;
  const ContactPatch* patches;
  ContactNodeSums<Real>* nodes;
  const Real* friction;
  const Index* kinematic;
  Index bodies;
  bool printed;
  Vec<Real, 3>* change;

  TRIBO_HD void operator()(Index i) const {
    const Index b = i / Block::nodes;
    const int node = static_cast<int>(i % Block::nodes);
    for (Index patch = block_start[b]; patch < block_start[b + 1]; ++patch)
      change[Size{patch} * Block::nodes + node] = Vec<Real, 3>::zero();
    if (found[b] < 0) return;
    NodePack<Real>& second = grid[Size{found[b]} * Block::nodes + node];
    const Real m2 = second[3];
    if (!(m2 > Real(0))) return;
    Vec<Real, 3> v2 = velocity_of<Real>(second);
    for (Index patch = block_start[b]; patch < block_start[b + 1]; ++patch) {
      ContactNodeSums<Real>& first = nodes[Size{patch} * Block::nodes + node];
      const Real m1 = first.sum[0];
      if (!(m1 > Real(0))) continue;
      Vec<Real, 3> n;
      if (!normal(b, node, first, n)) continue;
      Vec<Real, 3> v1;
      for (int k = 0; k < 3; ++k) v1[k] = first.sum[1 + k] / m1;
      const Vec<Real, 3> slip = v1 - v2;
      const Real approach = dot(slip, n);
      if (!(approach > Real(0))) continue;  // eq. 46
      const Index body = patches[patch].field;
      const bool fixed = !printed && kinematic[body] != 0;
      const Real mu = friction[printed ? 0 : Size{body} * bodies + body];
      const Vec<Real, 3> along = slip - n * approach;
      const Real speed = sqrt(squared_norm(along));
      const Real reduced = fixed ? m2 : m1 / (m1 + m2) * m2;
      const Real push = reduced * approach;  // eqs 47, 48
      const auto impulse = [&](Real rub) {
        return speed > Real(0) ? n * push + along * (rub / speed) : n * push;
      };
      if (printed) {  // eqs 49, 50: each side has a cap of its own
        const Real rub1 = min(mu * push / m1, speed), rub2 = min(mu * push / m2, speed);
        const Vec<Real, 3> change1 = impulse(rub1 * m1) * (Real(1) / m1);
        v2 = v2 + impulse(rub2 * m2) * (Real(1) / m2);
        for (int k = 0; k < 3; ++k) first.sum[1 + k] -= m1 * change1[k];
        continue;
      }
      const Vec<Real, 3> P = impulse(min(mu * push, reduced * speed));
      v2 = v2 + P * (Real(1) / m2);
      if (!fixed) change[Size{patch} * Block::nodes + node] = P * (Real(-1) / m1);
    }
    second = node_pack<Real>(v2[0], v2[1], v2[2], m2);
  }

 private:
  /// Out of the body (eq. 45). Where its normals cancel, in a thin sheet or at a sharp edge, the side on which the
  /// particles are decides instead: any direction keeps momentum and energy, and only its quality differs.
  TRIBO_HD bool normal(Index b, int node, const ContactNodeSums<Real>& first, Vec<Real, 3>& n) const {
    n = {{first.sum[4], first.sum[5], first.sum[6]}};
    const Real length = sqrt(squared_norm(n));
    if (length >= Real(0.3) * first.sum[0]) {
      n = n * (Real(1) / length);
      return true;
    }
    Real largest = Real(0);
    for (int k = 0; k < 3; ++k) {
      const Real ahead = mass_beside(b, node, k, 1), behind = mass_beside(b, node, k, -1);
      n[k] = ahead - behind;
      largest = max(largest, max(ahead, behind));
    }
    const Real rise = sqrt(squared_norm(n));
    if (!(rise > Real(1e-3) * largest)) return false;
    n = n * (Real(1) / rise);
    return true;
  }
  /// Mass of the particles at the next node along an axis.
  TRIBO_HD Real mass_beside(Index b, int node, int axis, int step) const {
    Cell<3> at = unflatten<3>(node, Block::side);
    at[axis] += step;
    Index block = found[b];
    if (at[axis] < 0 || at[axis] >= Block::side) {
      Cell<3> other = blocks[b];
      other[axis] += step;
      at[axis] &= Block::side - 1;
      block = find_block(grid_blocks, grid_block_count, other);
    }
    return block < 0 ? Real(0) : grid[Size{block} * Block::nodes + flatten(at, Block::side)][3];
  }
};

}  // namespace

template <class Real>
void couple(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants, const GridNodes<Real, 3>& grid,
            ContactFields<Real>& fields, CouplingWorkspace<Real>& work) {
  work.found.resize_discard(fields.block_count);
  work.change.resize_discard(Size{fields.patch_count} * ContactBlock::nodes);
  parallel_for(ex, "couple", fields.block_count,
               FindBlock{grid.blocks, grid.block_count, fields.blocks.data(), work.found.data()});
  parallel_for(ex, "couple", fields.block_count * ContactBlock::nodes,
               CoupleNode<Real>{grid.blocks, grid.block_count, grid.nodes, work.found.data(),
                                fields.blocks.data(), fields.block_start.data(), fields.patches.data(),
                                fields.nodes.data(), mesh.friction.data(), mesh.kinematic.data(), mesh.bodies,
                                constants.spec.form == ContactSpec::Form::paper, work.change.data()});
}

#define TRIBO_INSTANTIATE(Real)                                                                             \
  template void couple(Exec&, const SolidMesh<Real>&, const ContactConstants&, const GridNodes<Real, 3>&,   \
                       ContactFields<Real>&, CouplingWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
