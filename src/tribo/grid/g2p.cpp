#include "tribo/grid/law_stages.h"
#include "tribo/grid/per_material.h"

namespace tribo::TRIBO_BACKEND {

template <class Real, int D>
Index g2p(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state, Workspace<Real, D>& work) {
  if constexpr (!steps_packed) {
    if (!constants.fast()) {
      gather_any(ex, constants, dt, state, work);
      return deform(ex, constants, dt, state, work);
    }
  }
  using Law = LawStages<Real, D>;
  each_material(ex, constants, state, work, [&](const Law& law, const typename Law::Bins& bins) { law.g2p(bins, dt); });
  return take_bounds(ex, "g2p", state, work);
}

template <class Real, int D>
Index deform(Exec& ex, const Constants<Real, D>& constants, double dt, State<Real, D>& state,
             Workspace<Real, D>& work) {
  using Law = LawStages<Real, D>;
  each_material(ex, constants, state, work,
                [&](const Law& law, const typename Law::Bins& bins) { law.deform(bins, dt); });
  return take_bounds(ex, "g2p", state, work);
}

#define TRIBO_INSTANTIATE(Real, D)                                                                    \
  template Index g2p(Exec&, const Constants<Real, D>&, double, State<Real, D>&, Workspace<Real, D>&); \
  template Index deform(Exec&, const Constants<Real, D>&, double, State<Real, D>&, Workspace<Real, D>&);
TRIBO_FOR_EACH_INSTANCE(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
