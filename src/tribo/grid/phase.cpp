#include "tribo/grid/phase.h"

#include "tribo/exec/copy_field.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
void GridPhase<Real, D>::begin(Exec& ex) {
  packed_ = false;
  if (sorts()) sort_particles(ex, constants, state, work);
  if (!work.grid_valid) build_grid(ex, constants, state, work);
}

template <class Real, int D>
bool GridPhase<Real, D>::begin_packed(Exec& ex) {
  packed_ = false;
  if constexpr (steps_packed) packed_ = pack_state(ex, constants, state, work);
  return packed_;
}

template <class Real, int D>
double GridPhase<Real, D>::scatter(Exec& ex, const typename Colliders<Real, D>::View& colliders, double dt) {
  if constexpr (steps_packed) {
    if (packed_) {
      packed_nodes_ = packed_scatter(ex, constants, colliders, dt, work);
      return 0;
    }
  }
  undo();
  p2g(ex, constants, state, dt, work);
  return update_grid(ex, constants, colliders, dt, work);
}

template <class Real, int D>
void GridPhase<Real, D>::try_gather(Exec& ex, double dt) {
  Particles<Real, D>& p = state.particles;
  copy_field(ex, "g2p", p.C, state.count, kept_.C);
  copy_field(ex, "g2p", p.F, state.count, kept_.F);
  copy_field(ex, "g2p", p.history, state.count, kept_.history);
  copy_field(ex, "g2p", p.tau, state.count, kept_.tau);
  tried_ = true;
  gather(ex, dt);
}

template <class Real, int D>
void GridPhase<Real, D>::undo() {
  if (!tried_) return;
  tried_ = false;
  const auto swap = [](auto& a, auto& b) {
    for (int k = 0; k < std::decay_t<decltype(a)>::components; ++k) a.c[k].swap(b.c[k]);
  };
  swap(state.particles.C, kept_.C);
  swap(state.particles.F, kept_.F);
  swap(state.particles.history, kept_.history);
  swap(state.particles.tau, kept_.tau);
}

template <class Real, int D>
PackedOutcome GridPhase<Real, D>::gather_packed(Exec& ex, const StepColliders<Real, D>& colliders, double acted,
                                                double speed_limit, const std::function<void()>& land) {
  if constexpr (steps_packed) return packed_gather(ex, constants, colliders, acted, speed_limit, land, state, work);
  return {};
}

template <class Real, int D>
void GridPhase<Real, D>::loaded(Exec& ex) {
  tried_ = false;
  work.grid_valid = false;
  if (state.bin_count > 0) list_groups(ex, constants, state, work);
}

template class GridPhase<float, 2>;
template class GridPhase<float, 3>;
template class GridPhase<double, 2>;
template class GridPhase<double, 3>;

}  // namespace tribo::TRIBO_BACKEND
