#include <cmath>
#include <optional>

#include "tribo/grid/implicit_norm.h"
#include "tribo/linear/error_window.h"
#include "tribo/linear/newton.h"
#include "tribo/linear/slope_search.h"
#include "tribo/math/spin.h"
#include "tribo/matter/solids/stages/tets.h"
#include "tribo/models/step_force.h"

/// \file
/// Backward Euler on meshes (theory D.5). With v* = v + dt g, the velocities v_lag are where
///   M (v - v*) = dt f(x + dt v),
/// f at the end of the step, damping with the turns of its start. Newton's method with the projected derivative of
/// theory B.3, its linear systems by conjugate gradients without a matrix, a line search along the slope
/// (linear/). The preconditioner is the inverse of the system's 3 x 3 blocks on the
/// diagonal: in graded meshes masses differ by more than stiffnesses. What it leaves of a free body's momentum when
/// iterations end early is put right at the end, exactly, since moving a body as a whole strains nothing; and with it
/// the angular momentum, which backward Euler itself does not keep (theory D.5), by turning the body as a whole.
///
/// Vectors over vertices are momenta or velocities, norms of momentum over mass: |w|^2 = sum m w^2, [kg m^2/s^2].

namespace tribo::TRIBO_BACKEND {
namespace {

constexpr const char* solve_label = "solve";

/// Vectors over vertices.
template <class Real>
using VertexSpace = linear::PackSpace<Real, 3>;

/// Reads a vector over vertices.
template <class Real>
struct PackAt {
  const NodePack<Real>* vectors;
  TRIBO_HD Real operator()(Index vertex, int axis) const { return vectors[vertex][axis]; }
};

/// Where iterations begin: the velocities of the step's start with gravity; of driven vertices, those of their motion,
/// with mass 0 so that nothing counts them.
template <class Real>
struct BeginVertex {
  FieldView<const Real, 3> from;
  const Real* mass;
  const Index* drive;
  FieldView<const Real, 3> anchor;
  const DriveStep<Real>* drives;
  Vec<Real, 3> gravity;
  Real dt;
  NodePack<Real>* star;
  NodePack<Real>* velocity;

  TRIBO_HD void operator()(Index i) const {
    Vec<Real, 3> v;
    for (int k = 0; k < 3; ++k) v[k] = fma(dt, gravity[k], from[k][i]);
    const bool free = drive[i] < 0;
    if (!free) {
      const DriveStep<Real>& d = drives[drive[i]];
      v = d.turn * Vec<Real, 3>{{anchor[0][i], anchor[1][i], anchor[2][i]}} + d.shift;
    }
    star[i] = velocity[i] = node_pack<Real>(v[0], v[1], v[2], free ? mass[i] : Real(0));
  }
};

/// Impulses and tangents of a pack of tets at the end of a step with velocities v.
template <class Real, class Law>
struct LinearizeTets {
  TetAccess<Real> tets;
  ColumnAt<Real> x;
  PackAt<Real> v;
  Law law;
  Real eta;
  Real dt;
  NodePack<Real>* corner;
  FieldView<Real, Sym<Real, 9>::size> tangent;

  TRIBO_HD void operator()(Index pack) const {
    using T = ParticlePack<Real>;
    const Index i = tets.begin_of(pack);
    const int n = tets.size_of(pack);
    const Mat<T, 3> B = tets.rest_of(i, n);
    const Mat<T, 3> before = tets.edges(i, n, x) * B, rate = tets.edges(i, n, v) * B;
    Mat<T, 3> U, V;
    Vec<T, 3> s;
    StepForce<T, 3> r;
    for (int k = 0; k < Sym<T, 9>::size; ++k) r.K.s[k] = T(Real(0));
    polar_svd(before + rate * T(dt), U, s, V);
    const PrincipalForce<T, 3> force = law.principal(s);
    principal_modes(force, s, U, V, r);
    Mat<T, 3> P = from_principal_force(U, force.g, V);
    if (eta > Real(0)) {
      polar_svd(before, U, s, V);
      P = P + stretching_part(U, s, V, rate) * T(2 * eta);
      add_damping(U, s, V, r.K);
    }
    const T volume = load_pack<Real>(tets.volume + i, n);
    tets.put_corners(i, n, P * transpose(B) * (volume * T(dt)), corner);
    for (int k = 0; k < Sym<T, 9>::size; ++k) store_pack<Real>(tangent[k] + i, r.K.s[k] * (volume * T(dt * dt)), n);
  }

