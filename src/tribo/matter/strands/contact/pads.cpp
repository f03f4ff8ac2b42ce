#include "tribo/matter/strands/contact/pads.h"

#include <algorithm>

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;
constexpr const char* pads_label = "strand contact";

/// Those that go farther in a step than any should, or are not finite, are left out: one strand that is lost must not
/// hide all others.
struct DriftSums {
  Vec3 velocity;
  double count;
};
template <class Real>
struct VelocityOf {
  FieldView<const Real, 3> v;
  const Real* length;
  double dt;
  TRIBO_HD DriftSums operator()(Index i) const {
    constexpr double segments = 10;
    const Vec3 u{{static_cast<double>(v[0][i]), static_cast<double>(v[1][i]), static_cast<double>(v[2][i])}};
    const double way = segments * static_cast<double>(length[i]);
    if (!(dt * dt * squared_norm(u) < way * way)) return {Vec3::zero(), 0};
    return {u, 1};
  }
};
struct AddDriftSums {
  TRIBO_HD DriftSums operator()(const DriftSums& a, const DriftSums& b) const {
    return {a.velocity + b.velocity, a.count + b.count};
  }
};

/// Segments that follow each other: a pack of them on the CPU, one on the GPU.
template <class Real>
struct SegmentRun {
  using T = ParticlePack<Real>;
  static constexpr int W = pack_width<Real>;
  Index first;
  int count;

  TRIBO_HD static Index runs(Index segments) { return (segments + W - 1) / W; }
  TRIBO_HD SegmentRun(Index run, Index segments) : first(run * W), count(min(W, segments - run * W)) {}
  /// Of their first or second vertices; lanes past the last segment are those of what comes after.
  TRIBO_HD Vec<T, 3> ends(const FieldView<const Real, 3>& field, Index second) const {
    Vec<T, 3> r;
    for (int k = 0; k < 3; ++k) r[k] = load_pack<Real>(field[k] + first + second, W);
    return r;
  }
  TRIBO_HD mask_t<T> present(const Real* length) const { return load_pack<Real>(length + first, count) > T(Real(0)); }
};

template <class Real>
struct BoxOfSegments {
  using T = ParticlePack<Real>;
  FieldView<const Real, 3> x, v;
  const Real *length, *radius;
  Index segments;
  Vec<Real, 3> drift;  ///< which brings no two strands nearer
  Real dt;
  BoxView<Real> box;

  TRIBO_HD void operator()(Index r) const {
    const SegmentRun<Real> run(r, segments);
    Vec<T, 3> u = run.ends(v, 0), w = run.ends(v, 1);
    for (int k = 0; k < 3; ++k) {
      u[k] = u[k] - T(drift[k]);
      w[k] = w[k] - T(drift[k]);
    }
    SweptBox<T> swept(run.ends(x, 0), u);
    swept.add(run.ends(x, 1), w);
    swept.valid = swept.valid && run.present(length);
    swept.close(max(load_pack<Real>(radius + run.first, pack_width<Real>),
                    load_pack<Real>(radius + run.first + 1, pack_width<Real>)),
                T(dt));
    for (int k = 0; k < 3; ++k) {
      store_pack<Real>(box.low[k] + run.first, swept.low[k], run.count);
      store_pack<Real>(box.high[k] + run.first, swept.high[k], run.count);
    }
  }
};

/// 1 where a segment of a run leaves its box, seen from what drifts along.
template <class Real>
struct LeavesBox {
  using T = ParticlePack<Real>;
  FieldView<const Real, 3> x, v;
  const Real* length;
  Index segments;
  Vec<Real, 3> drift;
  Real dt;
  BoxView<const Real> box;

  TRIBO_HD Index operator()(Index r) const {
    const SegmentRun<Real> run(r, segments);
    const T rounding(position_rounding<Real>), far(largest_position<Real>);
    const auto present = run.present(length);
    auto inside = present, finite = present;
    for (int end = 0; end < 2; ++end) {
      const Vec<T, 3> p = run.ends(x, end), u = run.ends(v, end);
      for (int k = 0; k < 3; ++k) {
        const T move = T(dt) * (u[k] - T(drift[k])), q = p[k] + move, slack = rounding * (abs(p[k]) + abs(move));
        const auto stays = min(p[k], q) - slack >= load_pack<Real>(box.low[k] + run.first, pack_width<Real>) &&
                           max(p[k], q) + slack <= load_pack<Real>(box.high[k] + run.first, pack_width<Real>);
        inside = inside && stays;
        finite = finite && abs(q) < far;
      }
    }
    return any(finite && !inside) ? 1 : 0;
  }
};

/// Segments that follow each other are of one strand: between strands is a vertex where none begins.
struct MayMeet {
  const Index* vertex_strand;
  TRIBO_HD bool operator()(Index i, Index j) const {
    return j - i > 2 || (j - i == 2 && vertex_strand[i] != vertex_strand[j]);
  }
};

}  // namespace

template <class Real>
void list_near(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt, SegmentPads<Real>& pads) {
  const Index n = mesh.vertices;
  const DriftSums moving = reduce(ex, pads_label, n, DriftSums{Vec3::zero(), 0},
                                  VelocityOf<Real>{view(state.v), mesh.length.data(), dt}, AddDriftSums{});
  pads.drift = cast<Real>((1 / std::max(moving.count, 1.0)) * moving.velocity);
  pads.box.resize_discard(n);
  parallel_for(ex, pads_label, SegmentRun<Real>::runs(n),
               BoxOfSegments<Real>{view(state.x), view(state.v), mesh.length.data(), mesh.radius.data(), n, pads.drift,
                                   static_cast<Real>(dt), view(pads.box)});
  list_near<Real>(ex, pads_label, "segments of strands", n, MayMeet{mesh.vertex_strand.data()}, pads);
}

template <class Real>
bool lists_motion(Exec& ex, const RodMesh<Real>& mesh, const RodState<Real>& state, double dt,
                  const SegmentPads<Real>& pads) {
  const Index n = mesh.vertices;
  if (pads.box.low.c[0].size() != n) return false;
  return reduce(ex, pads_label, SegmentRun<Real>::runs(n), Index{0},
                LeavesBox<Real>{view(state.x), view(state.v), mesh.length.data(), n, pads.drift, static_cast<Real>(dt),
                                view(pads.box)},
                Larger<Index>{}) == 0;
}

#define TRIBO_INSTANTIATE(Real)                                                                            \
  template void list_near(Exec&, const RodMesh<Real>&, const RodState<Real>&, double, SegmentPads<Real>&); \
  template bool lists_motion(Exec&, const RodMesh<Real>&, const RodState<Real>&, double, const SegmentPads<Real>&);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
