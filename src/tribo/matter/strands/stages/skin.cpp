#include "tribo/matter/strands/stages/skin.h"

#include "tribo/matter/strands/skin_frame.h"

namespace tribo::TRIBO_BACKEND {
namespace {

template <class Real>
struct FollowTriangle {
  const SkinRoot* root;
  FieldView<const Real, 3> x, v;
  double dt;
  RodDriveStep* step;

  TRIBO_HD void operator()(Index r) const {
    const SkinRoot& at = root[r];
    Vec<double, 3> to[3];
    for (int c = 0; c < 3; ++c)
      for (int k = 0; k < 3; ++k) {
        to[c][k] = static_cast<double>(x[k][at.corner[c]]) + dt * static_cast<double>(v[k][at.corner[c]]);
      }
    step[r] = drive_to(pose_on_skin(at, to));
  }
};

}  // namespace

template <class Real>
void place_skin_roots(Exec& ex, const RodMesh<Real>& mesh, const SolidState<Real>& skin, double dt,
                      RodWorkspace<Real>& work) {
  const auto roots = static_cast<Index>(mesh.skin.size());
  work.skin.resize_discard(roots);
  parallel_for(ex, "rods", roots,
               FollowTriangle<Real>{mesh.skin.data(), view(skin.x), view(skin.v), dt, work.skin.data()});
}

#define TRIBO_INSTANTIATE(Real) \
  template void place_skin_roots(Exec&, const RodMesh<Real>&, const SolidState<Real>&, double, RodWorkspace<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