 private:
  template <class T>
  TRIBO_HD void add_damping(const Mat<T, 3>& U, const Vec<T, 3>& s, const Mat<T, 3>& V, Sym<T, 9>& K) const {
    const T weight = T(2 * eta / dt);
    Mat<T, 3> mode;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j) {
        const PlaneOfStretch<T> plane(s[i], s[j]);
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            mode(a, b) = i == j ? U(a, i) * V(b, i) : fma(plane.a * U(a, i), V(b, j), plane.b * U(a, j) * V(b, i));
        add_mode(weight, mode, K);
      }
  }
};

/// The derivative of what tets give their corners, along a direction.
template <class Real>
struct ApplyTets {
  TetAccess<Real> tets;
  PackAt<Real> direction;
  FieldView<const Real, Sym<Real, 9>::size> tangent;
  NodePack<Real>* corner;

  TRIBO_HD void operator()(Index pack) const {
    using T = ParticlePack<Real>;
    const Index i = tets.begin_of(pack);
    const int n = tets.size_of(pack);
    const Mat<T, 3> B = tets.rest_of(i, n);
    const Mat<T, 3> dF = tets.edges(i, n, direction) * B;
    Mat<T, 3> dP = Mat<T, 3>::zero();
    const T* const f = &dF.m[0][0];
    T* const p = &dP.m[0][0];
    for (int row = 0; row < 9; ++row)
      for (int column = row; column < 9; ++column) {
        const T K = load_pack<Real>(tangent[Sym<T, 9>::at(row, column)] + i, n);
        p[row] = fma(K, f[column], p[row]);
        if (column != row) p[column] = fma(K, f[row], p[column]);
      }
    tets.put_corners(i, n, dP * transpose(B), corner);
  }
};

/// gradient = M (v - v*) + what corners hold
template <class Real>
struct GradientOfVertex {
  CornerSum<Real> corners;
  const NodePack<Real>* star;
  const NodePack<Real>* velocity;
  NodePack<Real>* gradient;

  TRIBO_HD void operator()(Index i) const {
    const Real mass = star[i][3];
    NodePack<Real> r(Real(0));
    if (mass > Real(0)) {
      const NodePack<Real> sum = corners(i);
      r = node_pack<Real>(fma(mass, velocity[i][0] - star[i][0], sum[0]),
                          fma(mass, velocity[i][1] - star[i][1], sum[1]),
                          fma(mass, velocity[i][2] - star[i][2], sum[2]), Real(0));
    }
    gradient[i] = r;
  }
};

/// product = (M + what the tangents of tets make) direction
template <class Real>
struct ProductOfVertex {
  CornerSum<Real> corners;
  const NodePack<Real>* star;
  const NodePack<Real>* direction;
  NodePack<Real>* product;

  TRIBO_HD void operator()(Index i) const {
    const Real mass = star[i][3];
    NodePack<Real> r(Real(0));
    if (mass > Real(0)) {
      const NodePack<Real> sum = corners(i);
      r = node_pack<Real>(fma(mass, direction[i][0], sum[0]), fma(mass, direction[i][1], sum[1]),
                          fma(mass, direction[i][2], sum[2]), Real(0));
    }
    product[i] = r;
  }
};

/// Inverse of a vertex's own block of the system; 0 of driven ones.
template <class Real>
struct InvertBlock {
  const Index* start;
  const Index* entry;
  FieldView<const Real, 9> inverse_rest;
  FieldView<const Real, Sym<Real, 9>::size> tangent;
  const NodePack<Real>* star;
  FieldView<Real, 6> inverse;

