#include "tribo/grid/cuda/packed.cuh"
#include "tribo/matter/vertex_meshes/stages/vertex_particles.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Layout = PackedLayout<3>;

/// The vertex that a slot's particle is, counted from `first_id`; may be none.
template <class Real>
__device__ Index vertex_at(const PackedView<Real, 3>& records, const Index* id, Index first_id, Index slot) {
  const Quad<Real> quad = records.quad[Layout::home / 4][slot];
  return id[index_from(quad.v[Layout::home % 4])] - first_id;
}

template <class Real>
struct TakePackedVertex {
  PackedView<Real, 3> from;
  const Index* id;
  Index first_id, count;
  FieldView<Real, 3> x, v;

  __device__ void operator()(Index slot) const {
    const Index vertex = vertex_at(from, id, first_id, slot);
    if (vertex < 0 || vertex >= count) return;
    PackedParticle<Real, 3> particle;
    particle.template load<0, 2>(from, slot);
    for (int k = 0; k < 3; ++k) {
      x[k][vertex] = particle.number[Layout::x + k];
      v[k][vertex] = particle.number[Layout::v + k];
    }
  }
};

template <class Real>
struct GivePackedVelocity {
  FieldView<const Real, 3> from;
  const Index* id;
  Index first_id, count;
  PackedView<Real, 3> to;

  __device__ void operator()(Index slot) const {
    const Index vertex = vertex_at(to, id, first_id, slot);
    if (vertex < 0 || vertex >= count) return;
    static_assert(Layout::v / 4 == (Layout::v + 2) / 4);
    constexpr int quad = Layout::v / 4;
    PackedParticle<Real, 3> particle;
    particle.template load<quad, quad + 1>(to, slot);
    for (int k = 0; k < 3; ++k) particle.number[Layout::v + k] = from[k][vertex];
    particle.template store<quad, quad + 1>(to, slot);
  }
};

}  // namespace

template <class Real>
void take_packed_vertices(Exec& ex, PackedState& packed, Index first_id, SolidState<Real>& vertices) {
  auto& p = static_cast<PackedParticles<Real, 3>&>(packed);
  parallel_for(
      ex, "vertices", p.count,
      TakePackedVertex<Real>{p.now.view(), p.id.data(), first_id, vertices.count, view(vertices.x), view(vertices.v)});
}

template <class Real>
void give_packed_velocities(Exec& ex, const Field<Real, 3>& v, Index first_id, Index count, PackedState& packed) {
  auto& p = static_cast<PackedParticles<Real, 3>&>(packed);
  p.columns_valid = false;
  parallel_for(ex, "vertices", p.count, GivePackedVelocity<Real>{view(v), p.id.data(), first_id, count, p.now.view()});
}

#define TRIBO_INSTANTIATE(Real)                                                      \
  template void take_packed_vertices(Exec&, PackedState&, Index, SolidState<Real>&); \
  template void give_packed_velocities(Exec&, const Field<Real, 3>&, Index, Index, PackedState&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
