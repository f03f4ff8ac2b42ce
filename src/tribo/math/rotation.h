#pragma once

#include "tribo/math/lanes.h"

/// \file
/// Rotations of rigid frames as unit quaternions, real part first.

namespace tribo {

template <class Real>
using Quaternion = Vec<Real, 4>;

template <class Real>
TRIBO_HD Quaternion<Real> quaternion_product(const Quaternion<Real>& a, const Quaternion<Real>& b) {
  return {{a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
           a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
           a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]}};
}

template <class Real>
TRIBO_HD Mat<Real, 3> rotation_of(const Quaternion<Real>& q) {
  const Real w = q[0], x = q[1], y = q[2], z = q[3];
  Mat<Real, 3> r;
  r(0, 0) = Real(1) - Real(2) * (y * y + z * z);
  r(0, 1) = Real(2) * (x * y - w * z);
  r(0, 2) = Real(2) * (x * z + w * y);
  r(1, 0) = Real(2) * (x * y + w * z);
  r(1, 1) = Real(1) - Real(2) * (x * x + z * z);
  r(1, 2) = Real(2) * (y * z - w * x);
  r(2, 0) = Real(2) * (x * z - w * y);
  r(2, 1) = Real(2) * (y * z + w * x);
  r(2, 2) = Real(1) - Real(2) * (x * x + y * y);
  return r;
}

/// Of a rotation matrix: by the largest of the four parts, so that no digits are lost at any angle.
template <class Real>
TRIBO_HD Quaternion<Real> quaternion_of(const Mat<Real, 3>& r) {
  const Real trace = r(0, 0) + r(1, 1) + r(2, 2);
  Quaternion<Real> q;
  if (trace > Real(0)) {
    q = {{Real(1) + trace, r(2, 1) - r(1, 2), r(0, 2) - r(2, 0), r(1, 0) - r(0, 1)}};
  } else {
    int i = r(1, 1) > r(0, 0) ? 1 : 0;
    if (r(2, 2) > r(i, i)) i = 2;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    q[0] = r(k, j) - r(j, k);
    q[1 + i] = Real(1) + r(i, i) - r(j, j) - r(k, k);
    q[1 + j] = r(j, i) + r(i, j);
    q[1 + k] = r(k, i) + r(i, k);
  }
  return (Real(1) / sqrt(dot(q, q))) * q;
}

/// q turned on by the rotation vector `turn` in the world, at most some radians. sin(a/2) / a and cos(a/2) by series of
/// the half angle, of which it takes as many halves as bring it below 1/2.
template <class Real>
TRIBO_HD Quaternion<Real> turned_by(const Quaternion<Real>& q, const Vec<Real, 3>& turn) {
  Real scale = Real(0.5);
  int doublings = 0;
  while (Real(4) * scale * scale * squared_norm(turn) > Real(1) && doublings < 16) {
    scale = Real(0.5) * scale;
    ++doublings;
  }
  const Vec<Real, 3> half = scale * turn;
  const Real h2 = squared_norm(half);
  Real sine = Real(1), cosine = Real(1);  // of sin(h)/h and cos(h), by Horner
  for (int n = 8; n >= 1; --n) {
    sine = Real(1) - h2 / Real((2 * n) * (2 * n + 1)) * sine;
    cosine = Real(1) - h2 / Real((2 * n - 1) * (2 * n)) * cosine;
  }
  Quaternion<Real> step = {{cosine, sine * half[0], sine * half[1], sine * half[2]}};
  for (int k = 0; k < doublings; ++k) step = quaternion_product(step, step);
  const Quaternion<Real> r = quaternion_product(step, q);
  return (Real(1) / sqrt(dot(r, r))) * r;
}

template <class Real>
TRIBO_HD Vec<Real, 3> operator*(const Sym<Real, 3>& a, const Vec<Real, 3>& x) {
  Vec<Real, 3> r;
  for (int k = 0; k < 3; ++k) r[k] = a(k, 0) * x[0] + a(k, 1) * x[1] + a(k, 2) * x[2];
  return r;
}

/// R A R^T: a tensor of the body's frame in the world.
template <class Real>
TRIBO_HD Sym<Real, 3> carried(const Mat<Real, 3>& r, const Sym<Real, 3>& a) {
  const Mat<Real, 3> ra = r * full(a);
  Sym<Real, 3> out;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) out(i, j) = ra(i, 0) * r(j, 0) + ra(i, 1) * r(j, 1) + ra(i, 2) * r(j, 2);
  return out;
}

}  // namespace tribo
