#include "tribo/stages/rod/knots.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tribo/stages/rod/chain.h"
#include "tribo/stages/spin.h"

namespace tribo::TRIBO_BACKEND {
namespace {

using Vec3 = Vec<double, 3>;
constexpr const char* knots_label = "strand crossings";
/// Tying a knot may pull its strands into others, which then belong to it.
constexpr int most_ties = 8;

template <class Real>
struct LookAtVertex {
  const Index* vertex;
  VertexPositions<Real> x;
  FieldView<const Real, 3> v;
  const Real *mass, *inverse_mass;
  KnotVertex* to;
  TRIBO_HD void operator()(Index k) const {
    const Index i = vertex[k];
    to[k] = {x(i), vertex_velocity(v, i), static_cast<double>(mass[i]), inverse_mass[i] > Real(0) ? 0 : 1};
  }
};
struct ClearMarks {
  Index* mark;
  TRIBO_HD void operator()(Index s) const { mark[s] = 0; }
};
template <class Real>
struct ClearHold {
  VertexHold<Real>* hold;
  TRIBO_HD void operator()(Index i) const { hold[i] = {Mat<Real, 3>::zero(), Vec<Real, 3>::zero()}; }
};
/// Several write the same.
struct MarkKnotted {
  const Index *vertex, *vertex_strand;
  Index* mark;
  TRIBO_HD void operator()(Index k) const { mark[vertex_strand[vertex[k]]] = 1; }
};
template <class Real>
struct HoldKnotted {
  static constexpr double firm = 1e4;  ///< masses of the vertex
  const Index* vertex;
  const KnotVertex* to;
  const SegmentCompliance<Real>* compliance;
  FieldView<const Real, 3> v;
  VertexHold<Real>* hold;
  TRIBO_HD void operator()(Index k) const {
    if (to[k].driven != 0) return;
    const Index i = vertex[k];
    const auto weight = static_cast<Real>(firm * largest_row(mass_of_vertex(compliance[i])));
    VertexHold<Real> own{Mat<Real, 3>::zero(), weight * cast<Real>(to[k].v - vertex_velocity(v, i))};
    for (int c = 0; c < 3; ++c) own.S(c, c) = weight;
    hold[i] = own;
  }
};
template <class Real>
struct FollowKnot {
  SlotSolution<Real> solution;
  const Index *vertex_strand, *mark;
  const Real* inverse_mass;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (mark[vertex_strand[i]] == 0 || !(inverse_mass[i] > Real(0))) return;
    const Vec<Real, 3> dv = solution(i);
    for (int k = 0; k < 3; ++k) v[k][i] += dv[k];
  }
};
/// To the last digit, of which affine motion needs each.
template <class Real>
struct MoveKnotted {
  const Index* vertex;
  const KnotVertex* to;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index k) const {
    if (to[k].driven != 0) return;
    for (int c = 0; c < 3; ++c) v[c][vertex[k]] = static_cast<Real>(to[k].v[c]);
  }
};

/// Which vertices belong to the same knot.
class KnotList {
 public:
  const std::vector<Index>& vertices() const { return vertex_; }

  template <class Real>
  void add(const std::vector<Crossing<Real>>& crossings) {
    for (const Crossing<Real>& crossing : crossings) {
      const Index a = crossing.pair.first, b = crossing.pair.second;
      links_.push_back({a, a + 1});
      links_.push_back({a, b});
      links_.push_back({b, b + 1});
    }
    vertex_.clear();
    for (const auto& [a, b] : links_) {
      vertex_.push_back(a);
      vertex_.push_back(b);
    }
    std::sort(vertex_.begin(), vertex_.end());
    vertex_.erase(std::unique(vertex_.begin(), vertex_.end()), vertex_.end());
    parent_.resize(vertex_.size());
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    for (const auto& [a, b] : links_) {
      const std::size_t one = knot_of(place(a)), other = knot_of(place(b));
      parent_[std::max(one, other)] = std::min(one, other);
    }
  }

