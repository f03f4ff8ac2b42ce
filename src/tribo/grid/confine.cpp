#include "tribo/grid/confine.h"
#include "tribo/grid/stages.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Puts back the particles of one bin; leaves bins that no collider reaches after a look at their block.
template <class Real, int D>
struct ConfineBin {
  /// Particles have moved by up to a cell since they were sorted, or by what they may drift.
  static constexpr double left_by = drift_cells > 0 ? drift_cells : 1;
  struct Scratch {
    Real shift[Team::size];
  };

  ParticlesView<Real, D> p;
  const Bin<D>* bins;
  typename Colliders<Real, D>::View colliders;
  Real dx;
  Real* bin_shift;

  TRIBO_HD void operator()(const Team& team, Index b, Scratch& scratch) const {
    const Bin<D> bin = bins[b];
    Real largest = Real(0);
    if (may_be_too_deep<Real, D>(colliders, bin.block, dx, left_by, 0)) {
      for (Index i = bin.begin + team.rank(); i < bin.end; i += Team::size) {
        Vec<Real, D> x;
        for (int k = 0; k < D; ++k) x[k] = p.x[k][i];
        const Vec<Real, D> to = confined<Real, D>(colliders, x, dx);
        for (int k = 0; k < D; ++k) {
          p.x[k][i] = to[k];
          largest = max(largest, abs(to[k] - x[k]));
        }
      }
    }
    scratch.shift[team.rank()] = largest;
    team.barrier();
    if (team.rank() != 0) return;
    for (int i = 1; i < Team::size; ++i) largest = max(largest, scratch.shift[i]);
    bin_shift[b] = largest;
  }
};

template <class Real>
struct LoadShift {
  const Real* values;
  TRIBO_HD Real operator()(Index i) const { return values[i]; }
};
}  // namespace

template <class Real, int D>
double confine(Exec& ex, const Constants<Real, D>& constants, const typename Colliders<Real, D>::View& colliders,
               State<Real, D>& state, Workspace<Real, D>& work) {
  using Kernel = ConfineBin<Real, D>;
  work.bin_shift.resize_discard(state.bin_count);
  for_each_team<typename Kernel::Scratch>(
      ex, "confine", state.bin_count,
      Kernel{view(state.particles), state.bins.data(), colliders, constants.dx, work.bin_shift.data()});
  if constexpr (drift_cells == 0) return 0;  // sorted anew in any case
  return static_cast<double>(
      reduce(ex, "confine", state.bin_count, Real(0), LoadShift<Real>{work.bin_shift.data()}, Larger<Real>{}));
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                     \
  template double confine(Exec&, const Constants<Real, D>&, const typename Colliders<Real, D>::View&, State<Real, D>&, \
                          Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
