#pragma once

#include "tribo/models/codim/frame.h"

namespace tribo {

/// Logarithmic strain of a cross-section [[a, b], [0, c]] with a c > 0, without its singular vectors (theory C.2).
template <class T>
struct SectionStrain {
  T sum;           ///< e1 + e2
  T difference;    ///< e1 - e2 >= 0
  T cosine, sine;  ///< of twice the angle of the first principal direction, times the difference

  TRIBO_HD SectionStrain(const T& a, const T& b, const T& c) {
    const T v = T(0.5) * (a * a + b * b - c * c), total = a * a + b * b + c * c;
    const T spread = T(2) * sqrt(v * v + b * b * c * c);
    const T x = spread / total, x2 = x * x;
    // atanh(x) / spread; where the section is hardly strained, by its series
    const T scale = x < T(0.05) ? (T(1) + x2 * (T(1.0 / 3) + x2 * (T(0.2) + x2 * T(1.0 / 7)))) / total
                                : log((total + spread) / (T(2) * a * c)) / spread;
    sum = log(a * c);
    difference = scale * spread;
    cosine = T(2) * scale * v;
    sine = T(2) * scale * b * c;
  }
};

/// A curve and what is around it: stiff along the fiber, and across it as grains that bear pressure and, as friction
/// allows, shear (Jiang 2017, 3.3.1, 4.5.2; theory C.2, C.5):
///   psi = k/2 (r11 - 1)^2 + gamma/2 (r12^2 + r13^2) + mu (e1^2 + e2^2) + lambda/2 (e1 + e2)^2,
/// e the logarithmic strains of [[r22, r23], [0, r33]].
template <class Real>
struct CurveLaw {
  Real fiber;       ///< k [Pa]
  Real shear;       ///< gamma [Pa]
  Real mu, lambda;  ///< Lame parameters of the section [Pa]
  Real across;      ///< alpha, of the cone across the fiber
  Real along;       ///< beta = tan(phi), of slip along it

  template <class T>
  TRIBO_HD T energy(const Mat<T, 3>& R) const {
    const SectionStrain<T> e(R(1, 1), R(1, 2), R(2, 2));
    const T stretch = R(0, 0) - T(1);
    return T(0.5) * (T(fiber) * stretch * stretch + T(shear) * (R(0, 1) * R(0, 1) + R(0, 2) * R(0, 2)) +
                     T(mu + lambda) * e.sum * e.sum + T(mu) * e.difference * e.difference);
  }

  /// G = dpsi/dR, upper triangular. Needs r33 > 0, which `project` sees to.
  template <class T>
  TRIBO_HD Mat<T, 3> slope(const Mat<T, 3>& R) const {
    const T a = R(1, 1), b = R(1, 2), c = R(2, 2);
    const SectionStrain<T> e(a, b, c);
    const T pressure = T(mu + lambda) * e.sum;
    const T t22 = pressure + T(mu) * e.cosine, t33 = pressure - T(mu) * e.cosine, t23 = T(mu) * e.sine;
    Mat<T, 3> G = Mat<T, 3>::zero();
    G(0, 0) = T(fiber) * (R(0, 0) - T(1));
    G(0, 1) = T(shear) * R(0, 1);
    G(0, 2) = T(shear) * R(0, 2);
    G(2, 2) = t33 / c;
    G(1, 2) = t23 / c;
    G(1, 1) = (t22 - G(1, 2) * b) / a;
    return G;
  }

  /// Bound of the second derivative by gradients of the velocity: Hencky's grows with the pressure (theory J).
  template <class T>
  TRIBO_HD T section_stiffness(const Mat<T, 3>& R) const {
    const SectionStrain<T> e(R(1, 1), R(1, 2), R(2, 2));
    return T(2) * T(mu + lambda) + T(shear) * (R(1, 1) * R(1, 1) + R(1, 2) * R(1, 2) + R(2, 2) * R(2, 2)) +
           T(mu + lambda) * abs(e.sum) + T(mu) * e.difference;
  }

  /// Return mapping (theory C.5, with its corrections of the print): trial directions to normals on the yield
  /// surface. The tangent stays. H below is the new section in the frame of the trial one; rotating it back into a
  /// triangle would turn q2, q3 by as much the other way, and normals are what both make together.
  template <class T>
  TRIBO_HD void project(const CodimFrame<T>& frame, Vec<T, 3>& d2, Vec<T, 3>& d3) const {
    const Vec<T, 3> q1 = column_of(frame.Q, 0), q2 = column_of(frame.Q, 1), q3 = column_of(frame.Q, 2);
    const Mat<T, 3>& R = frame.R;
    const T least(1e-4);                         // of a section's stretches: beyond, they are taken for that
    if (!(R(2, 2) * R(1, 1) > least * least)) {  // inverted or flat: it has no logarithm and begins anew
      d2 = q2;
      d3 = q3;
      return;
    }
    const SectionStrain<T> e(R(1, 1), R(1, 2), R(2, 2));
    const T e1 = T(0.5) * (e.sum + e.difference), e2 = T(0.5) * (e.sum - e.difference);
    T new1 = e1, new2 = e2;
    const T excess = T(0.5) * e.difference + T(across * (lambda + mu) / (4 * mu)) * e.sum;
    if (e.sum >= T(0)) {
      new1 = new2 = T(0);
    } else if (excess > T(0)) {
      new1 = e1 - excess;
      new2 = e2 + excess;
    }
    const T lowest = log(least);
    new1 = max(new1, lowest);
    new2 = max(new2, lowest);
    const T ratio1 = exp(new1 - e1), ratio2 = exp(new2 - e2);
    const T even = T(0.5) * (ratio1 + ratio2);
    const T odd = e.difference > T(0) ? T(0.5) * (ratio1 - ratio2) / e.difference : T(0);
    const T m22 = even + odd * e.cosine, m33 = even - odd * e.cosine, m23 = odd * e.sine;
    const T h22 = m22 * R(1, 1), h32 = m23 * R(1, 1);
    const T h23 = m22 * R(1, 2) + m23 * R(2, 2), h33 = m23 * R(1, 2) + m33 * R(2, 2);
    const T s2 = h22 * R(0, 1) + h23 * R(0, 2), s3 = h32 * R(0, 1) + h33 * R(0, 2);
    const T slip = T(shear) * sqrt(s2 * s2 + s3 * s3);
    const T bears = max(T(-(along * (mu + lambda))) * (new1 + new2), T(0));
    const T keep = slip > bears ? bears / slip : T(1);
    d2 = (keep * R(0, 1)) * q1 + h22 * q2 + h32 * q3;
    d3 = (keep * R(0, 2)) * q1 + h23 * q2 + h33 * q3;
  }
};

}  // namespace tribo