  TRIBO_HD void operator()(Index vertex) const {
    const Real mass = star[vertex][3];
    Sym<Real, 3> A = Sym<Real, 3>::isotropic(mass);
    for (Index e = start[vertex]; mass > Real(0) && e < start[vertex + 1]; ++e) {
      const Index t = entry[e] / 4, c = entry[e] % 4;
      Vec<Real, 3> g;  // gradient of the corner's weight
      for (int k = 0; k < 3; ++k)
        g[k] = c > 0 ? inverse_rest[3 * (c - 1) + k][t]
                     : -(inverse_rest[k][t] + inverse_rest[3 + k][t] + inverse_rest[6 + k][t]);
      for (int a = 0; a < 3; ++a)
        for (int b = a; b < 3; ++b)
          for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l)
              A(a, b) = fma(tangent[Sym<Real, 9>::at(3 * a + k, 3 * b + l)][t], g[k] * g[l], A(a, b));
    }
    const Real c00 = A(1, 1) * A(2, 2) - A(1, 2) * A(1, 2), c01 = A(0, 2) * A(1, 2) - A(0, 1) * A(2, 2),
               c02 = A(0, 1) * A(1, 2) - A(0, 2) * A(1, 1);
    const Real det = A(0, 0) * c00 + A(0, 1) * c01 + A(0, 2) * c02;
    // A block that rounding has made worse than its mass alone is replaced by that.
    const bool usable = mass > Real(0) && det >= mass * mass * mass && det < Real(1e30);
    const Real scale = usable ? Real(1) / det : Real(0);
    const Real plain = usable || !(mass > Real(0)) ? Real(0) : Real(1) / mass;
    inverse[0][vertex] = c00 * scale + plain;
    inverse[1][vertex] = c01 * scale;
    inverse[2][vertex] = c02 * scale;
    inverse[3][vertex] = (A(0, 0) * A(2, 2) - A(0, 2) * A(0, 2)) * scale + plain;
    inverse[4][vertex] = (A(0, 1) * A(0, 2) - A(0, 0) * A(1, 2)) * scale;
    inverse[5][vertex] = (A(0, 0) * A(1, 1) - A(0, 1) * A(0, 1)) * scale + plain;
  }
};
/// r times the inverse of its vertex's block.
template <class Real>
struct InverseBlock {
  FieldView<const Real, 6> inverse;
  TRIBO_HD NodePack<Real> operator()(Index i, const NodePack<Real>& r) const {
    return node_pack<Real>(inverse[0][i] * r[0] + inverse[1][i] * r[1] + inverse[2][i] * r[2],
                           inverse[1][i] * r[0] + inverse[3][i] * r[1] + inverse[4][i] * r[2],
                           inverse[2][i] * r[0] + inverse[4][i] * r[1] + inverse[5][i] * r[2], Real(0));
  }
};

/// The linear system's first residual; no step yet.
template <class Real>
struct BeginLinear {
  const NodePack<Real>* gradient;
  NodePack<Real>* residual;
  NodePack<Real>* step;

  TRIBO_HD void operator()(Index i) const {
    residual[i] = -gradient[i];
    step[i] = NodePack<Real>(Real(0));
  }
};

/// Motion as a whole that a body has won beyond v*, which its own forces cannot give it; 0 where something holds it.
/// Momentum is what iterations leave. Angular momentum backward Euler changes itself: forces have no torque at the
/// positions x + dt v where it takes them, but -dt v x f at x, which slows rotation and lets bodies that untangle from
/// rest spin. With sum m x x (v - v*) = 0, and contact and motion by dt v from there, it stays to rounding.
template <class Real>
struct SpuriousMotion {
  struct Scratch {
    SpinSums sums[Team::size];
    Vec<double, 3> momentum[Team::size];
    Index driven[Team::size];
  };
  const Index* first;  ///< vertex of each body, and the end
  const Index* drive;
  ColumnAt<Real> x;
  const NodePack<Real>* star;
  const NodePack<Real>* velocity;
  WholeMotion* out;

  TRIBO_HD void operator()(const Team& team, Index body, Scratch& scratch) const {
    SpinSums sums = SpinSums::none();
    Vec<double, 3> momentum = Vec<double, 3>::zero();
    Index driven = 0;
    const Vec<double, 3> origin = place(first[body]);  // of moments: far from the scene's, these would cancel
    for (Index i = first[body] + team.rank(); i < first[body + 1]; i += Team::size) {
      const auto mass = static_cast<double>(star[i][3]);
      Vec<double, 3> p;
      for (int k = 0; k < 3; ++k) p[k] = mass * (static_cast<double>(velocity[i][k]) - static_cast<double>(star[i][k]));
      const Vec<double, 3> away = place(i) - origin;
      sums.add(SpinSums::of(mass, away, cross(away, p)));
      momentum += p;
      driven |= drive[i] >= 0 ? 1 : 0;
    }
    scratch.sums[team.rank()] = sums;
    scratch.momentum[team.rank()] = momentum;
    scratch.driven[team.rank()] = driven;
    team.barrier();
    if (team.rank() != 0) return;
    for (int r = 1; r < Team::size; ++r) {
      sums.add(scratch.sums[r]);
      momentum += scratch.momentum[r];
      driven |= scratch.driven[r];
    }
    WholeMotion all{Vec<double, 3>::zero(), origin, Vec<double, 3>::zero()};
    if (driven == 0) {
      const Vec<double, 3> center = (1 / sums.mass) * sums.place;
      sums.torque = sums.torque - cross(center, momentum);
      all = {(1 / sums.mass) * momentum, origin + center, spin_of(sums, center)};
    }
    out[body] = all;
  }

