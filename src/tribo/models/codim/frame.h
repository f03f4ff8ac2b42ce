#pragma once

#include "tribo/math/lanes.h"
#include "tribo/math/small.h"

/// \file
/// Deformation of curves and surfaces in space (Jiang 2017, 3.3; theory C.1, C.3). The columns of F are the deformed
/// directions of an element, those along it first, then its normals, each over what it was at rest in an orthonormal
/// frame. F = Q R tells apart what happens along and across: energies are functions of R, which is the identity at
/// rest.

namespace tribo {

template <class T>
TRIBO_HD Vec<T, 3> column_of(const Mat<T, 3>& A, int j) {
  return {{A(0, j), A(1, j), A(2, j)}};
}
template <class T>
TRIBO_HD void put_column(Mat<T, 3>& A, int j, const Vec<T, 3>& v) {
  for (int i = 0; i < 3; ++i) A(i, j) = v[i];
}

/// F = Q R with Q a rotation and R upper triangular; r11, r22 > 0, and r33 has the sign of det F, so that it passes
/// zero smoothly where a normal is turned inside out.
template <class T>
struct CodimFrame {
  Mat<T, 3> Q, R;
  bool defined;  ///< false where a direction has vanished or is along another; Q and R are those of rest then

  TRIBO_HD explicit CodimFrame(const Mat<T, 3>& F) : Q(Mat<T, 3>::identity()), R(Mat<T, 3>::identity()) {
    const Vec<T, 3> f1 = column_of(F, 0), f2 = column_of(F, 1), f3 = column_of(F, 2);
    const T tiny(1e-12), r11 = sqrt(squared_norm(f1));
    defined = r11 > tiny;
    if (!defined) return;
    const Vec<T, 3> q1 = (T(1) / r11) * f1;
    const T r12 = dot(q1, f2);
    const Vec<T, 3> across = f2 - r12 * q1;
    const T r22 = sqrt(squared_norm(across));
    defined = r22 > tiny;
    if (!defined) return;
    const Vec<T, 3> q2 = (T(1) / r22) * across, q3 = cross(q1, q2);
    put_column(Q, 0, q1);
    put_column(Q, 1, q2);
    put_column(Q, 2, q3);
    R(0, 0) = r11;
    R(0, 1) = r12;
    R(0, 2) = dot(q1, f3);
    R(1, 1) = r22;
    R(1, 2) = dot(q2, f3);
    R(2, 2) = dot(q3, f3);
  }

  /// dpsi/dF = Q M from G = dpsi/dR. The upper triangle of M is G; the rest follows from M R^T = S being symmetric,
  /// with no division by r33.
  TRIBO_HD Mat<T, 3> piola(const Mat<T, 3>& G) const {
    Mat<T, 3> M = G;
    const T s12 = G(0, 1) * R(1, 1) + G(0, 2) * R(1, 2), s13 = G(0, 2) * R(2, 2), s23 = G(1, 2) * R(2, 2);
    M(2, 1) = (s23 - R(1, 2) * M(2, 2)) / R(1, 1);
    M(1, 0) = (s12 - R(0, 1) * M(1, 1) - R(0, 2) * M(1, 2)) / R(0, 0);
    M(2, 0) = (s13 - R(0, 1) * M(2, 1) - R(0, 2) * M(2, 2)) / R(0, 0);
    return Q * M;
  }
};

}  // namespace tribo