  /// Rigid motion with the momentum that vertices of a knot have together. Where some are driven, nothing else counts.
  void move(std::vector<KnotVertex>& all) {
    std::vector<SpinSums> sums(all.size(), SpinSums::none());
    std::vector<Vec3> momentum(all.size(), Vec3::zero());
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t knot = knot_of(k);
      const KnotVertex &one = all[k], &origin = all[knot];
      const double m = one.driven != 0 ? driven_weight * one.mass : one.mass;
      const Vec3 away = one.x - origin.x;
      sums[knot].add(SpinSums::of(m, away, cross(away, m * one.v)));
      momentum[knot] += m * one.v;
    }
    std::vector<KnotVertex> moved = all;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t knot = knot_of(k);
      if (!(sums[knot].mass > 0)) continue;
      const Vec3 center = (1 / sums[knot].mass) * sums[knot].place;
      SpinSums about = sums[knot];
      about.torque = about.torque - cross(center, momentum[knot]);
      const Vec3 spin = spin_of(about, center), away = all[k].x - all[knot].x - center;
      moved[k].v = (1 / sums[knot].mass) * momentum[knot] + cross(spin, away);
    }
    all = std::move(moved);
  }

 private:
  static constexpr double driven_weight = 1e6;
  std::size_t place(Index i) const {
    return static_cast<std::size_t>(std::lower_bound(vertex_.begin(), vertex_.end(), i) - vertex_.begin());
  }
  std::size_t knot_of(std::size_t k) {
    while (parent_[k] != k) k = parent_[k] = parent_[parent_[k]];
    return k;
  }
  std::vector<std::pair<Index, Index>> links_;
  std::vector<Index> vertex_;
  std::vector<std::size_t> parent_;
};

}  // namespace

template <class Real>
CrossingCount tie_knots(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& rods,
                        SegmentPads<Real>& pads, KnotWork<Real>& work, Array<Crossing<Real>>& crossings,
                        CrossingCount found) {
  segment_compliance(ex, mesh, rods);
  work.strands.resize_discard(mesh.strands);
  work.hold.resize_discard(mesh.vertices);
  parallel_for(ex, knots_label, mesh.strands, ClearMarks{work.strands.data()});
  KnotList knots;
  const RodState<Real>& now = state;
  for (int tie = 0; tie < most_ties && found.pairs > 0; ++tie) {
    std::vector<Crossing<Real>> cross(static_cast<std::size_t>(found.pairs));
    copy_to_host(ex, crossings, cross.data(), found.pairs);
    knots.add(cross);
    const auto count = static_cast<Index>(knots.vertices().size());
    copy_to_device(ex, knots.vertices().data(), work.vertex, count);
    work.state.resize_discard(count);
    parallel_for(ex, knots_label, count,
                 LookAtVertex<Real>{work.vertex.data(),
                                    {view(now.x), view(now.x_tail)},
                                    view(now.v),
                                    mesh.mass.data(),
                                    mesh.inverse_mass.data(),
                                    work.state.data()});
    std::vector<KnotVertex> vertices(knots.vertices().size());
    copy_to_host(ex, work.state, vertices.data(), count);
    knots.move(vertices);
    copy_to_device(ex, vertices.data(), work.state, count);
    parallel_for(ex, knots_label, count,
                 MarkKnotted{work.vertex.data(), mesh.vertex_strand.data(), work.strands.data()});
    parallel_for(ex, knots_label, mesh.vertices, ClearHold<Real>{work.hold.data()});
    parallel_for(ex, knots_label, count,
                 HoldKnotted<Real>{work.vertex.data(), work.state.data(), rods.compliance.data(), view(now.v),
                                   work.hold.data()});
    keep_rows(ex, mesh, work.strands, state, rods);
    solve_held(ex, mesh, work.hold, work.strands, rods);
    parallel_for(ex, knots_label, mesh.vertices,
                 FollowKnot<Real>{{mesh.slot.data(), rods.solution.data()},
                                  mesh.vertex_strand.data(),
                                  work.strands.data(),
                                  mesh.inverse_mass.data(),
                                  view(state.v)});
    parallel_for(ex, knots_label, count, MoveKnotted<Real>{work.vertex.data(), work.state.data(), view(state.v)});
    found = find_crossings(ex, mesh, state, dt, pads, crossings, &work.strands);
  }
  return found;
}

#define TRIBO_INSTANTIATE(Real)                                                                               \
  template CrossingCount tie_knots(Exec&, const RodMesh<Real>&, double, RodState<Real>&, RodWorkspace<Real>&, \
                                   SegmentPads<Real>&, KnotWork<Real>&, Array<Crossing<Real>>&, CrossingCount);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
