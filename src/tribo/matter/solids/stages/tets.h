#pragma once

#include "tribo/exec/chunks.h"
#include "tribo/grid/stencil.h"
#include "tribo/matter/solids/stages/solid.h"
#include "tribo/models/all.h"
#include "tribo/models/elastic/invertible.h"

/// \file
/// What a tet is to the elastic stages: its deformation, the stress that answers to it, and the corners it pushes. Tets
/// are taken in packs, as particles are; the corners of a pack are gathered one by one.

namespace tribo::TRIBO_BACKEND {

/// Tets of one body, and the columns over vertices they look at.
template <class Real>
struct TetAccess {
  using T = ParticlePack<Real>;

  FieldView<const Index, 4> tet;
  FieldView<const Real, 9> inverse_rest;
  const Real* volume;
  const Real* height;
  Index first, end;  ///< the body's

  TetAccess(const SolidMesh<Real>& mesh, const SolidBody& body)
      : tet(view(mesh.tet)),
        inverse_rest(view(mesh.inverse_rest)),
        volume(mesh.volume.data()),
        height(mesh.height.data()),
        first(body.tets.begin),
        end(body.tets.end) {}

  Index packs() const { return (end - first + pack_width<Real> - 1) / pack_width<Real>; }
  TRIBO_HD Index begin_of(Index pack) const { return first + pack * pack_width<Real>; }
  TRIBO_HD int size_of(Index pack) const {
    const Index left = end - begin_of(pack);
    return left < pack_width<Real> ? static_cast<int>(left) : pack_width<Real>;
  }

  TRIBO_HD Mat<T, 3> rest_of(Index i, int n) const {
    Mat<T, 3> B;
    for (int k = 0; k < 9; ++k) (&B.m[0][0])[k] = load_pack<Real>(inverse_rest[k] + i, n);
    return B;
  }
  /// Edges from the first corner, as columns, of a vector over vertices; at(vertex, axis) reads it.
  template <class At>
  TRIBO_HD Mat<T, 3> edges(Index i, int n, const At& at) const {
    Mat<T, 3> D;
    for (int axis = 0; axis < 3; ++axis)
      for (int c = 0; c < 3; ++c) {
        Real lanes[pack_width<Real>];
        for (int l = 0; l < pack_width<Real>; ++l) {
          const Index t = i + (l < n ? l : n - 1);
          lanes[l] = at(tet[c + 1][t], axis) - at(tet[0][t], axis);
        }
        D(axis, c) = load_pack<Real>(lanes, pack_width<Real>);
      }
    return D;
  }
  /// Corners 1 to 3 receive the columns of H, corner 0 what makes the sum zero.
  TRIBO_HD void put_corners(Index i, int n, const Mat<T, 3>& H, NodePack<Real>* corner) const {
    for (int l = 0; l < n; ++l) {
      NodePack<Real>* const out = corner + 4 * (Size{i} + l);
      Vec<Real, 3> sum = Vec<Real, 3>::zero();
      for (int c = 0; c < 3; ++c) {
        const Vec<Real, 3> f{{lane(H(0, c), l), lane(H(1, c), l), lane(H(2, c), l)}};
        out[c + 1] = node_pack<Real>(f[0], f[1], f[2], Real(0));
        sum += f;
      }
      out[0] = node_pack<Real>(-sum[0], -sum[1], -sum[2], Real(0));
    }
  }
};

/// Reads a column of vectors.
template <class Real>
struct ColumnAt {
  FieldView<const Real, 3> column;
  TRIBO_HD Real operator()(Index vertex, int axis) const { return column[axis][vertex]; }
};

/// P = U diag(g) V^T
template <class T>
TRIBO_HD Mat<T, 3> from_principal_force(const Mat<T, 3>& U, const Vec<T, 3>& g, const Mat<T, 3>& V) {
  Mat<T, 3> P;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b) {
      T sum = U(a, 0) * g[0] * V(b, 0);
      for (int i = 1; i < 3; ++i) sum = fma(U(a, i) * g[i], V(b, i), sum);
      P(a, b) = sum;
    }
  return P;
}

/// How stretching in the plane of the axes i and j is told from turning there: of (H_ij, H_ji), H = U^T dF V, a turn is
/// (s_j, -s_i) times its angle, and what is left lies along (a, b) = (s_i, s_j), normalized. Where both stretches
/// vanish nothing is a turn, and any direction serves.
template <class T>
struct PlaneOfStretch {
  T a, b;

  TRIBO_HD PlaneOfStretch(const T& si, const T& sj) {
    using Real = scalar_of<T>;
    const T square = fma(si, si, sj * sj);
    const auto none = square < T(Real(1e-12));
    const T scale = rsqrt(select(none, T(Real(1)), square));
    a = select(none, T(Real(0.70710678118654752)), si * scale);
    b = select(none, T(Real(0.70710678118654752)), sj * scale);
  }
};

