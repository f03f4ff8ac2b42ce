#include "tribo/grid/arena.h"
#include "tribo/grid/grid_node.h"
#include "tribo/grid/stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real, int D>
struct BlockSums {
  NodePack<Real> node[BlockShape<D>::nodes];
  Real speed[Team::size];
};

/// Sums the arenas that overlap one grid block in fixed order, then turns momentum into velocity and applies gravity
/// and colliders.
template <class Real, int D, int Kernel>
struct UpdateBlock {
  using Pack = NodePack<Real>;
  using Shape = BlockShape<D, Kernel>;

  const Cell<D>* blocks;
  TouchView touches;
  const Pack* arenas;
  Real dx;
  Vec<Real, D> velocity_gain;  ///< gravity times dt
  typename Colliders<Real, D>::View colliders;
  Pack* grid;
  Real* block_speed;

  TRIBO_HD void operator()(const Team& team, Index b, BlockSums<Real, D>& sums) const {
    sum_arenas<D, Kernel>(team, b, touches, arenas, sums.node);
    Real fastest = Real(0);
    TallyRun run(colliders.tally);
    for (int i = team.rank(); i < Shape::nodes; i += Team::size) {
      const Pack sum = sums.node[i];
      const Vec<Real, D> v = contact_velocity<Real, D>(
          free_velocity<Real, D>(sum, velocity_gain), sum[3],
          blocks[b] * std::int32_t{Shape::side} + unflatten<D>(i, Shape::side), dx, colliders, run);
      for (int k = 0; k < D; ++k) fastest = LargerOrNan<Real>{}(fastest, abs(v[k]));
      const Pack out = node_pack<Real>(v[0], v[1], D == 3 ? v[D - 1] : Real(0), sum[3]);
      grid[Size{b} * Shape::nodes + i] = out;
    }
    run.end();
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
      for_each_team<BlockSums<Real, D>>(ex, "grid", work.block_count,
                                        UpdateBlock<Real, D, kernel()>{work.blocks.data(),
                                                                       {work.touch.data(), work.touch_start.data()},
                                                                       arenas.data(),
                                                                       constants.dx,
                                                                       gain,
                                                                       obstacles,
                                                                       grid.data(),
                                                                       work.block_speed.data()});
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
