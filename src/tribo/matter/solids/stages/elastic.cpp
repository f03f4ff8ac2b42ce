#include <cmath>

#include "tribo/matter/solids/stages/tets.h"

namespace tribo::TRIBO_BACKEND {
namespace {

/// Forces of a pack of tets on their corners (Han 2019, eq. 13): H = -V P(F) Bm^T, F = Ds Bm; and how long a step they
/// bear (experiments_solids Q9). With w the frequency of the element, w^2 = stiffness / (rho h^2), and
/// b = 2 eta / (rho h^2), symplectic Euler with the damping of the step's start is stable for dt < 1/(sqrt(w^2 + b^2) +
/// b) in the units of Q9, of which half is taken.
template <class Real, class Law>
struct ForcesOfTets {
  using T = ParticlePack<Real>;
  TetAccess<Real> tets;
  ColumnAt<Real> x, v;
  Law law;
  Real eta;      ///< [Pa s]
  Real density;  ///< [kg/m^3]
  Real rest_stiffness;
  NodePack<Real>* corner;
  Real* rates;

  TRIBO_HD void operator()(Index pack) const {
    const Index i = tets.begin_of(pack);
    const int n = tets.size_of(pack);
    const Mat<T, 3> Bm = tets.rest_of(i, n);
    const Mat<T, 3> F = tets.edges(i, n, x) * Bm;
    Mat<T, 3> rate = Mat<T, 3>::zero();
    if (eta > Real(0)) rate = tets.edges(i, n, v) * Bm;
    Mat<T, 3> P;
    T stiffness;
    stress(F, rate, P, stiffness);
    tets.put_corners(i, n, P * transpose(Bm) * -load_pack<Real>(tets.volume + i, n), corner);

    const T height = load_pack<Real>(tets.height + i, n);
    const T inertia = T(Real(1)) / (height * height * T(density));
    const T damping = T(2 * eta) * inertia;
    const T square = max(stiffness, T(rest_stiffness)) * inertia;
    store_pack<Real>(rates + i, T(Real(2)) * (sqrt(fma(damping, damping, square)) + damping), n);
  }

  /// With damping. Laws that can do without an SVD do, but for lanes that are inverted or nearly so.
  TRIBO_HD void stress(const Mat<T, 3>& F, const Mat<T, 3>& rate, Mat<T, 3>& P, T& stiffness) const {
    if constexpr (requires(const Sym<T, 3>& B) { law.direct(F, B); }) {
      const Sym<T, 3> B = times_own_transpose(F);
      const DirectForce<T> direct = law.direct(F, B);
      P = direct.P;
      stiffness = direct.stiffness;
      if (eta > Real(0)) P = P + stretching_part(F, B, rate) * T(2 * eta);
      if (!any(direct.ill)) return;
      Mat<T, 3> safe;
      T safe_stiffness;
      stress_by_svd(F, rate, safe, safe_stiffness);
      stiffness = select(direct.ill, safe_stiffness, stiffness);
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b) P(a, b) = select(direct.ill, safe(a, b), P(a, b));
    } else {
      stress_by_svd(F, rate, P, stiffness);
    }
  }
  TRIBO_HD void stress_by_svd(const Mat<T, 3>& F, const Mat<T, 3>& rate, Mat<T, 3>& P, T& stiffness) const {
    Mat<T, 3> U, V;
    Vec<T, 3> s;
    polar_svd(F, U, s, V);
    const PrincipalForce<T, 3> force = law.principal(s);
    P = from_principal_force(U, force.g, V);
    if (eta > Real(0)) P = P + stretching_part(U, s, V, rate) * T(2 * eta);
    stiffness = largest_stiffness(force, s);
  }
};

/// What the next step has to know of vertices and tets alike.
struct MeshBounds {
  double speed2;
  double rate;
  Index first_bad;
};
template <class Real>
struct LoadMeshBounds {
  FieldView<const Real, 3> x, v;
  const Real* rates;
  Index vertices, tets;

