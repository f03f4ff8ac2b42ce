#include "tribo/matter/vertex_meshes/stages/vertex_particles.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real>
struct TakeVertex {
  const Index* id;
  Index first_id, count;
  FieldView<const Real, 3> from_x, from_v;
  FieldView<Real, 3> x, v;

  TRIBO_HD void operator()(Index i) const {
    const Index vertex = id[i] - first_id;
    if (vertex < 0 || vertex >= count) return;
    for (int k = 0; k < 3; ++k) {
      x[k][vertex] = from_x[k][i];
      v[k][vertex] = from_v[k][i];
    }
  }
};

template <class Real>
struct GiveVelocity {
  const Index* id;
  Index first_id, count;
  FieldView<const Real, 3> from;
  FieldView<Real, 3> v;

  TRIBO_HD void operator()(Index i) const {
    const Index vertex = id[i] - first_id;
    if (vertex < 0 || vertex >= count) return;
    for (int k = 0; k < 3; ++k) v[k][i] = from[k][vertex];
  }
};

}  // namespace

template <class Real>
void take_vertices(Exec& ex, const State<Real, 3>& particles, const Workspace<Real, 3>& work, Index first_id,
                   SolidState<Real>& vertices) {
  if constexpr (steps_packed)
    if (work.packed != nullptr && work.packed->active)
      return take_packed_vertices(ex, *work.packed, first_id, vertices);
  const Particles<Real, 3>& p = particles.particles;
  parallel_for(ex, "vertices", particles.count,
               TakeVertex<Real>{p.id.c[0].data(), first_id, vertices.count, view(p.x), view(p.v), view(vertices.x),
                                view(vertices.v)});
}

template <class Real>
void give_velocities(Exec& ex, const Field<Real, 3>& v, Index first_id, Index count, State<Real, 3>& particles,
                     Workspace<Real, 3>& work) {
  if constexpr (steps_packed)
    if (work.packed != nullptr && work.packed->active)
      return give_packed_velocities(ex, v, first_id, count, *work.packed);
  parallel_for(
      ex, "vertices", particles.count,
      GiveVelocity<Real>{particles.particles.id.c[0].data(), first_id, count, view(v), view(particles.particles.v)});
}

#define TRIBO_INSTANTIATE(Real)                                                                                   \
  template void take_vertices(Exec&, const State<Real, 3>&, const Workspace<Real, 3>&, Index, SolidState<Real>&); \
  template void give_velocities(Exec&, const Field<Real, 3>&, Index, Index, State<Real, 3>&, Workspace<Real, 3>&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
