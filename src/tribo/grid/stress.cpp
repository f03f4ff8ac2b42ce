#include "tribo/grid/law_stages.h"
#include "tribo/grid/per_material.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
void evaluate_stress(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work) {
  using Law = LawStages<Real, D>;
  each_material(ex, constants, state, work, [](const Law& law, const typename Law::Bins& bins) { law.stress(bins); });
  take_bounds(ex, "stress", state, work);
}

template <class Real, int D>
void observe_strain(Exec& ex, const Constants<Real, D>& constants, State<Real, D>& state, Workspace<Real, D>& work,
                    Array<Real>& energy_density, Array<Real>& volume_ratio, Array<Real>& strain_norm) {
  energy_density.resize_discard(state.count);
  strain_norm.resize_discard(state.count);
  volume_ratio.resize_discard(state.count);
  for (std::size_t g = 0; g < constants.laws.size(); ++g)
    constants.laws[g]->observe(ex, view(state.particles), work.group_particles[g], work.group_particles[g + 1],
                               energy_density.data(), volume_ratio.data(), strain_norm.data());
}

#define TRIBO_INSTANTIATE(Real, D)                                                                                   \
  template void evaluate_stress(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&);             \
  template void observe_strain(Exec&, const Constants<Real, D>&, State<Real, D>&, Workspace<Real, D>&, Array<Real>&, \
                               Array<Real>&, Array<Real>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
