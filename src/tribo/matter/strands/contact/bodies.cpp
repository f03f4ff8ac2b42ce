#include "tribo/matter/strands/contact/bodies.h"

#include <utility>

#include "tribo/exec/key_bits.h"
#include "tribo/matter/strands/contact/impulses.h"
#include "tribo/matter/strands/contact/obstacles.h"

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* bodies_label = "strands on bodies";

/// Contact looks twice the radius ahead, and impulses between strands may make them faster than they are now.
constexpr double looked_ahead = 2;

template <class Real>
struct PutVertexBox {
  FieldView<const Real, 3> x, v;
  const Real *inverse_mass, *radius;
  Real dt;
  BoxView<Real> box;
  TRIBO_HD void operator()(Index i) const {
    const Vec<Real, 3> at = vector_at(x, i);
    SweptBox<Real> swept(at, vector_at(v, i));
    swept.valid = swept.valid && inverse_mass[i] > Real(0);
    swept.close(Real(looked_ahead) * radius[i], Real(looked_ahead) * dt);
    box.put(i, {swept.low, swept.high});
  }
};
template <class Real>
struct PutTriangleBox {
  FieldView<const Index, 3> triangle;
  FieldView<const Real, 3> x, v;
  Index first;
  Real dt;
  BoxView<Real> box;
  TRIBO_HD void operator()(Index t) const {
    SweptBox<Real> swept(vector_at(x, triangle[0][t]), vector_at(v, triangle[0][t]));
    for (int c = 1; c < 3; ++c) swept.add(vector_at(x, triangle[c][t]), vector_at(v, triangle[c][t]));
    swept.close(Real(0), Real(looked_ahead) * dt);
    box.put(first + t, {swept.low, swept.high});
  }
};

/// Not what a strand grows on, next to its root.
struct IsOther {
  const Index *vertex_strand, *start, *own_body, *own_count, *triangle_body;
  TRIBO_HD bool operator()(Index vertex, Index triangle) const {
    const Index s = vertex_strand[vertex];
    return triangle_body[triangle] != own_body[s] || vertex - start[s] >= own_count[s];
  }
};
struct KeyNear {
  const NearPair* near;
  const Index* triangle_body;
  Index bodies;
  std::uint64_t* key;
  Index* entry;
  TRIBO_HD void operator()(Index k) const {
    key[k] = static_cast<std::uint64_t>(near[k].first) * static_cast<std::uint64_t>(bodies) +
             static_cast<std::uint64_t>(triangle_body[near[k].second]);
    entry[k] = k;
  }
};

template <class Real>
struct FlagContact {
  const Index* count;
  const RodObstacle<Real>* obstacle;
  Index* flag;
  TRIBO_HD void operator()(Index k) const {
    flag[k] = k % obstacles_each < count[k / obstacles_each] && obstacle[k].triangle >= 0 ? 1 : 0;
  }
};
template <class Real>
struct KeyCorner {
  const Index* contact;
  const RodObstacle<Real>* obstacle;
  FieldView<const Index, 3> triangle;
  std::uint64_t* key;
  Index* corner;
  TRIBO_HD void operator()(Index e) const {
    key[e] = static_cast<std::uint64_t>(triangle[e % 3][obstacle[contact[e / 3]].triangle]);
    corner[e] = e;
  }
};
/// How much the bodies' places yield to an impulse, as many times as something is there.
template <class Real>
struct LetBodyYield {
  const Index* contact;
  FieldView<const Index, 3> triangle;
  const Real* inverse_mass;
  const std::uint64_t* key;
  Index entries;
  RodObstacle<Real>* obstacle;
  TRIBO_HD void operator()(Index k) const {
    RodObstacle<Real>& one = obstacle[contact[k]];
    one.gives = 0;
    for (int c = 0; c < 3; ++c) {
      const Index vertex = triangle[c][one.triangle];
      const auto own = static_cast<std::uint64_t>(vertex);
      const Index from = first_from(key, entries, 0, own), to = first_from(key, entries, from, own + 1);
      const auto share = static_cast<double>(one.share[c]);
      one.gives += static_cast<double>(to - from) * share * share * static_cast<double>(inverse_mass[vertex]);
    }
    one.slips = one.gives;
  }
};
/// The first of what is at a vertex adds up all of it.
template <class Real>
struct PushBody {
  const std::uint64_t* key;
  const Index *corner, *contact;
  Index entries;
  const RodObstacle<Real>* obstacle;
  const Real* inverse_mass;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index e) const {
    if (e > 0 && key[e] == key[e - 1]) return;
    Vec<double, 3> sum = Vec<double, 3>::zero();
    for (Index k = e; k < entries && key[k] == key[e]; ++k) {
      const RodObstacle<Real>& one = obstacle[contact[corner[k] / 3]];
      sum += static_cast<double>(one.share[corner[k] % 3]) * one.given;
    }
    const auto vertex = static_cast<Index>(key[e]);
    for (int k = 0; k < 3; ++k)
      v[k][vertex] =
          static_cast<Real>(static_cast<double>(v[k][vertex]) - static_cast<double>(inverse_mass[vertex]) * sum[k]);
  }
};

}  // namespace