/// The part of a rate of F = U diag(s) V^T that no rotation of the body can bring about: the rate less its projection
/// on the turns W F, taken plane by plane. With it, Kelvin and Voigt's damping P = 2 eta (part) is linear in
/// velocities, symmetric, never drives, does nothing to rigid motion however deformed the body, keeps angular momentum
/// (P F^T is symmetric) and is 2 eta sym(grad v) at small strain. At most 2 eta |dF/dt| for any F, flat or inverted,
/// where the rate of the stretch itself would grow without bound.
template <class T>
TRIBO_HD Mat<T, 3> stretching_part(const Mat<T, 3>& U, const Vec<T, 3>& s, const Mat<T, 3>& V, const Mat<T, 3>& rate) {
  Mat<T, 3> H = transpose(U) * rate * V;
  for (int i = 0; i < 3; ++i)
    for (int j = i + 1; j < 3; ++j) {
      const PlaneOfStretch<T> plane(s[i], s[j]);
      const T along = fma(plane.a, H(i, j), plane.b * H(j, i));
      H(i, j) = plane.a * along;
      H(j, i) = plane.b * along;
    }
  return U * H * transpose(V);
}

/// The same without an SVD, for F that is not nearly collapsed: the turn w x F nearest to the rate has
/// (tr(B) I - B) w = sum_j f_j x (dF/dt)_j over the columns of F.
template <class T>
TRIBO_HD Mat<T, 3> stretching_part(const Mat<T, 3>& F, const Sym<T, 3>& B, const Mat<T, 3>& rate) {
  Vec<T, 3> moment = Vec<T, 3>::zero();
  for (int j = 0; j < 3; ++j)
    moment += cross(Vec<T, 3>{{F(0, j), F(1, j), F(2, j)}}, Vec<T, 3>{{rate(0, j), rate(1, j), rate(2, j)}});
  const T a = trace(B);
  Mat<T, 3> A;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) A(i, j) = i == j ? a - B(i, j) : -B(i, j);
  const Mat<T, 3> inverse = cofactors(A);  // of a symmetric matrix, but for the determinant
  const T determinant = fma(A(0, 0), inverse(0, 0), fma(A(0, 1), inverse(0, 1), A(0, 2) * inverse(0, 2)));
  const Vec<T, 3> w = inverse * moment * (T(1) / determinant);
  Mat<T, 3> part;
  for (int j = 0; j < 3; ++j) {
    const Vec<T, 3> turn = cross(w, Vec<T, 3>{{F(0, j), F(1, j), F(2, j)}});
    for (int i = 0; i < 3; ++i) part(i, j) = rate(i, j) - turn[i];
  }
  return part;
}

/// Largest eigenvalue of dP/dF, or a little more (theory B.3); what drives away instead of back sets no limit to
/// steps.
template <class T>
TRIBO_HD T largest_stiffness(const PrincipalForce<T, 3>& force, const Vec<T, 3>& s) {
  using Real = scalar_of<T>;
  T largest = largest_eigenvalue_bound(force.A);
  for (int i = 0; i < 3; ++i)
    for (int j = i + 1; j < 3; ++j) {
      const T gap = max(s[i] - s[j], T(Real(1e-3)));
      const T sum = max(s[i] + s[j], T(Real(1e-3)));
      largest = max(largest, max((force.g[i] - force.g[j]) / gap, (force.g[i] + force.g[j]) / sum));
    }
  return largest;
}

/// What the corners of a vertex add up to, always in the same order.
template <class Real>
struct CornerSum {
  const Index* start;
  const Index* entry;
  const NodePack<Real>* corner;

  CornerSum(const SolidMesh<Real>& mesh, const ElasticWorkspace<Real>& work)
      : start(mesh.tet_corner_start.data()), entry(mesh.tet_corner.data()), corner(work.corner.data()) {}

  TRIBO_HD NodePack<Real> operator()(Index vertex) const {
    NodePack<Real> sum(Real(0));
    for (Index k = start[vertex]; k < start[vertex + 1]; ++k) sum += corner[entry[k]];
    return sum;
  }
};

/// work(law as meshes take it, body) for each body. Bodies that follow each other and are of the same stuff come as
/// one, with the tets of all: small ones are not enough work alone.
template <class Real, class Work>
void each_body(const SolidConstants<Real>& constants, const SolidMesh<Real>& mesh, const Work& work) {
  const auto alike = [](const SolidBody& a, const SolidBody& b) {
    return a.material == b.material && a.damping == b.damping && a.kinematic == b.kinematic;
  };
  for (std::size_t b = 0; b < mesh.body.size();) {
    SolidBody body = mesh.body[b];
    const std::size_t first = b;
    for (++b; b < mesh.body.size() && alike(body, mesh.body[b]); ++b) body.tets.end = mesh.body[b].tets.end;
    std::visit(
        [&]<class Law>(const Law& law) {
          if constexpr (MeshLaw<Law>) work(invertible(law), constants.densities[first], body);
        },
        *constants.laws[first]);
  }
}

/// Poses and velocities of the drives in a step, on the device.
template <class Real>
void place_drives(Exec& ex, const SolidConstants<Real>& constants, double time, double dt,
                  ElasticWorkspace<Real>& work);

}  // namespace tribo::TRIBO_BACKEND
