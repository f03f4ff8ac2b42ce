#pragma once

#include "tribo/matter/solids/contact/contact.h"
#include "tribo/matter/solids/contact/law.h"

/// \file
/// What the files of contact share: where the samples of boundaries are and how they move, from the vertices of their
/// triangles.

namespace tribo::TRIBO_BACKEND {

/// How much normals must oppose each other, as a cosine.
inline constexpr double contact_opposed = -0.3;

/// Samples as points of the deformed boundary (Han 2019, eqs. 15, 16).
template <class Real>
struct SamplesView {
  FieldView<const Real, 3> x;  ///< of vertices
  FieldView<const Real, 3> v;
  FieldView<const Index, 3> triangle;
  FieldView<const Real, 3> weight;
  const Index* sample_triangle;
  const Index* sample_body;
  const Real* sample_mass;
  const Real* inverse_mass;        ///< of vertices, 0 of driven ones
  FieldView<const Real, 3> begin;  ///< velocities at the step's begin, or those of now

  TRIBO_HD Vec<Real, 3> vertex(const FieldView<const Real, 3>& field, Index at) const {
    return {{field[0][at], field[1][at], field[2][at]}};
  }
  TRIBO_HD Vec<Real, 3> blend(const FieldView<const Real, 3>& field, Index q) const {
    const Index t = sample_triangle[q];
    Vec<Real, 3> r = weight[0][q] * vertex(field, triangle[0][t]);
    r += weight[1][q] * vertex(field, triangle[1][t]);
    r += weight[2][q] * vertex(field, triangle[2][t]);
    return r;
  }
  TRIBO_HD Vec<Real, 3> position(Index q) const { return blend(x, q); }
  TRIBO_HD Vec<Real, 3> velocity(Index q) const { return blend(v, q); }
  /// Part of an impulse that goes to driven vertices, and so to what drives them.
  TRIBO_HD Real driven(Index q) const {
    const Index t = sample_triangle[q];
    Real part = Real(0);
    for (int k = 0; k < 3; ++k) part += inverse_mass[triangle[k][t]] > Real(0) ? Real(0) : weight[k][q];
    return part;
  }
  /// Outward normal of the face; none, that is 0, of a face without area.
  TRIBO_HD Vec<Real, 3> normal(Index q) const { return face_normal(sample_triangle[q]); }
  TRIBO_HD Vec<Real, 3> face_normal(Index t) const {
    const Vec<Real, 3> a = vertex(x, triangle[0][t]);
    const Vec<Real, 3> n = cross(vertex(x, triangle[1][t]) - a, vertex(x, triangle[2][t]) - a);
    const Real length = sqrt(squared_norm(n));
    return length > Real(0) ? n * (Real(1) / length) : Vec<Real, 3>::zero();
  }
};

/// Whether a tet is as it should be: the normals of one that is inside out, or nearly flat on the way there or back,
/// say nothing of where the body is. Samples near such tets do not touch their own body: it would hold the knots that
/// elastic forces undo.
template <class Real>
struct UprightTet {
  FieldView<const Index, 4> tet;
  const Real* volume;  ///< at rest [m^3]

  TRIBO_HD bool operator()(const SamplesView<Real>& samples, Index t) const {
    constexpr Real least = Real(0.05);  // of det F
    const Vec<Real, 3> x0 = samples.vertex(samples.x, tet[0][t]);
    const Vec<Real, 3> a = samples.vertex(samples.x, tet[1][t]) - x0;
    const Vec<Real, 3> b = samples.vertex(samples.x, tet[2][t]) - x0;
    const Vec<Real, 3> c = samples.vertex(samples.x, tet[3][t]) - x0;
    return dot(cross(a, b), c) > least * Real(6) * volume[t];
  }
};
template <class Real>
UprightTet<Real> upright_tets(const SolidMesh<Real>& mesh) {
  return {view(mesh.tet), mesh.volume.data()};
}

/// Part of what moves at a node that nothing drives; never quite 0, so that masses stay finite.
template <class Real>
TRIBO_HD Real free_part(const ContactNodeSums<Real>& node) {
  const Real part = Real(1) - node.sum[ContactNodeSums<Real>::driven] / node.sum[0];
  return part > Real(1e-4) ? part : Real(1e-4);
}
/// Mass m/(1 - d) - m by which a field with a driven part d seems heavier than it is, over m.
template <class Real>
TRIBO_HD Real driven_excess(const ContactNodeSums<Real>& node) {
  const Real free = free_part(node);
  return (Real(1) - free) / free;
}
/// Share Phi_b of a field in the impulses at a node, over its mass m_b: 1/T with the mass T of all fields there, and
/// more when it is driven. As the only driven one it counts with the mass M = m/(1 - d) that it seems to have,
///   M/(M - m + T) = m/T + (1 - m/T) (M - m)/(M - m + T);
/// several share what is last. What is free and near something driven meets as if that were not there.
template <class Real>
TRIBO_HD Real share_per_mass(const ContactNodeSums<Real>& node, Real inverse_total, Real total, Real total_excess) {
  if (!(node.sum[ContactNodeSums<Real>::driven] > Real(0))) return inverse_total;
  return inverse_total + (Real(1) - node.sum[0] * inverse_total) * driven_excess(node) / (total_excess + total);
}

/// Sums of a ContactRow with places measured from `blocks * side` cells farther back.
template <class Real>
TRIBO_HD void move_places(const Cell<3>& blocks, Real side, Real* sum) {
  for (int j = 0; j < 3; ++j)
    for (int k = j; k < 3; ++k)
      sum[10 + Sym<Real, 3>::at(j, k)] +=
          side * (j == k ? Real(blocks[j]) * sum[4 + j] : Real(blocks[k]) * sum[4 + j] + Real(blocks[j]) * sum[4 + k]);
  for (int k = 0; k < 3; ++k) sum[7 + k] += side * Real(blocks[k]) * sum[0];
}

template <class Real>
SamplesView<Real> samples_of(const SolidMesh<Real>& mesh, const SolidState<Real>& state,
                             const ContactWorkspace<Real>& work) {
  return {view(state.x),
          view(state.v),
          view(mesh.triangle),
          view(mesh.sample_weight),
          mesh.sample_triangle.data(),
          mesh.sample_body.data(),
          mesh.sample_mass.data(),
          mesh.inverse_mass.data(),
          view(work.begin != nullptr ? *work.begin : state.v)};
}

/// Nodes around a sorted sample.
template <class Real>
struct SampleStencil {
  const ContactRow<Real>& row;
  Cell<3> base;  ///< in the block of its bin