 private:
  TRIBO_HD Vec<double, 3> place(Index i) const {
    return {{static_cast<double>(x(i, 0)), static_cast<double>(x(i, 1)), static_cast<double>(x(i, 2))}};
  }
};
template <class Real>
struct TakeVelocity {
  const Index* body;
  const WholeMotion* spurious;
  ColumnAt<Real> x;
  const NodePack<Real>* velocity;
  FieldView<Real, 3> v;
  TRIBO_HD void operator()(Index i) const {
    const WholeMotion& motion = spurious[body[i]];
    Vec<double, 3> away;
    for (int k = 0; k < 3; ++k) away[k] = static_cast<double>(x(i, k)) - motion.center[k];
    const Vec<double, 3> excess = motion.velocity + cross(motion.spin, away);
    for (int k = 0; k < 3; ++k) v[k][i] = static_cast<Real>(static_cast<double>(velocity[i][k]) - excess[k]);
  }
};

/// One step's solve: Newton's problem, and its linear systems.
template <class Real>
class ElasticSolve : public linear::Unconstrained {
 public:
  using Pack = NodePack<Real>;

  ElasticSolve(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh,
               const ImplicitSpec& settings, double dt, SolidState<Real>& state, ElasticWorkspace<Real>& work)
      : ex_(ex),
        constants_(constants),
        mesh_(mesh),
        settings_(settings),
        dt_(dt),
        state_(state),
        work_(work),
        on_(ex, solve_label, {mesh.vertices}) {}

  ImplicitReport run(double time) {
    work_.corner.resize_discard(Size{4} * mesh_.tets);
    work_.tangent.resize_discard(mesh_.tets);
    work_.inverse_block.resize_discard(mesh_.vertices);
    for (Array<Pack>* a : {&work_.star, &work_.velocity, &work_.gradient, &work_.residual, &work_.direction,
                           &work_.product, &work_.step})
      a->resize_discard(mesh_.vertices);
    place_drives(ex_, constants_, time, dt_, work_);
    const ElasticWorkspace<Real>& kept = work_;
    on_.each(BeginVertex<Real>{view(kept.v_start), mesh_.mass.data(), mesh_.drive.data(), view(mesh_.anchor),
                               work_.drives.data(), constants_.gravity, static_cast<Real>(dt_), work_.star.data(),
                               work_.velocity.data()});
    const double gravity = dt_ * std::sqrt(static_cast<double>(squared_norm(constants_.gravity)));
    norm_.emplace(ex_, solve_label, mesh_.vertices, work_.star.data(), gravity);
    linear::NewtonReport report{.converged = true};  // where everything is driven
    if (norm_->mass() > 0) report = linear::newton(*this, settings_.newton_iterations);
    finish();
    return implicit::report_of(report, vertex_speed(ex_, state_));
  }

  double target() const { return norm_->target(settings_.tolerance, work_.velocity.data()); }
  double error() const { return norm_->of(work_.step.data()); }
  void move(double share) { on_.add(share, work_.step.data(), work_.velocity.data()); }
  bool search(double before) { return linear::search_slope(*this, before); }
  double slope() const { return on_.dot(work_.gradient.data(), work_.step.data()); }

