#include "tribo/matter/strands/contact/knots.h"
#include "tribo/exec/copy_field.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "tribo/matter/strands/stages/chain.h"
#include "tribo/matter/strands/stages/strand_particles.h"

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
  const SegmentCompliance<Real>* compliance;
  KnotVertex* to;
  TRIBO_HD void operator()(Index k) const {
    const Index i = vertex[k];
    KnotVertex own{x(i), vertex_velocity(v, i), Sym<double, 3>::isotropic(0), static_cast<double>(mass[i]), 1};
    if (inverse_mass[i] > Real(0)) {
      own.mass = mass_of_vertex(compliance[i]);
      own.driven = 0;
    }
    to[k] = own;
  }
};
struct ClearMarks {
  Index* mark;
  TRIBO_HD void operator()(Index s) const { mark[s] = 0; }
};
struct ClearHold {
  VertexHold* hold;
  TRIBO_HD void operator()(Index i) const { hold[i] = {Mat<double, 3>::zero(), Vec3::zero()}; }
};
struct MarkKnotted {
  const Index* strand;
  Index* mark;
  TRIBO_HD void operator()(Index k) const { mark[strand[k]] = 1; }
};
template <class Real>
struct HoldKnotted {
  static constexpr double firm = 1e4;  ///< masses of the vertex
  const Index* vertex;
  const KnotVertex* to;
  FieldView<const Real, 3> v;
  VertexHold* hold;
  TRIBO_HD void operator()(Index k) const {
    if (to[k].driven != 0) return;
    const Index i = vertex[k];
    const double weight = firm * largest_row(to[k].mass);
    VertexHold own{Mat<double, 3>::zero(), weight * (to[k].v - vertex_velocity(v, i))};
    for (int c = 0; c < 3; ++c) own.S(c, c) = weight;
    hold[i] = own;
  }
};
template <class Real>
struct FollowKnot {
  FieldView<const double, 3> dv;
  const Index *vertex_strand, *mark;
  const Real* inverse_mass;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    if (mark[vertex_strand[i]] == 0 || !(inverse_mass[i] > Real(0))) return;
    for (int k = 0; k < 3; ++k) v[k][i] += static_cast<Real>(dv[k][i]);
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

/// The least sum of (c + w x x_i - v_i) M_i (c + w x x_i - v_i).
class RigidFit {
 public:
  void add(const Vec3& x, const Sym<double, 3>& M, const Vec3& v) {
    // Rows of the velocity by c and w.
    const double row[3][6] = {{1, 0, 0, 0, x[2], -x[1]}, {0, 1, 0, -x[2], 0, x[0]}, {0, 0, 1, x[1], -x[0], 0}};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int a = 0; a < 6; ++a) {
          right_[a] += row[i][a] * M(i, j) * v[j];
          for (int b = 0; b < 6; ++b) N_[a][b] += row[i][a] * M(i, j) * row[j][b];
        }
  }
  /// By Cholesky's factors. What is all on a line does not turn about that.
  void solve() {
    for (int half = 0; half < 2; ++half) {
      double most = 0;
      for (int a = 3 * half; a < 3 * half + 3; ++a) most = std::max(most, N_[a][a]);
      for (int a = 3 * half; a < 3 * half + 3; ++a) N_[a][a] += 1e-9 * most;
    }
    for (int a = 0; a < 6; ++a)
      for (int b = 0; b <= a; ++b) {
        double sum = N_[a][b];
        for (int k = 0; k < b; ++k) sum -= N_[a][k] * N_[b][k];
        N_[a][b] = a == b ? std::sqrt(std::max(sum, 1e-300)) : sum / N_[b][b];
      }
    for (int a = 0; a < 6; ++a) {
      for (int k = 0; k < a; ++k) right_[a] -= N_[a][k] * right_[k];
      right_[a] /= N_[a][a];
    }
    for (int a = 5; a >= 0; --a) {
      for (int k = a + 1; k < 6; ++k) right_[a] -= N_[k][a] * right_[k];
      right_[a] /= N_[a][a];
    }
  }
  Vec3 velocity() const { return {{right_[0], right_[1], right_[2]}}; }
  Vec3 spin() const { return {{right_[3], right_[4], right_[5]}}; }

 private:
  double N_[6][6] = {}, right_[6] = {};
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

  /// A rigid motion of each knot, by which it comes to turn in the step: that which changes velocities least, as
  /// impulses feel it. So impulses on its vertices add up to nothing, and what they do takes energy, as far as each
  /// vertex is by itself. Where some are driven, the motion is theirs.
  void move(double dt, std::vector<KnotVertex>& all) {
    std::vector<std::vector<std::size_t>> members(all.size());
    for (std::size_t k = 0; k < all.size(); ++k) members[knot_of(k)].push_back(k);
    for (const std::vector<std::size_t>& knot : members)
      if (!knot.empty()) move_knot(dt, knot, all);
  }