  TRIBO_HD explicit SampleStencil(const ContactRow<Real>& r)
      : row(r), base(unflatten<3>(static_cast<int>(r.base), ContactBlock::base_side)) {}

  /// visit(weight, which of the 8 blocks, node in it) for each.
  template <class Visit>
  TRIBO_HD void each(const Visit& visit) const {
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        for (int c = 0; c < 3; ++c) {
          const int x = base[0] + a, y = base[1] + b, z = base[2] + c;
          visit(row.weight[0][a] * row.weight[1][b] * row.weight[2][c], ((x >> 2) * 2 + (y >> 2)) * 2 + (z >> 2),
                ((x & 3) * ContactBlock::side + (y & 3)) * ContactBlock::side + (z & 3));
        }
  }
};

struct FillIndex {
  Index value;
  Index* to;
  TRIBO_HD void operator()(Index i) const { to[i] = value; }
};

/// Number of samples whose entry is 1.
struct LoadIndex {
  const Index* values;
  TRIBO_HD Index operator()(Index i) const { return values[i]; }
};
struct AddIndex {
  TRIBO_HD Index operator()(Index a, Index b) const { return a + b; }
};
inline Index count_touched(Exec& ex, const Array<Index>& touched, Index n) {
  return reduce(ex, "contact", n, Index{0}, LoadIndex{touched.data()}, AddIndex{});
}

/// Samples against the fields of other bodies, or against other parts of their own: what each gives and gets is left in
/// `f.taken`, and what the nodes of the others get of it in `f.change`. Returns the samples in contact.
template <class Real>
Index meet_fields(Exec& ex, const SolidMesh<Real>& mesh, ContactRule<Real> rule, bool self, ContactFields<Real>& f,
                  SolidState<Real>& state, const ContactWorkspace<Real>& work);

/// What each sample takes of both, as `f.impulse`.
template <class Real>
void take_impulses(Exec& ex, ContactFields<Real>& f);

/// The printed form: impulses of samples by the one field of everything. Returns the samples in contact.
template <class Real>
Index touch_as_printed(Exec& ex, const SolidMesh<Real>& mesh, ContactFields<Real>& f);

/// Gives impulses of samples to the vertices: to those of a list, or to all when that is null.
template <class Real>
void push_vertices(Exec& ex, const SolidMesh<Real>& mesh, const ContactList* pushed, const Field<Real, 3>& impulse,
                   SolidState<Real>& state);

/// Fields of samples that are listed, where the lists need them, or at the patches that are 1 in `needed`.
template <class Real>
void make_fields(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                 const SolidState<Real>& state, const ContactWorkspace<Real>& work, const Index* needed,
                 ContactFields<Real>& f);

/// Which samples a spin is summed over, in which order: of bodies without a driven vertex, all or those that touch
/// themselves.
void load_spin(Exec& ex, const SolidSeed& seed, bool self, SpinWorkspace& work);

/// Gives the impulses of bodies that touched themselves to the vertices. What a sample gives and what its partner gets
/// lie apart, by as much as a cell where the grid is coarse, and a tangled body would come out spinning: a rotation of
/// its boundary as a whole takes the torque from each that has no driven vertex. Momentum stays.
template <class Real>
void push_without_spin(Exec& ex, const SolidMesh<Real>& mesh, SolidState<Real>& state, ContactWorkspace<Real>& work);

/// Takes the torques of `work.twist` from the impulses of `work.impulse` in the same way.
template <class Real>
void straighten_impulses(Exec& ex, const SolidMesh<Real>& mesh, const SolidState<Real>& state,
                         ContactWorkspace<Real>& work);

/// All bodies against colliders. Returns the samples in contact.
template <class Real>
Index touch_colliders(Exec& ex, const SolidMesh<Real>& mesh, const typename Colliders<Real, 3>::View& colliders,
                      ContactRule<Real> rule, SolidState<Real>& state, ContactWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
