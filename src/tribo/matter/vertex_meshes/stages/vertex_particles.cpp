#include "tribo/matter/vertex_meshes/stages/vertex_particles.h"

#include "tribo/grid/particle_access.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real, class Access>
struct TakeVertex {
  Access particles;
  Index begin;
  VertexIds ids;
  FieldView<Real, 3> x, v;

  TRIBO_HD void operator()(Index i) const {
    const Index vertex = particles.id(begin + i) - ids.first;
    if (vertex < 0 || vertex >= ids.count) return;
    const Vec<Real, 3> at = particles.x(begin + i), going = particles.v(begin + i);
    for (int k = 0; k < 3; ++k) {
      x[k][vertex] = at[k];
      v[k][vertex] = going[k];
    }
  }
};

template <class Real, class Access>
struct GiveVelocity {
  Access particles;
  Index begin;
  VertexIds ids;
  FieldView<const Real, 3> from;

  TRIBO_HD void operator()(Index i) const {
    const Index vertex = particles.id(begin + i) - ids.first;
    if (vertex >= 0 && vertex < ids.count) particles.put_v(begin + i, vector_at(from, vertex));
  }
};

}  // namespace

template <class Real>
void take_vertices(Exec& ex, const VertexIds& ids, State<Real, 3>& particles, Workspace<Real, 3>& work,
                   SolidState<Real>& vertices) {
  const PlaceRange range = places_of(particles, work, ids.group);
  read_particles(particles, work, [&]<class Access>(const Access& access) {
    parallel_for(ex, "vertices", range.end - range.begin,
                 TakeVertex<Real, Access>{access, range.begin, ids, view(vertices.x), view(vertices.v)});
  });
}

template <class Real>
void give_velocities(Exec& ex, const VertexIds& ids, const Field<Real, 3>& v, State<Real, 3>& particles,
                     Workspace<Real, 3>& work) {
  const PlaceRange range = places_of(particles, work, ids.group);
  change_particles(particles, work, [&]<class Access>(const Access& access) {
    parallel_for(ex, "vertices", range.end - range.begin,
                 GiveVelocity<Real, Access>{access, range.begin, ids, view(v)});
  });
}

#define TRIBO_INSTANTIATE(Real)                                                                                  \
  template void take_vertices(Exec&, const VertexIds&, State<Real, 3>&, Workspace<Real, 3>&, SolidState<Real>&); \
  template void give_velocities(Exec&, const VertexIds&, const Field<Real, 3>&, State<Real, 3>&, Workspace<Real, 3>&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