  TRIBO_HD MeshBounds operator()(Index i) const {
    MeshBounds r{0, 0, Workspace<Real, 3>::none};
    if (i < tets) {
      r.rate = static_cast<double>(rates[i]);
      if (!(r.rate < 1e30)) r.rate = 1e30;
    }
    if (i < vertices) {
      double place = 0;
      for (int k = 0; k < 3; ++k) {
        r.speed2 += static_cast<double>(v[k][i]) * static_cast<double>(v[k][i]);
        place += abs(static_cast<double>(x[k][i]));
      }
      if (!(r.speed2 < 1e30 && place < 1e30)) {
        r.first_bad = i;
        r.speed2 = 0;
      }
    }
    return r;
  }
};
struct JoinMeshBounds {
  TRIBO_HD MeshBounds operator()(const MeshBounds& a, const MeshBounds& b) const {
    return {max(a.speed2, b.speed2), max(a.rate, b.rate), min(a.first_bad, b.first_bad)};
  }
};

template <class Real>
struct SetRate {
  Real* rate;
  TRIBO_HD void operator()(Index i) const { rate[i] = Real(0); }
};

template <class Real>
struct PushByForces {
  CornerSum<Real> force;
  const Real* inverse_mass;
  const Index* drive;
  FieldView<const Real, 3> anchor;
  const DriveStep<Real>* drives;
  FieldView<const Real, 3> from;
  Vec<Real, 3> gravity;
  Real dt;
  FieldView<Real, 3> v;

  TRIBO_HD void operator()(Index i) const {
    if (drive[i] >= 0) {
      const DriveStep<Real>& d = drives[drive[i]];
      const Vec<Real, 3> velocity = d.turn * Vec<Real, 3>{{anchor[0][i], anchor[1][i], anchor[2][i]}} + d.shift;
      for (int k = 0; k < 3; ++k) v[k][i] = velocity[k];
      return;
    }
    const NodePack<Real> f = force(i);
    for (int k = 0; k < 3; ++k) v[k][i] = fma(dt, fma(f[k], inverse_mass[i], gravity[k]), from[k][i]);
  }
};

template <class Real>
struct MoveVertex {
  const Index* drive;
  FieldView<const Real, 3> anchor;
  const DriveStep<Real>* drives;
  FieldView<const Real, 3> v;
  Real dt;
  FieldView<Real, 3> x;

  TRIBO_HD void operator()(Index i) const {
    if (drive[i] >= 0) {  // to the place itself: a sum of steps would drift from it
      const DriveStep<Real>& d = drives[drive[i]];
      const Vec<Real, 3> place = d.rotation * Vec<Real, 3>{{anchor[0][i], anchor[1][i], anchor[2][i]}} + d.at;
      for (int k = 0; k < 3; ++k) x[k][i] = place[k];
      return;
    }
    for (int k = 0; k < 3; ++k) x[k][i] = fma(dt, v[k][i], x[k][i]);
  }
};

template <class Real>
struct CopyColumn {
  FieldView<const Real, 3> from;
  FieldView<Real, 3> to;
  TRIBO_HD void operator()(Index i) const {
    for (int k = 0; k < 3; ++k) to[k][i] = from[k][i];
  }
};

template <class Real>
struct SquaredSpeed {
  FieldView<const Real, 3> v;
  TRIBO_HD double operator()(Index i) const {
    double sum = 0;
    for (int k = 0; k < 3; ++k) sum += static_cast<double>(v[k][i]) * static_cast<double>(v[k][i]);
    return sum;
  }
};
}  // namespace

template <class Real>
void place_drives(Exec& ex, const SolidConstants<Real>& constants, double time, double dt,
                  ElasticWorkspace<Real>& work) {
  std::vector<DriveStep<Real>> steps;
  for (const Motion& motion : constants.drives) {
    const Pose from = motion.pose(time), to = motion.pose(time + dt);
    DriveStep<Real> step;
    for (int a = 0; a < 3; ++a) {
      step.shift[a] = static_cast<Real>((to.at[a] - from.at[a]) / dt);
      step.at[a] = static_cast<Real>(to.at[a]);
      for (int b = 0; b < 3; ++b) {  // along the chord, so that velocity and place agree
        step.turn(a, b) = static_cast<Real>((to.rotation(a, b) - from.rotation(a, b)) / dt);
        step.rotation(a, b) = static_cast<Real>(to.rotation(a, b));
      }
    }
    steps.push_back(step);
  }
  copy_to_device(ex, steps.data(), work.drives, static_cast<Index>(steps.size()));
}