template <class Real>
void list_near_bodies(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                      StrandBodies<Real>& bodies) {
  const SolidMesh<Real>& solids = *bodies.mesh;
  const SolidState<Real>& skin = *bodies.state;
  BoxSearch<Real>& search = bodies.search;
  search.box.resize_discard(mesh.vertices + solids.triangles);
  parallel_for(ex, bodies_label, mesh.vertices,
               PutVertexBox<Real>{view(state.x), view(state.v), mesh.inverse_mass.data(), mesh.radius.data(),
                                  static_cast<Real>(dt), view(search.box)});
  parallel_for(ex, bodies_label, solids.triangles,
               PutTriangleBox<Real>{view(solids.triangle), view(skin.x), view(skin.v), mesh.vertices,
                                    static_cast<Real>(dt), view(search.box)});
  list_near_between(ex, bodies_label, "vertices of strands and triangles", mesh.vertices, solids.triangles,
                    IsOther{mesh.vertex_strand.data(), mesh.start.data(), bodies.own_body.data(),
                            bodies.own_count.data(), bodies.triangle_body.data()},
                    search);
  bodies.key.resize_discard(search.near_count);
  bodies.entry.resize_discard(search.near_count);
  if (search.near_count == 0) return;
  parallel_for(
      ex, bodies_label, search.near_count,
      KeyNear{search.near.data(), bodies.triangle_body.data(), solids.bodies, bodies.key.data(), bodies.entry.data()});
  bodies.sorter.sort(ex, bodies_label, bodies.key, bodies.entry, search.near_count,
                     key_bits(static_cast<std::uint64_t>(mesh.vertices) * static_cast<std::uint64_t>(solids.bodies)));
}

template <class Real>
void let_bodies_yield(Exec& ex, const RodMesh<Real>& mesh, RodObstacles<Real>& obstacles, StrandBodies<Real>& bodies) {
  const Index slots = mesh.vertices * obstacles_each;
  bodies.flag.resize_discard(slots);
  parallel_for(ex, bodies_label, slots,
               FlagContact<Real>{obstacles.count.data(), obstacles.obstacle.data(), bodies.flag.data()});
  bodies.contacts = list_marked(ex, bodies_label, bodies.flag, slots, bodies.contact);
  const Index entries = 3 * bodies.contacts;
  bodies.corner_key.resize_discard(entries);
  bodies.corner.resize_discard(entries);
  if (entries == 0) return;
  const SolidMesh<Real>& solids = *bodies.mesh;
  parallel_for(ex, bodies_label, entries,
               KeyCorner<Real>{bodies.contact.data(), obstacles.obstacle.data(), view(solids.triangle),
                               bodies.corner_key.data(), bodies.corner.data()});
  bodies.sorter.sort(ex, bodies_label, bodies.corner_key, bodies.corner, entries,
                     key_bits(static_cast<std::uint64_t>(solids.vertices)));
  parallel_for(ex, bodies_label, bodies.contacts,
               LetBodyYield<Real>{bodies.contact.data(), view(solids.triangle), solids.inverse_mass.data(),
                                  bodies.corner_key.data(), entries, obstacles.obstacle.data()});
}

template <class Real>
void push_bodies(Exec& ex, const RodObstacles<Real>& obstacles, StrandBodies<Real>& bodies) {
  const Index entries = 3 * bodies.contacts;
  parallel_for(ex, bodies_label, entries,
               PushBody<Real>{bodies.corner_key.data(), bodies.corner.data(), bodies.contact.data(), entries,
                              obstacles.obstacle.data(), bodies.mesh->inverse_mass.data(), view(bodies.state->v)});
}

#define TRIBO_INSTANTIATE(Real)                                                                                    \
  template void list_near_bodies(Exec&, const RodMesh<Real>&, const RodState<Real>&, double, StrandBodies<Real>&); \
  template void let_bodies_yield(Exec&, const RodMesh<Real>&, RodObstacles<Real>&, StrandBodies<Real>&);           \
  template void push_bodies(Exec&, const RodObstacles<Real>&, StrandBodies<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
