#include "tribo/matter/solids/contact/samples.h"

/// \file
/// What samples take of the changes of nodes, and vertices of what samples take.

namespace tribo::TRIBO_BACKEND {
namespace {

using Block = ContactBlock;

/// What a sample takes: its own impulses, and its part of the changes of its field's nodes.
template <class Real>
struct TakeImpulse {
  const ContactRow<Real>* rows;
  const Index* active;  ///< places
  const Index* order;
  const Index* bin_of;
  const Index* bin_patch;
  const Vec<Real, 3>* taken;
  const Index* change_of;
  const Vec<Real, 3>* change;
  FieldView<Real, 3> impulse;

  TRIBO_HD void operator()(Index a) const {
    const Index i = active[a];
    const Index* const patches = bin_patch + Size{bin_of[i]} * Block::neighbors;
    Vec<Real, 3> P = taken[i];
    Index place[Block::neighbors];
    bool any = false;
    for (int k = 0; k < Block::neighbors; ++k) {
      place[k] = patches[k] < 0 ? -1 : change_of[patches[k]];
      any = any || place[k] >= 0;
    }
    if (any) {  // else its row may not be there
      Vec<Real, 3> dv = Vec<Real, 3>::zero();
      SampleStencil<Real>(rows[i]).each([&](Real w, int at, int node) {
        if (place[at] >= 0) dv += w * change[Size{place[at]} * Block::nodes + node];
      });
      P += rows[i].sum[0] * dv;
    }
    for (int c = 0; c < 3; ++c) impulse[c][order[i]] = P[c];
  }
};

/// Its part of changes alone, and the torque sum_i m_q w_iq (x_q - x_i) x dv_bi by which it is more at the sample than
/// it was at the nodes.
template <class Real>
struct TakeChange {
  const ContactRow<Real>* rows;
  const Index* order;
  const Index* bin_of;
  const Index* bin_patch;
  const Index* needed;  ///< of patches
  const Vec<Real, 3>* change;
  Real dx;
  bool first;  ///< pass
  FieldView<Real, 3> impulse, twist;

  TRIBO_HD void operator()(Index i) const {
    const Index* const patches = bin_patch + Size{bin_of[i]} * Block::neighbors;
    bool any = false;
    Index place[Block::neighbors];
    for (int k = 0; k < Block::neighbors; ++k) {
      place[k] = patches[k] >= 0 && needed[patches[k]] != 0 ? patches[k] : -1;
      any = any || place[k] >= 0;
    }
    Vec<Real, 3> dv = Vec<Real, 3>::zero(), torque = Vec<Real, 3>::zero();
    Real m = Real(0);
    if (any) {  // else its row may not be there
      const ContactRow<Real>& row = rows[i];
      m = row.sum[0];
      const Vec<Real, 3> x = {{row.sum[7] / m, row.sum[8] / m, row.sum[9] / m}};
      SampleStencil<Real>(row).each([&](Real w, int at, int node) {
        if (place[at] < 0) return;
        const Vec<Real, 3> part = w * change[Size{place[at]} * Block::nodes + node];
        const Cell<3> ahead = unflatten<3>(at, 2), cell = unflatten<3>(node, Block::side);
        Vec<Real, 3> away;
        for (int k = 0; k < 3; ++k) away[k] = x[k] - Real(Block::side * ahead[k] + cell[k]);
        dv += part;
        torque += cross(away, part);
      });
    }
    const Index q = order[i];
    for (int c = 0; c < 3; ++c) {
      impulse[c][q] = m * dv[c];
      twist[c][q] = (first ? Real(0) : twist[c][q]) + m * dx * torque[c];
    }
  }
};

/// dv_p = 1/m_p sum_q b_pq m_q dv_q (Han 2019, eqs. 24, 25; with consistent masses M_p = m_p).
template <class Real>
struct PushVertex {
  const Index* pushed;  ///< vertices, or null: all
  const Index* corner_start;
  const Index* corner;
  FieldView<const Real, 3> weight;
  FieldView<const Real, 3> impulse;
  const Real* inverse_mass;
  FieldView<Real, 3> v;

  TRIBO_HD void operator()(Index i) const {
    const Index p = pushed != nullptr ? pushed[i] : i;
    Vec<Real, 3> sum = Vec<Real, 3>::zero();
    for (Index j = corner_start[p]; j < corner_start[p + 1]; ++j) {
      const Index q = corner[j] / 3;
      const Real b = weight[corner[j] % 3][q];
      for (int c = 0; c < 3; ++c) sum[c] += b * impulse[c][q];
    }
    for (int c = 0; c < 3; ++c) v[c][p] += inverse_mass[p] * sum[c];
  }
};

}  // namespace

template <class Real>
void take_impulses(Exec& ex, ContactFields<Real>& f) {
  parallel_for(
      ex, "contact", f.active.count,
      TakeImpulse<Real>{f.rows.data(), f.active.items.data(), f.order.data(), f.bin_of.data(), f.bin_patch.data(),
                        f.taken.data(), f.change_of.data(), f.change.data(), view(f.impulse)});
}

template <class Real>
void push_vertices(Exec& ex, const SolidMesh<Real>& mesh, const ContactList* pushed, const Field<Real, 3>& impulse,
                   SolidState<Real>& state) {
  parallel_for(ex, "contact", pushed != nullptr ? pushed->count : mesh.vertices,
               PushVertex<Real>{pushed != nullptr ? pushed->items.data() : nullptr, mesh.sample_corner_start.data(),
                                mesh.sample_corner.data(), view(mesh.sample_weight), view(impulse),
                                mesh.inverse_mass.data(), view(state.v)});
}

template <class Real>
void hand_to_vertices(Exec& ex, const SolidMesh<Real>& mesh, const ContactConstants& constants,
                      const Array<Vec<Real, 3>>& node_change, CouplingPass pass, SolidState<Real>& state,
                      ContactWorkspace<Real>& work) {
  const ContactFields<Real>& f = work.bodies;
  work.impulse.resize_discard(mesh.samples);
  work.twist.resize_discard(mesh.samples);
  parallel_for(ex, "contact", f.count,
               TakeChange<Real>{f.rows.data(), f.order.data(), f.bin_of.data(), f.bin_patch.data(), work.needed.data(),
                                node_change.data(), Real(constants.dx), pass == CouplingPass::first, view(work.impulse),
                                view(work.twist)});
  if (pass == CouplingPass::last) straighten_impulses(ex, mesh, state, work);
  push_vertices(ex, mesh, nullptr, work.impulse, state);
}

#define TRIBO_INSTANTIATE(Real)                                                                                      \
  template void take_impulses(Exec&, ContactFields<Real>&);                                                          \
  template void push_vertices(Exec&, const SolidMesh<Real>&, const ContactList*, const Field<Real, 3>&,              \
                              SolidState<Real>&);                                                                    \
  template void hand_to_vertices(Exec&, const SolidMesh<Real>&, const ContactConstants&, const Array<Vec<Real, 3>>&, \
                                 CouplingPass, SolidState<Real>&, ContactWorkspace<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
