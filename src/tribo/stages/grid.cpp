#include <cmath>

#include "tribo/stages/stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real, int D>
struct BlockSums {
  NodePack<Real> node[BlockShape<D>::nodes];
  Real speed[Team::size];
};

/// The larger; NaN when either is.
template <class Real>
struct LargerOrNan {
  TRIBO_HD Real operator()(Real a, Real b) const {
    if (std::isnan(a)) return a;
    return b <= a ? a : b;
  }
};

/// Visits the nodes of a block whose coordinates lie in [low, high): a team of one loops over just these, in a larger
/// team each thread looks at its own nodes.
template <int D, class Visit>
TRIBO_HD void each_node_in(const Team& team, const Cell<D>& low, const Cell<D>& high, const Visit& visit) {
  using Shape = BlockShape<D>;
  if constexpr (Team::size == 1) {
    Cell<D> c = low;
    if constexpr (D == 3) {
      for (c[0] = low[0]; c[0] < high[0]; ++c[0])
        for (c[1] = low[1]; c[1] < high[1]; ++c[1])
          for (c[2] = low[2]; c[2] < high[2]; ++c[2]) visit(flatten(c, Shape::side), c);
    } else {
      for (c[0] = low[0]; c[0] < high[0]; ++c[0])
        for (c[1] = low[1]; c[1] < high[1]; ++c[1]) visit(flatten(c, Shape::side), c);
    }
  } else {
    for (int i = team.rank(); i < Shape::nodes; i += Team::size) {
      const Cell<D> c = unflatten<D>(i, Shape::side);
      bool inside = true;
      for (int k = 0; k < D; ++k) inside = inside && c[k] >= low[k] && c[k] < high[k];
      if (inside) visit(i, c);
    }
  }
}

/// Sums the arenas that overlap one grid block in fixed order, then turns momentum into velocity and applies gravity
/// and colliders.
template <class Real, int D, int Kernel>
struct UpdateBlock {
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D, Kernel>;

  const Cell<D>* blocks;
  const Index* touch;
  const Index* touch_start;
  const Pack* arenas;
  Real dx;
  Vec<Real, D> velocity_gain;  ///< gravity times dt
  typename Colliders<Real, D>::View colliders;
  Pack* grid;
  Real* block_speed;

  TRIBO_HD void operator()(const Team& team, Index b, BlockSums<Real, D>& sums) const {
    for (int i = team.rank(); i < Shape::nodes; i += Team::size) sums.node[i] = Pack(Real(0));
    for (Index t = touch_start[b]; t < touch_start[b + 1]; ++t) {
      const Index bin = touch[t] / Shape::neighbors;
      const Cell<D> neighbor = unflatten<D>(touch[t] % Shape::neighbors, Shape::neighbor_side);
      const Pack* const arena = arenas + Size{bin} * Shape::arena_nodes;
      // Node c of this block is node c + shift of the arena.
      Cell<D> shift, low, high;
      for (int k = 0; k < D; ++k) {
        shift[k] = Shape::side * (neighbor[k] + Shape::first_neighbor) + Shape::margin;
        low[k] = shift[k] < 0 ? -shift[k] : 0;
        high[k] = Shape::arena_side - shift[k] < Shape::side ? Shape::arena_side - shift[k] : Shape::side;
      }
      each_node_in<D>(team, low, high, [&](int i, const Cell<D>& c) {
        sums.node[i] = sums.node[i] + arena[flatten(c + shift, Shape::arena_side)];
      });
    }

    Real fastest = Real(0);
    for (int i = team.rank(); i < Shape::nodes; i += Team::size) {
      const Pack sum = sums.node[i];
      const Real mass = sum[3];
      Vec<Real, D> v = Vec<Real, D>::zero();
      if (mass > Real(0)) {
        const Real inverse = Real(1) / mass;
        const Cell<D> c = unflatten<D>(i, Shape::side);
        Vec<Real, D> x;
        for (int k = 0; k < D; ++k) {
          v[k] = fma(sum[k], inverse, velocity_gain[k]);
          x[k] = dx * Real(blocks[b][k] * Shape::side + c[k]);
        }
        v = colliders.constrain(x, v, Real(1e-3) * dx);
        for (int k = 0; k < D; ++k) fastest = LargerOrNan<Real>{}(fastest, abs(v[k]));
      }
      const Pack out = node_pack<Real>(v[0], v[1], D == 3 ? v[D - 1] : Real(0), mass);
      grid[Size{b} * Shape::nodes + i] = out;
    }
    sums.speed[team.rank()] = fastest;
    team.barrier();
    if (team.rank() == 0) {
      for (int i = 1; i < Team::size; ++i) fastest = LargerOrNan<Real>{}(fastest, sums.speed[i]);
      block_speed[b] = fastest;
    }
  }
};

template <class Real>
struct Load {
  const Real* values;
  TRIBO_HD Real operator()(Index i) const { return values[i]; }
};

}  // namespace

template <class Real, int D>
double update_grid(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
                   double dt, Workspace<Real, D>& work) {
  using View = typename Colliders<Real, D>::View;
  const auto update = [&](const Array<NodePack<Real>>& arenas, const Vec<Real, D>& gain, const View& obstacles,
                          Array<NodePack<Real>>& grid) {
    with_kernel(constants.kernel, [&](auto kernel) {
      for_each_team<BlockSums<Real, D>>(
          ex, "grid", work.block_count,
          UpdateBlock<Real, D, kernel()>{work.blocks.data(), work.touch.data(), work.touch_start.data(), arenas.data(),
                                         constants.dx, gain, obstacles, grid.data(), work.block_speed.data()});
    });
  };
  if (constants.transfer.flip > 0) update(work.arenas_before, Vec<Real, D>::zero(), View{}, work.grid_before);
  update(work.arenas, constants.gravity * static_cast<Real>(dt), colliders, work.grid);
  return static_cast<double>(
      reduce(ex, "grid", work.block_count, Real(0), Load<Real>{work.block_speed.data()}, LargerOrNan<Real>{}));
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                \
  template double update_grid(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&, double, \
                              Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
