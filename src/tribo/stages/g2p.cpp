#include "tribo/stages/law_stages.h"
#include "tribo/stages/per_material.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
Index g2p(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state, Workspace<Real, D>& work) {
  using Law = LawStages<Real, D>;
  using Bins = typename Law::Bins;
  if (constants.fast() || steps_packed) {
    each_material(ex, constants, state, work, [&](const Law& law, const Bins& bins) { law.g2p(bins, dt); });
  } else {
    if constexpr (!steps_packed) gather_any(ex, constants, dt, state, work);
    each_material(ex, constants, state, work, [&](const Law& law, const Bins& bins) { law.deform(bins, dt); });
  }
  return take_bounds(ex, "g2p", state, work);
}

#define TRIBO_INSTANTIATE(Real, D) \
  template Index g2p(Exec&, const Constants<Real, D>&, double, State<Real, D>&, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
