#include "tribo/matter/solids/contact/samples.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Block = ContactBlock;

/// The contact as it is printed (Han 2019, eqs. 19-23) with e = 1: a sample against the one field of everything, its
/// own mass included. Kept for comparison.
template <class Real>
struct TouchAsPrinted {
  const ContactRow<Real>* rows;
  const Index* order;
  const Index* bin_of;
  const Index* bin_patch;
  const ContactNodeSums<Real>* nodes;
  const Index* sample_body;
  const Real* friction;
  Index bodies;
  FieldView<Real, 3> impulse;
  Index* touched;

  TRIBO_HD void operator()(Index i) const {
    const ContactRow<Real>& row = rows[i];
    const Index* const patches = bin_patch + Size{bin_of[i]} * Block::neighbors;
    Vec<Real, 3> relative, n;
    for (int c = 0; c < 3; ++c) {
      relative[c] = -row.sum[1 + c] / row.sum[0];
      n[c] = row.sum[4 + c] / row.sum[0];
    }
    SampleStencil<Real>(row).each([&](Real w, int at, int node) {
      const ContactNodeSums<Real>& sums = nodes[Size{patches[at]} * Block::nodes + node];
      if (!(sums.sum[0] > Real(0))) return;
      for (int c = 0; c < 3; ++c) relative[c] += w * (sums.sum[1 + c] / sums.sum[0]);
    });
    const Real vn = dot(relative, n);
    const Index a = sample_body[order[i]];
    Vec<Real, 3> dv = Vec<Real, 3>::zero();
    if (vn < Real(0)) {
      const Vec<Real, 3> slip = relative - vn * n;
      const Real speed = sqrt(squared_norm(slip));
      dv = (Real(2) * vn) * n;
      if (speed > Real(0)) dv += (friction_impulse(friction[a * bodies + a], Real(-2) * vn, speed) / speed) * slip;
    }
    touched[i] = vn < Real(0) ? 1 : 0;
    for (int c = 0; c < 3; ++c) impulse[c][order[i]] = row.sum[0] * dv[c];
  }
};

}  // namespace

template <class Real>
Index touch_as_printed(Exec& ex, const SolidMesh<Real>& mesh, ContactFields<Real>& f) {
  parallel_for(ex, "contact", f.count,
               TouchAsPrinted<Real>{f.rows.data(), f.order.data(), f.bin_of.data(), f.bin_patch.data(), f.nodes.data(),
                                    mesh.sample_body.data(), mesh.friction.data(), mesh.bodies, view(f.impulse),
                                    f.touched.data()});
  return count_touched(ex, f.touched, f.count);
}

#define TRIBO_INSTANTIATE(Real) template Index touch_as_printed(Exec&, const SolidMesh<Real>&, ContactFields<Real>&);
TRIBO_INSTANTIATE(float)
TRIBO_INSTANTIATE(double)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