template <class Real>
Index evaluate_elastic(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh, bool implicit,
                       SolidState<Real>& state, ElasticWorkspace<Real>& work) {
  const SolidState<Real>& now = state;
  if (!implicit) {
    work.corner.resize_discard(Size{4} * mesh.tets);
    work.rate.resize_discard(mesh.tets);
    each_body(constants, mesh, [&](const auto& law, double density, const SolidBody& body) {
      const TetAccess<Real> tets(mesh, body);
      if (body.kinematic) {  // nothing moves by its forces, and no step is too long for it
        const Run run = body.tets;
        parallel_for(ex, "elastic", run.end - run.begin, SetRate<Real>{work.rate.data() + run.begin});
        return;
      }
      const Vec<Real, 3> unit = Vec<Real, 3>::filled(Real(1));
      const Real rest = largest_eigenvalue_bound(law.principal(unit).A);
      for_each_pack(ex, "elastic", tets.packs(),
                    ForcesOfTets<Real, std::decay_t<decltype(law)>>{tets,
                                                                    {view(now.x)},
                                                                    {view(now.v)},
                                                                    law,
                                                                    static_cast<Real>(body.damping),
                                                                    static_cast<Real>(density),
                                                                    rest,
                                                                    work.corner.data(),
                                                                    work.rate.data()});
    });
  }
  const Index tets = implicit ? 0 : mesh.tets;
  const MeshBounds bounds =
      reduce(ex, "elastic", std::max(mesh.vertices, tets), MeshBounds{0, 0, Workspace<Real, 3>::none},
             LoadMeshBounds<Real>{view(now.x), view(now.v), work.rate.data(), mesh.vertices, tets}, JoinMeshBounds{});
  state.speed = std::sqrt(bounds.speed2);
  state.stable_dt = bounds.rate > 0 ? 1 / bounds.rate : 0;
  return bounds.first_bad;
}

template <class Real>
void begin_solids(Exec& ex, const SolidState<Real>& state, ElasticWorkspace<Real>& work) {
  work.v_start.resize_discard(state.count);
  parallel_for(ex, "elastic", state.count, CopyColumn<Real>{view(state.v), view(work.v_start)});
}

template <class Real>
void take_back_velocities(Exec& ex, const ElasticWorkspace<Real>& work, SolidState<Real>& state) {
  parallel_for(ex, "elastic", state.count, CopyColumn<Real>{view(work.v_start), view(state.v)});
}

template <class Real>
void elastic_step(Exec& ex, const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh, double time, double dt,
                  SolidState<Real>& state, ElasticWorkspace<Real>& work) {
  place_drives(ex, constants, time, dt, work);
  const ElasticWorkspace<Real>& kept = work;
  for_each_pack(ex, "elastic", mesh.vertices,
                PushByForces<Real>{CornerSum<Real>(mesh, work), mesh.inverse_mass.data(), mesh.drive.data(),
                                   view(mesh.anchor), work.drives.data(), view(kept.v_start), constants.gravity,
                                   static_cast<Real>(dt), view(state.v)});
}

template <class Real>
void move_vertices(Exec& ex, const SolidMesh<Real>& mesh, double dt, SolidState<Real>& state,
                   ElasticWorkspace<Real>& work) {
  const SolidState<Real>& now = state;
  parallel_for(ex, "move", mesh.vertices,
               MoveVertex<Real>{mesh.drive.data(), view(mesh.anchor), work.drives.data(), view(now.v),
                                static_cast<Real>(dt), view(state.x)});
}

template <class Real>
double vertex_speed(Exec& ex, const SolidState<Real>& state) {
  return std::sqrt(reduce(ex, "elastic", state.count, 0.0, SquaredSpeed<Real>{view(state.v)}, LargerOrNan<double>{}));
}

#define TRIBO_INSTANTIATE(Real)                                                                                        \
  template void place_drives(Exec&, const SolidConstants<Real>&, double, double, ElasticWorkspace<Real>&);             \
  template Index evaluate_elastic(Exec&, const SolidConstants<Real>&, const SolidMesh<Real>&, bool, SolidState<Real>&, \
                                  ElasticWorkspace<Real>&);                                                            \
  template void begin_solids(Exec&, const SolidState<Real>&, ElasticWorkspace<Real>&);                                 \
  template void take_back_velocities(Exec&, const ElasticWorkspace<Real>&, SolidState<Real>&);                         \
  template void elastic_step(Exec&, const SolidConstants<Real>&, const SolidMesh<Real>&, double, double,               \
                             SolidState<Real>&, ElasticWorkspace<Real>&);                                              \
  template void move_vertices(Exec&, const SolidMesh<Real>&, double, SolidState<Real>&, ElasticWorkspace<Real>&);      \
  template double vertex_speed(Exec&, const SolidState<Real>&);
TRIBO_FOR_EACH_REAL(TRIBO_INSTANTIATE)
#undef TRIBO_INSTANTIATE

}  // namespace tribo::TRIBO_BACKEND
