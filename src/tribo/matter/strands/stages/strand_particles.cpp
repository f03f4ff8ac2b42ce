#include "tribo/matter/strands/stages/strand_particles.h"

#include "tribo/matter/strands/stages/rod.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real>
struct PlaceParticle {
  const Index* id;
  FieldView<const Real, 3> x_from, v_from;
  FieldView<Real, 3> x, v;
  TRIBO_HD void operator()(Index i) const {
    const Index vertex = id[i];
    for (int k = 0; k < 3; ++k) {
      x[k][i] = x_from[k][vertex];
      v[k][i] = v_from[k][vertex];
    }
  }
};

template <class Real>
struct TakeVelocity {
  const Index* id;
  FieldView<const Real, 3> from;
  bool changes;
  FieldView<const Real, 3> change;  ///< to be added, if there is any
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    const Index vertex = id[i];
    for (int k = 0; k < 3; ++k) v[k][vertex] = changes ? from[k][i] + change[k][i] : from[k][i];
  }
};

}  // namespace

template <class Real>
void place_strand_particles(Exec& ex, const RodState<Real>& rods, Index count, Particles<Real, 3>& particles) {
  parallel_for(
      ex, "strand grid", count,
      PlaceParticle<Real>{particles.id.c[0].data(), view(rods.x), view(rods.v), view(particles.x), view(particles.v)});
}

template <class Real>
void take_strand_velocities(Exec& ex, const Particles<Real, 3>& particles, const Field<Real, 3>* change, Index count,
                            RodState<Real>& rods) {
  const bool changes = change != nullptr;
  parallel_for(ex, "strand grid", count,
               TakeVelocity<Real>{particles.id.c[0].data(), view(particles.v), changes,
                                  changes ? view(*change) : FieldView<const Real, 3>{}, view(rods.v)});
}

#define TRIBO_INSTANTIATE(Real)                                                                   \
  template void place_strand_particles(Exec&, const RodState<Real>&, Index, Particles<Real, 3>&); \
  template void take_strand_velocities(Exec&, const Particles<Real, 3>&, const Field<Real, 3>*, Index, RodState<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