  /// Gradient and tangents at the present velocities.
  void evaluate() {
    const SolidState<Real>& now = state_;
    each_body(constants_, mesh_, [&](const auto& law, double /*density*/, const SolidBody& body) {
      const TetAccess<Real> tets(mesh_, body);
      for_each_pack(ex_, "linearize", tets.packs(),
                    LinearizeTets<Real, std::decay_t<decltype(law)>>{tets,
                                                                     {view(now.x)},
                                                                     {work_.velocity.data()},
                                                                     law,
                                                                     static_cast<Real>(body.damping),
                                                                     static_cast<Real>(dt_),
                                                                     work_.corner.data(),
                                                                     view(work_.tangent)});
    });
    for_each_pack(ex_, "linearize", mesh_.vertices,
                  GradientOfVertex<Real>{CornerSum<Real>(mesh_, work_), work_.star.data(), work_.velocity.data(),
                                         work_.gradient.data()});
  }

  double solve(double target, std::int64_t& iterations) {
    const ElasticWorkspace<Real>& kept = work_;
    for_each_pack(ex_, solve_label, mesh_.vertices,
                  InvertBlock<Real>{mesh_.tet_corner_start.data(), mesh_.tet_corner.data(), view(mesh_.inverse_rest),
                                    view(kept.tangent), work_.star.data(), view(work_.inverse_block)});
    on_.each(BeginLinear<Real>{work_.gradient.data(), work_.residual.data(), work_.step.data()});
    linear::ErrorWindow stop(norm_->mass() * target * target);
    const linear::CgReport report = linear::conjugate_gradients(
        ex_, solve_label, *this,
        {work_.step.data(), work_.residual.data(), work_.direction.data(), work_.product.data()}, stop,
        settings_.linear_iterations);
    iterations += report.iterations;
    return -report.energy;
  }

  VertexSpace<Real> space() const { return on_.space(); }
  InverseBlock<Real> precondition(const Pack*) const {
    const ElasticWorkspace<Real>& kept = work_;
    return {view(kept.inverse_block)};
  }
  void apply(const Pack* direction, Pack* product) {
    const ElasticWorkspace<Real>& kept = work_;
    SolidBody all;
    all.tets = {0, mesh_.tets};
    const TetAccess<Real> tets(mesh_, all);
    for_each_pack(ex_, "apply", tets.packs(),
                  ApplyTets<Real>{tets, {direction}, view(kept.tangent), work_.corner.data()});
    for_each_pack(ex_, "apply", mesh_.vertices,
                  ProductOfVertex<Real>{CornerSum<Real>(mesh_, work_), work_.star.data(), direction, product});
  }

 private:
  /// The velocities found, with the momenta that free bodies must have.
  void finish() {
    std::vector<Index> first;
    for (const SolidBody& body : mesh_.body) first.push_back(body.vertices.begin);
    first.push_back(mesh_.vertices);
    copy_to_device(ex_, first.data(), work_.body_start, mesh_.bodies + 1);
    work_.whole.resize_discard(mesh_.bodies);
    const SolidState<Real>& now = state_;
    for_each_team<typename SpuriousMotion<Real>::Scratch>(ex_, solve_label, mesh_.bodies,
                                                          SpuriousMotion<Real>{work_.body_start.data(),
                                                                               mesh_.drive.data(),
                                                                               {view(now.x)},
                                                                               work_.star.data(),
                                                                               work_.velocity.data(),
                                                                               work_.whole.data()});
    parallel_for(
        ex_, solve_label, mesh_.vertices,
        TakeVelocity<Real>{
            mesh_.vertex_body.data(), work_.whole.data(), {view(now.x)}, work_.velocity.data(), view(state_.v)});
  }

  Exec& ex_;
  const SolidConstants<Real>& constants_;
  const SolidMesh<Real>& mesh_;
  const ImplicitSpec& settings_;
  double dt_;
  SolidState<Real>& state_;
  ElasticWorkspace<Real>& work_;
  linear::Vectors<VertexSpace<Real>> on_;
  std::optional<implicit::VelocityNorm<Real, 3>> norm_;  ///< once v* is known
};

}  // namespace

template <class Real>
ImplicitReport solve_elastic(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh,
                             const ImplicitSpec& settings, double time, double dt, SolidState<Real>& state,
                             ElasticWorkspace<Real>& work) {
  return ElasticSolve<Real>(ex, constants, mesh, settings, dt, state, work).run(time);
}

#define TRIBO_INSTANTIATE(Real)                                                                     \
  template ImplicitReport solve_elastic(Exec&, const SolidConstants<Real>&, const SolidMesh<Real>&, \
                                        const ImplicitSpec&, double, double, SolidState<Real>&,     \
                                        ElasticWorkspace<Real>&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