 private:
  static void move_knot(double dt, const std::vector<std::size_t>& knot, std::vector<KnotVertex>& all) {
    double heaviest = 0, lumped = 0;
    Vec3 center = Vec3::zero();
    for (const std::size_t k : knot) {
      heaviest = std::max({heaviest, largest_row(all[k].mass), all[k].lumped});
      center += all[k].lumped * (all[k].x - all[knot[0]].x);
      lumped += all[k].lumped;
    }
    center = all[knot[0]].x + (1 / lumped) * center;
    RigidFit fit;
    for (const std::size_t k : knot) {
      constexpr double driven = 1e4;
      fit.add(all[k].x - center, all[k].driven != 0 ? Sym<double, 3>::isotropic(driven * heaviest) : all[k].mass,
              all[k].v);
    }
    fit.solve();
    // x += dt v takes it along chords: with the velocity of its start, lengths would grow with each turn.
    Vec3 turn = dt * fit.spin();
    const double angle = std::sqrt(squared_norm(turn));
    if (angle > 1) turn = (1 / angle) * turn;
    const double a = std::min(angle, 1.0), sine = a > 1e-4 ? std::sin(a) / a : 1,
                 versed = a > 1e-4 ? (1 - std::cos(a)) / (a * a) : 0.5;
    for (const std::size_t k : knot) {
      const Vec3 across = cross(turn, all[k].x - center);
      all[k].v = fit.velocity() + (1 / dt) * (sine * across + versed * cross(turn, across));
    }
  }

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

/// Of segments that cross, each once.
template <class Real>
std::vector<Index> strands_of(Exec& ex, const RodMesh<Real>& mesh, const std::vector<Crossing<Real>>& crossings) {
  std::vector<Index> strands;
  for (const Crossing<Real>& crossing : crossings) {
    const Index segments[2] = {crossing.pair.first, crossing.pair.second};
    for (const Index segment : segments) {
      Index strand = 0;
      copy_to_host(ex, mesh.vertex_strand, &strand, 1, segment);
      strands.push_back(strand);
    }
  }
  std::sort(strands.begin(), strands.end());
  strands.erase(std::unique(strands.begin(), strands.end()), strands.end());
  return strands;
}

}  // namespace

template <class Real>
KnotReport tie_knots(Exec& ex, const RodMesh<Real>& mesh, double dt, RodState<Real>& state, RodWorkspace<Real>& rods,
                     SegmentPads<Real>& pads, KnotWork<Real>& work, Array<Crossing<Real>>& crossings,
                     CrossingCount found) {
  segment_compliance(ex, mesh, rods);
  work.strands.resize_discard(mesh.strands);
  work.hold.resize_discard(mesh.vertices);
  work.v_before.resize_discard(state.count);
  copy_field(ex, knots_label, state.v, state.count, work.v_before);
  parallel_for(ex, knots_label, mesh.strands, ClearMarks{work.strands.data()});
  KnotList knots;
  KnotReport report;
  const RodState<Real>& now = state;
  for (int tie = 0; tie < most_ties && found.pairs > 0; ++tie) {
    report.tied += found.pairs;
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
                                    rods.compliance.data(),
                                    work.state.data()});
    std::vector<KnotVertex> vertices(knots.vertices().size());
    copy_to_host(ex, work.state, vertices.data(), count);
    knots.move(dt, vertices);
    copy_to_device(ex, vertices.data(), work.state, count);
    const std::vector<Index> with_knot = strands_of(ex, mesh, cross);
    copy_to_device(ex, with_knot.data(), work.with_knot, static_cast<Index>(with_knot.size()));
    parallel_for(ex, knots_label, static_cast<Index>(with_knot.size()),
                 MarkKnotted{work.with_knot.data(), work.strands.data()});
    parallel_for(ex, knots_label, mesh.vertices, ClearHold{work.hold.data()});
    parallel_for(ex, knots_label, count,
                 HoldKnotted<Real>{work.vertex.data(), work.state.data(), view(now.v), work.hold.data()});
    keep_rows(ex, mesh, work.strands, state, rods);
    solve_held(ex, mesh, work.hold, work.strands, false, rods);
    parallel_for(ex, knots_label, mesh.vertices,
                 FollowKnot<Real>{view(std::as_const(rods.held_dv)), mesh.vertex_strand.data(), work.strands.data(),
                                  mesh.inverse_mass.data(), view(state.v)});
    parallel_for(ex, knots_label, count, MoveKnotted<Real>{work.vertex.data(), work.state.data(), view(state.v)});
    found = find_crossings(ex, mesh, state, dt, pads, crossings, &work.strands);
  }
  if (found.pairs == 0) return report;
  // As between roots that are led through each other, where no common motion fits.
  copy_field(ex, knots_label, work.v_before, state.count, state.v);
  return {0, find_crossings(ex, mesh, state, dt, pads, crossings)};
}

#define TRIBO_INSTANTIATE(Real)                                                                            \
  template KnotReport tie_knots(Exec&, const RodMesh<Real>&, double, RodState<Real>&, RodWorkspace<Real>&, \
                                SegmentPads<Real>&, KnotWork<Real>&, Array<Crossing<Real>>&, CrossingCount);
TRIBO_FOR_EACH_ROD_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
